// Two bounds for all orders, from least peaks and from what leaves as a whole: known values, never above the
// least traffic that the oracle finds, and their limits.

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "berth/io.h"
#include "berth/plan.h"
#include "spill/model.h"
#include "spill/peak_bound.h"
#include "spill/segments.h"
#include "spill/whole_bound.h"
#include "tests/graph/build.h"
#include "tests/spill/bound_case.h"

namespace berth::internal {
namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 30;

Bytes PeaksOf(const Graph& graph, const Counting& counting, Bytes capacity) {
  Budget budget;
  return spill::PeakBound(graph, counting, spill::CompileModel(graph, counting), capacity,
                          kMostBytes, 1, budget);
}

Bytes WindowsOf(const Graph& graph, const Counting& counting, Bytes capacity, const Order& order) {
  const spill::Model model = spill::CompileModel(graph, counting);
  spill::Effort effort;
  Budget budget;
  return spill::WindowBound(model, capacity, {}, spill::ReduceOrder(model, order), spill::kNoCost,
                            /*threads=*/2, effort, budget);
}

Bytes WholeOf(const Graph& graph, const Counting& counting, Bytes capacity,
              Bytes upper = spill::kNoCost) {
  const spill::Model model = spill::CompileModel(graph, counting);
  spill::Effort effort;
  Budget budget;
  return spill::WholeBound(model, capacity, upper, effort, budget);
}

// Values of these sizes are made one after the other from nothing, all are live in the middle, and each is
// used once more in the end.
Build Forward(const std::vector<Bytes>& sizes, bool results = false) {
  Build build;
  std::vector<std::string> before;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const std::string name = "x" + std::to_string(i);
    build.Made(name, sizes[i]);
    build.Op("make " + name, {}, {name}, {}, {});
    if (results) build.Output(name);
    before.push_back("make " + name);
  }
  build.Made("y", 10);
  build.Op("middle", {}, {"y"}, {}, before);
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    build.Op("use " + std::to_string(i), {"x" + std::to_string(i), "y"}, {}, {}, {"middle"});
  }
  return build;
}

TEST(PeakBound, TwiceWhatTheLeastPeakExceedsTheCapacityBy) {
  const Graph graph = Forward({10, 10, 10, 10, 10}).graph;
  EXPECT_EQ(PeaksOf(graph, {}, 40), 40);
  EXPECT_EQ(PeaksOf(graph, {}, 60), 0);
  const Graph results = Forward({10, 10, 10, 10, 10}, /*results=*/true).graph;
  EXPECT_EQ(PeaksOf(results, {}, 40), 20);
}

// No single operator says what a proof of the least peak does: whichever of the two parts runs first, the
// other begins while its value is live.
TEST(PeakBound, SaysMoreThanOneOperator) {
  Build build;
  for (const std::string part : {"a", "b"}) {
    build.Made(part + " wide", 10).Made(part + " x", 4).Made(part + " narrow", 3);
    build.Op(part + " 1", {}, {part + " wide"}, {}, {});
    build.Op(part + " 2", {part + " wide"}, {part + " x"}, {}, {});
    build.Op(part + " 3", {part + " x"}, {part + " narrow"}, {}, {});
  }
  build.Op("end", {"a narrow", "b narrow"}, {}, {}, {});
  EXPECT_EQ(PeaksOf(build.graph, {}, 14), 2 * (17 - 14));
  EXPECT_EQ(WholeOf(build.graph, {}, 14), 0);
}

TEST(WholeBound, FreesWithWholeValues) {
  // 11 bytes leave at least: 4 and 8, or 3 and 8.
  const Graph graph = Forward({3, 4, 8, 20}).graph;
  EXPECT_EQ(WholeOf(graph, {}, 34), 2 * 11);
  EXPECT_EQ(WholeOf(graph, {}, 33), 2 * 12);
  EXPECT_EQ(WholeOf(graph, {}, 31), 2 * 15);
  EXPECT_EQ(WholeOf(graph, {}, 45), 0);
  const Graph results = Forward({3, 4, 8, 20}, /*results=*/true).graph;
  EXPECT_EQ(WholeOf(results, {}, 34), 11);
}

// x is used between the two peaks, so it is retrieved twice, but written once.
TEST(WholeBound, AddsUpAlongAChain) {
  Build build;
  build.Made("x", 10).Made("big 1", 20).Made("big 2", 20);
  build.Op("make", {}, {"x"}, {}, {});
  build.Op("first", {}, {"big 1"}, {}, {"make"});
  build.Op("between", {"x"}, {}, {}, {"first"});
  build.Op("second", {}, {"big 2"}, {}, {"between"});
  build.Op("last", {"x"}, {}, {}, {"second"});
  EXPECT_EQ(WholeOf(build.graph, {}, 20), 30);
  EXPECT_EQ(WholeOf(build.graph, {}, 20, /*upper=*/20), 20);
}

