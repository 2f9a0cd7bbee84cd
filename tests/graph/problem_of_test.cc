// ProblemOf(): the buffers of a plan and their ids.

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <vector>

#include "berth/graph.h"
#include "tests/graph/build.h"

namespace berth::internal {
namespace {

TEST(ProblemOf, NumbersTheResidenciesOfATensor) {
  Build build = Build().Made("x", 4).Made("y", 2).Made("z", 1);
  build.graph.tensors[0].alignment = 16;
  MemoryPlan plan;
  plan.order = {0, 1, 2};
  plan.residencies = {{0, 0, 1}, {0, 2, 3}, {1, 0, 3}, {2, 0, 1}, {2, 1, 2}, {2, 2, 3}};
  const std::vector<Buffer> expected = {{"x#1", 0, 1, 4, 16}, {"x#2", 2, 3, 4, 16},
                                        {"y", 0, 3, 2},       {"z#1", 0, 1, 1},
                                        {"z#2", 1, 2, 1},     {"z#3", 2, 3, 1}};
  EXPECT_EQ(ProblemOf(build.graph, plan).buffers, expected);
}

TEST(ProblemOf, IdsDifferFromTheNamesOfOtherTensors) {
  const Build build = Build().Made("x", 4).Made("x#1", 2).Made("x#1#", 2);
  MemoryPlan plan;
  plan.order = {0, 1, 2};
  plan.residencies = {{0, 0, 1}, {0, 2, 3}, {1, 0, 3}, {2, 0, 3}};
  const std::vector<Buffer> expected = {
      {"x#1##", 0, 1, 4}, {"x#2", 2, 3, 4}, {"x#1", 0, 3, 2}, {"x#1#", 0, 3, 2}};
  EXPECT_EQ(ProblemOf(build.graph, plan).buffers, expected);
}

TEST(ProblemOf, AcceptsManyResidenciesOfOneTensor) {
  const Build build = Build().Made("before", 1).Made("x", 1).Made("after", 1);
  constexpr std::size_t kMany = 300'000;
  MemoryPlan plan;
  plan.order.resize(kMany);
  plan.residencies.push_back({0, 0, 1});
  for (std::size_t k = 0; k < kMany; ++k) {
    plan.residencies.push_back({1, static_cast<Step>(k), static_cast<Step>(k) + 1});
  }
  plan.residencies.push_back({2, 0, 1});
  const Problem problem = ProblemOf(build.graph, plan);
  ASSERT_EQ(problem.buffers.size(), kMany + 2);
  EXPECT_EQ(problem.buffers.front().id, "before");
  EXPECT_EQ(problem.buffers[1].id, "x#1");
  EXPECT_EQ(problem.buffers[kMany].id, "x#" + std::to_string(kMany));
  EXPECT_EQ(problem.buffers.back().id, "after");
}

TEST(ProblemOf, APlanWithoutResidenciesHasNoBuffers) {
  EXPECT_TRUE(ProblemOf(TwoBranches().graph, MemoryPlan()).buffers.empty());
}

}  // namespace
}  // namespace berth::internal
