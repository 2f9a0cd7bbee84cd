#include "io/onnx/lower.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/text.h"
#include "base/unique_names.h"
#include "berth/budget.h"
#include "berth/place.h"

namespace berth::internal::onnx {
namespace {

class Lowering {
 public:
  Lowering(const Region& region, const Knowledge& known, const OnnxOptions& options)
      : region_(region), known_(known), options_(options) {}

  Lowered Run() {
    for (const ValueId id : region_.inputs) TensorOf(id);
    for (OperatorIndex v = 0; v < region_.steps.size(); ++v) AddOperator(v);
    for (const ValueId id : region_.outputs) graph_.tensors[TensorOf(id)].output = true;
    return {std::move(graph_), std::move(tensor_of_)};
  }

 private:
  TensorIndex TensorOf(ValueId id) {
    const auto [found, added] = tensor_of_.emplace(id, graph_.tensors.size());
    if (added) {
      graph_.tensors.push_back(MakeTensor(known_.values[id]));
      // In the graph of a body, values from outside are inputs.
      Tensor& tensor = graph_.tensors.back();
      if (tensor.kind == TensorKind::kActivation && maker_.count(id) == 0) {
        tensor.kind = TensorKind::kInput;
      }
    }
    return found->second;
  }

  void AddOperator(OperatorIndex v) {
    const Step& step = region_.steps[v];
    Operator op;
    op.type = Printable(step.node->type);
    op.name = operator_names_.Take(step.node->name.empty() ? op.type + "_" + std::to_string(v)
                                                           : Printable(step.node->name));
    for (const ValueId id : step.inputs) {
      const auto made_by = maker_.find(id);
      const KnownValue& value = known_.values[id];
      const bool constant = value.info.constant && value.origin == Origin::kMade;
      // Operators that compute constants need not run; if they do, they keep this order.
      if (made_by != maker_.end() && (step.constant || constant)) {
        op.after.push_back(made_by->second);
      }
      if (!step.constant) op.inputs.push_back(TensorOf(id));
    }
    std::sort(op.after.begin(), op.after.end());
    op.after.erase(std::unique(op.after.begin(), op.after.end()), op.after.end());
    for (std::size_t i = 0; i < step.outputs.size(); ++i) {
      const ValueId id = step.outputs[i];
      maker_.emplace(id, v);
      const TensorIndex t = TensorOf(id);
      if (step.constant && step.node->type == "DequantizeLinear" && !step.inputs.empty()) {
        // The weight itself need not be a tensor of the graph.
        const KnownValue& weight = known_.values[step.inputs[0]];
        graph_.tensors[t].quantized = BytesOf(weight.info, options_.element_bytes).value_or(0);
      }
      if (step.constant) continue;
      if (i == 0 && step.zero_copy) MakeView(op.inputs[0], t);
      op.outputs.push_back(t);
    }
    if (step.may_overwrite && !step.constant && step.outputs.size() == 1) AddOverwrites(step, op);
    if (!step.constant && !step.has_workspace) AddFields(step, op);
    if (step.has_workspace && (step.workspace > 0 || !step.unplanned.empty())) {
      Tensor workspace;
      workspace.name = names_.Take(op.name + " (workspace)");
      workspace.bytes = step.unplanned.empty() ? step.workspace : 0;
      workspace.unplanned = step.unplanned;
      op.outputs.push_back(graph_.tensors.size());
      graph_.tensors.push_back(std::move(workspace));
    }
    graph_.operators.push_back(std::move(op));
  }

  Tensor MakeTensor(const KnownValue& value) {
    Tensor tensor;
    tensor.name = names_.Take(value.name.empty() ? "?" : Printable(value.name));
    tensor.kind = value.origin == Origin::kInput    ? TensorKind::kInput
                  : value.origin == Origin::kWeight ? TensorKind::kParameter
                  : value.info.constant             ? TensorKind::kConstant
                                                    : TensorKind::kActivation;
    const std::optional<ElementTypeInfo> type = FindElementType(value.info.element);
    if (type) tensor.dtype = std::string(type->name);
    if (value.info.IsTensor() && value.info.shape.has_rank) {
      tensor.shape = ToString(value.info.shape);
    }
    if (const std::optional<Bytes> bytes = BytesOf(value.info, options_.element_bytes)) {
      tensor.bytes = *bytes;
      tensor.alignment = options_.element_bytes.value_or(std::max(1, type ? type->bits / 8 : 1));
    } else if (value.cause >= 0) {
      tensor.unplanned = known_.causes[static_cast<std::size_t>(value.cause)];
    } else {
      const std::string reason = ReasonOfType(value.info);
      tensor.unplanned = reason.empty() ? "its size is not known" : reason;
    }
    return tensor;
  }

  void MakeView(TensorIndex of, TensorIndex view) {
    const TensorIndex base = BaseOf(graph_, of);
    Tensor& tensor = graph_.tensors[view];
    // Equal in size by definition, but perhaps only one of the sizes is known.
    if (tensor.bytes != graph_.tensors[of].bytes ||
        tensor.unplanned.empty() != graph_.tensors[base].unplanned.empty()) {
      return;
    }
    tensor.alias_of = base;
  }

