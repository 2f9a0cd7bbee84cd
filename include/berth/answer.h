// berth/answer.h -- a memory plan, and what is proved about it.
//
// Place(), Schedule() and Plan() all answer with a PlanAnswer, and what it holds is always a
// MemoryPlan: a placed table is a plan without an order, an order alone is a plan without
// addresses, a plan that fits its memory is one without traffic.
//
//   if (answer->best) {
//     for (const berth::Residency& r : answer->best->residencies) Use(r.tensor, r.offset);
//   }
//
// Every quantity has its own proved bound, under its own name.
#ifndef BERTH_ANSWER_H_
#define BERTH_ANSWER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "berth/problem.h"

namespace [[gnu::visibility("default")]] berth {

// What a search found out.
enum class Outcome {
  kOptimal,     // A plan that fits; proved that none is better.
  kFeasible,    // A plan that fits; a better one may exist.
  kInfeasible,  // Proved: no plan fits.
  kUnknown,     // The search ended before it found a plan that fits, or a proof that none does.
};
[[nodiscard]] std::string_view ToString(Outcome outcome);  // "optimal", "feasible", ...

// Why a search stopped.
enum class StopReason {
  kAnswered,   // Nothing is left to find out.
  kBudget,     // Its budget ended: time, nodes or cancellation.
  kEffort,     // No limit was set, and the default effort is spent.
  kSize,       // The input is too large for exact search, or too many states would be stored.
  kAlgorithm,  // The algorithm has finished and proves nothing.
  kUnsized,  // Tensors have no known size: what is proved of the others proves nothing of the whole.
  kGap,      // The plan is as near to the bound as was asked for (PlanOptions::gap).
};
[[nodiscard]] std::string_view ToString(StopReason reason);  // "answered", "budget", ...

// A tensor (or a buffer of a table) in one memory at one address, during the steps [start, end).
struct Residency {
  std::size_t tensor = 0;  // Index into Graph::tensors, of a base; of a table, Problem::buffers.
  Step start = 0;          // First step at which the bytes are in the memory.
  Step end = 0;            // First step at which they no longer are.
  Bytes offset = 0;        // 0 in a plan without addresses.
  bool comes_in = false;   // Copied in before step `start`, not made by the operator of that step.
  bool written_out = false;  // Copied out of this memory before step `end`.
  int memory = 0;            // Index of the memory; 0 where there is only one.
  friend bool operator==(const Residency&, const Residency&) = default;
};

// Bytes copied between the memory and the store behind it (off chip).
struct Traffic {
  Bytes spilled = 0;         // Written out to make room.
  Bytes retrieved = 0;       // Brought back.
  Bytes compulsory_in = 0;   // Counted inputs and parameters, once each.
  Bytes compulsory_out = 0;  // Results, once each.
  // What the avoidable copies take over a link (berth/graph.h), in nanoseconds; 0 where none is known.
  std::int64_t cost = 0;
  [[nodiscard]] Bytes avoidable() const { return spilled + retrieved; }
  friend bool operator==(const Traffic&, const Traffic&) = default;
};

// What running operators again costs.
struct Recomputed {
  std::size_t operators = 0;  // Executions after the first of each operator.
  std::int64_t cost = 0;      // Of these, in the unit of the costs (CostsOf() in berth/graph.h).
  friend bool operator==(const Recomputed&, const Recomputed&) = default;
};

// What a plan takes of one memory.
struct MemoryUse {
  Bytes height = 0;  // The largest offset + size; 0 without addresses or residencies.
  Bytes peak = 0;    // The most bytes resident at one step.
  friend bool operator==(const MemoryUse&, const MemoryUse&) = default;
};

// What a plan for several memories costs (berth/memories.h), in order of importance. 0 throughout
// where there is nothing to choose.
struct PlanCost {
  std::size_t unplaced = 0;  // Buffers that must be placed and are not.
  std::int64_t cost = 0;     // In the unit of the caller's costs; with prefetch, the time of a run.
  Bytes moved = 0;           // Of buffers with a previous place that are not there any more.
  friend auto operator<=>(const PlanCost&, const PlanCost&) = default;
};

struct MemoryPlan {
  // The operators (indices into Graph::operators) in the order in which they run; step s executes
  // order[s]. Empty for a table. An operator that runs again is listed again.
  std::vector<std::size_t> order;
  // By tensor, then by start. Of a table: parallel to Problem::buffers, with the lifetimes of the
  // buffers; for several memories, without the buffers that are left out.
  std::vector<Residency> residencies;
  bool addressed = true;            // Offsets are given. False for an order alone.
  std::vector<MemoryUse> memories;  // By index; one entry at least.
  Traffic traffic;                  // 0 throughout where nothing is copied.
  PlanCost cost;                    // Of several memories.
  Recomputed recomputed;            // 0 where each operator runs once.

