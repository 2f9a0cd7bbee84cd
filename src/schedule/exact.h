// schedule/exact.h -- the order of least peak, with a proof or a bound.
//
// The steps, in order of their cost:
//
//   * An operator that precedes or follows every other one splits the instance: the operators
//     before and after it are ordered independently, and the peak is the larger of the two. Only
//     the part with the highest peak is searched; most parts never are.
//   * A beam of width 1. Among the operators whose step reaches the peak of the order found, one
//     mostly has a minimum cut of the same size (schedule/cut.h), which proves the order optimal.
//   * Otherwise two questions (schedule/question.h) alternate, with doubling work: is a peak one
//     byte lower possible, and is one half-way down to the bound? Each answer moves the best order
//     or the bound; the answer to the first ends the search. After the first turn, a beam of width
//     1 runs backwards.
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
  bool out_of_work = false;  // Ended by `most_work` or memory, not by the budget.
};

// `instance` must be numbered so that 0, 1, 2, ... is a valid order. `most_work` is in units of a
// few nanoseconds. `report`, if not empty, is called with every new peak and bound.
[[nodiscard]] ExactResult SearchExactly(const Instance& instance, const ExactOptions& options,
                                        std::int64_t most_work, std::size_t most_bytes,
                                        const std::function<void(Bytes peak, Bytes bound)>& report,
                                        SearchStats& stats, Budget& budget);

}  // namespace berth::internal::schedule

#endif  // BERTH_SCHEDULE_EXACT_H_
