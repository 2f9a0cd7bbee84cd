// schedule/list.h -- greedy list scheduling for graphs of any size.
//
// At each step it runs the operator that raises the peak least; of equal ones the one after which
// the fewest bytes are live. This is a beam of width 1 (schedule/beam.h) that keeps the bytes which
// each ready operator would create and free up to date, instead of a set of bits for each choice:
// a beam takes quadratic time, and too much of it for tens of thousands of operators.
//
//   created[v], freed[v]   change only when another operator creates a shared buffer first, or
//                          when v becomes the last consumer of one: each once for each buffer.
//   a tree over operators  holds the least created[v] and the least created[v] - freed[v] of the
//                          ready ones below each node. With `slack` bytes left up to the peak, the
//                          next operator is the one of least net bytes among those that create at
//                          most `slack`; if there is none, among those that create the fewest.
//
// The rule of dominance (schedule/walk.h) needs no code: what frees at least what it creates, and
// fits under the peak, has the least net bytes. Its order among others of the kind is no choice.
//
// Cost: O((n + edges + users of buffers) log n), and linear memory. If creators of little net bytes
// do not fit, the tree is searched for one that does, at kMostVisits nodes for each step.
#ifndef BERTH_SCHEDULE_LIST_H_
#define BERTH_SCHEDULE_LIST_H_

#include <optional>
#include <vector>

#include "berth/budget.h"
#include "schedule/instance.h"

namespace berth::internal::schedule {

// Steps up to `floor` bytes count as equal: no order has a lower peak. Spends one node of `budget`
// for each operator; nothing if it ends first.
[[nodiscard]] std::optional<std::vector<Op>> ListSchedule(const Instance& instance, Bytes floor,
                                                          Budget& budget);

}  // namespace berth::internal::schedule

#endif  // BERTH_SCHEDULE_LIST_H_
