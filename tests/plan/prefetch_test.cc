// Plan() with copies that are made while operators run, against trying everything on small graphs.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "berth/plan.h"
#include "testing/graph_memories_oracle.h"
#include "testing/prefetch_oracle.h"
#include "testing/random_graph.h"
#include "testing/seeds.h"
#include "tests/graph/build.h"
#include "tests/plan/moving_case.h"

namespace berth::internal {
namespace {

// Adds the case in a random order, beside copies that stop the operators.
void AddOneOrder(std::uint64_t seed, MovingCase made, MovingTally& tally) {
  made.options.order = RandomOrder(made.graph, seed);
  const auto& [graph, options] = made;
  Budget budget;
  const auto answer = Plan(graph, options, budget);
  ASSERT_TRUE(answer.has_value()) << answer.error().message;
  GraphMemories stopping = options.memories;
  stopping.prefetch = false;
  stopping.copy_latency = 0;
  tally.Add(made, *answer,
            OracleOfPrefetch(graph, *options.order, options.schedule.counting, options.memories),
            [&] { return CostWith(made, stopping); });
}

TEST(PrefetchTest, TriesEverythingInOneOrder) {
  MovingTally tally;
  for (std::uint64_t seed = 1; seed <= Seeds(160) && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    auto made = seed % 4 < 3 ? RandomSkips(seed, /*prefetch=*/true)
                             : RandomMovingCase(seed, /*prefetch=*/true);
    if (made) AddOneOrder(seed, std::move(*made), tally);
  }
  tally.ExpectAtLeast(static_cast<int>(Seeds(160)) / 3, 10, 85);
}

// Weights of which copies are made while operators run, the original staying.
TEST(PrefetchTest, StagedWeightsAgainstTryingEverything) {
  MovingTally tally;
  for (std::uint64_t seed = 1; seed <= Seeds(200) && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    AddOneOrder(seed, RandomStaging(seed, /*prefetch=*/true), tally);
  }
  tally.ExpectAtLeast(static_cast<int>(Seeds(200)) / 4, 10, 80);
}

// Layers, each with a weight in flash of which a copy comes while the layer before runs. They are too many for
// trying every copy at every time.
TEST(PrefetchTest, WeightsOfManyLayersAreStaged) {
  constexpr int kLayers = 30;
  const Build b = LayersWithWeights(kLayers, 16, 40);
  PlanOptions options;
  options.schedule.counting = {true, true};
  options.memories.memories = {{.name = "sram", .capacity = 56},
                               {.name = "flash", .read = {2, 1}, .write = {1000, 1}}};
  options.memories.allowed = AllowedByKind(b.graph, {0}, {1});
  options.memories.may_move = options.memories.prefetch = true;
  Budget budget;
  const auto without = Plan(b.graph, options, budget);
  ASSERT_TRUE(without.has_value()) << without.error().message;
  EXPECT_EQ(without->best->cost.cost, kLayers * (40 + 32));
  options.memories.stage_in = {0};
  const auto answer = Plan(b.graph, options, budget);
  ASSERT_TRUE(answer.has_value()) << answer.error().message;
  ExpectVerified(b.graph, options.schedule.counting, options.memories, *answer->best);
  // No operator runs while one of the first two could be copied. All others are there in time.
  EXPECT_EQ(answer->best->cost.cost, kLayers * 40 + 2 * 32);
  EXPECT_EQ(CopiesOf(b.graph, options.memories, *answer->best).size(), kLayers - 2U);
}

// A copy of a weight has to be of one, where it may be, in time, of use, and beside an original that stays.
TEST(PrefetchTest, WrongCopiesOfWeightsAreRefused) {
  Build b;
  b.Source("x", 8).Source("w", 16, TensorKind::kParameter).Made("u", 8).Made("y", 8).Made("z", 8);
  b.Made("o", 8).Op("U", {"x"}, {"u"}).Op("A", {"u"}, {"y"}).Op("B", {"y", "w"}, {"z"});
  b.Op("C", {"z"}, {"o"}).Output("o");
  for (Operator& op : b.graph.operators) op.cost = 40;
  b.graph.cost_unit = "ns";
  PlanOptions options;
  options.schedule.counting = {true, true};
  options.memories.memories = {{.name = "sram", .capacity = 64},
                               {.name = "flash", .read = {2, 1}, .write = {1000, 1}}};
  options.memories.allowed = AllowedByKind(b.graph, {0}, {1});
  options.memories.may_move = options.memories.prefetch = true;
  options.memories.stage_in = {0};
  Budget budget;
  const auto answer = Plan(b.graph, options, budget);
  ASSERT_TRUE(answer.has_value()) << answer.error().message;
  EXPECT_EQ(answer->best->cost.cost, 160);
  const GraphMemories& memories = options.memories;
  ExpectVerified(b.graph, options.schedule.counting, memories, *answer->best);
  const auto at = std::find_if(answer->best->residencies.begin(), answer->best->residencies.end(),
                               [](const Residency& r) { return r.tensor == 1 && r.start == 1; });
  ASSERT_NE(at, answer->best->residencies.end());
  const auto i = static_cast<std::size_t>(at - answer->best->residencies.begin());
  const auto refused = [&](const GraphMemories& with, auto change) {
    MemoryPlan plan = *answer->best;
    change(plan.residencies[i], plan.residencies[i - 1]);
    const auto valid = ValidatePlan(b.graph, options.schedule.counting, with, plan);
    EXPECT_FALSE(verify::VerifyMemories(b.graph, options.schedule.counting, with, plan).empty());
    return valid ? std::string() : valid.error().message;
  };
  GraphMemories nowhere = memories;
  nowhere.stage_in.clear();
  EXPECT_NE(refused(nowhere, [](Residency&, Residency&) {}).find("not for copies"),
            std::string::npos);
  EXPECT_NE(refused(memories, [](Residency& copy, Residency&) { copy.start = copy.end++; })
                .find("used by no operator"),
            std::string::npos);
  EXPECT_NE(refused(memories, [](Residency&, Residency& home) { home.end = 2; }), "");
  EXPECT_NE(refused(memories, [](Residency& copy, Residency&) { copy.offset = 56; }), "");
}

// The bound is about all orders.
TEST(PrefetchTest, NoOrderIsBetterThanTheBound) {
  int all = 0;
  int proved = 0;
  for (std::uint64_t seed = 1001; seed <= 1000 + Seeds(120); ++seed) {
    SCOPED_TRACE(seed);
    const auto made = RandomMovingCase(seed, /*prefetch=*/true);
    if (!made) continue;
    const auto& [graph, options] = *made;
    const Counting& counting = options.schedule.counting;
    Budget budget;
    const auto answer = Plan(graph, options, budget);
    ASSERT_TRUE(answer.has_value()) << answer.error().message;
    ExpectVerified(graph, counting, options.memories, *answer->best);
    EXPECT_FALSE(answer->fixed_order);
    if (answer->best->cost.unplaced > 0) continue;
    for (std::uint64_t other = 0; other < 3; ++other) {
      const Order order = RandomOrder(graph, seed + other);
      const auto least = OracleOfPrefetch(graph, order, counting, options.memories);
      if (!least) continue;
      EXPECT_LE(answer->cost_bound.cost, *least);
    }
    ++all;
    proved += answer->outcome == Outcome::kOptimal ? 1 : 0;
    if (HasFailure()) return;
  }
  EXPECT_GE(proved * 100, all * 80) << proved << " of " << all;
}

// x (8 bytes) is made first and used last; in between, every operator needs all of the fast memory.
Graph LongSkip(std::int64_t time) {
  Build b;
  b.Made("x", 8).Made("y", 8).Made("a", 8).Made("b", 8).Made("c", 8).Made("d", 8).Made("z", 1);
  b.Op("X", {}, {"x"}).Op("Y", {"x"}, {"y"}).Op("A", {"y"}, {"a"}).Op("B", {"a"}, {"b"});
  b.Op("C", {"b"}, {"c"}).Op("D", {"c"}, {"d"}).Op("Z", {"d", "x"}, {"z"});
  Graph graph = b.Output("z").graph;
  for (Operator& op : graph.operators) op.cost = time;
  graph.cost_unit = "ns";
  return graph;
}

GraphMemories TwoMemories(Bytes fast) {
  GraphMemories memories;
  memories.memories = {{.name = "fast", .capacity = fast, .read = {1, 1}, .write = {1, 1}},
                       {.name = "slow", .read = {10, 1}, .write = {10, 1}}};
  memories.may_move = memories.prefetch = true;
  return memories;
}

// With 24 bytes, x can leave while Y and those after it run, and be back before Z: everything is
// accessed in the fast memory, and no operator waits.
TEST(PrefetchTest, CopiesHideBehindOperators) {
  const Graph graph = LongSkip(100);
  PlanOptions options;
  options.memories = TwoMemories(24);
  options.memories.memories[0].reserved = {{16, 24, 3, 5}};
  Budget budget;
  const auto answer = Plan(graph, options, budget);
  ASSERT_TRUE(answer.has_value()) << answer.error().message;
  ExpectVerified(graph, {}, options.memories, *answer->best);
  EXPECT_EQ(answer->outcome, Outcome::kOptimal);
  const std::int64_t accesses = 8 * 7 + 8 * 6 - 7 + 8;
  EXPECT_EQ(answer->best->cost.cost, 700 + accesses);
  const TimedRun run = RunOf(graph, options.memories, *answer->best);
  EXPECT_EQ(run.time, answer->best->cost.cost);
  EXPECT_EQ(run.stalled, 0);
  EXPECT_EQ(run.computing, 700);
  EXPECT_EQ(run.accessing, (std::vector<std::int64_t>{accesses, 0}));
  ASSERT_EQ(run.copies.size(), 2U);
  for (std::size_t c = 0; c < 2; ++c) {
    EXPECT_EQ(run.copies[c].cost, 80);
    EXPECT_EQ(run.transfers[c].end - run.transfers[c].begin, 80);
    EXPECT_GE(run.transfers[c].begin,
              run.operators[static_cast<std::size_t>(run.copies[c].start) - 1].end);
    EXPECT_LE(run.transfers[c].end,
              run.operators[static_cast<std::size_t>(run.copies[c].before)].begin);
  }
}

// x leaves the fast memory while Y, A and B run; this is the plan, and what each part of it takes.
MemoryPlan HandMade() {
  MemoryPlan plan;
  plan.order = {0, 1, 2, 3, 4, 5, 6};
  plan.residencies = {{0, 0, 4, 0, false, false, 0}, {0, 1, 7, 0, false, false, 1},
                      {1, 1, 3, 8, false, false, 0}, {2, 2, 4, 16, false, false, 0},
                      {3, 3, 5, 8, false, false, 0}, {4, 4, 6, 16, false, false, 0},
                      {5, 5, 7, 0, false, false, 0}, {6, 6, 7, 8, false, false, 0}};
  plan.memories = {{24, 24}, {8, 8}};
  plan.traffic.compulsory_out = 1;
  return plan;
}

TEST(PrefetchTest, TheRunIsTimed) {
  const Graph graph = LongSkip(5);
  GraphMemories memories = TwoMemories(24);
  memories.copy_latency = 3;
  MemoryPlan plan = HandMade();
  const TimedRun run = RunOf(graph, memories, plan);
  // X ends at 13. The copy takes 3 + 80 from then on. Y, A and B take 5 + 16 each, until 76, and C waits
  // for the copy until 96.
  using Interval = TimedRun::Interval;
  EXPECT_EQ(run.transfers, (std::vector<Interval>{{13, 96}}));
  EXPECT_EQ(run.operators,
            (std::vector<Interval>{
                {0, 13}, {13, 34}, {34, 55}, {55, 76}, {96, 117}, {117, 138}, {138, 232}}));
  EXPECT_EQ(run.stalled, 20);
  EXPECT_EQ(run.computing, 35);
  EXPECT_EQ(run.accessing, (std::vector<std::int64_t>{97, 80}));
  EXPECT_EQ(run.time, 232);
  plan.cost = CostOf(graph, {}, memories, plan);
  EXPECT_EQ(plan.cost, (PlanCost{0, 232, 0}));
  ExpectVerified(graph, {}, memories, plan);
}

TEST(PrefetchTest, WrongPlansAreRefused) {
  Graph graph = LongSkip(5);
  const GraphMemories memories = TwoMemories(24);
  MemoryPlan right = HandMade();
  right.cost = CostOf(graph, {}, memories, right);
  ExpectVerified(graph, {}, memories, right);
  const auto refused = [&](const GraphMemories& with, auto change) {
    MemoryPlan plan = right;
    change(plan);
    const auto valid = ValidatePlan(graph, {}, with, plan);
    EXPECT_FALSE(verify::VerifyMemories(graph, {}, with, plan).empty());
    return valid ? std::string() : valid.error().message;
  };
  GraphMemories stopping = memories;
  stopping.prefetch = false;
  EXPECT_NE(refused(stopping, [](MemoryPlan&) {}).find("overlap at step 1"), std::string::npos);
  // The time is not as stated.
  EXPECT_NE(refused(memories, [](MemoryPlan& plan) { --plan.cost.cost; }).find("a cost of"),
            std::string::npos);
  // Another tensor has bytes of the source before the copy has ended: a, from step 2.
  EXPECT_NE(refused(memories,
                    [&](MemoryPlan& plan) {
                      plan.residencies[3].offset = 0;
                      plan.cost = CostOf(graph, {}, memories, plan);
                    })
                .find("in half steps"),
            std::string::npos);
  // The copy begins before the tensor is made.
  EXPECT_NE(refused(memories, [](MemoryPlan& plan) { plan.residencies[1].start = 0; }), "");
  // The target ends before the source.
  EXPECT_NE(refused(memories, [](MemoryPlan& plan) { plan.residencies[1].end = 4; }), "");
  // It is copied on while the first copy may not have ended.
  EXPECT_NE(
      refused(
          memories,
          [&](MemoryPlan& plan) {
            plan.residencies[1].end = 6;
            plan.residencies.insert(plan.residencies.begin() + 2, {0, 4, 7, 0, false, false, 0});
            plan.cost = CostOf(graph, {}, memories, plan);
          })
          .find("is copied on at step 4"),
      std::string::npos);
  // An operator writes the tensor while it is copied.
  graph.operators[2].mutates = {0};
  right.cost = CostOf(graph, {}, memories, right);
  EXPECT_NE(refused(memories, [](MemoryPlan&) {})
                .find("is written by operator \"A\" at step 2 while it is copied"),
            std::string::npos);
}

TEST(PrefetchTest, BadInput) {
  Graph graph = LongSkip(5);
  PlanOptions options;
  options.memories = TwoMemories(24);
  const auto message = [&] {
    Budget budget;
    const auto answer = Plan(graph, options, budget);
    return answer ? std::string() : answer.error().message;
  };
  EXPECT_EQ(message(), "");
  graph.operators[3].cost.reset();
  EXPECT_EQ(message(),
            "prefetch needs the time of every operator, but that of operator \"B\" is not known; a "
            "device or a profile gives it");
  graph.operators[3].cost = 5;
  graph.cost_unit = "flop";
  EXPECT_EQ(message(),
            "prefetch needs the time of every operator in ns, but the graph gives costs in "
            "\"flop\"");
  graph.cost_unit = "";
  EXPECT_NE(message().find("in no unit"), std::string::npos);
  graph.cost_unit = "ns";
  options.memories.copy_latency = -1;
  EXPECT_EQ(message(), "the latency of copies is -1 ns, not from 0 to 2^40");
  options.memories.copy_latency = 0;
  options.memories.may_move = false;
  EXPECT_NE(message().find("may_move is off"), std::string::npos);
  options.memories = {};
  options.memories.may_move = options.memories.prefetch = true;
  EXPECT_NE(message(), "");
}

// The same without a clock, whatever was planned before.
TEST(PrefetchTest, IsDeterministic) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const MovingCase made = RandomSkips(seed, /*prefetch=*/true);
    Budget one;
    Budget two;
    const auto first = Plan(made.graph, made.options, one);
    const auto second = Plan(made.graph, made.options, two);
    ASSERT_TRUE(first.has_value() && second.has_value());
    EXPECT_EQ(*first->best, *second->best);
    EXPECT_EQ(first->cost_bound, second->cost_bound);
    EXPECT_EQ(first->nodes, second->nodes);
  }
}

}  // namespace
}  // namespace berth::internal
