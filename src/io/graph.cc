// Graphs (docs/formats/graph.md).

#include "berth/graph.h"

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/source.h"
#include "base/text.h"
#include "base/try.h"
#include "berth/graph_io.h"
#include "io/inductor.h"
#include "io/json.h"
#include "io/plan_json.h"

namespace berth {
namespace internal {
namespace {

using Value = nlohmann::json;
using Json = nlohmann::ordered_json;

constexpr std::string_view kFormat = "berth-graph";
constexpr int kFormatVersion = 1;

// Reads one file. A function that fails has put the fault into fault_; where_ and subject_ say which
// operator or tensor it is in.
class GraphReader {
 public:
  explicit GraphReader(const Source& source) : source_(source) {}

  Result<Graph> Read() {
    const Value file = BERTH_TRY(ParseJson(source_));
    if (!file.is_object()) {
      return source_.FailAsWhole("not a graph: " + Shown(&file) + " where an object should be");
    }
    if (IsInductorGraph(file)) return GraphOfInductor(source_, file);
    if (!ReadHead(file) || !ReadTensors(file) || !ReadOperators(file)) {
      return source_.FailWith({ErrorCode::kParse, where_ + fault_, subject_});
    }
    if (auto valid = Validate(graph_); !valid) return source_.FailWith(valid.error());
    return std::move(graph_);
  }

 private:
  bool Fault(std::string sentence) {
    fault_ = std::move(sentence);
    return false;
  }
  // `what` is "text" or "a list"; the name of the key precedes it.
  bool Mistyped(const char* key, const Value* value, std::string_view what) {
    return Fault("\"" + std::string(key) + "\" is " + Shown(value) + " where it should be " +
                 std::string(what));
  }

  bool ReadHead(const Value& file) {
    const Value* const format = Member(file, "format");
    has_format_ = format != nullptr;
    if (has_format_ && (!format->is_string() || format->get_ref<const std::string&>() != kFormat)) {
      return Fault("not a graph: \"format\" is " + Shown(format) +
                   " where it should be \"berth-graph\"");
    }
    const Value* const version = Member(file, "format_version");
    if (has_format_ ? version == nullptr || *version != kFormatVersion : version != nullptr) {
      return Fault(has_format_ ? "\"format_version\" is " + Shown(version) +
                                     ", but this reader knows version 1 alone"
                               : "\"format_version\" without \"format\"");
    }
    return CheckKeys(file, {"format", "format_version", "name", "cost_unit", "nodes", "tensors",
                            "meta"}) &&
           ReadText(file, "name", graph_.name) && ReadText(file, "cost_unit", graph_.cost_unit);
  }

  bool ReadTensors(const Value& file) {
    const Value* const list = Member(file, "tensors");
    if (list == nullptr || !list->is_array()) return Mistyped("tensors", list, "a list");
    graph_.tensors.resize(list->size());
    for (std::size_t t = 0; t < list->size(); ++t) {
      Enter("tensor", Subject::OfTensor(t), (*list)[t]);
      if (!ReadTensor((*list)[t], t)) return false;
    }
    // Bases may come after their views.
    for (std::size_t t = 0; t < list->size(); ++t) {
      const Value* const alias = Member((*list)[t], "alias_of");
      if (alias == nullptr || alias->is_null()) continue;
      Enter("tensor", Subject::OfTensor(t), (*list)[t]);
      TensorIndex base = 0;
      if (!FindTensor("alias_of", *alias, base)) return false;
      Tensor& tensor = graph_.tensors[t];
      tensor.alias_of = base;
      // Files without a version state the bytes of a copy of the view: of a view that repeats its
      // base, they are more than those of the base.
      if (!has_format_ && tensor.bytes > graph_.tensors[base].bytes) {
        tensor.bytes = graph_.tensors[base].bytes;
      }
    }
    Leave();
    return true;
  }

