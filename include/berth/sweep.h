// berth/sweep.h -- off-chip traffic, or the cost of recomputation, as a function of memory size: one
// graph planned for many capacities.
//
//   berth::Budget budget(60.0);  // Seconds, for all points together.
//   const auto curve = berth::Sweep(graph, {}, budget);
//   if (curve) {
//     for (const berth::SweepPoint& p : curve->points) Print(p.capacity, p.avoidable);
//   }
//
//   traffic
//     |  o                       o  the best plan found for this capacity
//     |  -  o                    -  proved: no plan has less traffic
//     |     -  o
//     |        -  o  o
//   0 +-----------------o--o--> capacity
//       MR                 MP
//
// At MR the capacity is what one operator needs by itself; less fits no plan. From MP on, the least
// peak of any order, nothing has to be spilled (NamedBudget in berth/plan.h). A plan for a capacity
// is also one for every larger capacity, and a bound proved for a capacity also holds for every
// smaller one; so points improve each other. With PlanOptions::recompute the curve is the cost of running
// operators again and, with a link, of copies; traffic is then a second curve, of the same plans.
// Thread-safety: all functions here may be called from several threads on different arguments.
#ifndef BERTH_SWEEP_H_
#define BERTH_SWEEP_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/answer.h"
#include "berth/budget.h"
#include "berth/graph.h"
#include "berth/plan.h"
#include "berth/result.h"

namespace [[gnu::visibility("default")]] berth {

// Of a point with recomputation, in SweepCurve::run's unit. All but the bound are 0 where there is no plan.
struct SweepCost {
  std::int64_t operators = 0;   // Executions after the first of each operator,
  std::int64_t recomputed = 0;  // and what they cost.
  std::int64_t copies = 0;      // What avoidable copies cost.
  std::int64_t bound = 0;       // Proved: no plan costs less.
  // What is minimised. At most 2^62 in a valid point.
  [[nodiscard]] std::int64_t total() const { return recomputed + copies; }
  friend bool operator==(const SweepCost&, const SweepCost&) = default;
};

// What is known of one capacity. The bounds are 0 where nothing is proved, and where nothing fits.
struct SweepPoint {
  int number = 0;  // Position in the list of capacities, from 0.
  Bytes capacity = 0;
  Outcome outcome = Outcome::kUnknown;
  std::optional<Bytes> avoidable = {};  // Traffic of the best plan; none where there is no plan.
  Bytes spilled = 0;                    // The part of it that is written,
  Bytes retrieved = 0;                  // and the part that is read back.
  Bytes traffic_bound = 0;              // Proved: no plan has less avoidable traffic.
  Bytes traffic_by_sum = 0;  // The least avoidable traffic found where bytes need only fit in sum.
  double seconds = 0;        // Wall clock.
  // With recomputation. Traffic is then not what is minimised, and has no bounds.
  std::optional<SweepCost> cost = {};

