// Plan() with operators that run again.

#include <gtest/gtest.h>

#include <string>

#include "berth/advise.h"
#include "berth/plan.h"
#include "tests/graph/build.h"
#include "tools/verify/verify.h"

namespace berth {
namespace {

using internal::Build;
using internal::OneSpill;

Result<PlanAnswer> PlanIn(const Graph& graph, PlanOptions options) {
  options.recompute = true;
  Budget budget;
  return Plan(graph, options, budget);
}

TEST(PlanWithRepeatsTest, CostsTheLeast) {
  const Graph graph = OneSpill().graph;
  const auto answer = PlanIn(graph, {.capacity = 12});
  ASSERT_TRUE(answer.has_value()) << answer.error().message;
  EXPECT_EQ(answer->outcome, Outcome::kOptimal);
  EXPECT_TRUE(answer->recomputes);
  EXPECT_FALSE(answer->spills);
  EXPECT_EQ(answer->best->recomputed, (Recomputed{1, 4}));
  EXPECT_EQ(answer->recompute_bound, 4);
  EXPECT_EQ(answer->best->traffic.avoidable(), 0);
  EXPECT_EQ(answer->best->height(), 12);
  EXPECT_EQ(answer->least_peak, 14);
  EXPECT_EQ(answer->peak_bound, 14);
  EXPECT_EQ(answer->program_order_peak, 14);
  EXPECT_TRUE(verify::VerifyPlan(graph, {}, 12, *answer->best).ok());
}

TEST(PlanWithRepeatsTest, CapacitiesByName) {
  const Graph graph = OneSpill().graph;
  EXPECT_EQ(PlanIn(graph, {.capacity = NamedBudget::kOneOperator})->capacity, 12);
  EXPECT_EQ(PlanIn(graph, {.capacity = NamedBudget::kHalfway})->capacity, 13);
  const auto all = PlanIn(graph, {.capacity = NamedBudget::kLeastPeak});
  EXPECT_EQ(all->capacity, 14);
  EXPECT_EQ(all->outcome, Outcome::kOptimal);
  EXPECT_EQ(all->best->recomputed, Recomputed());
  EXPECT_EQ(all->best->order.size(), graph.operators.size());
  // Budgets that are known need no search.
  Budget budget;
  const auto known = FindBudgets(graph, {}, budget);
  const auto again = PlanIn(graph, {.capacity = NamedBudget::kHalfway, .budgets = *known});
  EXPECT_EQ(again->capacity, 13);
  EXPECT_EQ(again->scheduling.nodes, 0);
}

TEST(PlanWithRepeatsTest, WhatCannotFit) {
  Graph graph = OneSpill().graph;
  const auto small = PlanIn(graph, {.capacity = 11});
  ASSERT_TRUE(small.has_value()) << small.error().message;
  EXPECT_EQ(small->outcome, Outcome::kInfeasible);
  EXPECT_EQ(small->least, (LeastMemory{3, 12}));
  ASSERT_TRUE(small->best.has_value());  // The order of least peak.
  EXPECT_FALSE(small->best->addressed);
  EXPECT_EQ(small->best->peak(), 14);
  // x may not be made again, and does not fit beside z.
  graph.operators[0].random = true;
  const auto held = PlanIn(graph, {.capacity = 12});
  ASSERT_TRUE(held.has_value()) << held.error().message;
  EXPECT_EQ(held->outcome, Outcome::kInfeasible);
  EXPECT_EQ(held->least.bytes, 12);
  // Spilling it would do, and that is advised.
  PlanOptions options{.capacity = 12, .recompute = true};
  Budget budget;
  const Advice advice = Advise(graph, options, *held, {}, budget);
  ASSERT_FALSE(advice.remedies.empty());
  EXPECT_EQ(advice.remedies.front().kind, RemedyKind::kSpill);
  EXPECT_TRUE(advice.remedies.front().fits);
  EXPECT_EQ(advice.remedies.front().traffic, 8);
}

TEST(PlanWithRepeatsTest, OneOrderAlone) {
  const Graph graph = OneSpill().graph;
  const auto given = PlanIn(graph, {.capacity = 12, .order = Order{0, 1, 2, 3}});
  EXPECT_TRUE(given->fixed_order);
  EXPECT_EQ(FirstExecutions(graph, given->best->order), (Order{0, 1, 2, 3}));
  PlanOptions program{.capacity = 12};
  program.schedule.algorithm = ScheduleAlgorithm::kProgram;
  EXPECT_TRUE(PlanIn(graph, program)->fixed_order);
  EXPECT_EQ(PlanIn(graph, {.capacity = 12, .order = Order{0, 2, 1, 3}}).error().code,
            ErrorCode::kInvalidPlan);
}

TEST(PlanWithRepeatsTest, CountedParametersStay) {
  const Graph graph = Build()
                          .Source("w", 6, TensorKind::kParameter)
                          .Source("i", 2)
                          .Made("x", 4)
                          .Made("y", 4)
                          .Op("X", {"w"}, {"x"})
                          .Op("Y", {"x", "i"}, {"y"})
                          .Output("y")
                          .graph;
  PlanOptions options{.capacity = NamedBudget::kOneOperator};
  options.schedule.counting = {.inputs = true, .parameters = true};
  const auto answer = PlanIn(graph, options);
  ASSERT_TRUE(answer.has_value()) << answer.error().message;
  EXPECT_EQ(answer->least, (LeastMemory{1, 16}));
  EXPECT_EQ(answer->capacity, 16);
  EXPECT_EQ(answer->least_peak, 16);
  EXPECT_EQ(answer->outcome, Outcome::kOptimal);
}

TEST(PlanWithRepeatsTest, OptionsThatDoNotGoTogether) {
  const Graph graph = OneSpill().graph;
  const auto refusal = [&](PlanOptions options) { return PlanIn(graph, options).error().message; };
  EXPECT_EQ(refusal({}), "recomputation needs a capacity");
  EXPECT_EQ(refusal({.capacity = 12, .spill = true}),
            "with spill and recompute both on, copies and operators are compared by their time: "
            "a link is needed, which says how long copies take");
  EXPECT_EQ(refusal({.capacity = 12, .link = Link{1, 1, 0}}),
            "a link is for plans with spill and recompute both on");
  EXPECT_EQ(refusal({.capacity = 12, .spill = true, .link = Link{0, 1, 0}}).substr(0, 34),
            "a link of 0 bytes per second: it m");
  EXPECT_EQ(refusal({.capacity = 12, .spill = true, .link = Link{1, 1, 0}}),
            "copies over a link take nanoseconds, but operators cost the bytes that they read and "
            "write: to add them up the graph must have costs in \"ns\"");
  EXPECT_EQ(refusal({.capacity = 12, .gap = -5}), "the gap is -5 millionths, less than 0");
  PlanOptions lowest{.capacity = 12};
  lowest.place.minimize = true;
  EXPECT_EQ(refusal(lowest),
            "a plan with recomputation minimises its cost, not memory: minimize must be off");
  Budget budget;
  EXPECT_EQ(Plan(graph, {.capacity = NamedBudget::kHalfway}, budget).error().message,
            "a capacity by name (MR, MH, MP) is for plans with spills or recomputation");
}

}  // namespace
}  // namespace berth
