#include "schedule/baseline.h"

#include <algorithm>
#include <tuple>

namespace berth::internal::schedule {

std::vector<Op> HoistedUpdates(const Graph& graph, const Instance& instance) {
  // Each operator stays behind its anchor: itself or, for an update, the last operator that it
  // waits for.
  std::vector<Op> anchor(instance.num_ops);
  std::vector<Op> order(instance.num_ops);
  for (Op v = 0; v < instance.num_ops; ++v) {
    order[v] = v;
    anchor[v] = v;
    const auto before = instance.predecessors[v];
    if (!graph.operators[v].update || before.empty()) continue;
    anchor[v] = 0;
    for (const Op p : before) anchor[v] = std::max(anchor[v], anchor[p]);
  }
  std::sort(order.begin(), order.end(), [&](Op a, Op b) {
    return std::tuple(anchor[a], a != anchor[a], a) < std::tuple(anchor[b], b != anchor[b], b);
  });
  return order;
}

}  // namespace berth::internal::schedule
