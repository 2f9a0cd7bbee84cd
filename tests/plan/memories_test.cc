// Plan() with several memories against trying everything, on small graphs with every feature.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "berth/plan.h"
#include "berth/sweep.h"
#include "testing/graph_memories_oracle.h"
#include "testing/random_graph.h"
#include "testing/spill_oracle.h"
#include "tests/graph/build.h"
#include "tools/verify/execute.h"
#include "tools/verify/graph_memories.h"

namespace berth::internal {
namespace {

GraphKnobs Knobs(std::uint64_t seed) {
  GraphKnobs knobs = AllGraphKnobs();
  knobs.max_operators = seed % 2 == 0 ? 5 : 4;
  knobs.max_bytes = 5;
  knobs.max_outputs = 1;
  knobs.unplanned_chance = 0;
  return knobs;
}

Counting CountingOf(std::uint64_t seed) {
  Counting counting;
  counting.inputs = seed / 2 % 2 == 0;
  counting.parameters = seed / 4 % 2 == 0;
  return counting;
}

std::size_t CountedTensors(const Graph& graph, const Counting& counting) {
  std::size_t count = 0;
  for (const Tensor& tensor : graph.tensors) {
    count += TakesPart(tensor, counting) && tensor.bytes > 0 ? 1 : 0;
  }
  return count;
}

void ExpectVerified(const Graph& graph, const Counting& counting, const GraphMemories& memories,
                    const PlanAnswer& answer) {
  ASSERT_TRUE(answer.best.has_value());
  const MemoryPlan& plan = *answer.best;
  const Result<void> valid = ValidatePlan(graph, counting, memories, plan);
  EXPECT_TRUE(valid.has_value()) << valid.error().message;
  EXPECT_EQ(verify::VerifyMemories(graph, counting, memories, plan), std::vector<std::string>());
}

// A plan without spills is executed as well.
void ExpectHolds(const Graph& graph, const Counting& counting, const GraphMemories& memories,
                 const PlanAnswer& answer) {
  ExpectVerified(graph, counting, memories, answer);
  ASSERT_TRUE(answer.best.has_value());
  const MemoryPlan& plan = *answer.best;
  const auto stacked = verify::Stacked(graph, plan);
  ASSERT_TRUE(stacked.has_value());
  std::vector<verify::PlacedTensor> placed;
  for (const Residency& r : stacked->residencies) placed.push_back({r.tensor, r.offset});
  const verify::ExecutionReport run = verify::Execute(graph, plan.order, placed);
  EXPECT_TRUE(run.ok());
}

TEST(PlanInMemoriesTest, TriesEverything) {
  int optimal = 0;
  int all = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    SCOPED_TRACE(seed);
    const Graph graph = RandomGraph(seed, Knobs(seed));
    const Counting counting = CountingOf(seed);
    if (CountedTensors(graph, counting) > 6) continue;
    PlanOptions options;
    options.schedule.counting = counting;
    options.memories = RandomGraphMemories(graph, seed);
    if (!Validate(graph, counting, options.memories)) continue;
    const PlanCost least = OracleGraphMemories(graph, counting, options.memories);
    Budget budget;
    const auto answer = Plan(graph, options, budget);
    ASSERT_TRUE(answer.has_value()) << answer.error().message;
    ExpectHolds(graph, counting, options.memories, *answer);
    EXPECT_LE(answer->cost_bound, least);
    EXPECT_GE(answer->best->cost, least);
    EXPECT_FALSE(answer->fixed_order);
    if (answer->outcome == Outcome::kOptimal) {
      EXPECT_EQ(answer->best->cost, least);
      EXPECT_EQ(answer->cost_bound, least);
    }
    EXPECT_EQ(answer->fits(), answer->best->cost.unplaced == 0);
    if (answer->outcome == Outcome::kInfeasible) {
      EXPECT_GT(least.unplaced, 0U);
    }
    ++all;
    const bool proved = answer->cost_bound == least && answer->best->cost == least;
    optimal += proved ? 1 : 0;
    if (HasFailure()) return;
  }
  RecordProperty("proved", optimal);
  RecordProperty("all", all);
  EXPECT_GE(optimal * 100, all * 90) << optimal << " of " << all;
}

TEST(PlanInMemoriesTest, OneOrder) {
  int all = 0;
  for (std::uint64_t seed = 2001; seed <= 2400; ++seed) {
    SCOPED_TRACE(seed);
    const Graph graph = RandomGraph(seed, Knobs(seed));
    const Counting counting = CountingOf(seed);
    if (CountedTensors(graph, counting) > 6) continue;
    PlanOptions options;
    options.schedule.counting = counting;
    options.order = RandomOrder(graph, seed);
    options.memories = RandomGraphMemories(graph, seed);
    if (!Validate(graph, counting, options.memories)) continue;
    const PlanCost least = OracleOfOrder(graph, *options.order, counting, options.memories);
    Budget budget;
    const auto answer = Plan(graph, options, budget);
    ASSERT_TRUE(answer.has_value()) << answer.error().message;
    ExpectHolds(graph, counting, options.memories, *answer);
    EXPECT_EQ(answer->best->order, *options.order);
    EXPECT_EQ(answer->best->cost, least);
    EXPECT_EQ(answer->cost_bound, least);
    EXPECT_TRUE(answer->fixed_order);
    EXPECT_EQ(answer->outcome, least.unplaced == 0 ? Outcome::kOptimal : Outcome::kInfeasible);
    ++all;
    if (HasFailure()) return;
  }
  EXPECT_GT(all, 100);
}

GraphMemories TwoMemories(Bytes fast) {
  GraphMemories memories;
  memories.memories = {{.name = "fast", .capacity = fast, .read = {1, 1}, .write = {1, 1}},
                       {.name = "slow", .read = {10, 1}, .write = {10, 1}}};
  return memories;
}

// A(8) -> B(1) and C(8) -> D(1), then E(1) of both.
TEST(PlanInMemoriesTest, TheOrderDecidesTheCost) {
  const Graph graph = TwoBranches().graph;
  PlanOptions options;
  options.memories = TwoMemories(10);
  Budget budget;
  const auto best = Plan(graph, options, budget);
  ASSERT_TRUE(best.has_value()) << best.error().message;
  // Everything is fast in the order A B C D E, which needs 10 bytes.
  EXPECT_EQ(best->outcome, Outcome::kOptimal);
  EXPECT_EQ(best->best->memories[1].height, 0);
  const std::int64_t least = best->best->cost.cost;
  EXPECT_EQ(best->cost_bound, (PlanCost{0, least, 0}));
  // In A C B D E one of the two large tensors is slow: written and read at 9 more for each byte.
  options.order = Order{0, 2, 1, 3, 4};
  const auto worse = Plan(graph, options, budget);
  ASSERT_TRUE(worse.has_value());
  EXPECT_TRUE(worse->fixed_order);
  EXPECT_EQ(worse->outcome, Outcome::kOptimal);
  EXPECT_EQ(worse->best->cost.cost, least + 2 * 8 * 9);
  // 9 bytes are too few in any order: a tensor of 1 byte is slow.
  options.order.reset();
  options.memories = TwoMemories(9);
  const auto less = Plan(graph, options, budget);
  ASSERT_TRUE(less.has_value());
  EXPECT_EQ(less->best->cost.cost, least + 2 * 9);
  EXPECT_LE(less->cost_bound, less->best->cost);
}

TEST(PlanInMemoriesTest, WhatHasNoPlaceIsSaid) {
  const Graph graph = TwoBranches().graph;
  PlanOptions options;
  options.memories = TwoMemories(4);
  options.memories.memories[1].capacity = 4;
  Budget budget;
  const auto answer = Plan(graph, options, budget);
  ASSERT_TRUE(answer.has_value()) << answer.error().message;
  EXPECT_EQ(answer->outcome, Outcome::kInfeasible);
  EXPECT_EQ(answer->best->cost.unplaced, 2U);
  EXPECT_EQ(answer->cost_bound.unplaced, 2U);
  ExpectHolds(graph, {}, options.memories, *answer);
}

TEST(PlanInMemoriesTest, WeightsLieInFlashOrSram) {
  Build b;
  b.Source("w", 6, TensorKind::kParameter).Source("x", 4).Made("y", 4);
  b.Op("conv", {"x", "w"}, {"y"}).Output("y");
  PlanOptions options;
  options.schedule.counting = {true, true};
  options.memories.memories = {{.name = "sram", .capacity = 8, .read = {1, 1}, .write = {1, 1}},
                               {.name = "flash", .read = {5, 1}, .write = {100, 1}}};
  options.memories.allowed = AllowedByKind(b.graph, {0}, {0, 1});
  Budget budget;
  const auto answer = Plan(b.graph, options, budget);
  ASSERT_TRUE(answer.has_value()) << answer.error().message;
  ExpectHolds(b.graph, options.schedule.counting, options.memories, *answer);
  EXPECT_EQ(answer->outcome, Outcome::kOptimal);
  EXPECT_EQ(answer->best->cost.cost, 6 * 5 + 4 + 4);
  options.memories.memories[0].capacity = 14;
  const auto room = Plan(b.graph, options, budget);
  ASSERT_TRUE(room.has_value());
  EXPECT_EQ(room->best->cost.cost, 6 + 4 + 4);
}

TEST(PlanInMemoriesTest, BadInput) {
  const Graph graph = TwoBranches().graph;
  Budget budget;
  const auto message = [&](const PlanOptions& options) {
    const auto answer = Plan(graph, options, budget);
    EXPECT_FALSE(answer.has_value());
    EXPECT_EQ(answer.error().code, ErrorCode::kInvalidOptions);
    return answer.has_value() ? std::string() : answer.error().message;
  };
  PlanOptions options;
  options.memories = TwoMemories(10);
  options.capacity = 10;
  EXPECT_NE(message(options).find("each has its own capacity"), std::string::npos);
  options.capacity.reset();
  options.memories.allowed = {{0}};
  EXPECT_NE(message(options).find("1 of 5 tensors"), std::string::npos);
  options.memories.allowed.assign(graph.tensors.size(), {7});
  EXPECT_NE(message(options).find("memory 7 is allowed but does not exist"), std::string::npos);
  options.memories.allowed.assign(graph.tensors.size(), {1, 1});
  EXPECT_NE(message(options).find("memory 1 is allowed twice"), std::string::npos);
  options.memories.allowed.clear();
  options.memories.memories[1].name = "fast";
  EXPECT_NE(message(options).find("two memories have the name"), std::string::npos);
  options.memories.memories[1].name = "slow";
  options.memories.memories[1].read = {kMaxCost, 1};
  EXPECT_NE(message(options).find("tensor"), std::string::npos);
  options.memories = TwoMemories(10);
  options.spill = true;
  EXPECT_NE(message(options).find("may be in 2 memories"), std::string::npos);
}

TEST(PlanInMemoriesTest, WrongPlansAreRefused) {
  const Graph graph = TwoBranches().graph;
  PlanOptions options;
  options.memories = TwoMemories(9);
  Budget budget;
  const auto answer = Plan(graph, options, budget);
  ASSERT_TRUE(answer.has_value());
  const auto wrong = [&](auto change) {
    MemoryPlan plan = *answer->best;
    change(plan);
    const auto valid = ValidatePlan(graph, {}, options.memories, plan);
    EXPECT_FALSE(verify::VerifyMemories(graph, {}, options.memories, plan).empty());
    return valid ? std::string() : valid.error().message;
  };
  EXPECT_NE(wrong([](MemoryPlan& plan) { ++plan.cost.cost; }).find("states"), std::string::npos);
  EXPECT_NE(wrong([](MemoryPlan& plan) { plan.residencies[0].memory = 2; }).find("memory number 2"),
            std::string::npos);
  EXPECT_NE(wrong([](MemoryPlan& plan) { ++plan.memories[0].peak; }).find("not as stated"),
            std::string::npos);
  EXPECT_NE(wrong([](MemoryPlan& plan) { plan.residencies[0].offset = 100; }), "");
  EXPECT_NE(wrong([](MemoryPlan& plan) { plan.residencies.pop_back(); }), "");
}

// With scratchpads, never worse than any order tried for each alone, and as good as the oracle of one
// order where there is one scratchpad that matters.
TEST(PlanInScratchpadsTest, SumsOfScratchpads) {
  int proved = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    GraphKnobs knobs = SpillKnobs(4, 8);
    knobs.parameter_chance = 0.7;
    const Graph graph = RandomGraph(seed, knobs);
    PlanOptions options;
    options.spill = true;
    options.schedule.counting = {true, true};
    options.memories.memories = {{.name = "activations", .capacity = 1},
                                 {.name = "weights", .capacity = 1}};
    options.memories.allowed = AllowedByKind(graph, {0}, {1});
    Bytes all_orders = 0;
    Bytes program = 0;
    for (std::size_t m = 0; m < 2; ++m) {
      const Graph part = PartOf(graph, options.memories, m);
      const Bytes least = std::max<Bytes>(1, OracleLeastMemory(part, options.schedule.counting));
      options.memories.memories[m].capacity = least;
      const Order order = ProgramOrder(part);
      all_orders += OracleTraffic(part, least, options.schedule.counting).value_or(0);
      program += OracleTraffic(part, least, options.schedule.counting, &order).value_or(0);
    }
    Budget budget;
    const auto answer = Plan(graph, options, budget);
    ASSERT_TRUE(answer.has_value()) << answer.error().message;
    ASSERT_TRUE(answer->spills);
    EXPECT_LE(answer->traffic_bound, all_orders);
    if (!answer->best->addressed) continue;
    ExpectVerified(graph, options.schedule.counting, options.memories, *answer);
    EXPECT_GE(answer->best->traffic.avoidable(), all_orders);
    EXPECT_LE(answer->traffic_by_sum, program);
    if (answer->outcome == Outcome::kOptimal) {
      EXPECT_EQ(answer->best->traffic.avoidable(), answer->traffic_bound);
      ++proved;
    }
  }
  EXPECT_GE(proved, 30);
}

