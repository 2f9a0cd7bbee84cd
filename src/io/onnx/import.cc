// From an ONNX model to a graph.
//
// One walk over the operators in the order of the file. Each gets what is known of its inputs
// (types, shapes, values of small integers), and its row (rules.h, fold.h) says what that makes
// known of its outputs. Declarations in the file fill what the rule leaves open; where the two
// contradict each other the rule is right, as the operator is what runs, and a note says so.
//
// What is unknown stays unknown, with its cause carried along: a tensor is "unplanned" because of
// the open dimension, the data-dependent operator or the unknown operator where the uncertainty
// began, not because of the operator just before it.
//
// A call of a function costs a walk through it, and functions may call functions: the number of
// operators walked is limited, as is the depth. Bodies and functions are in bodies.cc.

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/text.h"
#include "base/try.h"
#include "io/onnx/call.h"
#include "io/onnx/fold.h"
#include "io/onnx/importer.h"
#include "io/onnx/rules.h"

namespace berth {
namespace internal::onnx {
namespace {

// Operators in bodies and functions, counted each time that they are walked.
constexpr Bytes kMostAlignment = Bytes{1} << 30;
constexpr std::int64_t kMaxWalked = std::int64_t{1} << 17;

// "2x3 of float32".
std::string TypeText(const Info& info) {
  const std::optional<ElementTypeInfo> type = FindElementType(info.element);
  return ToString(info.shape) + " of " +
         (type ? std::string(type->name) : "type " + std::to_string(info.element));
}

// "1 tensor is", "2 tensors are".
std::string Count(std::size_t count, const std::string& noun, const char* one, const char* many) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s") + " " +
         (count == 1 ? one : many);
}

bool IsControlFlow(const NodeMessage& node) {
  return node.domain.empty() && (node.type == "If" || node.type == "Loop" || node.type == "Scan");
}

bool HasBodies(const NodeMessage& node) {
  return std::any_of(node.attributes.begin(), node.attributes.end(), [](const Attribute& a) {
    return a.type == AttributeType::kGraph || a.type == AttributeType::kGraphs;
  });
}

void AddInput(Step& step, ValueId id) {
  // Most operators have few inputs. For the others, such as a large Concat, DefineOutputs() removes
  // duplicates at once.
  if (id == kAbsent) return;
  if (step.inputs.size() < 16) {
    if (std::find(step.inputs.begin(), step.inputs.end(), id) != step.inputs.end()) return;
  }
  step.inputs.push_back(id);
}

}  // namespace

Result<OnnxModel> Importer::Import() {
  BERTH_TRY(CheckOptions());
  model_ = BERTH_TRY(ParseModel(source_));
  BERTH_TRY(IndexFunctions());
  const GraphMessage message = BERTH_TRY(ParseGraph(source_, model_.graph));

  Scope scope;
  scope.opsets = &model_.opsets;
  if (model_.ir_version >= 3 && model_.opsets.empty()) {
    return source_.Fail("the model does not say which operator set it is written in");
  }
  Region region;
  BERTH_TRY(OpenGraph(message, scope, region));
  BERTH_TRY(Walk(message.nodes, scope, region));
  BERTH_TRY(CloseGraph(message.outputs, scope, region));
  BERTH_TRY(CheckDimensionsUsed());

  OnnxModel out;
  out.graph = Aligned(Lower(region, known_, options_).graph, options_.alignment);
  out.graph.name = Printable(message.name);
  if (auto valid = Validate(out.graph); !valid) {
    return source_.Fail(valid.error().message, valid.error().code, valid.error().subject);
  }
  for (const auto& [name, input] : open_) out.open_dimensions.push_back(name);
  AddNotes(out);
  return out;
}

Result<void> Importer::CheckOptions() {
  if (options_.element_bytes && (*options_.element_bytes < 1 || *options_.element_bytes > 16)) {
    return Fail(ErrorCode::kInvalidOptions, "elements of " +
                                                std::to_string(*options_.element_bytes) +
                                                " bytes; they must have from 1 to 16");
  }
  if (options_.alignment < 1 || options_.alignment > kMostAlignment) {
    return Fail(ErrorCode::kInvalidOptions, "an alignment of " +
                                                std::to_string(options_.alignment) +
                                                " bytes; it must be from 1 to 2^30");
  }
  if (options_.other_dimensions &&
      (*options_.other_dimensions < 0 || *options_.other_dimensions > kMaxDim)) {
    return Fail(ErrorCode::kInvalidOptions,
                "open dimensions of " + std::to_string(*options_.other_dimensions));
  }
  for (const OnnxDimension& dimension : options_.dimensions) {
    if (dimension.size < 0 || dimension.size > kMaxDim) {
      return Fail(ErrorCode::kInvalidOptions,
                  "dimension " + Quoted(dimension.name) + " of " + std::to_string(dimension.size));
    }
    if (!sizes_.emplace(dimension.name, dimension.size).second) {
      return Fail(ErrorCode::kInvalidOptions,
                  "dimension " + Quoted(dimension.name) + " is given twice");
    }
  }
  return {};
}

Result<void> Importer::CheckDimensionsUsed() {
  for (const auto& [name, size] : sizes_) {
    if (used_.count(name) != 0) continue;
    std::string sentence = "the model has no open dimension " + Quoted(name);
    const char* separator = "; it has ";
    for (const auto& [open, input] : open_) {
      sentence += separator + Quoted(open);
      separator = ", ";
    }
    return source_.Fail(sentence, ErrorCode::kInvalidOptions);
  }
  return {};
}

std::optional<std::int64_t> Importer::SizeOf(const std::string& name) {
  const auto found = sizes_.find(name);
  if (found == sizes_.end()) return std::nullopt;
  used_.insert(name);
  return found->second;
}

Info Importer::Declared(const ValueMessage& message, bool input, int* cause) {
  Info info;
  info.kind = message.kind;
  info.element = message.element;
  info.shape = message.shape;
  for (std::size_t i = 0; i < info.shape.rank(); ++i) {
    if (info.shape.dims[i] >= 0) continue;
    const std::string position = std::string(message.name) + "[" + std::to_string(i) + "]";
    std::string name;
    if (i < message.names.size()) name = std::string(message.names[i]);
    std::optional<std::int64_t> size;
    if (!name.empty()) size = SizeOf(name);
    if (!size && input) size = SizeOf(position);
    if (!size && (input || !name.empty()) && options_.other_dimensions) {
      size = options_.other_dimensions;
      if (input) assumed_.insert(Printable(name.empty() ? position : name));
    }
    if (size) {
      info.shape.dims[i] = *size;
    } else if (input) {
      const std::string& shown = name.empty() ? position : name;
      open_.emplace(Printable(shown), Printable(message.name));
      if (cause != nullptr && *cause < 0) {
        *cause =
            Cause("dimension " + Quoted(shown) + " of input " + Quoted(message.name) + " is open");
      }
    }
  }
  if (cause != nullptr && *cause < 0) {
    std::string reason = ReasonOfType(info);
    if (reason.empty() && !info.shape.has_rank) {
      reason = "the file gives no shape for input " + Quoted(message.name);
    }
    if (!reason.empty()) *cause = Cause(std::move(reason));
  }
  return info;
}

int Importer::Cause(std::string sentence) {
  const auto [found, added] =
      cause_index_.emplace(std::move(sentence), static_cast<int>(known_.causes.size()));
  if (added) known_.causes.push_back(found->first);
  return found->second;
}

ValueId Importer::NewValue(std::string_view name, Origin origin, Info info, int cause) {
  known_.values.push_back({name, origin, std::move(info), cause});
  return known_.values.size() - 1;
}

const ValueId* Importer::Lookup(const Scope& scope, std::string_view name) {
  for (const Scope* s = &scope; s != nullptr; s = s->outer) {
    const auto found = s->names.find(name);
    if (found != s->names.end()) return &found->second;
  }
  return nullptr;
}

Result<void> Importer::Define(Scope& scope, std::string_view name, ValueId id) {
  if (scope.names.emplace(name, id).second) return {};
  return source_.Fail("value " + Quoted(name) + " is made twice");
}

std::string Importer::Name(const NodeMessage& node) const {
  std::string text = "operator ";
  if (!node.name.empty()) {
    text += Quoted(node.name);
  } else {
    text +=
        "that makes " + Quoted(node.outputs.empty() ? std::string_view() : node.outputs.front());
  }
  return text + " (" + Printable(node.type) + ")";
}

std::optional<std::int64_t> Importer::OpsetOf(const Scope& scope, std::string_view domain) const {
  for (const OpsetMessage& opset : *scope.opsets) {
    if (opset.domain == domain) return opset.version;
  }
  if (domain.empty() && model_.ir_version < 3) return 1;
  return std::nullopt;
}

Result<void> Importer::IndexFunctions() {
  for (const FunctionMessage& function : model_.functions) {
    const auto key = std::tuple(function.domain, function.name, function.overload);
    if (!functions_.emplace(key, &function).second) {
      return source_.Fail("function " + Quoted(function.name) + " is defined twice");
    }
  }
  return {};
}

const FunctionMessage* Importer::FindFunction(const NodeMessage& node) const {
  const auto found = functions_.find(std::tuple(node.domain, node.type, node.overload));
  return found == functions_.end() ? nullptr : found->second;
}

void Importer::DeclareValues(const GraphMessage& message, Scope& scope) {
  for (const ValueMessage& value : message.values) scope.declared[value.name] = &value;
  for (const ValueMessage& value : message.outputs) scope.declared[value.name] = &value;
}

Result<void> Importer::AddWeights(const GraphMessage& message, Scope& scope) {
  for (const TensorMessage& weight : message.weights) {
    Info info;
    info.kind = TypeKind::kTensor;
    info.element = weight.element;
    info.shape = Ranked(weight.dims);
    info.constant = true;
    info.value = BERTH_TRY(ReadElements(source_, weight, kMaxFolded));
    std::string reason = ReasonOfType(info);
    const int cause = reason.empty() ? -1 : Cause(std::move(reason));
    const ValueId id = NewValue(weight.name, Origin::kWeight, std::move(info), cause);
    BERTH_TRY(Define(scope, weight.name, id));
  }
  return {};
}

Result<void> Importer::OpenGraph(const GraphMessage& message, Scope& scope, Region& region) {
  DeclareValues(message, scope);
  BERTH_TRY(AddWeights(message, scope));
  std::size_t replaceable = 0;
  std::unordered_set<std::string_view> seen;
  for (const ValueMessage& input : message.inputs) {
    if (!seen.insert(input.name).second) {
      return source_.Fail("input " + Quoted(input.name) + " comes twice");
    }
    if (const auto weight = scope.names.find(input.name); weight != scope.names.end()) {
      replaceable += model_.ir_version >= 4 ? 1 : 0;
      continue;
    }
    int cause = -1;
    Info info = Declared(input, true, &cause);
    const ValueId id = NewValue(input.name, Origin::kInput, std::move(info), cause);
    BERTH_TRY(Define(scope, input.name, id));
    region.inputs.push_back(id);
  }
  if (replaceable > 0) {
    notes_.push_back(Count(replaceable, "weight", "is an input too", "are inputs too") +
                     ": the plan holds while their shapes stay those of the file, and the "
                     "values of those that decide sizes.");
  }
  return {};
}

Result<void> Importer::CloseGraph(const std::vector<ValueMessage>& outputs, const Scope& scope,
                                  Region& region) {
  for (const ValueMessage& output : outputs) {
    const ValueId* id = Lookup(scope, output.name);
    if (id == nullptr || *id == kAbsent) {
      return source_.Fail("output " + Quoted(output.name) + " is made by nothing");
    }
    region.outputs.push_back(*id);
  }
  return {};
}

Result<void> Importer::Walk(const std::vector<NodeMessage>& nodes, Scope& scope, Region& region) {
  for (std::size_t v = 0; v < nodes.size(); ++v) {
    if (scope.depth > 0 && ++walked_ > kMaxWalked) {
      return source_.Fail("its functions and bodies come to more than 2^17 operators");
    }
    if (auto walked = WalkNode(nodes[v], scope, region); !walked) {
      if (scope.depth == 0) walked.error().subject = Subject::OfOperator(v);
      return walked;
    }
  }
  return {};
}

Result<void> Importer::WalkNode(const NodeMessage& node, Scope& scope, Region& region) {
  Step step;
  step.node = &node;
  std::vector<ValueId> arguments;
  for (const std::string_view input : node.inputs) {
    ValueId id = kAbsent;
    if (!input.empty()) {
      const ValueId* found = Lookup(scope, input);
      if (found == nullptr) {
        return source_.Fail(Name(node) + " reads " + Quoted(input) +
                            ", which nothing before it makes");
      }
      id = *found;
    }
    arguments.push_back(id);
    AddInput(step, id);
  }
  if (HasBodies(node)) {
    std::vector<std::string_view> names;
    BERTH_TRY(FreeNamesOf(node, scope.depth + 1, names));
    for (const std::string_view name : names) {
      const ValueId* found = Lookup(scope, name);
      if (found == nullptr) {
        return source_.Fail("the body of " + Name(node) + " reads " + Quoted(name) +
                            ", which nothing before it makes");
      }
      AddInput(step, *found);
    }
  }

  std::vector<Info> inferred(node.outputs.size());
  std::string reason;  // Why an output is unknown although no input is.
  const FunctionMessage* function = FindFunction(node);
  Result<void> done;
  if (function != nullptr) {
    done = CallFunction(*function, node, arguments, scope, step, inferred, reason);
  } else if (IsControlFlow(node)) {
    done = node.type == "If"     ? CallIf(node, arguments, scope, step, inferred, reason)
           : node.type == "Loop" ? CallLoop(node, arguments, scope, step, inferred, reason)
                                 : CallScan(node, arguments, scope, step, inferred, reason);
  } else {
    done = ApplyRule(node, arguments, scope, step, inferred, reason);
    if (HasBodies(node)) {
      step.has_workspace = true;
      step.unplanned = "what the body of " + Name(node) + " needs is not known";
    }
  }
  BERTH_TRY(done);
  return DefineOutputs(node, scope, step, std::move(inferred), reason, region);
}

Result<void> Importer::DefineOutputs(const NodeMessage& node, Scope& scope, Step& step,
                                     std::vector<Info> inferred, const std::string& reason,
                                     Region& region) {
  if (step.inputs.size() > 16) {
    std::unordered_set<ValueId> seen;
    std::erase_if(step.inputs, [&](ValueId id) { return !seen.insert(id).second; });
  }
  int from_inputs = -1;
  for (const ValueId id : step.inputs) {
    if (from_inputs < 0 && known_.values[id].cause >= 0 && !known_.values[id].info.constant) {
      from_inputs = known_.values[id].cause;
    }
  }
  bool all_constant = true;
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    const std::string_view name = node.outputs[i];
    if (name.empty()) continue;
    Info& info = inferred[i];
    MergeDeclared(node, name, scope, info);
    int cause = -1;
    if (!BytesOf(info, options_.element_bytes)) {
      std::string why = ReasonOfType(info);
      if (why.empty() && info.IsTensor() && info.shape.Known() && info.element != kUndefined) {
        why = "it has more than 2^60 bytes";
      }
      if (why.empty() && from_inputs >= 0 && reason.empty()) {
        cause = from_inputs;
      } else {
        if (why.empty()) {
          why = Name(node) + ": " +
                (reason.empty() ? "its result depends on what its inputs hold" : reason);
        }
        cause = Cause(std::move(why));
      }
    } else if (!info.constant && info.Complete() == nullptr) {
      cause = from_inputs;
    }
    all_constant = all_constant && info.constant;
    const ValueId id = NewValue(name, Origin::kMade, std::move(info), cause);
    BERTH_TRY(Define(scope, name, id));
    step.outputs.push_back(id);
  }
  step.constant = all_constant && !step.has_workspace;
  if (!step.constant) {
    // An operator's outputs are constant all together or not at all.
    for (const ValueId id : step.outputs) known_.values[id].info.constant = false;
  }
  region.steps.push_back(std::move(step));
  return {};
}

