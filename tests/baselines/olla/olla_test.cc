// OLLA's integer program against brute force, with every switch, and against Berth's search.

#include "berth/olla.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "berth/baselines.h"
#include "berth/schedule.h"
#include "testing/order_oracle.h"
#include "testing/random_graph.h"
#include "tools/verify/verify.h"

namespace berth::internal {
namespace {

Graph SmallGraph(std::uint64_t seed, int operators) {
  GraphKnobs knobs = AllGraphKnobs();
  knobs.max_operators = operators;
  knobs.unplanned_chance = 0;
  return RandomGraph(seed, knobs);
}

OllaAnswer Ask(const Graph& graph, const OllaOptions& options) {
  Budget budget;
  auto answer = ScheduleByOlla(graph, options, budget);
  EXPECT_TRUE(answer.has_value()) << answer.error().message;
  const auto report = verify::VerifyPlan(graph, {}, std::nullopt, *answer->plan.best);
  EXPECT_TRUE(report.ok()) << verify::Describe(report, graph, *answer->plan.best);
  EXPECT_EQ(report.peak, answer->plan.best->peak());
  EXPECT_TRUE(answer->claims_optimal);
  return *std::move(answer);
}

TEST(Olla, OrdersOptimally) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Graph graph = SmallGraph(seed, 6);
    const Bytes least = OracleSchedule(graph).peak;
    OllaOptions options;
    options.early_updates = false;
    options.spans = seed % 2 == 0;
    options.lifetimes = seed % 4 < 2;
    options.preserved = seed % 8 < 4;
    const OllaAnswer answer = Ask(graph, options);
    EXPECT_EQ(answer.plan.best->peak(), least);
    EXPECT_EQ(answer.plan.outcome, Outcome::kOptimal);
    EXPECT_EQ(answer.plan.peak_bound, least);
  }
}

TEST(Olla, SwitchesMakeTheProgramSmaller) {
  const Graph graph = SmallGraph(11, 9);
  OllaOptions options;
  options.early_updates = false;
  const std::int64_t all = Ask(graph, options).variables;
  options.lifetimes = false;
  const std::int64_t without_lifetimes = Ask(graph, options).variables;
  options.spans = false;
  const std::int64_t without_both = Ask(graph, options).variables;
  EXPECT_LT(all, without_lifetimes);
  EXPECT_LT(without_lifetimes, without_both);
}

// Where addresses add no bytes, joint optimisation is as good as order first, addresses second.
TEST(Olla, TheJointProgramPlacesToo) {
  int placed = 0;
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    GraphKnobs knobs;
    knobs.max_operators = 5;
    const Graph graph = RandomGraph(seed, knobs);
    std::optional<Bytes> height;
    for (const bool precedence : {true, false}) {
      OllaOptions options;
      options.joint = true;
      options.early_updates = false;
      options.precedence = precedence;
      const OllaAnswer answer = Ask(graph, options);
      const MemoryPlan& plan = *answer.plan.best;
      ASSERT_TRUE(plan.addressed);
      const Liveness live = Live(graph, plan.order);
      EXPECT_TRUE(ValidatePlacement(live.problem, PlacementOf(plan)).has_value());
      EXPECT_GE(plan.height(), OracleSchedule(graph).peak);
      if (height) {
        EXPECT_EQ(plan.height(), *height);
      }
      height = plan.height();
      ++placed;
    }
  }
  EXPECT_EQ(placed, 24);
}

// An update that frees a gradient, and a long chain that could run before it.
TEST(Olla, ControlEdgesMakeUpdatesRunEarly) {
  Graph graph;
  graph.tensors = {{"w", 8, 1, TensorKind::kParameter},
                   {"x", 1, 1, TensorKind::kInput},
                   {"a", 2},
                   {"g", 8, 1, TensorKind::kGradient},
                   {"b", 2},
                   {"c", 2},
                   {"d", 2}};
  graph.operators = {{"f", "", {1}, {2}},  {"gw", "", {2}, {3}}, {"f2", "", {2}, {4}},
                     {"f3", "", {4}, {5}}, {"f4", "", {5}, {6}}, {"u", "", {3}, {}, {0}}};
  graph.operators[5].update = true;
  ASSERT_TRUE(Validate(graph).has_value());
  const OllaAnswer with = Ask(graph, {});
  EXPECT_EQ(with.control_edges, 1);
  // The anchor is the first operator of a higher level: f4.
  const auto position = [&](OperatorIndex v) {
    const Order& order = with.plan.best->order;
    return std::find(order.begin(), order.end(), v) - order.begin();
  };
  EXPECT_LT(position(5), position(4));
}

TEST(Olla, ThePyramidNestsLifetimes) {
  Problem problem;
  problem.buffers = {{"a", 0, 10, 4}, {"b", 1, 9, 3}, {"c", 0, 5, 2}, {"d", 2, 8, 5, 4}};
  const Problem placed = PreplacePyramid(problem);
  EXPECT_EQ(placed.buffers[0].offset, 0);
  EXPECT_EQ(placed.buffers[1].offset, 4);
  EXPECT_EQ(placed.buffers[2].offset, std::nullopt);
  EXPECT_EQ(placed.buffers[3].offset, 8);  // 7, aligned to 4.
}

TEST(Olla, RejectsInvalidInput) {
  Budget budget;
  OllaOptions options;
  options.backend = "gurobi";
  const auto answer = ScheduleByOlla({}, options, budget);
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().message, "there is no backend \"gurobi\"; there are cbc and highs");
  options.backend.clear();
  Graph broken;
  broken.operators = {{"v", "", {5}, {}}};
  EXPECT_EQ(ScheduleByOlla(broken, options, budget).error().code, ErrorCode::kInvalidGraph);
}

}  // namespace
}  // namespace berth::internal
