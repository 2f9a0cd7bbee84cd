// plan/memory_order.h -- orders in which the fast memories hold more of what is worth it.
#ifndef BERTH_PLAN_MEMORY_ORDER_H_
#define BERTH_PLAN_MEMORY_ORDER_H_

#include "berth/budget.h"
#include "berth/graph.h"
#include "berth/graph_memories.h"

namespace berth::internal::plan {

// An order found from `start`, a valid one, by moving operators, one or several neighbours at a time, as
// far forwards or backwards as they can go, wherever an estimate of the cost then falls. The estimate is
// that of a greedy choice by sums of bytes. Where no move helps, a few are made all the same. Ends after
// a fixed number of moves, or when the time of `budget` is up. The answer depends on the arguments alone unless time ends it.
[[nodiscard]] Order ImprovedOrder(const Graph& graph, const Counting& counting,
                                  const GraphMemories& memories, const Order& start,
                                  Budget& budget);

}  // namespace berth::internal::plan

#endif  // BERTH_PLAN_MEMORY_ORDER_H_
