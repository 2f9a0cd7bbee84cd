// Plans of tables, and the words for outcomes.

#include "model/answer.h"

#include <chrono>

#include "base/check.h"

namespace berth {

std::string_view ToString(Outcome outcome) {
  switch (outcome) {
    case Outcome::kOptimal:
      return "optimal";
    case Outcome::kFeasible:
      return "feasible";
    case Outcome::kInfeasible:
      return "infeasible";
    case Outcome::kUnknown:
      return "unknown";
  }
  BERTH_CHECK(false);
}

std::string_view ToString(StopReason reason) {
  switch (reason) {
    case StopReason::kAnswered:
      return "answered";
    case StopReason::kBudget:
      return "budget";
    case StopReason::kEffort:
      return "effort";
    case StopReason::kSize:
      return "size";
    case StopReason::kAlgorithm:
      return "algorithm";
    case StopReason::kUnsized:
      return "unknown sizes";
    case StopReason::kGap:
      return "gap";
  }
  BERTH_CHECK(false);
}

MemoryPlan PlanOf(const Problem& problem, const std::vector<Bytes>& offsets) {
  return internal::PlanOf(problem, offsets, MaxLiveLoad(problem).load);
}

Placement PlacementOf(const MemoryPlan& plan) {
  Placement placement;
  placement.offsets.reserve(plan.residencies.size());
  for (const Residency& residency : plan.residencies) placement.offsets.push_back(residency.offset);
  placement.height = plan.height();
  return placement;
}

namespace internal {

MemoryPlan PlanOf(const Problem& problem, const std::vector<Bytes>& offsets, Bytes load) {
  BERTH_CHECK(offsets.size() == problem.buffers.size());
  MemoryPlan plan;
  plan.residencies.reserve(offsets.size());
  for (std::size_t b = 0; b < offsets.size(); ++b) {
    const Buffer& buffer = problem.buffers[b];
    plan.residencies.push_back({b, buffer.start, buffer.end, offsets[b]});
  }
  plan.memories.push_back({Height(problem, offsets), load});
  return plan;
}

void FinishPlacing(std::int64_t nodes, Budget::Clock::time_point begin, PlanAnswer& answer) {
  answer.placement_bound = answer.height_bound;
  answer.nodes = nodes;
  answer.seconds = std::chrono::duration<double>(Budget::Clock::now() - begin).count();
  answer.placing.outcome = answer.outcome;
  answer.placing.stopped = answer.stopped;
  answer.placing.nodes = answer.nodes;
  answer.placing.seconds = answer.seconds;
}

}  // namespace internal
}  // namespace berth
