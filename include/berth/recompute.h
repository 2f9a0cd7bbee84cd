// berth/recompute.h -- when a graph does not fit: which operators run again to make what was dropped.
//
//   berth::RecomputeOptions options;
//   options.capacity = berth::Bytes{8} << 30;
//   const auto answer = berth::PlanWithRecomputation(graph, options, budget);
//
// A tensor that has to make room is dropped, and made again before its next use by the operators that
// made it. MemoryPlan::order then lists these operators again, and every stay of the tensor in memory
// is a residency of its own:
//
//   order      A B C D B E       B runs again at step 4, right before E needs its result b.
//   b            +---+   +---+   Nothing is copied: there is no traffic.
//   step       0 1 2 3 4 5
//
// An operator that runs again finds the same values as before: all that it reads has to be in memory,
// in the version of the graph's writes in place that it read the first time. Operators that may not run
// again (MayRepeat() in berth/graph.h) run once. What is minimised is the sum of the costs of all
// executions after the first of each operator (CostsOf()).
//
// With a link to a store off chip, tensors may be copied out and back as well (berth/spill.h), and what
// is minimised is the time of both: each tensor that has to make room is made again or copied, whichever
// makes the cheaper plan. Given tensors that are counted are then off chip until their first use, and
// results at the end, at no cost.
#ifndef BERTH_RECOMPUTE_H_
#define BERTH_RECOMPUTE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "berth/answer.h"
#include "berth/budget.h"
#include "berth/graph.h"
#include "berth/result.h"
#include "berth/spill.h"

namespace [[gnu::visibility("default")]] berth {

// Switches for the rules of the search. They change the work, never what is proved.
struct RecomputeRules {
  bool selection = true;  // Which tensors to drop by an exact choice at prices; else greedily.
  bool reprice = true;    // Chooses again with what returning really costs.
  bool group = true;      // Operators that are best run again together are also searched as one.
  bool evict = true;      // Runs each order step by step and drops what fits the future least.
  bool exchange = true;   // Moves, adds and removes executions.
  bool branches = true;   // With a fixed order: divides that choice into cases, for a higher bound.
  bool cuts = true;   // A bound for all orders, by what must be dropped while one operator runs.
  bool exact = true;  // Small graphs are searched for all sequences.
};

struct RecomputeOptions {
  Bytes capacity = 0;
  // Which tensors need memory besides those that operators make, as in Live(): inputs to their last use,
  // parameters throughout.
  Counting counting = {};
  // Orders to start from. The answer is at least as good as the best plan found in any of these.
  // Empty: program order.
  std::vector<Order> orders;
  // The way off chip and back, for tensors that are copied. None: nothing is copied. Operators must then
  // cost nanoseconds (Graph::cost_unit is "ns").
  std::optional<Link> link;
  // With `link`: valid plans for this graph and counting to start from, with repeats or spills. The
  // answer costs no more than any of them that has addresses within the capacity.
  std::vector<MemoryPlan> plans;
  // In millionths, at least 0: ends once what is run again and copied costs at most this part of it
  // above the proved bound, as SpillOptions::gap. The reason is then kGap.
  std::int64_t gap = 0;
  bool fixed_order = false;  // First executions run in the first of `orders`, or in program order.
  // Gives the residencies their addresses. Empty: the plan has no addresses.
  Placer placer = DefaultPlacer();
  RecomputeRules rules;
  std::size_t most_bytes = std::size_t{2} << 30;  // Memory for one search, roughly; at least 1 MiB.
  std::uint64_t seed = 1;                         // Of the exchanges.
  // Called from the calling thread, with the cost, when the best plan or the bound changes.
  std::function<void(const Progress&)> progress;
};

// Finds a sequence of executions and all addresses, for the least cost of those that run again within
// the capacity. PlanAnswer::recompute_bound is proved for every plan without traffic, or with
// `fixed_order` for those in that order. kInfeasible: proved that no plan fits, because one operator needs
// more than the capacity (PlanAnswer::least), what cannot be made again does, or all plans of a small
// graph were tried; then `best` has no plan. kUnknown: no plan that fits was found.
//
// With a link Traffic::cost is the time of the avoidable copies, and recompute_bound is proved for the sum
// of both costs, for every plan with repeats and copies.
//
// Without any limit in `budget` the search ends after a fixed effort, mostly within 20 seconds. The
// answer depends on the arguments alone unless time or cancellation ends the search.
// Errors: kInvalidGraph, with a link also where ValidateTraffic() fails; kInvalidPlan if an order or a
// plan is not valid; kInvalidOptions, also for a link where operators do not cost nanoseconds; what the
// placer returns.
[[nodiscard]] Result<PlanAnswer> PlanWithRecomputation(const Graph& graph,
                                                       const RecomputeOptions& options,
                                                       Budget& budget);

// An operator that a plan runs again.
struct RunsAgain {
  OperatorIndex op = 0;
  std::vector<Step> steps = {};  // Of its executions after the first, in their order.
  std::int64_t cost = 0;         // Of these, in OperatorCosts::unit.
};
// What `plan`, a valid one of `graph`, runs again: the dearest first, then in program order. The sum of
// their costs is Recomputed::cost. Cost: O(n log n).
[[nodiscard]] std::vector<RunsAgain> OperatorsRunAgain(const Graph& graph, const MemoryPlan& plan);

}  // namespace berth

#endif  // BERTH_RECOMPUTE_H_
