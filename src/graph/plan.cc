#include "graph/plan.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "graph/edges.h"

namespace berth::internal {

Traffic CompulsoryTraffic(const Graph& graph, const Counting& counting) {
  const std::vector<OperatorIndex> makers = Makers(graph);
  std::vector<bool> used(graph.tensors.size(), false);
  std::vector<bool> is_result = BasesOfOutputs(graph);
  std::vector<TensorIndex> bases;
  for (OperatorIndex v = 0; v < graph.operators.size(); ++v) {
    for (const TensorIndex t : graph.operators[v].outputs) used[t] = true;
    BasesUsed(graph, makers, v, bases);
    for (const TensorIndex base : bases) used[base] = true;
    for (const TensorIndex base : graph.operators[v].mutates) {
      if (makers[base] == kNoOperator) is_result[base] = true;
    }
  }
  Traffic traffic;
  for (TensorIndex t = 0; t < graph.tensors.size(); ++t) {
    const Tensor& tensor = graph.tensors[t];
    if (!used[t] || !IsCounted(tensor, counting)) continue;
    if (makers[t] == kNoOperator) traffic.compulsory_in += tensor.bytes;
    if (is_result[t]) traffic.compulsory_out += tensor.bytes;
  }
  return traffic;
}

MemoryPlan UnplacedPlan(const Graph& graph, const Order& order, const Counting& counting) {
  MemoryPlan plan;
  plan.order = order;
  plan.addressed = false;
  plan.residencies = Lifetimes(graph, order, counting);
  StateUse(graph, plan);
  plan.traffic = CompulsoryTraffic(graph, counting);
  return plan;
}

void AdmitUnsized(const Graph& graph, const Counting& counting, PlanAnswer& answer) {
  const TensorCount count = CountTensors(graph, counting);
  answer.tensors = count.tensors;
  answer.unsized = count.unsized;
  if (count.unsized == 0 || counting.unsized_as_zero) return;
  const auto admit = [](Outcome& outcome, StopReason& stopped) {
    if (outcome != Outcome::kOptimal && outcome != Outcome::kFeasible) return;
    outcome = Outcome::kUnknown;
    if (stopped == StopReason::kAnswered) stopped = StopReason::kUnsized;
  };
  admit(answer.outcome, answer.stopped);
  for (SearchReport* report : {&answer.scheduling, &answer.spilling, &answer.placing}) {
    admit(report->outcome, report->stopped);
  }
}

bool HasCopies(const MemoryPlan& plan) {
  for (std::size_t i = 1; i < plan.residencies.size(); ++i) {
    if (IsCopied(plan, i) || IsStaged(plan, i)) return true;
  }
  return false;
}

Whereabouts::Whereabouts(const Graph& graph, const MemoryPlan& plan)
    : plan_(plan), first_(graph.tensors.size(), plan.residencies.size()) {
  for (std::size_t i = plan.residencies.size(); i-- > 0;) first_[plan.residencies[i].tensor] = i;
  at_ = first_;
}

std::size_t Whereabouts::At(TensorIndex base, Step step) {
  std::size_t& i = at_[base];
  if (i == plan_.residencies.size()) return i;
  while ((IsCopied(plan_, i + 1) && plan_.residencies[i].end <= step) ||
         (i + 1 < plan_.residencies.size() && plan_.residencies[i + 1].tensor == base &&
          IsStaged(plan_, i + 1) && plan_.residencies[i + 1].start <= step)) {
    ++i;
  }
  const bool over = i != first_[base] && plan_.residencies[i].end <= step && IsStaged(plan_, i);
  return over ? first_[base] : i;
}

Reserved InHalfSteps(const Reserved& reserved, Step steps) {
  Reserved halves = reserved;
  halves.start = 2 * std::clamp<Step>(reserved.start, -1, steps) + 1;
  halves.end = 2 * std::clamp<Step>(reserved.end, 0, steps + 1);
  return halves;
}

std::vector<MemoryUse> UseOf(const Graph& graph, const MemoryPlan& plan) {
  std::size_t count = 1;
  for (const Residency& residency : plan.residencies) {
    count = std::max(count, static_cast<std::size_t>(residency.memory) + 1);
  }
  std::vector<MemoryUse> memories(count);
  const bool copies = HasCopies(plan);
  const auto times = static_cast<std::size_t>(copies ? 2 * StepsOf(plan) + 1 : StepsOf(plan));
  std::vector<std::vector<Bytes>> change(count, std::vector<Bytes>(times + 1, 0));
  for (std::size_t i = 0; i < plan.residencies.size(); ++i) {
    const Residency& residency = plan.residencies[i];
    const Bytes bytes = graph.tensors[residency.tensor].bytes;
    const auto memory = static_cast<std::size_t>(residency.memory);
    const HalfSteps time =
        copies ? HalfStepsOf(plan, i) : HalfSteps{residency.start, residency.end};
    change[memory][static_cast<std::size_t>(time.start)] += bytes;
    change[memory][static_cast<std::size_t>(time.end)] -= bytes;
    if (!plan.addressed) continue;
    Bytes& height = memories[memory].height;
    height = std::max(height, residency.offset + bytes);
  }
  for (std::size_t m = 0; m < count; ++m) {
    Bytes live = 0;
    for (const Bytes bytes : change[m]) {
      live += bytes;
      memories[m].peak = std::max(memories[m].peak, live);
    }
  }
  return memories;
}

void StateUse(const Graph& graph, MemoryPlan& plan) { plan.memories = UseOf(graph, plan); }

}  // namespace berth::internal