void Importer::MergeDeclared(const NodeMessage& node, std::string_view name, const Scope& scope,
                             Info& info) {
  const auto found = scope.declared.find(name);
  if (found == scope.declared.end()) return;
  const Info declared = Declared(*found->second, false, nullptr);
  if (info.kind == TypeKind::kUnknown) {
    const bool constant = info.constant;
    info = declared;
    info.constant = constant;
    return;
  }
  if (!info.IsTensor() || !declared.IsTensor()) return;
  if (info.element == kUndefined) info.element = declared.element;
  bool conflict = declared.element != kUndefined && declared.element != info.element;
  if (declared.shape.has_rank && !info.shape.has_rank) {
    info.shape = declared.shape;
  } else if (declared.shape.has_rank && declared.shape.rank() != info.shape.rank()) {
    conflict = true;
  } else if (declared.shape.has_rank) {
    for (std::size_t i = 0; i < info.shape.rank(); ++i) {
      std::int64_t& dim = info.shape.dims[i];
      const std::int64_t said = declared.shape.dims[i];
      if (dim < 0) {
        dim = said;
      } else if (said >= 0 && said != dim) {
        conflict = true;
      }
    }
  }
  if (!conflict) return;
  if (conflicts_++ == 0) {
    first_conflict_ =
        Name(node) + " makes " + TypeText(info) + ", where the file says " + TypeText(declared);
  }
}

