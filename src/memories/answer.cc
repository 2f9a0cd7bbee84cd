#include "memories/answer.h"

#include <chrono>
#include <utility>

#include "base/check.h"

namespace berth::internal::memories {

MemoryPlan PlanOf(const MemoryProblem& problem, const Model& model,
                  const std::vector<Spot>& spots) {
  MemoryPlan plan;
  for (std::size_t b = 0; b < problem.table.buffers.size(); ++b) {
    const Spot& spot = spots[model.tables.front().places[b].buffer];
    if (spot.memory == kOut) continue;
    Residency& residency = plan.residencies.emplace_back();
    residency.tensor = b;
    residency.start = problem.table.buffers[b].start;
    residency.end = problem.table.buffers[b].end;
    residency.offset =
        spot.offset + model.tables[static_cast<std::size_t>(spot.memory)].places[b].distance;
    residency.memory = spot.memory;
  }
  Complete(problem, plan);
  const Result<void> valid = ValidatePlan(problem, plan);
  BERTH_CHECK(valid.has_value());
  return plan;
}

void Conclude(MemoryPlan plan, bool best, bool limited, PlanAnswer& answer) {
  answer.outcome = plan.cost.unplaced == 0 ? (best ? Outcome::kOptimal : Outcome::kFeasible)
                   : answer.cost_bound.unplaced > 0 ? Outcome::kInfeasible
                                                    : Outcome::kUnknown;
  answer.stopped = best      ? StopReason::kAnswered
                   : limited ? StopReason::kBudget
                             : StopReason::kEffort;
  answer.best = std::move(plan);
}

void StateSearch(std::string_view algorithm, std::int64_t nodes, Budget::Clock::time_point begin,
                 PlanAnswer& answer) {
  answer.nodes = nodes;
  answer.seconds = std::chrono::duration<double>(Budget::Clock::now() - begin).count();
  answer.placing = {answer.outcome, answer.stopped, algorithm, answer.nodes, answer.seconds, {}};
}

}  // namespace berth::internal::memories
