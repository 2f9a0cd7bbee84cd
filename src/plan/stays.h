// plan/stays.h -- offsets for tensors whose memory at every step is known.
//
// A tensor that moves keeps its memories, as its copies were decided with the times and bytes of the
// others; each of its residencies is a buffer with one memory, in half steps. What does not move may be
// in any of its memories, unless `keep_all` says otherwise: PlaceInMemories() finds memories for these
// and offsets for all. A tensor that moves and finds no offset stays where it begins, in the next
// attempt.
#ifndef BERTH_PLAN_STAYS_H_
#define BERTH_PLAN_STAYS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "berth/budget.h"
#include "berth/graph.h"
#include "berth/plan.h"
#include "berth/result.h"
#include "plan/move_model.h"

namespace berth::internal::plan {

struct StaysOptions {
  bool keep_all = false;
};

// The plan in which tensors are where `stays` (by item, then by start) has them; nothing if it has no
// offsets. Adds what it searched to `nodes`. Cost: a few calls of PlaceInMemories().
[[nodiscard]] Result<std::optional<MemoryPlan>> PlaceStays(
    const Graph& graph, const PlanOptions& options, const Order& order, const MoveModel& model,
    std::vector<Stay> stays, const StaysOptions& how, Budget& budget, std::int64_t& nodes);

}  // namespace berth::internal::plan

#endif  // BERTH_PLAN_STAYS_H_
