#include "plan/improve_spills.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/arithmetic.h"
#include "base/check.h"
#include "base/try.h"
#include "graph/plan.h"
#include "recompute/entry.h"

namespace berth::internal::plan {
namespace {

// A byte takes a nanosecond: times are traffic.
constexpr Link kOfBytes = {1'000'000'000, 1'000'000'000, 0};

// `graph`, but nothing runs again.
Graph WithoutRepeats(Graph graph) {
  graph.cost_unit = "ns";
  for (Operator& op : graph.operators) {
    op.cost = 0;
    op.repeat = Repeat::kNever;
  }
  return graph;
}

// Of the bytes of all storages, so of the traffic of any plan.
Bytes DivisorOf(const Graph& graph) {
  Bytes divisor = 0;
  for (const Tensor& tensor : graph.tensors) {
    if (!tensor.alias_of) divisor = std::gcd(divisor, tensor.bytes);
  }
  return std::max<Bytes>(divisor, 1);
}

}  // namespace

Result<void> ImproveSpills(const Graph& graph, const SpillOptions& options, PlanAnswer& answer,
                           Budget& budget) {
  RecomputeOptions again;
  again.capacity = options.capacity;
  again.counting = options.counting;
  again.orders = options.orders;
  again.fixed_order = options.fixed_order;
  again.gap = options.gap;
  again.placer = options.placer;
  again.link = kOfBytes;
  const bool known = answer.fits() && answer.best && answer.best->addressed;
  if (known) {
    again.plans = {*answer.best};
    if (!options.fixed_order) again.orders.push_back(answer.best->order);
  }
  PlanAnswer found = BERTH_TRY(recompute::PlanValid(WithoutRepeats(graph), again, budget));
  answer.nodes += found.nodes;
  answer.seconds += found.seconds;
  answer.traffic_bound =
      std::max(answer.traffic_bound, RoundUp(found.recompute_bound, DivisorOf(graph)));
  if (found.best && found.fits()) {
    const Bytes traffic = found.best->traffic.avoidable();
    answer.traffic_by_sum = std::min(answer.traffic_by_sum, traffic);
    if (!known || traffic < answer.best->traffic.avoidable()) {
      answer.best = std::move(found.best);
      answer.best->traffic.cost = 0;
      const auto valid = ValidatePlan(graph, options.counting, options.capacity, *answer.best);
      if (!valid) CheckFailed(valid.error().message.c_str(), __FILE__, __LINE__);
      answer.placing = found.placing;
      answer.placement_bound = found.placement_bound;
      answer.outcome = Outcome::kFeasible;
    }
  }
  if (answer.outcome == Outcome::kFeasible &&
      answer.best->traffic.avoidable() <= answer.traffic_bound) {
    answer.outcome = Outcome::kOptimal;
    answer.stopped = StopReason::kAnswered;
  } else if (found.stopped == StopReason::kGap) {
    answer.stopped = StopReason::kGap;
  }
  answer.spilling.outcome = answer.outcome;
  answer.spilling.stopped = answer.stopped;
  answer.spilling.nodes += found.nodes;
  answer.spilling.seconds += found.seconds;
  return {};
}

}  // namespace berth::internal::plan
