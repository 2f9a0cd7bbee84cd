#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "berth/graph.h"
#include "graph/topology.h"
#include "testing/order_oracle.h"
#include "testing/random_graph.h"
#include "tests/graph/build.h"
#include "tools/verify/verify.h"

namespace berth::internal {
namespace {

std::vector<OpIndex> AsIndices(const Order& order) {
  std::vector<OpIndex> indices;
  for (const OperatorIndex v : order) indices.emplace_back(v);
  return indices;
}

TEST(LiveTest, GivesTheNumbersOfThePicture) {
  const Graph graph = TwoBranches().graph;
  EXPECT_EQ(Live(graph, {0, 1, 2, 3, 4}).live, (std::vector<Bytes>{8, 9, 9, 10, 3}));
  const Liveness other = Live(graph, {0, 2, 1, 3, 4});
  EXPECT_EQ(other.live, (std::vector<Bytes>{8, 16, 17, 10, 3}));
  EXPECT_EQ(other.peak, 17);
  EXPECT_EQ(other.peak_step, 2);
}

TEST(LiveTest, BuffersAreHalfOpenAndInTheOrderOfTheTensors) {
  const Liveness liveness = Live(TwoBranches().graph, {0, 2, 1, 3, 4});
  const std::vector<Buffer> expected = {
      {"a", 0, 3, 8}, {"b", 2, 5, 1}, {"c", 1, 4, 8}, {"d", 3, 5, 1}, {"e", 4, 5, 1}};
  EXPECT_EQ(liveness.problem.buffers, expected);
  EXPECT_EQ(liveness.tensors, (std::vector<TensorIndex>{0, 1, 2, 3, 4}));
}

TEST(LiveTest, ViewsKeepTheirBase) {
  const Build b = Build()
                      .Made("a", 4)
                      .View("v", 2, "a")
                      .Made("b", 1)
                      .Made("c", 1)
                      .Op("A", {}, {"a"})
                      .Op("V", {"a"}, {"v"})
                      .Op("B", {}, {"b"})
                      .Op("C", {"v", "b"}, {"c"});
  ASSERT_TRUE(Validate(b.graph));
  EXPECT_EQ(Live(b.graph, {0, 1, 2, 3}).problem.buffers[0], (Buffer{"a", 0, 4, 4}));
  EXPECT_EQ(Live(b.graph, {0, 1, 2, 3}).problem.buffers.size(), 3u);
}

TEST(LiveTest, AnOutputThatIsAViewKeepsItsBaseToTheEnd) {
  Build b = Build().Made("a", 4).View("v", 2, "a").Made("b", 1);
  b.Op("A", {}, {"a"}).Op("V", {"a"}, {"v"}).Op("B", {}, {"b"}).Output("v");
  EXPECT_EQ(Live(b.graph, {0, 1, 2}).problem.buffers[0], (Buffer{"a", 0, 3, 4}));
}

TEST(LiveTest, AWriteInPlaceIsAUse) {
  Build b = Build().Made("a", 4).Made("b", 1);
  b.Op("A", {}, {"a"}).Op("B", {}, {"b"}).Op("W", {}, {}, {"a"});
  EXPECT_EQ(Live(b.graph, {0, 1, 2}).problem.buffers[0], (Buffer{"a", 0, 3, 4}));
}

TEST(LiveTest, CountsInputsAndParametersWhenAsked) {
  Build b = Build()
                .Source("x", 4)
                .Source("unread", 16)
                .Source("w", 32, TensorKind::kParameter)
                .Source("k", 64, TensorKind::kConstant)
                .Made("a", 1)
                .Made("b", 1)
                .Op("A", {"x", "k"}, {"a"})
                .Op("B", {"a", "w"}, {"b"})
                .Output("b");
  EXPECT_EQ(Live(b.graph, {0, 1}).live, (std::vector<Bytes>{1, 2}));
  EXPECT_EQ(Live(b.graph, {0, 1}, {true, false}).live, (std::vector<Bytes>{5, 2}));
  EXPECT_EQ(Live(b.graph, {0, 1}, {false, true}).live, (std::vector<Bytes>{97, 98}));
  EXPECT_EQ(Live(b.graph, {0, 1}, {true, true}).live, (std::vector<Bytes>{101, 98}));
}

TEST(LiveTest, WithoutOperatorsThereIsOneStep) {
  Build b = Build().Source("w", 32, TensorKind::kParameter);
  EXPECT_EQ(Live(b.graph, {}, {false, true}).live, (std::vector<Bytes>{32}));
  EXPECT_EQ(Live(b.graph, {}).live, (std::vector<Bytes>{0}));
  EXPECT_TRUE(ValidateOrder(b.graph, {}));
}

TEST(ValidateOrderTest, NamesTheOperators) {
  const Graph graph = TwoBranches().graph;
  const auto message = [&](const Order& order) { return ValidateOrder(graph, order).error(); };
  EXPECT_TRUE(ValidateOrder(graph, {2, 0, 3, 1, 4}));
  EXPECT_EQ(message({0, 1}).message, "operator \"C\" is missing in the order");
  EXPECT_EQ(message({0, 1, 0, 2, 3}).message,
            "operator \"A\" comes twice in the order, at steps 0 and 2");
  EXPECT_EQ(message({0, 9, 1, 2, 3}).message,
            "the order has the operator number 9 but the graph has 5 operators");
  EXPECT_EQ(message({1, 0, 2, 3, 4}).message,
            "operator \"B\" runs at step 0, before operator \"A\", which it waits for, at step 1");
  EXPECT_EQ(message({0, 1}).code, ErrorCode::kInvalidPlan);
  EXPECT_EQ(message({0, 1}).subject, Subject::OfOperator(2));
  EXPECT_EQ(message({0, 1, 0, 2, 3}).subject, Subject::OfOperator(0));
  EXPECT_EQ(message({0, 9, 1, 2, 3}).subject, Subject());
  EXPECT_EQ(message({1, 0, 2, 3, 4}).subject, Subject::OfOperator(1));
}

TEST(ValidateOrderTest, KeepsControlEdges) {
  Build b = Build().Made("a", 1).Made("b", 1);
  b.Op("A", {}, {"a"}).Op("B", {}, {"b"}, {}, {"A"});
  EXPECT_TRUE(ValidateOrder(b.graph, {0, 1}));
  EXPECT_FALSE(ValidateOrder(b.graph, {1, 0}));
}

TEST(VerifyOrderTest, FindsEachKindOfFault) {
  Build b = Build().Made("a", 1).Made("b", 1).Made("c", 1);
  b.Op("A", {}, {"a"}).Op("R", {"a"}, {"b"}).Op("W", {}, {}, {"a"}, {"R"});
  b.Op("C", {}, {"c"}, {}, {"A"});
  ASSERT_TRUE(Validate(b.graph));
  EXPECT_TRUE(verify::VerifyOrder(b.graph, {0, 3, 1, 2}).ok());
  const auto described = [&](const Order& order) {
    std::vector<std::string> lines;
    for (const verify::Fault& fault : verify::VerifyOrder(b.graph, order).faults) {
      lines.push_back(Describe(fault, b.graph, verify::AsPlan(order)));
    }
    return lines;
  };
  using Lines = std::vector<std::string>;
  EXPECT_EQ(described({0, 1, 2, 7}), (Lines{"unknown: no operator has the number 7 at step 3",
                                            "missing: operator \"C\" is not in the order"}));
  EXPECT_EQ(described({0, 1, 0, 2}), (Lines{"repeated: operator \"A\" appears again at step 2",
                                            "missing: operator \"C\" is not in the order"}));
  EXPECT_EQ(described({3, 0, 1, 2}),
            (Lines{"too early: operator \"C\" at step 0 must come after operator \"A\""}));
  EXPECT_EQ(described({1, 0, 2, 3}),
            (Lines{"not made: operator \"R\" at step 0 needs tensor \"a\", made only later by "
                   "operator \"A\""}));
  EXPECT_EQ(described({0, 2, 1, 3}),
            (Lines{"too early: operator \"W\" at step 1 must come after operator \"R\"",
                   "other bytes: operator \"R\" at step 2 reads tensor \"a\" as written by "
                   "operator \"W\", unlike in program order"}));
}

// Four independent ways to compute the peak: Live(), PeakOf(), the verifier and (for the best
// order) the oracle.
TEST(PeakTest, AllCountersAgreeOnRandomOrders) {
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Graph graph = RandomGraph(seed, AllGraphKnobs());
    const Counting counting{seed % 3 == 0, seed % 5 == 0};
    const Order order = RandomOrder(graph, seed);
    ASSERT_TRUE(ValidateOrder(graph, order));
    const verify::PlanReport report = verify::VerifyOrder(graph, order, counting);
    ASSERT_TRUE(report.ok()) << Describe(report, graph, verify::AsPlan(order));
    const Liveness liveness = Live(graph, order, counting);
    EXPECT_EQ(liveness.peak, report.peak);
    EXPECT_EQ(liveness.live, report.live);
    EXPECT_EQ(liveness.peak_step, report.peak_step);
    const Topology topology = Compile(graph, counting);
    EXPECT_EQ(PeakOf(topology, AsIndices(order)), report.peak);
    if (liveness.peak > 0) {
      EXPECT_TRUE(Validate(liveness.problem));
      EXPECT_EQ(MaxLiveLoad(liveness.problem).load, liveness.peak);
    }
  }
}

TEST(PeakTest, AllCheckersAgreeOnValidOrders) {
  int valid = 0;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    const Graph graph = RandomGraph(seed, AllGraphKnobs());
    Order order = ProgramOrder(graph);
    ASSERT_TRUE(ValidateOrder(graph, order)) << seed;
    if (order.size() < 2) continue;
    std::swap(order[seed % (order.size() - 1)], order[seed % (order.size() - 1) + 1]);
    const bool is_valid = ValidateOrder(graph, order).has_value();
    EXPECT_EQ(is_valid, verify::VerifyOrder(graph, order).ok()) << seed;
    valid += is_valid ? 1 : 0;
  }
  EXPECT_GT(valid, 200);
  EXPECT_LT(valid, 800);
}

