// Orders, and the live bytes when the operators run in one.

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/arithmetic.h"
#include "base/check.h"
#include "base/text.h"
#include "berth/graph.h"
#include "graph/edges.h"
#include "graph/plan.h"
#include "graph/topology.h"

namespace berth {

namespace {

std::string Named(const Graph& graph, OperatorIndex v) {
  return "operator " + internal::Quoted(graph.operators[v].name);
}

// The position of each operator in the order.
std::vector<std::size_t> PositionsOf(const Order& order) {
  std::vector<std::size_t> positions(order.size());
  for (std::size_t s = 0; s < order.size(); ++s) positions[order[s]] = s;
  return positions;
}

}  // namespace

namespace internal {
namespace {

Result<void> CheckSequence(const Graph& graph, const Order& order, bool may_repeat) {
  const std::size_t n = graph.operators.size();
  const auto invalid = [&graph](OperatorIndex v, const std::string& fault) {
    return Fail(ErrorCode::kInvalidPlan, Named(graph, v) + fault, Subject::OfOperator(v));
  };
  std::vector<std::size_t> positions(n, order.size());  // Of first executions.
  for (std::size_t s = 0; s < order.size(); ++s) {
    const OperatorIndex v = order[s];
    if (v >= n) {
      return Fail(ErrorCode::kInvalidPlan, "the order has the operator number " +
                                               std::to_string(v) + " but the graph has " +
                                               std::to_string(n) + " operators");
    }
    if (positions[v] == order.size()) {
      positions[v] = s;
      continue;
    }
    if (!may_repeat) {
      return invalid(v, " comes twice in the order, at steps " + std::to_string(positions[v]) +
                            " and " + std::to_string(s));
    }
    if (!MayRepeat(graph, v)) {
      return invalid(v, " runs again at step " + std::to_string(s) + ", after step " +
                            std::to_string(positions[v]) + ", but may run only once");
    }
  }
  for (OperatorIndex v = 0; v < n; ++v) {
    if (positions[v] == order.size()) return invalid(v, " is missing in the order");
  }
  const std::vector<OperatorIndex> makers = Makers(graph);
  for (std::size_t s = 0; s < order.size(); ++s) {
    const OperatorIndex v = order[s];
    if (positions[v] != s) continue;
    OperatorIndex late = kNoOperator;
    ForEachPredecessor(graph, makers, v, [&](OperatorIndex u) {
      if (late == kNoOperator && positions[u] > s) late = u;
    });
    if (late != kNoOperator) {
      return invalid(v, " runs at step " + std::to_string(s) + ", before " + Named(graph, late) +
                            ", which it waits for, at step " + std::to_string(positions[late]));
    }
  }
  return {};
}

}  // namespace

Result<void> ValidateSequence(const Graph& graph, const Order& order) {
  return CheckSequence(graph, order, /*may_repeat=*/true);
}

std::optional<Recomputed> RecomputedOf(const Graph& graph, const Order& order) {
  Recomputed recomputed;
  if (order.size() <= graph.operators.size()) return recomputed;
  const OperatorCosts costs = CostsOf(graph);
  std::vector<bool> has_run(graph.operators.size(), false);
  for (const OperatorIndex v : order) {
    if (has_run[v]) {
      const auto cost = CheckedAdd(recomputed.cost, costs.of[v]);
      if (!cost) return std::nullopt;
      recomputed.cost = *cost;
      ++recomputed.operators;
    }
    has_run[v] = true;
  }
  return recomputed;
}

}  // namespace internal

Order ProgramOrder(const Graph& graph) {
  Order order(graph.operators.size());
  std::iota(order.begin(), order.end(), OperatorIndex{0});
  return order;
}

Order FirstExecutions(const Graph& graph, const Order& order) {
  Order first;
  first.reserve(graph.operators.size());
  std::vector<bool> has_run(graph.operators.size(), false);
  for (const OperatorIndex v : order) {
    if (!has_run[v]) first.push_back(v);
    has_run[v] = true;
  }
  return first;
}

Graph Reordered(const Graph& graph, const Order& order) {
  BERTH_CHECK(order.size() == graph.operators.size());
  const std::vector<std::size_t> positions = PositionsOf(order);
  Graph reordered;
  reordered.name = graph.name;
  reordered.tensors = graph.tensors;
  reordered.operators.reserve(order.size());
  for (const OperatorIndex v : order) {
    reordered.operators.push_back(graph.operators[v]);
    for (OperatorIndex& u : reordered.operators.back().after) u = positions[u];
  }
  return reordered;
}

Result<void> ValidateOrder(const Graph& graph, const Order& order) {
  return internal::CheckSequence(graph, order, /*may_repeat=*/false);
}

TensorCount CountTensors(const Graph& graph, const Counting& counting) {
  TensorCount count;
  for (const Tensor& tensor : graph.tensors) {
    if (!TakesPart(tensor, counting)) continue;
    ++count.tensors;
    if (!tensor.unplanned.empty()) ++count.unsized;
  }
  return count;
}

namespace internal {

std::vector<Residency> Lifetimes(const Graph& graph, const Order& order, const Counting& counting) {
  BERTH_CHECK(order.size() == graph.operators.size());
  const std::vector<std::size_t> positions = PositionsOf(order);
  const std::vector<OperatorIndex> makers = Makers(graph);
  const std::vector<bool> is_output = BasesOfOutputs(graph);
  const std::size_t steps = std::max<std::size_t>(order.size(), 1);

  // The lifetime of each base; `end` is 0 for a base that is not used.
  std::vector<std::size_t> first(graph.tensors.size(), 0);
  std::vector<std::size_t> end(graph.tensors.size(), 0);
  std::vector<TensorIndex> bases;
  for (OperatorIndex v = 0; v < graph.operators.size(); ++v) {
    for (const TensorIndex t : graph.operators[v].outputs) {
      if (graph.tensors[t].alias_of) continue;
      first[t] = positions[v];
      end[t] = std::max(end[t], positions[v] + 1);
    }
    BasesUsed(graph, makers, v, bases);
    for (const TensorIndex base : bases) end[base] = std::max(end[base], positions[v] + 1);
  }

  std::vector<Residency> lifetimes;
  lifetimes.reserve(graph.tensors.size());
  for (TensorIndex t = 0; t < graph.tensors.size(); ++t) {
    const Tensor& tensor = graph.tensors[t];
    if (!IsCounted(tensor, counting)) continue;
    const bool throughout =
        tensor.kind == TensorKind::kParameter || tensor.kind == TensorKind::kConstant;
    if (is_output[t] || throughout) end[t] = steps;
    if (end[t] == 0) continue;  // An input that is not used.
    lifetimes.push_back({t, static_cast<Step>(first[t]), static_cast<Step>(end[t])});
  }
  return lifetimes;
}

}  // namespace internal

Liveness Live(const Graph& graph, const Order& order, const Counting& counting) {
  const std::size_t steps = std::max<std::size_t>(order.size(), 1);
  const std::vector<Residency> lifetimes = internal::Lifetimes(graph, order, counting);
  Liveness liveness;
  liveness.problem.buffers.reserve(lifetimes.size());
  liveness.tensors.reserve(lifetimes.size());
  std::vector<Bytes> change(steps + 1, 0);
  for (const Residency& lifetime : lifetimes) {
    const Tensor& tensor = graph.tensors[lifetime.tensor];
    liveness.problem.buffers.push_back(
        {tensor.name, lifetime.start, lifetime.end, tensor.bytes, tensor.alignment});
    liveness.tensors.push_back(lifetime.tensor);
    change[static_cast<std::size_t>(lifetime.start)] += tensor.bytes;
    change[static_cast<std::size_t>(lifetime.end)] -= tensor.bytes;
  }
  liveness.live.resize(steps);
  Bytes live = 0;
  for (std::size_t s = 0; s < steps; ++s) {
    live += change[s];
    liveness.live[s] = live;
    if (live > liveness.peak) {
      liveness.peak = live;
      liveness.peak_step = static_cast<Step>(s);
    }
  }
  return liveness;
}

namespace internal {

Topology Compile(const Graph& graph, const Counting& counting) {
  Topology topology;
  const std::size_t n = graph.operators.size();
  topology.num_operators = n;
  const std::vector<OperatorIndex> makers = Makers(graph);
  const std::vector<bool> is_output = BasesOfOutputs(graph);

  std::vector<std::pair<OpIndex, OpIndex>> before;
  std::vector<std::pair<OpIndex, OpIndex>> after;
  std::vector<bool> is_used(graph.tensors.size(), false);
  std::vector<TensorIndex> bases;
  for (OperatorIndex v = 0; v < n; ++v) {
    ForEachPredecessor(graph, makers, v, [&](OperatorIndex u) {
      before.emplace_back(OpIndex(v), OpIndex(u));
      after.emplace_back(OpIndex(u), OpIndex(v));
    });
    BasesUsed(graph, makers, v, bases);
    for (const TensorIndex base : bases) is_used[base] = true;
  }
  topology.predecessors = Lists<OpIndex, OpIndex>(n, before);
  topology.successors = Lists<OpIndex, OpIndex>(n, after);

  std::vector<std::int32_t> storage_of(graph.tensors.size(), -1);
  std::vector<std::pair<OpIndex, StorageIndex>> made;
  for (TensorIndex t = 0; t < graph.tensors.size(); ++t) {
    const Tensor& tensor = graph.tensors[t];
    if (!IsCounted(tensor, counting)) continue;
    const bool is_made = makers[t] != kNoOperator;
    if (!is_made && (is_output[t] || tensor.kind != TensorKind::kInput)) {
      topology.always_live += tensor.bytes;
      continue;
    }
    if (!is_made && !is_used[t]) continue;
    const StorageIndex storage(topology.storages.size());
    storage_of[t] = storage.value();
    topology.storages.push_back(
        {t, tensor.bytes, is_made ? OpIndex(makers[t]) : OpIndex(-1), is_output[t]});
    if (is_made) made.emplace_back(OpIndex(makers[t]), storage);
  }
  topology.made = Lists<OpIndex, StorageIndex>(n, made);

  std::vector<std::pair<OpIndex, StorageIndex>> used;
  std::vector<std::pair<StorageIndex, OpIndex>> users;
  for (OperatorIndex v = 0; v < n; ++v) {
    BasesUsed(graph, makers, v, bases);
    for (const TensorIndex base : bases) {
      if (storage_of[base] < 0) continue;
      used.emplace_back(OpIndex(v), StorageIndex(storage_of[base]));
      users.emplace_back(StorageIndex(storage_of[base]), OpIndex(v));
    }
  }
  topology.used = Lists<OpIndex, StorageIndex>(n, used);
  topology.users = Lists<StorageIndex, OpIndex>(topology.storages.size(), users);
  return topology;
}

Bytes PeakOf(const Topology& topology, std::span<const OpIndex> order) {
  std::vector<std::size_t> uses_left(topology.storages.size());
  Bytes live = topology.always_live;
  for (const StorageIndex s : topology.storages.indices()) {
    uses_left[s.position()] = topology.users[s].size();
    if (topology.storages[s].creator.value() < 0) live += topology.storages[s].size;
  }
  Bytes peak = live;
  for (const OpIndex v : order) {
    for (const StorageIndex s : topology.made[v]) live += topology.storages[s].size;
    peak = std::max(peak, live);
    const auto release = [&](StorageIndex s) {
      if (!topology.storages[s].to_end) live -= topology.storages[s].size;
    };
    for (const StorageIndex s : topology.made[v]) {
      if (uses_left[s.position()] == 0) release(s);
    }
    for (const StorageIndex s : topology.used[v]) {
      if (--uses_left[s.position()] == 0) release(s);
    }
  }
  return peak;
}

}  // namespace internal
}  // namespace berth
