// The bound from what must be off chip while one operator runs: known values, and never above the
// least traffic that the oracle finds.

#include "spill/cuts.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "berth/plan.h"
#include "spill/model.h"
#include "tests/graph/build.h"
#include "tests/spill/bound_case.h"

namespace berth::internal {
namespace {

Bytes BoundOf(const Graph& graph, const Counting& counting, Bytes capacity, const Order& order) {
  const spill::Model model = spill::CompileModel(graph, counting);
  spill::Effort effort;
  Budget budget;
  return spill::CutBound(model, capacity, spill::ReduceOrder(model, order), spill::kNoCost, effort,
                         budget);
}

// `width` values of 10 bytes are made one after the other from nothing, all are live in the middle,
// and each is used once more in the end.
Build Forward(int width, bool results = false) {
  Build build;
  std::vector<std::string> names;
  for (int i = 0; i < width; ++i) {
    const std::string name = "x" + std::to_string(i);
    build.Made(name, 10);
    build.Op("make " + name, {}, {name}, {}, {});
    names.push_back(name);
    if (results) build.Output(name);
  }
  build.Made("y", 10);
  std::vector<std::string> before;
  for (const std::string& name : names) before.push_back("make " + name);
  build.Op("middle", {}, {"y"}, {}, before);
  for (const std::string& name : names) build.Op("use " + name, {name, "y"}, {}, {}, {"middle"});
  return build;
}

TEST(CutBound, TwiceWhatExceedsTheCapacity) {
  const Graph graph = Forward(5).graph;
  // 60 bytes are live in the middle.
  for (const Bytes capacity : {20, 25, 30, 45, 50, 59}) {
    const Bytes missing = 60 - capacity;
    // Whole values move.
    EXPECT_EQ(BoundOf(graph, {}, capacity, ProgramOrder(graph)), (2 * missing + 9) / 10 * 10);
  }
  EXPECT_EQ(BoundOf(graph, {}, 60, ProgramOrder(graph)), 0);
}

TEST(CutBound, ResultsAreWrittenAnyway) {
  const Graph graph = Forward(5, /*results=*/true).graph;
  EXPECT_EQ(BoundOf(graph, {}, 30, ProgramOrder(graph)), 30);
}

// Two peaks one after the other cost what both cost.
TEST(CutBound, PeaksWithoutCommonTensorsAddUp) {
  Build build;
  std::string before;
  for (const std::string part : {"a", "b"}) {
    build.Made(part + " x", 10).Made(part + " y", 10).Made(part + " z", 10);
    build.Op(part + " make", {}, {part + " x"}, {},
             before.empty() ? std::vector<std::string>{} : std::vector{before});
    build.Op(part + " other", {}, {part + " y", part + " z"}, {}, {part + " make"});
    build.Op(part + " end", {part + " x"}, {}, {}, {part + " other"});
    before = part + " end";
  }
  EXPECT_EQ(BoundOf(build.graph, {}, 20, ProgramOrder(build.graph)), 40);
}

class CutBoundAgainstOracle : public testing::TestWithParam<int> {};

TEST_P(CutBoundAgainstOracle, IsNeverAbove) {
  constexpr std::uint64_t kSeeds = 1500;
  BoundTally tally;
  tally.Compare(1 + static_cast<std::uint64_t>(GetParam()) * kSeeds, kSeeds,
                [](const BoundCase& the) {
                  return BoundOf(the.graph, the.counting, the.capacity, the.order);
                });
  EXPECT_GT(tally.positive, tally.spilling / 3);
  EXPECT_GT(tally.tight, tally.spilling / 8);
}
INSTANTIATE_TEST_SUITE_P(Spill, CutBoundAgainstOracle, testing::Range(0, 20));

// Ends with a bound, whatever the limits.
TEST(CutBound, EndsWithItsLimits) {
  const Graph graph = Forward(40).graph;
  const spill::Model model = spill::CompileModel(graph, {});
  const auto order = spill::ReduceOrder(model, ProgramOrder(graph));
  spill::Effort effort;
  Budget cancelled;
  cancelled.Cancel();
  EXPECT_EQ(spill::CutBound(model, 30, order, spill::kNoCost, effort, cancelled), 0);
  spill::Effort none{.work = 0};
  Budget budget;
  EXPECT_EQ(spill::CutBound(model, 30, order, spill::kNoCost, none, budget), 0);
  EXPECT_EQ(spill::CutBound(model, 30, order, spill::kNoCost, effort, budget), 2 * (410 - 30));
}

}  // namespace
}  // namespace berth::internal
