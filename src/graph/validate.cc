// The rules of a graph (berth/graph.h).
//
// All rules but one are local. The exception: a write in place must be ordered against every other
// use of the same base. Program order can run, so it is enough to look at neighbours in it: if a
// path leads from each write to each use after it up to and including the next write, and from each
// use since the last write to the next one, then joining these gives a path between any write and
// any use. Most of them are a single edge. The others are found 64 at a time: one word of flags for
// each operator is carried backwards along the edges, within the stretch of program order between
// the uses.

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/arithmetic.h"
#include "base/name_set.h"
#include "base/text.h"
#include "base/try.h"
#include "berth/graph.h"
#include "graph/edges.h"
#include "graph/topology.h"

namespace berth {
namespace internal {
namespace {

// Order searches keep indices in 32 bits.
constexpr std::size_t kMaxCount = (std::size_t{1} << 31) - 1;

class GraphValidator {
 public:
  explicit GraphValidator(const Graph& graph) : graph_(graph) {}

  Result<void> Check() {
    for (const auto check : {&GraphValidator::CheckSizes, &GraphValidator::CheckTensors,
                             &GraphValidator::CheckOperators, &GraphValidator::CheckMakers,
                             &GraphValidator::CheckProgramOrder, &GraphValidator::CheckViews,
                             &GraphValidator::CheckOverwrites, &GraphValidator::CheckHazards}) {
      BERTH_TRY((this->*check)());
    }
    return {};
  }

 private:
  // A use of a base that is written in place.
  struct Use {
    TensorIndex base;
    OperatorIndex op;
    bool writes;
    friend auto operator<=>(const Use&, const Use&) = default;
  };
  // A path that must exist from one operator to a later one.
  struct Path {
    OperatorIndex from;
    OperatorIndex to;
    TensorIndex base;
    bool from_write;  // `from` writes and `to` reads; else `to` writes.
  };

  static tl::unexpected<Error> Invalid(std::string message, Subject subject = {}) {
    return Fail(ErrorCode::kInvalidGraph, std::move(message), subject);
  }
  // `fault` follows the name.
  [[nodiscard]] tl::unexpected<Error> InvalidOp(OperatorIndex v, const std::string& fault) const {
    return Invalid(Op(v) + ": " + fault, Subject::OfOperator(v));
  }
  [[nodiscard]] tl::unexpected<Error> InvalidTensor(TensorIndex t, const std::string& fault) const {
    return Invalid(Ten(t) + ": " + fault, Subject::OfTensor(t));
  }
  [[nodiscard]] std::string Op(OperatorIndex v) const {
    return "operator " + Quoted(graph_.operators[v].name);
  }
  [[nodiscard]] std::string Ten(TensorIndex t) const {
    return "tensor " + Quoted(graph_.tensors[t].name);
  }

  Result<void> CheckSizes() {
    if (graph_.operators.size() > kMaxCount || graph_.tensors.size() > kMaxCount) {
      return Invalid("the graph has more than 2^31 - 1 operators or tensors");
    }
    return {};
  }

