// graph/plan.h -- an order as a plan: when each tensor is live, before anything has an address.
#ifndef BERTH_GRAPH_PLAN_H_
#define BERTH_GRAPH_PLAN_H_

#include <algorithm>
#include <optional>
#include <vector>

#include "berth/answer.h"
#include "berth/graph.h"
#include "berth/memories.h"

namespace berth::internal {

// The lifetime of each base that has one, as in Live(). `graph` and `order` must be valid. Cost:
// linear.
[[nodiscard]] std::vector<Residency> Lifetimes(const Graph& graph, const Order& order,
                                               const Counting& counting);

// The plan in which every counted tensor stays in memory for its whole lifetime, as in Live(),
// without addresses. `graph` and `order` must be valid. Cost: linear.
[[nodiscard]] MemoryPlan UnplacedPlan(const Graph& graph, const Order& order,
                                      const Counting& counting);

// As ValidateOrder(), but operators may come again: each comes at least once, and first executions
// are in an order that can run; those that come again may do so (MayRepeat()). What they find is
// for ValidatePlan().
[[nodiscard]] Result<void> ValidateSequence(const Graph& graph, const Order& order);

// What the executions after the first of each operator cost; nothing if that is more than 2^63 - 1.
// `order` must name operators of `graph`. Cost: linear.
[[nodiscard]] std::optional<Recomputed> RecomputedOf(const Graph& graph, const Order& order);

// The traffic of every plan: counted inputs are loaded once, results are stored once.
[[nodiscard]] Traffic CompulsoryTraffic(const Graph& graph, const Counting& counting);

// The number of steps that residencies can have: one even without operators, for given tensors.
[[nodiscard]] inline Step StepsOf(const MemoryPlan& plan) {
  return std::max<Step>(1, static_cast<Step>(plan.order.size()));
}

// As ProblemOf(), but without ids, so not valid as the input of a placer. Cost: linear.
[[nodiscard]] Problem UnnamedProblemOf(const Graph& graph, const MemoryPlan& plan);

// The first residency of the tensor of residency `i`.
[[nodiscard]] inline std::size_t FirstOf(const MemoryPlan& plan, std::size_t i) {
  while (i > 0 && plan.residencies[i - 1].tensor == plan.residencies[i].tensor) --i;
  return i;
}
// Whether residency `i` is a copy that is kept for a while beside the first one of its tensor, which stays.
[[nodiscard]] inline bool IsStaged(const MemoryPlan& plan, std::size_t i) {
  if (i == 0 || i >= plan.residencies.size() || plan.residencies[i].comes_in) return false;
  const std::size_t first = FirstOf(plan, i);
  const Residency& home = plan.residencies[first];
  const Residency& copy = plan.residencies[i];
  return first < i && home.memory != copy.memory && home.start < copy.start && copy.end <= home.end;
}
// Whether residency `i` of `plan` begins with a copy of the one before it, in another memory: when that
// one ends, or before, if the copy is made while operators run.
[[nodiscard]] inline bool IsCopied(const MemoryPlan& plan, std::size_t i) {
  if (i == 0 || i >= plan.residencies.size()) return false;
  const Residency& from = plan.residencies[i - 1];
  const Residency& to = plan.residencies[i];
  return from.tensor == to.tensor && from.memory != to.memory && from.start < to.start &&
         to.start <= from.end && from.end < to.end && !IsStaged(plan, i);
}
[[nodiscard]] bool HasCopies(const MemoryPlan& plan);

// Time in halves: the operator of step s runs at 2 s + 1, and copies before it happen at 2 s. The
// source of a copy lasts until it is over, and the target begins with it, or before it may begin.
struct HalfSteps {
  Step start = 0;
  Step end = 0;
};
[[nodiscard]] inline HalfSteps HalfStepsOf(const MemoryPlan& plan, std::size_t i) {
  const Residency& r = plan.residencies[i];
  const bool copied = IsCopied(plan, i) || IsStaged(plan, i);
  return {2 * r.start + (copied ? 0 : 1), 2 * r.end + (IsCopied(plan, i + 1) ? 1 : 0)};
}

// Where operators find tensors that are copied, step after step.
class Whereabouts {
 public:
  Whereabouts(const Graph& graph, const MemoryPlan& plan);
  // The residency in which the operator of `step` uses a base, or the number of residencies if it has none.
  // Steps must not decrease.
  [[nodiscard]] std::size_t At(TensorIndex base, Step step);

 private:
  const MemoryPlan& plan_;
  std::vector<std::size_t> first_;  // By tensor.
  std::vector<std::size_t> at_;     // By tensor: the last one that has begun.
};
// What is reserved while operators run, and between two of those, in half steps.
[[nodiscard]] Reserved InHalfSteps(const Reserved& reserved, Step steps);

// Height and peak of each memory, copies included, from the residencies. Cost: linear.
[[nodiscard]] std::vector<MemoryUse> UseOf(const Graph& graph, const MemoryPlan& plan);
// Sets MemoryPlan::memories to these.
void StateUse(const Graph& graph, MemoryPlan& plan);

// Says in `answer`, about `graph`, how many tensors have no known size, and takes back what they
// leave unproved: unless they count as zero, no outcome stays optimal or feasible.
void AdmitUnsized(const Graph& graph, const Counting& counting, PlanAnswer& answer);

}  // namespace berth::internal

#endif  // BERTH_GRAPH_PLAN_H_
