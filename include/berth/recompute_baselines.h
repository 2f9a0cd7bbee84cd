// berth/recompute_baselines.h -- other people's ways to run operators again, to compare with.
//
//   berth::RecomputeBaselineOptions options;
//   options.capacity = berth::Bytes{8} << 30;
//   const auto answer = berth::RecomputeWithBaseline(graph, berth::RecomputeBaseline::kPeak, options, budget);
//
// What berth/recompute.h is measured against: two integer programs, which are also second opinions on
// small graphs, and three heuristics. All of them start from one order of first executions, count
// activations and gradients alone, and answer with plans like any other, with repeats, which
// ValidatePlan() accepts. In the library berth::baselines.
#ifndef BERTH_RECOMPUTE_BASELINES_H_
#define BERTH_RECOMPUTE_BASELINES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "berth/answer.h"
#include "berth/budget.h"
#include "berth/graph.h"
#include "berth/result.h"
#include "berth/spill.h"

namespace [[gnu::visibility("default")]] berth {

enum class RecomputeBaseline {
  kCheckmate,  // Checkmate's integer program.
  kPeak,       // Greedily, where the memory is exceeded: XLA's rematerialization in spirit.
  kPartition,  // PyTorch's partitioner: a knapsack and a minimum cut between forward and backward.
  kCheckpoints,  // Chen's checkpoints: segments of the forward pass that run again as a whole.
};

struct RecomputeBaselineInfo {
  RecomputeBaseline baseline;
  std::string_view name;     // "checkmate"
  std::string_view summary;  // One sentence.
  std::string_view source;   // Paper, or the code base it follows.
  bool solver;               // Needs an integer programming solver.
  bool backward;             // Needs to know where the backward pass begins.
};
// All of them, in the order of the enumeration.
[[nodiscard]] std::span<const RecomputeBaselineInfo> RecomputeBaselines();
[[nodiscard]] const RecomputeBaselineInfo& Info(RecomputeBaseline baseline);

struct RecomputeBaselineOptions {
  Bytes capacity = 0;
  std::optional<Order> order;  // Of first executions. None: program order.
  // The first operator of the backward pass in that order. None: the first that makes a gradient.
  std::optional<OperatorIndex> backward;
  // Gives the residencies their addresses. Empty: the plan has none.
  Placer placer = DefaultPlacer();
  // Of the integer programs.
  std::string backend;  // "cbc" or "highs"; empty: the first that this build has.
  std::uint64_t seed = 1;
  std::int64_t most_variables = 1'000'000;  // Larger programs are not built.
};

struct RecomputeBaselineAnswer {
  // kFeasible: a plan whose bytes fit in sum. The programs also say kOptimal and kInfeasible, of what
  // they can express: each operator at most once between two first executions, in the given order.
  Outcome outcome = Outcome::kUnknown;
  StopReason stopped = StopReason::kAlgorithm;
  // Valid, with bytes within the capacity. With addresses within it where the placer found these
  // (MemoryPlan::addressed).
  std::optional<MemoryPlan> plan;
  // Proved: no solution of the program costs less; 0 without a proof.
  std::int64_t bound = 0;
  bool claims_optimal = false;  // The solver said so, exact or not.
  std::int64_t variables = 0;   // Of the integer program, also of one that was not built.
  std::int64_t constraints = 0;
  std::int64_t nodes = 0;  // Of the solver.
  double seconds = 0;      // Wall clock.
};

// Plans `graph` by the chosen method.
//
// kCheckmate: P. Jain et al., "Checkmate: Breaking the Memory Wall with Optimal Tensor
// Rematerialization", MLSys 2020, section 4: one stage for each first execution, in which operators run
// again in order (R), and tensors stay from stage to stage (S), within a memory whose use is followed
// operator by operator (U, FREE). Three things are beyond the paper: an operator may have several
// outputs; writes in place, which make versions of a tensor in the same bytes; and results, which stay to
// the end. The size is O(operators x (operators + uses of tensors)).
//
// kPeak: at the first step that exceeds the capacity, of all tensors that are there but not used, the one
// whose operators cost the least for each byte that this frees is made again right before its next use;
// as often as the bytes beyond the capacity become fewer. XLA (HloRematerialization) compares bytes
// alone, also weighs blocks of operators, and reports what it could not reduce.
//
// kPartition: what the backward pass needs of the forward pass is saved or computed again, each operator
// once, right before its first use. A knapsack picks the dearest values to save within a share of their
// bytes, and a minimum cut saves the fewest bytes from which the others can be computed, as PyTorch's
// min_cut_rematerialization_partition does with an activation_memory_budget. Budgets of 100, 95, ... 0 %
// are tried, as the peak need not fall with them; the cheapest plan that fits counts. PyTorch restricts
// the knapsack to operators that it takes for expensive by their types; here every operator has a cost.
//
// kCheckpoints: T. Chen, B. Xu, C. Zhang and C. Guestrin, "Training Deep Nets with Sublinear Memory Cost",
// arXiv 1604.06174, algorithm 3: the forward pass is cut into segments of about equal bytes; what leaves
// a segment is kept, and the rest of it is computed again, all at once, when the backward pass first needs
// it. All numbers of segments are tried.
//
// Errors: kInvalidGraph; kInvalidPlan for an order that cannot run; kInvalidOptions for a capacity below 0,
// another backend's name, and for a `backward` that is no operator; kUnsupported for what this build
// lacks, for sizes or costs that doubles cannot hold, and where a method needs a backward pass and the
// graph has no gradient.
[[nodiscard]] Result<RecomputeBaselineAnswer> RecomputeWithBaseline(
    const Graph& graph, RecomputeBaseline baseline, const RecomputeBaselineOptions& options,
    Budget& budget);

// What POET minimises.
struct PoetOptions {
  RecomputeBaselineOptions plan = {};  // `backward` is not used.
  Link link;                           // How long copies take, for Traffic::cost.
  // Energy of each operator, whenever it runs again; and of copies, for each byte. Empty, and 0: what is
  // minimised is time, the costs of operators (nanoseconds) and the time of copies over `link`.
  std::vector<std::int64_t> energy = {};
  std::int64_t energy_out_per_byte = 0;
  std::int64_t energy_in_per_byte = 0;
  // The most that all executions together, first ones too, may cost (CostsOf()), as in the paper without
  // the copies; none: any.
  std::optional<std::int64_t> most_cost = {};
};

struct PoetAnswer {
  RecomputeBaselineAnswer found;  // `bound` is one on `value`.
  std::int64_t value = 0;         // What was minimised, of `found.plan`.
};

// Recomputation and copies off chip together: S. Patil, P. Jain, P. Dutta, I. Stoica and J. Gonzalez,
// "POET: Training Neural Networks on Tiny Devices with Integrated Rematerialization and Paging", ICML 2022,
// section 4: Checkmate's program, and for each stage what is copied out (MOUT), is off chip (SSD) and comes
// back before the next stage (MIN). As in berth/recompute.h with a link, results end off chip at no cost.
// The store holds one version of a tensor, and a version that is written over later is copied out when it
// leaves. Errors: as RecomputeWithBaseline(); kInvalidOptions for a link out of bounds, operators whose
// cost is no time where that is minimised, and for an `energy` that is not one number from 0 to 2^40 for
// each operator.
[[nodiscard]] Result<PoetAnswer> RecomputeByPoet(const Graph& graph, const PoetOptions& options,
                                                 Budget& budget);

}  // namespace berth

#endif  // BERTH_RECOMPUTE_BASELINES_H_
