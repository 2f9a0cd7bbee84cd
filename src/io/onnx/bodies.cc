// Bodies of If, Loop and Scan, and functions.
//
// They are walked as the model is (import.cc), at each call and with the shapes of that call. Their
// tensors live only while the operator runs. It gets a workspace as high as a greedy plan of the
// body in program order, which is enough for any runtime that plans the body as well as that. Three
// details keep the bound true and tight:
//   * the results of a branch or function may be written where the operator's own outputs lie,
//     which are live all the time, so results of the same size are not counted twice;
//   * a Loop or Scan needs its state before and after an iteration side by side, so all inputs of
//     the body are counted for its whole duration;
//   * the state of a Loop may change shape from one iteration to the next. A shape is assumed if
//     the body, given it, gives it back (by induction, all iterations then have it); dimensions
//     that change are forgotten until that holds.

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/text.h"
#include "base/try.h"
#include "io/onnx/call.h"
#include "io/onnx/importer.h"

namespace berth::internal::onnx {
namespace {

constexpr int kMaxLoopRounds = 8;

void AddWorkspace(Step& step, const Workspace& workspace) {
  step.has_workspace = true;
  step.workspace = std::max(step.workspace, workspace.bytes);
  if (step.unplanned.empty()) step.unplanned = workspace.unplanned;
}

const Attribute* Body(const NodeMessage& node, std::string_view name) {
  for (const Attribute& attribute : node.attributes) {
    if (attribute.name == name && attribute.type == AttributeType::kGraph) return &attribute;
  }
  return nullptr;
}

void Forget(Info& info, const Info& other) {
  info.value = nullptr;
  if (info.kind != other.kind) {
    info = {};
  } else if (info.IsTensor()) {
    if (info.element != other.element) info.element = kUndefined;
    if (info.shape.rank() != other.shape.rank() || !other.shape.has_rank) {
      info.shape = {};
    }
    for (std::size_t i = 0; i < info.shape.rank(); ++i) {
      if (info.shape.dims[i] != other.shape.dims[i]) info.shape.dims[i] = kUnknownDim;
    }
  }
}

void Stack(Info& info, std::size_t axis, std::int64_t count) {
  if (!info.IsTensor() || !info.shape.has_rank || info.shape.rank() >= kMaxRank) {
    info = {};
    return;
  }
  info.shape.dims.insert(info.shape.dims.begin() + static_cast<std::ptrdiff_t>(axis), count);
}

void Substitute(const FunctionMessage& function, const NodeMessage& call, NodeMessage& node) {
  std::vector<Attribute> attributes;
  for (const Attribute& attribute : node.attributes) {
    if (attribute.reference.empty()) {
      attributes.push_back(attribute);
      continue;
    }
    const Attribute* given = nullptr;
    for (const Attribute& of_call : call.attributes) {
      if (of_call.name == attribute.reference) given = &of_call;
    }
    if (given == nullptr) {
      for (const Attribute& otherwise : function.defaults) {
        if (otherwise.name == attribute.reference) given = &otherwise;
      }
    }
    if (given == nullptr) continue;  // Left out.
    attributes.push_back(*given);
    attributes.back().name = attribute.name;
    attributes.back().reference = {};
  }
  node.attributes = std::move(attributes);
}

}  // namespace

Result<void> Importer::OpenBody(const GraphMessage& message, Scope& scope,
                                const std::vector<Info>& inputs, const std::vector<int>& causes,
                                Region& region) {
  DeclareValues(message, scope);
  BERTH_TRY(AddWeights(message, scope));
  for (std::size_t i = 0; i < message.inputs.size(); ++i) {
    const ValueMessage& input = message.inputs[i];
    if (scope.names.count(input.name) != 0 && i >= inputs.size()) continue;  // Has a default.
    if (i >= inputs.size()) {
      return source_.Fail("input " + Quoted(input.name) + " of a body is given by nothing");
    }
    const ValueId id = NewValue(input.name, Origin::kInput, inputs[i], causes[i]);
    BERTH_TRY(Define(scope, input.name, id));
    region.inputs.push_back(id);
  }
  return {};
}

Result<void> Importer::FreeNames(std::string_view body, int depth,
                                 std::vector<std::string_view>& names) {
  if (depth > kMaxDepth) return source_.Fail("bodies are nested more than 32 deep");
  const GraphMessage message = BERTH_TRY(ParseGraph(source_, body));
  std::unordered_set<std::string_view> own;
  for (const ValueMessage& input : message.inputs) own.insert(input.name);
  for (const TensorMessage& weight : message.weights) own.insert(weight.name);
  const auto use = [&](std::string_view name) {
    if (!name.empty() && own.count(name) == 0) names.push_back(name);
  };
  for (const NodeMessage& node : message.nodes) {
    for (const std::string_view input : node.inputs) use(input);
    std::vector<std::string_view> inner;
    BERTH_TRY(FreeNamesOf(node, depth + 1, inner));
    for (const std::string_view name : inner) use(name);
    for (const std::string_view output : node.outputs) own.insert(output);
  }
  for (const ValueMessage& output : message.outputs) use(output.name);
  return {};
}

Result<void> Importer::FreeNamesOf(const NodeMessage& node, int depth,
                                   std::vector<std::string_view>& names) {
  for (const Attribute& attribute : node.attributes) {
    if (attribute.type == AttributeType::kGraph) {
      BERTH_TRY(FreeNames(attribute.bytes, depth, names));
    } else if (attribute.type == AttributeType::kGraphs) {
      for (const std::string_view body : attribute.list) {
        BERTH_TRY(FreeNames(body, depth, names));
      }
    }
  }
  return {};
}

Result<void> Importer::WalkBody(const GraphMessage& message, const Scope& outer,
                                const std::vector<Info>& inputs, const std::vector<int>& causes,
                                Region& region) {
  Scope scope;
  scope.outer = &outer;
  scope.opsets = outer.opsets;
  scope.depth = outer.depth + 1;
  if (scope.depth > kMaxDepth) return source_.Fail("bodies are nested more than 32 deep");
  BERTH_TRY(OpenBody(message, scope, inputs, causes, region));
  BERTH_TRY(Walk(message.nodes, scope, region));
  return CloseGraph(message.outputs, scope, region);
}

std::vector<Info> Importer::Results(const Region& region) const {
  std::vector<Info> infos;
  for (const ValueId id : region.outputs) {
    infos.push_back(known_.values[id].info);
    infos.back().constant = false;
    infos.back().value = nullptr;
  }
  return infos;
}

Result<void> Importer::CallIf(const NodeMessage& node, const std::vector<ValueId>& arguments,
                              const Scope& scope, Step& step, std::vector<Info>& inferred,
                              std::string& reason) {
  std::optional<bool> condition;
  if (!arguments.empty() && arguments[0] != kAbsent) {
    const Value* value = known_.values[arguments[0]].info.Complete();
    if (value != nullptr && value->ints.size() == 1) condition = value->ints[0] != 0;
  }
  std::vector<GraphMessage> messages;
  messages.reserve(2);  // Regions point into them.
  std::vector<Region> regions;
  std::vector<std::vector<Info>> results;
  std::string failure;
  for (const bool branch : {true, false}) {
    if (condition && *condition != branch) continue;
    const std::string_view name = branch ? "then_branch" : "else_branch";
    const Attribute* body = Body(node, name);
    if (body == nullptr) return source_.Fail(Name(node) + " has no " + std::string(name));
    GraphMessage message = BERTH_TRY(ParseGraph(source_, body->bytes));
    if (message.outputs.size() != node.outputs.size()) {
      return source_.Fail(Name(node) + " has " + std::to_string(node.outputs.size()) +
                          " outputs, and its " + std::string(name) + " " +
                          std::to_string(message.outputs.size()));
    }
    messages.push_back(std::move(message));
    Region region;
    const std::size_t conflicts = conflicts_;
    if (auto walked = WalkBody(messages.back(), scope, {}, {}, region); !walked) {
      // No run can take a branch that contradicts itself, so its needs do not matter. Which branch
      // that is may depend on the very sizes that the condition tests.
      if (condition || walked.error().code != ErrorCode::kParse) return walked;
      conflicts_ = conflicts;
      failure = walked.error().message.substr(source_.name().size() + 2);
      continue;
    }
    results.push_back(Results(region));
    regions.push_back(std::move(region));
  }
  if (results.empty()) return source_.Fail(failure);
  if (!failure.empty()) {
    notes_.push_back("A branch of " + Name(node) + " cannot run with these sizes: " + failure);
  }
  for (std::size_t i = 0; i < inferred.size(); ++i) {
    inferred[i] = results[0][i];
    if (results.size() == 2) Forget(inferred[i], results[1][i]);
  }
  if (results.size() == 2) reason = "its branches give different shapes, or unknown ones";
  for (const Region& region : regions)
    AddWorkspace(step, PlanBody(region, known_, &inferred, options_));
  return {};
}

Result<Importer::IterationOutcome> Importer::Iterate(const GraphMessage& message,
                                                     const Scope& scope, std::vector<Info>& inputs,
                                                     std::vector<int>& causes,
                                                     std::size_t first_state,
                                                     std::size_t first_result, std::size_t states,
                                                     const NodeMessage& node) {
  IterationOutcome outcome;
  for (int round = 0;; ++round) {
    Region region;
    BERTH_TRY(WalkBody(message, scope, inputs, causes, region));
    bool stable = true;
    const std::vector<Info> results = Results(region);
    for (std::size_t i = 0; i < states; ++i) {
      Info weaker = inputs[first_state + i];
      Forget(weaker, results[first_result + i]);
      Info& state = inputs[first_state + i];
      if (weaker.kind == state.kind && weaker.element == state.element &&
          weaker.shape == state.shape) {
        continue;
      }
      stable = false;
      state = round + 1 < kMaxLoopRounds ? weaker : Info{};
      if (causes[first_state + i] < 0) {
        causes[first_state + i] =
            Cause("a state of " + Name(node) + " changes from one iteration to the next");
      }
    }
    // A condition that the body may change cannot be relied on.
    if (first_state == 2 && inputs[1].value != nullptr) {
      const Value* next = known_.values[region.outputs[0]].info.Complete();
      if (next == nullptr || next->ints != std::vector<std::int64_t>{1}) {
        inputs[1].value = nullptr;
        stable = false;
      }
    }
    if (!stable) continue;
    outcome.results = results;
    outcome.workspace = PlanBody(region, known_, nullptr, options_);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const std::optional<Bytes> bytes = BytesOf(inputs[i], options_.element_bytes);
      if (!bytes || outcome.workspace.bytes > kMaxBytes - *bytes) {
        if (outcome.workspace.unplanned.empty()) {
          outcome.workspace.unplanned =
              causes[i] >= 0 ? known_.causes[static_cast<std::size_t>(causes[i])]
                             : "an input of the body of " + Name(node) + " has no known size";
        }
        continue;
      }
      outcome.workspace.bytes += *bytes;
    }
    return outcome;
  }
}

