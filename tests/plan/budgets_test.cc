// FindBudgets(): capacities by name, of graphs small enough to work them out by hand.

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "base/random.h"
#include "berth/plan.h"
#include "berth/spill.h"
#include "testing/random_graph.h"
#include "tests/graph/build.h"

namespace berth::internal {
namespace {

NamedBudgets Budgets(const Graph& graph, const Counting& counting = {}) {
  Budget budget;
  auto found = FindBudgets(graph, counting, budget);
  EXPECT_TRUE(found.has_value()) << found.error().message;
  return found.value_or(NamedBudgets());
}

TEST(FindBudgets, OfTwoBranches) {
  const Graph graph = TwoBranches().graph;
  const NamedBudgets budgets = Budgets(graph);
  // B reads 8 bytes and makes 1; so does D, later.
  EXPECT_EQ(budgets.least, (LeastMemory{1, 9}));
  // One branch after the other: the 8 bytes of c, and b and d.
  EXPECT_EQ(budgets.least_peak, 10);
  EXPECT_TRUE(budgets.peak_proved);
  EXPECT_EQ(budgets.peak_bound, 10);
  EXPECT_EQ(budgets.halfway(), 9);  // 9.5, rounded down.
  EXPECT_EQ(Live(graph, budgets.order).peak, 10);
}

TEST(FindBudgets, TheOrderNeedNotBeThatOfTheProgram) {
  Build build = TwoBranches();
  std::swap(build.graph.operators[1], build.graph.operators[2]);
  const NamedBudgets budgets = Budgets(build.graph);
  EXPECT_EQ(budgets.least_peak, 10);
  EXPECT_EQ(Live(build.graph, budgets.order).peak, 10);
}

TEST(FindBudgets, OfAChainWithALongLivedTensor) {
  // One order: 4, 4 + 4, 4 + 4 + 6, 4 + 6 + 2 bytes live.
  const NamedBudgets budgets = Budgets(OneSpill().graph);
  EXPECT_EQ(budgets.least, (LeastMemory{3, 12}));
  EXPECT_EQ(budgets.halfway(), 13);
  EXPECT_EQ(budgets.least_peak, 14);
  EXPECT_EQ(budgets.Of(NamedBudget::kOneOperator), 12);
  EXPECT_EQ(budgets.Of(NamedBudget::kHalfway), 13);
  EXPECT_EQ(budgets.Of(NamedBudget::kLeastPeak), 14);
  EXPECT_EQ(budgets.Of(Bytes{5}), 5);
}

TEST(FindBudgets, OfOneOperator) {
  const Graph graph = Build().Source("x", 4).Made("y", 3).Op("f", {"x"}, {"y"}).Output("y").graph;
  const NamedBudgets made = Budgets(graph);
  EXPECT_EQ(made.least, (LeastMemory{0, 3}));
  EXPECT_EQ(made.halfway(), 3);
  EXPECT_EQ(made.least_peak, 3);
  EXPECT_EQ(made.order, Order{0});
  const NamedBudgets with_inputs = Budgets(graph, {.inputs = true});
  EXPECT_EQ(with_inputs.least, (LeastMemory{0, 7}));
  EXPECT_EQ(with_inputs.halfway(), 7);
  EXPECT_EQ(with_inputs.least_peak, 7);
  EXPECT_EQ(with_inputs.order, Order{0});
}

TEST(FindBudgets, AreZeroWithoutTensors) {
  const NamedBudgets of_operators = Budgets(Build().Op("f", {}, {}).Op("g", {}, {}).graph);
  EXPECT_EQ(of_operators.least, LeastMemory());
  EXPECT_EQ(of_operators.halfway(), 0);
  EXPECT_EQ(of_operators.least_peak, 0);
  EXPECT_TRUE(of_operators.peak_proved);
  EXPECT_EQ(of_operators.order.size(), 2u);
  const NamedBudgets of_nothing = Budgets(Graph());
  EXPECT_EQ(of_nothing.least, LeastMemory());
  EXPECT_EQ(of_nothing.least_peak, 0);
  EXPECT_TRUE(of_nothing.order.empty());
}

// a: 8 bytes, then b: 1, then c: 1, which needs the 10 bytes of p.
Build LateParameter() {
  return Build()
      .Source("p", 10, TensorKind::kParameter)
      .Made("a", 8)
      .Made("b", 1)
      .Made("c", 1)
      .Op("A", {}, {"a"})
      .Op("B", {"a"}, {"b"})
      .Op("C", {"b", "p"}, {"c"})
      .Output("c");
}

TEST(FindBudgets, AParameterNeedsMemoryFromItsFirstUse) {
  const Counting counting{.inputs = false, .parameters = true};
  const Graph graph = LateParameter().graph;
  EXPECT_EQ(Live(graph, ProgramOrder(graph), counting).peak, 19);
  const NamedBudgets budgets = Budgets(graph, counting);
  EXPECT_EQ(budgets.least, (LeastMemory{2, 12}));
  EXPECT_EQ(budgets.least_peak, 12);
  EXPECT_TRUE(budgets.peak_proved);
  EXPECT_EQ(budgets.order, (Order{0, 1, 2}));
  EXPECT_EQ(Budgets(graph).least_peak, 9);
}

TEST(FindBudgets, AParameterNeedsMemoryThroughItsLastUse) {
  Build build = LateParameter();
  build.graph.operators[0].inputs = {build.T("p")};
  const NamedBudgets budgets = Budgets(build.graph, {.inputs = false, .parameters = true});
  EXPECT_EQ(budgets.least, (LeastMemory{0, 18}));
  EXPECT_EQ(budgets.least_peak, 19);  // While B runs.
  EXPECT_EQ(budgets.halfway(), 18);
}

TEST(FindBudgets, AViewOfAParameterIsAUseOfIt) {
  Build build = LateParameter();
  build.graph.tensors.push_back(
      {"q", 5, 1, TensorKind::kParameter, false, build.T("p")});  // Given, as p is.
  build.graph.operators[2].inputs[1] = build.T("q");
  const NamedBudgets budgets = Budgets(build.graph, {.inputs = false, .parameters = true});
  EXPECT_EQ(budgets.least, (LeastMemory{2, 12}));
  EXPECT_EQ(budgets.least_peak, 12);
}

TEST(FindBudgets, AParameterThatIsAResultMayLeaveAfterItsLastUse) {
  Build build = LateParameter();
  build.Output("p").Made("d", 8).Op("D", {"c"}, {"d"});
  const NamedBudgets budgets = Budgets(build.graph, {.inputs = false, .parameters = true});
  EXPECT_EQ(budgets.least_peak, 12);
}

TEST(FindBudgets, AGivenTensorThatNoOperatorUsesNeedsNoMemory) {
  Build build = LateParameter();
  build.Source("unused", 100, TensorKind::kParameter).Source("result", 100).Output("result");
  const NamedBudgets budgets = Budgets(build.graph, {.inputs = true, .parameters = true});
  EXPECT_EQ(budgets.least_peak, 12);
  EXPECT_TRUE(budgets.peak_proved);
}

TEST(FindBudgets, OperatorsMayHaveAnyName) {
  Build build = LateParameter();
  build.graph.operators[0].name = "load p";
  EXPECT_EQ(Budgets(build.graph, {.inputs = false, .parameters = true}).least_peak, 12);
}

// MR is the least capacity that fits, and at MP nothing has to be spilled.
TEST(FindBudgets, MeanWhatTheyArePromisedToMean) {
  int different = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    GraphKnobs knobs = AllGraphKnobs();
    knobs.max_operators = 10;
    const Graph graph = RandomGraph(seed, knobs);
    Counting counting{random.Chance(0.5), random.Chance(0.5)};
    counting.unsized_as_zero = true;
    const NamedBudgets budgets = Budgets(graph, counting);
    EXPECT_LE(budgets.least.bytes, budgets.halfway());
    EXPECT_LE(budgets.halfway(), budgets.least_peak);
    different += budgets.least.bytes < budgets.least_peak ? 1 : 0;
    ASSERT_TRUE(ValidateOrder(graph, budgets.order).has_value());
    SpillOptions options;
    options.counting = counting;
    options.orders = {budgets.order};
    options.fixed_order = true;
    options.placer = nullptr;
    const auto outcome_at = [&](Bytes capacity) {
      options.capacity = capacity;
      Budget budget;
      return PlanWithSpills(graph, options, budget).value_or(PlanAnswer());
    };
    EXPECT_EQ(outcome_at(budgets.least_peak).traffic_by_sum, 0);
    EXPECT_EQ(outcome_at(budgets.least.bytes).outcome, Outcome::kOptimal);
    if (budgets.least.bytes > 0) {
      EXPECT_EQ(outcome_at(budgets.least.bytes - 1).outcome, Outcome::kInfeasible);
    }
  }
  EXPECT_GT(different, 50);
}

TEST(FindBudgets, ACancelledSearchKeepsTheProgramOrder) {
  Build build = TwoBranches();
  std::swap(build.graph.operators[1], build.graph.operators[2]);
  Budget budget;
  budget.Cancel();
  const auto budgets = FindBudgets(build.graph, {}, budget);
  ASSERT_TRUE(budgets.has_value());
  EXPECT_EQ(budgets->least.bytes, 9);
  EXPECT_EQ(budgets->least_peak, 17);
  EXPECT_FALSE(budgets->peak_proved);
  EXPECT_LE(budgets->peak_bound, 10);
  EXPECT_EQ(budgets->order, ProgramOrder(build.graph));
}

TEST(FindBudgets, RefuseAnInvalidGraph) {
  Build build = TwoBranches();
  build.graph.tensors[0].bytes = -1;
  Budget budget;
  const auto budgets = FindBudgets(build.graph, {}, budget);
  ASSERT_FALSE(budgets.has_value());
  EXPECT_EQ(budgets.error().code, ErrorCode::kInvalidGraph);
}

}  // namespace
}  // namespace berth::internal
