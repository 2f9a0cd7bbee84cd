// OperatorsRunAgain(): which operators a plan runs again, and where.

#include <algorithm>
#include <map>
#include <utility>

#include "berth/recompute.h"

namespace berth {

std::vector<RunsAgain> OperatorsRunAgain(const Graph& graph, const MemoryPlan& plan) {
  const std::vector<std::int64_t> costs = CostsOf(graph).of;
  std::vector<bool> has_run(graph.operators.size(), false);
  std::map<OperatorIndex, RunsAgain> found;
  for (std::size_t step = 0; step < plan.order.size(); ++step) {
    const OperatorIndex v = plan.order[step];
    if (!has_run[v]) {
      has_run[v] = true;
      continue;
    }
    RunsAgain& repeat = found[v];
    repeat.op = v;
    repeat.steps.push_back(static_cast<Step>(step));
    repeat.cost += costs[v];
  }
  std::vector<RunsAgain> repeats;
  repeats.reserve(found.size());
  for (auto& [op, repeat] : found) repeats.push_back(std::move(repeat));
  std::stable_sort(repeats.begin(), repeats.end(),
                   [](const RunsAgain& a, const RunsAgain& b) { return a.cost > b.cost; });
  return repeats;
}

}  // namespace berth
