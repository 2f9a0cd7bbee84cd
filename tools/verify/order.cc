#include "tools/verify/order.h"

#include <set>
#include <vector>

namespace berth::verify {
namespace {

// Where the bases that each operator needs stand in a list of all of them, one operator after the
// other.
std::vector<std::size_t> NeedsBegin(const std::vector<Touches>& touches) {
  std::vector<std::size_t> begin = {0};
  begin.reserve(touches.size() + 1);
  for (const Touches& touch : touches) begin.push_back(begin.back() + touch.needs.size());
  return begin;
}

// For each base in that list, the operator that wrote it last when they run in `order`; kNone before
// any write.
std::vector<OperatorIndex> WritersIn(const Graph& graph, const std::vector<Touches>& touches,
                                     const std::vector<std::size_t>& begin, const Order& order) {
  std::vector<OperatorIndex> found(begin.back());
  std::vector<OperatorIndex> writer(graph.tensors.size(), kNone);
  for (const OperatorIndex v : order) {
    std::size_t next = begin[v];
    for (const TensorIndex base : touches[v].needs) found[next++] = writer[base];
    for (const TensorIndex base : touches[v].writes) writer[base] = v;
  }
  return found;
}

Fault OrderFault(FaultKind kind, OperatorIndex op, std::size_t step) {
  Fault fault;
  fault.kind = kind;
  fault.op = op;
  fault.start = static_cast<Step>(step);
  return fault;
}

// The step of each operator; an empty list if they do not each come once.
std::vector<std::size_t> StepsOf(const Graph& graph, const Order& order, Collector& collector) {
  const std::size_t n = graph.operators.size();
  std::vector<std::size_t> step(n, kNone);
  bool each_once = true;
  const auto add = [&](FaultKind kind, OperatorIndex op, std::size_t s) {
    collector.Add(OrderFault(kind, op, s));
    each_once = false;
  };
  for (std::size_t s = 0; s < order.size(); ++s) {
    if (order[s] >= n) {
      add(FaultKind::kUnknownOperator, order[s], s);
    } else if (step[order[s]] != kNone) {
      add(FaultKind::kRepeated, order[s], s);
    } else {
      step[order[s]] = s;
    }
  }
  for (std::size_t v = 0; v < n; ++v) {
    if (step[v] == kNone) add(FaultKind::kMissing, v, 0);
  }
  return each_once ? step : std::vector<std::size_t>();
}

// The least bytes live at each step.
void MeasureLive(const Graph& graph, const std::vector<Touches>& touches, const Order& order,
                 const Counting& counting, PlanReport& report) {
  const std::size_t tensors = graph.tensors.size();
  std::vector<std::size_t> uses(tensors, 0);
  for (const Touches& touch : touches) {
    for (const TensorIndex base : touch.needs) ++uses[base];
  }
  std::vector<bool> stays = Results(graph);
  std::vector<Bytes> counted(tensors, 0);
  Bytes live = 0;
  for (std::size_t t = 0; t < tensors; ++t) {
    const Tensor& tensor = graph.tensors[t];
    if (!Counts(tensor, counting)) continue;
    counted[t] = tensor.bytes;
    if (IsWeight(tensor)) stays[t] = true;
    const bool given = IsWeight(tensor) || tensor.kind == TensorKind::kInput;
    if (given && (stays[t] || uses[t] > 0)) live += tensor.bytes;
  }
  report.peak = live;
  for (const OperatorIndex v : order) {
    for (const TensorIndex base : touches[v].makes) live += counted[base];
    if (live > report.peak) {
      report.peak = live;
      report.peak_step = static_cast<Step>(report.live.size());
    }
    report.live.push_back(live);
    for (const TensorIndex base : touches[v].makes) {
      if (uses[base] == 0 && !stays[base]) live -= counted[base];
    }
    for (const TensorIndex base : touches[v].needs) {
      if (--uses[base] == 0 && !stays[base]) live -= counted[base];
    }
  }
}

}  // namespace

bool CheckOrder(const Graph& graph, const std::vector<Touches>& touches, const Order& order,
                Collector& collector) {
  const std::vector<std::size_t> step = StepsOf(graph, order, collector);
  const std::size_t n = graph.operators.size();
  if (step.size() != n) return false;

  std::vector<OperatorIndex> maker(graph.tensors.size(), kNone);
  Order program_order;
  for (OperatorIndex v = 0; v < n; ++v) {
    program_order.push_back(v);
    for (const TensorIndex t : graph.operators[v].outputs) maker[t] = v;
  }
  const std::vector<std::size_t> begin = NeedsBegin(touches);
  const std::vector<OperatorIndex> intended = WritersIn(graph, touches, begin, program_order);
  const std::vector<OperatorIndex> found = WritersIn(graph, touches, begin, order);
  for (const OperatorIndex v : order) {
    const Operator& op = graph.operators[v];
    const auto add = [&](FaultKind kind, OperatorIndex other, TensorIndex tensor) {
      Fault fault = OrderFault(kind, v, step[v]);
      fault.other_op = other;
      fault.tensor = tensor;
      collector.Add(fault);
    };
    std::set<TensorIndex> needed(op.inputs.begin(), op.inputs.end());
    needed.insert(op.mutates.begin(), op.mutates.end());
    std::set<TensorIndex> unmade;
    for (const TensorIndex t : needed) {
      if (maker[t] == kNone || step[maker[t]] < step[v]) continue;
      add(FaultKind::kNotMade, maker[t], t);
      unmade.insert(BaseIn(graph, t));
    }
    for (const OperatorIndex u : op.after) {
      if (step[u] > step[v]) add(FaultKind::kTooEarly, u, kNone);
    }
    std::size_t next = begin[v];
    for (const TensorIndex base : touches[v].needs) {
      const std::size_t here = next++;
      if (unmade.contains(base) || found[here] == intended[here]) continue;
      add(FaultKind::kOtherBytes, found[here], base);
    }
  }
  return true;
}

PlanReport VerifyOrder(const Graph& graph, const Order& order, const Counting& counting,
                       std::size_t max_faults) {
  PlanReport report;
  Collector collector(max_faults, report);
  const std::vector<Touches> touches = AllTouches(graph);
  if (CheckOrder(graph, touches, order, collector)) {
    MeasureLive(graph, touches, order, counting, report);
  }
  return report;
}

MemoryPlan AsPlan(const Order& order) {
  MemoryPlan plan;
  plan.order = order;
  plan.addressed = false;
  plan.memories.emplace_back();
  return plan;
}

}  // namespace berth::verify
