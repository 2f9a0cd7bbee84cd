// Plan() with tensors that may move between memories, against trying everything on small graphs.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "berth/displaced.h"
#include "berth/plan.h"
#include "berth/report.h"
#include "testing/graph_memories_oracle.h"
#include "testing/random_graph.h"
#include "testing/seeds.h"
#include "tests/graph/build.h"
#include "tests/plan/moving_case.h"

namespace berth::internal {
namespace {

// A plan with copies is one of a table with a buffer for each residency: it costs the same, and it can be
// explained and drawn.
void ExpectPlanOfTable(const Graph& graph, const Counting& counting, const GraphMemories& memories,
                       const MemoryPlan& plan) {
  const TensorTable table = TableOf(graph, counting, memories, plan);
  const MemoryPlan of_table = PlanOf(table, plan);
  ASSERT_EQ(of_table.residencies.size(), plan.residencies.size());
  ASSERT_EQ(table.tensors.size(), plan.residencies.size() + plan.cost.unplaced);
  EXPECT_EQ(of_table.cost.cost, plan.cost.cost);
  for (std::size_t i = 0; i < plan.residencies.size(); ++i) {
    const std::size_t b = of_table.residencies[i].tensor;
    EXPECT_EQ(table.tensors[b], plan.residencies[i].tensor);
    EXPECT_EQ(table.problem.table.buffers[b].start, plan.residencies[i].start);
    EXPECT_EQ(table.problem.table.buffers[b].end, plan.residencies[i].end);
  }
  const auto copies = CopiesOf(graph, memories, plan);
  std::vector<bool> copied(graph.tensors.size(), false);
  for (const MemoryCopy& copy : copies) copied[copy.tensor] = true;
  const auto displaced = FindDisplaced(table.problem, of_table, 1000);
  ASSERT_TRUE(displaced.has_value()) << displaced.error().message;
  for (const Displaced& each : *displaced) {
    EXPECT_FALSE(copied[table.tensors[each.buffers.front()]]);
  }
  const std::string svg = WriteSvg(graph, counting, memories, plan);
  std::size_t arrows = 0;
  for (std::size_t at = 0; (at = svg.find(" class=\"copy\"", at)) != std::string::npos; ++at) {
    ++arrows;
  }
  EXPECT_EQ(arrows, copies.empty() ? 0U : copies.size() + 1);  // And one in the legend.
}

TEST(PlanWithMovesTest, TriesEverythingInOneOrder) {
  MovingTally tally;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(seed);
    auto made = seed % 2 == 0 ? RandomSkips(seed, /*prefetch=*/false)
                              : RandomMovingCase(seed, /*prefetch=*/false);
    if (!made) continue;
    made->options.order = RandomOrder(made->graph, seed);
    const Graph& graph = made->graph;
    const PlanOptions& options = made->options;
    const Counting& counting = options.schedule.counting;
    Budget budget;
    const auto answer = Plan(graph, options, budget);
    ASSERT_TRUE(answer.has_value()) << answer.error().message;
    ExpectPlanOfTable(graph, counting, options.memories, *answer->best);
    tally.Add(*made, *answer,
              OracleOfOrderWithMoves(graph, *options.order, counting, options.memories),
              [&] { return OracleOfOrder(graph, *options.order, counting, options.memories); });
    if (HasFailure()) return;
  }
  tally.ExpectAtLeast(30, 10, 90);
}

// Weights of which copies are kept for a while, the original staying.
TEST(PlanWithMovesTest, StagedWeightsAgainstTryingEverything) {
  MovingTally tally;
  for (std::uint64_t seed = 1; seed <= Seeds(300); ++seed) {
    SCOPED_TRACE(seed);
    auto made = RandomStaging(seed, /*prefetch=*/false);
    made.options.order = RandomOrder(made.graph, seed);
    const auto& [graph, options] = made;
    Budget budget;
    const auto answer = Plan(graph, options, budget);
    ASSERT_TRUE(answer.has_value()) << answer.error().message;
    GraphMemories without = options.memories;
    without.stage_in.clear();
    tally.Add(
        made, *answer,
        OracleOfOrderWithMoves(graph, *options.order, options.schedule.counting, options.memories),
        [&] { return CostWith(made, without); });
    if (HasFailure()) return;
  }
  tally.ExpectAtLeast(static_cast<int>(Seeds(300)) / 3, 20, 90);
}

TEST(PlanWithMovesTest, TriesEverythingInAllOrders) {
  int all = 0;
  int proved = 0;
  for (std::uint64_t seed = 1001; seed <= 1120; ++seed) {
    SCOPED_TRACE(seed);
    const auto made = RandomMovingCase(seed, /*prefetch=*/false);
    if (!made) continue;
    const auto& [graph, options] = *made;
    const Counting& counting = options.schedule.counting;
    const auto least = OracleWithMoves(graph, counting, options.memories);
    Budget budget;
    const auto answer = Plan(graph, options, budget);
    ASSERT_TRUE(answer.has_value()) << answer.error().message;
    ExpectVerified(graph, counting, options.memories, *answer->best);
    if (!least) {
      EXPECT_GT(answer->best->cost.unplaced, 0U);
      continue;
    }
    EXPECT_EQ(answer->cost_bound.unplaced, 0U);
    EXPECT_LE(answer->cost_bound.cost, *least);
    if (answer->best->cost.unplaced == 0) {
      EXPECT_GE(answer->best->cost.cost, *least);
    }
    EXPECT_FALSE(answer->fixed_order);
    ++all;
    proved += answer->outcome == Outcome::kOptimal ? 1 : 0;
    if (HasFailure()) return;
  }
  EXPECT_GT(all, 15);
  EXPECT_GE(proved * 100, all * 80) << proved << " of " << all;
}

// x (8 bytes) is made first and used last; in between, every operator needs all of the fast memory.
Graph LongSkip() {
  Build b;
  b.Made("x", 8).Made("y", 8).Made("a", 8).Made("b", 8).Made("c", 8).Made("d", 8).Made("z", 1);
  b.Op("X", {}, {"x"}).Op("Y", {"x"}, {"y"}).Op("A", {"y"}, {"a"}).Op("B", {"a"}, {"b"});
  b.Op("C", {"b"}, {"c"}).Op("D", {"c"}, {"d"}).Op("Z", {"d", "x"}, {"z"});
  return b.Output("z").graph;
}

GraphMemories TwoMemories() {
  GraphMemories memories;
  memories.memories = {{.name = "fast", .capacity = 16, .read = {1, 1}, .write = {1, 1}},
                       {.name = "slow", .read = {10, 1}, .write = {10, 1}}};
  memories.may_move = true;
  return memories;
}

// All is fast but x, which is written (8) and read (8) in the fast memory, copied (8 + 80) and read
// once more in the slow one (80), instead of 80 + 80 + 80. Copying it back would cost another 80 + 8,
// and then 8: more than 80.
// What is told of a search: plans that exist, and bounds that hold for all that was asked.
TEST(PlanWithMovesTest, ProgressTellsCosts) {
  int told = 0;
  int last = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    for (const bool prefetch : {false, true}) {
      auto made = RandomMovingCase(seed, prefetch);
      if (!made) continue;
      auto& [graph, options] = *made;
      if (seed % 3 == 0) options.memories.may_move = options.memories.prefetch = false;
      SCOPED_TRACE(std::to_string(seed) + (prefetch ? ", prefetch" : ""));
      std::vector<Progress> seen;
      options.place.progress = [&](const Progress& progress) { seen.push_back(progress); };
      options.schedule.progress = options.place.progress;
      Budget budget;
      const auto answer = Plan(graph, options, budget);
      ASSERT_TRUE(answer.has_value()) << answer.error().message;
      const PlanCost& cost = answer->best->cost;
      if (cost.unplaced > 0) {
        EXPECT_TRUE(seen.empty());
        continue;
      }
      for (std::size_t i = 0; i < seen.size(); ++i) {
        ASSERT_TRUE(seen[i].best.has_value());
        EXPECT_GE(*seen[i].best, cost.cost);
        EXPECT_LE(seen[i].bound, cost.cost);
        if (i > 0) {
          EXPECT_LE(*seen[i].best, *seen[i - 1].best);
        }
      }
      ++told;
      last += !seen.empty() && *seen.back().best == cost.cost ? 1 : 0;
    }
  }
  EXPECT_GT(told, 40);
  EXPECT_GT(last, told * 9 / 10);
}