  void AddOverwrites(const Step& step, Operator& op) {
    const Info& out = known_.values[step.outputs[0]].info;
    const TensorIndex output = op.outputs[0];
    if (graph_.tensors[output].alias_of || !graph_.tensors[output].unplanned.empty()) return;
    for (std::size_t i = 0; i < step.inputs.size(); ++i) {
      const Info& in = known_.values[step.inputs[i]].info;
      const Tensor& tensor = graph_.tensors[op.inputs[i]];
      if (in.shape == out.shape && tensor.bytes == graph_.tensors[output].bytes &&
          tensor.kind == TensorKind::kActivation && tensor.unplanned.empty()) {
        op.may_overwrite.push_back({op.inputs[i], output});
      }
    }
  }

  void AddFields(const Step& step, Operator& op) {
    if (op.outputs.size() != 1 || graph_.tensors[op.outputs[0]].alias_of) return;
    for (const Step::Slide& slide : step.slides) {
      ReceptiveField field = slide.field;
      for (const ValueId id : slide.values) {
        const TensorIndex t = TensorOf(id);
        const auto& inputs = field.inputs;
        if (std::find(inputs.begin(), inputs.end(), t) == inputs.end()) field.inputs.push_back(t);
      }
      op.receptive_fields.push_back(std::move(field));
    }
  }

  const Region& region_;
  const Knowledge& known_;
  const OnnxOptions& options_;
  Graph graph_;
  std::unordered_map<ValueId, TensorIndex> tensor_of_;
  std::unordered_map<ValueId, OperatorIndex> maker_;
  UniqueNames names_, operator_names_;
};

// Results that lie where the operator's own outputs do are no longer counted.
void LeaveOutResults(const Region& region, const std::vector<Info>& outputs,
                     std::optional<int> element_bytes, Lowered& lowered) {
  Graph& graph = lowered.graph;
  std::vector<int> results(graph.tensors.size(), 0);  // Of each base.
  for (const ValueId id : region.outputs) {
    const auto tensor = lowered.tensor_of.find(id);
    if (tensor != lowered.tensor_of.end()) ++results[BaseOf(graph, tensor->second)];
  }
  std::vector<TensorIndex> left_out;
  for (std::size_t i = 0; i < region.outputs.size() && i < outputs.size(); ++i) {
    const auto tensor = lowered.tensor_of.find(region.outputs[i]);
    if (tensor == lowered.tensor_of.end()) continue;
    const TensorIndex base = BaseOf(graph, tensor->second);
    if (graph.tensors[base].kind == TensorKind::kActivation && results[base] == 1 &&
        BytesOf(outputs[i], element_bytes) == graph.tensors[base].bytes) {
      left_out.push_back(base);
    }
  }
  for (const TensorIndex base : left_out) graph.tensors[base].kind = TensorKind::kInput;
  for (Operator& op : graph.operators) {
    std::erase_if(op.outputs,
                  [&](TensorIndex t) { return graph.tensors[t].kind == TensorKind::kInput; });
  }
}

}  // namespace

Lowered Lower(const Region& region, const Knowledge& known, const OnnxOptions& options) {
  return Lowering(region, known, options).Run();
}

Workspace PlanBody(const Region& region, const Knowledge& known, const std::vector<Info>* outputs,
                   const OnnxOptions& options) {
  Workspace workspace;
  Lowered lowered = Lower(region, known, options);
  Graph& graph = lowered.graph;
  for (const Tensor& tensor : graph.tensors) {
    if (tensor.unplanned.empty() || tensor.kind != TensorKind::kActivation) continue;
    workspace.unplanned = tensor.unplanned;
    return workspace;
  }
  if (auto valid = Validate(graph); !valid) {
    workspace.unplanned = valid.error().message;
    return workspace;
  }
  if (outputs != nullptr) LeaveOutResults(region, *outputs, options.element_bytes, lowered);
  graph = Aligned(std::move(graph), options.alignment);
  const Liveness liveness = Live(graph, ProgramOrder(graph));
  if (liveness.problem.buffers.size() <= 2) {  // Any plan is as high as the peak.
    workspace.bytes = liveness.peak;
    return workspace;
  }
  PlaceOptions place;
  place.algorithm = Algorithm::kFirstFitSize;
  Budget budget;
  const Result<PlanAnswer> answer = Place(liveness.problem, place, budget);
  BERTH_CHECK(answer.has_value() && answer->best.has_value());
  workspace.bytes = answer->best->height();
  return workspace;
}

std::string ReasonOfType(const Info& info) {
  if (info.IsTensor() && info.element == kString) return "text has no fixed size";
  if (info.IsTensor() && info.element != kUndefined && !FindElementType(info.element)) {
    return "element type " + std::to_string(info.element) + " is not known";
  }
  if (info.kind != TypeKind::kTensor && info.kind != TypeKind::kUnknown) {
    return (info.kind == TypeKind::kOptional ? "an " : "a ") + std::string(ToString(info.kind)) +
           " has no fixed size";
  }
  return {};
}

}  // namespace berth::internal::onnx