  [[nodiscard]] bool has_plan() const { return avoidable.has_value(); }
  // Of a point with a plan: what is minimised, traffic in bytes or the cost.
  [[nodiscard]] std::int64_t figure() const { return cost ? cost->total() : *avoidable; }
  [[nodiscard]] std::int64_t bound() const { return cost ? cost->bound : traffic_bound; }
};

// What running every operator of a model once costs. No plan with recomputation has more than 2^60.
struct RunCost {
  std::int64_t cost = 0;  // At most 2^60.
  std::string unit = {};  // OperatorCosts::unit.
  friend bool operator==(const RunCost&, const RunCost&) = default;
};
[[nodiscard]] RunCost RunCostOf(const Graph& graph);

// Off-chip traffic or cost against capacity, for one model. Points by their numbers.
struct SweepCurve {
  std::string model = {};
  std::string input = {};  // What the answers depend on besides the capacity: a hash, and options.
  std::optional<Bytes> least = {};       // MR, where known.
  std::optional<Bytes> least_peak = {};  // MP, where known; none with a fixed order.
  std::string least_operator = {};  // The operator that needs MR by itself; empty where not known.
  bool fixed_order = false;         // Outcomes and bounds are about one order alone.
  std::optional<RunCost> run = {};  // With recomputation: points have a `cost`.
  std::vector<SweepPoint> points = {};
};

struct SweepOptions {
  std::vector<Capacity> capacities =
      {};  // In any order. Empty: `points` of them from MP down to MR, those that coincide once.
  int points = 20;  // At least 1; 1 is MP alone.
  // The positions in that list to plan, each once: for shards, or to continue an earlier sweep.
  // None: all.
  std::optional<std::vector<std::size_t>> numbers = {};
  // Options of every plan: counting, order, placement, `recompute` and `link`. `capacity` and `spill` are
  // set for each point: with `recompute`, tensors are copied where there is a link. Without `budgets`
  // FindBudgets() runs first, within at most a quarter of the budget.
  PlanOptions plan = {};
  // Limits for each point, besides those of the whole budget.
  std::optional<double> seconds_each = {};
  std::optional<std::int64_t> nodes_each = {};
  // Called after each point, with its plan. False ends the sweep with the points done so far.
  // May be empty.
  std::function<bool(const SweepPoint& point, const PlanAnswer& answer)> on_point = {};
};

// What a sweep of `graph` with `plan` has besides its points, `model` and `input`. plan.budgets must be given.
[[nodiscard]] SweepCurve CurveWithoutPoints(const Graph& graph, const PlanOptions& plan);

// The capacities that `options` asks for, in bytes, by number. Error: kInvalidOptions.
[[nodiscard]] Result<std::vector<Bytes>> SweepCapacities(const SweepOptions& options,
                                                         const NamedBudgets& budgets);

// Plans `graph` with spills or recomputation for each capacity, from the largest to the smallest; each search begins
// with the order of the plan before it. Every point gets an equal share of the time and nodes that
// are left of `budget`, so hard points get what easy ones did not use. The curve is tightened. It
// has fewer points than asked for if the budget was cancelled or `on_point` returned false.
//
// The answer depends on the arguments alone unless time, cancellation or `on_point` ends a search.
// Errors: those of Plan(); kInvalidOptions for `points`, `numbers` or place.minimize.
[[nodiscard]] Result<SweepCurve> Sweep(const Graph& graph, const SweepOptions& options,
                                       Budget& budget);

// Carries plans over to larger capacities and bounds to smaller ones. Cost: O(n log n).
void Tighten(SweepCurve& curve);

// Refuses a point whose figures contradict its outcome or each other, and a curve in which a
// capacity fits no plan although a smaller one does. Error: kInvalidProblem.
[[nodiscard]] Result<void> Validate(const SweepPoint& point);
[[nodiscard]] Result<void> Validate(const SweepCurve& curve);

// Adds the curves `more`, called `name` in errors, to `curves`: the shards of one sweep become a
// whole. A point that is already known is skipped. Curves stay sorted by model, points by number.
// Error: kInvalidOptions if a model has another input or a point another capacity, and that of
// Validate(); `curves` is then unchanged.
[[nodiscard]] Result<void> Merge(std::vector<SweepCurve>& curves,
                                 const std::vector<SweepCurve>& more, std::string_view name);

// What one memory of several is worth: the cost of the best plan, where that memory has this capacity.
struct MemoryPoint {
  Bytes capacity = 0;
  Outcome outcome = Outcome::kUnknown;
  PlanCost cost;                     // Of the best plan found.
  PlanCost cost_bound;               // Proved.
  double seconds = 0;                // Wall clock.
  std::vector<MemoryUse> uses = {};  // What that plan takes of each memory,
  std::size_t copies = 0;            // and how often it copies a tensor from one to another.
};

struct MemorySweepOptions {
  std::size_t memory = 0;  // Index into plan.memories.memories; its own capacity does not count.
  // In any order. Empty: `points` of them, evenly from nearly nothing to the least peak found.
  std::vector<Bytes> capacities = {};
  int points = 20;  // At least 1.
  PlanOptions plan = {};
  // The limit for each point, besides that of the whole budget.
  std::optional<double> seconds_each = {};
  // Called after each point, with its plan. False ends the sweep. May be empty.
  std::function<bool(const MemoryPoint& point, const PlanAnswer& answer)> on_point = {};
};

// Plans `graph` in its memories for each capacity of one of them, from the smallest to the largest;
// each search begins with the order of the plan before it. Plans are carried over to larger capacities,
// and bounds to smaller ones, so no point costs more than one with less memory. Capacities within which a reserved range does not lie are left out.
// Errors: those of Plan(); kInvalidOptions for `points` or `memory`, for a capacity below 1, and for
// plans with spills.
[[nodiscard]] Result<std::vector<MemoryPoint>> SweepMemory(const Graph& graph,
                                                           const MemorySweepOptions& options,
                                                           Budget& budget);

}  // namespace berth

#endif  // BERTH_SWEEP_H_
