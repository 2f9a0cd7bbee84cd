// baselines/telamalloc/steps.h -- which heuristic a step of the search follows.
//
// Section 8.3 of the TelaMalloc paper suggests "a single, shallow decision tree that executes at
// every step of the search" and says whether something dearer is worth while. Here four heuristics
// propose a block at each decision point, the three of 5.1 within the present phase and the block
// that can lie lowest, for which all of the part is looked at. A rule puts the proposals in order:
//
//     longest lifetime   a            a: .31  b: .78  d: .52      b, d, a, then the candidates
//     largest size       b     -->                           -->  as published (policy.h)
//     largest area       b
//     lowest position    d
//
// The order only says what is tried first: nothing is lost but time if it is wrong. Candidates that
// a major backtrack carries to a point stay before its proposals.
#ifndef BERTH_BASELINES_TELAMALLOC_STEPS_H_
#define BERTH_BASELINES_TELAMALLOC_STEPS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "baselines/telamalloc/backtracking.h"
#include "baselines/telamalloc/forest.h"
#include "baselines/telamalloc/options.h"
#include "berth/problem.h"

namespace berth::internal {

enum class Heuristic : std::uint8_t { kLifetime, kSize, kArea, kLowest };
inline constexpr std::size_t kNumHeuristics = 4;

// A block that one or more heuristics would place next.
struct Proposal {
  std::int32_t block;
  std::uint8_t heuristics;  // Bit k: the heuristic k proposes it.
  Bytes size;
  Step lifetime;
  Bytes contention;  // The largest load it meets.
  Bytes lowest;      // The positions that propagation leaves it.
  Bytes highest;
  bool same_phase;  // As the block that was placed before.
  [[nodiscard]] bool By(Heuristic heuristic) const {
    return (heuristics >> static_cast<unsigned>(heuristic) & 1U) != 0;
  }
};

// A decision point that the search has just come to.
struct DecisionPoint {
  // In the order of the heuristics, each block once; not empty.
  std::span<const Proposal> proposals;
  std::span<const PathStep> path;  // All that is placed.
  std::int32_t unplaced;           // Blocks of the part.
  std::int32_t blocks;             // The same with those that are placed.
  Bytes capacity;
  Step time;  // From the first start to the last end of all buffers.
};

class StepRule {
 public:
  virtual ~StepRule() = default;
  // Fills `order` with indices into point.proposals, the first to be tried first; those left out
  // are not tried before the published candidates.
  virtual void Rank(const DecisionPoint& point, std::vector<std::size_t>& order) = 0;
};

// What a model sees of each proposal.
enum class StepFeature : std::uint8_t {
  kLongest,  // 0 or 1: proposed by this heuristic.
  kLargest,
  kLargestArea,
  kLowestBlock,
  kSize,        // In parts of the capacity.
  kLifetime,    // In parts of the time of all buffers.
  kContention,  // In parts of the capacity, as the next three.
  kLowest,
  kFreedom,       // From its lowest to its highest position.
  kAboveFirst,    // Its lowest position, less the least of all proposals.
  kRelativeSize,  // In parts of the largest of all proposals, as the next two.
  kRelativeLifetime,
  kRelativeFreedom,
  kPlaced,  // The share of the part's blocks that is placed.
  kSamePhase,
};
inline constexpr std::size_t kNumStepFeatures = 15;
[[nodiscard]] std::string_view ToString(StepFeature feature);
// A row of kNumStepFeatures for each proposal.
void ComputeStepFeatures(const DecisionPoint& point, std::vector<float>& rows);

// The highest score first; of equals the first. `forest` must outlive it and have kNumStepFeatures
// features. Cost: one walk down each tree for each proposal.
class ModelSteps : public StepRule {
 public:
  explicit ModelSteps(const Forest& forest);
  void Rank(const DecisionPoint& point, std::vector<std::size_t>& order) override;

 private:
  const Forest& forest_;
  std::vector<float> rows_;
  std::vector<float> scores_;
};

// The tree that the library was built with (step_model.cc).
[[nodiscard]] const Forest& ShippedStepModel();

// The rule of an option; nullptr for the published order, where no rule is asked.
[[nodiscard]] std::unique_ptr<StepRule> MakeStepRule(TelaMallocOptions::Order order,
                                                     std::uint64_t seed);

}  // namespace berth::internal

#endif  // BERTH_BASELINES_TELAMALLOC_STEPS_H_