TEST(PlanWithMovesTest, ALongSkipLeavesTheFastMemory) {
  const Graph graph = LongSkip();
  PlanOptions options;
  options.memories = TwoMemories();
  Budget budget;
  const auto answer = Plan(graph, options, budget);
  ASSERT_TRUE(answer.has_value()) << answer.error().message;
  EXPECT_EQ(answer->outcome, Outcome::kOptimal);
  const std::int64_t others = 5 * 16 + 1;
  EXPECT_EQ(answer->best->cost.cost, 8 + 8 + 8 + 80 + 80 + others);
  EXPECT_EQ(answer->cost_bound, answer->best->cost);
  ExpectVerified(graph, {}, options.memories, *answer->best);
  const auto copies = CopiesOf(graph, options.memories, *answer->best);
  ASSERT_EQ(copies.size(), 1U);
  EXPECT_EQ(copies[0], (MemoryCopy{0, 0, 1, 2, 8, 88, 2}));
  options.memories.may_move = false;
  const auto still = Plan(graph, options, budget);
  ASSERT_TRUE(still.has_value());
  EXPECT_EQ(still->best->cost.cost, 3 * 80 + others);
}

TEST(PlanWithMovesTest, WrongCopiesAreRefused) {
  const Graph graph = LongSkip();
  PlanOptions options;
  options.memories = TwoMemories();
  Budget budget;
  const auto answer = Plan(graph, options, budget);
  ASSERT_TRUE(answer.has_value());
  const GraphMemories& memories = options.memories;
  const auto refused = [&](const GraphMemories& with, auto change) {
    MemoryPlan plan = *answer->best;
    change(plan);
    const auto valid = ValidatePlan(graph, {}, with, plan);
    EXPECT_FALSE(verify::VerifyMemories(graph, {}, with, plan).empty());
    return valid ? std::string() : valid.error().message;
  };
  GraphMemories still = memories;
  still.may_move = false;
  EXPECT_NE(refused(still, [](MemoryPlan&) {}).find("is in two memories"), std::string::npos);
  // The copy comes a step before the target, or a step after the source has gone.
  EXPECT_NE(refused(memories, [](MemoryPlan& plan) { ++plan.residencies[1].start; }), "");
  EXPECT_NE(refused(memories, [](MemoryPlan& plan) { --plan.residencies[0].end; }), "");
  // One step later the source is in the way of what the next operator makes.
  EXPECT_NE(refused(memories,
                    [](MemoryPlan& plan) {
                      ++plan.residencies[0].end;
                      ++plan.residencies[1].start;
                    }),
            "");
  EXPECT_NE(refused(memories, [](MemoryPlan& plan) { plan.cost.cost -= 8; }), "");
  EXPECT_NE(refused(memories, [](MemoryPlan& plan) { ++plan.memories[1].peak; }), "");
}

