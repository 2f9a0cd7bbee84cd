// Graphs that PyTorch's compiler Inductor writes before it reorders for least peak memory.
//
// A node makes buffers; the buffers that it reads are repeated with each of those that it makes. An
// operator with several results appears as a node that allocates the bytes of all of them and frees
// none, and one node for each result, which allocates nothing and frees its part. In the graph,
// the first makes the results, and the others make views of them.

#include "io/inductor.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/text.h"
#include "base/try.h"
#include "io/json.h"

namespace berth::internal {
namespace {

using Value = nlohmann::json;

struct InductorBuffer {
  std::string name;
  Bytes allocated = 0;
  Bytes freed = 0;
  bool input = false;
  bool output = false;
  std::vector<std::size_t> reads;      // What the node that makes it reads.
  std::optional<OperatorIndex> maker;  // None of an input.
  // If it is a part of what another buffer allocates: that buffer.
  std::optional<std::size_t> whole;
  // The node that makes the part is not that of the whole, so it makes a view of it.
  bool view = false;
  TensorIndex tensor = 0;
};

class InductorReader {
 public:
  InductorReader(const Source& source, const Value& file) : source_(source), file_(file) {}

  Result<Graph> Read() {
    BERTH_TRY(ReadBuffers());
    BERTH_TRY(ReadNodes());
    FindParts();
    BERTH_TRY(MakeTensors());
    AddReads();
    if (auto valid = Validate(graph_); !valid) return source_.FailWith(valid.error());
    return std::move(graph_);
  }

 private:
  // `where`: `buffer number 3`.
  [[nodiscard]] tl::unexpected<Error> Mistyped(const std::string& where, const char* key,
                                               const Value* value, std::string_view what) const {
    return source_.FailAsWhole(where + ": \"" + key + "\" is " + Shown(value) +
                               " where it should be " + std::string(what));
  }

  Result<std::string> Text(const std::string& where, const Value& object, const char* key) const {
    const Value* const value = Member(object, key);
    if (value == nullptr || !value->is_string() || value->get_ref<const std::string&>().empty()) {
      return Mistyped(where, key, value, "text");
    }
    return value->get<std::string>();
  }
  Result<Bytes> Size(const std::string& where, const Value& object, const char* key) const {
    const Value* const value = Member(object, key);
    if (value == nullptr || !IsInt64(*value) || value->get<std::int64_t>() < 0 ||
        value->get<std::int64_t>() > kMaxBytes) {
      return Mistyped(where, key, value, "an integer from 0 to 2^60");
    }
    return value->get<Bytes>();
  }
  Result<bool> Flag(const std::string& where, const Value& object, const char* key) const {
    const Value* const value = Member(object, key);
    if (value == nullptr || !value->is_boolean()) {
      return Mistyped(where, key, value, "true or false");
    }
    return value->get<bool>();
  }
  // The list of `key`, which has only text.
  Result<const Value*> Names(const std::string& where, const Value& object, const char* key) const {
    const Value* const value = Member(object, key);
    bool valid = value != nullptr && value->is_array();
    if (valid) {
      for (const Value& each : *value) valid = valid && each.is_string();
    }
    if (!valid) return Mistyped(where, key, value, "a list of names");
    return value;
  }

  Result<void> ReadBuffers() {
    const Value& list = *Member(file_, "buffers");
    buffers_.reserve(list.size());
    for (const Value& object : list) {
      const std::string where = "buffer number " + std::to_string(buffers_.size());
      InductorBuffer buffer;
      buffer.name = BERTH_TRY(Text(where, object, "name"));
      // PyTorch before 2.6 writes "size" alone.
      const bool of_old = Member(object, "size_alloc") == nullptr &&
                          Member(object, "size_free") == nullptr &&
                          Member(object, "size") != nullptr;
      buffer.allocated = BERTH_TRY(Size(where, object, of_old ? "size" : "size_alloc"));
      buffer.freed = BERTH_TRY(Size(where, object, of_old ? "size" : "size_free"));
      buffer.input = BERTH_TRY(Flag(where, object, "is_input"));
      buffer.output = BERTH_TRY(Flag(where, object, "is_output"));
      if (!index_.emplace(buffer.name, buffers_.size()).second) {
        return source_.FailAsWhole(where + ": another buffer is called " + Quoted(buffer.name));
      }
      buffers_.push_back(std::move(buffer));
    }
    for (std::size_t b = 0; b < buffers_.size(); ++b) {
      const std::string where = "buffer number " + std::to_string(b);
      for (const Value& name : *BERTH_TRY(Names(where, list[b], "deps"))) {
        const auto found = index_.find(name.get_ref<const std::string&>());
        if (found == index_.end()) {
          return source_.FailAsWhole(where + ": \"deps\" has " + Shown(&name) +
                                     ", which no buffer is called");
        }
        buffers_[b].reads.push_back(found->second);
      }
    }
    return {};
  }

