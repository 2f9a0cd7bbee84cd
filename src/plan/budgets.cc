// Capacities by name (COSMA, section V-A2).
//
// The least peak for plans with spills is not that of Live(): a given tensor that is counted needs
// memory from its first use through its last only. So the search for the order sees a graph in which
// each of these is made by an operator of its own.

#include "plan/budgets.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/try.h"
#include "berth/bytes.h"
#include "berth/plan.h"
#include "berth/spill.h"
#include "berth/sweep.h"
#include "graph/edges.h"
#include "graph/loads.h"
#include "schedule/entry.h"

namespace berth {

std::optional<Capacity> ParseCapacity(std::string_view text) {
  if (text == "MR" || text == "mr") return NamedBudget::kOneOperator;
  if (text == "MH" || text == "mh") return NamedBudget::kHalfway;
  if (text == "MP" || text == "mp") return NamedBudget::kLeastPeak;
  if (const auto bytes = ParseBytes(text)) return *bytes;
  return std::nullopt;
}

Bytes NamedBudgets::Of(const Capacity& capacity) const {
  if (const Bytes* const bytes = std::get_if<Bytes>(&capacity)) return *bytes;
  switch (std::get<NamedBudget>(capacity)) {
    case NamedBudget::kOneOperator:
      return least.bytes;
    case NamedBudget::kHalfway:
      return halfway();
    case NamedBudget::kLeastPeak:
      break;
  }
  return least_peak;
}

Result<NamedBudgets> NamedBudgetsOf(const Graph& graph, const PlanOptions& options,
                                    Budget& budget) {
  BERTH_TRY(Validate(graph));
  return internal::plan::NamedBudgetsOfValid(graph, options, budget);
}

Result<NamedBudgets> FindBudgets(const Graph& graph, const Counting& counting, Budget& budget,
                                 std::size_t most_bytes) {
  BERTH_TRY(Validate(graph));
  ScheduleOptions schedule;
  schedule.counting = counting;
  schedule.most_bytes = most_bytes;
  return internal::plan::FindBudgetsOfValid(graph, schedule, FindLeastMemory(graph, counting),
                                            budget);
}

namespace internal::plan {
namespace {

// As FindLeastMemory() where given tensors are never retrieved: with each operator, all counted
// parameters and constants are in memory, too. Cost: O(n log n).
LeastMemory LeastWithoutCopies(const Graph& graph, const Counting& counting) {
  std::vector<bool> throughout(graph.tensors.size(), false);
  Bytes always = 0;
  for (TensorIndex t = 0; t < graph.tensors.size(); ++t) {
    const Tensor& tensor = graph.tensors[t];
    throughout[t] =
        IsCounted(tensor, counting) && !IsMade(tensor.kind) && tensor.kind != TensorKind::kInput;
    if (throughout[t]) always += tensor.bytes;
  }
  const std::vector<OperatorIndex> makers = Makers(graph);
  std::vector<TensorIndex> bases;
  LeastMemory least;
  for (OperatorIndex v = 0; v < graph.operators.size(); ++v) {
    Bytes bytes = always;
    const auto add = [&](TensorIndex base) {
      if (IsCounted(graph.tensors[base], counting) && !throughout[base]) {
        bytes += graph.tensors[base].bytes;
      }
    };
    for (const TensorIndex t : graph.operators[v].outputs) {
      if (!graph.tensors[t].alias_of) add(t);
    }
    BasesUsed(graph, makers, v, bases);
    for (const TensorIndex base : bases) add(base);
    if (bytes > least.bytes) least = {v, bytes};
  }
  return least;
}

}  // namespace

Result<NamedBudgets> FindBudgetsOfValid(const Graph& graph, const ScheduleOptions& schedule,
                                        const LeastMemory& least, Budget& budget) {
  NamedBudgets named;
  named.least = least;
  std::size_t loads = 0;
  const Graph loaded = WithLoads(graph, schedule.counting, loads);
  ScheduleOptions options;
  options.counting.unsized_as_zero = schedule.counting.unsized_as_zero;
  options.most_bytes = schedule.most_bytes;
  options.threads = schedule.threads;
  const PlanAnswer answer = BERTH_TRY(internal::schedule::ScheduleValid(loaded, options, budget));
  named.least_peak = std::max(answer.best->peak(), named.least.bytes);
  named.peak_proved = answer.outcome == Outcome::kOptimal;
  named.peak_bound = answer.peak_bound;
  named.search = answer.scheduling;
  named.order.reserve(graph.operators.size());
  for (const OperatorIndex v : answer.best->order) {
    if (v >= loads) named.order.push_back(v - loads);
  }
  return named;
}

Result<NamedBudgets> NamedBudgetsOfValid(const Graph& graph, const PlanOptions& options,
                                         Budget& budget) {
  const Counting& counting = options.schedule.counting;
  const bool copies = options.spill || !options.recompute;
  if (copies || (!counting.inputs && !counting.parameters)) {
    return FindBudgetsOfValid(graph, options.schedule, FindLeastMemory(graph, counting), budget);
  }
  ScheduleOptions schedule;
  schedule.counting = counting;
  schedule.most_bytes = options.schedule.most_bytes;
  schedule.threads = options.schedule.threads;
  PlanAnswer found = BERTH_TRY(internal::schedule::ScheduleValid(graph, schedule, budget));
  NamedBudgets named;
  named.least = LeastWithoutCopies(graph, counting);
  named.least_peak = found.best->peak();
  named.peak_proved = found.peak_bound == named.least_peak;
  named.order = std::move(found.best->order);
  named.search = found.scheduling;
  named.search.nodes = found.nodes;
  named.peak_bound = found.peak_bound;
  return named;
}

}  // namespace internal::plan
}  // namespace berth