TEST(ReorderedTest, ProgramOrderIsThenTheOrder) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const Graph graph = RandomGraph(seed, AllGraphKnobs());
    const Order order = RandomOrder(graph, seed);
    const Graph reordered = Reordered(graph, order);
    EXPECT_TRUE(Validate(reordered)) << seed;
    EXPECT_EQ(Live(reordered, ProgramOrder(reordered)).live, Live(graph, order).live) << seed;
    Order back(order.size());
    for (std::size_t s = 0; s < order.size(); ++s) back[order[s]] = s;
    EXPECT_EQ(Reordered(reordered, back), graph) << seed;
  }
}

TEST(OracleScheduleTest, TheTwoOraclesAgreeAndTheVerifierConfirms) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    GraphKnobs knobs = AllGraphKnobs();
    knobs.max_operators = 6;
    const Graph graph = RandomGraph(seed, knobs);
    const Counting counting{seed % 3 == 0, seed % 5 == 0};
    const OracleOrder best = OracleSchedule(graph, counting);
    EXPECT_EQ(best.peak, OracleScheduleByOrders(graph, counting).peak);
    const verify::PlanReport report = verify::VerifyOrder(graph, best.order, counting);
    EXPECT_TRUE(report.ok());
    EXPECT_EQ(report.peak, best.peak);
    EXPECT_LE(best.peak, Live(graph, ProgramOrder(graph), counting).peak);
  }
}

