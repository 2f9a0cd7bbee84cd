// model/answer.h -- completes the answers of all placers.
#ifndef BERTH_MODEL_ANSWER_H_
#define BERTH_MODEL_ANSWER_H_

#include <cstdint>
#include <vector>

#include "berth/answer.h"
#include "berth/budget.h"
#include "berth/problem.h"

namespace berth::internal {

// As PlanOf(), for a problem of which at most `load` bytes are live at once.
[[nodiscard]] MemoryPlan PlanOf(const Problem& problem, const std::vector<Bytes>& offsets,
                                Bytes load);

// Completes the answer of one search for a placement, begun at `begin`, from its outcome, stop
// reason and height bound: the report of the search, and the figures of the whole.
void FinishPlacing(std::int64_t nodes, Budget::Clock::time_point begin, PlanAnswer& answer);

}  // namespace berth::internal

#endif  // BERTH_MODEL_ANSWER_H_