  Result<void> CheckTensors() {
    NameSet names(graph_.tensors.size());
    Bytes total = 0;
    for (TensorIndex t = 0; t < graph_.tensors.size(); ++t) {
      const Tensor& tensor = graph_.tensors[t];
      if (tensor.name.empty()) {
        return Invalid("tensor number " + std::to_string(t) + " has an empty name",
                       Subject::OfTensor(t));
      }
      if (!names.Insert(tensor.name)) {
        return InvalidTensor(t, "two tensors have this name");
      }
      if (tensor.bytes < 0 || tensor.bytes > kMaxBytes) {
        return InvalidTensor(
            t, "has " + std::to_string(tensor.bytes) + " bytes but must have from 0 to 2^60");
      }
      if (tensor.alignment < 1 || tensor.alignment > kMaxBytes) {
        return InvalidTensor(
            t, "alignment is " + std::to_string(tensor.alignment) + " but must be from 1 to 2^60");
      }
      if (tensor.quantized < 0 || tensor.quantized > kMaxBytes) {
        return InvalidTensor(t, "has " + std::to_string(tensor.quantized) +
                                    " bytes quantized but must have from 0 to 2^60");
      }
      if (!tensor.unplanned.empty() && tensor.bytes != 0) {
        return InvalidTensor(
            t, "is unplanned, so it must have 0 bytes, not " + std::to_string(tensor.bytes));
      }
      if (!tensor.alias_of) {
        const auto sum = CheckedAdd(total, tensor.bytes + (tensor.alignment - 1));
        if (!sum || *sum > kMaxBytes) {
          return InvalidTensor(
              t, "with its " + std::to_string(tensor.bytes) +
                     " bytes the tensors (and alignments) add up to more than 2^60 bytes");
        }
        total = *sum;
        continue;
      }
      const TensorIndex base = *tensor.alias_of;
      if (base >= graph_.tensors.size()) {
        return InvalidTensor(t, "is a view of tensor number " + std::to_string(base) +
                                    " but the graph has " + std::to_string(graph_.tensors.size()) +
                                    " tensors");
      }
      if (base == t) return InvalidTensor(t, "is a view of itself");
      if (graph_.tensors[base].alias_of) {
        return InvalidTensor(
            t, "is a view of " + Ten(base) + ", which is itself a view; it must name the base");
      }
      if (tensor.bytes > graph_.tensors[base].bytes) {
        return InvalidTensor(
            t, "is a view of " + std::to_string(tensor.bytes) + " bytes, more than the " +
                   std::to_string(graph_.tensors[base].bytes) + " of its base, " + Ten(base));
      }
    }
    return {};
  }

  // The fault of `list` if an item is not less than `size` or, where `once` is true, comes twice;
  // empty if there is none.
  std::string CheckList(const std::vector<std::size_t>& list, std::size_t size,
                        std::string_view what, bool tensors, bool once = true) {
    for (const std::size_t item : list) {
      const std::string_view kind = tensors ? "tensor" : "operator";
      if (item >= size) {
        return std::string(what) + " " + std::string(kind) + " number " + std::to_string(item) +
               " but the graph has " + std::to_string(size) + " " + std::string(kind) + "s";
      }
    }
    if (!once || list.size() < 2) return {};
    sorted_ = list;
    std::sort(sorted_.begin(), sorted_.end());
    const auto twice = std::adjacent_find(sorted_.begin(), sorted_.end());
    if (twice == sorted_.end()) return {};
    return std::string(what) + " " + (tensors ? Ten(*twice) : Op(*twice)) + " twice";
  }

  // What is wrong with a receptive field of an operator that reads `read`; empty if nothing is.
  [[nodiscard]] static std::string CheckField(const ReceptiveField& field,
                                              const std::set<TensorIndex>& read) {
    constexpr std::int64_t kMost = (std::int64_t{1} << 31) - 1;
    const auto outside = [](const char* what, std::int64_t value, std::int64_t least) {
      if (value >= least && value <= kMost) return std::string();
      return "has " + std::string(what) + " of " + std::to_string(value) + " but needs from " +
             std::to_string(least) + " to 2^31 - 1";
    };
    for (const std::string& fault :
         {outside("an axis", field.axis, 0), outside("input rows", field.input_rows, 1),
          outside("output rows", field.output_rows, 1), outside("a stride", field.stride, 1),
          outside("an extent", field.extent, 1), outside("a padding", field.before, 0)}) {
      if (!fault.empty()) return fault;
    }
    if (field.inputs.empty()) return "names no input";
    for (const TensorIndex t : field.inputs) {
      if (!read.contains(t)) {
        return "names tensor number " + std::to_string(t) + ", which the operator does not read";
      }
    }
    return {};
  }