  bool ReadTensor(const Value& object, std::size_t t) {
    if (!object.is_object()) return Fault("is " + Shown(&object) + " where an object should be");
    if (!CheckKeys(object, {"id", "name", "bytes", "alignment", "kind", "output", "alias_of",
                            "unplanned", "dtype", "shape", "quantized", "meta"})) {
      return false;
    }
    std::int64_t id = static_cast<std::int64_t>(t);
    if (!ReadInteger(object, "id", id)) return false;
    if (!tensors_.emplace(id, t).second) {
      return Fault("another tensor has the id " + std::to_string(id));
    }
    Tensor& tensor = graph_.tensors[t];
    if (!ReadName(object, tensor.name) || !ReadText(object, "unplanned", tensor.unplanned) ||
        !ReadText(object, "dtype", tensor.dtype) || !ReadShape(object, tensor.shape) ||
        !ReadFlag(object, "output", tensor.output) ||
        !ReadInteger(object, "alignment", tensor.alignment) ||
        !ReadInteger(object, "quantized", tensor.quantized)) {
      return false;
    }
    if (Member(object, "bytes") == nullptr && tensor.unplanned.empty()) {
      return Fault("\"bytes\" is missing, and \"unplanned\" does not say why");
    }
    if (!ReadInteger(object, "bytes", tensor.bytes)) return false;
    return ReadKind(object, tensor);
  }

  bool ReadKind(const Value& object, Tensor& tensor) {
    const Value* const kind = Member(object, "kind");
    if (kind == nullptr) return Fault("\"kind\" is missing");
    if (kind->is_string()) {
      const auto& text = kind->get_ref<const std::string&>();
      if (text == "output") {
        tensor.output = true;
        return true;
      }
      for (const TensorKind known :
           {TensorKind::kActivation, TensorKind::kGradient, TensorKind::kInput,
            TensorKind::kParameter, TensorKind::kConstant}) {
        if (text == ToString(known)) {
          tensor.kind = known;
          return true;
        }
      }
    }
    return Mistyped("kind", kind,
                    "\"activation\", \"gradient\", \"output\", \"input\", \"parameter\" or "
                    "\"constant\"");
  }

  // Text, or a list of numbers.
  bool ReadShape(const Value& object, std::string& shape) {
    const Value* const value = Member(object, "shape");
    if (value == nullptr || !value->is_array()) return ReadText(object, "shape", shape);
    for (const Value& extent : *value) {
      if (!IsInt64(extent)) {
        return Fault("\"shape\" holds " + Shown(&extent) + " where an integer should be");
      }
      shape += (shape.empty() ? "" : "x") + std::to_string(extent.get<std::int64_t>());
    }
    return true;
  }

  bool ReadOperators(const Value& file) {
    const Value* const list = Member(file, "nodes");
    if (list == nullptr || !list->is_array()) return Mistyped("nodes", list, "a list");
    graph_.operators.resize(list->size());
    for (std::size_t v = 0; v < list->size(); ++v) {
      Enter("node", Subject::OfOperator(v), (*list)[v]);
      if (!ReadOperator((*list)[v], graph_.operators[v])) return false;
    }
    Leave();
    return true;
  }

  bool ReadOperator(const Value& object, Operator& op) {
    if (!object.is_object()) return Fault("is " + Shown(&object) + " where an object should be");
    if (!CheckKeys(object, {"name", "op", "inputs", "outputs", "mutates", "after", "update",
                            "may_overwrite", "receptive_fields", "cost", "repeat", "random",
                            "skips", "meta"})) {
      return false;
    }
    if (!ReadName(object, op.name) || !ReadText(object, "op", op.type) ||
        !ReadFlag(object, "update", op.update) || !ReadTensorList(object, "inputs", op.inputs) ||
        !ReadTensorList(object, "outputs", op.outputs) ||
        !ReadTensorList(object, "mutates", op.mutates) || !ReadRepeating(object, op)) {
      return false;
    }
    for (const char* key : {"inputs", "outputs"}) {
      if (Member(object, key) == nullptr) return Mistyped(key, nullptr, "a list");
    }
    return ReadAfter(object, op) && ReadOverwrites(object, op) && ReadFields(object, op);
  }

