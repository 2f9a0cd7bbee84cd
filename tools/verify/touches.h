// tools/verify/touches.h -- which bytes the operators of a graph use.
#ifndef BERTH_TOOLS_VERIFY_TOUCHES_H_
#define BERTH_TOOLS_VERIFY_TOUCHES_H_

#include <set>
#include <vector>

#include "berth/graph.h"

namespace berth::verify {

// The bases that an operator touches.
struct Touches {
  std::set<TensorIndex> needs;  // Whose bytes it reads, also by views or writes in place.
  std::set<TensorIndex> makes;
  std::set<TensorIndex> writes;  // That it makes or writes in place.
};

[[nodiscard]] inline TensorIndex BaseIn(const Graph& graph, TensorIndex tensor) {
  const auto& alias = graph.tensors[tensor].alias_of;
  return alias ? *alias : tensor;
}

// Parallel to the operators.
[[nodiscard]] inline std::vector<Touches> AllTouches(const Graph& graph) {
  std::vector<Touches> touches(graph.operators.size());
  for (std::size_t v = 0; v < graph.operators.size(); ++v) {
    const Operator& op = graph.operators[v];
    for (const TensorIndex t : op.outputs) {
      if (!graph.tensors[t].alias_of) touches[v].makes.insert(t);
    }
    const auto need = [&](TensorIndex t) {
      const TensorIndex base = BaseIn(graph, t);
      if (!touches[v].makes.contains(base)) touches[v].needs.insert(base);
    };
    for (const TensorIndex t : op.inputs) need(t);
    for (const TensorIndex t : op.mutates) need(t);
    for (const TensorIndex t : op.outputs) need(t);
    touches[v].writes = touches[v].makes;
    touches[v].writes.insert(op.mutates.begin(), op.mutates.end());
  }
  return touches;
}

[[nodiscard]] inline bool IsWeight(const Tensor& tensor) {
  return tensor.kind == TensorKind::kParameter || tensor.kind == TensorKind::kConstant;
}

// Whether the plan has bytes for the tensor.
[[nodiscard]] inline bool Counts(const Tensor& tensor, const Counting& counting) {
  if (tensor.alias_of || tensor.bytes == 0) return false;
  if (tensor.kind == TensorKind::kInput) return counting.inputs;
  return !IsWeight(tensor) || counting.parameters;
}

// For each base, whether it or a view of it is a result.
[[nodiscard]] inline std::vector<bool> Results(const Graph& graph) {
  std::vector<bool> results(graph.tensors.size(), false);
  for (TensorIndex t = 0; t < graph.tensors.size(); ++t) {
    if (graph.tensors[t].output) results[BaseIn(graph, t)] = true;
  }
  return results;
}

}  // namespace berth::verify

#endif  // BERTH_TOOLS_VERIFY_TOUCHES_H_
