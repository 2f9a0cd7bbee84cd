// berth/plan.h -- from a graph to a memory plan: an order for its operators, an offset for each
// tensor, and what to spill or to compute again where it does not fit.
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
// The least cost of running operators again:
//
//   const auto answer = berth::Plan(graph, {.capacity = 512 * 1024, .recompute = true}, budget);
//
// Several memories, each tensor where it costs the least (berth/graph_memories.h):
//
//   const auto answer = berth::Plan(graph, {.memories = {{tcm, ocram, dram}, {}}}, budget);
//
// First the order of least peak (berth/schedule.h); then the lowest placement of what is live when
// the operators run in it (berth/place.h), or, with `spill`, the order, the residencies and the
// offsets of least traffic (berth/spill.h), or with `recompute`, the sequence of executions of least
// cost (berth/recompute.h). Thread-safety: all functions here may be called from
// several threads on different arguments.
#ifndef BERTH_PLAN_H_
#define BERTH_PLAN_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "berth/answer.h"
#include "berth/budget.h"
#include "berth/graph.h"
#include "berth/graph_memories.h"
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
  // What does not fit may be dropped and made again, at the least cost. Needs a capacity. Together with
  // `spill` it needs a link.
  bool recompute = false;
  // With `spill` and `recompute`: how long copies take. Operators must cost nanoseconds.
  std::optional<Link> link = {};
  // With `spill` or `recompute`: SpillOptions::gap, RecomputeOptions::gap.
  std::int64_t gap = 0;
  // Only this order; with `recompute`, of first executions. None: an order is searched for by
  // schedule.algorithm, and with `spill` or `recompute` all orders count unless that is kProgram.
  std::optional<Order> order = {};
  // With `spill`, `recompute` or several memories: further orders to start from.
  std::vector<Order> more_orders = {};
  // Its `counting` says which tensors the plan has; `threads` and `most_bytes` are of the searches for the
  // order and, with `spill`, for the residencies.
  ScheduleOptions schedule = {};
  PlaceOptions place = {};  // `minimize` is off by default, as in Place().
  // Where tensors may be, and what they cost there. The least cost is looked for. With `spill`: each
  // memory is a scratchpad, and each tensor may be in one of them only. Not with `recompute`. With
  // GraphMemories::may_move tensors may be copied from one memory to another; not with `spill`.
  // With GraphMemories::prefetch that happens while operators run, and the least time is looked for.
  GraphMemories memories = {};
  // With `spill` or `recompute`: the result of NamedBudgetsOf() for this graph and these options, if it
  // is known already.
  std::optional<NamedBudgets> budgets = {};
};

// The capacities that names mean with `options`: those of FindBudgets(), but with `recompute` alone given
// tensors that are counted are in memory from the beginning, and parameters throughout. Errors: those of
// Schedule().
[[nodiscard]] Result<NamedBudgets> NamedBudgetsOf(const Graph& graph, const PlanOptions& options,
                                                  Budget& budget);

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
// With `recompute`: kOptimal if no plan within the capacity that copies nothing runs operators again
// for less, kInfeasible if proved that none fits: one operator needs more than the capacity, or what
// may not be made again does. If no plan was found that fits, `best` is the order of least peak
// without addresses. At most a quarter of the time goes to that order, the rest to
// PlanWithRecomputation(). Capacities with names are as Schedule() counts: given tensors that are
// counted are in memory from the beginning, parameters throughout.
//
// With both: kOptimal if no plan has a lower sum of what running operators again costs and of the time of
// its copies. Plans with `spill` alone and with `recompute` alone are looked for first, each for a
// third of the time, or without a limit as long as by themselves; the answer costs no more than either.
//
// With memories: kOptimal if no plan in any order costs less, or with a given or program order, none in
// that one (PlanAnswer::fixed_order); PlanAnswer::cost_bound is proved for the same orders.
// kInfeasible: not all tensors can be placed; the plan has the fewest unplaced that were found. With
// GraphMemories::may_move the plan without moves is looked for first, in 65 % of the time, and outcome and
// bound are about plans with moves. With GraphMemories::prefetch that plan and the one with moves come
// first, in half of the time, and costs are the time of the run. The bounds for a single memory are 0, but
// peak_bound counts the bytes of all memories.
//
// Every plan was validated. The answer depends on the arguments alone unless time or cancellation
// ends a search. Errors: those of Schedule(), Place(), PlanWithSpills() and
// PlanWithRecomputation(); kInvalidPlan for a given order that cannot run; kInvalidOptions for `spill`
// or `recompute` without a capacity, both of them without a link or a link without both, a named budget without either, or either with
// place.minimize; for memories that are not valid, or with a capacity.
[[nodiscard]] Result<PlanAnswer> Plan(const Graph& graph, const PlanOptions& options,
                                      Budget& budget);

}  // namespace berth

#endif  // BERTH_PLAN_H_
