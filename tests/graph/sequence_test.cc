// Plans in which operators run again, and the rules of costs.

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>

#include "berth/graph.h"
#include "graph/plan.h"
#include "graph/versions.h"
#include "tests/graph/build.h"
#include "tools/verify/verify.h"

namespace berth::internal {
namespace {

// x is dropped while z is made, and made again for the join: 4 + 6 + 2 bytes at most.
class Repeats : public testing::Test {
 protected:
  void SetUp() override {
    graph = OneSpill().graph;
    graph.operators[0].cost = 7;
    graph.operators[2].cost = 5;
    plan.order = {0, 1, 2, 0, 3};
    //             x                       y              z              w
    plan.residencies = {{0, 0, 2, 0}, {0, 3, 5, 0}, {1, 1, 3, 6}, {2, 2, 5, 4}, {3, 4, 5, 10}};
    plan.residencies[2].offset = 10;
    plan.residencies[4].offset = 10;
    plan.memories = {{14, 12}};
    plan.traffic.compulsory_out = 2;
    plan.recomputed = {1, 7};
  }

  // What both checkers say; they agree on whether it is anything.
  std::string Fault(const MemoryPlan& of, const Counting& counting = {}) {
    const auto valid = ValidatePlan(graph, counting, std::nullopt, of);
    const auto report = verify::VerifyPlan(graph, counting, std::nullopt, of);
    EXPECT_EQ(valid.has_value(), report.ok()) << (valid ? "" : valid.error().message) << "\n"
                                              << verify::Describe(report, graph, of);
    return valid ? "" : valid.error().message;
  }
  // The same of `plan` after a change.
  std::string After(const std::function<void(MemoryPlan&)>& change) {
    MemoryPlan changed = plan;
    change(changed);
    return Fault(changed);
  }

