// berth/spill.h -- when a graph does not fit: what leaves the memory, when, and comes back where.
//
//   berth::SpillOptions options;
//   options.capacity = 512 * 1024;
//   const auto answer = berth::PlanWithSpills(graph, options, budget);
//
// A tensor that has to make room is written off chip (spilled) and brought back (retrieved) before
// it is used again, perhaps to another address. Each stay in memory is a residency:
//
//   offset                      x is made at step 0, spilled before step 2, where w and z take all
//     8 +-----+     +-----+     there is, and retrieved at step 3, which uses it. It costs its 4
//       |  x  +-----+  w  |     bytes twice. Had it to leave once more it would cost them once
//     4 +-----+  w  +--+--+     more: the copy off chip is still valid, as long as no operator
//       |  y  |     |z | x|     writes x in place.
//     0 +-----+-----+--+--+
//       0     1     2  3  4  step
//
// Traffic that no plan can avoid is compulsory and counted apart: what is given comes in once, and
// results go out once. So a given tensor never has to be written to leave, and a result is written
// once it has its last value and may leave then for nothing.
//
// The least that a plan has to hold at once is what one operator makes and uses; a capacity below
// that fits no plan, and the answer says which operator it is (MR in COSMA, Li, Gupta and Malik,
// 2023). From the least peak of any order (MP) nothing has to leave.
#ifndef BERTH_SPILL_H_
#define BERTH_SPILL_H_

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
#include "berth/place.h"
#include "berth/problem.h"
#include "berth/result.h"

namespace [[gnu::visibility("default")]] berth {

// The rule that spills add to those of a graph: the bytes of all counted tensors (each with its
// alignment), once for every operator that makes or uses it and once more for every one that writes
// it in place, add up to at most 2^60. Every stay in memory holds an operator that uses what came
// in or made it, and has at most to go out again with what was written since; so neither the
// traffic nor the bytes of all stays of a plan are more than that. `graph` must be valid. Error:
// kInvalidGraph, naming the tensor that goes beyond.
[[nodiscard]] Result<void> ValidateTraffic(const Graph& graph, const Counting& counting);

// The operator that needs the most memory by itself, with its inputs and outputs: no plan fits less
// (MR in COSMA). `graph` must be valid. Cost: linear.
[[nodiscard]] LeastMemory FindLeastMemory(const Graph& graph, const Counting& counting);

// Gives the buffers of a problem with a capacity their offsets, within the budget.
using Placer = std::function<Result<PlanAnswer>(const Problem& problem, Budget& budget)>;
// Place() with default options.
[[nodiscard]] Placer DefaultPlacer();

// Each rule of the search by itself (src/spill/search.h explains them). Whatever is switched off,
// what is proved stays the same; only the work changes.
struct SpillRules {
  bool dominance = true;  // Of two states after the same operators, the better one.
  bool safe_runs = true;  // Operators that cannot hurt run at once.
  bool belady = true;     // Of equal storages, the one needed later leaves first.
  bool prices = true;     // A lower bound for one order, from what memory is worth at each step.
  bool segments = true;   // A lower bound for all orders: those of parts of the graph add up.
};

struct SpillOptions {
  Bytes capacity = 0;
  // Which tensors need memory beside those that operators make. Unlike in Live(), parameters too
  // come in when they are used and leave when they are not.
  Counting counting = {};
  // Orders to begin with. No answer is worse than the best plan for any of these. None: program
  // order.
  std::vector<Order> orders;
  bool fixed_order = false;  // Only the first of `orders`, or program order.
  // Gives the residencies their addresses. Empty: the plan has none, and it is not known whether
  // any would fit.
  Placer placer = DefaultPlacer();
  SpillRules rules;
  // States that exact search may store at once; each takes some hundred bytes, and 3 bits for each
  // operator or tensor.
  std::int64_t max_states = 2'000'000;
  // Of memory for stored states, roughly; at least 1 MiB. Where it is full, exact search ends and
  // beams get narrower. What the graph itself takes, some n^2 / 4 bytes for n operators, is not in
  // it.
  std::size_t most_bytes = std::size_t{2} << 30;
  // Called from the calling thread, with avoidable traffic, when the best schedule or the bound
  // changes. Schedules have no addresses yet. May be empty.
  std::function<void(const Progress&)> progress;
};

// Finds an order, the tensors to spill and retrieve, and all addresses, for the least avoidable
// traffic within the capacity. PlanAnswer::traffic_bound is proved; PlanAnswer::least is the
// operator that needs the most by itself: a capacity below it is kInfeasible, and then `best` has
// no plan. kUnknown: no plan was given addresses. With `fixed_order` the outcome and the bound are
// about plans in that order alone.
//
// Without any limit in `budget` the search ends after a fixed amount of work, which takes some ten
// seconds. The answer depends on the arguments alone unless time or cancellation ends the search;
// once cancelled it takes at most a second or so more, for the addresses of the best schedules
// found. Whatever the budget, there is a plan for at least one order, though perhaps without
// addresses that fit.
// Errors: kInvalidGraph, also for what ValidateTraffic() refuses; kInvalidPlan if an order is not
// valid; kInvalidOptions; what the placer returns.
[[nodiscard]] Result<PlanAnswer> PlanWithSpills(const Graph& graph, const SpillOptions& options,
                                                Budget& budget);

}  // namespace berth

#endif  // BERTH_SPILL_H_
