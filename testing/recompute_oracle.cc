#include "testing/recompute_oracle.h"

#include <algorithm>
#include <array>
#include <bitset>
#include <cstdlib>
#include <functional>
#include <map>
#include <queue>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace berth::internal {
namespace {

bool Has(const std::vector<TensorIndex>& list, TensorIndex t) {
  return std::find(list.begin(), list.end(), t) != list.end();
}

constexpr std::size_t kMost = 64;  // Operators, and tensors.

struct State {
  std::bitset<kMost> ran;  // Operators.
  // By tensor: of a result, its last value has gone out; if given, it has come in.
  std::bitset<kMost> paid_for;
  // By tensor, the number of writes that its bytes have seen; -1: it is not there.
  std::array<std::int8_t, kMost> versions;  // In memory.
  std::array<std::int8_t, kMost> copies;    // Off chip.
  friend bool operator==(const State&, const State&) = default;
};

struct HashOfState {
  std::size_t operator()(const State& state) const {
    std::size_t hash = state.ran.to_ullong() * 31 + state.paid_for.to_ullong();
    for (const auto* const list : {&state.versions, &state.copies}) {
      const std::string_view text(reinterpret_cast<const char*>(list->data()), list->size());
      hash = hash * 0x9e3779b97f4a7c15u + std::hash<std::string_view>()(text);
    }
    return hash;
  }
};

}  // namespace

