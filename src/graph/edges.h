// graph/edges.h -- the edges of a graph: which operators wait for which, and the bases they touch.
#ifndef BERTH_GRAPH_EDGES_H_
#define BERTH_GRAPH_EDGES_H_

#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

#include "berth/graph.h"

namespace berth::internal {

inline constexpr OperatorIndex kNoOperator = std::numeric_limits<OperatorIndex>::max();

// For each tensor, the operator that makes it, or kNoOperator.
[[nodiscard]] inline std::vector<OperatorIndex> Makers(const Graph& graph) {
  std::vector<OperatorIndex> makers(graph.tensors.size(), kNoOperator);
  for (OperatorIndex v = 0; v < graph.operators.size(); ++v) {
    for (const TensorIndex t : graph.operators[v].outputs) makers[t] = v;
  }
  return makers;
}

// Calls visit(u) for each operator u that `v` waits for, perhaps more than once.
template <typename Visit>
void ForEachPredecessor(const Graph& graph, const std::vector<OperatorIndex>& makers,
                        OperatorIndex v, Visit visit) {
  const Operator& op = graph.operators[v];
  for (const TensorIndex t : op.inputs) {
    if (makers[t] != kNoOperator) visit(makers[t]);
  }
  for (const TensorIndex base : op.mutates) {
    if (makers[base] != kNoOperator) visit(makers[base]);
  }
  for (const OperatorIndex u : op.after) visit(u);
}

// The bases that `v` reads, writes in place, or makes views of, except those that it makes itself;
// in increasing order.
inline void BasesUsed(const Graph& graph, const std::vector<OperatorIndex>& makers, OperatorIndex v,
                      std::vector<TensorIndex>& bases) {
  const Operator& op = graph.operators[v];
  bases.clear();
  for (const TensorIndex t : op.inputs) bases.push_back(BaseOf(graph, t));
  for (const TensorIndex t : op.outputs) bases.push_back(BaseOf(graph, t));
  bases.insert(bases.end(), op.mutates.begin(), op.mutates.end());
  std::sort(bases.begin(), bases.end());
  bases.erase(std::unique(bases.begin(), bases.end()), bases.end());
  std::erase_if(bases, [&](TensorIndex base) { return makers[base] == v; });
}

// True if a plan under `counting` has bytes for `base`, given that it is used.
[[nodiscard]] inline bool IsCounted(const Tensor& base, const Counting& counting) {
  return base.bytes != 0 && TakesPart(base, counting);
}

[[nodiscard]] inline bool IsMade(TensorKind kind) {
  return kind == TensorKind::kActivation || kind == TensorKind::kGradient;
}

// For each base, whether it or a view of it is a result of the graph; false for views.
[[nodiscard]] inline std::vector<bool> BasesOfOutputs(const Graph& graph) {
  std::vector<bool> is_output(graph.tensors.size(), false);
  for (TensorIndex t = 0; t < graph.tensors.size(); ++t) {
    if (graph.tensors[t].output) is_output[BaseOf(graph, t)] = true;
  }
  return is_output;
}

}  // namespace berth::internal

#endif  // BERTH_GRAPH_EDGES_H_