  // What running operators again costs and, over a link, the avoidable copies.
  [[nodiscard]] std::int64_t overhead() const { return recomputed.cost + traffic.cost; }
  // Of memory 0.
  [[nodiscard]] Bytes height() const { return memories.empty() ? 0 : memories.front().height; }
  [[nodiscard]] Bytes peak() const { return memories.empty() ? 0 : memories.front().peak; }
  friend bool operator==(const MemoryPlan&, const MemoryPlan&) = default;
};

// What searches count besides their nodes; 0 where a search does not count it.
struct SearchStats {
  // Of the searches with propagation (guided, telamalloc), whose nodes are attempts to place one
  // buffer.
  std::int64_t failures = 0;          // Attempts after which no plan could exist any more.
  std::int64_t minor_backtracks = 0;  // Undoing one placement at once.
  std::int64_t major_backtracks = 0;  // Leaving a decision point without candidates.
  // Of the search for an order.
  std::int64_t operators = 0;    // Left to search after the reduction.
  std::int64_t segments = 0;     // Into which they fall.
  std::int64_t cuts = 0;         // Minimum cuts.
  std::int64_t constraints = 0;  // Order constraints found by probing.
  std::int64_t states = 0;       // Sets of operators kept by beams and best-first search.
  friend bool operator==(const SearchStats&, const SearchStats&) = default;
};

// One of the searches that an answer is made of.
struct SearchReport {
  // Of this search's own question, such as: is the order one of least peak?
  Outcome outcome = Outcome::kUnknown;
  StopReason stopped = StopReason::kAnswered;
  std::string_view algorithm = {};  // The name of what found its result; empty: it did not run.
  std::int64_t nodes = 0;
  double seconds = 0;  // Wall clock.
  SearchStats stats = {};
};

// How far a running search is, in the bytes that it minimises: of Place() heights, of Schedule()
// peaks, of PlanWithSpills() avoidable traffic. In several memories these are costs, or with prefetch
// the time of a run; nothing is told before everything that must be placed is.
struct Progress {
  std::optional<Bytes> best;  // Of the best plan so far; none where none is known.
  Bytes bound = 0;            // Proved: no plan has less.
  std::int64_t nodes = 0;     // Visited so far.
};

// The operator that needs the most memory by itself.
struct LeastMemory {
  std::size_t op = 0;  // The first such operator.
  Bytes bytes = 0;     // Its inputs and outputs; 0 where no operator touches a counted tensor.
  friend bool operator==(const LeastMemory&, const LeastMemory&) = default;
};

struct PlanAnswer {
  // Of the whole question. kOptimal: proved that no plan is lower, or with spills, that none has
  // less avoidable traffic. kInfeasible: proved that no plan fits the capacity.
  Outcome outcome = Outcome::kUnknown;
  StopReason stopped = StopReason::kAnswered;
  // The best plan found, validated. Without spills it may be higher than the capacity, with outcome
  // kInfeasible or kUnknown: its height is then the smallest capacity known to work. None where
  // pins collide, where the search was cancelled before its start, or where no plan with spills
  // was found.
  std::optional<MemoryPlan> best;
  std::optional<Bytes> capacity;  // That was asked for, in bytes also where it was given by name.

  // Proved bounds; 0 is true of anything.
  Bytes height_bound = 0;     // No plan that the request allows is lower.
  Bytes placement_bound = 0;  // No placement of the residencies of `best` is lower.
  Bytes peak_bound = 0;       // No order has a lower peak.
  Bytes traffic_bound = 0;    // No plan within the capacity has less avoidable traffic.
  // Of several memories: no plan leaves fewer unplaced; none that leaves so few costs less. Of bytes
  // moved, Repack() alone proves something.
  PlanCost cost_bound;
  // No plan within the capacity, without traffic, runs operators again for less; with a link to copy
  // over, no plan has a lower sum of Recomputed::cost and Traffic::cost.
  std::int64_t recompute_bound = 0;

  // The searches behind it; those that did not run have no algorithm.
  SearchReport scheduling;  // For the order.
  SearchReport spilling;    // For what leaves the memory.
  SearchReport placing;     // For the offsets.
  std::int64_t nodes = 0;   // Of all of them.
  double seconds = 0;       // Wall clock, of all of them.

  // Of a graph.
  // Tensors that the plan should hold (`tensors` of them) and whose sizes are not known (`unsized`).
  // These count as 0 bytes, so that bounds hold, and no outcome is better than kUnknown, unless
  // Counting::unsized_as_zero says otherwise.
  std::size_t tensors = 0;
  std::size_t unsized = 0;
  Bytes program_order_peak = 0;  // The peak if the operators ran in the order of the graph.
  bool recomputes = false;       // Operators were allowed to run again: so does `recompute_bound`.
  // Of a plan with spills or with recomputation.
  bool spills = false;       // Tensors were allowed to leave: `traffic_bound` means something.
  bool fixed_order = false;  // Outcome and bounds are about one order alone.
  Bytes traffic_by_sum = 0;  // The least avoidable traffic found where bytes need only fit in sum.
  LeastMemory least;         // No plan fits less than this (MR).
  Bytes least_peak = 0;  // The least peak found: from this capacity on nothing has to be spilled
                         // (MP). Proved the least if `scheduling` is.

  [[nodiscard]] bool fits() const {
    return outcome == Outcome::kOptimal || outcome == Outcome::kFeasible;
  }
};

// The plan of a table: buffer b at offsets[b] throughout its lifetime. `offsets` are parallel to the
// buffers of `problem`. Cost: O(n log n).
[[nodiscard]] MemoryPlan PlanOf(const Problem& problem, const std::vector<Bytes>& offsets);
// The offsets of the residencies of `plan`, in their order, and its height.
[[nodiscard]] Placement PlacementOf(const MemoryPlan& plan);

}  // namespace berth

#endif  // BERTH_ANSWER_H_
