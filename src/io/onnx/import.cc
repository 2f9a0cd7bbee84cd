// From an ONNX model to a graph.
//
// One walk over the operators in the order of the file. Each gets what is known of its inputs
// (types, shapes, values of small integers), and its rule says what that makes known of its outputs
// (rules.h, fold.h). What the file says of a value fills what the rule leaves open; where the two
// contradict each other the rule is right, as what runs is the operator, and a note says so.
//
// What is not known stays so, with the cause carried along: a tensor is "unplanned" because of the
// open dimension, the data-dependent operator or the unknown operator where it began, not because
// of the operator before it.
//
// Bodies of If, Loop and Scan and functions are walked in the same way, each where it is called and
// so with the shapes of that call. Their tensors live while the operator runs and at no other time:
// it gets a workspace as high as a greedy plan of the body in program order, which is an upper
// bound for whoever runs the body. Details that make it one:
//   * results of a branch or function may be written where the operator's own output lies, which is
//     live all the time, so those of the same size are not counted twice;
//   * a Loop or Scan needs its state before and after an iteration side by side, so all inputs of
//     the body are counted for all of it;
//   * the state of a Loop may change shape from one iteration to the next. A shape is believed if
//     the body, given it, gives it back (then all iterations have it, by induction); dimensions
//     that do not stay are forgotten until it holds.
//
// A call of a function costs a walk through it, and functions may call functions: the number of
// operators walked is limited, as is the depth.

#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/text.h"
#include "berth/onnx.h"
#include "io/onnx/call.h"
#include "io/onnx/fold.h"
#include "io/onnx/lower.h"
#include "io/onnx/model.h"
#include "io/onnx/rules.h"
#include "io/onnx/types.h"

namespace berth {
namespace internal {
namespace {

constexpr int kMaxDepth = 32;
// In bodies and functions, each time that they are walked.
constexpr std::int64_t kMaxWalked = std::int64_t{1} << 17;
constexpr std::int64_t kFoldBudget = std::int64_t{1} << 24;
constexpr int kMaxLoopRounds = 8;

constexpr ValueId kAbsent = static_cast<ValueId>(-1);

// A graph, a body or a function: what its names stand for. Bodies see the names around them.
struct Scope {
  const Scope* outer = nullptr;
  std::unordered_map<std::string_view, ValueId> names = {};
  std::unordered_map<std::string_view, const ValueMessage*> declared = {};
  const std::vector<OpsetMessage>* opsets = nullptr;
  int depth = 0;
};

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

class Importer {
 public:
  Importer(OnnxSource& source, const OnnxOptions& options) : source_(source), options_(options) {}

  Result<OnnxModel> Import() {
    if (auto valid = CheckOptions(); !valid) return tl::unexpected(valid.error());
    Result<ModelMessage> model = ParseModel(source_);
    if (!model) return tl::unexpected(model.error());
    model_ = *std::move(model);
    if (auto valid = IndexFunctions(); !valid) return tl::unexpected(valid.error());
    const Result<GraphMessage> message = ParseGraph(source_, model_.graph);
    if (!message) return tl::unexpected(message.error());

    Scope scope;
    scope.opsets = &model_.opsets;
    if (model_.ir_version >= 3 && model_.opsets.empty()) {
      return source_.Fail("the model does not say which operator set it is written in");
    }
    Region region;
    if (auto read = OpenGraph(*message, scope, region); !read) return tl::unexpected(read.error());
    if (auto read = Walk(message->nodes, scope, region); !read) {
      return tl::unexpected(read.error());
    }
    if (auto read = CloseGraph(message->outputs, scope, region); !read) {
      return tl::unexpected(read.error());
    }
    if (auto valid = CheckDimensionsUsed(); !valid) return tl::unexpected(valid.error());

    OnnxModel out;
    out.graph = Lower(region, known_, options_.element_bytes).graph;
    out.graph.name = Printable(message->name);
    if (auto valid = Validate(out.graph); !valid) {
      return source_.Fail(valid.error().message, valid.error().code);
    }
    for (const auto& [name, input] : open_) out.open_dimensions.push_back(name);
    AddNotes(out);
    return out;
  }

