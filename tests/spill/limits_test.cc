// Sizes at the limits: invalid input is rejected at once, and valid input is planned as if it were
// small. Also meant for sanitizers.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "berth/cosma.h"
#include "berth/place.h"
#include "berth/spill.h"
#include "spill/model.h"
#include "spill/segments.h"
#include "testing/random_graph.h"
#include "tests/graph/build.h"
#include "tools/verify/verify.h"

namespace berth::internal {
namespace {

Result<PlanAnswer> PlaceIt(const Problem& problem, Budget& budget) {
  return Place(problem, {}, budget);
}

// x is created, then `uses` operators use it; before each use, another operator's output takes
// nearly all of the memory, so x must be retrieved each time.
Graph ComesBack(Bytes bytes, int uses) {
  Build build;
  build.Made("x", bytes).Op("make x", {}, {"x"});
  for (int i = 0; i < uses; ++i) {
    const std::string n = std::to_string(i);
    build.Made("large " + n, bytes).Made("y" + n, 1);
    build.Op("crowd " + n, {}, {"large " + n}, {}, {i == 0 ? "make x" : "use " + std::to_string(i)})
        .Op("read " + n, {"large " + n}, {"y" + n})
        .Op("use " + std::to_string(i + 1), {"x", "y" + n}, {});
  }
  return build.graph;
}

std::string ErrorOf(const Graph& graph, Bytes capacity) {
  SpillOptions options;
  options.capacity = capacity;
  Budget budget;
  const auto answer = PlanWithSpills(graph, options, budget);
  return answer ? "" : answer.error().message;
}

TEST(SpillLimits, TrafficBeyondThemIsRefusedByName) {
  // 1 + 7 accesses of x, and two of each of seven tensors of the same size: 22 x 2^55 bytes fit.
  constexpr Bytes kBytes = Bytes{1} << 55;
  const Graph fits = ComesBack(kBytes, 7);
  ASSERT_TRUE(Validate(fits).has_value());
  EXPECT_TRUE(ValidateTraffic(fits, {}).has_value());
  SpillOptions options;
  options.capacity = kBytes + 1;
  options.placer = PlaceIt;
  Budget budget;
  const auto answer = PlanWithSpills(fits, options, budget);
  ASSERT_TRUE(answer.has_value()) << answer.error().message;
  EXPECT_EQ(answer->outcome, Outcome::kOptimal);
  ASSERT_TRUE(answer->best.has_value());
  EXPECT_EQ(answer->best->traffic.spilled, kBytes);
  EXPECT_EQ(answer->best->traffic.retrieved, 7 * kBytes);
  EXPECT_TRUE(verify::VerifyPlan(fits, {}, options.capacity, *answer->best).ok());

  // 1 + 11 and 2 x 11: 34 x 2^55 do not, though all tensors together do.
  const Graph exceeds = ComesBack(kBytes, 11);
  ASSERT_TRUE(Validate(exceeds).has_value());
  const std::string expected =
      "tensor \"large 9\": its 36028797018963968 bytes, counted once for each of the 2 times that "
      "operators create, use or write it, raise the possible traffic to more than 2^60 bytes";
  EXPECT_EQ(ErrorOf(exceeds, options.capacity), expected);
  const auto valid = ValidateTraffic(exceeds, {});
  ASSERT_FALSE(valid.has_value());
  EXPECT_EQ(valid.error().code, ErrorCode::kInvalidGraph);
  const auto replaced =
      ReplaceOneByOne(exceeds, ProgramOrder(exceeds), {}, options.capacity, Replacement::kBelady);
  ASSERT_FALSE(replaced.has_value());
  EXPECT_EQ(replaced.error().message, expected);
  const auto plan = ValidatePlan(exceeds, {}, options.capacity, *answer->best);
  ASSERT_FALSE(plan.has_value());
  EXPECT_EQ(plan.error().message, expected);
}

// Tensors written in place are retrieved and spilled each time.
TEST(SpillLimits, WritesInPlaceCountTwice) {
  const auto graph_of = [](Bytes bytes, int writers) {
    Build build;
    build.Made("x", bytes).Op("make x", {}, {"x"});
    std::string before = "make x";
    for (int i = 0; i < writers; ++i) {
      const std::string n = std::to_string(i);
      build.Made("c" + n, 1).Op("crowd " + n, {}, {"c" + n}, {}, {before});
      build.Op("read " + n, {"c" + n}, {}, {}, {"crowd " + n});
      before = "write " + n;
      build.Op(before, {}, {}, {"x"}, {"read " + n});
    }
    build.Output("x");
    return build.graph;
  };
  SpillOptions options;
  options.placer = PlaceIt;
  options.capacity = 100;
  Budget budget;
  const auto small_answer = PlanWithSpills(graph_of(100, 2), options, budget);
  ASSERT_TRUE(small_answer.has_value() && small_answer->best.has_value());
  EXPECT_EQ(small_answer->outcome, Outcome::kOptimal);
  EXPECT_EQ(small_answer->best->traffic.avoidable(), 400);
  // 1 + 2 x 3 times 2^57 bytes are within 2^60, 1 + 2 x 4 are not; the actual traffic is never
  // more.
  const auto valid = [&](int writers) {
    return ValidateTraffic(graph_of(Bytes{1} << 57, writers), {}).has_value();
  };
  EXPECT_TRUE(valid(3));
  EXPECT_FALSE(valid(4));
  options.capacity = Bytes{1} << 57;
  const auto answer = PlanWithSpills(graph_of(Bytes{1} << 57, 3), options, budget);
  ASSERT_TRUE(answer.has_value() && answer->best.has_value());
  EXPECT_EQ(answer->best->traffic.avoidable(), 6 * options.capacity);
  EXPECT_LE(answer->best->traffic.avoidable(), kMaxBytes);
}

TEST(SpillLimits, ExactlyAtTheLimit) {
  Build build = Build()
                    .Made("x", (Bytes{1} << 58))
                    .Made("y", (Bytes{1} << 58))
                    .Op("make", {}, {"x"})
                    .Op("turn", {"x"}, {"y"})
                    .Op("end", {"y"}, {});
  EXPECT_TRUE(ValidateTraffic(build.graph, {}).has_value());
  EXPECT_EQ(ErrorOf(build.graph, Bytes{1} << 59), "");
  build.graph.tensors[0].alignment = 2;  // Each residency may have to begin a byte higher.
  EXPECT_NE(ErrorOf(build.graph, Bytes{1} << 59).find("tensor \"y\""), std::string::npos);
  build.graph.tensors[0].alignment = 1;
  build.graph.tensors[1].bytes += 1;
  EXPECT_NE(ErrorOf(build.graph, Bytes{1} << 59).find("tensor \"y\""), std::string::npos);
  // Tensors that are not counted may be of any size.
  build.graph.tensors[1].bytes -= 1;
  build.Source("w", Bytes{1} << 59, TensorKind::kParameter).Op("look", {"w", "y"}, {});
  EXPECT_NE(ErrorOf(build.graph, Bytes{1} << 59).find("tensor \"y\""), std::string::npos);
  build.graph.operators.back().inputs = {build.T("w")};
  EXPECT_EQ(ErrorOf(build.graph, Bytes{1} << 59), "");
}

TEST(SpillLimits, CapacitiesBeyondThemAreRefused) {
  const Graph graph = ComesBack(4, 1);
  EXPECT_EQ(ErrorOf(graph, kMaxBytes), "");
  EXPECT_EQ(ErrorOf(graph, kMaxBytes + 1),
            "the capacity is 1152921504606846977 bytes but must be from 0 to 2^60");
  EXPECT_EQ(ErrorOf(graph, -1), "the capacity is -1 bytes but must be from 0 to 2^60");
}

// Sums of a plan's stated figures do not wrap around.
TEST(SpillLimits, AVerifiersSumsStopAboveThem) {
  const Graph graph = ComesBack(Bytes{1} << 55, 20);
  MemoryPlan plan;
  plan.memories.emplace_back();
  plan.order = ProgramOrder(graph);
  for (Step s = 0; s < static_cast<Step>(plan.order.size()); ++s) {
    plan.residencies.push_back({0, s, s + 1, 0, true, false});
  }
  for (int i = 0; i < 3; ++i) {  // Up to 2^58 bytes; 61 of these would exceed 64 bits.
    Graph larger = graph;
    larger.tensors[0].bytes = Bytes{1} << (56 + i);
    const verify::PlanReport report = verify::VerifyPlan(larger, {}, std::nullopt, plan);
    EXPECT_FALSE(report.ok());
    EXPECT_GT(report.traffic.retrieved, kMaxBytes);
    EXPECT_GT(report.traffic.avoidable(), 0);
  }
}

// Bytes that may have to be retrieved and spilled, in all.
Bytes Weight(const Graph& graph) {
  Bytes weight = 0;
  for (const Operator& op : graph.operators) {
    for (const auto* list : {&op.inputs, &op.outputs, &op.mutates, &op.mutates}) {
      for (const TensorIndex t : *list) {
        const Tensor& base = graph.tensors[BaseOf(graph, t)];
        weight += base.bytes + base.alignment;
      }
    }
  }
  return weight;
}

Graph Scaled(Graph graph, Bytes factor) {
  for (Tensor& tensor : graph.tensors) {
    tensor.bytes *= factor;
    tensor.alignment *= factor;
  }
  return graph;
}

// `graph` in its own order, with enough operators between any two that bytes times steps exceed 64
// bits.
Graph Stretched(const Graph& graph, std::size_t idle) {
  Graph stretched = graph;
  stretched.operators.clear();
  const auto add = [&](Operator op) {
    if (!stretched.operators.empty()) op.after.push_back(stretched.operators.size() - 1);
    stretched.operators.push_back(std::move(op));
  };
  for (const Operator& op : graph.operators) {
    for (std::size_t i = 0; i < idle; ++i) {
      add({"idle " + std::to_string(stretched.operators.size()), "Idle", {}, {}});
    }
    Operator moved = op;
    moved.after.clear();
    add(std::move(moved));
  }
  return stretched;
}

TEST(SpillLimits, LargeSizesArePlannedAsSmallOnes) {
  int spilling = 0;
  int repaired = 0;
  for (std::uint64_t seed = 91; seed <= 150; ++seed) {
    SCOPED_TRACE(seed);
    GraphKnobs knobs = AllGraphKnobs();
    const bool fixed = seed % 2 == 0;  // One order is searched quickly.
    knobs.min_operators = fixed ? 20 : 6;
    knobs.max_operators = fixed ? 30 : 14;
    knobs.max_outputs = 2;
    knobs.far_chance = 0.8;
    Graph graph = RandomGraph(seed, knobs);
    const Bytes weight = Weight(graph);
    if (weight == 0) continue;
    const Bytes factor = kMaxBytes / weight;
    if (fixed) graph = Stretched(graph, 100);
    const Graph large = Scaled(graph, factor);
    ASSERT_TRUE(Validate(large).has_value()) << Validate(large).error().message;
    SpillOptions options;
    options.placer = PlaceIt;
    options.fixed_order = fixed;
    options.capacity = FindLeastMemory(graph, {}).bytes + static_cast<Bytes>(seed % 3);
    Budget budget;
    const auto small_answer = PlanWithSpills(graph, options, budget);
    ASSERT_TRUE(small_answer.has_value()) << small_answer.error().message;
    options.capacity *= factor;
    const auto answer = PlanWithSpills(large, options, budget);
    ASSERT_TRUE(answer.has_value()) << answer.error().message;
    EXPECT_EQ(answer->traffic_by_sum, factor * small_answer->traffic_by_sum);
    EXPECT_EQ(answer->traffic_bound, factor * small_answer->traffic_bound);
    EXPECT_EQ(answer->best.has_value(), small_answer->best.has_value());
    spilling += answer->traffic_by_sum > 0 ? 1 : 0;
    if (!answer->best) continue;
    EXPECT_TRUE(verify::VerifyPlan(large, {}, options.capacity, *answer->best).ok());
    repaired += answer->best->traffic.avoidable() > answer->traffic_by_sum ? 1 : 0;
  }
  EXPECT_GT(spilling, 15);
  EXPECT_GT(repaired, 0);
}

// Storages whose uses are far apart get parts of their own, those with the most bytes times steps
// first.
TEST(SpillLimits, PartsOfLongLivedStorages) {
  const auto bound_of = [](Bytes factor) {
    constexpr int kSteps = 400;
    Build build;
    for (const char* name : {"a", "b", "c"}) build.Made(name, factor);
    build.Op("make", {}, {"a", "b", "c"});
    for (int i = 0; i < kSteps; ++i) {
      const std::string n = std::to_string(i);
      build.Made("t" + n, i == kSteps / 2 ? 2 * factor : 1);
      build.Op("step " + n,
               i == 0 ? std::vector<std::string>{} : std::vector{"t" + std::to_string(i - 1)},
               {"t" + n}, {}, {i == 0 ? "make" : "step " + std::to_string(i - 1)});
    }
    build.Op("end", {"a", "b", "c", "t" + std::to_string(kSteps - 1)}, {});
    EXPECT_TRUE(ValidateTraffic(build.graph, {}).has_value());
    const spill::Model model = spill::CompileModel(build.graph, {});
    std::vector<OpIndex> order;
    for (std::size_t v = 0; v < model.num_operators; ++v) order.emplace_back(v);
    spill::Effort effort;
    Budget budget;
    const spill::SegmentBound bound(model, 3 * factor + 2, {}, order, {}, effort, budget);
    return bound.value();
  };
  constexpr Bytes kSmall = 1000;
  constexpr Bytes kLarge = Bytes{1} << 56;
  EXPECT_GT(bound_of(kSmall), 0);
  EXPECT_EQ(bound_of(kLarge) / kLarge, bound_of(kSmall) / kSmall);
}

}  // namespace
}  // namespace berth::internal