// Source and target are both there while a copy is made: two tensors cannot change places.
TEST(PlanWithMovesTest, TwoTensorsDoNotChangePlaces) {
  Build b;
  b.Made("x", 4).Made("y", 4).Made("z", 1);
  b.Op("XY", {}, {"x", "y"}).Op("Z", {"x", "y"}, {"z"});
  const Graph graph = b.Output("z").graph;
  GraphMemories memories = TwoMemories();
  MemoryPlan plan;
  plan.order = {0, 1};
  plan.residencies = {{0, 0, 1, 0, false, false, 0},
                      {0, 1, 2, 0, false, false, 1},
                      {1, 0, 1, 0, false, false, 1},
                      {1, 1, 2, 0, false, false, 0},
                      {2, 1, 2, 8, false, false, 0}};
  plan.memories = {{9, 8}, {4, 8}};
  plan.traffic.compulsory_out = 1;
  plan.cost = CostOf(graph, {}, memories, plan);
  const auto valid = ValidatePlan(graph, {}, memories, plan);
  ASSERT_FALSE(valid.has_value());
  EXPECT_NE(valid.error().message.find("in half steps"), std::string::npos)
      << valid.error().message;
  const auto faults = verify::VerifyMemories(graph, {}, memories, plan);
  EXPECT_TRUE(std::any_of(faults.begin(), faults.end(), [](const std::string& fault) {
    return fault.find("broken copy") != std::string::npos;
  }));
  plan.residencies[1].offset = 4;
  plan.residencies[3].offset = 4;
  plan.memories = {{9, 8}, {8, 8}};
  ExpectVerified(graph, {}, memories, plan);
}

