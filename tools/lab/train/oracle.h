// tools/lab/train/oracle.h -- can what is placed so far still be completed?
//
// TelaMalloc 6.3 asks an integer program. Those here do not come to an end on large tables
// (docs/algorithms/encoded.md), so the question goes to Berth's own exact searches, with what is
// placed pinned: the niche search, which finds plans, and the guided one, which proves that there
// are none, take turns.
#ifndef BERTH_TOOLS_LAB_TRAIN_ORACLE_H_
#define BERTH_TOOLS_LAB_TRAIN_ORACLE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "baselines/telamalloc/backtracking.h"
#include "model/instance.h"

namespace berth::internal {

enum class Solvable { kYes, kNo, kUndecided };

class Oracle {
 public:
  struct Stats {
    std::int64_t asked = 0;      // States.
    std::int64_t known = 0;      // Of these: answered by what is cached.
    std::int64_t undecided = 0;  // Questions that reached the limit, cached or not.
    std::int64_t nodes = 0;
  };

  // `node_limit`: nodes for one question, of the niche search; a node of the guided search counts
  // as ten. A hundred times more where nothing is placed, as all other answers rest on that one.
  Oracle(const Instance& instance, Bytes capacity, std::int64_t node_limit);

  // Whether a plan within the capacity has these buffers at these offsets.
  [[nodiscard]] Solvable Ask(std::span<const PathStep> placed);

  // The minimum target: the deepest of the points that is still solvable, so with nothing placed
  // from there on, or the point where the search is stuck itself; by binary search, as what cannot
  // be completed cannot be completed further down. An undecided point counts as unsolvable in that
  // search, so a point further down than `point` may be solvable, but none is known to be.
  struct Target {
    Solvable verdict;        // kNo: not one of them. kUndecided: not one is known to be.
    std::size_t point;       // kYes: an index into the points, or their number: the stuck one.
    std::size_t unsolvable;  // The first that is proved not to be; past all of them: none.
  };
  [[nodiscard]] Target DeepestSolvable(const MajorBacktrack& stuck);

  [[nodiscard]] const Stats& stats() const { return stats_; }

 private:
  [[nodiscard]] Solvable Search(const std::vector<Bytes>& pins, std::int64_t node_limit);

  Instance instance_;  // A copy: its pins change.
  const IndexedVector<BufferIndex, Bytes> own_pins_;
  const Overlaps overlaps_;
  const Bytes capacity_;
  const std::int64_t node_limit_;
  std::map<std::vector<Bytes>, Solvable> verdicts_;  // By pins.
  std::vector<std::vector<Bytes>> plans_;            // Some that were found.
  std::size_t next_plan_ = 0;
  Stats stats_;
};

}  // namespace berth::internal

#endif  // BERTH_TOOLS_LAB_TRAIN_ORACLE_H_