// The least sum over all orders, each part by exhaustive search.
std::optional<Bytes> LeastInAnyOrder(const Graph& graph, const Counting& counting,
                                     const GraphMemories& memories) {
  std::vector<Graph> parts;
  for (std::size_t m = 0; m < memories.memories.size(); ++m) {
    parts.push_back(PartOf(graph, memories, m));
  }
  std::optional<Bytes> least;
  Order order = ProgramOrder(graph);
  do {
    if (!ValidateOrder(graph, order)) continue;
    Bytes sum = 0;
    for (std::size_t m = 0; m < parts.size(); ++m) {
      sum += OracleTraffic(parts[m], *memories.memories[m].capacity, counting, &order).value_or(0);
    }
    least = std::min(least.value_or(sum), sum);
  } while (std::next_permutation(order.begin(), order.end()));
  return least;
}

// Scratchpads that do not want the same order: each tensor in one of three, drawn from a seed. What is best for one
// is mostly possible for all.
TEST(PlanInScratchpadsTest, ScratchpadsChooseInTurn) {
  int best = 0;
  int cases = 0;
  int proved = 0;
  for (std::uint64_t seed = 1; seed <= 800; ++seed) {
    SCOPED_TRACE(seed);
    GraphKnobs knobs = SpillKnobs(5, 7);
    const Graph graph = RandomGraph(seed, knobs);
    Random random(seed);
    PlanOptions options;
    options.spill = true;
    options.schedule.counting = {true, false};
    for (std::size_t t = 0; t < graph.tensors.size(); ++t) {
      options.memories.allowed.push_back({static_cast<std::size_t>(random.Uniform(0, 2))});
    }
    options.memories.memories = {
        {.name = "a", .capacity = 1}, {.name = "b", .capacity = 1}, {.name = "c", .capacity = 1}};
    for (std::size_t m = 0; m < 3; ++m) {
      options.memories.memories[m].capacity = std::max<Bytes>(
          1, OracleLeastMemory(PartOf(graph, options.memories, m), options.schedule.counting));
    }
    const auto least = LeastInAnyOrder(graph, options.schedule.counting, options.memories);
    ASSERT_TRUE(least.has_value());
    if (*least == 0) continue;
    Budget budget;
    const auto answer = Plan(graph, options, budget);
    ASSERT_TRUE(answer.has_value()) << answer.error().message;
    EXPECT_LE(answer->traffic_bound, *least);
    if (!answer->best->addressed) continue;
    ExpectVerified(graph, options.schedule.counting, options.memories, *answer);
    EXPECT_GE(answer->best->traffic.avoidable(), *least);
    ++cases;
    best += answer->best->traffic.avoidable() == *least ? 1 : 0;
    proved += answer->outcome == Outcome::kOptimal ? 1 : 0;
  }
  EXPECT_GT(cases, 100);
  EXPECT_GE(best * 100, cases * 97) << best << " of " << cases;
  EXPECT_GT(proved * 2, cases) << proved << " of " << cases;
}

