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

// As NamedBudgetsOf(). `graph` must be valid.
[[nodiscard]] Result<NamedBudgets> NamedBudgetsOfValid(const Graph& graph,
                                                       const PlanOptions& options, Budget& budget);

}  // namespace berth::internal::plan

#endif  // BERTH_PLAN_BUDGETS_H_
