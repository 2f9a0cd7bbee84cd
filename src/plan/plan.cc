// Plan(): the search for an order, then for offsets, or where the memory is too small for spills or
// for operators to run again. This file decides what runs, in which order, and with which share of the time.

#include "berth/plan.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/check.h"
#include "base/try.h"
#include "base/wide.h"
#include "berth/recompute.h"
#include "berth/spill.h"
#include "graph/plan.h"
#include "plan/budgets.h"
#include "plan/memories.h"
#include "plan/moves.h"
#include "plan/prefetch.h"
#include "plan/scratchpads.h"
#include "plan/spills.h"
#include "recompute/entry.h"
#include "schedule/entry.h"
#include "spill/entry.h"

namespace berth {
namespace {

// A better order gains more than a better placement: most placements reach the peak at once.
constexpr double kShareOfOrder = 0.75;
// With spills or repeats, the order of least peak is only a starting point.
constexpr int kPartOfOrderWithSpills = 4;
constexpr int kPartOfOrderWithRepeats = 10;
// To check an order and to give it some placement takes up to four times as long as to check its
// graph.
constexpr int kChecksAfterOrder = 4;

// Plans with both begin with plans with either: the first in this part of the time, which is mostly the
// cheaper one, the second in this part of what it leaves.
constexpr int kPartOfRepeats = 3;
constexpr int kPartOfSpills = 6;

double SecondsSince(Budget::Clock::time_point begin) {
  return std::chrono::duration<double>(Budget::Clock::now() - begin).count();
}

// The answer for an order that the caller chose. Its bound is the one that needs no search.
Result<PlanAnswer> Given(const Graph& graph, const Order& order, const ScheduleOptions& options) {
  ScheduleOptions cheap = options;
  cheap.algorithm = ScheduleAlgorithm::kProgram;
  Budget budget;
  PlanAnswer answer = BERTH_TRY(internal::schedule::ScheduleValid(graph, cheap, budget));
  BERTH_TRY(ValidateOrder(graph, order));
  answer.best = internal::UnplacedPlan(graph, order, options.counting);
  const bool least = answer.best->peak() == answer.peak_bound;
  answer.outcome = least ? Outcome::kOptimal : Outcome::kFeasible;
  answer.scheduling.outcome = answer.outcome;
  answer.scheduling.algorithm = "given";
  return answer;
}

Outcome OutcomeOf(const PlanAnswer& answer) {
  const auto& capacity = answer.capacity;
  const bool placed = answer.best && answer.best->addressed;
  if (placed && (!capacity || answer.best->height() <= *capacity)) {
    return answer.best->height() == answer.height_bound ? Outcome::kOptimal : Outcome::kFeasible;
  }
  return capacity && answer.height_bound > *capacity ? Outcome::kInfeasible : Outcome::kUnknown;
}

// Gives the residencies of `plan` their offsets.
void Address(const MemoryPlan& placed, MemoryPlan& plan) {
  BERTH_CHECK(placed.residencies.size() == plan.residencies.size());
  for (std::size_t i = 0; i < plan.residencies.size(); ++i) {
    plan.residencies[i].offset = placed.residencies[i].offset;
  }
  plan.addressed = true;
  plan.memories.front().height = placed.height();
}

// Offsets for the residencies of `plan`. Where the search for the order was cancelled, these are
// greedy: the best order so far still gets a plan.
Result<PlanAnswer> PlaceOrder(const Graph& graph, const MemoryPlan& plan,
                              const PlanOptions& options, std::optional<Bytes> capacity,
                              Budget& budget) {
  Problem problem = ProblemOf(graph, plan);
  problem.capacity = capacity;
  if (!budget.cancelled()) {
    PlanAnswer placed = BERTH_TRY(Place(problem, options.place, budget));
    const bool large = problem.buffers.size() > internal::kMostAfterCancel;
    if (placed.best || !budget.cancelled() || large) return placed;
  }
  PlaceOptions greedy = options.place;
  greedy.algorithm = Algorithm::kGreedy;
  Budget no_time(0);  // Enough for a plan.
  return Place(problem, greedy, no_time);
}

Result<PlanAnswer> PlanWithoutSpills(const Graph& graph, const PlanOptions& options,
                                     Budget& budget) {
  const auto begin = Budget::Clock::now();
  BERTH_TRY(Validate(graph));
  PlanAnswer answer;
  {
    const internal::TimeKept kept(budget, kChecksAfterOrder * SecondsSince(begin));
    Budget part(budget, kShareOfOrder);
    answer =
        BERTH_TRY(options.order ? Given(graph, *options.order, options.schedule)
                                : internal::schedule::ScheduleValid(graph, options.schedule, part));
  }
  MemoryPlan& plan = *answer.best;
  BERTH_CHECK(answer.peak_bound <= plan.peak());
  if (options.capacity) answer.capacity = std::get<Bytes>(*options.capacity);
  // A plan of any order is at least as high as the least peak.
  answer.height_bound = answer.peak_bound;
  PlanAnswer placed;
  if (budget.cancelled() && graph.tensors.size() > internal::kMostAfterCancel) {
    placed.stopped = placed.placing.stopped = StopReason::kBudget;
  } else {
    // Before the placement, so that little is left to do after it: Place() checks its offsets.
    const auto valid = ValidatePlan(graph, options.schedule.counting, std::nullopt, plan);
    if (!valid) internal::CheckFailed(valid.error().message.c_str(), __FILE__, __LINE__);
    placed = BERTH_TRY(PlaceOrder(graph, plan, options, answer.capacity, budget));
  }
  if (placed.best) Address(*placed.best, plan);
  answer.placing = placed.placing;
  answer.placement_bound = placed.height_bound;
  answer.nodes += placed.nodes;
  answer.outcome = OutcomeOf(answer);
  answer.stopped = answer.outcome == Outcome::kOptimal || answer.outcome == Outcome::kInfeasible
                       ? StopReason::kAnswered
                   : answer.placing.stopped != StopReason::kAnswered ? answer.placing.stopped
                                                                     : answer.scheduling.stopped;
  return answer;
}

// Only plans with less traffic than `useful` are looked for.
Result<PlanAnswer> PlanWithinCapacity(const Graph& graph, const PlanOptions& options, Bytes useful,
                                      Budget& budget) {
  const auto begin = Budget::Clock::now();
  BERTH_TRY(Validate(graph));
  const Counting& counting = options.schedule.counting;
  internal::spill::Model model =
      internal::spill::CompileModel(graph, counting, /*with_ancestors=*/false);
  const double set_up = SecondsSince(begin);
  const bool fixed = options.order || options.schedule.algorithm == ScheduleAlgorithm::kProgram;
  NamedBudgets named;
  if (options.budgets) {
    named = *options.budgets;
    named.search.nodes = 0;  // Not spent here.
  } else {
    Budget part(budget, 1.0 / kPartOfOrderWithSpills);  // What is left over is for the spills.
    if (budget.has_node_limit()) part.SetNodeLimit(part.node_limit() / kPartOfOrderWithSpills);
    named = BERTH_TRY(internal::plan::FindBudgetsOfValid(graph, options.schedule,
                                                         internal::spill::LeastOf(model), part));
  }
  SpillOptions spill;
  spill.capacity = named.Of(*options.capacity);
  spill.counting = counting;
  spill.fixed_order = fixed;
  spill.most_bytes = options.schedule.most_bytes;
  spill.threads = options.schedule.threads;
  spill.gap = options.gap;
  if (options.order) {
    spill.orders = {*options.order};
  } else {
    spill.orders = {ProgramOrder(graph), named.order};
    spill.orders.insert(spill.orders.end(), options.more_orders.begin(), options.more_orders.end());
  }
  spill.placer = [&](const Problem& problem, Budget& own) {
    return Place(problem, options.place, own);
  };
  const Bytes program_order_peak =
      internal::UnplacedPlan(graph, ProgramOrder(graph), counting).peak();
  PlanAnswer answer = BERTH_TRY(
      internal::plan::SearchForSpills(graph, spill, std::move(model), set_up, useful, budget));
  answer.scheduling = named.search;
  answer.peak_bound = named.peak_bound;
  answer.least_peak = named.least_peak;
  answer.program_order_peak = program_order_peak;
  answer.nodes += named.search.nodes;
  if (!answer.best) {
    answer.best =
        internal::UnplacedPlan(graph, fixed ? spill.orders.front() : named.order, counting);
  }
  return answer;
}

// The least traffic whose copies over `link` take `nanoseconds` for certain.
Bytes TrafficThatTakes(std::int64_t nanoseconds, const Link& link) {
  constexpr internal::Wide kSecond = 1'000'000'000;
  const Bytes fastest = std::max(link.out_bytes_per_second, link.in_bytes_per_second);
  const internal::Wide bytes = (internal::Wide{nanoseconds} * fastest + kSecond - 1) / kSecond;
  return static_cast<Bytes>(std::min<internal::Wide>(bytes, internal::spill::kNoCost));
}

// The plans with `recompute` alone, and with spills alone, as far as there are any within the capacity. One
// with spills is looked for only if it may be the cheaper one.
Result<std::vector<MemoryPlan>> PlansOfOneKind(const Graph& graph, const PlanOptions& options,
                                               const RecomputeOptions& recompute,
                                               const NamedBudgets& named, Budget& budget) {
  std::vector<MemoryPlan> plans;
  Bytes useful = internal::spill::kNoCost;
  {
    Budget part(budget, 1.0 / kPartOfRepeats);
    if (budget.has_node_limit()) part.SetNodeLimit(part.node_limit() / kPartOfRepeats);
    PlanAnswer again = BERTH_TRY(internal::recompute::PlanValid(graph, recompute, 0, part));
    if (again.best && again.fits()) {
      useful = TrafficThatTakes(again.best->recomputed.cost, *options.link);
      plans.push_back(std::move(*again.best));
    }
  }
  PlanOptions spill = options;
  spill.recompute = false;
  spill.link.reset();
  spill.gap = 0;  // It is of the sum of both costs.
  spill.capacity = recompute.capacity;
  spill.budgets = named;
  Budget part(budget, 1.0 / kPartOfSpills);
  if (budget.has_node_limit()) part.SetNodeLimit(part.node_limit() / kPartOfSpills);
  PlanAnswer spilled = BERTH_TRY(PlanWithinCapacity(graph, spill, useful, part));
  if (spilled.best && spilled.fits()) plans.push_back(std::move(*spilled.best));
  return plans;
}

Result<PlanAnswer> PlanWithRepeats(const Graph& graph, const PlanOptions& options, Budget& budget) {
  BERTH_TRY(Validate(graph));
  const Counting& counting = options.schedule.counting;
  const bool fixed = options.order || options.schedule.algorithm == ScheduleAlgorithm::kProgram;
  if (options.order) BERTH_TRY(ValidateOrder(graph, *options.order));
  if (options.link) BERTH_TRY(internal::recompute::CheckLink(graph, counting, *options.link));
  NamedBudgets named;
  if (options.budgets) {
    named = *options.budgets;
    named.search.nodes = 0;  // Not spent here.
  } else {
    Budget part(budget, 1.0 / kPartOfOrderWithRepeats);
    if (budget.has_node_limit()) part.SetNodeLimit(part.node_limit() / kPartOfOrderWithRepeats);
    named = BERTH_TRY(internal::plan::NamedBudgetsOfValid(graph, options, part));
  }
  RecomputeOptions recompute;
  recompute.capacity = named.Of(*options.capacity);
  recompute.counting = counting;
  recompute.fixed_order = fixed;
  recompute.gap = options.gap;
  recompute.most_bytes = options.schedule.most_bytes;
  if (options.order) {
    recompute.orders = {*options.order};
  } else {
    recompute.orders = {ProgramOrder(graph)};
    if (!fixed) recompute.orders.push_back(named.order);
    recompute.orders.insert(recompute.orders.end(), options.more_orders.begin(),
                            options.more_orders.end());
  }
  recompute.placer = [&](const Problem& problem, Budget& own) {
    return Place(problem, options.place, own);
  };
  const bool joint = options.spill;
  if (joint) recompute.plans = BERTH_TRY(PlansOfOneKind(graph, options, recompute, named, budget));
  if (joint) recompute.link = options.link;
  PlanAnswer answer = BERTH_TRY(internal::recompute::PlanValid(graph, recompute, 0, budget));
  answer.scheduling = named.search;
  answer.peak_bound = named.peak_bound;
  answer.least_peak = named.least_peak;
  answer.program_order_peak = internal::UnplacedPlan(graph, ProgramOrder(graph), counting).peak();
  answer.nodes += named.search.nodes;
  if (!answer.best) {
    answer.best =
        internal::UnplacedPlan(graph, fixed ? recompute.orders.front() : named.order, counting);
  }
  return answer;
}

Result<void> CheckMemories(const PlanOptions& options) {
  const bool several = !options.memories.memories.empty();
  if (several && options.capacity) {
    return Fail(ErrorCode::kInvalidOptions,
                "with several memories each has its own capacity: a single one means nothing");
  }
  if (several && options.recompute) {
    return Fail(
        ErrorCode::kInvalidOptions,
        "recomputation is for one memory: several memories and recompute cannot both be on");
  }
  if (!several && !options.memories.allowed.empty()) {
    return Fail(ErrorCode::kInvalidOptions, "memories are allowed, but there is none");
  }
  if (!several && (options.memories.may_move || options.memories.prefetch)) {
    return Fail(ErrorCode::kInvalidOptions, "tensors may move between memories, but there is none");
  }
  if (options.memories.may_move && options.spill) {
    return Fail(ErrorCode::kInvalidOptions,
                "with spill each tensor is in one memory and leaves it for the store behind: spill "
                "and may_move cannot both be on");
  }
  if (several && options.place.minimize) {
    return Fail(
        ErrorCode::kInvalidOptions,
        "with several memories the least cost is looked for, not the least memory: minimize "
        "must be off");
  }
  return {};
}

Result<void> Check(const PlanOptions& options) {
  BERTH_TRY(CheckMemories(options));
  const bool several = !options.memories.memories.empty();
  const bool named = options.capacity && std::holds_alternative<NamedBudget>(*options.capacity);
  if (options.spill && !options.capacity && !several) {
    return Fail(ErrorCode::kInvalidOptions, "spilling needs a capacity");
  }
  if (options.recompute && !options.capacity) {
    return Fail(ErrorCode::kInvalidOptions, "recomputation needs a capacity");
  }
  if (options.recompute && options.spill && !options.link) {
    return Fail(
        ErrorCode::kInvalidOptions,
        "with spill and recompute both on, copies and operators are compared by their time: "
        "a link is needed, which says how long copies take");
  }
  if (options.link && !(options.recompute && options.spill)) {
    return Fail(ErrorCode::kInvalidOptions, "a link is for plans with spill and recompute both on");
  }
  if (named && !options.spill && !options.recompute) {
    return Fail(ErrorCode::kInvalidOptions,
                "a capacity by name (MR, MH, MP) is for plans with spills or recomputation");
  }
  if (options.gap != 0 && !options.spill && !options.recompute) {
    return Fail(ErrorCode::kInvalidOptions,
                "a gap to the bound is for plans with spills or recomputation");
  }
  if (options.recompute && options.place.minimize) {
    return Fail(ErrorCode::kInvalidOptions,
                "a plan with recomputation minimises its cost, not memory: minimize must be off");
  }
  if (options.spill && options.place.minimize) {
    return Fail(ErrorCode::kInvalidOptions,
                "a plan with spills minimises traffic, not memory: minimize must be off");
  }
  return {};
}

}  // namespace

Result<PlanAnswer> Plan(const Graph& graph, const PlanOptions& options, Budget& budget) {
  const auto begin = Budget::Clock::now();
  BERTH_TRY(Check(options));
  const bool several = !options.memories.memories.empty();
  PlanAnswer answer = BERTH_TRY(
      several && options.spill    ? internal::plan::PlanInScratchpads(graph, options, budget)
      : options.memories.prefetch ? internal::plan::PlanWithPrefetch(graph, options, budget)
      : options.memories.may_move ? internal::plan::PlanWithMoves(graph, options, budget)
      : several                   ? internal::plan::PlanInMemories(graph, options, budget)
      : options.recompute         ? PlanWithRepeats(graph, options, budget)
      : options.spill ? PlanWithinCapacity(graph, options, internal::spill::kNoCost, budget)
                      : PlanWithoutSpills(graph, options, budget));
  answer.seconds = SecondsSince(begin);
  internal::AdmitUnsized(graph, options.schedule.counting, answer);
  return answer;
}

}  // namespace berth
