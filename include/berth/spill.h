// berth/spill.h -- when a graph does not fit: what leaves the memory, when, and comes back where.
//
//   berth::SpillOptions options;
//   options.capacity = 512 * 1024;
//   options.placer = ...;  // As a rule berth::Place().
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

#include "berth/budget.h"
#include "berth/graph.h"
#include "berth/place.h"
#include "berth/problem.h"
#include "berth/result.h"

namespace [[gnu::visibility("default")]] berth {

// A base in memory during the steps [start, end) of the order, at one address.
struct Residency {
  TensorIndex tensor = 0;
  Step start = 0;  // The operator of this step makes the tensor, or it comes in before it runs.
  Step end = 0;    // It is gone when the operator of this step runs.
  Bytes offset = 0;
  bool comes_in = false;  // Copied in from off chip, not made.
  // Its bytes are copied off chip before the operator of step `end` runs.
  bool written_out = false;
  friend bool operator==(const Residency&, const Residency&) = default;
};

struct Traffic {
  Bytes spilled = 0;         // Written off chip to make room.
  Bytes retrieved = 0;       // Brought back.
  Bytes compulsory_in = 0;   // Counted inputs and parameters, once each.
  Bytes compulsory_out = 0;  // Results, once each.
  [[nodiscard]] Bytes avoidable() const { return spilled + retrieved; }
  friend bool operator==(const Traffic&, const Traffic&) = default;
};

struct SpillPlan {
  Order order;
  std::vector<Residency> residencies;  // By tensor, then by start.
  Bytes height = 0;                    // The largest offset + size; 0 without residencies.
  Traffic traffic;
  friend bool operator==(const SpillPlan&, const SpillPlan&) = default;
};

// The buffers of a plan: one for each residency, in the same order. Ids are "tensor", or "tensor#k"
// for the k-th of several residencies, from 1. Placing them gives the offsets.
[[nodiscard]] Problem ProblemOf(const Graph& graph, const SpillPlan& plan);

// The rule that spills add to those of a graph: the bytes of all counted tensors (each with its
// alignment), once for every operator that makes or uses it and once more for every one that writes
// it in place, add up to at most 2^60. Every stay in memory holds an operator that uses what came
// in or made it, and has at most to go out again with what was written since; so neither the
// traffic nor the bytes of all stays of a plan are more than that. `graph` must be valid. Error:
// kInvalidGraph, naming the tensor that goes beyond.
[[nodiscard]] Result<void> ValidateTraffic(const Graph& graph, const Counting& counting);

// Checks that the plan computes what the graph computes and states its figures truly: the order is
// valid; whatever an operator makes or uses is resident while it runs; what comes in has a copy off
// chip with its latest value; what is written out is needed again or is a result, and every result
// gets out or stays to the end; nothing overlaps, all offsets are aligned and, with a capacity,
// within it; height and traffic are as stated. `graph` must be valid. Which tensors count is
// `counting`. Error: kInvalidPlan, naming the first tensor, operator and step at fault; that of
// ValidateTraffic().
// Cost: O(n log n) and the overlaps in time.
[[nodiscard]] Result<void> ValidateSpillPlan(const Graph& graph, const Counting& counting,
                                             std::optional<Bytes> capacity, const SpillPlan& plan);

// The operator that needs the most memory by itself.
struct LeastMemory {
  OperatorIndex op = 0;  // The first such operator.
  Bytes bytes = 0;       // What it makes and uses; 0 where no operator touches a counted tensor.
};
[[nodiscard]] LeastMemory FindLeastMemory(const Graph& graph, const Counting& counting);

// Places the buffers of a problem that has a capacity, within the budget.
using Placer = std::function<Result<PlaceAnswer>(const Problem& problem, Budget& budget)>;

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
  // Gives the residencies their addresses. Empty: addresses are left at 0 and nothing is said about
  // whether there are any.
  Placer placer;
  SpillRules rules;
  // States that exact search may store at once; each takes some hundred bytes, and 3 bits for each
  // operator or tensor.
  std::int64_t max_states = 2'000'000;
  // Of memory for stored states, roughly; at least 1 MiB. Where it is full, exact search ends and
  // beams get narrower. What the graph itself takes, some n^2 / 4 bytes for n operators, is not in
  // it.
  std::size_t most_bytes = std::size_t{2} << 30;
  // Called from the searching thread when the best plan or the bound changes. May be empty.
  std::function<void(Bytes traffic, Bytes lower_bound)> progress;
};

struct SpillAnswer {
  // kOptimal: no plan within the capacity has less avoidable traffic. kFeasible: one may.
  // kInfeasible: the capacity is below `least.bytes`. kUnknown: no plan was given addresses.
  // With `fixed_order` that is about plans in that order alone, as is `lower_bound`.
  Outcome outcome = Outcome::kUnknown;
  StopReason stopped = StopReason::kAnswered;
  std::optional<SpillPlan> best;  // Validated; without a placer, but for its addresses.
  Bytes lower_bound = 0;          // Proved: no plan has less avoidable traffic.
  // The least avoidable traffic found where bytes only have to fit in sum. What `best` has beyond
  // it is the price of contiguous addresses.
  Bytes without_addresses = 0;
  LeastMemory least;
  std::int64_t nodes = 0;
  double seconds = 0;  // Wall clock.
};

// Finds an order, what leaves and comes back, and all addresses, for the least avoidable traffic
// within the capacity. Without any limit in `budget` it ends after a fixed amount of work, which
// takes some ten seconds. The answer depends on the arguments alone unless time or cancellation
// ends the search; once cancelled it takes at most a second more or so, for addresses of the best
// schedules found. Whatever the budget, there is a plan for one order at least, though perhaps
// without addresses that fit. Errors: kInvalidGraph, also for what ValidateTraffic() refuses;
// kInvalidPlan for an order that is none; kInvalidOptions; what the placer returns.
[[nodiscard]] Result<SpillAnswer> PlanWithSpills(const Graph& graph, const SpillOptions& options,
                                                 Budget& budget);

}  // namespace berth

#endif  // BERTH_SPILL_H_
