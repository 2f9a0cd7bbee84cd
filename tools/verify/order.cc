#include "tools/verify/order.h"

#include <set>
#include <vector>

#include "tools/verify/repeat.h"

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
// any write. `last`: the same of each base at the end.
std::vector<OperatorIndex> WritersIn(const Graph& graph, const std::vector<Touches>& touches,
                                     const std::vector<std::size_t>& begin, const Order& order,
                                     std::vector<OperatorIndex>& last) {
  std::vector<OperatorIndex> found(begin.back());
  last.assign(graph.tensors.size(), kNone);
  for (const OperatorIndex v : order) {
    std::size_t next = begin[v];
    for (const TensorIndex base : touches[v].needs) found[next++] = last[base];
    for (const TensorIndex base : touches[v].writes) last[base] = v;
  }
  return found;
}

Order ProgramOrderOf(const Graph& graph) {
  Order order;
  for (OperatorIndex v = 0; v < graph.operators.size(); ++v) order.push_back(v);
  return order;
}

Fault OrderFault(FaultKind kind, OperatorIndex op, std::size_t step) {
  Fault fault;
  fault.kind = kind;
  fault.op = op;
  fault.start = static_cast<Step>(step);
  return fault;
}

// The step at which each operator first runs; an empty list if they do not each come once, or with
// `repeats` at least once.
std::vector<std::size_t> StepsOf(const Graph& graph, const Order& order, bool repeats,
                                 Collector& collector) {
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
    } else if (step[order[s]] != kNone && !repeats) {
      add(FaultKind::kRepeated, order[s], s);
    } else if (step[order[s]] != kNone) {
      if (!MayRunAgain(graph, order[s])) {
        collector.Add(OrderFault(FaultKind::kMayNotRepeat, order[s], s));
      }
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

Intended::Intended(const Graph& graph, const std::vector<Touches>& touches)
    : begin_(NeedsBegin(touches)),
      writers_(WritersIn(graph, touches, begin_, ProgramOrderOf(graph), last_)) {}

bool CheckOrder(const Graph& graph, const std::vector<Touches>& touches, const Intended& intended,
                const Order& order, bool repeats, Collector& collector) {
  const std::vector<std::size_t> step = StepsOf(graph, order, repeats, collector);
  const std::size_t n = graph.operators.size();
  if (step.size() != n) return false;

  std::vector<OperatorIndex> maker(graph.tensors.size(), kNone);
  for (OperatorIndex v = 0; v < n; ++v) {
    for (const TensorIndex t : graph.operators[v].outputs) maker[t] = v;
  }
  // First executions alone are an order, too.
  Order first;
  for (std::size_t s = 0; s < order.size(); ++s) {
    if (step[order[s]] == s) first.push_back(order[s]);
  }
  const std::vector<std::size_t> begin = NeedsBegin(touches);
  std::vector<OperatorIndex> last;
  const std::vector<OperatorIndex> found = WritersIn(graph, touches, begin, first, last);
  for (const OperatorIndex v : first) {
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
    std::size_t next = 0;
    for (const TensorIndex base : touches[v].needs) {
      const std::size_t here = next++;
      const OperatorIndex writer = found[begin[v] + here];
      if (unmade.contains(base) || writer == intended.Writer(v, here)) continue;
      add(FaultKind::kOtherBytes, writer, base);
    }
  }
  return true;
}

PlanReport VerifyOrder(const Graph& graph, const Order& order, const Counting& counting,
                       std::size_t max_faults) {
  PlanReport report;
  Collector collector(max_faults, report);
  const std::vector<Touches> touches = AllTouches(graph);
  if (CheckOrder(graph, touches, Intended(graph, touches), order, /*repeats=*/false, collector)) {
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