TEST(CompileTest, HasPredecessorsAndUses) {
  Build b = Build()
                .Source("x", 2)
                .Source("w", 32, TensorKind::kParameter)
                .Made("a", 4)
                .View("v", 2, "a")
                .Made("zero", 0)
                .Made("o", 1)
                .Op("A", {"x", "w"}, {"a", "zero"})
                .Op("V", {"a"}, {"v"})
                .Op("W", {}, {}, {"a"}, {"V"})
                .Op("O", {"v", "v"}, {"o"}, {}, {"W"})
                .Output("o");
  ASSERT_TRUE(Validate(b.graph));
  const Topology topology = Compile(b.graph, {true, true});
  EXPECT_EQ(topology.num_operators, 4u);
  EXPECT_EQ(topology.always_live, 32);
  ASSERT_EQ(topology.storages.size(), 3u);
  const StorageIndex x(0);
  const StorageIndex a(1);
  const StorageIndex o(2);
  EXPECT_EQ(topology.storages[x].creator.value(), -1);
  EXPECT_EQ(topology.storages[a].tensor, b.T("a"));
  EXPECT_TRUE(topology.storages[o].to_end);
  EXPECT_FALSE(topology.storages[a].to_end);
  const auto values = [](const auto& list) {
    std::vector<int> result;
    for (const auto item : list) result.push_back(item.value());
    return result;
  };
  using Values = std::vector<int>;
  EXPECT_EQ(values(topology.predecessors[OpIndex(2)]), (Values{0, 1}));
  EXPECT_EQ(values(topology.predecessors[OpIndex(3)]), (Values{1, 2}));
  EXPECT_EQ(values(topology.successors[OpIndex(0)]), (Values{1, 2}));
  EXPECT_EQ(values(topology.users[a]), (Values{1, 2, 3}));
  EXPECT_EQ(values(topology.users[x]), (Values{0}));
  EXPECT_EQ(values(topology.made[OpIndex(0)]), (Values{1}));
  EXPECT_EQ(values(topology.used[OpIndex(3)]), (Values{1}));
}

}  // namespace
}  // namespace berth::internal
