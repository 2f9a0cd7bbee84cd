#include "plan/strips.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "berth/graph.h"
#include "graph/edges.h"

namespace berth::internal::plan {
namespace {

Rows Hull(Rows a, Rows b) {
  if (a.empty()) return b;
  if (b.empty()) return a;
  return {std::min(a.begin, b.begin), std::max(a.end, b.end)};
}

std::int64_t Shared(Rows a, Rows b) {
  if (a.empty() || b.empty()) return 0;
  return std::max<std::int64_t>(std::min(a.end, b.end) - std::max(a.begin, b.begin), 0);
}

// An operator of a chain that needs some rows of a tensor.
struct Reader {
  std::size_t at = 0;  // In the chain.
  const ReceptiveField* field = nullptr;
};

// Of each operator of `chain`, the readers of its output in the chain; behind these, those of each
// tensor from outside.
std::vector<std::vector<Reader>> ReadersIn(const Graph& graph, const Chain& chain) {
  std::unordered_map<TensorIndex, std::size_t> list;
  std::vector<std::vector<Reader>> readers(chain.operators.size());
  for (std::size_t i = 0; i < chain.operators.size(); ++i) {
    list.emplace(graph.operators[chain.operators[i]].outputs[0], i);
  }
  for (std::size_t i = 0; i < chain.operators.size(); ++i) {
    for (const ReceptiveField& field : graph.operators[chain.operators[i]].receptive_fields) {
      if (field.axis != chain.axis) continue;
      for (const TensorIndex t : field.inputs) {
        const auto [at, added] = list.emplace(t, readers.size());
        if (added) readers.emplace_back();
        readers[at->second].push_back({i, &field});
      }
    }
  }
  return readers;
}

// The bytes between the operators of one strip, at the operator with the most. `bytes` are those of
// their outputs.
Bytes MostLive(const std::vector<std::vector<Reader>>& readers, const std::vector<Bytes>& bytes) {
  const std::size_t n = bytes.size();
  std::vector<Bytes> freed(n, 0);  // After each operator.
  for (std::size_t i = 0; i + 1 < n; ++i) {
    std::size_t last = i;
    for (const Reader& reader : readers[i]) last = std::max(last, reader.at);
    freed[last] += bytes[i];
  }
  Bytes live = 0;
  Bytes most = 0;
  for (std::size_t i = 0; i < n; ++i) {
    if (i + 1 < n) live += bytes[i];
    most = std::max(most, live);
    live -= freed[i];
  }
  return most;
}

// Makes the graph with strips.
class Splitter {
 public:
  Splitter(const Graph& graph, const Chain& chain, const Strips& strips)
      : graph_(graph),
        chain_(chain),
        strips_(strips),
        last_(chain.operators.back()),
        inside_(graph.operators.size(), false),
        between_(graph.tensors.size(), false),
        where_(graph.operators.size(), kNoOperator) {
    for (const OperatorIndex v : chain.operators) {
      inside_[v] = true;
      if (v != last_) between_[graph.operators[v].outputs[0]] = true;
    }
  }

  SplitGraph Run(const Order& order) {
    split_.graph.name = graph_.name;
    split_.graph.tensors = graph_.tensors;
    for (OperatorIndex v = 0; v < graph_.operators.size(); ++v) {
      if (v == last_) {
        for (std::size_t k = 0; k < strips_.rows.size(); ++k) AddStrip(k);
      } else if (!inside_[v]) {
        AddOther(v);
      }
    }
    for (const OperatorIndex v : order) {
      if (v == last_) {
        split_.order.insert(split_.order.end(), added_.begin(), added_.end());
      } else if (!inside_[v]) {
        split_.order.push_back(where_[v]);
      }
    }
    return std::move(split_);
  }

 private:
  OperatorIndex Add(OperatorIndex v, Operator op) {
    std::sort(op.after.begin(), op.after.end());
    op.after.erase(std::unique(op.after.begin(), op.after.end()), op.after.end());
    where_[v] = split_.graph.operators.size();
    split_.graph.operators.push_back(std::move(op));
    return where_[v];
  }

  void AddOther(OperatorIndex v) {
    Operator op = graph_.operators[v];
    for (OperatorIndex& u : op.after) u = where_[u];
    const TensorIndex result = graph_.operators[last_].outputs[0];
    const auto uses = [&](const std::vector<TensorIndex>& list) {
      return std::any_of(list.begin(), list.end(),
                         [&](TensorIndex t) { return BaseOf(graph_, t) == result; });
    };
    // The last strip completes the result.
    if (uses(op.inputs) || uses(op.outputs) || uses(op.mutates)) op.after.push_back(where_[last_]);
    Add(v, std::move(op));
  }

