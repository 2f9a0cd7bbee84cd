// plan/spills.h -- a plan with spills by two searches, which find different plans and prove different bounds.
//
// The search over residencies of src/spill knows all orders. The one of src/recompute changes sequences of
// executions and copies: where no operator may run again and each copied byte costs the same, what it makes
// cheaper is the traffic. With a time limit both take turns, and each knows what the other has proved.
#ifndef BERTH_PLAN_SPILLS_H_
#define BERTH_PLAN_SPILLS_H_

#include "berth/answer.h"
#include "berth/budget.h"
#include "berth/graph.h"
#include "berth/result.h"
#include "berth/spill.h"
#include "spill/entry.h"

namespace berth::internal::plan {

// As PlanWithSpills(). `graph` must be valid, `model` is made of it without ancestors, and `seconds` is how
// long both took. Only plans with less traffic than `useful` are looked for: where there is none, the answer
// may have no plan, with kUnknown.
[[nodiscard]] Result<PlanAnswer> SearchForSpills(const Graph& graph, const SpillOptions& options,
                                                 spill::Model model, double seconds, Bytes useful,
                                                 Budget& budget);

// The search for sequences by itself: replaces the plan and the bound of `answer`, which PlanWithSpills()
// gave for these options, where there are better ones. `graph` must be valid. Cost: what `budget` has left,
// unless the plan is proved before.
[[nodiscard]] Result<void> ImproveSpills(const Graph& graph, const SpillOptions& options,
                                         PlanAnswer& answer, Budget& budget);

}  // namespace berth::internal::plan

#endif  // BERTH_PLAN_SPILLS_H_
