// berth/spill.h -- when a graph does not fit: which tensors are spilled and retrieved, and when.
//
//   berth::SpillOptions options;
//   options.capacity = 512 * 1024;
//   const auto answer = berth::PlanWithSpills(graph, options, budget);
//
// A tensor that has to make room is written off chip (spilled) and brought back (retrieved) before
// it is used again, perhaps to another address. Each stay in memory is a residency:
//
//   offset                      x is made at step 0, spilled before step 2, where w and z need the
//     8 +-----+     +-----+     whole memory, and retrieved at step 3, which uses it: traffic of
//       |  x  +-----+  w  |     twice its 4 bytes. Spilling it again would only cost another
//     4 +-----+  w  +--+--+     retrieval: the copy off chip stays valid until an operator
//       |  y  |     |z | x|     writes x in place.
//     0 +-----+-----+--+--+
//       0     1     2  3  4  step
//
// Traffic that no plan can avoid is compulsory and counted separately: given tensors are read once,
// and results are written once. So a given tensor never has to be written before it is dropped, and
// a result, which is written once it has its last value, can then be dropped at no cost.
//
// Every plan holds the inputs and outputs of an operator while it runs. The operator with the most
// bytes sets the least capacity that fits a plan (MR in COSMA, Li, Gupta and Malik, 2023), and the
// answer names it. From the least peak of any order (MP) on, nothing has to be spilled.
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
// it in place, add up to at most 2^60. During each residency some operator makes or uses the
// tensor, which is written out only if one of them made or wrote it; so neither the traffic of a
// plan nor the bytes of all its residencies exceed that sum. `graph` must be valid. Error:
// kInvalidGraph, naming the tensor that exceeds the limit.
[[nodiscard]] Result<void> ValidateTraffic(const Graph& graph, const Counting& counting);

// The operator that needs the most memory by itself, with its inputs and outputs: no plan fits less
// (MR in COSMA). `graph` must be valid. Cost: linear.
[[nodiscard]] LeastMemory FindLeastMemory(const Graph& graph, const Counting& counting);

// Gives the buffers of a problem with a capacity their offsets, within the budget.
using Placer = std::function<Result<PlanAnswer>(const Problem& problem, Budget& budget)>;
// Place() with default options.
[[nodiscard]] Placer DefaultPlacer();

// Switches for the rules of the search (src/spill/search.h explains them). They change the work,
// never what is proved.
struct SpillRules {
  bool dominance = true;  // Of two states after the same operators, the better one.
  bool safe_runs = true;  // Operators that cannot make a plan worse run at once.
  bool belady = true;     // Of equal storages, the one needed later is spilled first.
  bool prices = true;     // A lower bound for one order, from the price of memory at each step.
  bool segments = true;   // A lower bound for all orders: bounds of parts of the graph add up.
  bool cuts = true;       // The same: what must be off chip while one operator runs.
  bool peaks = true;      // The same, from the least peak of any order.
  bool whole = true;      // The same: what is live for certain leaves as a whole.
};

struct SpillOptions {
  Bytes capacity = 0;
  // Which tensors need memory besides those that operators make. Unlike in Live(), parameters too
  // are retrieved when they are used and can be dropped when they are not.
  Counting counting = {};
  // Orders to start from. The answer is at least as good as the best plan for any of these. Empty:
  // program order.
  std::vector<Order> orders;
  bool fixed_order = false;  // Only the first of `orders`, or program order.
  // In millionths, at least 0: ends once the avoidable traffic of the best schedule is at most this
  // part of it above the proved bound. 1000 is within 0.1 %; the outcome is then kFeasible, unless the
  // plan is proved, and the reason kGap.
  std::int64_t gap = 0;
  // Gives the residencies their addresses. Empty: the plan has no addresses, and it is not known
  // whether any fit.
  Placer placer = DefaultPlacer();
  SpillRules rules;
  // States that exact search may store at once; each takes about a hundred bytes plus 3 bits for
  // each operator or tensor.
  std::int64_t max_states = 2'000'000;
  // Memory for stored states, roughly; at least 1 MiB. When it is full, exact search ends and beams
  // become narrower. The graph itself, about n^2 / 4 bytes for n operators, is not included. More threads do
  // not take more of it.
  std::size_t most_bytes = std::size_t{2} << 30;
  // From 1 to 256. The answer does not depend on it, unless time or cancellation ends the search.
  int threads = 1;
  // Called from the calling thread, with avoidable traffic, when the best schedule or the bound
  // changes. Schedules have no addresses yet. May be empty.
  std::function<void(const Progress&)> progress;
};

// Finds an order, the tensors to spill and retrieve, and all addresses, for the least avoidable
// traffic within the capacity. PlanAnswer::traffic_bound is proved; PlanAnswer::least is the
// operator that needs the most by itself: a capacity below it is kInfeasible, and then `best` has
// no plan. kUnknown: no plan with addresses was found. With `fixed_order` the outcome and the bound
// are about plans in that order alone.
//
// Without any limit in `budget` the search ends after a fixed amount of work, about ten seconds. The
// answer depends on the arguments alone unless time or cancellation ends the search; once cancelled
// it takes about a second more at most (some tenths of one for more than 4,096 operators), for the
// addresses of the best schedules found; with more than 2^18 operators no plan is then made.
// Whatever the time and nodes, at least one order gets a schedule, perhaps without addresses that fit.
// Errors: kInvalidGraph, also where ValidateTraffic() fails; kInvalidPlan if an order is not
// valid; kInvalidOptions; what the placer returns.
[[nodiscard]] Result<PlanAnswer> PlanWithSpills(const Graph& graph, const SpillOptions& options,
                                                Budget& budget);

}  // namespace berth

#endif  // BERTH_SPILL_H_
