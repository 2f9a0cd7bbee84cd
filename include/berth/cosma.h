// berth/cosma.h -- COSMA as published: order, residency and addresses by one integer program.
//
// COSMA (Li, Gupta and Malik, "Combined Scheduling, Memory Allocation and Tensor Replacement for
// Minimizing Off-Chip Data Accesses of DNN Accelerators", 2023) is what berth/spill.h is measured
// against, and a second opinion on small graphs. Section and equation numbers are the paper's. In
// the library berth::baselines; it needs an integer programming solver.
#ifndef BERTH_COSMA_H_
#define BERTH_COSMA_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "berth/budget.h"
#include "berth/graph.h"
#include "berth/place.h"
#include "berth/problem.h"
#include "berth/result.h"
#include "berth/spill.h"

namespace [[gnu::visibility("default")]] berth {

struct CosmaOptions {
  enum class Objective {
    kTraffic,  // The least avoidable traffic within the capacity (equations 1-12).
    kPeak,     // The least peak of any order, nothing leaving (13-15); the capacity is not used.
  };
  Objective objective = Objective::kTraffic;
  Bytes capacity = 0;
  // kTraffic: equations 9-11. Off: bytes only have to fit in sum.
  bool addresses = true;
  // Variables and constraints only where lifetimes can be and can meet in some order (III-F).
  bool overlap_analysis = true;
  std::optional<Order> order;  // III-E2: the order is given (16).
  std::string backend;         // "cbc" or "highs"; empty: the first that this build has.
};

struct CosmaAnswer {
  Outcome outcome = Outcome::kUnknown;  // kInfeasible: no plan within the capacity.
  StopReason stopped = StopReason::kAnswered;
  // kTraffic: avoidable bytes, kPeak: bytes; of the best plan found, and proved.
  std::optional<Bytes> value;
  Bytes lower_bound = 0;
  std::optional<MemoryPlan>
      plan;  // Not validated. Offsets are 0 where no addresses were asked for.
  std::size_t variables = 0;
  std::size_t constraints = 0;
  std::int64_t nodes = 0;  // Of the solver.
  double seconds = 0;      // Wall clock.
};

// Solves COSMA's program for `graph`, which must be valid, counting activations alone.
//
// As published, except for three things that the paper leaves open: exactly one operator runs at
// each step; the outputs of an operator share one set of variables (equation 6 used up); the write
// of a result is compulsory and costs nothing here. The size is O(operators x tensors^2).
// Errors: kUnsupported for a graph that writes a counted tensor in place, which COSMA has no notion
// of, naming the operator, and for what this build lacks; kInvalidOptions for another backend's
// name; kInvalidPlan for an order with the wrong number of operators; those of ValidateTraffic().
[[nodiscard]] Result<CosmaAnswer> SolveCosma(const Graph& graph, const CosmaOptions& options,
                                             Budget& budget);

// Divide and conquer (section IV): the outputs of `break_nodes` are cut, each of the parts that
// nothing else connects is solved by itself, and the plans are put one after the other. At each
// border the outputs that are still needed are in memory. A heuristic: it proves nothing, and its
// outcome is kFeasible, or kUnknown where a part was not solved or has no plan. Only for
// kTraffic, over all orders. Errors: as SolveCosma(); kInvalidOptions for a break node that is
// none, and for parts that need each other, naming an operator.
[[nodiscard]] Result<CosmaAnswer> SolveCosmaInParts(const Graph& graph, const CosmaOptions& options,
                                                    const std::vector<OperatorIndex>& break_nodes,
                                                    Budget& budget);

// Break nodes for SolveCosmaInParts(), which the paper chose by hand: `graph`, which must be valid, is cut
// where the fewest tensors cross a position in program order, the largest part first, away from its ends
// if possible, until no part has more than `most_operators` operators. Parts that cannot be cut like that
// stay larger. SolveCosmaInParts() takes the answer, in which no operator is repeated; it is sorted, and
// empty where nothing has to be cut.
// Errors: kUnsupported as SolveCosma(); kInvalidOptions for `most_operators` of 0. Needs no solver. Cost: at
// most O(64 x parts x operators^2).
[[nodiscard]] Result<std::vector<OperatorIndex>> FindBreakNodes(const Graph& graph,
                                                                std::size_t most_operators);

// Which tensor makes room where each decision is taken by itself: what COSMA compares with.
enum class Replacement {
  kBelady,  // The one that is needed last.
  kGreedy,  // Those in the stretch of memory that is cheapest to clear.
};

// The plan of running `graph`, which must be valid, in `order`, with TensorFlow Lite's linear
// allocator and this rule (section V-A2): it has addresses and is valid. Errors: kInvalidPlan if
// `order` is not a valid order; kInvalidOptions for a capacity that one operator does not fit, naming
// it; as ValidateTraffic(). Needs no solver. Cost: O(operators x residents^2) at worst.
[[nodiscard]] Result<MemoryPlan> ReplaceOneByOne(const Graph& graph, const Order& order,
                                                 const Counting& counting, Bytes capacity,
                                                 Replacement rule);

}  // namespace berth

#endif  // BERTH_COSMA_H_
