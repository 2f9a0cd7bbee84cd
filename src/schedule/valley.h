// schedule/valley.h -- sequences of operators that can run at once, through higher states into a
// state with fewer live bytes.
//
// Let S be the executed operators and X a larger downset that can be reached from S by steps within
// the peak so far. If no downset between S and X has fewer live bytes than X, then going to X at
// once costs nothing. Proof: take any order from S on, with downsets T1, T2, ..., and run X first:
// it then goes through T1 + X, T2 + X, .... Submodularity says f(Ti + X) <= f(Ti) + f(X) - f(Ti *
// X), and Ti * X lies between S and X, so f(Ti + X) <= f(Ti). The same holds for the step of the
// next operator, if it is not in X already. This generalises the rule for a single operator
// (schedule/walk.h), where there is nothing between.
//
// X is found by a small best-first search from S, fewest live bytes first. Only connected sets are
// examined: bytes of operators that share no buffer add up, so one part alone would do.
//
// Cost: `kMostSets` sets, each with the operators next to it.
#ifndef BERTH_SCHEDULE_VALLEY_H_
#define BERTH_SCHEDULE_VALLEY_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "schedule/instance.h"
#include "schedule/walk.h"

namespace berth::internal::schedule {

class ValleyFinder {
 public:
  // `walker` must outlive this.
  explicit ValleyFinder(const Walker& walker);

  // Finds an X as above and returns its operators in sequence, or nothing. `state` is as in Walker;
  // none of its ready operators may be dominant.
  const std::vector<Op>& Find(const Word* state, const Standing& at);
  [[nodiscard]] std::int64_t work() const { return work_; }

 private:
  static constexpr std::size_t kMostSets = 48;      // Sets expanded in one search.
  static constexpr std::size_t kMostAdded = 400;    // Sets stored in one search.
  static constexpr std::size_t kMostOps = 12;       // Operators in a set.
  static constexpr std::size_t kMostBetween = 256;  // Downsets that IsLowest() visits.
  struct Set {
    std::array<Op, kMostOps> ops;
    std::size_t size = 0;
    Bytes live = 0;
    std::uint64_t hash = 0;
    bool taken = false;
  };

  void CollectNext(const Word* state, const Set& set);
  [[nodiscard]] bool IsLowest(const Word* state, const Standing& at, const Set& set);
  [[nodiscard]] bool IsReady(Op op) const;

  const Walker& walker_;
  const Instance& instance_;
  std::vector<Word> done_;
  std::vector<Set> sets_;
  std::vector<Op> next_;
  std::vector<Op> found_;
  std::vector<std::uint64_t> keys_;
  std::int64_t work_ = 0;
};

}  // namespace berth::internal::schedule

#endif  // BERTH_SCHEDULE_VALLEY_H_
