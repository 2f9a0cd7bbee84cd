#include "berth/plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "berth/io.h"
#include "testing/order_oracle.h"
#include "testing/random_graph.h"
#include "tests/graph/build.h"
#include "tools/verify/execute.h"
#include "tools/verify/verify.h"

namespace berth::internal {
namespace {

PlanAnswer Planned(const Graph& graph, const PlanOptions& options = {}) {
  Budget budget;
  auto plan = Plan(graph, options, budget);
  EXPECT_TRUE(plan.has_value()) << plan.error().message;
  return plan.value_or(PlanAnswer());
}

// Replays the plan with every checker that shares no code with the planner.
void ExpectHolds(const Graph& graph, const PlanAnswer& answer, const Counting& counting = {}) {
  ASSERT_TRUE(answer.best.has_value());
  const MemoryPlan& plan = *answer.best;
  const auto report = verify::VerifyPlan(graph, counting, std::nullopt, plan);
  EXPECT_TRUE(report.ok()) << verify::Describe(report, graph, plan);
  EXPECT_EQ(report.peak, plan.peak());
  EXPECT_EQ(report.height, plan.height());
  const auto order = verify::VerifyOrder(graph, plan.order, counting);
  EXPECT_TRUE(order.ok());
  EXPECT_EQ(order.peak, plan.peak());
  std::vector<verify::PlacedTensor> placed;
  for (const Residency& r : plan.residencies) placed.push_back({r.tensor, r.offset});
  verify::ExecutionOptions execution;
  execution.max_arena = Bytes{1} << 20;
  const verify::ExecutionReport run = verify::Execute(graph, plan.order, placed, execution);
  EXPECT_TRUE(run.ok()) << verify::Describe(run.clobbers[0], graph);
  EXPECT_EQ(run.operators_run, static_cast<std::int64_t>(graph.operators.size()));
}

TEST(PlanTest, OrdersAndPlaces) {
  Build b = TwoBranches();
  std::swap(b.graph.operators[1], b.graph.operators[2]);
  const PlanAnswer plan = Planned(b.graph);
  EXPECT_EQ(plan.outcome, Outcome::kOptimal);
  EXPECT_EQ(plan.program_order_peak, 17);
  EXPECT_EQ(plan.best->peak(), 10);
  EXPECT_EQ(plan.height_bound, 10);
  EXPECT_EQ(plan.best->height(), 10);
  ExpectHolds(b.graph, plan);
}

TEST(PlanTest, ACapacityDecides) {
  const Graph graph = TwoBranches().graph;
  PlanOptions options;
  options.capacity = 10;
  EXPECT_EQ(Planned(graph, options).outcome, Outcome::kOptimal);
  options.capacity = 12;
  const PlanAnswer fits = Planned(graph, options);
  EXPECT_TRUE(fits.outcome == Outcome::kOptimal || fits.outcome == Outcome::kFeasible);
  EXPECT_LE(fits.best->height(), 12);
  options.capacity = 9;
  const PlanAnswer too_small = Planned(graph, options);
  EXPECT_EQ(too_small.outcome, Outcome::kInfeasible);
  EXPECT_EQ(too_small.height_bound, 10);
  // That an order does not fit proves nothing about others.
  options.capacity = 12;
  options.order = Order{0, 2, 1, 3, 4};
  EXPECT_EQ(Planned(graph, options).outcome, Outcome::kUnknown);
  options.capacity = 17;
  EXPECT_EQ(Planned(graph, options).outcome, Outcome::kFeasible);
}

TEST(PlanTest, TakesAnOrder) {
  const Graph graph = TwoBranches().graph;
  PlanOptions options;
  options.order = Order{0, 2, 1, 3, 4};
  const PlanAnswer plan = Planned(graph, options);
  EXPECT_EQ(plan.scheduling.algorithm, "given");
  EXPECT_EQ(plan.best->peak(), 17);
  EXPECT_EQ(plan.best->height(), 17);
  EXPECT_EQ(plan.outcome, Outcome::kFeasible);
  ExpectHolds(graph, plan);
  options.order = Order{1, 0, 2, 3, 4};
  Budget budget;
  EXPECT_EQ(Plan(graph, options, budget).error().code, ErrorCode::kInvalidPlan);
}

TEST(PlanTest, RefusesABadGraph) {
  Graph graph = TwoBranches().graph;
  graph.operators[0].after = {4};
  Budget budget;
  EXPECT_EQ(Plan(graph, {}, budget).error().code, ErrorCode::kInvalidGraph);
}

TEST(PlanTest, ACancelledSearchStillGivesAPlan) {
  Budget budget;
  budget.Cancel();
  const Graph graph = RandomGraph(7, AllGraphKnobs());
  const auto plan = Plan(graph, {}, budget);
  ASSERT_TRUE(plan.has_value());
  ExpectHolds(graph, *plan);
}

TEST(BudgetTest, APartEndsWithTheWholeAndSpendsItsNodes) {
  Budget whole;
  whole.SetNodeLimit(10);
  {
    Budget part(whole, 0.5);
    for (int i = 0; i < 7; ++i) EXPECT_TRUE(part.SpendNode());
  }
  EXPECT_EQ(whole.nodes_spent(), 7);
  Budget rest(whole, 1);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(rest.SpendNode());
  EXPECT_FALSE(rest.SpendNode());
  Budget cancelled;
  Budget part(cancelled, 0.5);
  EXPECT_FALSE(part.Exhausted());
  cancelled.Cancel();
  EXPECT_TRUE(part.TimeIsUp());
  EXPECT_TRUE(part.Exhausted());
  Budget timed;
  timed.SetTimeLimit(0);
  Budget late(timed, 0.9);
  EXPECT_TRUE(late.Exhausted());
}

// With each part of the search switched off in turn, and with all of them: the least peak equals
// that of exhaustive search, and the plan runs.
TEST(PlanTest, RandomGraphsNeedWhatTheOracleSays) {
  int lower = 0;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Graph graph = RandomGraph(seed, AllGraphKnobs());
    if (seed % 4 == 0) graph = ReuseInPlace(std::move(graph));
    PlanOptions options;
    options.schedule.counting = {seed % 3 == 0, seed % 5 == 0, /*unsized_as_zero=*/true};
    ExactOptions& exact = options.schedule.exact;
    std::vector<bool*> switches = {&exact.reduction, &exact.segments, &exact.cut_bound,
                                   &exact.beam,      &exact.probing,  &exact.bisection,
                                   &exact.dominance, &exact.backwards};
    const std::size_t off = seed % (switches.size() + 2);
    for (std::size_t i = 0; i < switches.size(); ++i) {
      if (i == off || off == switches.size()) *switches[i] = false;
    }
    const PlanAnswer plan = Planned(graph, options);
    EXPECT_EQ(plan.scheduling.outcome, Outcome::kOptimal);
    EXPECT_EQ(plan.best->peak(), OracleSchedule(graph, options.schedule.counting).peak);
    ExpectHolds(graph, plan, options.schedule.counting);
    lower += plan.best->peak() < plan.program_order_peak ? 1 : 0;
  }
  EXPECT_GT(lower, 300);
}

// Every real graph is proved, placed at its peak, and run.
TEST(PlanTest, RealGraphsArePlacedAtTheirLeastPeak) {
  const char* const data = std::getenv("BERTH_DATA");
  if (data == nullptr) GTEST_SKIP() << "BERTH_DATA names no folder with graphs";
  std::vector<std::filesystem::path> paths;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(data) + "/graphs/training")) {
    paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  for (const auto& path : paths) {
    SCOPED_TRACE(path.filename().string());
    const auto graph = ReadGraphJson(ReadFile(path.string()).value(), path.string());
    ASSERT_TRUE(graph.has_value()) << graph.error().message;
    const PlanAnswer plan = Planned(*graph);
    EXPECT_EQ(plan.scheduling.outcome, Outcome::kOptimal);
    EXPECT_EQ(plan.best->height(), plan.best->peak());
    ExpectHolds(*graph, plan);
  }
}

}  // namespace
}  // namespace berth::internal
