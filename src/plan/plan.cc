#include "berth/plan.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/check.h"

namespace berth {
namespace {

// The order has more to gain than the placement, which mostly reaches the peak at once.
constexpr double kShareOfOrder = 0.75;

// The answer for an order that somebody else has chosen. The bound is what a search that is over at
// once can prove.
Result<ScheduleAnswer> Given(const Graph& graph, const Order& order,
                             const ScheduleOptions& options) {
  ScheduleOptions cheap = options;
  cheap.algorithm = ScheduleAlgorithm::kProgram;
  Budget budget;
  auto answer = Schedule(graph, cheap, budget);
  if (!answer) return answer;
  if (auto valid = ValidateOrder(graph, order); !valid) return tl::unexpected(valid.error());
  answer->order = order;
  answer->peak = Live(graph, order, options.counting).peak;
  answer->outcome = answer->peak == answer->lower_bound ? Outcome::kOptimal : Outcome::kFeasible;
  answer->algorithm = "given";
  return answer;
}

Outcome OutcomeOf(const PlanAnswer& answer) {
  const auto arena = answer.arena();
  const auto& capacity = answer.liveness.problem.capacity;
  if (arena && (!capacity || *arena <= *capacity)) {
    return *arena == answer.lower_bound ? Outcome::kOptimal : Outcome::kFeasible;
  }
  return capacity && answer.lower_bound > *capacity ? Outcome::kInfeasible : Outcome::kUnknown;
}

}  // namespace

Result<PlanAnswer> Plan(const Graph& graph, const PlanOptions& options, Budget& budget) {
  const auto begin = std::chrono::steady_clock::now();
  PlanAnswer plan;
  {
    Budget part(budget, kShareOfOrder);
    auto schedule = options.order ? Given(graph, *options.order, options.schedule)
                                  : Schedule(graph, options.schedule, part);
    if (!schedule) return tl::unexpected(schedule.error());
    plan.schedule = std::move(*schedule);
  }
  const Counting& counting = options.schedule.counting;
  plan.program_order_peak = Live(graph, ProgramOrder(graph), counting).peak;
  plan.liveness = Live(graph, plan.schedule.order, counting);
  BERTH_CHECK(plan.liveness.peak == plan.schedule.peak);
  BERTH_CHECK(plan.schedule.lower_bound <= plan.schedule.peak);
  plan.liveness.problem.capacity = options.capacity;
  auto place = Place(plan.liveness.problem, options.place, budget);
  if (!place) return tl::unexpected(place.error());
  if (!place->best && budget.cancelled()) {
    // Cancelled while the order was searched for: the order that was found is worth a plan.
    PlaceOptions greedy = options.place;
    greedy.algorithm = Algorithm::kGreedy;
    Budget unlimited;
    place = Place(plan.liveness.problem, greedy, unlimited);
    if (!place) return tl::unexpected(place.error());
  }
  plan.place = std::move(*place);
  // A plan of any order is at least as high as the least peak.
  plan.lower_bound = plan.schedule.lower_bound;
  plan.outcome = OutcomeOf(plan);
  plan.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return plan;
}

}  // namespace berth