  // What running the operator again would cost, and whether it may.
  bool ReadRepeating(const Value& object, Operator& op) {
    if (Member(object, "cost") != nullptr && !ReadInteger(object, "cost", op.cost.emplace())) {
      return false;
    }
    if (const Value* const repeat = Member(object, "repeat"); repeat != nullptr) {
      if (*repeat != "pure" && *repeat != "never") {
        return Mistyped("repeat", repeat, "\"pure\" or \"never\"");
      }
      op.repeat = *repeat == "pure" ? Repeat::kPure : Repeat::kNever;
    }
    return ReadFlag(object, "random", op.random) && ReadTensorList(object, "skips", op.skips);
  }

  bool ReadTensorList(const Value& object, const char* key, std::vector<TensorIndex>& tensors) {
    const Value* const list = Member(object, key);
    if (list == nullptr) return true;
    if (!list->is_array()) return Mistyped(key, list, "a list");
    tensors.reserve(list->size());
    for (const Value& item : *list) {
      TensorIndex tensor = 0;
      if (!FindTensor(key, item, tensor)) return false;
      tensors.push_back(tensor);
    }
    return true;
  }

  bool FindTensor(const char* key, const Value& id, TensorIndex& tensor) {
    if (!IsInt64(id)) {
      return Fault("\"" + std::string(key) + "\" has " + Shown(&id) +
                   " where the id of a tensor should be");
    }
    const auto found = tensors_.find(id.get<std::int64_t>());
    if (found == tensors_.end()) {
      return Fault("\"" + std::string(key) + "\" has the id " + Shown(&id) +
                   ", which no tensor has");
    }
    tensor = found->second;
    return true;
  }

  bool ReadAfter(const Value& object, Operator& op) {
    const Value* const list = Member(object, "after");
    if (list == nullptr) return true;
    if (!list->is_array()) return Mistyped("after", list, "a list");
    const auto count = static_cast<std::int64_t>(graph_.operators.size());
    for (const Value& item : *list) {
      const bool fits = IsInt64(item) && item.get<std::int64_t>() >= 0;
      if (!fits || item.get<std::int64_t>() >= count) {
        return Fault("\"after\" has " + Shown(&item) + " where the position of one of the " +
                     std::to_string(count) + " nodes should be, counted from 0");
      }
      op.after.push_back(item.get<OperatorIndex>());
    }
    return true;
  }

  bool ReadOverwrites(const Value& object, Operator& op) {
    const Value* const list = Member(object, "may_overwrite");
    if (list == nullptr) return true;
    if (!list->is_array()) return Mistyped("may_overwrite", list, "a list");
    for (const Value& item : *list) {
      if (!item.is_array() || item.size() != 2) {
        return Fault("\"may_overwrite\" has " + Shown(&item) +
                     " where a list of two ids, an input's and an output's, should be");
      }
      Overwrite pair;
      if (!FindTensor("may_overwrite", item[0], pair.input) ||
          !FindTensor("may_overwrite", item[1], pair.output)) {
        return false;
      }
      op.may_overwrite.push_back(pair);
    }
    return true;
  }

  bool ReadFields(const Value& object, Operator& op) {
    const Value* const list = Member(object, "receptive_fields");
    if (list == nullptr) return true;
    if (!list->is_array()) return Mistyped("receptive_fields", list, "a list");
    for (const Value& item : *list) {
      if (!item.is_object()) {
        return Fault("\"receptive_fields\" has " + Shown(&item) + " where an object should be");
      }
      for (const char* key : {"axis", "inputs", "input_rows", "output_rows"}) {
        if (Member(item, key) == nullptr) {
          return Fault("\"" + std::string(key) + "\" is missing in \"receptive_fields\"");
        }
      }
      ReceptiveField field;
      if (!CheckKeys(item, {"axis", "inputs", "input_rows", "output_rows", "stride", "extent",
                            "before", "meta"}) ||
          !ReadInteger(item, "axis", field.axis) || !ReadTensorList(item, "inputs", field.inputs) ||
          !ReadInteger(item, "input_rows", field.input_rows) ||
          !ReadInteger(item, "output_rows", field.output_rows) ||
          !ReadInteger(item, "stride", field.stride) ||
          !ReadInteger(item, "extent", field.extent) ||
          !ReadInteger(item, "before", field.before)) {
        return false;
      }
      op.receptive_fields.push_back(std::move(field));
    }
    return true;
  }

