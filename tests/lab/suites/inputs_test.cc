#include "tools/lab/suites/inputs.h"

#include <gtest/gtest.h>

namespace berth::lab {
namespace {

TEST(Inputs, AreSpreadFromTheSmallestToTheLargest) {
  std::vector<SuiteInput> inputs(10);
  for (std::size_t i = 0; i < inputs.size(); ++i) inputs[i].problem.buffers.resize(10 - i);
  const auto sizes = [](const std::vector<SuiteInput>& chosen) {
    std::vector<std::size_t> counts;
    for (const SuiteInput& input : chosen) counts.push_back(input.problem.buffers.size());
    return counts;
  };
  EXPECT_EQ(sizes(SpreadOut(inputs, 4)), (std::vector<std::size_t>{1, 4, 7, 10}));
  EXPECT_EQ(sizes(SpreadOut(inputs, 1)), (std::vector<std::size_t>{5}));
  EXPECT_EQ(sizes(SpreadOut(inputs, 99)).size(), 10U);
  EXPECT_TRUE(SpreadOut(std::vector<SuiteInput>(), 3).empty());
}

}  // namespace
}  // namespace berth::lab
