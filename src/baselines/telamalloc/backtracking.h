// baselines/telamalloc/backtracking.h -- where a search goes back to when it is stuck.
//
// TelaMalloc leaves a decision point whose candidates have all failed by a major backtrack, as
// published to the second-to-last of the placements that its solver blames (telamalloc.h). Section
// 6 of the paper puts a rule in its place that chooses among few points (6.2):
//
//     decision level   0   1   2   3   4 | 5   6   7   8 | 9  10  11      stuck at 12
//     blamed                   *         |               |    *   *
//     candidates               x         | x             |    x   (11: what a minor one undoes)
//
// all the decisions that the failure is blamed on, without the last of them; and for each range of
// levels 0-4, 5-8, 9-16, 17-32, ... without any of these, the one nearest to the root. So there are
// few to choose from however deep the search is, and it cannot get trapped in one part of the tree.
// The published rule is to take the deepest blamed one.
#ifndef BERTH_BASELINES_TELAMALLOC_BACKTRACKING_H_
#define BERTH_BASELINES_TELAMALLOC_BACKTRACKING_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "berth/problem.h"

namespace berth::internal {

// A decision point that a search can go back to, with what a rule may base its choice on (6.4).
struct BacktrackPoint {
  std::int32_t level;  // Decisions before it, from the root of its part (5.3) on.
  std::int32_t block;  // What was placed there:
  Bytes size;
  Step lifetime;
  Bytes contention;                // The largest load it meets.
  std::int64_t times_in_reason;    // Of major backtracks, this one included.
  std::int64_t times_target;       // Backtracks to the point while it stays on the path.
  std::int64_t backtracks_within;  // The same to the subtree below it, itself included.
  bool is_blamed;                  // For the present failure.
  bool same_phase;                 // As the block that was placed before the search got stuck.
};

// One placement on the way from the root to where a search is.
struct PathStep {
  std::int32_t block;
  Bytes offset;
  friend bool operator==(const PathStep&, const PathStep&) = default;
};

// A search that is stuck.
struct MajorBacktrack {
  std::span<const BacktrackPoint> points;  // Increasing levels, not empty.
  std::size_t published;                   // The one of them that 5.4 chooses.
  std::span<const PathStep> path;  // All that is placed; its last `depth` are of the present part.
  std::int32_t depth;              // The level of the decision point where it is stuck.
  std::int64_t backtracks;         // Major and minor ones before.
  Bytes capacity;
  Step time;  // From the first start to the last end of all buffers.
};

// Chooses where major backtracks go, in place of the published rule.
class BacktrackRule {
 public:
  virtual ~BacktrackRule() = default;

  // Where to go: an index into `stuck.points`; or kStay, to try at this decision point all blocks
  // that are not placed until one fits, and to leave by one level where none does (6.5).
  static constexpr std::size_t kStay = std::numeric_limits<std::size_t>::max();
  [[nodiscard]] virtual std::size_t Choose(const MajorBacktrack& stuck) = 0;

  // Not nullptr: the search starts again at the root of the part after some backtracks, and where
  // all candidates of all decision points are used up, which ends the published one. In half of
  // these runs, drawn from here, the candidates are the blocks that can lie lowest.
  [[nodiscard]] virtual Random* Restarts();

  // All of a part is placed; `path` as in MajorBacktrack.
  virtual void Placed(std::span<const PathStep> path, std::int32_t depth);
};

// What a model sees of each candidate: the features of 6.4, and some of the search's state.
enum class Feature : std::uint8_t {
  kSize,        // Of the block placed there, in parts of the capacity.
  kLifetime,    // In parts of the time of all buffers.
  kContention,  // In parts of the capacity.
  kLevel,
  kTimesInReason,
  kTimesTarget,
  kBacktracksWithin,
  kSamePhase,   // 0 or 1, as all that is a yes or no.
  kBacktracks,  // In all.
  kLevelsUp,    // From where the search is stuck. This one and those after it are Berth's.
  kBlamed,
  kBlamedAfter,  // How many blamed candidates lie deeper.
};
inline constexpr std::size_t kNumFeatures = 12;
[[nodiscard]] std::string_view ToString(Feature feature);
// A row of kNumFeatures for each candidate, in the order of the enumeration.
void ComputeFeatures(const MajorBacktrack& stuck, std::vector<float>& rows);

// Adds to `levels`, which increase, the first level of each range below `depth` that has none.
void AddTopsOfRanges(std::int32_t depth, std::vector<std::int32_t>& levels);

}  // namespace berth::internal

#endif  // BERTH_BASELINES_TELAMALLOC_BACKTRACKING_H_
