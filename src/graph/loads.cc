#include "graph/loads.h"

#include <vector>

#include "graph/edges.h"

namespace berth::internal {
namespace {

// For each tensor, whether it is the base of something that an operator uses.
std::vector<bool> BasesInUse(const Graph& graph, const std::vector<OperatorIndex>& makers) {
  std::vector<bool> in_use(graph.tensors.size(), false);
  std::vector<TensorIndex> bases;
  for (OperatorIndex v = 0; v < graph.operators.size(); ++v) {
    BasesUsed(graph, makers, v, bases);
    for (const TensorIndex base : bases) in_use[base] = true;
  }
  return in_use;
}

}  // namespace

Graph WithLoads(const Graph& graph, const Counting& counting, std::size_t& loads) {
  Graph loaded;
  loaded.tensors.reserve(graph.tensors.size());
  for (const Tensor& tensor : graph.tensors) {
    Tensor& copy = loaded.tensors.emplace_back();
    copy.bytes = tensor.bytes;
    copy.alignment = tensor.alignment;
    copy.kind = tensor.kind;
    copy.output = tensor.output;
    copy.alias_of = tensor.alias_of;
    copy.unplanned = tensor.unplanned;
  }
  const std::vector<OperatorIndex> makers = Makers(graph);
  const std::vector<bool> in_use = BasesInUse(graph, makers);
  std::vector<std::size_t> load_of(graph.tensors.size(), kNoOperator);
  for (TensorIndex t = 0; t < graph.tensors.size(); ++t) {
    const bool is_loaded =
        makers[t] == kNoOperator && in_use[t] && IsCounted(graph.tensors[t], counting);
    if (!is_loaded) continue;
    loaded.tensors[t].kind = TensorKind::kActivation;
    loaded.tensors[t].output = false;  // It has a copy off chip, or gets one for nothing.
    load_of[t] = loaded.operators.size();
    loaded.operators.emplace_back().outputs = {t};
  }
  for (TensorIndex t = 0; t < graph.tensors.size(); ++t) {
    const auto& base = graph.tensors[t].alias_of;
    if (!base || load_of[*base] == kNoOperator) continue;
    loaded.tensors[t].output = false;
    if (makers[t] != kNoOperator) continue;
    loaded.tensors[t].kind = TensorKind::kActivation;
    loaded.operators[load_of[*base]].outputs.push_back(t);
  }
  loads = loaded.operators.size();
  loaded.operators.reserve(loads + graph.operators.size());
  for (const Operator& op : graph.operators) {
    Operator& copy = loaded.operators.emplace_back();
    copy.inputs = op.inputs;
    copy.outputs = op.outputs;
    copy.mutates = op.mutates;
    copy.after = op.after;
    copy.update = op.update;
    for (OperatorIndex& u : copy.after) u += loads;
  }
  return loaded;
}

}  // namespace berth::internal
