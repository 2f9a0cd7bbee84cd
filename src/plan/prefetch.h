// plan/prefetch.h -- copies between memories that are made while operators run: an entry for Plan().
#ifndef BERTH_PLAN_PREFETCH_H_
#define BERTH_PLAN_PREFETCH_H_

#include "berth/answer.h"
#include "berth/budget.h"
#include "berth/plan.h"
#include "berth/result.h"

namespace berth::internal::plan {

// As Plan() with memories and GraphMemories::prefetch.
[[nodiscard]] Result<PlanAnswer> PlanWithPrefetch(const Graph& graph, const PlanOptions& options,
                                                  Budget& budget);

}  // namespace berth::internal::plan

#endif  // BERTH_PLAN_PREFETCH_H_
