#include "tools/verify/verify_order.h"

#include <algorithm>
#include <map>
#include <set>

namespace berth::internal {
namespace {

// How an operator uses bytes; each base once.
struct Touches {
  std::set<TensorIndex> needs;  // Bases whose bytes it reads, through views or writes in place.
  std::set<TensorIndex> makes;
};

TensorIndex Base(const Graph& graph, TensorIndex tensor) {
  const auto& alias = graph.tensors[tensor].alias_of;
  return alias ? *alias : tensor;
}

std::vector<Touches> AllTouches(const Graph& graph) {
  std::vector<Touches> touches(graph.operators.size());
  for (std::size_t v = 0; v < graph.operators.size(); ++v) {
    const Operator& op = graph.operators[v];
    for (const TensorIndex t : op.outputs) {
      if (!graph.tensors[t].alias_of) touches[v].makes.insert(t);
    }
    const auto need = [&](TensorIndex t) {
      if (!touches[v].makes.contains(Base(graph, t))) touches[v].needs.insert(Base(graph, t));
    };
    for (const TensorIndex t : op.inputs) need(t);
    for (const TensorIndex t : op.mutates) need(t);
    for (const TensorIndex t : op.outputs) need(t);
  }
  return touches;
}

// For each operator and base that it needs, the last writer of the base when the operators run in
// `order`; the number of operators if there is none.
std::map<std::pair<OperatorIndex, TensorIndex>, OperatorIndex> Writers(
    const Graph& graph, const std::vector<Touches>& touches, const Order& order) {
  std::map<std::pair<OperatorIndex, TensorIndex>, OperatorIndex> found;
  std::vector<OperatorIndex> writer(graph.tensors.size(), graph.operators.size());
  for (const OperatorIndex v : order) {
    for (const TensorIndex base : touches[v].needs) found[{v, base}] = writer[base];
    for (const TensorIndex base : touches[v].makes) writer[base] = v;
    for (const TensorIndex base : graph.operators[v].mutates) writer[base] = v;
  }
  return found;
}

void MeasurePeak(const Graph& graph, const std::vector<Touches>& touches, const Order& order,
                 const Counting& counting, OrderReport& report) {
  const std::size_t tensors = graph.tensors.size();
  std::vector<std::size_t> uses(tensors, 0);
  for (const Touches& touch : touches) {
    for (const TensorIndex base : touch.needs) ++uses[base];
  }
  std::vector<bool> stays(tensors, false);
  for (std::size_t t = 0; t < tensors; ++t) {
    if (graph.tensors[t].output) stays[Base(graph, t)] = true;
  }
  std::vector<bool> counts(tensors, false);
  Bytes live = 0;
  for (std::size_t t = 0; t < tensors; ++t) {
    const Tensor& tensor = graph.tensors[t];
    if (tensor.alias_of) continue;
    const bool weight =
        tensor.kind == TensorKind::kParameter || tensor.kind == TensorKind::kConstant;
    const bool input = tensor.kind == TensorKind::kInput;
    if (weight) stays[t] = true;
    counts[t] = weight ? counting.parameters : !input || counting.inputs;
    if (counts[t] && (weight || (input && (stays[t] || uses[t] > 0)))) live += tensor.bytes;
  }
  report.peak = live;
  for (const OperatorIndex v : order) {
    for (const TensorIndex base : touches[v].makes) {
      if (counts[base]) live += graph.tensors[base].bytes;
    }
    if (live > report.peak) {
      report.peak = live;
      report.peak_step = report.live.size();
    }
    report.live.push_back(live);
    for (const TensorIndex base : touches[v].makes) {
      if (counts[base] && uses[base] == 0 && !stays[base]) live -= graph.tensors[base].bytes;
    }
    for (const TensorIndex base : touches[v].needs) {
      if (--uses[base] == 0 && counts[base] && !stays[base]) live -= graph.tensors[base].bytes;
    }
  }
}

std::string Quote(const std::string& name) { return "\"" + name + "\""; }

}  // namespace

OrderReport VerifyOrder(const Graph& graph, const Order& order, const Counting& counting,
                        std::size_t max_faults) {
  OrderReport report;
  const auto add = [&](const OrderFault& fault) {
    if (report.faults.size() < max_faults) {
      report.faults.push_back(fault);
    } else {
      ++report.more;
    }
  };
  const std::size_t n = graph.operators.size();
  std::vector<std::size_t> step(n, n);
  for (std::size_t s = 0; s < order.size(); ++s) {
    if (order[s] >= n) {
      add({OrderFaultKind::kUnknownOperator, order[s], 0, 0, s});
    } else if (step[order[s]] != n) {
      add({OrderFaultKind::kRepeated, order[s], 0, 0, s});
    } else {
      step[order[s]] = s;
    }
  }
  for (std::size_t v = 0; v < n; ++v) {
    if (step[v] == n) add({OrderFaultKind::kMissing, v, 0, 0, 0});
  }
  if (!report.ok()) return report;

  std::vector<OperatorIndex> maker(graph.tensors.size(), n);
  Order program_order;
  for (std::size_t v = 0; v < n; ++v) {
    program_order.push_back(v);
    for (const TensorIndex t : graph.operators[v].outputs) maker[t] = v;
  }
  const std::vector<Touches> touches = AllTouches(graph);
  const auto intended = Writers(graph, touches, program_order);
  const auto found = Writers(graph, touches, order);
  for (const OperatorIndex v : order) {
    const Operator& op = graph.operators[v];
    std::set<TensorIndex> needed(op.inputs.begin(), op.inputs.end());
    needed.insert(op.mutates.begin(), op.mutates.end());
    std::set<TensorIndex> unmade;
    for (const TensorIndex t : needed) {
      if (maker[t] == n || step[maker[t]] < step[v]) continue;
      add({OrderFaultKind::kNotMade, v, maker[t], t, step[v]});
      unmade.insert(Base(graph, t));
    }
    for (const OperatorIndex u : op.after) {
      if (step[u] > step[v]) add({OrderFaultKind::kTooEarly, v, u, 0, step[v]});
    }
    for (const TensorIndex base : touches[v].needs) {
      if (unmade.contains(base)) continue;
      const OperatorIndex writer = found.at({v, base});
      if (writer == intended.at({v, base})) continue;
      add({OrderFaultKind::kOtherBytes, v, writer, base, step[v]});
    }
  }
  MeasurePeak(graph, touches, order, counting, report);
  return report;
}

std::string Describe(const OrderFault& fault, const Graph& graph) {
  const auto op = [&](OperatorIndex v) { return "operator " + Quote(graph.operators[v].name); };
  const std::string at = " at step " + std::to_string(fault.step);
  switch (fault.kind) {
    case OrderFaultKind::kUnknownOperator:
      return "unknown: no operator has the number " + std::to_string(fault.op) + at;
    case OrderFaultKind::kRepeated:
      return "repeated: " + op(fault.op) + " appears again" + at;
    case OrderFaultKind::kMissing:
      return "missing: " + op(fault.op) + " is not in the order";
    case OrderFaultKind::kNotMade:
      return "not made: " + op(fault.op) + at + " needs tensor " +
             Quote(graph.tensors[fault.tensor].name) + ", made only later by " + op(fault.other);
    case OrderFaultKind::kTooEarly:
      return "too early: " + op(fault.op) + at + " must come after " + op(fault.other);
    case OrderFaultKind::kOtherBytes:
      return "other bytes: " + op(fault.op) + at + " reads tensor " +
             Quote(graph.tensors[fault.tensor].name) +
             (fault.other == graph.operators.size() ? " before it is written"
                                                    : " as written by " + op(fault.other)) +
             ", unlike in program order";
  }
  return {};
}

}  // namespace berth::internal