  // The fault of the receptive fields of `op`; empty if there is none.
  [[nodiscard]] static std::string CheckFields(const Operator& op) {
    if (op.receptive_fields.empty()) return {};
    const std::set<TensorIndex> read(op.inputs.begin(), op.inputs.end());
    std::set<std::pair<std::int64_t, TensorIndex>> seen;
    std::map<std::int64_t, std::int64_t> output_rows;  // By axis.
    for (const ReceptiveField& field : op.receptive_fields) {
      std::string fault = CheckField(field, read);
      for (const TensorIndex t : field.inputs) {
        if (fault.empty() && !seen.insert({field.axis, t}).second) {
          fault = "names tensor number " + std::to_string(t) + " twice";
        }
      }
      const std::int64_t rows = output_rows.emplace(field.axis, field.output_rows).first->second;
      if (fault.empty() && field.output_rows != rows) {
        fault = "has " + std::to_string(field.output_rows) + " output rows where another has " +
                std::to_string(rows);
      }
      if (fault.empty()) continue;
      return "its receptive field along axis " + std::to_string(field.axis) + " " + fault;
    }
    return {};
  }

  // The fault of the cost of `op` or of what it writes only when it first runs; empty if there is
  // none. `total` is the cost of all operators so far.
  std::string CheckRepeating(const Operator& op, std::int64_t& total) {
    if (op.cost) {
      if (*op.cost < 0 || *op.cost > kMaxBytes) {
        return "cost is " + std::to_string(*op.cost) + " but must be from 0 to 2^60";
      }
      total += *op.cost;  // Of at most twice 2^60.
      if (total > kMaxBytes) {
        return "with its cost of " + std::to_string(*op.cost) +
               " the operators add up to more than 2^60";
      }
    }
    if (std::string fault = CheckList(op.skips, graph_.tensors.size(), "skips", true);
        !fault.empty()) {
      return fault;
    }
    for (const TensorIndex t : op.skips) {
      if (std::find(op.mutates.begin(), op.mutates.end(), t) == op.mutates.end()) {
        return "skips " + Ten(t) + " when it runs again, but does not write it in place";
      }
    }
    return {};
  }

  Result<void> CheckOperators() {
    NameSet names(graph_.operators.size());
    std::int64_t cost = 0;
    for (OperatorIndex v = 0; v < graph_.operators.size(); ++v) {
      const Operator& op = graph_.operators[v];
      if (op.name.empty()) {
        return Invalid("operator number " + std::to_string(v) + " has an empty name",
                       Subject::OfOperator(v));
      }
      if (!names.Insert(op.name)) {
        return InvalidOp(v, "two operators have this name");
      }
      const std::size_t tensors = graph_.tensors.size();
      for (const std::string& fault :
           {CheckList(op.inputs, tensors, "reads", true, /*once=*/false),
            CheckList(op.outputs, tensors, "makes", true),
            CheckList(op.mutates, tensors, "writes in place", true),
            CheckList(op.after, graph_.operators.size(), "comes after", false),
            CheckRepeating(op, cost)}) {
        if (!fault.empty()) return InvalidOp(v, fault);
      }
      if (const std::string fault = CheckFields(op); !fault.empty()) return InvalidOp(v, fault);
      for (const TensorIndex t : op.mutates) {
        if (graph_.tensors[t].alias_of) {
          return InvalidOp(v, "writes " + Ten(t) +
                                  " in place, which is a view; it must name the base, " +
                                  Ten(*graph_.tensors[t].alias_of));
        }
      }
    }
    return {};
  }

