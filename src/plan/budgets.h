// plan/budgets.h -- FindBudgets() for callers that have checked and compiled the graph already.
#ifndef BERTH_PLAN_BUDGETS_H_
#define BERTH_PLAN_BUDGETS_H_

#include "berth/budget.h"
#include "berth/graph.h"
#include "berth/plan.h"
#include "berth/result.h"
#include "berth/schedule.h"

namespace berth::internal::plan {

// As FindBudgets(). `graph` must be valid, and `least` what FindLeastMemory() gives. Of `schedule` count
// `counting`, `most_bytes` and `threads`.
[[nodiscard]] Result<NamedBudgets> FindBudgetsOfValid(const Graph& graph,
                                                      const ScheduleOptions& schedule,
                                                      const LeastMemory& least, Budget& budget);

// As NamedBudgetsOf(). `graph` must be valid.
[[nodiscard]] Result<NamedBudgets> NamedBudgetsOfValid(const Graph& graph,
                                                       const PlanOptions& options, Budget& budget);

}  // namespace berth::internal::plan

#endif  // BERTH_PLAN_BUDGETS_H_
