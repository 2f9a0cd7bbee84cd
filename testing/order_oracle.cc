#include "testing/order_oracle.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "base/check.h"

namespace berth::internal {
namespace {

using Set = std::uint32_t;  // Of operators.

Set Bit(std::size_t v) { return Set{1} << v; }

// A base that counts, as sets of operators.
struct Base {
  Bytes bytes = 0;
  Set maker = 0;  // None: live from the start.
  Set users = 0;
  bool stays = false;
};

// The meaning of a graph, derived independently.
struct Meaning {
  std::vector<Set> before;  // The operators that must run before each operator.
  std::vector<Base> bases;

  Meaning(const Graph& graph, const Counting& counting) : before(graph.operators.size(), 0) {
    std::vector<Set> maker(graph.tensors.size(), 0);
    for (std::size_t v = 0; v < graph.operators.size(); ++v) {
      for (const TensorIndex t : graph.operators[v].outputs) maker[t] = Bit(v);
    }
    const auto base_of = [&](TensorIndex t) {
      return graph.tensors[t].alias_of ? *graph.tensors[t].alias_of : t;
    };
    std::vector<Base> all(graph.tensors.size());
    for (std::size_t v = 0; v < graph.operators.size(); ++v) {
      const Operator& op = graph.operators[v];
      for (const TensorIndex t : op.inputs) {
        before[v] |= maker[t];
        all[base_of(t)].users |= Bit(v);
      }
      for (const TensorIndex t : op.mutates) {
        before[v] |= maker[t];
        all[t].users |= Bit(v);
      }
      for (const TensorIndex t : op.outputs) all[base_of(t)].users |= Bit(v);
      for (const OperatorIndex u : op.after) before[v] |= Bit(u);
    }
    for (TensorIndex t = 0; t < graph.tensors.size(); ++t) {
      if (graph.tensors[t].output) all[base_of(t)].stays = true;
    }
    for (TensorIndex t = 0; t < graph.tensors.size(); ++t) {
      const Tensor& tensor = graph.tensors[t];
      if (tensor.alias_of) continue;
      Base base = all[t];
      base.bytes = tensor.bytes;
      base.maker = maker[t];
      const bool is_weight =
          tensor.kind == TensorKind::kParameter || tensor.kind == TensorKind::kConstant;
      if (is_weight && !counting.parameters) continue;
      if (tensor.kind == TensorKind::kInput && !counting.inputs) continue;
      if (is_weight) base.stays = true;
      if (tensor.kind == TensorKind::kInput && base.users == 0 && !base.stays) continue;
      bases.push_back(base);
    }
  }

  // Bytes live while `v` runs after `done` have.
  [[nodiscard]] Bytes During(Set done, std::size_t v) const {
    Bytes live = 0;
    for (const Base& base : bases) {
      const bool is_made = base.maker == 0 || (base.maker & (done | Bit(v))) != 0;
      const bool is_needed = base.stays || (base.users & ~done) != 0;
      if (is_made && is_needed) live += base.bytes;
    }
    return live;
  }
};

void TryAllOrders(const Meaning& meaning, Set done, Bytes peak, Order& order, OracleOrder& best) {
  const std::size_t n = meaning.before.size();
  if (peak >= best.peak) return;
  if (order.size() == n) {
    best = {order, peak};
    return;
  }
  for (std::size_t v = 0; v < n; ++v) {
    if ((done & Bit(v)) != 0 || (meaning.before[v] & ~done) != 0) continue;
    order.push_back(v);
    TryAllOrders(meaning, done | Bit(v), std::max(peak, meaning.During(done, v)), order, best);
    order.pop_back();
  }
}

// The live bytes of a graph without operators.
Bytes Idle(const Meaning& meaning) {
  Bytes live = 0;
  for (const Base& base : meaning.bases) live += base.stays ? base.bytes : 0;
  return live;
}

}  // namespace

OracleOrder OracleSchedule(const Graph& graph, const Counting& counting) {
  const std::size_t n = graph.operators.size();
  BERTH_CHECK(n <= 20);
  const Meaning meaning(graph, counting);
  if (n == 0) return {{}, Idle(meaning)};
  constexpr Bytes kUnreached = std::numeric_limits<Bytes>::max();
  std::vector<Bytes> peak(std::size_t{1} << n, kUnreached);
  std::vector<std::uint8_t> last(peak.size(), 0);
  peak[0] = 0;
  for (Set done = 0; done < peak.size(); ++done) {
    if (peak[done] == kUnreached) continue;
    for (std::size_t v = 0; v < n; ++v) {
      if ((done & Bit(v)) != 0 || (meaning.before[v] & ~done) != 0) continue;
      const Bytes through = std::max(peak[done], meaning.During(done, v));
      const Set next = done | Bit(v);
      if (through < peak[next]) {
        peak[next] = through;
        last[next] = static_cast<std::uint8_t>(v);
      }
    }
  }
  OracleOrder best{{}, peak.back()};
  for (Set done = static_cast<Set>(peak.size()) - 1; done != 0; done &= ~Bit(last[done])) {
    best.order.push_back(last[done]);
  }
  std::reverse(best.order.begin(), best.order.end());
  return best;
}

OracleOrder OracleScheduleByOrders(const Graph& graph, const Counting& counting) {
  const Meaning meaning(graph, counting);
  if (graph.operators.empty()) return {{}, Idle(meaning)};
  OracleOrder best{{}, std::numeric_limits<Bytes>::max()};
  Order order;
  TryAllOrders(meaning, 0, 0, order, best);
  return best;
}

}  // namespace berth::internal