  void AddStrip(std::size_t k) {
    const std::vector<Rows>& rows = strips_.rows[k];
    const OperatorIndex before = where_[last_];  // The end of the strip before.
    suffix_ =
        " (strip " + std::to_string(k + 1) + " of " + std::to_string(strips_.rows.size()) + ")";
    parts_.clear();
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (rows[i].empty()) continue;
      const OperatorIndex v = chain_.operators[i];
      const Operator& whole = graph_.operators[v];
      Operator op{whole.name + suffix_, whole.type, {}, {}};
      for (const TensorIndex t : whole.inputs) {
        const auto part = parts_.find(t);
        if (!between_[t]) op.inputs.push_back(t);
        if (part != parts_.end()) op.inputs.push_back(part->second);
      }
      for (const OperatorIndex u : whole.after) {
        if (where_[u] != kNoOperator) op.after.push_back(where_[u]);
      }
      if (k > 0) op.after.push_back(before);
      if (v != last_) {
        op.outputs.push_back(AddPart(v, rows[i].count()));
        AddOverwrites(whole, op);
      } else if (k == 0) {
        op.outputs = whole.outputs;
      } else {
        op.mutates = whole.outputs;
      }
      added_.push_back(Add(v, std::move(op)));
    }
  }

  // The output of `v` in this strip.
  TensorIndex AddPart(OperatorIndex v, std::int64_t rows) {
    const TensorIndex whole = graph_.operators[v].outputs[0];
    const std::int64_t of = RowsAlong(graph_.operators[v], chain_.axis);
    Tensor part = graph_.tensors[whole];
    part.name += suffix_;
    part.shape.clear();
    part.bytes = BytesOfRows(part, rows, of);
    std::vector<Tensor>& tensors = split_.graph.tensors;
    // The first takes the place of the whole.
    const bool first = used_.insert(whole).second;
    const TensorIndex t = first ? whole : tensors.size();
    if (first) {
      tensors[t] = std::move(part);
    } else {
      tensors.push_back(std::move(part));
    }
    parts_[whole] = t;
    return t;
  }

  void AddOverwrites(const Operator& whole, Operator& op) {
    const TensorIndex output = op.outputs[0];
    for (const Overwrite& pair : whole.may_overwrite) {
      const auto input = parts_.find(pair.input);
      if (input == parts_.end()) continue;
      const auto& tensors = split_.graph.tensors;
      if (tensors[input->second].bytes != tensors[output].bytes) continue;
      op.may_overwrite.push_back({input->second, output});
    }
  }

  const Graph& graph_;
  const Chain& chain_;
  const Strips& strips_;
  const OperatorIndex last_;
  std::vector<bool> inside_;                            // By operator.
  std::vector<bool> between_;                           // By tensor.
  std::vector<OperatorIndex> where_;                    // Of the chain, those of the last strip.
  std::string suffix_;                                  // Of the names in this strip.
  std::unordered_map<TensorIndex, TensorIndex> parts_;  // Of tensors between, in this strip.
  std::unordered_set<TensorIndex> used_;
  std::vector<OperatorIndex> added_;
  SplitGraph split_;
};

// Whether `op` makes only a view that has another name for all of a tensor that it reads element by
// element, as DequantizeLinear does where its readers are computed with quantized elements.
bool OnlyRenames(const Graph& graph, const Operator& op) {
  if (op.outputs.size() != 1 || !op.mutates.empty() || op.inputs.empty()) return false;
  const Tensor& view = graph.tensors[op.outputs[0]];
  if (view.output || view.alias_of != BaseOf(graph, op.inputs[0])) return false;
  return std::any_of(op.receptive_fields.begin(), op.receptive_fields.end(),
                     [&](const ReceptiveField& field) {
                       return field.inputs.front() == op.inputs[0] && field.stride == 1 &&
                              field.extent == 1 && field.input_rows == field.output_rows;
                     });
}

// Makes a graph without the operators that were fused into others.
class FusedRemover {
 public:
  explicit FusedRemover(const Graph& graph)
      : graph_(graph),
        makers_(Makers(graph)),
        name_(graph.tensors.size()),
        tensor_at_(graph.tensors.size(), graph.tensors.size()),
        gone_(graph.operators.size(), false),
        operator_at_(graph.operators.size(), kNoOperator),
        waits_(graph.operators.size()) {
    std::iota(name_.begin(), name_.end(), TensorIndex{0});
    for (OperatorIndex v = 0; v < graph.operators.size(); ++v) {
      const Operator& op = graph.operators[v];
      gone_[v] = op.outputs.empty() && op.mutates.empty() && !op.update && !op.inputs.empty();
      if (!OnlyRenames(graph, op)) continue;
      gone_[v] = true;
      name_[op.outputs[0]] = name_[op.inputs[0]];
    }
  }

