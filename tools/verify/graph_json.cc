#include "tools/verify/graph_json.h"

#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <utility>

namespace berth::verify {
namespace {

using Json = nlohmann::json;

struct BadGraph {
  std::string what;
};

// Numbers as they are. All else by its type alone, as lists can be long or deep.
std::string Shown(const Json& value) {
  return value.is_number() ? value.dump()
                           : "a value of the type '" + std::string(value.type_name()) + "'";
}

std::int64_t Number(const Json& value, std::int64_t least, std::int64_t most) {
  const bool is_integer = value.is_number_integer();
  const bool too_large =
      value.is_number_unsigned() && value.get<std::uint64_t>() > std::uint64_t(most);
  if (!is_integer || too_large || value.get<std::int64_t>() < least ||
      value.get<std::int64_t>() > most) {
    throw BadGraph{Shown(value) + " is not a whole number from " + std::to_string(least) + " to " +
                   std::to_string(most)};
  }
  return value.get<std::int64_t>();
}

// The list of that name; an empty one where there is none.
const Json& List(const Json& object, const char* key) {
  static const Json kNone = Json::array();
  const auto found = object.find(key);
  if (found == object.end()) return kNone;
  if (!found->is_array()) throw BadGraph{"'" + std::string(key) + "' is not a list"};
  return *found;
}

class Reader {
 public:
  Reader(const Json& file, Bytes alignment, std::string& where)
      : file_(file), alignment_(alignment), where_(where) {}

  Graph Read() {
    if (!file_.is_object() || !file_.contains("nodes") || !file_.contains("tensors")) {
      throw BadGraph{"no graph of Berth: it has no 'nodes' and 'tensors'"};
    }
    const auto version = file_.find("format_version");
    if (version != file_.end() && *version != 1) {
      throw BadGraph{"'format_version' is " + Shown(*version) + ", and only 1 is known"};
    }
    ReadTensors(List(file_, "tensors"));
    ReadOperators(List(file_, "nodes"));
    CheckOrder();
    return std::move(graph_);
  }

 private:
  static bool Flag(const Json& object, const char* key) {
    const auto found = object.find(key);
    if (found == object.end()) return false;
    if (!found->is_boolean())
      throw BadGraph{"'" + std::string(key) + "' is neither true nor false"};
    return found->get<bool>();
  }

  void ReadTensors(const Json& list) {
    std::vector<std::int64_t> bases;  // By tensor: the id of its base; 0 if it is no view.
    Bytes room = kMaxBytes;           // No sum of sizes exceeds 2^60.
    for (const Json& entry : list) {
      const auto position = static_cast<std::int64_t>(graph_.tensors.size());
      where_ = "tensor " + std::to_string(position) + ": ";
      if (!entry.is_object()) throw BadGraph{"it is not an object"};
      const std::int64_t id =
          entry.contains("id") ? Number(entry["id"], -kMaxBytes, kMaxBytes) : position;
      if (!tensor_of_.emplace(id, graph_.tensors.size()).second) {
        throw BadGraph{"another tensor has the id " + std::to_string(id)};
      }
      const auto base = entry.find("alias_of");
      const bool is_view = base != entry.end() && !base->is_null();
      bases.push_back(is_view ? Number(*base, -kMaxBytes, kMaxBytes) : 0);
      Tensor tensor = ReadTensor(entry, is_view);
      if (is_view) tensor.alias_of = 0;
      if (tensor.bytes > room) throw BadGraph{"the sizes add up to more than 2^60"};
      room -= tensor.bytes;
      graph_.tensors.push_back(std::move(tensor));
    }
    for (std::size_t t = 0; t < bases.size(); ++t) {
      if (!graph_.tensors[t].alias_of) continue;
      where_ = "tensor " + std::to_string(t) + ": ";
      const std::size_t base = TensorOf(bases[t]);
      if (graph_.tensors[base].alias_of) throw BadGraph{"its base is a view"};
      graph_.tensors[t].alias_of = base;
    }
  }

