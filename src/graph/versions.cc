#include "graph/versions.h"

#include <algorithm>
#include <vector>

#include "graph/edges.h"

namespace berth::internal {

Versions FindVersions(const Graph& graph) {
  Versions versions;
  versions.touches.resize(graph.operators.size());
  versions.last.assign(graph.tensors.size(), 0);
  const std::vector<OperatorIndex> makers = Makers(graph);
  std::vector<TensorIndex> bases;
  for (OperatorIndex v = 0; v < graph.operators.size(); ++v) {
    const Operator& op = graph.operators[v];
    std::vector<Touch>& touches = versions.touches[v];
    for (const TensorIndex t : op.outputs) {
      if (!graph.tensors[t].alias_of) touches.push_back({t, kMakes, 0, false});
    }
    BasesUsed(graph, makers, v, bases);
    for (const TensorIndex base : bases) {
      const auto has = [base](const std::vector<TensorIndex>& all) {
        return std::find(all.begin(), all.end(), base) != all.end();
      };
      const std::int32_t found = versions.last[base];
      if (has(op.mutates)) ++versions.last[base];
      touches.push_back({base, found, versions.last[base], has(op.skips)});
    }
    std::sort(touches.begin(), touches.end(),
              [](const Touch& a, const Touch& b) { return a.base < b.base; });
  }
  return versions;
}

}  // namespace berth::internal