  Graph Run(Order& order) {
    if (std::find(gone_.begin(), gone_.end(), true) == gone_.end()) return graph_;
    out_.name = graph_.name;
    AddTensors();
    for (OperatorIndex v = 0; v < graph_.operators.size(); ++v) AddOperator(v);
    std::erase_if(order, [&](OperatorIndex v) { return gone_[v]; });
    for (OperatorIndex& v : order) v = operator_at_[v];
    return std::move(out_);
  }

 private:
  // Views that only operators without results read are gone, too.
  void AddTensors() {
    std::vector<bool> read(graph_.tensors.size(), false);
    for (OperatorIndex v = 0; v < graph_.operators.size(); ++v) {
      if (gone_[v]) continue;
      for (const TensorIndex t : graph_.operators[v].inputs) read[name_[t]] = true;
    }
    for (TensorIndex t = 0; t < graph_.tensors.size(); ++t) {
      const Tensor& tensor = graph_.tensors[t];
      const bool dropped = tensor.alias_of && !tensor.output && !read[t];
      if (name_[t] != t || dropped) continue;
      tensor_at_[t] = out_.tensors.size();
      out_.tensors.push_back(tensor);
    }
    for (Tensor& tensor : out_.tensors) {
      if (tensor.alias_of) tensor.alias_of = tensor_at_[*tensor.alias_of];
    }
  }

  [[nodiscard]] std::vector<TensorIndex> Renamed(const std::vector<TensorIndex>& list) const {
    std::vector<TensorIndex> kept;
    kept.reserve(list.size());
    for (const TensorIndex t : list) {
      const TensorIndex at = tensor_at_[name_[t]];
      if (at < out_.tensors.size()) kept.push_back(at);
    }
    return kept;
  }

  // The operators that `v` waits for, those in place of operators that are gone included.
  [[nodiscard]] std::vector<OperatorIndex> WaitsOf(OperatorIndex v) const {
    std::vector<OperatorIndex> after;
    const auto wait = [&](OperatorIndex u) {
      if (gone_[u]) {
        after.insert(after.end(), waits_[u].begin(), waits_[u].end());
      } else {
        after.push_back(operator_at_[u]);
      }
    };
    for (const OperatorIndex u : graph_.operators[v].after) wait(u);
    for (const TensorIndex t : graph_.operators[v].inputs) {
      const OperatorIndex u = makers_[t];
      if (u != kNoOperator && (gone_[v] || gone_[u])) wait(u);
    }
    std::sort(after.begin(), after.end());
    after.erase(std::unique(after.begin(), after.end()), after.end());
    return after;
  }

  void AddOperator(OperatorIndex v) {
    std::vector<OperatorIndex> after = WaitsOf(v);
    if (gone_[v]) {
      waits_[v] = std::move(after);
      return;
    }
    Operator op = graph_.operators[v];
    op.inputs = Renamed(op.inputs);
    op.outputs = Renamed(op.outputs);
    op.mutates = Renamed(op.mutates);
    op.after = std::move(after);
    for (ReceptiveField& field : op.receptive_fields) field.inputs = Renamed(field.inputs);
    op.may_overwrite.clear();
    for (const Overwrite& pair : graph_.operators[v].may_overwrite) {
      const std::vector<TensorIndex> both = Renamed({pair.input, pair.output});
      if (both.size() == 2) op.may_overwrite.push_back({both[0], both[1]});
    }
    operator_at_[v] = out_.operators.size();
    out_.operators.push_back(std::move(op));
  }

  const Graph& graph_;
  std::vector<OperatorIndex> makers_;
  std::vector<TensorIndex> name_;       // What each tensor is called instead.
  std::vector<TensorIndex> tensor_at_;  // In the new graph; past its end for none.
  std::vector<bool> gone_;              // By operator.
  std::vector<OperatorIndex> operator_at_;
  std::vector<std::vector<OperatorIndex>> waits_;  // Of operators that are gone.
  Graph out_;
};

}  // namespace