  Tensor ReadTensor(const Json& entry, bool is_view) const {
    Tensor tensor;
    const auto kind = entry.find("kind");
    if (kind == entry.end() || !kind->is_string()) throw BadGraph{"it has no 'kind'"};
    const auto& word = kind->get_ref<const std::string&>();
    tensor.output = word == "output" || Flag(entry, "output");
    if (word == "input") {
      tensor.kind = TensorKind::kInput;
    } else if (word == "parameter" || word == "constant") {
      tensor.kind = TensorKind::kParameter;
    } else if (word != "activation" && word != "gradient" && word != "output") {
      throw BadGraph{"'" + word.substr(0, 40) + "' is no kind of tensor"};
    }
    if (is_view) return tensor;
    if (!entry.contains("bytes")) {
      const auto why = entry.find("unplanned");
      const bool is_unknown =
          why != entry.end() && why->is_string() && !why->get_ref<const std::string&>().empty();
      if (!is_unknown) throw BadGraph{"it has no 'bytes'"};
      tensor.unplanned = why->get<std::string>();
      return tensor;
    }
    tensor.bytes = Number(entry["bytes"], 0, kMaxBytes);
    const Bytes own = entry.contains("alignment") ? Number(entry["alignment"], 1, kMaxBytes) : 1;
    if (alignment_ != 1 && tensor.kind != TensorKind::kParameter) {
      if (own / std::gcd(own, alignment_) > kMaxBytes / alignment_) {
        throw BadGraph{"an alignment exceeds 2^60"};
      }
      const Bytes both = std::lcm(own, alignment_);
      tensor.bytes = (tensor.bytes + both - 1) / both * both;
    }
    return tensor;
  }

  std::size_t TensorOf(std::int64_t id) const {
    const auto found = tensor_of_.find(id);
    if (found == tensor_of_.end()) throw BadGraph{"no tensor has the id " + std::to_string(id)};
    return found->second;
  }

  void ReadOperators(const Json& list) {
    for (const Json& entry : list) {
      where_ = "operator " + std::to_string(graph_.operators.size()) + ": ";
      if (!entry.is_object()) throw BadGraph{"it is not an object"};
      Operator op;
      const auto read = [&](const char* key, std::vector<TensorIndex>& tensors) {
        for (const Json& id : List(entry, key)) {
          tensors.push_back(TensorOf(Number(id, -kMaxBytes, kMaxBytes)));
        }
      };
      read("inputs", op.inputs);
      read("outputs", op.outputs);
      read("mutates", op.mutates);
      for (const Json& earlier : List(entry, "after")) {
        op.after.push_back(static_cast<std::size_t>(
            Number(earlier, 0, static_cast<std::int64_t>(list.size()) - 1)));
      }
      graph_.operators.push_back(std::move(op));
    }
  }

  // That operators wait only for earlier ones, and each tensor has the maker that its kind asks for.
  void CheckOrder() {
    where_.clear();
    const std::size_t later = graph_.operators.size();
    std::vector<std::size_t> maker(graph_.tensors.size(), later);
    const auto fault = [](std::size_t v, const std::string& what) {
      throw BadGraph{"operator " + std::to_string(v) + " " + what};
    };
    for (std::size_t v = 0; v < graph_.operators.size(); ++v) {
      const Operator& op = graph_.operators[v];
      const auto need = [&](TensorIndex t) {
        const TensorKind kind = graph_.tensors[t].kind;
        const bool given = kind == TensorKind::kInput || kind == TensorKind::kParameter;
        if (!given && maker[t] >= v) fault(v, "uses a tensor that is not made yet");
      };
      for (const TensorIndex t : op.inputs) need(t);
      for (const TensorIndex t : op.mutates) need(t);
      for (const std::size_t u : op.after) {
        if (u >= v) fault(v, "waits for one that is not earlier");
      }
      for (const TensorIndex t : op.outputs) {
        if (maker[t] != later) fault(v, "makes a tensor that another one makes, too");
        maker[t] = v;
      }
      for (const TensorIndex t : op.mutates) {
        if (graph_.tensors[t].alias_of) fault(v, "writes a view in place, not its base");
      }
    }
    for (std::size_t t = 0; t < maker.size(); ++t) {
      const TensorKind kind = graph_.tensors[t].kind;
      const bool given = kind == TensorKind::kInput || kind == TensorKind::kParameter;
      if (given == (maker[t] == later)) continue;
      throw BadGraph{"tensor " + std::to_string(t) +
                     (given ? " is given and made" : " is never made")};
    }
  }

  const Json& file_;
  Bytes alignment_;
  std::string& where_;  // What is being read, for errors.
  Graph graph_;
  std::map<std::int64_t, std::size_t> tensor_of_;  // By id.
};

}  // namespace

Result<Graph> ReadGraph(std::string_view text, Bytes alignment) {
  std::string where;
  try {
    const Json file = Json::parse(text);
    return Reader(file, alignment, where).Read();
  } catch (const Json::exception& error) {
    return Fail(ErrorCode::kParse, error.what());
  } catch (const BadGraph& bad) {
    return Fail(ErrorCode::kParse, where + bad.what);
  }
}

}  // namespace berth::verify
