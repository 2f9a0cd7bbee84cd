// The plan of a graph: its order, its residencies and addresses one by one, and a run of it.

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/verify/addresses.h"
#include "tools/verify/collector.h"
#include "tools/verify/memory.h"
#include "tools/verify/order.h"
#include "tools/verify/touches.h"
#include "tools/verify/verify.h"

namespace berth::verify {
namespace {

// The number of steps that residencies may have. Without operators tensors can still be there.
Step StepsOf(const MemoryPlan& plan) {
  return std::max<Step>(1, static_cast<Step>(plan.order.size()));
}

Fault FaultOf(const MemoryPlan& plan, std::size_t residency) {
  Fault fault;
  fault.residency = residency;
  fault.tensor = plan.residencies[residency].tensor;
  fault.start = plan.residencies[residency].start;
  return fault;
}

// Why residency number `i` is none; empty if it is one.
std::string_view WhyBad(const Graph& graph, const Counting& counting, const MemoryPlan& plan,
                        std::size_t i) {
  const Residency& r = plan.residencies[i];
  if (r.tensor >= graph.tensors.size()) return "is of a tensor that the graph does not have";
  if (!Counts(graph.tensors[r.tensor], counting)) return "is of a tensor that is not counted";
  if (r.memory != 0) return "is in another memory, but there is one only";
  if (r.start < 0 || r.start >= r.end || r.end > StepsOf(plan)) {
    return "has steps that are not within the order";
  }
  if (i == 0) return {};
  const Residency& before = plan.residencies[i - 1];
  if (before.tensor > r.tensor) return "comes after one of a later tensor";
  if (before.tensor == r.tensor && before.end > r.start) {
    return "begins before another of its tensor has ended";
  }
  return {};
}

bool CheckShape(const Graph& graph, const Counting& counting, const MemoryPlan& plan,
                Collector& collector) {
  bool good = true;
  if (plan.memories.size() != 1) {
    collector.Add(Fault{});
    good = false;
  }
  for (std::size_t i = 0; i < plan.residencies.size(); ++i) {
    Fault fault = FaultOf(plan, i);
    fault.kind = FaultKind::kBadResidency;
    fault.detail = WhyBad(graph, counting, plan, i);
    if (fault.detail.empty()) continue;
    collector.Add(fault);
    good = false;
  }
  return good;
}

void MeasurePeak(const Graph& graph, const MemoryPlan& plan, PlanReport& report) {
  const auto steps = static_cast<std::size_t>(StepsOf(plan));
  std::vector<Bytes> change(steps + 1, 0);
  for (const Residency& r : plan.residencies) {
    change[static_cast<std::size_t>(r.start)] += graph.tensors[r.tensor].bytes;
    change[static_cast<std::size_t>(r.end)] -= graph.tensors[r.tensor].bytes;
  }
  Bytes live = 0;
  for (std::size_t s = 0; s < steps; ++s) {
    live += change[s];
    report.live.push_back(live);
    if (live <= report.peak) continue;
    report.peak = live;
    report.peak_step = static_cast<Step>(s);
  }
}

void CheckAddresses(const Graph& graph, std::optional<Bytes> capacity, const MemoryPlan& plan,
                    Collector& collector, PlanReport& report) {
  std::vector<Rectangle> rectangles;
  Wide height = std::numeric_limits<Bytes>::min();
  for (std::size_t i = 0; i < plan.residencies.size(); ++i) {
    const Residency& r = plan.residencies[i];
    const Tensor& tensor = graph.tensors[r.tensor];
    const Wide top = Wide{r.offset} + tensor.bytes;
    height = std::max(height, top);
    CheckAddress({FaultOf(plan, i), r.offset, tensor.bytes, tensor.alignment}, capacity, collector);
    rectangles.push_back({i, r.start, r.end, r.offset, top});
  }
  if (!rectangles.empty()) report.height = Clamp(height);
  FindOverlaps(std::move(rectangles), collector);
}

// Runs the operators, whose order must be valid, with residencies that are within it.
class Run {
 public:
  Run(const Graph& graph, const std::vector<Touches>& touches, const Counting& counting,
      const MemoryPlan& plan, Collector& collector)
      : graph_(graph),
        touches_(touches),
        counting_(counting),
        plan_(plan),
        collector_(collector),
        declared_(Results(graph)),
        store_(graph.tensors.size()),
        writer_(graph.tensors.size(), kNone),
        at_(graph.tensors.size(), kNone),
        brought_(graph.tensors.size(), false),
        used_(plan.residencies.size(), false),
        preloaded_(plan.residencies.size(), false) {}