 private:
  // ---- Options and dimensions.

  Result<void> CheckOptions() {
    if (options_.element_bytes && (*options_.element_bytes < 1 || *options_.element_bytes > 16)) {
      return Fail(ErrorCode::kInvalidOptions, "elements of " +
                                                  std::to_string(*options_.element_bytes) +
                                                  " bytes; they must have from 1 to 16");
    }
    for (const OnnxDimension& dimension : options_.dimensions) {
      if (dimension.size < 0 || dimension.size > kMaxDim) {
        return Fail(ErrorCode::kInvalidOptions, "dimension " + Quoted(dimension.name) + " of " +
                                                    std::to_string(dimension.size));
      }
      if (!sizes_.emplace(dimension.name, dimension.size).second) {
        return Fail(ErrorCode::kInvalidOptions,
                    "dimension " + Quoted(dimension.name) + " is given twice");
      }
    }
    return {};
  }

  Result<void> CheckDimensionsUsed() {
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

  std::optional<std::int64_t> SizeOf(const std::string& name) {
    const auto found = sizes_.find(name);
    if (found == sizes_.end()) return std::nullopt;
    used_.insert(name);
    return found->second;
  }

  // What the file says of a value, with the dimensions that are given. For an input, what is still
  // open is recorded, and `cause` says which it is.
  Info Declared(const ValueMessage& message, bool input, int* cause) {
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
      if (size) {
        info.shape.dims[i] = *size;
      } else if (input) {
        const std::string& shown = name.empty() ? position : name;
        open_.emplace(Printable(shown), Printable(message.name));
        if (cause != nullptr && *cause < 0) {
          *cause = Cause("dimension " + Quoted(shown) + " of input " + Quoted(message.name) +
                         " is open");
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

  int Cause(std::string sentence) {
    const auto [found, added] =
        cause_index_.emplace(std::move(sentence), static_cast<int>(known_.causes.size()));
    if (added) known_.causes.push_back(found->first);
    return found->second;
  }

  // ---- Values and names.

  ValueId NewValue(std::string_view name, Origin origin, Info info, int cause) {
    known_.values.push_back({name, origin, std::move(info), cause});
    return known_.values.size() - 1;
  }

  static const ValueId* Lookup(const Scope& scope, std::string_view name) {
    for (const Scope* s = &scope; s != nullptr; s = s->outer) {
      const auto found = s->names.find(name);
      if (found != s->names.end()) return &found->second;
    }
    return nullptr;
  }

  Result<void> Define(Scope& scope, std::string_view name, ValueId id) {
    if (scope.names.emplace(name, id).second) return {};
    return source_.Fail("value " + Quoted(name) + " is made twice");
  }

  std::string Name(const NodeMessage& node) const {
    std::string text = "operator ";
    if (!node.name.empty()) {
      text += Quoted(node.name);
    } else {
      text +=
          "that makes " + Quoted(node.outputs.empty() ? std::string_view() : node.outputs.front());
    }
    return text + " (" + Printable(node.type) + ")";
  }

  std::optional<std::int64_t> OpsetOf(const Scope& scope, std::string_view domain) const {
    for (const OpsetMessage& opset : *scope.opsets) {
      if (opset.domain == domain) return opset.version;
    }
    if (domain.empty() && model_.ir_version < 3) return 1;
    return std::nullopt;
  }

  Result<void> IndexFunctions() {
    for (const FunctionMessage& function : model_.functions) {
      const auto key = std::tuple(function.domain, function.name, function.overload);
      if (!functions_.emplace(key, &function).second) {
        return source_.Fail("function " + Quoted(function.name) + " is defined twice");
      }
    }
    return {};
  }
  const FunctionMessage* FindFunction(const NodeMessage& node) const {
    const auto found = functions_.find(std::tuple(node.domain, node.type, node.overload));
    return found == functions_.end() ? nullptr : found->second;
  }

  // ---- Graphs and bodies.

  void DeclareValues(const GraphMessage& message, Scope& scope) {
    for (const ValueMessage& value : message.values) scope.declared[value.name] = &value;
    for (const ValueMessage& value : message.outputs) scope.declared[value.name] = &value;
  }

  Result<void> AddWeights(const GraphMessage& message, Scope& scope) {
    for (const TensorMessage& weight : message.weights) {
      Info info;
      info.kind = TypeKind::kTensor;
      info.element = weight.element;
      info.shape = Ranked(weight.dims);
      info.constant = true;
      Result<std::shared_ptr<const Value>> value = ReadElements(source_, weight, kMaxFolded);
      if (!value) return tl::unexpected(value.error());
      info.value = *std::move(value);
      std::string reason = ReasonOfType(info);
      const int cause = reason.empty() ? -1 : Cause(std::move(reason));
      const ValueId id = NewValue(weight.name, Origin::kWeight, std::move(info), cause);
      if (auto defined = Define(scope, weight.name, id); !defined) return defined;
    }
    return {};
  }

  // The model's own graph: its inputs are given, and dimensions of theirs may be bound.
  Result<void> OpenGraph(const GraphMessage& message, Scope& scope, Region& region) {
    DeclareValues(message, scope);
    if (auto added = AddWeights(message, scope); !added) return added;
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
      if (auto defined = Define(scope, input.name, id); !defined) return defined;
      region.inputs.push_back(id);
    }
    if (replaceable > 0) {
      notes_.push_back(Count(replaceable, "weight", "is an input too", "are inputs too") +
                       ": the plan holds while their shapes stay those of the file, and the "
                       "values of those that decide sizes.");
    }
    return {};
  }

  // A body, its inputs given.
  Result<void> OpenBody(const GraphMessage& message, Scope& scope, const std::vector<Info>& inputs,
                        const std::vector<int>& causes, Region& region) {
    DeclareValues(message, scope);
    if (auto added = AddWeights(message, scope); !added) return added;
    for (std::size_t i = 0; i < message.inputs.size(); ++i) {
      const ValueMessage& input = message.inputs[i];
      if (scope.names.count(input.name) != 0 && i >= inputs.size()) continue;  // Has a default.
      if (i >= inputs.size()) {
        return source_.Fail("input " + Quoted(input.name) + " of a body is given by nothing");
      }
      const ValueId id = NewValue(input.name, Origin::kInput, inputs[i], causes[i]);
      if (auto defined = Define(scope, input.name, id); !defined) return defined;
      region.inputs.push_back(id);
    }
    return {};
  }

  Result<void> CloseGraph(const std::vector<ValueMessage>& outputs, const Scope& scope,
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

  // Names that a body takes from around it, in order of appearance.
  Result<void> FreeNames(std::string_view body, int depth, std::vector<std::string_view>& names) {
    if (depth > kMaxDepth) return source_.Fail("bodies are nested more than 32 deep");
    const Result<GraphMessage> message = ParseGraph(source_, body);
    if (!message) return tl::unexpected(message.error());
    std::unordered_set<std::string_view> own;
    for (const ValueMessage& input : message->inputs) own.insert(input.name);
    for (const TensorMessage& weight : message->weights) own.insert(weight.name);
    const auto use = [&](std::string_view name) {
      if (!name.empty() && own.count(name) == 0) names.push_back(name);
    };
    for (const NodeMessage& node : message->nodes) {
      for (const std::string_view input : node.inputs) use(input);
      std::vector<std::string_view> inner;
      if (auto found = FreeNamesOf(node, depth + 1, inner); !found) return found;
      for (const std::string_view name : inner) use(name);
      for (const std::string_view output : node.outputs) own.insert(output);
    }
    for (const ValueMessage& output : message->outputs) use(output.name);
    return {};
  }
  Result<void> FreeNamesOf(const NodeMessage& node, int depth,
                           std::vector<std::string_view>& names) {
    for (const Attribute& attribute : node.attributes) {
      if (attribute.type == AttributeType::kGraph) {
        if (auto found = FreeNames(attribute.bytes, depth, names); !found) return found;
      } else if (attribute.type == AttributeType::kGraphs) {
        for (const std::string_view body : attribute.list) {
          if (auto found = FreeNames(body, depth, names); !found) return found;
        }
      }
    }
    return {};
  }

  // ---- The walk.

  Result<void> Walk(const std::vector<NodeMessage>& nodes, Scope& scope, Region& region) {
    for (const NodeMessage& node : nodes) {
      if (scope.depth > 0 && ++walked_ > kMaxWalked) {
        return source_.Fail("its functions and bodies come to more than 2^17 operators");
      }
      if (auto walked = WalkNode(node, scope, region); !walked) return walked;
    }
    return {};
  }

  Result<void> WalkNode(const NodeMessage& node, Scope& scope, Region& region) {
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
      if (auto found = FreeNamesOf(node, scope.depth + 1, names); !found) return found;
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
    std::string reason;  // Where an output is unknown though no input is.
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
    if (!done) return done;
    return DefineOutputs(node, scope, step, std::move(inferred), reason, region);
  }

  static void AddInput(Step& step, ValueId id) {
    // Few inputs are the rule; many are those of a large Concat.
    if (id == kAbsent) return;
    if (step.inputs.size() < 16) {
      if (std::find(step.inputs.begin(), step.inputs.end(), id) != step.inputs.end()) return;
    }
    step.inputs.push_back(id);
  }

  Result<void> DefineOutputs(const NodeMessage& node, Scope& scope, Step& step,
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
      if (auto defined = Define(scope, name, id); !defined) return defined;
      step.outputs.push_back(id);
    }
    step.constant = all_constant && !step.has_workspace;
    if (!step.constant) {
      // Planned with the rest: all of an operator's outputs or none.
      for (const ValueId id : step.outputs) known_.values[id].info.constant = false;
    }
    region.steps.push_back(std::move(step));
    return {};
  }

  void MergeDeclared(const NodeMessage& node, std::string_view name, const Scope& scope,
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

  // Outputs of an operator of ONNX or onnxruntime by its rule.
  Result<void> ApplyRule(const NodeMessage& node, const std::vector<ValueId>& arguments,
                         const Scope& scope, Step& step, std::vector<Info>& inferred,
                         std::string& reason) {
    const std::optional<std::int64_t> imported = OpsetOf(scope, node.domain);
    if (!imported && node.domain.empty()) {
      return source_.Fail(Name(node) +
                          ": the model does not say which operator set of ONNX it is "
                          "written in");
    }
    // Of a domain that the model does not import, as its exporters forget to, the first version.
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
    bool constant = !rule->random && !HasBodies(node);
    for (const ValueId id : arguments) {
      inputs.push_back(id == kAbsent ? nullptr : &known_.values[id].info);
      constant = constant && (id == kAbsent || known_.values[id].info.constant);
    }
    Call call(source_, node, opset, std::move(inputs));
    rule->infer(call);
    if (!call.failed()) Fold(call, fold_budget_);
    if (call.failed()) return source_.Fail(Name(node) + ": " + call.failure());
    reason = call.reason();
    for (std::size_t i = 0; i < inferred.size(); ++i) {
      inferred[i] = std::move(call.Out(i));
      // What follows from shapes alone is as constant as what follows from weights.
      inferred[i].constant = constant || inferred[i].Complete() != nullptr;
    }
    step.zero_copy = IsZeroCopy(node, opset, arguments);
    step.elementwise = rule->elementwise && IsElementwise(node, opset);
    return {};
  }

  // Whether output 0 is input 0 under another name.
  bool IsZeroCopy(const NodeMessage& node, std::int64_t opset,
                  const std::vector<ValueId>& arguments) const {
    if (!node.domain.empty() || arguments.empty() || arguments[0] == kAbsent) return false;
    if (node.type == "Reshape" || node.type == "Flatten" || node.type == "Squeeze" ||
        node.type == "Unsqueeze" || node.type == "Identity") {
      return true;
    }
    if (node.type != "Dropout") return false;
    if (opset < 7) {
      return std::any_of(node.attributes.begin(), node.attributes.end(),
                         [](const Attribute& a) { return a.name == "is_test" && a.number != 0; });
    }
    if (opset < 12 || arguments.size() < 3 || arguments[2] == kAbsent) return true;
    const Value* training = known_.values[arguments[2]].info.Complete();
    return training != nullptr && training->ints.size() == 1 && training->ints[0] == 0;
  }

  static bool IsElementwise(const NodeMessage& node, std::int64_t opset) {
    if (node.type != "BatchNormalization") return true;
    // Where it computes statistics, it reads everything first.
    const auto is = [&](std::string_view name, bool otherwise) {
      for (const Attribute& attribute : node.attributes) {
        if (attribute.name == name) return attribute.number != 0;
      }
      return otherwise;
    };
    return node.outputs.size() == 1 && !is("training_mode", false) &&
           (opset >= 7 || is("is_test", false));
  }

  // ---- Bodies and functions.

  // Reads a body with these inputs. `region` holds it only while `message` lives.
  Result<void> WalkBody(const GraphMessage& message, const Scope& outer,
                        const std::vector<Info>& inputs, const std::vector<int>& causes,
                        Region& region) {
    Scope scope;
    scope.outer = &outer;
    scope.opsets = outer.opsets;
    scope.depth = outer.depth + 1;
    if (scope.depth > kMaxDepth) return source_.Fail("bodies are nested more than 32 deep");
    if (auto read = OpenBody(message, scope, inputs, causes, region); !read) return read;
    if (auto read = Walk(message.nodes, scope, region); !read) return read;
    return CloseGraph(message.outputs, scope, region);
  }

  static void AddWorkspace(Step& step, const Workspace& workspace) {
    step.has_workspace = true;
    step.workspace = std::max(step.workspace, workspace.bytes);
    if (step.unplanned.empty()) step.unplanned = workspace.unplanned;
  }

  // The results of a body as the operator's: never constant, and with values only where all bodies
  // that may run agree (see CallIf).
  std::vector<Info> Results(const Region& region) const {
    std::vector<Info> infos;
    for (const ValueId id : region.outputs) {
      infos.push_back(known_.values[id].info);
      infos.back().constant = false;
      infos.back().value = nullptr;
    }
    return infos;
  }

  const Attribute* Body(const NodeMessage& node, std::string_view name) const {
    for (const Attribute& attribute : node.attributes) {
      if (attribute.name == name && attribute.type == AttributeType::kGraph) return &attribute;
    }
    return nullptr;
  }

  static void Forget(Info& info, const Info& other) {
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

  Result<void> CallIf(const NodeMessage& node, const std::vector<ValueId>& arguments,
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
      Result<GraphMessage> message = ParseGraph(source_, body->bytes);
      if (!message) return tl::unexpected(message.error());
      if (message->outputs.size() != node.outputs.size()) {
        return source_.Fail(Name(node) + " has " + std::to_string(node.outputs.size()) +
                            " outputs, and its " + std::string(name) + " " +
                            std::to_string(message->outputs.size()));
      }
      messages.push_back(*std::move(message));
      Region region;
      const std::size_t conflicts = conflicts_;
      if (auto walked = WalkBody(messages.back(), scope, {}, {}, region); !walked) {
        // No run can take a branch that contradicts itself: what it needs does not matter. Which
        // it is may depend on sizes that the condition is about.
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
      AddWorkspace(step, PlanBody(region, known_, &inferred, options_.element_bytes));
    return {};
  }

  struct IterationOutcome {
    std::vector<Info> results;
    Workspace workspace;
  };

  // The body of a Loop or Scan: `inputs` of which those from `first_state` on, `states` of them,
  // come back as results, of which `first_result` is the first. Weakens what is assumed of them
  // until the body gives it back.
  Result<IterationOutcome> Iterate(const GraphMessage& message, const Scope& scope,
                                   std::vector<Info>& inputs, std::vector<int>& causes,
                                   std::size_t first_state, std::size_t first_result,
                                   std::size_t states, const NodeMessage& node) {
    IterationOutcome outcome;
    for (int round = 0;; ++round) {
      Region region;
      if (auto walked = WalkBody(message, scope, inputs, causes, region); !walked) {
        return tl::unexpected(walked.error());
      }
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
      // A condition that the body may change is not known to hold.
      if (first_state == 2 && inputs[1].value != nullptr) {
        const Value* next = known_.values[region.outputs[0]].info.Complete();
        if (next == nullptr || next->ints != std::vector<std::int64_t>{1}) {
          inputs[1].value = nullptr;
          stable = false;
        }
      }
      if (!stable) continue;
      outcome.results = results;
      outcome.workspace = PlanBody(region, known_, nullptr, options_.element_bytes);
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

  Result<void> CallLoop(const NodeMessage& node, const std::vector<ValueId>& arguments,
                        const Scope& scope, Step& step, std::vector<Info>& inferred,
                        std::string& reason) {
    const Attribute* body = Body(node, "body");
    if (body == nullptr) return source_.Fail(Name(node) + " has no body");
    const Result<GraphMessage> message = ParseGraph(source_, body->bytes);
    if (!message) return tl::unexpected(message.error());
    const std::size_t states = arguments.size() < 2 ? 0 : arguments.size() - 2;
    if (message->inputs.size() != states + 2 || message->outputs.size() < states + 1 ||
        node.outputs.size() > message->outputs.size() - 1) {
      return source_.Fail(Name(node) + ": its body does not have as many inputs and outputs");
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
    const Result<IterationOutcome> outcome =
        Iterate(*message, scope, inputs, causes, 2, 1, states, node);
    if (!outcome) return tl::unexpected(outcome.error());
    AddWorkspace(step, outcome->workspace);
    // How often it runs is known where nothing but its count can end it.
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
      inferred[i] = outcome->results[i + 1];
      Stack(inferred[i], 0, trips);
    }
    return {};
  }

  static void Stack(Info& info, std::size_t axis, std::int64_t count) {
    if (!info.IsTensor() || !info.shape.has_rank || info.shape.rank() >= kMaxRank) {
      info = {};
      return;
    }
    info.shape.dims.insert(info.shape.dims.begin() + static_cast<std::ptrdiff_t>(axis), count);
  }

  Result<void> CallScan(const NodeMessage& node, const std::vector<ValueId>& arguments,
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
    const Result<GraphMessage> message = ParseGraph(source_, body->bytes);
    if (!message) return tl::unexpected(message.error());
    const Call attributes(source_, node, *opset, {});
    const std::int64_t scanned = attributes.Int("num_scan_inputs", 0);
    const std::size_t count = arguments.size();
    if (scanned < 1 || static_cast<std::uint64_t>(scanned) > count ||
        message->inputs.size() != count ||
        message->outputs.size() < count - static_cast<std::size_t>(scanned) ||
        node.outputs.size() > message->outputs.size()) {
      return source_.Fail(Name(node) + ": its body does not have as many inputs and outputs");
    }
    const std::size_t states = count - static_cast<std::size_t>(scanned);
    const std::vector<std::int64_t>* in_axes = attributes.Ints("scan_input_axes");
    const std::vector<std::int64_t>* out_axes = attributes.Ints("scan_output_axes");
    std::vector<Info> inputs(count);
    std::vector<int> causes(count, -1);
    std::int64_t trips = kUnknownDim;
    for (std::size_t i = 0; i < count; ++i) {
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
    const Result<IterationOutcome> outcome =
        Iterate(*message, scope, inputs, causes, 0, 0, states, node);
    if (!outcome) return tl::unexpected(outcome.error());
    AddWorkspace(step, outcome->workspace);
    for (std::size_t i = 0; i < inferred.size(); ++i) {
      if (i < states) {
        inferred[i] = inputs[i];
        continue;
      }
      inferred[i] = outcome->results[i];
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

  Result<void> CallFunction(const FunctionMessage& function, const NodeMessage& node,
                            const std::vector<ValueId>& arguments, const Scope& scope, Step& step,
                            std::vector<Info>& inferred, std::string& reason) {
    Scope inner;
    inner.opsets = &function.opsets;
    inner.depth = scope.depth + 1;
    if (inner.depth > kMaxDepth) return source_.Fail("functions are nested more than 32 deep");
    if (arguments.size() > function.inputs.size() ||
        node.outputs.size() > function.outputs.size()) {
      return source_.Fail(Name(node) + " has more inputs or outputs than its function");
    }
    DeclareValues(function.body, inner);
    Region region;
    for (std::size_t i = 0; i < function.inputs.size(); ++i) {
      const ValueId id = i < arguments.size() ? arguments[i] : kAbsent;
      if (auto defined = Define(inner, function.inputs[i], id); !defined) return defined;
    }
    // The attributes of the call stand where the function refers to them.
    std::vector<NodeMessage> nodes = function.body.nodes;
    for (NodeMessage& inside : nodes) Substitute(function, node, inside);
    if (auto walked = Walk(nodes, inner, region); !walked) return walked;
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
    AddWorkspace(step, PlanBody(region, known_, &outer, options_.element_bytes));
    return {};
  }

  static void Substitute(const FunctionMessage& function, const NodeMessage& call,
                         NodeMessage& node) {
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

  void AddNotes(OnnxModel& out) {
    out.notes = std::move(notes_);
    std::size_t constants = 0;
    Bytes constant_bytes = 0;
    std::map<std::string, std::size_t> unplanned;
    for (const Tensor& tensor : out.graph.tensors) {
      if (tensor.kind == TensorKind::kConstant && tensor.bytes > 0) {
        ++constants;
        constant_bytes += tensor.bytes;
      }
      if (!tensor.unplanned.empty() && (tensor.kind == TensorKind::kActivation)) {
        ++unplanned[tensor.unplanned];
      }
    }
    if (constants > 0) {
      out.notes.push_back(Count(constants, "tensor", "is constant", "are constant") +
                          " and kept beside the weights, " + std::to_string(constant_bytes) +
                          " bytes in all.");
    }
    for (const auto& [reason, count] : unplanned) {
      out.notes.push_back(Count(count, "tensor", "is not planned", "are not planned") + ": " +
                          reason + ".");
    }
    if (conflicts_ > 0) {
      out.notes.push_back(Count(conflicts_, "shape", "in the file is", "in the file are") +
                          " not what the operators make, which is believed: " + first_conflict_ +
                          ".");
    }
    if (model_.training_graphs > 0) {
      out.notes.emplace_back("The training part of the model is left out.");
    }
  }

  OnnxSource& source_;
  const OnnxOptions& options_;
  ModelMessage model_;
  std::map<std::tuple<std::string_view, std::string_view, std::string_view>, const FunctionMessage*>
      functions_;
  Knowledge known_;
  std::unordered_map<std::string, int> cause_index_;
  std::map<std::string, std::int64_t> sizes_;  // As given.
  std::set<std::string> used_;
  std::map<std::string, std::string> open_;  // Open dimensions, and an input that has them.
  std::vector<std::string> notes_;
  std::size_t conflicts_ = 0;
  std::string first_conflict_;
  std::int64_t walked_ = 0;
  std::int64_t fold_budget_ = kFoldBudget;
};

}  // namespace
}  // namespace internal

Result<OnnxModel> ReadOnnx(std::string_view bytes, std::string_view name,
                           const OnnxOptions& options) {
  internal::OnnxSource source(bytes, name);
  return internal::Importer(source, options).Import();
}

}  // namespace berth