Result<void> Importer::CallLoop(const NodeMessage& node, const std::vector<ValueId>& arguments,
                                const Scope& scope, Step& step, std::vector<Info>& inferred,
                                std::string& reason) {
  const Attribute* body = Body(node, "body");
  if (body == nullptr) return source_.Fail(Name(node) + " has no body");
  const GraphMessage message = BERTH_TRY(ParseGraph(source_, body->bytes));
  const std::size_t states = arguments.size() < 2 ? 0 : arguments.size() - 2;
  if (message.inputs.size() != states + 2 || message.outputs.size() < states + 1 ||
      node.outputs.size() > message.outputs.size() - 1) {
    return source_.Fail(Name(node) + ": the inputs and outputs of its body do not match its own");
  }
  std::vector<Info> inputs(states + 2);
  std::vector<int> causes(states + 2, -1);
  inputs[0] = {TypeKind::kTensor, kInt64, Ranked({}), nullptr, false};
  inputs[1] = {TypeKind::kTensor, kBool, Ranked({}), nullptr, false};
  bool runs_through = arguments.size() < 2 || arguments[1] == kAbsent;
  if (!runs_through) {
    const Value* condition = known_.values[arguments[1]].info.Complete();
    runs_through = condition != nullptr && condition->ints == std::vector<std::int64_t>{1};
  }
  if (runs_through) inputs[1].value = std::make_shared<const Value>(Value{{1}, {}, {}});
  for (std::size_t i = 0; i < states; ++i) {
    if (arguments[i + 2] == kAbsent) continue;
    inputs[i + 2] = known_.values[arguments[i + 2]].info;
    inputs[i + 2].value = nullptr;
    inputs[i + 2].constant = false;
    causes[i + 2] = known_.values[arguments[i + 2]].cause;
  }
  const IterationOutcome outcome =
      BERTH_TRY(Iterate(message, scope, inputs, causes, 2, 1, states, node));
  AddWorkspace(step, outcome.workspace);
  // The number of iterations is known if only the count can end the loop.
  std::int64_t trips = kUnknownDim;
  if (inputs[1].value != nullptr && !arguments.empty() && arguments[0] != kAbsent) {
    const Value* count = known_.values[arguments[0]].info.Complete();
    if (count != nullptr && count->ints.size() == 1 && count->ints[0] >= 0 &&
        count->ints[0] <= kMaxDim) {
      trips = count->ints[0];
    }
  }
  if (trips < 0) reason = "how often it runs depends on the data";
  for (std::size_t i = 0; i < inferred.size(); ++i) {
    if (i < states) {
      inferred[i] = inputs[i + 2];
      continue;
    }
    inferred[i] = outcome.results[i + 1];
    Stack(inferred[i], 0, trips);
  }
  return {};
}

