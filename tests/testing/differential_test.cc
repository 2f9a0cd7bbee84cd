#include "testing/differential.h"

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <string>

namespace berth::internal {
namespace {

TEST(DifferentialTest, RunsEveryCaseIfNoneFails) {
  int calls = 0;
  EXPECT_TRUE(ForRandomProblems(1, 50, {}, [&](const Problem&) -> std::optional<std::string> {
    ++calls;
    return std::nullopt;
  }));
  EXPECT_EQ(calls, 50);
}

void FailOnThreeBuffers() {
  ForRandomProblems(40, 50, {}, [](const Problem& problem) -> std::optional<std::string> {
    if (problem.buffers.size() < 3) return std::nullopt;
    return std::to_string(problem.buffers.size()) + " are too many";
  });
}

TEST(DifferentialTest, ReportsTheSeedAndTheSmallestProblem) {
  std::uint64_t seed = 40;
  while (RandomProblem(seed).buffers.size() < 3) ++seed;
  testing::TestPartResultArray results;
  {
    testing::ScopedFakeTestPartResultReporter reporter(
        testing::ScopedFakeTestPartResultReporter::INTERCEPT_ONLY_CURRENT_THREAD, &results);
    FailOnThreeBuffers();
  }
  ASSERT_EQ(results.size(), 1);
  const std::string message = results.GetTestPartResult(0).message();
  EXPECT_NE(message.find("seed " + std::to_string(seed) + ": "), std::string::npos) << message;
  EXPECT_NE(message.find("still fails: 3 are too many"), std::string::npos) << message;
  EXPECT_NE(message.find("    {\"c\", 0, 1, 1, 1, std::nullopt, std::nullopt, {}},\n"),
            std::string::npos)
      << message;
  EXPECT_NE(message.find("\"c\",0,1,1,1,,,\n"), std::string::npos) << message;
}

}  // namespace
}  // namespace berth::internal
