// plan/moves.h -- several memories between which tensors may be copied: an entry for Plan().
#ifndef BERTH_PLAN_MOVES_H_
#define BERTH_PLAN_MOVES_H_

#include "berth/answer.h"
#include "berth/budget.h"
#include "berth/plan.h"
#include "berth/result.h"

namespace berth::internal::plan {

// As Plan() with memories and GraphMemories::may_move.
[[nodiscard]] Result<PlanAnswer> PlanWithMoves(const Graph& graph, const PlanOptions& options,
                                               Budget& budget);

// The second half of it: `answer` is the one without moves, and becomes the one with them.
[[nodiscard]] Result<void> ImproveByMoves(const Graph& graph, const PlanOptions& options,
                                          PlanAnswer& answer, Budget& budget);

}  // namespace berth::internal::plan

#endif  // BERTH_PLAN_MOVES_H_
