// baselines/recompute/methods.h -- the methods that baselines.cc chooses from, one file each.
#ifndef BERTH_BASELINES_RECOMPUTE_METHODS_H_
#define BERTH_BASELINES_RECOMPUTE_METHODS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "baselines/recompute/executions.h"

namespace berth::internal::baselines {

// A sequence whose bytes fit; none: the method has found none.
using Found = std::optional<Sequence>;

// peak.cc. Cost: O(repeats x candidates x executions).
[[nodiscard]] Found RepeatAtPeak(const Work& work, Bytes capacity, Budget& budget);

// Where the backward pass begins; the position of its first operator.
struct Passes {
  std::size_t backward = 0;
  // By store, whether it may be dropped after the forward pass and made again: the forward pass makes it
  // and gives it its last version, by operators that may run again and harm nothing else.
  std::vector<char> may_drop;
  std::vector<char> needed;  // By store that the forward pass makes: the backward pass uses it.
};
[[nodiscard]] Passes FindPasses(const Work& work, std::size_t backward);
// The sequence in which the backward pass makes `dropped` stores again when it needs them. `segment_of`, by
// store: all dropped stores of a segment are made together; empty: each by itself. None where something
// could not be found again even with fewer dropped.
[[nodiscard]] Found MakeAgain(const Work& work, const Passes& passes, std::vector<char> dropped,
                              const std::vector<std::size_t>& segment_of);

// partition.cc
[[nodiscard]] Found PartitionByBudget(const Work& work, const Passes& passes, Bytes capacity,
                                      Budget& budget);
// checkpoints.cc
[[nodiscard]] Found CheckpointSegments(const Work& work, const Passes& passes, Bytes capacity,
                                       Budget& budget);

// stages.cc: Checkmate's program, and POET's.
struct Paging {
  Link link;
  std::vector<std::int64_t> run;  // By position: the price of running again.
  std::vector<std::int64_t> out;  // By store: that of a copy out, and of one back.
  std::vector<std::int64_t> in;
  std::optional<std::int64_t> most_cost;
};
// All prices are times: of operators, and of copies over `link`.
[[nodiscard]] Paging TimesOf(const Work& work, const Link& link);
// Error: kInvalidOptions where operators do not cost nanoseconds, as their times and those of copies are added.
[[nodiscard]] Result<void> CheckTimes(const Graph& graph);
// The order of first executions that the options name. Errors: those of RecomputeWithBaseline() for graph,
// order and capacity.
[[nodiscard]] Result<Order> OrderOf(const Graph& graph, const RecomputeBaselineOptions& options);
// Of the time, what the solver gets; addresses take the rest.
inline constexpr double kShareOfSolver = 0.95;

struct Solved {
  RecomputeBaselineAnswer answer;  // Without a plan.
  Found sequence;
};
// Without `paging` what is minimised is Work::cost. The bytes of the sequence fit.
[[nodiscard]] Result<Solved> SolveStages(const Work& work, const RecomputeBaselineOptions& options,
                                         const Paging* paging, Budget& budget);

}  // namespace berth::internal::baselines

#endif  // BERTH_BASELINES_RECOMPUTE_METHODS_H_