// How output 0 depends on inputs along the last two axes: of images, height and width.
void Importer::AddSlides(const OperatorRule& rule, Call& call,
                         const std::vector<ValueId>& arguments, Step& step) {
  const auto slide = rule.more.slide != nullptr       ? rule.more.slide
                     : rule.more.overwrite != nullptr ? rules::SlideAll
                                                      : nullptr;
  if (slide == nullptr || call.num_outputs() == 0) return;
  if (rule.more.overwrite != nullptr && !rule.more.overwrite(call)) return;
  const Shape& out = call.Out(0).shape;
  if (!out.Known() || out.rank() < 2) return;
  for (std::size_t axis = out.rank() - 2; axis < out.rank(); ++axis) {
    if (out.dims[axis] < 2 || out.dims[axis] >= kMaxFactor) continue;
    const auto sliding = slide(call, axis);
    if (!sliding) continue;
    const std::int64_t rows = call.ShapeOf(sliding->inputs[0]).dims[axis];
    const std::int64_t largest =
        std::max({rows, sliding->stride, sliding->extent, sliding->before});
    if (rows < 1 || largest >= kMaxFactor) continue;
    step.slides.push_back({{},
                           {static_cast<std::int64_t>(axis),
                            rows,
                            out.dims[axis],
                            sliding->stride,
                            sliding->extent,
                            sliding->before,
                            {}}});
    for (const std::size_t i : sliding->inputs) step.slides.back().values.push_back(arguments[i]);
  }
}

