#include "berth/advise.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "testing/order_oracle.h"
#include "testing/random_graph.h"
#include "tests/graph/build.h"

namespace berth::internal {
namespace {

const Remedy* Find(const Advice& advice, RemedyKind kind) {
  for (const Remedy& remedy : advice.remedies) {
    if (remedy.kind == kind) return &remedy;
  }
  return nullptr;
}

PlanOptions Within(Bytes capacity) {
  PlanOptions options;
  options.capacity.emplace(capacity);
  return options;
}

PlanAnswer Planned(const Graph& graph, const PlanOptions& options) {
  Budget budget;
  auto answer = Plan(graph, options, budget);
  EXPECT_TRUE(answer.has_value()) << answer.error().message;
  return answer.value_or(PlanAnswer());
}

Advice AdviceFor(const Graph& graph, const PlanOptions& options) {
  Budget budget;
  return Advise(graph, options, Planned(graph, options), {}, budget);
}

Problem TwoLive() {
  Problem problem;
  problem.buffers = {{"a", 0, 2, 4}, {"b", 1, 3, 4}};
  problem.capacity = 7;
  return problem;
}

TEST(AdviseTest, ACapacityThatWorks) {
  Problem problem = TwoLive();
  Budget budget;
  const auto answer = Place(problem, {}, budget);
  ASSERT_TRUE(answer.has_value());
  const Advice advice = Advise(problem, *answer, {}, budget);
  ASSERT_TRUE(advice.conflict.has_value());
  EXPECT_EQ(advice.conflict->short_by, 1);
  const Remedy* const remedy = Find(advice, RemedyKind::kCapacity);
  ASSERT_NE(remedy, nullptr);
  EXPECT_EQ(remedy->needs, 8);
  EXPECT_TRUE(remedy->enlarges());
  EXPECT_TRUE(remedy->suffices());
  EXPECT_TRUE(remedy->proved);
  ASSERT_TRUE(remedy->changes.size() == 1u);
  EXPECT_EQ(remedy->changes[0].flag(), "--capacity 8");
  EXPECT_NE(Find(advice, RemedyKind::kMoveOff), nullptr);
  // Followed, the advice holds.
  problem.capacity = remedy->needs;
  const auto again = Place(problem, {}, budget);
  ASSERT_TRUE(again.has_value());
  EXPECT_TRUE(again->fits());
  EXPECT_FALSE(Advise(problem, *answer, {.explain = false}, budget).conflict.has_value());
}

TEST(AdviseTest, AlignmentsAreNamedWhereTheyCost) {
  Problem problem;
  problem.buffers = {{"a", 0, 2, 4}, {"b", 0, 2, 4}};
  for (Buffer& buffer : problem.buffers) buffer.alignment = 8;
  Budget budget;
  const auto answer = Place(problem, {}, budget);
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->best->height(), 12);
  const Advice advice = Advise(problem, *answer, {}, budget);
  ASSERT_NE(Find(advice, RemedyKind::kAlignment), nullptr);
  EXPECT_EQ(Find(advice, RemedyKind::kAlignment)->needs, 8);
}

// A plan within a capacity may be far from the lowest; what helps is what helps the lowest.
TEST(AdviseTest, AlignmentsAreNotNamedWhereTheyCostNothing) {
  Problem problem;
  problem.buffers = {{"a", 0, 2, 4}, {"b", 0, 2, 4}};
  for (Buffer& buffer : problem.buffers) buffer.alignment = 4;
  problem.capacity = 100;
  Budget budget;
  auto answer = Place(problem, {}, budget);
  ASSERT_TRUE(answer.has_value());
  answer->best->residencies[1].offset = 20;
  answer->best->memories.front().height = 24;
  ASSERT_EQ(answer->best->height(), 24);
  const Advice advice = Advise(problem, *answer, {}, budget);
  EXPECT_EQ(Find(advice, RemedyKind::kAlignment), nullptr);
}

TEST(AdviseTest, ABetterOrderHasThePeakThatIsStated) {
  Build build = TwoBranches();
  std::swap(build.graph.operators[1], build.graph.operators[2]);
  PlanOptions options;
  options.schedule.algorithm = ScheduleAlgorithm::kProgram;
  const Advice advice = AdviceFor(build.graph, options);
  const Remedy* const remedy = Find(advice, RemedyKind::kOrder);
  ASSERT_NE(remedy, nullptr);
  EXPECT_EQ(remedy->changes, (std::vector<OptionChange>{{"order", "auto"}}));
  EXPECT_TRUE(remedy->proved);
  options.schedule.algorithm = ScheduleAlgorithm::kAuto;
  EXPECT_EQ(Planned(build.graph, options).best->peak(), remedy->needs);
}

// Where the other order suffices, that is said; otherwise it is not.
TEST(AdviseTest, ABetterOrderFitsWhereAPlanInItDoes) {
  Build build = TwoBranches();
  std::swap(build.graph.operators[1], build.graph.operators[2]);
  PlanOptions best;
  const Bytes least = Planned(build.graph, best).best->height();
  for (const Bytes capacity : {least, least - 1}) {
    PlanOptions options = Within(capacity);
    options.schedule.algorithm = ScheduleAlgorithm::kProgram;
    const Advice advice = AdviceFor(build.graph, options);
    const Remedy* const remedy = Find(advice, RemedyKind::kOrder);
    ASSERT_NE(remedy, nullptr);
    EXPECT_EQ(remedy->fits, capacity == least);
    EXPECT_EQ(remedy->suffices(), capacity == least);
    EXPECT_FALSE(remedy->enlarges());
    if (capacity == least) {
      EXPECT_EQ(&advice.remedies.front(), remedy);
    }
  }
}

// x waits while z is made of y and w: without it the peak is `saved` lower.
Graph Waiting(Bytes saved) {
  Build build;
  build.Made("x", saved).Made("y", 600).Made("w", 400).Made("z", 2);
  build.Output("z");
  build.Op("a", {}, {"x"}).Op("b", {}, {"y"}).Op("c", {"y"}, {"w"}).Op("d", {"w", "x"}, {"z"});
  return build.graph;
}

TEST(AdviseTest, SpillsThatSaveHardlyAnythingAreNotAdvised) {
  const auto of_spills = [](const Advice& advice) {
    return std::count_if(advice.remedies.begin(), advice.remedies.end(), [](const Remedy& remedy) {
      return remedy.kind == RemedyKind::kSpill || remedy.kind == RemedyKind::kLargerBudget ||
             remedy.kind == RemedyKind::kReduceWaiting;
    });
  };
  PlanOptions options;
  options.schedule.algorithm = ScheduleAlgorithm::kProgram;
  for (const bool within : {false, true}) {
    SCOPED_TRACE(within);
    if (within) options.capacity = 999;
    EXPECT_GT(of_spills(AdviceFor(Waiting(100), options)), 0);
    EXPECT_EQ(of_spills(AdviceFor(Waiting(9), options)), 0);
  }
}

TEST(AdviseTest, SpillsThatFitHaveTheTrafficThatIsStated) {
  PlanOptions options = Within(12);
  const Graph graph = OneSpill().graph;
  const Advice advice = AdviceFor(graph, options);
  const Remedy* const remedy = Find(advice, RemedyKind::kSpill);
  ASSERT_NE(remedy, nullptr);
  ASSERT_TRUE(remedy->changes.size() == 1u);
  EXPECT_EQ(remedy->changes[0].flag(), "--budget 12");
  options.spill = true;
  const PlanAnswer followed = Planned(graph, options);
  EXPECT_TRUE(followed.fits());
  EXPECT_EQ(followed.best->traffic.avoidable(), remedy->traffic);
}

TEST(AdviseTest, WhatRunsAgainCostsWhatIsStated) {
  Graph graph = OneSpill().graph;
  graph.cost_unit = "flop";
  for (Operator& op : graph.operators) op.cost = 1000;
  graph.operators[0].cost = 45;
  PlanOptions options = Within(12);
  const Advice advice = AdviceFor(graph, options);
  const Remedy* const remedy = Find(advice, RemedyKind::kRecompute);
  ASSERT_NE(remedy, nullptr);
  EXPECT_EQ(remedy->recompute_cost, 45);
  EXPECT_FALSE(remedy->traffic.has_value());
  EXPECT_TRUE(remedy->proved);
  EXPECT_TRUE(remedy->fits);
  EXPECT_EQ(remedy->changes, (std::vector<OptionChange>{{"budget", "12"}, {"recompute", "on"}}));
  EXPECT_NE(remedy->detail.find("1 execution more, at 1.4779% of the cost of one run: proved"),
            std::string::npos)
      << remedy->detail;
  options.recompute = true;
  const PlanAnswer followed = Planned(graph, options);
  ASSERT_TRUE(followed.fits());
  EXPECT_EQ(followed.best->overhead(), remedy->recompute_cost);
  // Not where x may run only once.
  graph.operators[0].random = true;
  options.recompute = false;
  EXPECT_EQ(Find(AdviceFor(graph, options), RemedyKind::kRecompute), nullptr);
}

TEST(AdviseTest, ABudgetTooSmallForOneOperatorIsExplained) {
  PlanOptions options = Within(11);
  options.spill = true;
  const Graph graph = OneSpill().graph;
  const Advice advice = AdviceFor(graph, options);
  ASSERT_TRUE(advice.conflict.has_value());
  EXPECT_EQ(advice.conflict->load, 12);
  EXPECT_EQ(advice.conflict->short_by, 1);
  EXPECT_TRUE(advice.conflict->minimal);
  const Remedy* const remedy = Find(advice, RemedyKind::kLargerBudget);
  ASSERT_NE(remedy, nullptr);
  EXPECT_EQ(remedy->needs, 12);
  options.capacity = *remedy->needs;
  EXPECT_EQ(Planned(graph, options).best->traffic.avoidable(), remedy->traffic);
}

// The operator that needs the most by itself decides the peak: nothing could be spilled.
Graph Chain() {
  Build build;
  build.Made("x", 8).Made("y", 8).Made("z", 4).Output("z");
  build.Op("a", {}, {"x"}).Op("b", {"x"}, {"y"}).Op("c", {"y"}, {"z"});
  return build.graph;
}

TEST(AdviseTest, MoreMemoryIsOneRemedy) {
  const Advice advice = AdviceFor(Chain(), Within(12));
  ASSERT_NE(Find(advice, RemedyKind::kCapacity), nullptr);
  EXPECT_EQ(Find(advice, RemedyKind::kCapacity)->needs, 16);
  EXPECT_EQ(Find(advice, RemedyKind::kLargerBudget), nullptr);
}

TEST(AdviseTest, SaysWhatThereWasNoTimeFor) {
  Problem problem = TwoLive();
  problem.buffers[0].alignment = 8;
  problem.buffers[1].alignment = 8;
  Budget budget;
  const auto answer = Place(problem, {}, budget);
  ASSERT_TRUE(answer.has_value());
  Budget cancelled;
  cancelled.Cancel();
  const Advice advice = Advise(problem, *answer, {}, cancelled);
  ASSERT_FALSE(advice.remedies.empty());
  EXPECT_EQ(advice.remedies.back().kind, RemedyKind::kNotExamined);
}

TEST(PeakTest, TellsWhatIsInUse) {
  const Graph graph = OneSpill().graph;
  const Peak peak = ExaminePeak(graph, ProgramOrder(graph), {});
  EXPECT_EQ(peak.bytes, 14);
  EXPECT_EQ(peak.op, 2u);
  ASSERT_EQ(peak.rows.size(), 3u);
  EXPECT_EQ(graph.tensors[peak.rows[0].tensor].name, "z");
  EXPECT_EQ(peak.in_use, 10);
  const auto waits = std::find_if(peak.rows.begin(), peak.rows.end(),
                                  [](const PeakRow& row) { return !row.in_use; });
  ASSERT_NE(waits, peak.rows.end());
  EXPECT_EQ(graph.tensors[waits->tensor].name, "x");
  EXPECT_EQ(waits->next_use, 3);
  EXPECT_EQ(peak.largest_step, 12);
}

// The rows add up to the peak, which no order can lower below the largest operator.
TEST(PeakTest, RandomPeaksAddUp) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Graph graph = RandomGraph(seed, AllGraphKnobs());
    const Counting counting = {seed % 3 == 0, seed % 5 == 0};
    const Order order = ProgramOrder(graph);
    const Peak peak = ExaminePeak(graph, order, counting);
    Bytes sum = 0;
    Bytes in_use = 0;
    for (const PeakRow& row : peak.rows) {
      sum += graph.tensors[row.tensor].bytes;
      if (row.in_use) in_use += graph.tensors[row.tensor].bytes;
    }
    EXPECT_EQ(sum, peak.bytes);
    EXPECT_EQ(in_use, peak.in_use);
    EXPECT_EQ(peak.bytes, Live(graph, order, counting).peak);
    EXPECT_LE(peak.largest_step, OracleSchedule(graph, counting).peak);
  }
}

}  // namespace
}  // namespace berth::internal
