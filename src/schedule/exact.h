// schedule/exact.h -- the order of least peak, with a proof or a bound.
//
// The order in which things are tried is that of their cost:
//
//   1. An operator that precedes or follows every other one splits the instance: what comes before
//      it and what comes after are ordered independently, and the peak is that of the worse part.
//      Only the part of highest peak is worked on; most parts never are.
//   2. A beam of width 1; of the operators whose step reaches the peak of the order found, one
//      mostly has a minimum cut of the same size (schedule/cut.h): proved.
//   3. Otherwise questions (schedule/question.h), whether a peak one byte lower is possible, and
//      whether one half way down to the bound is, take turns with doubling work. Each answer moves
//      the best order or the bound; the answer to the first is the end. After the first turn, a
//      beam of width 1 backwards.
#ifndef BERTH_SCHEDULE_EXACT_H_
#define BERTH_SCHEDULE_EXACT_H_

#include <functional>
#include <vector>

#include "berth/budget.h"
#include "berth/schedule.h"
#include "schedule/instance.h"

namespace berth::internal::schedule {

struct ExactResult {
  std::vector<Op> order;
  Bytes peak = 0;
  Bytes lower_bound = 0;
  bool out_of_work = false;  // Stopped by `most_work` or memory, not by the budget.
};

// `instance` must be numbered so that 0, 1, 2, ... is a valid order. `most_work` is in units of
// some nanoseconds. `report`, if not empty, hears of every new peak and bound.
[[nodiscard]] ExactResult SearchExactly(const Instance& instance, const ExactOptions& options,
                                        std::int64_t most_work, std::size_t most_bytes,
                                        const std::function<void(Bytes peak, Bytes bound)>& report,
                                        SearchStats& stats, Budget& budget);

}  // namespace berth::internal::schedule

#endif  // BERTH_SCHEDULE_EXACT_H_
