// graph/uses.h -- what operators read and write of each base (berth/graph_memories.h).
#ifndef BERTH_GRAPH_USES_H_
#define BERTH_GRAPH_USES_H_

#include <algorithm>
#include <vector>

#include "berth/graph.h"
#include "berth/graph_memories.h"

namespace berth::internal {

// Adds one access. Sums of bytes stay at the first that is not valid.
inline void AddUse(Bytes read, Bytes written, TensorUse& use) {
  use.bytes_read = std::min(use.bytes_read + read, kMaxBytes + 1);
  use.bytes_written = std::min(use.bytes_written + written, kMaxBytes + 1);
  ++use.accesses;
}

[[nodiscard]] inline bool MakesOnlyViews(const Graph& graph, const Operator& op) {
  if (op.outputs.empty() || !op.mutates.empty()) return false;
  return std::all_of(op.outputs.begin(), op.outputs.end(),
                     [&](TensorIndex t) { return graph.tensors[t].alias_of.has_value(); });
}

// The bytes of `base` that an operator writes in place.
[[nodiscard]] inline Bytes WrittenInPlace(const Graph& graph, const Operator& op,
                                          TensorIndex base) {
  Bytes views = 0;
  for (const TensorIndex t : op.outputs) {
    if (graph.tensors[t].alias_of != base) continue;
    views = std::min(views + graph.tensors[t].bytes, kMaxBytes + 1);
  }
  const Bytes all = graph.tensors[base].bytes;
  return views == 0 ? all : std::min(views, all);
}

// Calls visit(base, bytes read, bytes written) for each access of operator `v`.
template <typename Visit>
void ForEachUse(const Graph& graph, OperatorIndex v, Visit visit) {
  const Operator& op = graph.operators[v];
  if (MakesOnlyViews(graph, op)) return;
  std::vector<TensorIndex> read = op.inputs;
  std::sort(read.begin(), read.end());
  read.erase(std::unique(read.begin(), read.end()), read.end());
  for (const TensorIndex t : read) visit(BaseOf(graph, t), graph.tensors[t].bytes, Bytes{0});
  for (const TensorIndex t : op.outputs) {
    if (!graph.tensors[t].alias_of) visit(t, Bytes{0}, graph.tensors[t].bytes);
  }
  for (const TensorIndex base : op.mutates) visit(base, Bytes{0}, WrittenInPlace(graph, op, base));
}

}  // namespace berth::internal

#endif  // BERTH_GRAPH_USES_H_
