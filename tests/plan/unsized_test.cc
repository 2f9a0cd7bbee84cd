// Tensors whose sizes are not known: bounds hold, and nothing is said to fit or to be the best.

#include <gtest/gtest.h>

#include "berth/graph.h"
#include "berth/plan.h"
#include "berth/schedule.h"
#include "berth/spill.h"
#include "testing/random_graph.h"

namespace berth::internal {
namespace {

// a -> b -> c, of which the size of b is not known.
Graph Chain() {
  Graph graph;
  graph.tensors = {{.name = "a", .bytes = 8},
                   {.name = "b", .unplanned = "dimension n is open"},
                   {.name = "c", .bytes = 4, .output = true}};
  graph.operators = {{.name = "A", .type = "", .inputs = {}, .outputs = {0}},
                     {.name = "B", .type = "", .inputs = {0}, .outputs = {1}},
                     {.name = "C", .type = "", .inputs = {1}, .outputs = {2}}};
  return graph;
}

TEST(UnsizedTensors, AreCountedAmongThoseOfThePlan) {
  Graph graph = Chain();
  graph.tensors.push_back({.name = "in", .kind = TensorKind::kInput, .unplanned = "?"});
  EXPECT_EQ(CountTensors(graph).tensors, 3U);
  EXPECT_EQ(CountTensors(graph).unsized, 1U);
  EXPECT_EQ(CountTensors(graph, {.inputs = true}).unsized, 2U);
}

TEST(UnsizedTensors, LeaveNothingProvedButBounds) {
  Budget budget;
  for (const bool as_zero : {false, true}) {
    ScheduleOptions schedule;
    schedule.counting.unsized_as_zero = as_zero;
    const auto order = Schedule(Chain(), schedule, budget);
    ASSERT_TRUE(order.has_value());
    EXPECT_EQ(order->outcome, as_zero ? Outcome::kOptimal : Outcome::kUnknown);
    EXPECT_EQ(order->scheduling.outcome, order->outcome);
    EXPECT_EQ(order->stopped, as_zero ? StopReason::kAnswered : StopReason::kUnsized);
    EXPECT_EQ(order->unsized, 1U);
    EXPECT_EQ(order->tensors, 3U);
    EXPECT_EQ(order->peak_bound, 8);
    for (const Bytes capacity : {Bytes{7}, Bytes{8}}) {
      PlanOptions options;
      options.schedule = schedule;
      options.capacity = capacity;
      for (const bool spill : {false, true}) {
        options.spill = spill;
        const auto plan = Plan(Chain(), options, budget);
        ASSERT_TRUE(plan.has_value());
        // What needs too much without them needs too much with them.
        EXPECT_EQ(plan->outcome, capacity == 7 ? Outcome::kInfeasible
                                 : as_zero     ? Outcome::kOptimal
                                               : Outcome::kUnknown);
        EXPECT_EQ(plan->unsized, 1U);
      }
    }
    const auto budgets = FindBudgets(Chain(), schedule.counting, budget);
    ASSERT_TRUE(budgets.has_value());
    EXPECT_EQ(budgets->peak_proved, as_zero);
  }
}

// Whatever size they turn out to have, no bound was too high.
TEST(UnsizedTensors, BoundsHoldForAnySize) {
  int unsized = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    Graph graph = RandomGraph(seed, AllGraphKnobs());
    Budget budget;
    const auto before = Schedule(graph, {}, budget);
    ASSERT_TRUE(before.has_value());
    unsized += before->unsized > 0 ? 1 : 0;
    EXPECT_EQ(before->outcome == Outcome::kUnknown, before->unsized > 0);
    for (Tensor& tensor : graph.tensors) {
      if (tensor.unplanned.empty() || tensor.alias_of) continue;
      tensor.unplanned.clear();
      tensor.bytes = static_cast<Bytes>(seed % 9) * tensor.alignment;
    }
    if (!Validate(graph)) continue;  // A view may be larger than its base now.
    const auto after = Schedule(graph, {}, budget);
    ASSERT_TRUE(after.has_value());
    EXPECT_GE(after->best->peak(), before->peak_bound);
    EXPECT_GE(after->peak_bound, before->peak_bound);
  }
  EXPECT_GT(unsized, 30);
}

}  // namespace
}  // namespace berth::internal