  bool ReadName(const Value& object, std::string& name) {
    if (Member(object, "name") == nullptr) return Fault("\"name\" is missing");
    return ReadText(object, "name", name);
  }
  bool ReadText(const Value& object, const char* key, std::string& text) {
    const Value* const value = Member(object, key);
    if (value == nullptr) return true;
    if (!value->is_string()) return Mistyped(key, value, "text");
    text = value->get_ref<const std::string&>();
    return true;
  }
  bool ReadFlag(const Value& object, const char* key, bool& flag) {
    const Value* const value = Member(object, key);
    if (value == nullptr) return true;
    if (!value->is_boolean()) return Mistyped(key, value, "true or false");
    flag = value->get<bool>();
    return true;
  }
  bool ReadInteger(const Value& object, const char* key, std::int64_t& number) {
    const Value* const value = Member(object, key);
    if (value == nullptr) return true;
    if (!IsInt64(*value)) return Mistyped(key, value, "a 64-bit integer");
    number = value->get<std::int64_t>();
    return true;
  }

  // A mistyped key would change what the graph means. Files without a version come from elsewhere
  // and may have keys of their own.
  bool CheckKeys(const Value& object, std::initializer_list<std::string_view> known) {
    if (!has_format_) return true;
    for (const auto& [key, value] : object.items()) {
      bool is_known = false;
      for (const std::string_view k : known) is_known |= key == k;
      if (!is_known) return Fault("the key " + Quoted(key) + " is not known");
    }
    return true;
  }

  void Enter(const char* what, Subject subject, const Value& object) {
    subject_ = subject;
    where_ = what + (" number " + std::to_string(subject.index));
    const Value* const name = Member(object, "name");
    if (name != nullptr && name->is_string()) {
      where_ += ", " + Quoted(name->get_ref<const std::string&>());
    }
    where_ += ": ";
  }
  void Leave() {
    subject_ = {};
    where_.clear();
  }