  Result<void> ReadNodes() {
    const Value& list = *Member(file_, "nodes");
    graph_.operators.resize(list.size());
    made_.resize(list.size());
    for (OperatorIndex v = 0; v < list.size(); ++v) {
      const std::string where = "node number " + std::to_string(v);
      graph_.operators[v].name = BERTH_TRY(Text(where, list[v], "name"));
      for (const Value& name : *BERTH_TRY(Names(where, list[v], "buffer_names"))) {
        const auto found = index_.find(name.get_ref<const std::string&>());
        if (found == index_.end()) continue;  // Inductor has removed it.
        InductorBuffer& buffer = buffers_[found->second];
        if (buffer.input || buffer.maker) {
          return source_.FailAsWhole(where + ": " + Shown(&name) + " is " +
                                     (buffer.input        ? "an input"
                                      : buffer.maker == v ? "in the list twice"
                                                          : "made by another node, too"));
        }
        buffer.maker = v;
        made_[v].push_back(found->second);
      }
    }
    for (const InductorBuffer& buffer : buffers_) {
      if (!buffer.input && !buffer.maker) {
        return source_.FailAsWhole("no node makes the buffer " + Quoted(buffer.name));
      }
    }
    return {};
  }

  // A buffer that frees more than it allocates is a part of the one buffer that it reads and that
  // allocates more than it frees.
  void FindParts() {
    for (InductorBuffer& buffer : buffers_) {
      if (buffer.input || buffer.allocated != 0 || buffer.freed == 0) continue;
      for (const std::size_t read : buffer.reads) {
        const InductorBuffer& other = buffers_[read];
        if (!other.maker || other.allocated < buffer.freed || other.freed != 0) continue;
        buffer.whole = buffer.whole && *buffer.whole != read ? buffers_.size() : read;
      }
      if (buffer.whole == buffers_.size()) buffer.whole.reset();  // Several: not known which.
      if (buffer.whole) buffers_[*buffer.whole].allocated -= buffer.freed;
    }
  }

  Result<void> MakeTensors() {
    for (InductorBuffer& buffer : buffers_) {
      Tensor tensor;
      tensor.name = buffer.name;
      tensor.bytes = std::max(buffer.allocated, buffer.freed);
      tensor.kind = buffer.input ? TensorKind::kInput : TensorKind::kActivation;
      tensor.output = buffer.output;
      buffer.tensor = graph_.tensors.size();
      buffer.view = buffer.whole && buffers_[*buffer.whole].maker != buffer.maker;
      if (buffer.view) {
        graph_.operators[*buffers_[*buffer.whole].maker].outputs.push_back(buffer.tensor);
        graph_.tensors.push_back(tensor);
        tensor.name += " (view)";
        if (index_.contains(tensor.name)) {
          return source_.FailAsWhole("another buffer is called " + Quoted(tensor.name));
        }
        tensor.alias_of = buffer.tensor;
        buffer.tensor = graph_.tensors.size();
      }
      if (buffer.maker) graph_.operators[*buffer.maker].outputs.push_back(buffer.tensor);
      graph_.tensors.push_back(std::move(tensor));
    }
    return {};
  }

  void AddReads() {
    for (OperatorIndex v = 0; v < made_.size(); ++v) {
      std::unordered_set<TensorIndex> known;
      const auto add = [&](TensorIndex tensor) {
        if (known.insert(tensor).second) graph_.operators[v].inputs.push_back(tensor);
      };
      for (const std::size_t b : made_[v]) {
        if (buffers_[b].view) add(*graph_.tensors[buffers_[b].tensor].alias_of);
        for (const std::size_t read : buffers_[b].reads) {
          if (buffers_[read].maker != v) add(buffers_[read].tensor);
        }
      }
    }
  }

  const Source& source_;
  const Value& file_;
  Graph graph_;
  std::vector<InductorBuffer> buffers_;
  std::unordered_map<std::string, std::size_t> index_;  // Of buffers, by name.
  std::vector<std::vector<std::size_t>> made_;          // By each node.
};

}  // namespace

bool IsInductorGraph(const Value& file) {
  const Value* const nodes = Member(file, "nodes");
  const Value* const buffers = Member(file, "buffers");
  return nodes != nullptr && nodes->is_array() && buffers != nullptr && buffers->is_array() &&
         Member(file, "tensors") == nullptr && Member(file, "format") == nullptr;
}

Result<Graph> GraphOfInductor(const Source& source, const Value& file) {
  return InductorReader(source, file).Read();
}

}  // namespace berth::internal
