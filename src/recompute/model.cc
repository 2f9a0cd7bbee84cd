#include "recompute/model.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "graph/edges.h"

namespace berth::internal::recompute {

void FindPrices(Model& model) {
  constexpr Storage kNone = std::numeric_limits<Storage>::max();
  const std::size_t n = model.num_operators();
  // Where the cost of each operator counts.
  std::vector<Storage> counts_at(n, kNone);
  for (OperatorIndex v = 0; v < n; ++v) {
    for (const Touch& touch : model.TouchesOf(static_cast<Op>(v))) {
      if (touch.finds == touch.leaves || touch.only_first) continue;
      const Storage old = counts_at[v];
      if (old == kNone || model.storages[touch.storage].size > model.storages[old].size) {
        counts_at[v] = touch.storage;
      }
    }
  }
  for (Storage s = 0; s < model.storages.size(); ++s) {
    StorageInfo& info = model.storages[s];
    if (info.given) continue;
    std::int64_t price = 0;
    bool again = true;
    for (std::size_t k = 0; k < info.chain.size(); ++k) {
      const Op v = info.chain[k];
      // What writes only when it first runs cannot give the later versions back.
      const auto touches = model.TouchesOf(v);
      const bool skips = std::any_of(touches.begin(), touches.end(), [&](const Touch& touch) {
        return touch.storage == s && touch.only_first;
      });
      again = again && model.may_repeat[v] != 0 && !skips;
      if (again) info.again = static_cast<std::int32_t>(k);
      if (counts_at[v] == s) price += model.cost[v];
      info.price.push_back(price);
    }
  }
}

namespace {

void FindNeighbours(const Graph& graph, Model& model) {
  const std::size_t n = model.num_operators();
  const std::vector<OperatorIndex> makers = Makers(graph);
  model.predecessors.resize(n);
  model.successors.resize(n);
  for (OperatorIndex v = 0; v < n; ++v) {
    std::vector<Op>& before = model.predecessors[v];
    ForEachPredecessor(graph, makers, v,
                       [&](OperatorIndex u) { before.push_back(static_cast<Op>(u)); });
    std::sort(before.begin(), before.end());
    before.erase(std::unique(before.begin(), before.end()), before.end());
    for (const Op u : before) model.successors[u].push_back(static_cast<Op>(v));
  }
}

// The size of a storage, whether it is a result, and what copies of it cost. `info.last` is known.
void Describe(const Tensor& tensor, bool counted, bool result, const std::optional<Link>& link,
              StorageInfo& info) {
  info.given = !IsMade(tensor.kind);
  if (counted) {
    info.size = tensor.bytes;
    info.padded = tensor.bytes + (tensor.alignment - 1);
  }
  // What is given and written in place is written back, if it is counted.
  info.result = result || (link && info.given && info.size > 0 && info.last > 0);
  if (!link) return;
  info.out_cost = link->Out(info.size);
  info.in_cost = link->In(info.size);
}

}  // namespace

Model Compile(const Graph& graph, const Counting& counting, const std::optional<Link>& link) {
  Model model;
  model.linked = link.has_value();
  const std::size_t n = graph.operators.size();
  const Versions versions = FindVersions(graph);
  const std::vector<bool> results = BasesOfOutputs(graph);
  constexpr Storage kNone = std::numeric_limits<Storage>::max();
  std::vector<Storage> storage_of(graph.tensors.size(), kNone);
  const auto is_throughout = [&](TensorIndex t) {
    const TensorKind kind = graph.tensors[t].kind;
    return !link && (kind == TensorKind::kParameter || kind == TensorKind::kConstant);
  };
  const auto add = [&](TensorIndex base) {
    if (storage_of[base] != kNone) return storage_of[base];
    storage_of[base] = static_cast<Storage>(model.storages.size());
    StorageInfo& info = model.storages.emplace_back();
    info.tensor = base;
    info.last = versions.last[base];
    const bool counted = IsCounted(graph.tensors[base], counting) && !is_throughout(base);
    Describe(graph.tensors[base], counted, results[base], link, info);
    return storage_of[base];
  };
  const OperatorCosts costs = CostsOf(graph);
  model.cost = costs.of;
  model.touches_begin.push_back(0);
  for (OperatorIndex v = 0; v < n; ++v) {
    model.may_repeat.push_back(MayRepeat(graph, v) ? 1 : 0);
    for (const internal::Touch& touch : versions.touches[v]) {
      const Storage s = add(touch.base);
      model.all_touches.push_back({s, touch.finds, touch.leaves, touch.only_first});
      if (touch.leaves != touch.finds) {
        model.storages[s].chain.push_back(static_cast<Op>(v));
      }
    }
    model.touches_begin.push_back(model.all_touches.size());
  }
  for (TensorIndex t = 0; t < graph.tensors.size(); ++t) {
    if (!IsCounted(graph.tensors[t], counting) || IsMade(graph.tensors[t].kind)) continue;
    const bool unused = !link && storage_of[t] == kNone && results[t];
    if (!is_throughout(t) && !unused) continue;
    model.throughout.push_back(t);
    model.always_live += graph.tensors[t].bytes;
  }
  FindPrices(model);
  FindNeighbours(graph, model);
  for (Storage s = 0; link && s < model.storages.size(); ++s) {
    const StorageInfo& info = model.storages[s];
    model.cost.push_back(info.in_cost + info.OutCost(0));
    model.touches_begin.push_back(model.all_touches.size());
  }
  return model;
}

}  // namespace berth::internal::recompute
