// plan/scratchpads.h -- Plan() with spills and a scratchpad for each kind of tensor.
#ifndef BERTH_PLAN_SCRATCHPADS_H_
#define BERTH_PLAN_SCRATCHPADS_H_

#include "berth/answer.h"
#include "berth/budget.h"
#include "berth/graph.h"
#include "berth/plan.h"
#include "berth/result.h"

namespace berth::internal::plan {

// As Plan(), with `options.memories` and `options.spill`. Errors: those of Plan().
[[nodiscard]] Result<PlanAnswer> PlanInScratchpads(const Graph& graph, const PlanOptions& options,
                                                   Budget& budget);

}  // namespace berth::internal::plan

#endif  // BERTH_PLAN_SCRATCHPADS_H_