  const Source& source_;
  Graph graph_;
  bool has_format_ = false;
  std::unordered_map<std::int64_t, TensorIndex> tensors_;  // By their ids in the file.
  Subject subject_;
  std::string where_;  // `tensor number 3, "conv": `, or empty.
  std::string fault_;  // One sentence.
};

Json TensorJson(const Tensor& tensor, TensorIndex t) {
  Json json = {{"id", t}, {"name", tensor.name}};
  if (tensor.unplanned.empty() || tensor.bytes != 0) json["bytes"] = tensor.bytes;
  if (tensor.alignment != 1) json["alignment"] = tensor.alignment;
  const bool plain_output = tensor.output && tensor.kind == TensorKind::kActivation;
  json["kind"] = plain_output ? std::string_view("output") : ToString(tensor.kind);
  if (tensor.output && !plain_output) json["output"] = true;
  if (tensor.alias_of) json["alias_of"] = *tensor.alias_of;
  if (!tensor.unplanned.empty()) json["unplanned"] = tensor.unplanned;
  if (!tensor.dtype.empty()) json["dtype"] = tensor.dtype;
  if (!tensor.shape.empty()) json["shape"] = tensor.shape;
  if (tensor.quantized != 0) json["quantized"] = tensor.quantized;
  return json;
}

Json OperatorJson(const Operator& op) {
  Json json = {{"name", op.name}};
  if (!op.type.empty()) json["op"] = op.type;
  json["inputs"] = op.inputs;
  json["outputs"] = op.outputs;
  if (!op.mutates.empty()) json["mutates"] = op.mutates;
  if (!op.after.empty()) json["after"] = op.after;
  for (const Overwrite& pair : op.may_overwrite) {
    json["may_overwrite"].push_back({pair.input, pair.output});
  }
  if (op.update) json["update"] = true;
  if (op.cost) json["cost"] = *op.cost;
  if (op.repeat != Repeat::kByType) json["repeat"] = op.repeat == Repeat::kPure ? "pure" : "never";
  if (op.random) json["random"] = true;
  if (!op.skips.empty()) json["skips"] = op.skips;
  for (const ReceptiveField& field : op.receptive_fields) {
    Json item = {{"axis", field.axis},
                 {"inputs", field.inputs},
                 {"input_rows", field.input_rows},
                 {"output_rows", field.output_rows}};
    if (field.stride != 1) item["stride"] = field.stride;
    if (field.extent != 1) item["extent"] = field.extent;
    if (field.before != 0) item["before"] = field.before;
    json["receptive_fields"].push_back(std::move(item));
  }
  return json;
}

// A list with one item on each line.
template <typename Items, typename ToJson>
std::string Lines(const Items& items, ToJson to_json) {
  if (items.empty()) return "[]";
  std::string out = "[";
  for (std::size_t i = 0; i < items.size(); ++i) {
    out += i == 0 ? "\n    " : ",\n    ";
    out += Line(to_json(items[i], i));
  }
  return out + "\n  ]";
}

}  // namespace

Result<Order> OrderFrom(const Source& source, const nlohmann::json& json, const Graph& graph) {
  const Value* const list = json.is_array() ? &json : Member(json, "order");
  if (list == nullptr || !list->is_array()) {
    return source.FailAsWhole("\"order\" is " + Shown(list) + " where it should be a list");
  }
  std::unordered_map<std::string_view, OperatorIndex> operators;
  for (OperatorIndex v = 0; v < graph.operators.size(); ++v) {
    operators.emplace(graph.operators[v].name, v);
  }
  Order order;
  order.reserve(list->size());
  for (std::size_t i = 0; i < list->size(); ++i) {
    const Value& item = (*list)[i];
    const std::string at = "number " + std::to_string(i) + " of \"order\" is " + Shown(&item);
    if (item.is_string()) {
      const auto found = operators.find(item.get_ref<const std::string&>());
      if (found == operators.end()) {
        return source.FailAsWhole(at + ", which no operator is called", ErrorCode::kInvalidPlan);
      }
      order.push_back(found->second);
    } else if (IsInt64(item) && item.get<std::int64_t>() >= 0) {
      order.push_back(static_cast<OperatorIndex>(item.get<std::int64_t>()));
    } else {
      return source.FailAsWhole(at + " where the name or the position of an operator should be");
    }
  }
  return order;
}

}  // namespace internal

Result<Graph> ReadGraphJson(std::string_view text, std::string_view name) {
  const internal::Source source(text, name);
  return internal::GraphReader(source).Read();
}

Result<Order> ReadOrder(std::string_view text, std::string_view name, const Graph& graph,
                        bool validate) {
  const internal::Source source(text, name);
  const nlohmann::json json = BERTH_TRY(internal::ParseJson(source));
  Order order = BERTH_TRY(internal::OrderFrom(source, json, graph));
  if (!validate) return order;
  if (auto valid = ValidateOrder(graph, order); !valid) return source.FailWith(valid.error());
  return order;
}

std::string WriteGraphJson(const Graph& graph) {
  const auto nodes = internal::Lines(
      graph.operators,
      [](const Operator& op, OperatorIndex /*number*/) { return internal::OperatorJson(op); });
  const auto tensors = internal::Lines(graph.tensors, [](const Tensor& tensor, TensorIndex t) {
    return internal::TensorJson(tensor, t);
  });
  const std::string unit =
      graph.cost_unit.empty() ? "" : ",\n  \"cost_unit\": " + internal::Line(graph.cost_unit);
  return "{\n  \"format\": \"" + std::string(internal::kFormat) +
         "\",\n  \"format_version\": " + std::to_string(internal::kFormatVersion) +
         ",\n  \"name\": " + internal::Line(graph.name) + unit + ",\n  \"nodes\": " + nodes +
         ",\n  \"tensors\": " + tensors + "\n}\n";
}

}  // namespace berth