Result<void> Importer::ApplyRule(const NodeMessage& node, const std::vector<ValueId>& arguments,
                                 const Scope& scope, Step& step, std::vector<Info>& inferred,
                                 std::string& reason) {
  const std::optional<std::int64_t> imported = OpsetOf(scope, node.domain);
  if (!imported && node.domain.empty()) {
    return source_.Fail(Name(node) +
                        ": the model does not say which operator set of ONNX it is "
                        "written in");
  }
  // Some exporters forget to import a domain; its first version is then assumed.
  const std::int64_t opset = imported.value_or(1);
  const OperatorRule* rule = FindRule(node.domain, node.type);
  const bool too_new = node.domain.empty() && opset > kNewestOpset && node.type != "Constant";
  if (rule == nullptr || too_new) {
    const std::string domain = node.domain.empty() ? "operator set " + std::to_string(opset)
                                                   : "domain " + Quoted(node.domain);
    reason = (rule == nullptr ? "an operator of " : "it is of ") + domain +
             (rule == nullptr ? " that is not known" : ", newer than what is known") +
             ", and the file does not give the shape";
    return {};
  }

  std::vector<const Info*> inputs;
  bool constant = !rule->more.random && !HasBodies(node);
  for (const ValueId id : arguments) {
    inputs.push_back(id == kAbsent ? nullptr : &known_.values[id].info);
    constant = constant && (id == kAbsent || known_.values[id].info.constant);
  }
  Call call(source_, node, opset, std::move(inputs));
  rule->infer(call);
  if (!call.failed()) Fold(*rule, call, fold_budget_);
  if (call.failed()) return source_.Fail(Name(node) + ": " + call.failure());
  reason = call.reason();
  if (!constant) AddSlides(*rule, call, arguments, step);
  for (std::size_t i = 0; i < inferred.size(); ++i) {
    inferred[i] = std::move(call.Out(i));
    // A value that follows from shapes alone is as constant as one that follows from weights.
    inferred[i].constant = constant || inferred[i].Complete() != nullptr;
  }
  step.zero_copy = rule->more.view != nullptr && call.Has(0) && rule->more.view(call);
  step.may_overwrite = rule->more.overwrite != nullptr && rule->more.overwrite(call);
  return {};
}

