// schedule/bisect.h -- the least peak by bisection: limits that no order keeps to, limits that one does.
//
// Between the bound and the best known peak, limits are asked for one after the other (schedule/question.h).
// Where a limit implies order constraints that contradict each other (schedule/probe.h), or no state within it
// leads on, every order has a higher peak: R. Klein and A. Scholl, "Computing lower bounds by destructive
// improvement", European Journal of Operational Research 112 (1999). Where states lead to the end, there is a
// better order. Of the limits that allow the same orders only one is tried, the largest.
//
// The lower a limit that some order keeps to, the more constraints it implies and the stronger is dominance, so
// the easier is that order to find: mostly at the least limit that probing does not refute, in milliseconds.
//
// Some thousand cuts near the highest steps mostly refute a limit; to know that one is consistent takes many times
// as much. So each limit first gets little work, and where it stays open, lower ones come next; those that are
// left get more in the next round. What a limit implies holds for all lower ones, so they begin with it.
//
// Cost: that of a question, for each of some five limits in a round, and below a consistent limit for as many as
// bisection down to the unit takes.
#ifndef BERTH_SCHEDULE_BISECT_H_
#define BERTH_SCHEDULE_BISECT_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "berth/budget.h"
#include "berth/schedule.h"
#include "schedule/instance.h"
#include "schedule/precedence.h"
#include "schedule/question.h"

namespace berth::internal::schedule {

class Bisector {
 public:
  // Work in units of a few nanoseconds: on a limit in the first round, and in the first turn of a question.
  struct Pace {
    std::int64_t effort = 4'000'000;
    std::int64_t slice = 500'000;
  };

  // `instance` must outlive this.
  Bisector(const Instance& instance, const ExactOptions& options)
      : Bisector(instance, options, Pace()) {}
  Bisector(const Instance& instance, const ExactOptions& options, const Pace& pace);
  Bisector(const Bisector&) = delete;
  Bisector& operator=(const Bisector&) = delete;

  // What is known.
  struct Known {
    Bytes bound = 0;  // Of every peak.
    Bytes peak = 0;   // The least of the orders.
    // Of any peak; they save work.
    const std::vector<std::vector<Op>>& orders;
  };
  // Of a call.
  struct Effort {
    std::int64_t work = 0;  // Units of a few nanoseconds, about.
    std::size_t bytes = 0;  // Of memory for the states of each search.
    int threads = 1;        // The result does not depend on it.
  };
  // Continues. Returns the lower bound, at most the least peak known.
  Bytes Advance(const Known& known, const Effort& effort, SearchStats& stats, Budget& budget);

  // The best order that the last call found; empty if there was none.
  [[nodiscard]] const std::vector<Op>& order() const { return order_; }
  // All units so far.
  [[nodiscard]] std::int64_t work() const { return work_; }

 private:
  static constexpr Bytes kNotKnown = std::numeric_limits<Bytes>::max();

  // The limit to ask for next, above or at `bound`; below `bound` if none is left in this round.
  [[nodiscard]] Bytes Middle(Bytes bound, Bytes peak) const;
  [[nodiscard]] Bytes NextLimit(Bytes bound, Bytes peak);
  // Makes question_ of the next limit. False if there is none.
  [[nodiscard]] bool AskNext(Bytes bound, Bytes peak, const std::vector<std::vector<Op>>& orders);
  // What a consistent limit implies is kept as long as the limit is in question, and longer where the peak has
  // come down to it.
  void Forget(Bytes bound, Bytes peak);
  // Whether the limit that is still open has had its share.
  [[nodiscard]] bool GiveUp();

  const Instance& instance_;
  const ExactOptions options_;
  const Pace pace_;
  const PeakGrid grid_;
  // What the least limit that an order keeps to is known to imply. It holds for all limits below the peak.
  std::optional<Precedence> of_found_;
  // The least limit known to be consistent, and what it implies; below the peak.
  Bytes consistent_ = kNotKnown;
  std::optional<Precedence> of_consistent_;
  // The least limit that stayed open in this round, with `effort_` units of work; at most consistent_.
  Bytes ceiling_ = kNotKnown;
  bool all_exhausted_ = true;  // Those that stayed open in this round.
  bool exhausted_ = false;     // Nothing is left to do within the allowed memory.
  std::int64_t effort_;
  std::int64_t slice_ = 0;  // Of the next turn of the question.
  std::int64_t work_ = 0;
  std::vector<Op> order_;
  std::optional<Question> question_;  // About the limit in question.
};

}  // namespace berth::internal::schedule

#endif  // BERTH_SCHEDULE_BISECT_H_