std::optional<std::int64_t> OracleRecomputation(const Graph& graph, Bytes capacity,
                                                const Counting& counting, const Order* order,
                                                const Link* link) {
  const std::size_t n = graph.operators.size();
  const std::size_t m = graph.tensors.size();
  if (n > kMost || m > kMost) std::abort();
  // What each operator finds in program order.
  std::vector<int> writes(m, 0);
  std::vector<std::map<TensorIndex, int>> finds(n);
  std::vector<std::vector<TensorIndex>> makes(n);
  std::vector<TensorIndex> made_by(m, n);
  for (OperatorIndex v = 0; v < n; ++v) {
    const Operator& op = graph.operators[v];
    for (const TensorIndex t : op.outputs) {
      made_by[t] = v;
      if (!graph.tensors[t].alias_of) makes[v].push_back(t);
    }
    const auto touch = [&](TensorIndex t) {
      const TensorIndex base = BaseOf(graph, t);
      if (!Has(makes[v], base)) finds[v].emplace(base, writes[base]);
    };
    for (const TensorIndex t : op.inputs) touch(t);
    for (const TensorIndex t : op.outputs) touch(t);
    for (const TensorIndex t : op.mutates) touch(t);
    for (const TensorIndex t : op.mutates) ++writes[t];
  }
  std::vector<bool> result(m, false);
  for (TensorIndex t = 0; t < m; ++t) {
    if (graph.tensors[t].output) result[BaseOf(graph, t)] = true;
  }
  const auto given = [&](TensorIndex t) {
    const TensorKind kind = graph.tensors[t].kind;
    return kind != TensorKind::kActivation && kind != TensorKind::kGradient;
  };
  const auto may_copy = [&](TensorIndex t) {
    return link != nullptr && !graph.tensors[t].alias_of && graph.tensors[t].bytes > 0 &&
           TakesPart(graph.tensors[t], counting);
  };
  for (TensorIndex t = 0; t < m; ++t) {
    if (may_copy(t) && given(t) && writes[t] > 0) result[t] = true;
  }
  const auto throughout = [&](TensorIndex t) {
    const TensorKind kind = graph.tensors[t].kind;
    if (link != nullptr) return false;
    return kind == TensorKind::kParameter || kind == TensorKind::kConstant;
  };
  const auto may_repeat = [&](OperatorIndex v) {
    const Operator& op = graph.operators[v];
    if (op.repeat != Repeat::kByType) return op.repeat == Repeat::kPure;
    return !op.update && !op.random &&
           std::none_of(op.mutates.begin(), op.mutates.end(),
                        [&](TensorIndex t) { return given(t) && !Has(op.skips, t); });
  };
  bool costs = false;
  for (const Operator& op : graph.operators) costs = costs || op.cost;
  const auto cost_of = [&](OperatorIndex v) {
    const Operator& op = graph.operators[v];
    if (costs) return op.cost.value_or(0);
    Bytes bytes = 0;
    for (const TensorIndex t : op.inputs) bytes += graph.tensors[t].bytes;
    for (const TensorIndex t : op.outputs) {
      if (!graph.tensors[t].alias_of) bytes += graph.tensors[t].bytes;
    }
    for (const TensorIndex t : op.mutates) bytes += graph.tensors[t].bytes;
    return bytes;
  };
  // Bytes in memory. Results, parameters and what is given count as Live() counts them.
  const auto used_at_all = [&](TensorIndex t) {
    for (OperatorIndex v = 0; v < n; ++v) {
      if (finds[v].contains(t)) return true;
    }
    return false;
  };
  const auto bytes_in = [&](const std::array<std::int8_t, kMost>& versions) {
    Bytes bytes = 0;
    for (TensorIndex t = 0; t < m; ++t) {
      if (!TakesPart(graph.tensors[t], counting)) continue;
      const bool kept = link == nullptr && given(t) && result[t] && !used_at_all(t);
      const bool always = throughout(t) || kept;
      if (always || (versions[t] >= 0 && !(given(t) && !used_at_all(t)))) {
        bytes += graph.tensors[t].bytes;
      }
    }
    return bytes;
  };

  State first{};
  first.versions.fill(-1);
  first.copies.fill(-1);
  for (TensorIndex t = 0; t < m; ++t) {
    if (graph.tensors[t].alias_of || !given(t)) continue;
    (may_copy(t) ? first.copies : first.versions)[t] = 0;
  }
  std::unordered_map<State, std::int64_t, HashOfState> known;
  // The cost of a state when it was reached, and the state in `known`.
  using Entry = std::pair<std::int64_t, const State*>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
  const auto reach = [&](const State& state, std::int64_t cost) {
    const auto [it, is_new] = known.emplace(state, cost);
    if (!is_new && it->second <= cost) return;
    it->second = cost;
    queue.emplace(cost, &it->first);
  };
  // Each of `touched`, which an operator has used, from number `i` on stays, is dropped, or is written out
  // and dropped. A stay that ends has no need to last longer than through its last use.
  const std::function<void(const State&, std::int64_t, const std::vector<TensorIndex>&,
                           std::size_t)>
      leave = [&](const State& state, std::int64_t cost, const std::vector<TensorIndex>& touched,
                  std::size_t i) {
        if (i == touched.size()) return reach(state, cost);
        const TensorIndex t = touched[i];
        leave(state, cost, touched, i + 1);
        State next = state;
        next.versions[t] = -1;
        leave(next, cost, touched, i + 1);
        if (!may_copy(t) || state.copies[t] == state.versions[t]) return;
        next.copies[t] = state.versions[t];
        const bool final = result[t] && state.versions[t] == writes[t];
        // What is given and written runs once: its last value goes out once.
        const bool free = final && (given(t) || !state.paid_for[t]);
        if (final && !given(t)) next.paid_for[t] = true;
        leave(next, cost + (free ? 0 : link->Out(graph.tensors[t].bytes)), touched, i + 1);
      };
  reach(first, 0);
  while (!queue.empty()) {
    const std::int64_t cost = queue.top().first;
    const State& state = *queue.top().second;
    queue.pop();
    if (known[state] < cost) continue;
    const auto& ran = state.ran;
    const auto& versions = state.versions;
    bool done = ran.count() == n;
    for (TensorIndex t = 0; t < m && done; ++t) {
      if (graph.tensors[t].alias_of || !result[t]) continue;
      done = versions[t] == writes[t] || (may_copy(t) && state.copies[t] == writes[t]) ||
             (may_copy(t) && given(t) && !used_at_all(t));
    }
    if (done) return cost;
    for (OperatorIndex v = 0; v < n; ++v) {
      const bool again = ran[v];
      if (again && !may_repeat(v)) continue;
      const Operator& op = graph.operators[v];
      bool ready = true;
      if (!again) {
        for (const TensorIndex t : op.inputs) ready = ready && (made_by[t] == n || ran[made_by[t]]);
        for (const TensorIndex t : op.mutates) {
          ready = ready && (made_by[t] == n || ran[made_by[t]]);
        }
        for (const OperatorIndex u : op.after) ready = ready && ran[u];
        for (std::size_t i = 0; order != nullptr && (*order)[i] != v; ++i) {
          ready = ready && ran[(*order)[i]];
        }
      }
      State next = state;
      next.ran[v] = true;
      std::int64_t copies = 0;
      for (const auto& [t, version] : finds[v]) {
        if (again && Has(op.skips, t)) continue;
        if (may_copy(t) && versions[t] == -1 && state.copies[t] == version) {
          next.versions[t] = state.copies[t];
          const bool free = given(t) && !state.paid_for[t];
          if (given(t)) next.paid_for[t] = true;
          if (!free) copies += link->In(graph.tensors[t].bytes);
        }
        ready = ready && next.versions[t] == version;
        if (Has(op.mutates, t)) ++next.versions[t];
      }
      for (const TensorIndex t : makes[v]) next.versions[t] = 0;
      if (!ready || bytes_in(next.versions) > capacity) continue;
      std::vector<TensorIndex> touched = makes[v];
      for (const auto& [t, version] : finds[v]) {
        if (!again || !Has(op.skips, t)) touched.push_back(t);
      }
      leave(next, cost + copies + (again ? cost_of(v) : 0), touched, 0);
    }
  }
  return std::nullopt;
}

}  // namespace berth::internal