// The inputs of the body: the states, and slices of what is scanned. The number of slices, if known.
Result<std::int64_t> Importer::ScanInputs(const NodeMessage& node,
                                          const std::vector<ValueId>& arguments, std::size_t states,
                                          const std::vector<std::int64_t>* in_axes,
                                          std::vector<Info>& inputs, std::vector<int>& causes) {
  std::int64_t trips = kUnknownDim;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == kAbsent) continue;
    inputs[i] = known_.values[arguments[i]].info;
    inputs[i].value = nullptr;
    inputs[i].constant = false;
    causes[i] = known_.values[arguments[i]].cause;
    if (i < states || !inputs[i].IsTensor() || !inputs[i].shape.has_rank) continue;
    Dims& dims = inputs[i].shape.dims;
    const std::size_t k = i - states;
    std::int64_t axis = in_axes != nullptr && k < in_axes->size() ? (*in_axes)[k] : 0;
    const auto rank = static_cast<std::int64_t>(dims.size());
    if (axis < -rank || axis >= rank) {
      return source_.Fail(Name(node) + ": scans axis " + std::to_string(axis) + " of " +
                          ToString(inputs[i].shape));
    }
    const auto at = dims.begin() + static_cast<std::ptrdiff_t>(axis < 0 ? axis + rank : axis);
    if (*at >= 0) trips = *at;
    dims.erase(at);
  }
  return trips;
}