  Graph graph;
  MemoryPlan plan;
};

TEST_F(Repeats, AreAccepted) { EXPECT_EQ(Fault(plan), ""); }

TEST_F(Repeats, StateWhatTheyCost) {
  EXPECT_EQ(After([](MemoryPlan& p) { p.recomputed.cost = 6; }),
            "the plan states that it runs 1 operator at a cost of 6 again but runs 1 operator at a "
            "cost of 7");
  EXPECT_EQ(After([](MemoryPlan& p) { p.recomputed.operators = 0; }),
            "the plan states that it runs 0 operators at a cost of 7 again but runs 1 operator at "
            "a cost of 7");
  // Without any cost it is the bytes read and written.
  for (Operator& op : graph.operators) op.cost.reset();
  plan.recomputed.cost = 4;
  EXPECT_EQ(Fault(plan), "");
}

TEST_F(Repeats, OfOperatorsThatMayRunOnce) {
  graph.operators[0].random = true;
  EXPECT_EQ(Fault(plan),
            "operator \"make x\" runs again at step 3, after step 0, but may run only once");
  graph.operators[0].repeat = Repeat::kPure;
  EXPECT_EQ(Fault(plan), "");
  graph.operators[0].repeat = Repeat::kNever;
  EXPECT_NE(Fault(plan), "");
}

TEST_F(Repeats, NeedEveryOperatorInAnOrderThatCanRun) {
  EXPECT_EQ(After([](MemoryPlan& p) {
              p.order = {0, 1, 2, 0, 0};
            }),
            "operator \"join\" is missing in the order");
  EXPECT_EQ(
      After([](MemoryPlan& p) {
        p.order = {0, 2, 1, 0, 3};
      }),
      "operator \"make z\" runs at step 1, before operator \"make y\", which it waits for, at "
      "step 2");
}

TEST_F(Repeats, NeedTheirResults) {
  // Made again, but not kept until it is used.
  EXPECT_EQ(After([](MemoryPlan& p) { p.residencies[1].end = 4; }),
            "tensor \"x\" is not in memory when operator \"join\" at step 4 needs it");
  // Made again into nothing.
  EXPECT_EQ(After([](MemoryPlan& p) { p.residencies[1].start = 4; }),
            "tensor \"x\" is not in memory when operator \"make x\" at step 3 makes it");
  // There before it is made.
  EXPECT_EQ(After([](MemoryPlan& p) {
              p.residencies[1].start = 2;
              p.memories[0].peak = 14;
            }),
            "tensor \"x\" is in memory from step 2 but is neither created there nor retrieved");
}

TEST_F(Repeats, MakeWhatIsStillThere) {
  // Needless, but right: the same bytes are written once more.
  plan.residencies = {{0, 0, 5, 0}, {1, 1, 3, 10}, {2, 2, 5, 4}, {3, 4, 5, 10}};
  plan.memories = {{14, 14}};
  EXPECT_EQ(Fault(plan), "");
}

TEST_F(Repeats, BesideSpills) {
  // y leaves and comes back, for a second z; x is made again as before.
  plan.order = {0, 1, 2, 0, 2, 3};
  plan.residencies = {{0, 0, 2, 0},        {0, 3, 6, 0}, {1, 1, 3, 10, false, true},
                      {1, 4, 5, 10, true}, {2, 2, 3, 4}, {2, 4, 6, 4},
                      {3, 5, 6, 10}};
  plan.memories = {{14, 14}};
  plan.traffic.spilled = 4;
  plan.traffic.retrieved = 4;
  plan.recomputed = {2, 12};
  EXPECT_EQ(Fault(plan), "");
  EXPECT_EQ(After([](MemoryPlan& p) { p.residencies[2].written_out = false; }),
            "tensor \"y\" is retrieved at step 4 but its latest value was never spilled");
  EXPECT_EQ(After([](MemoryPlan& p) {
              p.residencies[0].written_out = true;
              p.traffic.spilled += 4;
            }),
            "tensor \"x\" is spilled at step 2 but is dead: it is not retrieved from then on");
}

// b is written in place: readers before and after see different versions.
class Versioned : public Repeats {
 protected:
  void SetUp() override {
    graph = WritesBetweenReads().graph;
    // c is dropped, and made again of b as it was first: B, C; then E.
    plan.order = {0, 1, 2, 3, 4, 1, 2, 5};
    plan.residencies = {{0, 0, 6, 0}, {1, 1, 5, 4},  {1, 5, 7, 4}, {2, 2, 3, 8},
                        {2, 6, 8, 8}, {3, 4, 8, 12}, {4, 7, 8, 0}};
    plan.memories = {{16, 12}};
    plan.traffic.compulsory_out = 4;
    plan.recomputed = {2, 16};
  }
};

TEST_F(Versioned, MadeAgainItIsAsItWasFirst) {
  EXPECT_EQ(UseOf(graph, plan).front().peak, 12);
  EXPECT_EQ(Fault(plan), "");
}

TEST_F(Versioned, AfterAWriteItIsNotWhatTheFirstReadersSaw) {
  plan.order = {0, 1, 2, 3, 4, 2, 5};
  plan.residencies = {{0, 0, 2, 0}, {1, 1, 6, 4},  {2, 2, 3, 8},
                      {2, 5, 7, 8}, {3, 4, 7, 12}, {4, 6, 7, 0}};
  plan.memories = {{16, 12}};
  plan.recomputed = {1, 8};
  EXPECT_EQ(Fault(plan),
            "tensor \"b\" is in version 1 when operator \"C\" at step 5 needs version 0");
}

TEST_F(Versioned, ResultsEndInTheirLastVersion) {
  graph.tensors[1].output = true;
  plan.traffic.compulsory_out += 4;
  plan.residencies[2].end = 8;
  plan.memories[0].peak = 16;
  EXPECT_EQ(Fault(plan),
            "tensor \"b\", a result, is in version 0 at the end, not in its last, 1, which is not "
            "off chip either");
  plan.residencies[1].written_out = true;
  EXPECT_EQ(Fault(plan), "");
}

TEST_F(Versioned, AWriteInPlaceMayRunAgain) {
  // d is made again as well: of b written once more.
  plan.order = {0, 1, 2, 3, 4, 1, 2, 3, 4, 5};
  plan.residencies = {{0, 0, 6, 0},  {1, 1, 5, 4},  {1, 5, 9, 4},   {2, 2, 3, 8},
                      {2, 6, 10, 8}, {3, 4, 5, 12}, {3, 8, 10, 12}, {4, 9, 10, 0}};
  plan.recomputed = {4, 28};
  EXPECT_EQ(Fault(plan), "");
  // But not without the value that it found.
  plan.order = {0, 1, 2, 3, 4, 1, 3, 2, 4, 5};
  plan.residencies[4].start = 7;
  EXPECT_EQ(Fault(plan),
            "tensor \"b\" is in version 1 when operator \"C\" at step 7 needs version 0");
}

// A normalisation with running statistics r, and an update of the weight w.
class Given : public Repeats {
 protected:
  void SetUp() override {
    graph = Build()
                .Source("w", 4, TensorKind::kParameter)
                .Source("r", 2, TensorKind::kParameter)
                .Made("x", 4)
                .Made("n", 4)
                .Made("g", 4)
                .Made("o", 2)
                .Op("conv", {"w"}, {"x"})
                .Op("norm", {"x"}, {"n"}, {"r"})
                .Op("loss", {"n"}, {"g"})
                .Op("step", {"g"}, {}, {"w"}, {"conv"})
                .Op("out", {"n", "g"}, {"o"})
                .Output("o")
                .graph;
    graph.operators[1].skips = {1};
    // n is dropped, and made again from x.
    plan.order = {0, 1, 2, 3, 1, 4};
    plan.residencies = {{2, 0, 5, 0}, {3, 1, 3, 4}, {3, 4, 6, 4}, {4, 2, 6, 8}, {5, 5, 6, 0}};
    plan.memories = {{12, 12}};
    plan.traffic.compulsory_out = 2;
    plan.recomputed = {1, 10};
  }
};

TEST_F(Given, StatisticsAreWrittenOnce) {
  EXPECT_EQ(Fault(plan), "");
  graph.operators[1].skips.clear();
  EXPECT_EQ(Fault(plan),
            "operator \"norm\" runs again at step 4, after step 1, but may run only once");
  // Declared pure, it is still found out: what it needs is gone.
  graph.operators[1].repeat = Repeat::kPure;
  EXPECT_EQ(Fault(plan),
            "tensor \"r\" is in version 1 when operator \"norm\" at step 4 needs version 0");
}

TEST_F(Given, AfterAnUpdateNothingReadsTheOldWeight) {
  plan.order = {0, 1, 2, 3, 0, 1, 4};
  plan.residencies = {{2, 0, 2, 0}, {2, 4, 6, 0}, {3, 1, 3, 4},
                      {3, 5, 7, 4}, {4, 2, 7, 8}, {5, 6, 7, 0}};
  plan.recomputed = {2, 18};
  EXPECT_EQ(Fault(plan),
            "tensor \"w\" is in version 1 when operator \"conv\" at step 4 needs version 0");
  // With the weight in the plan, and a copy of it off chip.
  const Counting counting{false, true};
  plan.residencies.insert(
      plan.residencies.begin(),
      {{0, 0, 1, 12, true}, {0, 3, 4, 12, true, true}, {0, 4, 5, 12}, {1, 1, 2, 16, true, true}});
  plan.traffic = {0, 4, 6, 8};
  plan.memories = {{18, 16}};
  plan.memories[0].peak = UseOf(graph, plan).front().peak;
  EXPECT_EQ(Fault(plan, counting),
            "tensor \"w\" is in memory from step 4 but is neither created there nor retrieved");
  // The update was written over the copy.
  plan.residencies[2].comes_in = true;
  plan.traffic.retrieved = 8;
  EXPECT_EQ(Fault(plan, counting),
            "tensor \"w\" is in version 1 when operator \"conv\" at step 4 needs version 0");
  // The old weight is used before it is written over: the step keeps what it makes on chip.
  plan.order = {0, 1, 2, 0, 1, 3, 4};
  plan.residencies = {{0, 0, 6, 12, true, true},
                      {1, 1, 2, 16, true, true},
                      {2, 0, 2, 0},
                      {2, 3, 5, 0},
                      {3, 1, 3, 4},
                      {3, 4, 7, 4},
                      {4, 2, 7, 8},
                      {5, 6, 7, 0}};
  plan.traffic.retrieved = 0;
  plan.memories[0].peak = UseOf(graph, plan).front().peak;
  EXPECT_EQ(Fault(plan, counting), "");
}

TEST(CostRules, AreChecked) {
  const auto fault = [](const std::function<void(Graph&)>& change) {
    Graph graph =
        Build().Source("r", 2).Made("x", 4).Op("A", {}, {"x"}).Op("B", {"x"}, {}, {"r"}).graph;
    change(graph);
    const auto valid = Validate(graph);
    return valid ? std::string() : valid.error().message;
  };
  EXPECT_EQ(fault([](Graph& g) { g.operators[0].cost = kMaxBytes; }), "");
  EXPECT_EQ(fault([](Graph& g) { g.operators[0].cost = -1; }),
            "operator \"A\": cost is -1 but must be from 0 to 2^60");
  EXPECT_EQ(fault([](Graph& g) { g.operators[0].cost = kMaxBytes + 1; }),
            "operator \"A\": cost is 1152921504606846977 but must be from 0 to 2^60");
  EXPECT_EQ(fault([](Graph& g) {
              g.operators[0].cost = kMaxBytes;
              g.operators[1].cost = 1;
            }),
            "operator \"B\": with its cost of 1 the operators add up to more than 2^60");
  EXPECT_EQ(fault([](Graph& g) { g.operators[1].skips = {0}; }), "");
  EXPECT_EQ(
      fault([](Graph& g) { g.operators[0].skips = {0}; }),
      "operator \"A\": skips tensor \"r\" when it runs again, but does not write it in place");
  EXPECT_EQ(fault([](Graph& g) {
              g.operators[1].skips = {0, 0};
            }),
            "operator \"B\": skips tensor \"r\" twice");
  EXPECT_EQ(fault([](Graph& g) { g.operators[1].skips = {9}; }),
            "operator \"B\": skips tensor number 9 but the graph has 2 tensors");
}

TEST(RecomputedOfTest, CountsAndAddsUp) {
  Graph graph = TwoBranches().graph;
  EXPECT_EQ(RecomputedOf(graph, {0, 1, 2, 3, 4}), (Recomputed{0, 0}));
  EXPECT_EQ(RecomputedOf(graph, {0, 1, 0, 2, 3, 1, 0, 4}), (Recomputed{3, 8 + 9 + 8}));
  graph.operators[0].cost = kMaxBytes;
  EXPECT_EQ(RecomputedOf(graph, {0, 0, 0, 0, 0, 0, 0, 0}), (Recomputed{7, 7 * kMaxBytes}));
  EXPECT_EQ(RecomputedOf(graph, {0, 0, 0, 0, 0, 0, 0, 0, 0}), std::nullopt);
  EXPECT_EQ(FirstExecutions(graph, {2, 0, 2, 1, 0, 3, 4}), (Order{2, 0, 1, 3, 4}));
}

}  // namespace
}  // namespace berth::internal
