// plan/memory_bound.h -- what a graph costs at least in several memories, in any order.
//
// The cost of a tensor depends on its memory alone, not on the order. An order only decides which
// tensors are live together, and so what fits into the fast memories. Two arguments hold for all
// orders; the larger bound counts.
//
// **A chain of operators.** Take operators that wait for one another, v1 < v2 < ... < vk. A tensor is
// live while vi runs, whatever the order, if its creator is vi or precedes it and a user is vi or
// follows it. The i for which this holds are consecutive. So a table with steps 1 to k, in which each
// tensor has only these lifetimes, can be placed wherever any order's can: the least cost of that
// table, which PlaceInMemories() bounds, is a bound for the graph. Where all orders are much alike this
// is the whole table, with offsets and all.
//
// **A cut.** While one operator v runs, what is live must be somewhere. Give each byte of each memory a
// price p(m). For every set S of operators that can have run before,
//
//   sum over live tensors of min over m of (cost(m) - least cost + p(m) * size) - sum of p(m) * C(m)
//
// is at most what the plan costs beyond the least cost of all tensors (Lagrangian relaxation), and its
// minimum over S is a minimum cut (schedule/cut.h). Bounds of several operators add up if no cost
// counts twice: of what memory m costs beyond the least, only min over m' (...) - p(m) * size has
// counted, and the rest is left for other operators.
#ifndef BERTH_PLAN_MEMORY_BOUND_H_
#define BERTH_PLAN_MEMORY_BOUND_H_

#include <optional>

#include "berth/answer.h"
#include "berth/budget.h"
#include "berth/graph.h"
#include "berth/graph_memories.h"
#include "plan/move_model.h"

namespace berth::internal::plan {

// Whether the tensors that are live together are the same in every order as in `order`, so that what is
// proved of this one is proved of all. False where it is not known.
[[nodiscard]] bool AllOrdersAreAlike(const Graph& graph, const Counting& counting,
                                     const GraphMemories& memories, const Order& order,
                                     Budget& budget);

// At most the cost of any plan of `graph` in any order. Both must be valid. `order`, a valid one, says
// where to look first. Stops at `upper`, the cost of a known plan.
[[nodiscard]] PlanCost MemoryBound(const Graph& graph, const Counting& counting,
                                   const GraphMemories& memories, const Order& order,
                                   const PlanCost& upper, Budget& budget);

// The same by cases, given that `bound` is proved already.
[[nodiscard]] PlanCost MemoryBoundByCases(const Graph& graph, const Counting& counting,
                                          const GraphMemories& memories, const Order& order,
                                          const PlanCost& bound, const PlanCost& upper,
                                          Budget& budget);

// The chain of operators that this bound looks at, and which tensors live at which of them in every
// order. Nothing for graphs that are too large.
[[nodiscard]] std::optional<ChainOfOrders> FindChain(const Graph& graph, const Counting& counting,
                                                     const GraphMemories& memories,
                                                     const Order& order, Budget& budget);

}  // namespace berth::internal::plan

#endif  // BERTH_PLAN_MEMORY_BOUND_H_
