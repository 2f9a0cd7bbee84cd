// plan/improve_spills.h -- less traffic by the search that runs operators again.
//
// The search of src/recompute changes sequences of executions and copies. Where no operator may run again
// and each copied byte costs the same, what it makes cheaper is the traffic. It finds other plans than the
// search over residencies of src/spill, and its bound is one for traffic, too.
#ifndef BERTH_PLAN_IMPROVE_SPILLS_H_
#define BERTH_PLAN_IMPROVE_SPILLS_H_

#include "berth/answer.h"
#include "berth/budget.h"
#include "berth/graph.h"
#include "berth/result.h"
#include "berth/spill.h"

namespace berth::internal::plan {

// Replaces the plan and the bound of `answer`, which PlanWithSpills() gave for these options, where there
// are better ones. `graph` must be valid. Cost: what `budget` has left, unless the plan is proved before.
[[nodiscard]] Result<void> ImproveSpills(const Graph& graph, const SpillOptions& options,
                                         PlanAnswer& answer, Budget& budget);

}  // namespace berth::internal::plan

#endif  // BERTH_PLAN_IMPROVE_SPILLS_H_
