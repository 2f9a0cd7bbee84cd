// schedule/refute.h -- a lower bound: the limits on the peak that probing refutes.
//
// Where a limit implies order constraints that contradict each other (schedule/probe.h), every order
// has a higher peak. Bisection looks for the least limit that stays consistent, between the bound
// and the best known peak: R. Klein and A. Scholl, "Computing lower bounds by destructive
// improvement", European Journal of Operational Research 112 (1999). Peaks differ by multiples of
// the greatest common divisor of all sizes, so only these are tried.
//
// A minimum cut knows one operator. Probing lets the cuts of all of them work together: what must
// precede one operator to keep within the limit removes downsets from the cuts of the others. On
// irregular graphs of 400 operators and width 20 to 64 the bound is 0 to 6 % below the best known
// peak, the largest cut 2 to 17 %.
//
// Some thousand cuts near the highest steps mostly refute a limit; to know that one is consistent
// takes many times as much. So each limit first gets little work, and those that stay open more in
// the next round.
//
// Cost: that of probing, for each of some ten limits in a round.
#ifndef BERTH_SCHEDULE_REFUTE_H_
#define BERTH_SCHEDULE_REFUTE_H_

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "berth/budget.h"
#include "berth/schedule.h"
#include "schedule/instance.h"
#include "schedule/precedence.h"
#include "schedule/probe.h"

namespace berth::internal::schedule {

class Refuter {
 public:
  // `instance` must outlive this.
  explicit Refuter(const Instance& instance);

  // Continues for about `work` units of a few nanoseconds. `bound` is a lower bound on every peak
  // and `peak` the least known. `orders` are known ones, of any peak; they save work. Returns the
  // lower bound, at most `peak`.
  Bytes Advance(Bytes bound, Bytes peak, const std::vector<std::vector<Op>>& orders,
                std::int64_t work, SearchStats& stats, Budget& budget);
  // All units so far.
  [[nodiscard]] std::int64_t work() const { return work_; }

 private:
  static constexpr Bytes kNotKnown = std::numeric_limits<Bytes>::max();

  // The limit to ask for next, above or at `bound`; below `bound` if none is left.
  [[nodiscard]] Bytes Middle(Bytes bound, Bytes peak) const;
  // Makes prober_ of the next limit. False if there is none.
  [[nodiscard]] bool AskNext(Bytes bound, Bytes peak, const std::vector<std::vector<Op>>& orders);

  const Instance& instance_;
  Bytes unit_ = 1;  // All peaks are equal modulo this.
  // The least limit known to be consistent, and what it implies.
  Bytes consistent_ = kNotKnown;
  std::optional<Precedence> implied_;
  // The least limit that was not refuted in this round, with `effort_` units of work.
  Bytes ceiling_ = kNotKnown;
  std::int64_t effort_;
  std::int64_t work_ = 0;
  std::optional<Prober> prober_;  // Of the limit in question.
};

}  // namespace berth::internal::schedule

#endif  // BERTH_SCHEDULE_REFUTE_H_