  Traffic Go() {
    ReadGraph();
    GiveAddresses();
    CountCompulsoryTraffic();
    const auto steps = static_cast<std::size_t>(StepsOf(plan_));
    std::vector<std::vector<std::size_t>> begins(steps + 1);
    std::vector<std::vector<std::size_t>> ends(steps + 1);
    for (std::size_t i = 0; i < plan_.residencies.size(); ++i) {
      begins[static_cast<std::size_t>(plan_.residencies[i].start)].push_back(i);
      ends[static_cast<std::size_t>(plan_.residencies[i].end)].push_back(i);
    }
    for (std::size_t s = 0; s < steps; ++s) {
      step_ = static_cast<Step>(s);
      for (const std::size_t i : ends[s]) {
        End(i);
        if (at_[plan_.residencies[i].tensor] == i) at_[plan_.residencies[i].tensor] = kNone;
      }
      for (const std::size_t i : begins[s]) Begin(i);
      if (s < plan_.order.size()) Execute(plan_.order[s]);
    }
    step_ = static_cast<Step>(steps);
    for (const std::size_t i : ends[steps]) End(i);
    LookForResults();
    return traffic_;
  }

 private:
  // Sums from untrusted plans saturate above every valid figure.
  static void Count(Bytes bytes, Bytes& sum) { sum = std::min(sum + bytes, kMaxBytes + 1); }
  [[nodiscard]] Bytes SizeOf(TensorIndex t) const { return graph_.tensors[t].bytes; }
  [[nodiscard]] bool IsCounted(TensorIndex t) const { return Counts(graph_.tensors[t], counting_); }
  [[nodiscard]] Value Latest(TensorIndex t) const { return {t, writer_[t]}; }

  void ReadGraph() {
    made_.assign(graph_.tensors.size(), false);
    for (const Touches& touch : touches_) {
      for (const TensorIndex t : touch.makes) made_[t] = true;
    }
    result_ = declared_;
    last_use_.assign(graph_.tensors.size(), -1);
    last_write_.assign(graph_.tensors.size(), -1);
    for (std::size_t s = 0; s < plan_.order.size(); ++s) {
      const Touches& touch = touches_[plan_.order[s]];
      for (const TensorIndex t : touch.needs) last_use_[t] = static_cast<Step>(s);
      for (const TensorIndex t : touch.writes) {
        last_use_[t] = last_write_[t] = static_cast<Step>(s);
        if (!made_[t]) result_[t] = true;  // An input with a new value must be written back.
      }
    }
  }

  // A plan without addresses runs in a memory in which each residency has bytes of its own.
  void GiveAddresses() {
    Wide top = 0;
    for (const Residency& r : plan_.residencies) {
      address_.push_back(plan_.addressed ? Wide{r.offset} : top);
      top += SizeOf(r.tensor);
    }
  }

  void CountCompulsoryTraffic() {
    for (TensorIndex t = 0; t < graph_.tensors.size(); ++t) {
      if (!made_[t]) store_[t] = Latest(t);
      if (!IsCounted(t) || last_use_[t] < 0) continue;
      if (!made_[t]) Count(SizeOf(t), traffic_.compulsory_in);
      if (result_[t]) Count(SizeOf(t), traffic_.compulsory_out);
    }
  }

  void Write(std::size_t i, const Value& value) {
    memory_.Write(address_[i], address_[i] + SizeOf(plan_.residencies[i].tensor), value);
  }
  [[nodiscard]] bool HoldsLatest(std::size_t i) const {
    const TensorIndex t = plan_.residencies[i].tensor;
    return memory_.Holds(address_[i], address_[i] + SizeOf(t), Latest(t));
  }

  void Add(FaultKind kind, TensorIndex t, std::size_t residency, OperatorIndex op = kNone) {
    Fault fault;
    fault.kind = kind;
    fault.residency = residency;
    fault.tensor = t;
    fault.op = op;
    fault.start = step_;
    collector_.Add(fault);
  }

  // A residency ends: it is written out if it has to be.
  void End(std::size_t i) {
    const Residency& r = plan_.residencies[i];
    const TensorIndex t = r.tensor;
    // A given tensor may be in memory from the start, used or not, for any number of steps.
    if (!used_[i] && !preloaded_[i]) Add(FaultKind::kUselessResidency, t, i);
    if (!r.written_out) return;
    if (last_use_[t] < step_ && !result_[t]) {
      Add(FaultKind::kDeadSpill, t, i);
    } else if (store_[t] == Latest(t)) {
      Add(FaultKind::kNeedlessSpill, t, i);
    } else if (!HoldsLatest(i)) {
      Add(FaultKind::kClobbered, t, i);
    }
    // The last value of a result goes out in any case.
    if (!result_[t] || step_ <= last_write_[t]) Count(SizeOf(t), traffic_.spilled);
    store_[t] = Latest(t);
  }

