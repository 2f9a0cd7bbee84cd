// Sweep(): one graph planned for many capacities.
//
// Capacities are solved from the largest to the smallest. A plan for a larger memory is a good start
// for a slightly smaller one, and with a fixed direction no answer depends on how the capacities are
// listed.

#include "berth/sweep.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/text.h"
#include "base/try.h"
#include "base/wide.h"

namespace berth {
namespace {

using internal::Printable;
using internal::Wide;

constexpr int kMostPoints = 1'000'000;
constexpr double kShareOfBudgets = 0.25;

Result<void> Check(const SweepOptions& options) {
  if (options.points < 1 || options.points > kMostPoints) {
    return Fail(ErrorCode::kInvalidOptions,
                "a sweep has from 1 to 1,000,000 points, not " + std::to_string(options.points));
  }
  if (options.capacities.size() > static_cast<std::size_t>(kMostPoints)) {
    return Fail(ErrorCode::kInvalidOptions, "a sweep has at most 1,000,000 capacities, not " +
                                                std::to_string(options.capacities.size()));
  }
  return {};
}

// The positions to plan, by decreasing capacity.
Result<std::vector<std::size_t>> NumbersOf(const SweepOptions& options,
                                           const std::vector<Bytes>& capacities) {
  std::vector<std::size_t> numbers(capacities.size());
  std::iota(numbers.begin(), numbers.end(), std::size_t{0});
  if (options.numbers) numbers = *options.numbers;
  std::vector<bool> seen(capacities.size());
  for (const std::size_t number : numbers) {
    if (number >= capacities.size() || seen[number]) {
      return Fail(ErrorCode::kInvalidOptions,
                  "point " + std::to_string(number) +
                      (number < capacities.size()
                           ? " is asked for twice"
                           : " is not one of the sweep's " + std::to_string(capacities.size())));
    }
    seen[number] = true;
  }
  std::sort(numbers.begin(), numbers.end());
  std::stable_sort(numbers.begin(), numbers.end(),
                   [&](std::size_t i, std::size_t j) { return capacities[i] > capacities[j]; });
  return numbers;
}

SweepPoint PointOf(std::size_t number, Bytes capacity, const PlanAnswer& answer) {
  SweepPoint point;
  point.number = static_cast<int>(number);
  point.capacity = capacity;
  point.outcome = answer.outcome;
  point.seconds = answer.seconds;
  if (answer.recomputes) {
    point.cost.emplace().bound = answer.recompute_bound;
  } else {
    point.traffic_bound = answer.traffic_bound;
    point.traffic_by_sum = answer.traffic_by_sum;
  }
  if (answer.fits()) {
    const Traffic& traffic = answer.best->traffic;
    point.avoidable = traffic.avoidable();
    point.spilled = traffic.spilled;
    point.retrieved = traffic.retrieved;
  }
  if (answer.fits() && point.cost) {
    const MemoryPlan& plan = *answer.best;
    point.cost->operators = static_cast<std::int64_t>(plan.recomputed.operators);
    point.cost->recomputed = plan.recomputed.cost;
    point.cost->copies = plan.traffic.cost;
  }
  return point;
}

// Plans one capacity within an equal share of the rest of the budget, which is for `left` points.
Result<PlanAnswer> PlanPoint(const Graph& graph, const SweepOptions& options,
                             const PlanOptions& plan, std::size_t left, Budget& budget) {
  const auto points = static_cast<std::int64_t>(left);
  Budget part(budget, 1.0 / static_cast<double>(points));
  if (options.seconds_each) part.SetTimeLimit(*options.seconds_each);
  if (part.has_node_limit()) part.SetNodeLimit(part.node_limit() / points);
  if (options.nodes_each) part.SetNodeLimit(std::min(*options.nodes_each, part.node_limit()));
  return Plan(graph, plan, part);
}

void SortByNumber(SweepCurve& curve) {
  std::stable_sort(curve.points.begin(), curve.points.end(),
                   [](const SweepPoint& a, const SweepPoint& b) { return a.number < b.number; });
}

std::string ToText(const RunCost& run) {
  return std::to_string(run.cost) + (run.unit.empty() ? "" : " " + Printable(run.unit));
}

// Adds the points of `more` that `to` does not have; both are of the same model.
Result<void> Add(SweepCurve& to, const SweepCurve& more, const std::string& name) {
  if (to.input != more.input) {
    return Fail(ErrorCode::kInvalidOptions,
                name + " has points of another " + Printable(to.model) +
                    ", or of the same with other options: (" + Printable(to.input) + ") and (" +
                    Printable(more.input) + "); give each a file of its own");
  }
  if (!to.least) to.least = more.least;
  if (to.least_operator.empty()) to.least_operator = more.least_operator;
  if (!to.least_peak) to.least_peak = more.least_peak;
  if (to.run && more.run && *to.run != *more.run) {
    return Fail(ErrorCode::kInvalidOptions, name + " has points of " + Printable(to.model) +
                                                " of which one run costs " + ToText(*more.run) +
                                                ", which is known as " + ToText(*to.run) +
                                                ": these are not of one sweep");
  }
  if (!to.run) to.run = more.run;
  for (const SweepPoint& point : more.points) {
    const auto place =
        std::lower_bound(to.points.begin(), to.points.end(), point.number,
                         [](const SweepPoint& known, int number) { return known.number < number; });
    if (place == to.points.end() || place->number != point.number) {
      to.points.insert(place, point);
    } else if (place->capacity != point.capacity) {
      return Fail(ErrorCode::kInvalidOptions,
                  name + " has point " + std::to_string(point.number) + " of " +
                      Printable(to.model) + " with " + std::to_string(point.capacity) +
                      " bytes, which is known with " + std::to_string(place->capacity) +
                      ": these are not of one sweep");
    }
  }
  return {};
}

}  // namespace

Result<std::vector<Bytes>> SweepCapacities(const SweepOptions& options,
                                           const NamedBudgets& budgets) {
  BERTH_TRY(Check(options));
  std::vector<Bytes> capacities;
  for (const Capacity& capacity : options.capacities) capacities.push_back(budgets.Of(capacity));
  if (!options.capacities.empty()) return capacities;
  const Bytes span = budgets.least_peak - budgets.least.bytes;
  const int last = options.points - 1;
  for (int i = 0; i < options.points; ++i) {
    // Without a product that could overflow.
    const Bytes part = last == 0 ? 0 : span / last * i + span % last * i / last;
    // Where there are fewer bytes between the two than points, some would coincide.
    const Bytes capacity = budgets.least_peak - part;
    if (capacities.empty() || capacities.back() != capacity) capacities.push_back(capacity);
  }
  return capacities;
}

RunCost RunCostOf(const Graph& graph) {
  const OperatorCosts costs = CostsOf(graph);
  Wide total = 0;
  for (const std::int64_t cost : costs.of) total += cost;
  return {static_cast<std::int64_t>(std::min<Wide>(total, kMaxBytes)), costs.unit};
}

SweepCurve CurveWithoutPoints(const Graph& graph, const PlanOptions& plan) {
  SweepCurve curve;
  curve.fixed_order = plan.order || plan.schedule.algorithm == ScheduleAlgorithm::kProgram;
  if (plan.recompute) curve.run = RunCostOf(graph);
  const LeastMemory& least = plan.budgets->least;
  curve.least = least.bytes;
  if (least.bytes > 0) curve.least_operator = graph.operators[least.op].name;
  // A plan in one given order may have to spill even there.
  if (!curve.fixed_order) curve.least_peak = plan.budgets->least_peak;
  return curve;
}

Result<SweepCurve> Sweep(const Graph& graph, const SweepOptions& options, Budget& budget) {
  BERTH_TRY(Check(options));
  PlanOptions plan = options.plan;
  plan.spill = !plan.recompute || plan.link.has_value();
  if (!plan.budgets) {
    Budget part(budget, kShareOfBudgets);
    if (part.has_node_limit()) {
      part.SetNodeLimit(
          static_cast<std::int64_t>(kShareOfBudgets * static_cast<double>(part.node_limit())));
    }
    plan.budgets = BERTH_TRY(NamedBudgetsOf(graph, plan, part));
  }
  SweepCurve curve = CurveWithoutPoints(graph, plan);
  const auto capacities = BERTH_TRY(SweepCapacities(options, *plan.budgets));
  const auto numbers = BERTH_TRY(NumbersOf(options, capacities));
  for (std::size_t k = 0; k < numbers.size() && !budget.cancelled(); ++k) {
    const Bytes capacity = capacities[numbers[k]];
    plan.capacity = capacity;
    const PlanAnswer answer =
        BERTH_TRY(PlanPoint(graph, options, plan, numbers.size() - k, budget));
    if (answer.fits() && !curve.fixed_order) {
      plan.more_orders = options.plan.more_orders;
      plan.more_orders.push_back(FirstExecutions(graph, answer.best->order));
    }
    const SweepPoint& point = curve.points.emplace_back(PointOf(numbers[k], capacity, answer));
    if (options.on_point && !options.on_point(point, answer)) break;
  }
  SortByNumber(curve);
  Tighten(curve);
  return curve;
}

namespace {

// The plan for less memory counts for more.
void CarryPlan(const SweepPoint& from, SweepPoint& to) {
  to.avoidable = from.avoidable;
  to.spilled = from.spilled;
  to.retrieved = from.retrieved;
  to.traffic_by_sum = from.traffic_by_sum;
  to.outcome = Outcome::kFeasible;
  if (!to.cost) return;
  const std::int64_t bound = std::exchange(to.cost, from.cost)->bound;
  to.cost->bound = bound;
}

}  // namespace

void Tighten(SweepCurve& curve) {
  std::vector<SweepPoint*> points;
  for (SweepPoint& point : curve.points) points.push_back(&point);
  std::stable_sort(points.begin(), points.end(), [](const SweepPoint* a, const SweepPoint* b) {
    return a->capacity < b->capacity;
  });
  const SweepPoint* best = nullptr;  // Of all capacities up to this one.
  for (SweepPoint* point : points) {
    if (best != nullptr && (!point->has_plan() || point->figure() > best->figure())) {
      CarryPlan(*best, *point);
    }
    if (point->has_plan()) best = point;
  }
  std::int64_t bound = 0;
  std::reverse(points.begin(), points.end());
  for (SweepPoint* point : points) {
    if (point->outcome == Outcome::kInfeasible) continue;
    bound = std::max(bound, point->bound());
    (point->cost ? point->cost->bound : point->traffic_bound) = bound;
    if (point->has_plan() && point->figure() == bound) point->outcome = Outcome::kOptimal;
  }
}

Result<void> Validate(const SweepPoint& point) {
  const auto contradiction = [](const std::string& what) {
    return Fail(ErrorCode::kInvalidProblem, what);
  };
  const bool fits = point.outcome == Outcome::kOptimal || point.outcome == Outcome::kFeasible;
  if (fits != point.has_plan()) {
    return contradiction("the outcome is " + std::string(ToString(point.outcome)) +
                         (fits ? " without" : " with") + " avoidable traffic");
  }
  if (!fits) {
    const bool empty = !point.cost || *point.cost == SweepCost{0, 0, 0, point.cost->bound};
    return empty ? Result<void>() : contradiction("there is a cost, but no plan");
  }
  if (*point.avoidable != point.spilled + point.retrieved) {
    return contradiction("avoidable is not spilled + retrieved");
  }
  if (*point.avoidable < point.traffic_bound || *point.avoidable < point.traffic_by_sum) {
    return contradiction("avoidable is less than traffic_bound or traffic_by_sum");
  }
  if (point.figure() < point.bound()) return contradiction("the cost is less than recompute_bound");
  if (point.outcome == Outcome::kOptimal && point.figure() != point.bound()) {
    return contradiction(point.cost ? "the outcome is optimal, but the cost is not recompute_bound"
                                    : "the outcome is optimal, but avoidable is not traffic_bound");
  }
  return {};
}

Result<void> Validate(const SweepCurve& curve) {
  std::optional<Bytes> fits;  // The least capacity with a plan.
  for (const SweepPoint& point : curve.points) {
    BERTH_TRY(Validate(point));
    if (point.cost.has_value() != curve.run.has_value()) {
      return Fail(ErrorCode::kInvalidProblem,
                  Printable(curve.model) + " has points with recomputation and points without");
    }
    if (point.has_plan()) fits = std::min(fits.value_or(point.capacity), point.capacity);
  }
  for (const SweepPoint& point : curve.points) {
    if (point.outcome != Outcome::kInfeasible || !fits || point.capacity < *fits) continue;
    return Fail(ErrorCode::kInvalidProblem,
                Printable(curve.model) + " has a plan in " + std::to_string(*fits) +
                    " bytes, but is said not to fit " + std::to_string(point.capacity));
  }
  return {};
}

Result<void> Merge(std::vector<SweepCurve>& curves, const std::vector<SweepCurve>& more,
                   std::string_view name) {
  const std::string file = Printable(name);
  std::vector<SweepCurve> merged = curves;
  for (const SweepCurve& curve : more) {
    const auto place = std::lower_bound(
        merged.begin(), merged.end(), curve.model,
        [](const SweepCurve& known, const std::string& model) { return known.model < model; });
    if (place != merged.end() && place->model == curve.model) {
      BERTH_TRY(Add(*place, curve, file));
      continue;
    }
    SweepCurve& added = *merged.insert(place, curve);
    added.points.clear();  // Added one by one below, as the list may have one twice.
    BERTH_TRY(Add(added, curve, file));
  }
  for (const SweepCurve& curve : merged) {
    if (auto valid = Validate(curve); !valid) {
      return Fail(ErrorCode::kInvalidOptions, file + ": " + valid.error().message);
    }
  }
  curves = std::move(merged);
  return {};
}

}  // namespace berth
