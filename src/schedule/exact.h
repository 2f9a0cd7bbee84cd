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
//
// Of more than ExactLimits::many_ops operators, greedy list orders (schedule/list.h) take the place
// of the beams, and windows (schedule/window.h) come before the questions. The questions need a set
// of operators for each operator; where the memory is too little for that, the search ends with the
// windows. After the first turn, bisection (schedule/bisect.h) raises the bound and lowers the peak; where it
// moves neither, annealing (schedule/anneal.h) looks for lower peaks.
//
// What does not need each other's result runs side by side (base/side_by_side.h): the chains of annealing,
// the beams, the directions of best-first search and, in turns that are long enough, both questions; the order
// and the bound of a window. What is done is the same with any number of threads.
#ifndef BERTH_SCHEDULE_EXACT_H_
#define BERTH_SCHEDULE_EXACT_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
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

struct ExactLimits {
  // Bytes. Peaks up to this count as equal: the search ends with any of them, and the lower bound
  // is then at most this.
  Bytes floor = 0;
  std::int64_t most_work = std::numeric_limits<std::int64_t>::max();  // A few nanoseconds each.
  std::size_t most_bytes = std::size_t{2} << 30;                      // Of memory, roughly.
  int threads = 1;                 // The result does not depend on it.
  std::size_t many_ops = 6000;     // An instance of more is searched as a large one.
  std::size_t first_window = 128;  // Operators of the smallest windows of a large instance.
};

// `instance` must be numbered so that 0, 1, 2, ... is a valid order. `report`, if not empty, is
// called with every new peak and bound.
[[nodiscard]] ExactResult SearchExactly(const Instance& instance, const ExactOptions& options,
                                        const ExactLimits& limits,
                                        const std::function<void(Bytes peak, Bytes bound)>& report,
                                        SearchStats& stats, Budget& budget);

}  // namespace berth::internal::schedule

#endif  // BERTH_SCHEDULE_EXACT_H_
