// plan/budgets.h -- FindBudgets() for callers that have checked and compiled the graph already.
#ifndef BERTH_PLAN_BUDGETS_H_
#define BERTH_PLAN_BUDGETS_H_

#include <cstddef>

#include "berth/budget.h"
#include "berth/graph.h"
#include "berth/plan.h"
#include "berth/result.h"

namespace berth::internal::plan {

// As FindBudgets(). `graph` must be valid, and `least` what FindLeastMemory() gives.
[[nodiscard]] Result<NamedBudgets> FindBudgetsOfValid(const Graph& graph, const Counting& counting,
                                                      const LeastMemory& least,
                                                      std::size_t most_bytes, Budget& budget);

// As FindLeastMemory() where given tensors are never retrieved: with each operator, all counted
// parameters and constants are in memory, too. `graph` must be valid. Cost: O(n log n).
[[nodiscard]] LeastMemory LeastWithoutCopies(const Graph& graph, const Counting& counting);

}  // namespace berth::internal::plan

#endif  // BERTH_PLAN_BUDGETS_H_