Result<void> Importer::CallScan(const NodeMessage& node, const std::vector<ValueId>& arguments,
                                const Scope& scope, Step& step, std::vector<Info>& inferred,
                                std::string& reason) {
  const std::optional<std::int64_t> opset = OpsetOf(scope, "");
  const Attribute* body = Body(node, "body");
  if (body == nullptr) return source_.Fail(Name(node) + " has no body");
  if (opset.value_or(1) < 9) {
    step.has_workspace = true;
    reason = "a Scan before operator set 9";
    step.unplanned = Name(node) + ": " + reason;
    return {};
  }
  const GraphMessage message = BERTH_TRY(ParseGraph(source_, body->bytes));
  const Call attributes(source_, node, *opset, {});
  const std::int64_t scanned = attributes.Int("num_scan_inputs", 0);
  const std::size_t count = arguments.size();
  if (scanned < 1 || static_cast<std::uint64_t>(scanned) > count ||
      message.inputs.size() != count ||
      message.outputs.size() < count - static_cast<std::size_t>(scanned) ||
      node.outputs.size() > message.outputs.size()) {
    return source_.Fail(Name(node) + ": the inputs and outputs of its body do not match its own");
  }
  const std::size_t states = count - static_cast<std::size_t>(scanned);
  const std::vector<std::int64_t>* in_axes = attributes.Ints("scan_input_axes");
  const std::vector<std::int64_t>* out_axes = attributes.Ints("scan_output_axes");
  std::vector<Info> inputs(count);
  std::vector<int> causes(count, -1);
  const std::int64_t trips =
      BERTH_TRY(ScanInputs(node, arguments, states, in_axes, inputs, causes));
  const IterationOutcome outcome =
      BERTH_TRY(Iterate(message, scope, inputs, causes, 0, 0, states, node));
  AddWorkspace(step, outcome.workspace);
  for (std::size_t i = 0; i < inferred.size(); ++i) {
    if (i < states) {
      inferred[i] = inputs[i];
      continue;
    }
    inferred[i] = outcome.results[i];
    const auto rank = static_cast<std::int64_t>(inferred[i].shape.rank()) + 1;
    const std::size_t k = i - states;
    const std::int64_t axis = out_axes != nullptr && k < out_axes->size() ? (*out_axes)[k] : 0;
    if (inferred[i].shape.has_rank && (axis < -rank || axis >= rank)) {
      return source_.Fail(Name(node) + ": stacks its results along axis " + std::to_string(axis));
    }
    Stack(inferred[i], static_cast<std::size_t>(axis < 0 ? axis + rank : axis), trips);
  }
  return {};
}