// In each cell x has to make room. Windows end where cells do, or nearly: halves cut some of them.
TEST(WindowBound, AddsUpOverCells) {
  constexpr Bytes kSize = 10;
  for (const int cells : {1, 3, 15, 24}) {
    Build build;
    for (int i = 0; i < cells; ++i) {
      const std::string n = std::to_string(i);
      const std::string before = std::to_string(i - 1);
      build.Made("x" + n, kSize).Made("large" + n, kSize).Made("y" + n, 1);
      build
          .Op("make" + n, {}, {"x" + n}, {},
              i == 0 ? std::vector<std::string>{} : std::vector<std::string>{"use" + before})
          .Op("crowd" + n, {}, {"large" + n}, {}, {"make" + n})
          .Op("read" + n, {"large" + n}, {"y" + n})
          .Op("use" + n, {"x" + n, "y" + n}, {});
    }
    EXPECT_EQ(WindowsOf(build.graph, {}, kSize + 1, ProgramOrder(build.graph)), 2 * kSize * cells);
  }
}

class BoundsAgainstOracle : public testing::TestWithParam<int> {};

TEST_P(BoundsAgainstOracle, PeaksAreNeverAbove) {
  constexpr std::uint64_t kSeeds = 1000;
  BoundTally tally;
  tally.Compare(
      1 + static_cast<std::uint64_t>(GetParam()) * kSeeds, kSeeds,
      [](const BoundCase& the) { return PeaksOf(the.graph, the.counting, the.capacity); });
  EXPECT_GT(tally.positive, tally.spilling / 3);
  EXPECT_GT(tally.tight, tally.spilling / 10);
}

TEST_P(BoundsAgainstOracle, WholeIsNeverAbove) {
  constexpr std::uint64_t kSeeds = 1000;
  BoundTally tally;
  tally.Compare(
      1 + static_cast<std::uint64_t>(GetParam()) * kSeeds, kSeeds,
      [](const BoundCase& the) { return WholeOf(the.graph, the.counting, the.capacity); });
  EXPECT_GT(tally.positive, tally.spilling / 5);
  EXPECT_GT(tally.tight, tally.spilling / 8);
}
TEST_P(BoundsAgainstOracle, WindowsAreNeverAbove) {
  constexpr std::uint64_t kSeeds = 300;
  BoundTally tally;
  tally.Compare(1 + static_cast<std::uint64_t>(GetParam()) * kSeeds, kSeeds,
                [](const BoundCase& the) {
                  return WindowsOf(the.graph, the.counting, the.capacity, the.order);
                });
  EXPECT_GT(tally.positive, tally.spilling / 10);
}
INSTANTIATE_TEST_SUITE_P(Spill, BoundsAgainstOracle, testing::Range(0, 20));

// Training steps at 75 % of their least peak: what the least peak exceeds the capacity by, twice, is
// nearly all; the rest is that tensors leave as a whole.
TEST(BoundsTest, OfTrainingSteps) {
  const char* const data = std::getenv("BERTH_DATA");
  if (data == nullptr) GTEST_SKIP() << "BERTH_DATA names no folder with graphs";
  struct Known {
    std::string name;
    Bytes peaks;
    Bytes whole;
  };
  int found = 0;
  for (const Known& known :
       {Known{"r3d_18_b32", 2679522044, 3288334336}, Known{"resnet18_b32", 351552252, 353239040},
        Known{"r3d_18_b1", 97465084, 97542144}, Known{"vit_b_16_b1", 72016892, 67175424}}) {
    SCOPED_TRACE(known.name);
    const std::string path = std::string(data) + "/graphs/training/" + known.name + ".json";
    if (!std::filesystem::exists(path)) continue;
    ++found;
    const auto graph = ReadGraphJson(*ReadFile(path), path);
    ASSERT_TRUE(graph.has_value()) << graph.error().message;
    Budget budget;
    const Bytes least_peak = FindBudgets(*graph, {}, budget)->least_peak;
    const Bytes capacity = least_peak * 3 / 4;
    EXPECT_GE(PeaksOf(*graph, {}, capacity), known.peaks);
    EXPECT_GE(WholeOf(*graph, {}, capacity, known.whole), known.whole);
  }
  if (found == 0) GTEST_SKIP() << "BERTH_DATA names no folder with training steps";
}

TEST(BoundsTest, EndWithTheirLimits) {
  const Graph graph = Forward(std::vector<Bytes>(40, 10)).graph;
  const spill::Model model = spill::CompileModel(graph, {});
  Budget cancelled;
  cancelled.Cancel();
  spill::Effort effort;
  EXPECT_EQ(spill::WholeBound(model, 30, spill::kNoCost, effort, cancelled), 0);
  EXPECT_EQ(spill::PeakBound(graph, {}, model, 30, kMostBytes, 1, cancelled), 0);
  const std::vector<OpIndex> order = spill::ReduceOrder(model, ProgramOrder(graph));
  EXPECT_EQ(spill::WindowBound(model, 30, {}, order, spill::kNoCost, 1, effort, cancelled), 0);
  spill::Effort none{.work = 0};
  Budget budget;
  EXPECT_EQ(spill::WholeBound(model, 30, spill::kNoCost, none, budget), 0);
  EXPECT_EQ(spill::WindowBound(model, 30, {}, order, spill::kNoCost, 1, none, budget), 0);
  EXPECT_EQ(spill::WholeBound(model, 30, spill::kNoCost, effort, budget), 2 * (410 - 30));
}

}  // namespace
}  // namespace berth::internal