  void Begin(std::size_t i) {
    const Residency& r = plan_.residencies[i];
    const TensorIndex t = r.tensor;
    at_[t] = i;
    const bool compulsory = !made_[t] && !brought_[t];
    if (!r.comes_in) {
      if (!made_[t] && r.start == 0) {
        preloaded_[i] = brought_[t] = true;
        Write(i, Latest(t));
        return;
      }
      const bool made_here =
          static_cast<std::size_t>(step_) < plan_.order.size() &&
          touches_[plan_.order[static_cast<std::size_t>(step_)]].makes.contains(t);
      if (!made_here) Add(FaultKind::kFromNowhere, t, i);
      return;
    }
    if (store_[t] != Latest(t)) Add(FaultKind::kNoCopy, t, i);
    if (store_[t]) Write(i, *store_[t]);
    brought_[t] = true;
    if (!compulsory) Count(SizeOf(t), traffic_.retrieved);
  }

  void Execute(OperatorIndex v) {
    std::set<TensorIndex> wrong;  // Each tensor is a fault once, however often it is looked at.
    for (const TensorIndex t : touches_[v].needs) Look(v, t, wrong);
    for (const TensorIndex t : touches_[v].writes) {
      writer_[t] = v;
      if (at_[t] != kNone) Write(at_[t], Latest(t));
    }
    // Its inputs must have survived its writes, and its outputs must be in memory.
    for (const TensorIndex t : touches_[v].needs) Look(v, t, wrong);
    for (const TensorIndex t : touches_[v].writes) Look(v, t, wrong);
  }

  void Look(OperatorIndex v, TensorIndex t, std::set<TensorIndex>& wrong) {
    if (!IsCounted(t)) return;
    const std::size_t i = at_[t];
    if (i != kNone) used_[i] = true;
    if (i != kNone && HoldsLatest(i)) return;
    if (!wrong.insert(t).second) return;
    Add(i == kNone ? FaultKind::kAbsent : FaultKind::kClobbered, t, i, v);
  }

  void LookForResults() {
    for (TensorIndex t = 0; t < graph_.tensors.size(); ++t) {
      if (!result_[t] || !IsCounted(t) || last_use_[t] < 0) continue;
      if (store_[t] == Latest(t)) continue;
      if (at_[t] != kNone && HoldsLatest(at_[t])) continue;
      // A preloaded tensor that is not a result need not survive with its new value.
      if (!declared_[t] && WasPreloaded(t)) continue;
      Add(FaultKind::kLostResult, t, kNone);
    }
  }
  [[nodiscard]] bool WasPreloaded(TensorIndex t) const {
    const auto& all = plan_.residencies;
    const auto first =
        std::lower_bound(all.begin(), all.end(), t,
                         [](const Residency& r, TensorIndex tensor) { return r.tensor < tensor; });
    return first != all.end() && first->tensor == t &&
           preloaded_[static_cast<std::size_t>(first - all.begin())];
  }

  const Graph& graph_;
  const std::vector<Touches>& touches_;
  const Counting& counting_;
  const MemoryPlan& plan_;
  Collector& collector_;
  std::vector<Wide> address_;  // Of each residency.
  Traffic traffic_;

  // Of each tensor.
  std::vector<bool> declared_;
  std::vector<bool> made_;
  std::vector<bool> result_;  // Declared, or given and written in place.
  std::vector<Step> last_use_;
  std::vector<Step> last_write_;

  // The state at step_.
  Step step_ = 0;
  Memory memory_;
  std::vector<std::optional<Value>> store_;  // Off chip.
  std::vector<OperatorIndex> writer_;        // Of the latest value of each tensor.
  std::vector<std::size_t> at_;              // The residency that each tensor is in.
  std::vector<bool> brought_;                // Tensors that were in memory, of those given.
  std::vector<bool> used_;                   // Residencies.
  std::vector<bool> preloaded_;              // Residencies.
};

}  // namespace

PlanReport VerifyPlan(const Graph& graph, const Counting& counting, std::optional<Bytes> capacity,
                      const MemoryPlan& plan, std::size_t max_faults) {
  PlanReport report;
  Collector collector(max_faults, report);
  const std::vector<Touches> touches = AllTouches(graph);
  CheckOrder(graph, touches, plan.order, collector);
  const bool can_run = !collector.found_any();
  if (!CheckShape(graph, counting, plan, collector)) return report;
  MeasurePeak(graph, plan, report);
  if (plan.addressed) CheckAddresses(graph, capacity, plan, collector, report);
  if (can_run) report.traffic = Run(graph, touches, counting, plan, collector).Go();
  if (plan.addressed) {
    collector.Compare(FaultKind::kWrongHeight, plan.height(), report.height);
  }
  collector.Compare(FaultKind::kWrongPeak, plan.peak(), report.peak);
  if (can_run) collector.Compare(plan.traffic, report.traffic);
  return report;
}

}  // namespace berth::verify
