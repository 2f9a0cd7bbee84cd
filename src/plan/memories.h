// plan/memories.h -- Plan() with several memories.
#ifndef BERTH_PLAN_MEMORIES_H_
#define BERTH_PLAN_MEMORIES_H_

#include <cstdint>
#include <functional>

#include "berth/answer.h"
#include "berth/budget.h"
#include "berth/graph.h"
#include "berth/plan.h"
#include "berth/result.h"

namespace berth::internal::plan {

// As Plan(), with `options.memories` and without spills. Errors: those of Plan().
[[nodiscard]] Result<PlanAnswer> PlanInMemories(const Graph& graph, const PlanOptions& options,
                                                Budget& budget);

// Says how far a search in several memories is: costs, once every tensor has a place.
void TellCosts(const std::function<void(const Progress&)>& progress, const PlanCost& best,
               const PlanCost& bound, std::int64_t nodes);

// Ends a search in several memories, with or without copies: checks `plan`, and sets the plan, the bound,
// the outcome and the reason of `answer`. `bound` is proved for all that was asked.
void Conclude(const Graph& graph, const PlanOptions& options, MemoryPlan plan,
              const PlanCost& bound, const Budget& budget, PlanAnswer& answer);

}  // namespace berth::internal::plan

#endif  // BERTH_PLAN_MEMORIES_H_