Result<void> Importer::CallFunction(const FunctionMessage& function, const NodeMessage& node,
                                    const std::vector<ValueId>& arguments, const Scope& scope,
                                    Step& step, std::vector<Info>& inferred, std::string& reason) {
  Scope inner;
  inner.opsets = &function.opsets;
  inner.depth = scope.depth + 1;
  if (inner.depth > kMaxDepth) return source_.Fail("functions are nested more than 32 deep");
  if (arguments.size() > function.inputs.size() || node.outputs.size() > function.outputs.size()) {
    return source_.Fail(Name(node) + " has more inputs or outputs than its function");
  }
  DeclareValues(function.body, inner);
  Region region;
  for (std::size_t i = 0; i < function.inputs.size(); ++i) {
    const ValueId id = i < arguments.size() ? arguments[i] : kAbsent;
    BERTH_TRY(Define(inner, function.inputs[i], id));
  }
  // References to attributes of the function are replaced by those of the call.
  std::vector<NodeMessage> nodes = function.body.nodes;
  for (NodeMessage& inside : nodes) Substitute(function, node, inside);
  BERTH_TRY(Walk(nodes, inner, region));
  for (const std::string_view output : function.outputs) {
    const ValueId* id = Lookup(inner, output);
    if (id == nullptr || *id == kAbsent) {
      return source_.Fail("output " + Quoted(output) + " of function " + Quoted(function.name) +
                          " is made by nothing");
    }
    region.outputs.push_back(*id);
  }
  const std::vector<Info> results = Results(region);
  for (std::size_t i = 0; i < inferred.size(); ++i) {
    inferred[i] = results[i];
    inferred[i].value = known_.values[region.outputs[i]].info.value;
    const int cause = known_.values[region.outputs[i]].cause;
    if (reason.empty() && cause >= 0) reason = known_.causes[static_cast<std::size_t>(cause)];
  }
  std::vector<Info> outer = results;
  outer.resize(inferred.size());
  AddWorkspace(step, PlanBody(region, known_, &outer, options_));
  return {};
}

}  // namespace berth::internal::onnx
