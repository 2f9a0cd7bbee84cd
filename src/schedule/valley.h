// schedule/valley.h -- runs of operators that can be taken at once: the way over a hill into a
// valley.
//
// Let S be what has run, X a larger downset, and let there be a way from S to X whose steps do not
// exceed the peak so far. If no downset between S and X has fewer live bytes than X has, then going
// to X at once costs nothing. For take any order from S on, with downsets T1, T2, ..., and run X
// first: it then goes through T1 + X, T2 + X, .... Submodularity says
// f(Ti + X) <= f(Ti) + f(X) - f(Ti * X), and Ti * X lies between S and X, so f(Ti + X) <= f(Ti).
// The same holds for the step of the next operator, if it is not in X already. This generalises the
// rule for a single operator (schedule/walk.h), where there is nothing between.
//
// Such an X is looked for by a small best-first search from S, fewest live bytes first. Only
// connected sets need be looked at: bytes of operators that share no buffer add up, so one part
// alone would do.
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

  // An X as above, if one is found: the operators to run, in sequence. `state` as in Walker; none
  // of its ready operators may be dominant. Empty: none found.
  const std::vector<Op>& Find(const Word* state, const Standing& at);
  [[nodiscard]] std::int64_t work() const { return work_; }

 private:
  static constexpr std::size_t kMostSets = 48;    // Taken.
  static constexpr std::size_t kMostAdded = 400;  // Stored.
  static constexpr std::size_t kMostOps = 12;
  static constexpr std::size_t kMostBetween = 256;
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