void Importer::AddNotes(OnnxModel& out) {
  out.notes = std::move(notes_);
  std::size_t constants = 0;
  Bytes constant_bytes = 0;
  for (const Tensor& tensor : out.graph.tensors) {
    if (tensor.kind == TensorKind::kConstant && tensor.bytes > 0) {
      ++constants;
      constant_bytes += tensor.bytes;
    }
  }
  if (constants > 0) {
    out.notes.push_back(Count(constants, "tensor", "is constant", "are constant") +
                        " and kept beside the weights, " + Grouped(constant_bytes) +
                        " bytes in all.");
  }
  if (!assumed_.empty()) {
    std::string names;
    for (const std::string& name : assumed_) names += (names.empty() ? "" : ", ") + name;
    out.notes.push_back("Open dimensions taken as " + std::to_string(*options_.other_dimensions) +
                        ": " + names + ".");
  }
  if (conflicts_ > 0) {
    out.notes.push_back(
        Count(conflicts_, "shape", "in the file contradicts", "in the file contradict") +
        " the operators, which are right: " + first_conflict_ + ".");
  }
  if (model_.training_graphs > 0) {
    out.notes.emplace_back("The training part of the model is left out.");
  }
}

}  // namespace internal::onnx

Result<OnnxModel> ReadOnnx(std::string_view bytes, std::string_view name,
                           const OnnxOptions& options) {
  internal::onnx::OnnxSource source(bytes, name);
  return internal::onnx::Importer(source, options).Import();
}

}  // namespace berth