TEST(PlanInScratchpadsTest, OneOperatorMayNeedTooMuch) {
  const Graph graph = TwoBranches().graph;
  PlanOptions options;
  options.spill = true;
  options.memories.memories = {{.name = "only", .capacity = 5}};
  Budget budget;
  const auto answer = Plan(graph, options, budget);
  ASSERT_TRUE(answer.has_value()) << answer.error().message;
  EXPECT_EQ(answer->outcome, Outcome::kInfeasible);
  EXPECT_EQ(answer->least.bytes, 9);
  EXPECT_FALSE(answer->best.has_value());
}

TEST(SweepMemoryTest, MoreMemoryCostsNoMore) {
  const Graph graph = TwoBranches().graph;
  MemorySweepOptions options;
  options.plan.memories = TwoMemories(1);
  options.capacities = {10, 1, 9, 4};
  Budget budget;
  const auto points = SweepMemory(graph, options, budget);
  ASSERT_TRUE(points.has_value()) << points.error().message;
  ASSERT_EQ(points->size(), 4U);
  for (std::size_t i = 1; i < points->size(); ++i) {
    EXPECT_LT((*points)[i - 1].capacity, (*points)[i].capacity);
    EXPECT_GE((*points)[i - 1].cost, (*points)[i].cost);
    EXPECT_GE((*points)[i - 1].cost_bound, (*points)[i].cost_bound);
  }
  EXPECT_EQ(points->back().outcome, Outcome::kOptimal);
  options.memory = 2;
  EXPECT_FALSE(SweepMemory(graph, options, budget).has_value());
}

}  // namespace
}  // namespace berth::internal