TEST(PlanWithMovesTest, WeightsDoNotMove) {
  Build b;
  b.Source("w", 4, TensorKind::kParameter).Made("y", 4).Made("z", 4);
  b.Op("A", {"w"}, {"y"}).Op("B", {"y", "w"}, {"z"}).Output("z");
  GraphMemories memories = TwoMemories();
  const Counting counting = {true, true};
  PlanOptions options;
  options.memories = memories;
  options.schedule.counting = counting;
  Budget budget;
  const auto answer = Plan(b.graph, options, budget);
  ASSERT_TRUE(answer.has_value());
  MemoryPlan plan = *answer->best;
  ExpectVerified(b.graph, counting, memories, plan);
  ASSERT_EQ(plan.residencies[0].tensor, 0U);
  Residency later = plan.residencies[0];
  plan.residencies[0].end = later.start = 1;
  later.memory = 1 - later.memory;
  later.offset = 0;
  plan.residencies.insert(plan.residencies.begin() + 1, later);
  const auto valid = ValidatePlan(b.graph, counting, memories, plan);
  ASSERT_FALSE(valid.has_value());
  EXPECT_NE(valid.error().message.find("the next run needs it"), std::string::npos);
  EXPECT_FALSE(verify::VerifyMemories(b.graph, counting, memories, plan).empty());
}

// One operator needs 25 bytes of 24: whatever moves, something has no place.
TEST(PlanWithMovesTest, WhatCannotFitIsProved) {
  Build b;
  b.Made("x", 8).Made("y", 8).Made("z", 9);
  b.Op("XY", {}, {"x", "y"}).Op("Z", {"x", "y"}, {"z"});
  const Graph graph = b.Output("z").graph;
  PlanOptions options;
  options.memories = TwoMemories();
  options.memories.memories[0].capacity = 14;
  options.memories.memories[1].capacity = 10;
  Budget budget;
  const auto answer = Plan(graph, options, budget);
  ASSERT_TRUE(answer.has_value()) << answer.error().message;
  EXPECT_EQ(answer->outcome, Outcome::kInfeasible);
  EXPECT_EQ(answer->best->cost.unplaced, 1U);
  EXPECT_EQ(answer->cost_bound.unplaced, 1U);
  ExpectVerified(graph, {}, options.memories, *answer->best);
}

TEST(PlanWithMovesTest, BadInput) {
  const Graph graph = LongSkip();
  PlanOptions options;
  options.memories.may_move = true;
  Budget budget;
  EXPECT_FALSE(Plan(graph, options, budget).has_value());
  options.memories = TwoMemories();
  options.spill = true;
  EXPECT_FALSE(Plan(graph, options, budget).has_value());
}

}  // namespace
}  // namespace berth::internal