  Result<void> CheckMakers() {
    makers_.assign(graph_.tensors.size(), kNoOperator);
    for (OperatorIndex v = 0; v < graph_.operators.size(); ++v) {
      for (const TensorIndex t : graph_.operators[v].outputs) {
        if (makers_[t] != kNoOperator) {
          return InvalidOp(v, "makes " + Ten(t) + ", which " + Op(makers_[t]) + " makes already");
        }
        if (!IsMade(graph_.tensors[t].kind)) {
          return InvalidOp(v, "makes " + Ten(t) + ", which is of the kind " +
                                  std::string(ToString(graph_.tensors[t].kind)) +
                                  ", there before the first operator");
        }
        makers_[t] = v;
      }
    }
    for (TensorIndex t = 0; t < graph_.tensors.size(); ++t) {
      if (makers_[t] == kNoOperator && IsMade(graph_.tensors[t].kind)) {
        return InvalidTensor(t, "no operator makes it, and it is of the kind " +
                                    std::string(ToString(graph_.tensors[t].kind)));
      }
    }
    return {};
  }

  Result<void> CheckProgramOrder() {
    for (OperatorIndex v = 0; v < graph_.operators.size(); ++v) {
      const Operator& op = graph_.operators[v];
      for (const OperatorIndex u : op.after) {
        if (u == v) return InvalidOp(v, "comes after itself");
      }
      for (const auto* list : {&op.inputs, &op.mutates}) {
        for (const TensorIndex t : *list) {
          const OperatorIndex maker = makers_[t];
          if (maker == v) {
            return InvalidOp(v, std::string(list == &op.inputs ? "reads " : "writes in place ") +
                                    Ten(t) + ", which it makes itself");
          }
          if (maker != kNoOperator && maker > v) return Late(v, maker, t);
        }
      }
      for (const OperatorIndex u : op.after) {
        if (u > v) return Late(v, u, graph_.tensors.size());
      }
    }
    return {};
  }

  // `v` waits for `late`, which comes later in program order, because of tensor t or, where t is
  // the number of tensors, because of `after`.
  Result<void> Late(OperatorIndex v, OperatorIndex late, TensorIndex t) {
    const std::string waits = t == graph_.tensors.size()
                                  ? "has to come after " + Op(late)
                                  : "needs " + Ten(t) + ", made by " + Op(late);
    const std::vector<OperatorIndex> cycle = ShortestWait(late, v);
    if (cycle.empty()) {
      return InvalidOp(v, waits +
                              ", which comes later; operators must stand in an order in which they "
                              "can run");
    }
    std::string chain;
    constexpr std::size_t kMostNamed = 6;
    for (std::size_t i = 0; i < cycle.size() && i < kMostNamed; ++i) {
      chain += (i == 0 ? "" : ", which waits for ") + Op(cycle[i]);
    }
    if (cycle.size() > kMostNamed) {
      chain += ", and so on over " + std::to_string(cycle.size()) + " operators";
    }
    return InvalidOp(v, waits + ", which waits for it: a cycle (" + chain + ")");
  }

  // The operators on a shortest chain from `from` to `to`, each waiting for the next; empty if
  // `from` does not wait for `to`.
  [[nodiscard]] std::vector<OperatorIndex> ShortestWait(OperatorIndex from,
                                                        OperatorIndex to) const {
    std::vector<OperatorIndex> reached_from(graph_.operators.size(), kNoOperator);
    std::vector<OperatorIndex> queue = {from};
    reached_from[from] = from;
    for (std::size_t i = 0; i < queue.size() && reached_from[to] == kNoOperator; ++i) {
      ForEachPredecessor(graph_, makers_, queue[i], [&](OperatorIndex u) {
        if (reached_from[u] != kNoOperator) return;
        reached_from[u] = queue[i];
        queue.push_back(u);
      });
    }
    if (reached_from[to] == kNoOperator) return {};
    std::vector<OperatorIndex> way = {to};
    while (way.back() != from) way.push_back(reached_from[way.back()]);
    std::reverse(way.begin(), way.end());
    return way;
  }