std::int64_t RowsAlong(const Operator& op, std::int64_t axis) {
  for (const ReceptiveField& field : op.receptive_fields) {
    if (field.axis == axis) return field.output_rows;
  }
  return 0;
}

const ReceptiveField* FieldIn(const Operator& op, std::int64_t axis, TensorIndex input) {
  for (const ReceptiveField& field : op.receptive_fields) {
    if (field.axis != axis) continue;
    const bool named =
        std::find(field.inputs.begin(), field.inputs.end(), input) != field.inputs.end();
    if (named) return &field;
  }
  return nullptr;
}

Rows InputRows(const ReceptiveField& field, Rows rows) {
  // Windows that lie in the padding as a whole need nothing.
  if (field.before >= field.extent) {
    rows.begin = std::max(rows.begin, (field.before - field.extent) / field.stride + 1);
  }
  rows.end = std::min(rows.end, (field.input_rows - 1 + field.before) / field.stride + 1);
  if (rows.begin >= rows.end) return {};
  return {std::max<std::int64_t>(rows.begin * field.stride - field.before, 0),
          std::min((rows.end - 1) * field.stride - field.before + field.extent, field.input_rows)};
}

Bytes BytesOfRows(const Tensor& tensor, std::int64_t rows, std::int64_t of) {
  const Bytes whole = tensor.bytes / of * rows;
  const Bytes bytes = whole + (tensor.bytes % of * rows + of - 1) / of;
  // Padded to its alignment as the whole is.
  if (tensor.bytes % tensor.alignment != 0) return bytes;
  return std::min((bytes + tensor.alignment - 1) / tensor.alignment * tensor.alignment,
                  tensor.bytes);
}

Strips StripsOf(const Graph& graph, const Chain& chain, std::int64_t count) {
  const std::size_t n = chain.operators.size();
  const auto readers = ReadersIn(graph, chain);
  Strips strips;
  std::vector<std::int64_t> height(n);
  std::vector<const Tensor*> made(n);
  for (std::size_t i = 0; i < n; ++i) {
    const Operator& op = graph.operators[chain.operators[i]];
    height[i] = RowsAlong(op, chain.axis);
    made[i] = &graph.tensors[op.outputs[0]];
    strips.made += made[i]->bytes;
  }
  strips.height = (height.back() + count - 1) / count;
  std::vector<Rows> before(readers.size());  // That the strip before needs of each tensor.
  std::vector<std::int64_t> end(n, 0);       // Of the rows computed so far.
  std::vector<std::int64_t> again(n, 0);     // Rows computed before.
  for (std::int64_t begin = 0; begin < height.back(); begin += strips.height) {
    std::vector<Rows> rows(readers.size());
    rows[n - 1] = {begin, std::min(begin + strips.height, height.back())};
    const auto need = [&](std::size_t i) {
      for (const Reader& reader : readers[i]) {
        rows[i] = Hull(rows[i], InputRows(*reader.field, rows[reader.at]));
      }
      strips.halo = std::max(strips.halo, Shared(before[i], rows[i]));
    };
    for (std::size_t i = n; i-- > 0;) need(i);
    for (std::size_t i = n; i < readers.size(); ++i) need(i);
    before = rows;
    rows.resize(n);
    std::vector<Bytes> bytes(n, 0);
    for (std::size_t i = 0; i < n; ++i) {
      if (rows[i].empty()) continue;
      bytes[i] = BytesOfRows(*made[i], rows[i].count(), height[i]);
      again[i] += std::max<std::int64_t>(std::min(end[i], rows[i].end) - rows[i].begin, 0);
      end[i] = std::max(end[i], rows[i].end);
    }
    strips.live.push_back(MostLive(readers, bytes));
    strips.rows.push_back(std::move(rows));
  }
  for (std::size_t i = 0; i < n; ++i) {
    if (again[i] > 0) strips.recomputed += made[i]->bytes / height[i] * again[i];
  }
  return strips;
}

SplitGraph SplitIntoStrips(const Graph& graph, const Order& order, const Chain& chain,
                           const Strips& strips) {
  return Splitter(graph, chain, strips).Run(order);
}

Graph WithoutFused(const Graph& graph, Order& order) { return FusedRemover(graph).Run(order); }

}  // namespace berth::internal::plan
