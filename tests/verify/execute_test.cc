#include "tools/verify/execute.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/random.h"
#include "berth/place.h"
#include "testing/random_graph.h"
#include "tests/graph/build.h"
#include "tools/verify/verify.h"

namespace berth::verify {
namespace {

using namespace berth::internal;  // NOLINT(google-build-using-namespace)

std::vector<std::string> Described(const ExecutionReport& report, const Graph& graph) {
  std::vector<std::string> lines;
  for (const Clobber& clobber : report.clobbers) lines.push_back(Describe(clobber, graph));
  return lines;
}
using Lines = std::vector<std::string>;

Build Chain() {
  Build b = Build().Made("a", 8).Made("b", 4).Made("c", 4);
  b.Op("A", {}, {"a"}).Op("B", {"a"}, {"b"}).Op("C", {"b"}, {"c"}).Output("c");
  return b;
}

TEST(ExecuteTest, RunsAPlanThatHolds) {
  const Build b = Chain();
  const ExecutionReport report = Execute(b.graph, {0, 1, 2}, {{0, 0}, {1, 8}, {2, 0}});
  EXPECT_TRUE(report.ok());
  EXPECT_EQ(report.operators_run, 3);
  EXPECT_EQ(report.arena, 12);
  EXPECT_EQ(report.arena_used, 12);
  EXPECT_EQ(report.bytes_written, 16);
}

TEST(ExecuteTest, SaysWhoseBytesWhoOverwrites) {
  const Build b = Chain();
  EXPECT_EQ(Described(Execute(b.graph, {0, 1, 2}, {{0, 0}, {1, 6}, {2, 0}}), b.graph),
            (Lines{"clobbered: operator \"B\" finds bytes [6, 8) of tensor \"a\" overwritten by "
                   "operator \"B\" with tensor \"b\""}));
  EXPECT_EQ(Described(Execute(b.graph, {0, 1, 2}, {{0, 0}, {1, 8}, {2, 9}}), b.graph),
            (Lines{"clobbered: operator \"C\" finds bytes [1, 4) of tensor \"b\" overwritten by "
                   "operator \"C\" with tensor \"c\""}));
}

TEST(ExecuteTest, ResultsAndWeightsMustSurvive) {
  Build b = Build().Source("w", 4, TensorKind::kParameter).Made("a", 4).Made("b", 4);
  b.Op("A", {"w"}, {"a"}).Op("B", {}, {"b"}).Output("a");
  EXPECT_EQ(Described(Execute(b.graph, {0, 1}, {{1, 0}, {2, 0}}), b.graph),
            (Lines{"clobbered: the end of the run finds bytes [0, 4) of tensor \"a\" overwritten "
                   "by operator \"B\" with tensor \"b\""}));
  EXPECT_TRUE(Execute(b.graph, {1, 0}, {{1, 0}, {2, 0}}).ok());
  EXPECT_EQ(Described(Execute(b.graph, {1, 0}, {{0, 0}, {1, 8}, {2, 2}}), b.graph).front(),
            "clobbered: operator \"A\" finds bytes [2, 4) of tensor \"w\" overwritten by operator "
            "\"B\" with tensor \"b\"");
  EXPECT_EQ(Described(Execute(b.graph, {0, 1}, {{0, 0}, {1, 8}, {2, 2}}), b.graph),
            (Lines{"clobbered: the end of the run finds bytes [2, 4) of tensor \"w\" overwritten "
                   "by operator \"B\" with tensor \"b\""}));
}

TEST(ExecuteTest, WritesInPlaceOnTheWrongSide) {
  Build b = Build().Source("x", 4).Made("a", 4).Made("r", 4);
  b.Op("A", {}, {"a"}).Op("R", {"a"}, {"r"}).Op("W", {}, {}, {"a"}, {"R"});
  EXPECT_TRUE(Execute(b.graph, {0, 1, 2}, {{1, 0}, {2, 4}}).ok());
  EXPECT_EQ(Described(Execute(b.graph, {0, 2, 1}, {{1, 0}, {2, 4}}), b.graph),
            (Lines{"clobbered: operator \"R\" finds bytes [0, 4) of tensor \"a\" with the value "
                   "of operator \"W\" instead of the value of operator \"A\""}));
  // Outside of the arena too.
  Build update = Build().Source("w", 4, TensorKind::kParameter).Made("r", 4);
  update.Op("R", {"w"}, {"r"}).Op("W", {}, {}, {"w"}, {"R"});
  EXPECT_TRUE(Execute(update.graph, {0, 1}, {{1, 0}}).ok());
  EXPECT_EQ(Described(Execute(update.graph, {1, 0}, {{1, 0}}), update.graph),
            (Lines{"clobbered: operator \"R\" finds bytes [0, 4) of tensor \"w\" with the value "
                   "of operator \"W\" instead of the initial value"}));
  EXPECT_EQ(Described(Execute(b.graph, {1, 0, 2}, {{1, 0}, {2, 4}}), b.graph).front(),
            "clobbered: operator \"R\" finds bytes [0, 4) of tensor \"a\" never written");
}

TEST(ExecuteTest, ShrinksALargeArenaWithoutLosingOverlaps) {
  Build b = Build().Made("a", Bytes{1} << 40).Made("b", 1).Made("c", Bytes{1} << 40);
  b.Op("A", {}, {"a"}).Op("B", {}, {"b"}).Op("C", {"a", "b"}, {"c"}).Output("c");
  const Bytes big = Bytes{1} << 40;
  ExecutionOptions options;
  options.max_arena = 1000;
  const auto report = Execute(b.graph, {0, 1, 2}, {{0, 0}, {1, big}, {2, big + 1}}, options);
  EXPECT_TRUE(report.ok());
  EXPECT_EQ(report.arena, 2 * big + 1);
  EXPECT_LE(report.arena_used, 1003);
  EXPECT_EQ(
      Described(Execute(b.graph, {0, 1, 2}, {{0, 0}, {1, big - 1}, {2, big}}, options), b.graph),
      (Lines{"clobbered: operator \"C\" finds bytes [1099511627775, 1099511627776) of tensor "
             "\"a\" overwritten by operator \"B\" with tensor \"b\""}));
}

TEST(ExecuteTest, CountsWhatItDoesNotList) {
  Build b = Chain();
  ExecutionOptions options;
  options.max_clobbers = 1;
  const auto report = Execute(b.graph, {0, 1, 2}, {{0, 0}, {1, 0}, {2, 0}}, options);
  EXPECT_EQ(report.clobbers.size(), 1u);
  EXPECT_GT(report.more, 0);
  EXPECT_FALSE(report.ok());
}

// For a valid order the run finds wrong bytes exactly where two live buffers share some: the two
// checkers know nothing of each other, nor the run of lifetimes.
TEST(ExecuteTest, AgreesWithTheVerifierOnRandomPlans) {
  int good = 0;
  int bad = 0;
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Graph graph = RandomGraph(seed, AllGraphKnobs());
    const Counting counting{seed % 3 == 0, seed % 5 == 0};
    const Order order = RandomOrder(graph, seed);
    const Liveness liveness = Live(graph, order, counting);
    Budget budget;
    PlaceOptions options;
    options.algorithm = Algorithm::kFirstFitStart;
    std::vector<Bytes> offsets =
        PlacementOf(*Place(liveness.problem, options, budget)->best).offsets;
    Random random(seed);
    const std::uint64_t moved = offsets.empty() ? 0 : seed % 3;
    for (std::uint64_t i = 0; i < moved; ++i) {
      const auto b = static_cast<std::size_t>(
          random.Uniform(0, static_cast<std::int64_t>(offsets.size()) - 1));
      offsets[b] += random.Uniform(-std::min<Bytes>(offsets[b], 3), 3) *
                    liveness.problem.buffers[b].alignment;
      if (offsets[b] < 0) offsets[b] = 0;
    }
    std::vector<PlacedTensor> placed;
    for (std::size_t b = 0; b < offsets.size(); ++b) {
      placed.push_back({liveness.tensors[b], offsets[b]});
    }
    const PlanReport verified = VerifyOffsets(liveness.problem, offsets);
    for (const Bytes max_arena : {Bytes{1} << 20, Bytes{5}}) {
      ExecutionOptions execution;
      execution.max_arena = max_arena;
      const ExecutionReport report = Execute(graph, order, placed, execution);
      EXPECT_EQ(report.ok(), verified.ok())
          << (verified.ok()
                  ? Describe(report.clobbers[0], graph)
                  : Describe(verified, liveness.problem, AsPlan(liveness.problem, offsets)));
    }
    ++(verified.ok() ? good : bad);
  }
  EXPECT_GT(good, 500);
  EXPECT_GT(bad, 500);
}

// Of random orders of graphs whose control edges are gone, the run and the verifier of orders
// refuse the same ones.
TEST(ExecuteTest, AgreesWithTheVerifierOnOrders) {
  int good = 0;
  int bad = 0;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    GraphKnobs knobs = AllGraphKnobs();
    knobs.write_chance = 0.5;
    knobs.after_chance = 0;
    knobs.overwrite_chance = 0;
    knobs.view_chance = 0;
    const Graph graph = RandomGraph(seed, knobs);
    Graph loose = graph;
    for (Operator& op : loose.operators) op.after.clear();
    const Order order = RandomOrder(loose, seed);
    const bool same = VerifyOrder(loose, order).ok();
    EXPECT_EQ(Execute(loose, order, {}).ok(), same);
    ++(same ? good : bad);
  }
  EXPECT_GT(good, 500);
  EXPECT_GT(bad, 200);
}

}  // namespace
}  // namespace berth::verify