  Result<void> CheckViews() {
    for (TensorIndex t = 0; t < graph_.tensors.size(); ++t) {
      if (!graph_.tensors[t].alias_of || makers_[t] != kNoOperator) continue;
      const TensorIndex base = *graph_.tensors[t].alias_of;
      if (makers_[base] == kNoOperator) continue;
      return InvalidTensor(t, "is there before the first operator, but its base, " + Ten(base) +
                                  ", is made by " + Op(makers_[base]));
    }
    for (OperatorIndex v = 0; v < graph_.operators.size(); ++v) {
      const Operator& op = graph_.operators[v];
      const bool makes_views =
          std::any_of(op.outputs.begin(), op.outputs.end(),
                      [&](TensorIndex t) { return graph_.tensors[t].alias_of.has_value(); });
      if (!makes_views) continue;
      sorted_.clear();  // The bases that the operator touches.
      for (const TensorIndex t : op.inputs) sorted_.push_back(BaseOf(graph_, t));
      sorted_.insert(sorted_.end(), op.mutates.begin(), op.mutates.end());
      sorted_.insert(sorted_.end(), op.outputs.begin(), op.outputs.end());
      std::sort(sorted_.begin(), sorted_.end());
      for (const TensorIndex t : op.outputs) {
        const TensorIndex base = BaseOf(graph_, t);
        if (std::binary_search(sorted_.begin(), sorted_.end(), base)) continue;
        return InvalidOp(v, "makes " + Ten(t) + ", a view of " + Ten(base) +
                                ", but neither reads, writes nor makes that or a view of it");
      }
    }
    return {};
  }

  Result<void> CheckOverwrites() {
    for (OperatorIndex v = 0; v < graph_.operators.size(); ++v) {
      const Operator& op = graph_.operators[v];
      if (op.may_overwrite.empty()) continue;
      const std::set<TensorIndex> inputs(op.inputs.begin(), op.inputs.end());
      const std::set<TensorIndex> outputs(op.outputs.begin(), op.outputs.end());
      for (const Overwrite& pair : op.may_overwrite) {
        if (!inputs.contains(pair.input) || !outputs.contains(pair.output)) {
          return InvalidOp(v, "may write tensor number " + std::to_string(pair.output) +
                                  " over tensor number " + std::to_string(pair.input) +
                                  ", but these are not one of its outputs and one of its inputs");
        }
      }
    }
    return {};
  }

  Result<void> CheckHazards() {
    std::vector<bool> is_written(graph_.tensors.size(), false);
    bool any = false;
    for (const Operator& op : graph_.operators) {
      for (const TensorIndex base : op.mutates) is_written[base] = any = true;
    }
    if (!any) return {};
    std::vector<Use> uses;
    std::vector<TensorIndex> bases;
    for (OperatorIndex v = 0; v < graph_.operators.size(); ++v) {
      const Operator& op = graph_.operators[v];
      BasesUsed(graph_, makers_, v, bases);
      for (const TensorIndex base : bases) {
        if (!is_written[base]) continue;
        uses.push_back(
            {base, v, std::find(op.mutates.begin(), op.mutates.end(), base) != op.mutates.end()});
      }
    }
    std::sort(uses.begin(), uses.end());
    return CheckPaths(PathsNeeded(uses));
  }

