// berth/plan.h -- from a graph to a memory plan: an order for its operators, an offset for each
// tensor, and what to spill where it does not fit.
//
// As few bytes as possible:
//
//   berth::Budget budget(10.0);  // Seconds.
//   const auto answer = berth::Plan(graph, {}, budget);
//   if (answer && answer->best) Use(answer->best->order, answer->best->residencies);
//
// Does it fit, and where?
//
//   const auto answer = berth::Plan(graph, {.capacity = 512 * 1024}, budget);
//
// The least off-chip traffic within a memory that is too small:
//
//   const auto answer = berth::Plan(graph, {.capacity = 512 * 1024, .spill = true}, budget);
//
// First the order of least peak (berth/schedule.h); then the lowest placement of what is live when
// the operators run in it (berth/place.h), or, with `spill`, the order, the residencies and the
// offsets of least traffic (berth/spill.h). Thread-safety: all functions here may be called from
// several threads on different arguments.
#ifndef BERTH_PLAN_H_
#define BERTH_PLAN_H_

#include <functional>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "berth/answer.h"
#include "berth/budget.h"
#include "berth/graph.h"
#include "berth/place.h"
#include "berth/result.h"
#include "berth/schedule.h"

namespace [[gnu::visibility("default")]] berth {

// Capacities that follow from a graph, as COSMA names them (section V-A2).
enum class NamedBudget {
  kOneOperator,  // "MR": the most that one operator needs, its inputs and outputs. Less fits no plan.
  kHalfway,      // "MH": the mean of the other two, rounded down.
  kLeastPeak,    // "MP": the least peak found. From here on nothing has to be spilled.
};
using Capacity = std::variant<Bytes, NamedBudget>;
// "MR", "MH", "MP" (or in lower case), or bytes as ParseBytes() reads them (berth/bytes.h): "512KiB".
// Nothing for any other text.
[[nodiscard]] std::optional<Capacity> ParseCapacity(std::string_view text);

// The named budgets of a graph.
struct NamedBudgets {
  LeastMemory least;         // MR.
  Bytes least_peak = 0;      // MP.
  bool peak_proved = false;  // No order has a lower peak.
  Order order;               // An order with this peak.
  SearchReport search;       // The search that found it.
  Bytes peak_bound = 0;      // Proved: no order has a lower peak.
  [[nodiscard]] Bytes halfway() const { return (least.bytes + least_peak) / 2; }  // MH.
  // `capacity` in bytes.
  [[nodiscard]] Bytes Of(const Capacity& capacity) const;
};
// Unlike in Live(), a counted tensor that is given (an input, a parameter) needs memory only from
// its first use through its last, as with spills it can be retrieved and dropped like any other.
// Errors: those of Schedule().
[[nodiscard]] Result<NamedBudgets> FindBudgets(
    const Graph& graph, const Counting& counting, Budget& budget,
    std::size_t most_bytes = ScheduleOptions().most_bytes);

struct PlanOptions {
  std::optional<Capacity> capacity;  // None: as few bytes as possible.
  // What does not fit may be copied off chip and back, at the least traffic. Needs a capacity.
  bool spill = false;
  // Only this order. None: an order is searched for by schedule.algorithm, and with `spill` all
  // orders count unless that is kProgram.
  std::optional<Order> order = {};
  std::vector<Order> more_orders = {};  // With `spill`: further orders to start from.
  ScheduleOptions schedule = {};        // Its `counting` says which tensors the plan has.
  PlaceOptions place = {};              // `minimize` is off by default, as in Place().
  // With `spill`: the result of FindBudgets() for this graph and counting, if it is known already.
  std::optional<NamedBudgets> budgets = {};
};

// Plans `graph`.
//
// Without `spill`: kOptimal if no order and no placement needs fewer bytes, kInfeasible if no order
// fits the capacity. The plan in `best` may exceed the capacity (PlanAnswer::fits()); there is one
// whenever placing did not fail. The search for the order gets three quarters of the time limit of
// `budget`, and the placement the time left. If cancelled, the best order so far is placed greedily
// or, with more than 2^18 tensors, left without addresses (kUnknown); so there is always a plan.
//
// With `spill`: kOptimal if no plan within the capacity has less avoidable traffic, kInfeasible if
// one operator needs more than the capacity. If no plan was found that fits, `best` is the order of
// least peak without addresses. At most a quarter of the time goes to that order, the rest to
// PlanWithSpills().
//
// Every plan was validated. The answer depends on the arguments alone unless time or cancellation
// ends a search. Errors: those of Schedule(), Place() and PlanWithSpills(); kInvalidPlan for a given
// order that cannot run; kInvalidOptions for `spill` without a capacity, a named budget without
// `spill`, or `spill` with place.minimize.
[[nodiscard]] Result<PlanAnswer> Plan(const Graph& graph, const PlanOptions& options,
                                      Budget& budget);

}  // namespace berth

#endif  // BERTH_PLAN_H_
