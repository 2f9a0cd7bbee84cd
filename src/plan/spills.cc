#include "plan/spills.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/arithmetic.h"
#include "base/check.h"
#include "base/gap.h"
#include "base/try.h"
#include "base/within_memory.h"
#include "graph/plan.h"
#include "recompute/entry.h"

namespace berth::internal::plan {
namespace {

// With a time limit: the part of it for the first search over residencies, and the part of the rest for
// sequences. The first mostly finds a plan and bounds at once, or not for long.
constexpr double kShareOfFirst = 0.1;
constexpr double kShareOfSequences = 0.5;
constexpr std::size_t kMostOperatorsToImprove = 10'000;

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

// What the plan and the bound found so far decide.
void Conclude(std::int64_t gap, PlanAnswer& answer) {
  if (answer.outcome != Outcome::kFeasible) return;
  const Bytes traffic = answer.best->traffic.avoidable();
  if (traffic <= answer.traffic_bound) {
    answer.outcome = Outcome::kOptimal;
    answer.stopped = StopReason::kAnswered;
  } else if (gap > 0 && traffic <= MostWithin(answer.traffic_bound, gap)) {
    answer.stopped = StopReason::kGap;
  }
}

void StateSearch(PlanAnswer& answer, std::int64_t nodes, double seconds) {
  answer.nodes += nodes;
  answer.seconds += seconds;
  answer.spilling.outcome = answer.outcome;
  answer.spilling.stopped = answer.stopped;
  answer.spilling.nodes += nodes;
  answer.spilling.seconds += seconds;
}

[[nodiscard]] bool IsOpen(const PlanAnswer& answer, Bytes useful, Budget& budget) {
  const bool open = answer.outcome == Outcome::kFeasible || answer.outcome == Outcome::kUnknown;
  return open && answer.traffic_bound < useful && answer.stopped != StopReason::kGap &&
         !budget.Exhausted();
}

// A part of the time that hears of a cancellation of the whole: once cancelled, the search over residencies
// still looks for addresses.
Result<PlanAnswer> SearchInPart(const Graph& graph, const SpillOptions& options, spill::Model model,
                                double seconds, const spill::Known& known, double share,
                                Budget& budget) {
  Budget part(budget, share);
  const auto cancel = [&] {
    if (budget.cancelled()) part.Cancel();
  };
  cancel();
  const PollListener listener(budget, cancel);
  return spill::PlanValid(graph, options, std::move(model), seconds, known, part);
}

// `search` changes the answer once it has ended.
template <typename Search>
Result<void> IfMemoryAllows(PlanAnswer& answer, Search search) {
  if (std::optional<Result<void>> ended = WithinMemory(search)) return *std::move(ended);
  answer.stopped = StopReason::kSize;
  return {};
}

// The search over residencies once more, from what is known by now.
Result<void> SearchAgain(const Graph& graph, const SpillOptions& options, spill::Model model,
                         double seconds, Bytes useful, PlanAnswer& answer, Budget& budget) {
  SpillOptions again = options;
  spill::Known known;
  known.traffic_bound = answer.traffic_bound;
  known.traffic = useful;
  if (answer.best && answer.fits()) {
    known.traffic = std::min(useful, answer.best->traffic.avoidable());
    if (!options.fixed_order) again.orders.push_back(answer.best->order);
  }
  PlanAnswer found =
      BERTH_TRY(SearchInPart(graph, again, std::move(model), seconds, known, 1, budget));
  answer.traffic_bound = std::max(answer.traffic_bound, found.traffic_bound);
  if (found.best) {
    answer.traffic_by_sum =
        answer.best ? std::min(answer.traffic_by_sum, found.traffic_by_sum) : found.traffic_by_sum;
  }
  answer.stopped = found.stopped;
  if (found.best && found.fits() && found.best->traffic.avoidable() < known.traffic) {
    answer.best = std::move(found.best);
    answer.placement_bound = found.placement_bound;
    answer.placing = found.placing;
    answer.outcome = Outcome::kFeasible;
  }
  Conclude(options.gap, answer);
  StateSearch(answer, found.nodes, found.seconds);
  return {};
}

}  // namespace

Result<PlanAnswer> SearchForSpills(const Graph& graph, const SpillOptions& options,
                                   spill::Model model, double seconds, Bytes useful,
                                   Budget& budget) {
  const spill::Known known = {0, useful};
  if (!budget.has_time_limit() || graph.operators.size() > kMostOperatorsToImprove) {
    return spill::PlanValid(graph, options, std::move(model), seconds, known, budget);
  }
  spill::Model copy = model;
  PlanAnswer answer = BERTH_TRY(
      SearchInPart(graph, options, std::move(copy), seconds, known, kShareOfFirst, budget));
  // Where one order is given, and its least traffic is proved without addresses, those are all that is open.
  const bool by_sum =
      options.fixed_order && answer.best && answer.traffic_by_sum <= answer.traffic_bound;
  if (IsOpen(answer, useful, budget) && !by_sum) {
    Budget part(budget, kShareOfSequences);
    BERTH_TRY(IfMemoryAllows(answer, [&] { return ImproveSpills(graph, options, answer, part); }));
  }
  if (IsOpen(answer, useful, budget)) {
    BERTH_TRY(IfMemoryAllows(answer, [&] {
      return SearchAgain(graph, options, std::move(model), seconds, useful, answer, budget);
    }));
  }
  return answer;
}

Result<void> ImproveSpills(const Graph& graph, const SpillOptions& options, PlanAnswer& answer,
                           Budget& budget) {
  RecomputeOptions again;
  again.capacity = options.capacity;
  again.counting = options.counting;
  again.orders = options.orders;
  again.fixed_order = options.fixed_order;
  again.gap = options.gap;
  again.most_bytes = options.most_bytes;
  again.placer = options.placer;
  again.link = kOfBytes;
  const bool known = answer.fits() && answer.best && answer.best->addressed;
  if (known) {
    again.plans = {*answer.best};
    if (!options.fixed_order) again.orders.push_back(answer.best->order);
  }
  // The bound of an order may count addresses: sequences have less traffic before these are found.
  const Bytes bound = answer.best ? std::min(answer.traffic_bound, answer.traffic_by_sum) : 0;
  PlanAnswer found = BERTH_TRY(recompute::PlanValid(WithoutRepeats(graph), again, bound, budget));
  answer.traffic_bound =
      std::max(answer.traffic_bound, RoundUp(found.recompute_bound, DivisorOf(graph)));
  if (found.best && found.fits()) {
    const Bytes traffic = found.best->traffic.avoidable();
    answer.traffic_by_sum = answer.best ? std::min(answer.traffic_by_sum, traffic) : traffic;
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
  Conclude(options.gap, answer);
  StateSearch(answer, found.nodes, found.seconds);
  return {};
}

}  // namespace berth::internal::plan