  // The paths between neighbouring uses of each base, as explained above, that are not edges.
  [[nodiscard]] std::vector<Path> PathsNeeded(const std::vector<Use>& uses) const {
    std::vector<std::pair<OpIndex, OpIndex>> edges;
    for (OperatorIndex v = 0; v < graph_.operators.size(); ++v) {
      ForEachPredecessor(graph_, makers_, v,
                         [&](OperatorIndex u) { edges.emplace_back(OpIndex(v), OpIndex(u)); });
    }
    const Lists<OpIndex, OpIndex> predecessors(graph_.operators.size(), edges);
    std::vector<Path> paths;
    const auto need = [&](const Use& from, const Use& to) {
      const auto before = predecessors[OpIndex(to.op)];
      const bool is_edge = std::binary_search(before.begin(), before.end(), OpIndex(from.op));
      if (!is_edge) paths.push_back({from.op, to.op, from.base, from.writes});
    };
    std::size_t last_write = uses.size();
    std::size_t first_since = 0;  // The first use after the last write, of the same base.
    for (std::size_t i = 0; i < uses.size(); ++i) {
      if (i == 0 || uses[i].base != uses[i - 1].base) {
        last_write = uses.size();
        first_since = i;
      }
      if (last_write != uses.size()) need(uses[last_write], uses[i]);
      if (uses[i].writes) {
        for (std::size_t j = first_since; j < i; ++j) need(uses[j], uses[i]);
        last_write = i;
        first_since = i + 1;
      }
    }
    return paths;
  }

  // Fails for the first path in program order that is missing.
  Result<void> CheckPaths(std::vector<Path> paths) {
    if (paths.empty()) return {};
    std::sort(paths.begin(), paths.end(), [](const Path& x, const Path& y) {
      return std::tie(x.to, x.from, x.base) < std::tie(y.to, y.from, y.base);
    });
    // One flag for each operator at the end of a path.
    std::vector<std::uint64_t> reaches(graph_.operators.size());
    for (std::size_t begin = 0; begin < paths.size();) {
      std::size_t end = begin;
      OperatorIndex low = paths[begin].from;
      int flags = 0;
      for (; end < paths.size(); ++end) {
        if (end == begin || paths[end].to != paths[end - 1].to) {
          if (flags == 64) break;
          ++flags;
        }
        low = std::min(low, paths[end].from);
      }
      const OperatorIndex high = paths[end - 1].to;
      std::fill(reaches.begin() + static_cast<std::ptrdiff_t>(low),
                reaches.begin() + static_cast<std::ptrdiff_t>(high) + 1, 0);
      int flag = -1;
      for (std::size_t i = begin; i < end; ++i) {
        if (i == begin || paths[i].to != paths[i - 1].to) {
          reaches[paths[i].to] |= std::uint64_t{1} << ++flag;
        }
      }
      for (OperatorIndex v = high + 1; v-- > low;) {
        if (reaches[v] == 0) continue;
        ForEachPredecessor(graph_, makers_, v, [&](OperatorIndex u) {
          if (u >= low) reaches[u] |= reaches[v];
        });
      }
      flag = -1;
      for (std::size_t i = begin; i < end; ++i) {
        if (i == begin || paths[i].to != paths[i - 1].to) ++flag;
        if ((reaches[paths[i].from] >> flag & 1) == 0) return Hazard(paths[i]);
      }
      begin = end;
    }
    return {};
  }

  [[nodiscard]] Result<void> Hazard(const Path& path) const {
    const OperatorIndex writer = path.from_write ? path.from : path.to;
    const OperatorIndex other = path.from_write ? path.to : path.from;
    return InvalidOp(writer, "writes " + Ten(path.base) + " in place, which " + Op(other) +
                                 " uses " + (path.from_write ? "later" : "earlier") +
                                 ", but no edge fixes their order; " + Op(path.to) +
                                 " must come after " + Op(path.from));
  }

  const Graph& graph_;
  std::vector<OperatorIndex> makers_;
  std::vector<std::size_t> sorted_;
};

}  // namespace
}  // namespace internal

std::string_view ToString(TensorKind kind) {
  switch (kind) {
    case TensorKind::kActivation:
      return "activation";
    case TensorKind::kGradient:
      return "gradient";
    case TensorKind::kInput:
      return "input";
    case TensorKind::kParameter:
      return "parameter";
    case TensorKind::kConstant:
      return "constant";
  }
  return "?";
}

Result<void> Validate(const Graph& graph) { return internal::GraphValidator(graph).Check(); }

}  // namespace berth
