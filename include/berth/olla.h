// berth/olla.h -- OLLA as published: the order of operators by an integer program.
//
// OLLA (Steiner et al., "OLLA: Decreasing the Memory Usage of Neural Networks by Optimizing the
// Lifetime and Location of Arrays", arXiv 2210.12924) is what berth/schedule.h is measured against,
// and a second opinion on small graphs. Section and equation numbers are the paper's. In the
// library berth::baselines; it needs an integer programming solver.
#ifndef BERTH_OLLA_H_
#define BERTH_OLLA_H_

#include <cstdint>
#include <optional>
#include <string>

#include "berth/budget.h"
#include "berth/graph.h"
#include "berth/problem.h"
#include "berth/recompute_baselines.h"
#include "berth/result.h"
#include "berth/schedule.h"
#include "berth/spill.h"

namespace [[gnu::visibility("default")]] berth {

// Each technique by itself. All but early_updates leave the optimum as it is.
struct OllaOptions {
  bool joint = false;      // Order and addresses in one program (9); off: the order alone (14).
  bool spans = true;       // An operator runs between its ASAP and ALAP step (10).
  bool lifetimes = true;   // Nothing is kept outside of its maximum useful lifetime (11).
  bool preserved = true;   // What cannot but be live is live (12).
  bool precedence = true;  // joint: no constraints for tensors that never are live together (4.2).
  bool early_updates = true;  // Control edges make weight updates run early (4.3).
  std::string backend;        // "cbc" or "highs"; empty: the first that this build has.
  std::uint64_t seed = 1;
};

struct OllaAnswer {
  // The order is the solver's, or program order where it has found none. The bound of the peak is
  // that of the program only where its numbers are exact (see berth/baselines.h) and no control edge
  // was added; else that of the largest tensor. With `joint` the plan has the solver's addresses
  // where these hold.
  PlanAnswer plan;
  bool found = false;           // The order is the solver's.
  bool claims_optimal = false;  // The solver said so, exact or not.
  std::int64_t variables = 0;   // Of the integer program.
  std::int64_t constraints = 0;
  std::int64_t control_edges = 0;
};

// Orders the operators of `graph` by OLLA's integer program. Errors: kInvalidGraph;
// kInvalidOptions for a backend with another name; kUnsupported for one that this build lacks, or
// for sizes that doubles cannot hold.
[[nodiscard]] Result<OllaAnswer> ScheduleByOlla(const Graph& graph, const OllaOptions& options,
                                                Budget& budget);

// How many variables that program has, without building it: solvers take hours where there are many.
// Needs no solver. Errors: kInvalidGraph. Cost: O(operators + tensors), after the data flow.
[[nodiscard]] Result<std::int64_t> CountOllaVariables(const Graph& graph,
                                                      const OllaOptions& options);

// The same program where operators run again and tensors are swapped, as the authors' published code has it
// and the paper does not: within a capacity, for the least cost, or for the least peak at a bounded cost.
struct OllaRecomputeOptions {
  RecomputeBaselineOptions plan =
      {};  // `order` and `backward` are not used: the program finds an order.
  // None: the least cost within plan.capacity. Else the least peak, at most plan.capacity, of all plans that
  // cost at most so much more than running each operator once. At least 0, in the unit of costs, nanoseconds
  // with a link. (The code bounds the bytes that are swapped, and minimises the peak only where no operator
  // runs again.)
  std::optional<std::int64_t> most_cost = {};
  // Tensors may be copied off chip and back; the time of copies then adds to that of operators. None: operators
  // run again, and nothing is copied.
  std::optional<Link> link = {};
  // Steps beyond one for each operator; at each step operators run that do not wait for each other. So every
  // plan with at most so many executions after the first of each operator is a solution. The code has a factor,
  // 1 by default, which leaves no steps.
  std::size_t more_steps = 0;
  // As in the code, an operator runs again only where it may run for the first time (10).
  bool within_spans = false;
};

// Outcomes kOptimal and kInfeasible, and the bound, are those of the program: for plans in any order with at
// most `more_steps` executions after the first ones, unless `within_spans` leaves some of them out. Costs are as
// in berth/recompute.h. With `most_cost` the bound is one on the peak, in bytes; the plan's own may be below it
// where it has more executions than there are steps, and its addresses are within that peak or missing. Errors:
// as RecomputeWithBaseline(); kInvalidOptions for a `most_cost` below 0, and with a link for one out of bounds and
// for operators that do not cost nanoseconds.
[[nodiscard]] Result<RecomputeBaselineAnswer> RecomputeByOlla(const Graph& graph,
                                                              const OllaRecomputeOptions& options,
                                                              Budget& budget);

}  // namespace berth

#endif  // BERTH_OLLA_H_
