// SweepMemory(): what one memory of several is worth, capacity by capacity.

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/arithmetic.h"
#include "base/try.h"
#include "berth/graph_memories.h"
#include "berth/sweep.h"
#include "schedule/entry.h"

namespace berth {
namespace {

constexpr double kShareOfPeak = 0.1;
constexpr Bytes kKiB = 1024;
// From this many bytes on, capacities are whole KiB.
constexpr Bytes kWholeKiB = 64 * kKiB;

Result<void> Check(const MemorySweepOptions& options) {
  const auto& memories = options.plan.memories.memories;
  if (options.memory >= memories.size()) {
    return Fail(ErrorCode::kInvalidOptions, "memory " + std::to_string(options.memory) +
                                                " is to be swept, but there are " +
                                                std::to_string(memories.size()));
  }
  if (options.points < 1) {
    return Fail(ErrorCode::kInvalidOptions,
                "points is " + std::to_string(options.points) + " but must be at least 1");
  }
  if (options.plan.spill) {
    return Fail(ErrorCode::kInvalidOptions, "plans with spills have no cost to sweep");
  }
  for (const Bytes capacity : options.capacities) {
    if (capacity >= 1 && capacity <= kMaxBytes) continue;
    return Fail(ErrorCode::kInvalidOptions,
                "a capacity of " + std::to_string(capacity) + " is not within 1 to 2^60 bytes");
  }
  return {};
}

// In increasing order, each once.
Result<std::vector<Bytes>> CapacitiesOf(const Graph& graph, const MemorySweepOptions& options,
                                        Budget& budget) {
  std::vector<Bytes> capacities = options.capacities;
  if (capacities.empty()) {
    Budget part(budget, kShareOfPeak);
    if (!part.has_time_limit() && options.seconds_each) part.SetTimeLimit(*options.seconds_each);
    const PlanAnswer ordered =
        BERTH_TRY(internal::schedule::ScheduleValid(graph, options.plan.schedule, part));
    const Bytes peak = std::max<Bytes>(1, ordered.best->peak());
    const Bytes unit = peak >= kWholeKiB ? kKiB : 1;
    for (int k = 1; k <= options.points; ++k) {
      const Bytes share = peak / options.points * k + peak % options.points * k / options.points;
      capacities.push_back(internal::RoundUp(std::max<Bytes>(1, share), unit));
    }
  }
  Bytes reserved = 0;
  for (const Reserved& each : options.plan.memories.memories[options.memory].reserved) {
    reserved = std::max(reserved, each.upper);
  }
  std::erase_if(capacities, [&](Bytes capacity) { return capacity < reserved; });
  std::sort(capacities.begin(), capacities.end());
  capacities.erase(std::unique(capacities.begin(), capacities.end()), capacities.end());
  return capacities;
}

void Tighten(std::vector<MemoryPoint>& points) {
  // Sizes may be unknown: then nothing is claimed that the plans did not claim.
  const bool unsized = std::any_of(points.begin(), points.end(), [](const MemoryPoint& point) {
    return point.outcome == Outcome::kUnknown && point.cost.unplaced == 0;
  });
  for (std::size_t i = 1; i < points.size(); ++i) {
    if (!(points[i - 1].cost < points[i].cost)) continue;
    points[i].cost = points[i - 1].cost;
    points[i].uses = points[i - 1].uses;
    points[i].copies = points[i - 1].copies;
  }
  for (std::size_t i = points.size(); i-- > 1;) {
    points[i - 1].cost_bound = std::max(points[i - 1].cost_bound, points[i].cost_bound);
  }
  for (MemoryPoint& point : points) {
    const bool proved = point.cost_bound == point.cost;
    if (point.outcome == Outcome::kUnknown && point.cost.unplaced == 0 && unsized) continue;
    point.outcome = point.cost.unplaced == 0 ? (proved ? Outcome::kOptimal : Outcome::kFeasible)
                                             : (point.cost_bound.unplaced > 0 ? Outcome::kInfeasible
                                                                              : Outcome::kUnknown);
  }
}

}  // namespace

Result<std::vector<MemoryPoint>> SweepMemory(const Graph& graph, const MemorySweepOptions& options,
                                             Budget& budget) {
  BERTH_TRY(Check(options));
  BERTH_TRY(Validate(graph));
  const std::vector<Bytes> capacities = BERTH_TRY(CapacitiesOf(graph, options, budget));
  PlanOptions plan = options.plan;
  std::vector<MemoryPoint> points;
  for (std::size_t i = 0; i < capacities.size() && !budget.cancelled(); ++i) {
    plan.memories.memories[options.memory].capacity = capacities[i];
    Budget part(budget, 1.0 / static_cast<double>(capacities.size() - i));
    PlanAnswer answer;
    {
      Budget each(part, 1.0);
      if (options.seconds_each) each.SetTimeLimit(*options.seconds_each);
      answer = BERTH_TRY(Plan(graph, plan, each));
    }
    MemoryPoint point;
    point.capacity = capacities[i];
    point.outcome = answer.outcome;
    point.cost = answer.best->cost;
    point.cost_bound = answer.cost_bound;
    point.seconds = answer.seconds;
    point.uses = answer.best->memories;
    point.copies = CopiesOf(graph, plan.memories, *answer.best).size();
    points.push_back(point);
    if (!answer.fixed_order) plan.more_orders = {answer.best->order};
    if (options.on_point && !options.on_point(point, answer)) break;
  }
  Tighten(points);
  return points;
}

}  // namespace berth
