// Outputs written over inputs, where that is safe in every order.
//
// An operator v that may write its output y over its input x does so if every other operator that
// touches the bytes of x has to come before v anyway: then no operator needs the old bytes after v,
// and all users of y come after v, since they read it. Both tensors have the same number of bytes,
// so the tensor that replaces the two is never larger than either while that one is live, and at v
// itself it counts once instead of twice: no order has a higher peak.

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "base/arithmetic.h"
#include "berth/graph.h"
#include "graph/edges.h"

namespace berth {
namespace internal {
namespace {

class Reuser {
 public:
  explicit Reuser(Graph graph)
      : graph_(std::move(graph)),
        makers_(Makers(graph_)),
        is_output_(BasesOfOutputs(graph_)),
        users_(graph_.tensors.size()),
        views_(graph_.tensors.size()),
        seen_(graph_.operators.size(), kNoOperator) {
    std::vector<TensorIndex> bases;
    for (OperatorIndex v = 0; v < graph_.operators.size(); ++v) {
      BasesUsed(graph_, makers_, v, bases);
      for (const TensorIndex base : bases) users_[base].push_back(v);
    }
    for (TensorIndex t = 0; t < graph_.tensors.size(); ++t) {
      if (graph_.tensors[t].alias_of) views_[*graph_.tensors[t].alias_of].push_back(t);
    }
  }

  Graph Run() {
    for (OperatorIndex v = 0; v < graph_.operators.size(); ++v) {
      const std::vector<Overwrite> pairs = graph_.operators[v].may_overwrite;
      for (const Overwrite& pair : pairs) {
        if (IsSafe(v, pair)) Merge(v, pair);
      }
    }
    return std::move(graph_);
  }

 private:
  [[nodiscard]] bool IsSafe(OperatorIndex v, const Overwrite& pair) {
    const TensorIndex base = BaseOf(graph_, pair.input);
    const Tensor& old = graph_.tensors[base];
    const Tensor& made = graph_.tensors[pair.output];
    if (made.alias_of || made.bytes == 0 || made.bytes != old.bytes) return false;
    if (graph_.tensors[pair.input].bytes != old.bytes) return false;  // Covers only a part of it.
    if (makers_[base] == kNoOperator || makers_[base] == v || is_output_[base]) return false;
    // The larger alignment serves both only if it is a multiple of the other.
    if (std::max(old.alignment, made.alignment) % std::min(old.alignment, made.alignment) != 0) {
      return false;
    }
    // No other output of v may lie in the same bytes.
    for (const TensorIndex t : graph_.operators[v].outputs) {
      if (BaseOf(graph_, t) == base) return false;
    }
    return WaitsForAllOthers(v, base);
  }

  // Whether `v` waits for every other user of `base`.
  [[nodiscard]] bool WaitsForAllOthers(OperatorIndex v, TensorIndex base) {
    const std::vector<OperatorIndex>& users = users_[base];
    if (users.back() != v) return false;  // A user later in program order cannot come before v.
    if (users.size() == 1) return true;
    std::size_t missing = users.size() - 1;
    const OperatorIndex low = users.front();
    stack_ = {v};
    seen_[v] = v;
    while (!stack_.empty() && missing > 0) {
      const OperatorIndex w = stack_.back();
      stack_.pop_back();
      ForEachPredecessor(graph_, makers_, w, [&](OperatorIndex u) {
        if (u < low || seen_[u] == v) return;
        seen_[u] = v;
        if (std::binary_search(users.begin(), users.end(), u)) --missing;
        stack_.push_back(u);
      });
    }
    // The marks hold for one base only.
    std::fill(seen_.begin() + static_cast<std::ptrdiff_t>(low),
              seen_.begin() + static_cast<std::ptrdiff_t>(v) + 1, kNoOperator);
    return missing == 0;
  }

  void Merge(OperatorIndex v, const Overwrite& pair) {
    const TensorIndex base = BaseOf(graph_, pair.input);
    const TensorIndex gone = pair.output;
    Tensor& tensor = graph_.tensors[gone];
    graph_.tensors[base].alignment = std::max(graph_.tensors[base].alignment, tensor.alignment);
    tensor.alignment = 1;
    tensor.alias_of = base;
    if (is_output_[gone]) is_output_[base] = true;
    is_output_[gone] = false;
    std::vector<TensorIndex>& written = graph_.operators[v].mutates;
    if (std::find(written.begin(), written.end(), base) == written.end()) written.push_back(base);
    for (const TensorIndex view : views_[gone]) graph_.tensors[view].alias_of = base;
    views_[base].push_back(gone);
    views_[base].insert(views_[base].end(), views_[gone].begin(), views_[gone].end());
    views_[gone].clear();
    for (const OperatorIndex u : users_[gone]) {
      std::vector<TensorIndex>& mutates = graph_.operators[u].mutates;
      const auto found = std::find(mutates.begin(), mutates.end(), gone);
      if (found == mutates.end()) continue;
      *found = base;
      // Writing `gone` implied that u comes after v; writing the base does not.
      std::vector<OperatorIndex>& after = graph_.operators[u].after;
      if (std::find(after.begin(), after.end(), v) == after.end()) after.push_back(v);
    }
    users_[base].insert(users_[base].end(), users_[gone].begin(), users_[gone].end());
    users_[gone].clear();
  }

  Graph graph_;
  std::vector<OperatorIndex> makers_;
  std::vector<bool> is_output_;
  std::vector<std::vector<OperatorIndex>> users_;  // Of each base, without its maker; increasing.
  std::vector<std::vector<TensorIndex>> views_;    // Of each base.
  std::vector<OperatorIndex> seen_;
  std::vector<OperatorIndex> stack_;
};

}  // namespace
}  // namespace internal

Graph Aligned(Graph graph, Bytes alignment) {
  if (alignment == 1) return graph;
  for (Operator& op : graph.operators) {
    std::erase_if(op.may_overwrite, [&](const Overwrite& pair) {
      return graph.tensors[BaseOf(graph, pair.input)].bytes !=
             graph.tensors[BaseOf(graph, pair.output)].bytes;
    });
  }
  for (Tensor& tensor : graph.tensors) {
    if (tensor.alias_of) continue;
    const Bytes both = alignment / std::gcd(alignment, tensor.alignment);
    // Too large for any graph: Validate() says so.
    tensor.alignment = internal::CheckedMul(tensor.alignment, both).value_or(kMaxBytes + 1);
    if (tensor.alignment > kMaxBytes) return graph;
    // Weights are only looked at: what they take is what they hold.
    const bool weight =
        tensor.kind == TensorKind::kParameter || tensor.kind == TensorKind::kConstant;
    if (!weight) tensor.bytes = internal::RoundUp(tensor.bytes, tensor.alignment);
  }
  return graph;
}

Graph ReuseInPlace(Graph graph) { return internal::Reuser(std::move(graph)).Run(); }

}  // namespace berth
