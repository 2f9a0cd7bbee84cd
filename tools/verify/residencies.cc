// The plan of a graph: its order, its residencies and addresses one by one, and a run of it.

#include <algorithm>
#include <cstddef>
#include <cstdint>
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
#include "tools/verify/repeat.h"
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
                        const Copies& copied, std::size_t i) {
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
  const bool early = i < copied.size() && copied[i].has_value();  // Both ends are there.
  if (before.tensor == r.tensor && before.end > r.start && !early) {
    return "begins before another of its tensor has ended";
  }
  return {};
}

bool CheckShape(const Graph& graph, const Counting& counting, const MemoryPlan& plan,
                const Copies& copied, Collector& collector) {
  bool good = true;
  if (plan.memories.size() != 1) {
    collector.Add(Fault{});
    good = false;
  }
  for (std::size_t i = 0; i < plan.residencies.size(); ++i) {
    Fault fault = FaultOf(plan, i);
    fault.kind = FaultKind::kBadResidency;
    fault.detail = WhyBad(graph, counting, plan, copied, i);
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
  Run(const Graph& graph, const std::vector<Touches>& touches, const Intended& intended,
      const Counting& counting, const MemoryPlan& plan, const Copies& copied, const Link* link,
      Collector& collector)
      : graph_(graph),
        touches_(touches),
        intended_(intended),
        repeats_(plan.order.size() > graph.operators.size()),
        counting_(counting),
        plan_(plan),
        copied_(copied),
        link_(link),
        collector_(collector),
        declared_(Results(graph)),
        store_(graph.tensors.size()),
        writer_(graph.tensors.size(), kNone),
        at_(graph.tensors.size(), kNone),
        newest_(graph.tensors.size(), kNone),
        stored_(graph.tensors.size(), false),
        has_run_(graph.operators.size(), false),
        brought_(graph.tensors.size(), false),
        used_(plan.residencies.size(), false),
        carried_(plan.residencies.size()),
        preloaded_(plan.residencies.size(), false) {}

  Traffic Go() {
    ReadGraph();
    GiveAddresses();
    CountCompulsoryTraffic();
    const auto steps = static_cast<std::size_t>(StepsOf(plan_));
    std::vector<std::vector<std::size_t>> begins(steps + 1);
    std::vector<std::vector<std::size_t>> ends(steps + 1);
    std::vector<std::vector<std::size_t>> arrivals(steps + 1);
    for (std::size_t i = 0; i < plan_.residencies.size(); ++i) {
      begins[static_cast<std::size_t>(plan_.residencies[i].start)].push_back(i);
      ends[static_cast<std::size_t>(plan_.residencies[i].end)].push_back(i);
      if (IsCopied(i)) arrivals[static_cast<std::size_t>(copied_[i]->arrives)].push_back(i);
    }
    for (std::size_t s = 0; s < steps; ++s) {
      step_ = static_cast<Step>(s);
      for (const std::size_t i : ends[s]) {
        End(i);
        std::size_t& at = at_[plan_.residencies[i].tensor];
        if (at == i) at = Stays(i) ? copied_[i]->source : kNone;
      }
      BeginCopies(begins[s]);
      EndCopies(arrivals[s]);
      for (const std::size_t i : begins[s]) {
        if (!IsCopied(i)) Begin(i);
      }
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
  // What a copy of `t` takes at this many bytes per second, rounded up to nanoseconds.
  void CountTime(TensorIndex t, Bytes rate) {
    constexpr int kDigits = 9;
    const auto bytes = static_cast<std::uint64_t>(SizeOf(t));
    const auto each = static_cast<std::uint64_t>(rate);
    std::uint64_t time = bytes / each;  // Seconds, then one digit more at a time.
    std::uint64_t rest = bytes % each;
    for (int digit = 0; digit < kDigits; ++digit) {
      rest *= 10;
      time = std::min<std::uint64_t>(time, kMaxBytes) * 10 + rest / each;
      rest %= each;
    }
    time = std::min<std::uint64_t>(time + (rest > 0 ? 1 : 0), kMaxBytes);
    Count(std::min(static_cast<Bytes>(time) + link_->latency_nanoseconds, kMaxBytes),
          traffic_.cost);
  }
  [[nodiscard]] Bytes SizeOf(TensorIndex t) const { return graph_.tensors[t].bytes; }
  [[nodiscard]] bool IsCounted(TensorIndex t) const { return Counts(graph_.tensors[t], counting_); }
  // The value that the tensor has where it is now.
  [[nodiscard]] Value Current(TensorIndex t) const { return {t, writer_[t]}; }
  [[nodiscard]] Value Last(TensorIndex t) const { return {t, intended_.Last(t)}; }

  void ReadGraph() {
    made_.assign(graph_.tensors.size(), false);
    for (const Touches& touch : touches_) {
      for (const TensorIndex t : touch.makes) made_[t] = true;
    }
    result_ = declared_;
    last_use_.assign(graph_.tensors.size(), -1);
    for (std::size_t s = 0; s < plan_.order.size(); ++s) {
      const Touches& touch = touches_[plan_.order[s]];
      for (const TensorIndex t : touch.needs) last_use_[t] = static_cast<Step>(s);
      for (const TensorIndex t : touch.writes) {
        last_use_[t] = static_cast<Step>(s);
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
      if (!made_[t]) store_[t] = Current(t);
      if (!IsCounted(t) || last_use_[t] < 0) continue;
      if (!made_[t]) Count(SizeOf(t), traffic_.compulsory_in);
      if (result_[t]) Count(SizeOf(t), traffic_.compulsory_out);
    }
  }

  void Write(std::size_t i, const Value& value) {
    memory_.Write(address_[i], address_[i] + SizeOf(plan_.residencies[i].tensor), value);
  }
  [[nodiscard]] bool Holds(std::size_t i, const Value& value) const {
    const TensorIndex t = plan_.residencies[i].tensor;
    return memory_.Holds(address_[i], address_[i] + SizeOf(t), value);
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
    const bool moves = (IsCopied(i) && !Stays(i)) || (IsCopied(i + 1) && !Stays(i + 1));
    if (!used_[i] && !preloaded_[i] && !moves) Add(FaultKind::kUselessResidency, t, i);
    if (!r.written_out) return;
    const bool final = result_[t] && Current(t) == Last(t);
    const bool needed = last_use_[t] >= step_ && (!repeats_ || ComesBack(i));
    if (!needed && !final) {
      Add(FaultKind::kDeadSpill, t, i);
    } else if (store_[t] == Current(t)) {
      Add(FaultKind::kNeedlessSpill, t, i);
    } else if (!Holds(i, Current(t))) {
      Add(FaultKind::kClobbered, t, i);
    }
    // The last value of a result goes out in any case.
    if (!final || stored_[t]) {
      Count(SizeOf(t), traffic_.spilled);
      if (link_ != nullptr) CountTime(t, link_->out_bytes_per_second);
    }
    if (final) stored_[t] = true;
    store_[t] = Current(t);
  }
  // Whether what residency `i` writes out is brought back before it is written out again.
  [[nodiscard]] bool ComesBack(std::size_t i) const {
    const auto& all = plan_.residencies;
    for (std::size_t j = i + 1; j < all.size() && all[j].tensor == all[i].tensor; ++j) {
      if (all[j].comes_in) return true;
      if (all[j].written_out) return false;
    }
    return false;
  }

  [[nodiscard]] bool IsCopied(std::size_t i) const {
    return i < copied_.size() && copied_[i].has_value();
  }
  [[nodiscard]] bool Stays(std::size_t i) const { return IsCopied(i) && copied_[i]->stays; }

  // Copies that may begin before this step. From then on the target holds something unfinished, and
  // nothing else may have its bytes.
  void BeginCopies(const std::vector<std::size_t>& begins) {
    for (const std::size_t i : begins) {
      if (!IsCopied(i)) continue;
      const TensorIndex t = plan_.residencies[i].tensor;
      carried_[i] = Current(t);
      if (!Holds(copied_[i]->source, Current(t))) Add(FaultKind::kBrokenCopy, t, i);
    }
    for (const std::size_t i : begins) {
      if (IsCopied(i)) Write(i, Unfinished(i));
    }
  }

  // Copies that have ended before this step. Neither end was spoilt, by operators or by other copies.
  void EndCopies(const std::vector<std::size_t>& arrivals) {
    for (const std::size_t i : arrivals) {
      const TensorIndex t = plan_.residencies[i].tensor;
      const bool sound = carried_[i] == Current(t) && Holds(copied_[i]->source, Current(t)) &&
                         Holds(i, Unfinished(i));
      if (!sound) Add(FaultKind::kBrokenCopy, t, i);
    }
    for (const std::size_t i : arrivals) {
      at_[plan_.residencies[i].tensor] = i;
      Write(i, Current(plan_.residencies[i].tensor));
    }
  }
  // Of residency `i`: a value that no operator writes.
  [[nodiscard]] Value Unfinished(std::size_t i) const { return {i, kNone - 1}; }

  void Begin(std::size_t i) {
    const Residency& r = plan_.residencies[i];
    const TensorIndex t = r.tensor;
    at_[t] = i;
    const bool compulsory = !made_[t] && !brought_[t];
    if (!r.comes_in) {
      if (!made_[t] && r.start == 0) {
        preloaded_[i] = brought_[t] = true;
        Write(i, Current(t));
        return;
      }
      const bool made_here =
          static_cast<std::size_t>(step_) < plan_.order.size() &&
          touches_[plan_.order[static_cast<std::size_t>(step_)]].makes.contains(t);
      if (!made_here) Add(FaultKind::kFromNowhere, t, i);
      return;
    }
    // Where operators run again, one may need an old value.
    const bool stale = !repeats_ && store_[t] != Value{t, newest_[t]};
    if (!store_[t] || stale) Add(FaultKind::kNoCopy, t, i);
    if (store_[t]) {
      writer_[t] = store_[t]->writer;
      Write(i, *store_[t]);
    }
    brought_[t] = true;
    if (compulsory) return;
    Count(SizeOf(t), traffic_.retrieved);
    if (link_ != nullptr) CountTime(t, link_->in_bytes_per_second);
  }

  void Execute(OperatorIndex v) {
    const Touches& touch = touches_[v];
    const std::vector<TensorIndex>& skips = graph_.operators[v].skips;
    const bool again = has_run_[v];
    has_run_[v] = true;
    const auto skipped = [&](TensorIndex t) {
      return again && std::find(skips.begin(), skips.end(), t) != skips.end();
    };
    std::set<TensorIndex> wrong;  // Each tensor is a fault once, however often it is looked at.
    const auto look_at_needs = [&](bool after_writes) {
      std::size_t i = 0;
      for (const TensorIndex t : touch.needs) {
        const OperatorIndex found = intended_.Writer(v, i++);
        if (skipped(t)) continue;
        Look(v, {t, after_writes && touch.writes.contains(t) ? v : found}, wrong);
      }
    };
    look_at_needs(false);
    for (const TensorIndex t : touch.writes) {
      if (skipped(t)) continue;
      writer_[t] = newest_[t] = v;
      if (at_[t] != kNone) Write(at_[t], Current(t));
    }
    // Its inputs must have survived its writes, and its outputs must be in memory.
    look_at_needs(true);
    for (const TensorIndex t : touch.writes) {
      if (!skipped(t)) Look(v, {t, v}, wrong);
    }
  }

  // `v` needs this value.
  void Look(OperatorIndex v, const Value& value, std::set<TensorIndex>& wrong) {
    const TensorIndex t = value.tensor;
    if (!IsCounted(t)) {
      // CheckOrder() has seen to orders without repeats.
      if (!repeats_ || writer_[t] == value.writer || !wrong.insert(t).second) return;
      return AddVersion(t, kNone, v, writer_[t]);
    }
    const std::size_t i = at_[t];
    if (i != kNone) used_[i] = true;
    if (i != kNone && Holds(i, value)) return;
    if (!wrong.insert(t).second) return;
    if (i == kNone) return Add(FaultKind::kAbsent, t, i, v);
    const auto held = memory_.ValueOf(address_[i], address_[i] + SizeOf(t));
    if (repeats_ && held && held->tensor == t) return AddVersion(t, i, v, held->writer);
    Add(FaultKind::kClobbered, t, i, v);
  }

  void AddVersion(TensorIndex t, std::size_t residency, OperatorIndex op, OperatorIndex held) {
    Fault fault;
    fault.kind = FaultKind::kWrongVersion;
    fault.residency = residency;
    fault.tensor = t;
    fault.op = op;
    fault.other_op = held;
    fault.start = step_;
    collector_.Add(fault);
  }

  void LookForResults() {
    for (TensorIndex t = 0; t < graph_.tensors.size(); ++t) {
      if (!result_[t] || last_use_[t] < 0) continue;
      if (!IsCounted(t)) {
        if (repeats_ && Current(t) != Last(t)) AddVersion(t, kNone, kNone, writer_[t]);
        continue;
      }
      if (store_[t] == Last(t)) continue;
      if (at_[t] != kNone && Holds(at_[t], Last(t))) continue;
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
  const Intended& intended_;
  const bool repeats_;  // Operators run again.
  const Counting& counting_;
  const MemoryPlan& plan_;
  const Copies& copied_;  // Of each residency; or empty.
  const Link* const link_;
  Collector& collector_;
  std::vector<Wide> address_;  // Of each residency.
  Traffic traffic_;

  // Of each tensor.
  std::vector<bool> declared_;
  std::vector<bool> made_;
  std::vector<bool> result_;  // Declared, or given and written in place.
  std::vector<Step> last_use_;

  // The state at step_.
  Step step_ = 0;
  Memory memory_;
  std::vector<std::optional<Value>> store_;    // Off chip.
  std::vector<OperatorIndex> writer_;          // Of the value that each tensor has where it is now.
  std::vector<std::size_t> at_;                // The residency that each tensor is in.
  std::vector<OperatorIndex> newest_;          // The last writer of each tensor so far.
  std::vector<bool> stored_;                   // Results whose last value was written out.
  std::vector<bool> has_run_;                  // Operators.
  std::vector<bool> brought_;                  // Tensors that were in memory, of those given.
  std::vector<bool> used_;                     // Residencies.
  std::vector<std::optional<Value>> carried_;  // Of residencies: what was copied when it began.
  std::vector<bool> preloaded_;                // Residencies.
};

PlanReport Verify(const Graph& graph, const Counting& counting, std::optional<Bytes> capacity,
                  const MemoryPlan& plan, const Copies& copied, std::size_t max_faults,
                  const Link* link) {
  PlanReport report;
  Collector collector(max_faults, report);
  const std::vector<Touches> touches = AllTouches(graph);
  const Intended intended(graph, touches);
  CheckOrder(graph, touches, intended, plan.order, /*repeats=*/true, collector);
  const bool can_run = !collector.found_any();
  if (!CheckShape(graph, counting, plan, copied, collector)) return report;
  MeasurePeak(graph, plan, report);
  if (plan.addressed) CheckAddresses(graph, capacity, plan, collector, report);
  if (can_run) {
    report.traffic = Run(graph, touches, intended, counting, plan, copied, link, collector).Go();
  }
  if (plan.addressed) {
    collector.Compare(FaultKind::kWrongHeight, plan.height(), report.height);
  }
  collector.Compare(FaultKind::kWrongPeak, plan.peak(), report.peak);
  if (!can_run) return report;
  collector.Compare(plan.traffic, report.traffic);
  if (link != nullptr) {
    collector.Compare(FaultKind::kWrongTraffic, plan.traffic.cost, report.traffic.cost, "cost");
  }
  report.recomputed = CountRecomputed(graph, plan.order);
  collector.Compare(plan.recomputed, report.recomputed);
  return report;
}

}  // namespace

PlanReport VerifyPlan(const Graph& graph, const Counting& counting, std::optional<Bytes> capacity,
                      const MemoryPlan& plan, std::size_t max_faults, const Link* link) {
  return Verify(graph, counting, capacity, plan, {}, max_faults, link);
}

PlanReport VerifyPlanWithCopies(const Graph& graph, const Counting& counting,
                                const MemoryPlan& plan, const Copies& copied) {
  return Verify(graph, counting, std::nullopt, plan, copied, kDefaultMaxFaults, nullptr);
}

}  // namespace berth::verify
