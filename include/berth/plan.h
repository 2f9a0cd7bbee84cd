// berth/plan.h -- from a graph to a memory plan: an order for its operators, an offset for each
// tensor.
//
//   berth::Budget budget;
//   budget.SetTimeLimit(10.0);
//   const auto plan = berth::Plan(graph, {}, budget);
//
// First the order of least peak (berth/schedule.h), then the lowest placement of what is live when
// the operators run in it (berth/place.h). Thread-safety: all functions here may be called from
// several threads on different arguments.
#ifndef BERTH_PLAN_H_
#define BERTH_PLAN_H_

#include <optional>

#include "berth/budget.h"
#include "berth/graph.h"
#include "berth/place.h"
#include "berth/result.h"
#include "berth/schedule.h"

namespace [[gnu::visibility("default")]] berth {

struct PlanOptions {
  ScheduleOptions schedule;         // Its `counting` says which tensors the plan has.
  PlaceOptions place;               // `minimize` is off by default, as in Place().
  std::optional<Bytes> capacity;    // Of the arena; none: as few bytes as possible.
  std::optional<Order> order = {};  // This one, instead of a search for it.
};

struct PlanAnswer {
  // kOptimal: no order and no placement needs fewer bytes. kFeasible: they might. kInfeasible:
  // proved that no order fits the capacity. kUnknown: no plan that fits was found, nor a proof that
  // there is none.
  Outcome outcome = Outcome::kUnknown;
  // The order. Where it was given: kOptimal if its peak meets the bound.
  ScheduleAnswer schedule;
  // What is live under the order. `liveness.problem` has the capacity; its buffers are what
  // `place.best->offsets` are for.
  Liveness liveness;
  PlaceAnswer place;             // Of liveness.problem: this order's, where the plan has an arena.
  Bytes program_order_peak = 0;  // What the order that the graph comes in would need.
  Bytes lower_bound = 0;         // Proved: no plan of any order is smaller.
  double seconds = 0;            // Wall clock.
  // The bytes of the arena; more than the capacity where the plan does not fit.
  [[nodiscard]] std::optional<Bytes> arena() const {
    return place.best ? std::optional<Bytes>(place.best->height) : std::nullopt;
  }
};

// Plans `graph`. The search for the order has three quarters of the time limit of `budget`, the
// placement the rest and what is left over. Where it is cancelled meanwhile, greedy algorithms
// place the best order so far, so that there is a plan. The answer depends on the arguments alone
// unless time or cancellation ends a search. Errors: those of Schedule() and Place(); kInvalidPlan
// for a given order that cannot run.
[[nodiscard]] Result<PlanAnswer> Plan(const Graph& graph, const PlanOptions& options,
                                      Budget& budget);

}  // namespace berth

#endif  // BERTH_PLAN_H_
