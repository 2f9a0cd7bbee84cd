#include <gtest/gtest.h>

#include <set>

#include "berth/place.h"

namespace berth {
namespace {

TEST(Algorithms, AreAllThereInOrder) {
  ASSERT_EQ(Algorithms().size(), static_cast<std::size_t>(Algorithm::kXlaBestFit) + 1);
  std::set<std::string_view> names;
  for (std::size_t k = 0; k < Algorithms().size(); ++k) {
    const AlgorithmInfo& info = Algorithms()[k];
    EXPECT_EQ(info.algorithm, static_cast<Algorithm>(k));
    EXPECT_EQ(&Info(info.algorithm), &info);
    EXPECT_EQ(AlgorithmFromName(info.name), info.algorithm);
    EXPECT_TRUE(names.insert(info.name).second) << info.name;
    EXPECT_FALSE(info.source.empty()) << info.name;
    ASSERT_FALSE(info.summary.empty()) << info.name;
    EXPECT_EQ(info.summary.back(), '.') << info.name;
    EXPECT_EQ(info.exact, k <= static_cast<std::size_t>(Algorithm::kGuided)) << info.name;
  }
}

TEST(Algorithms, HaveTheNamesOfTheCommandLine) {
  EXPECT_EQ(Info(Algorithm::kAuto).name, "auto");
  EXPECT_EQ(AlgorithmFromName("first-fit-size"), Algorithm::kFirstFitSize);
  EXPECT_EQ(AlgorithmFromName("xla-best-fit"), Algorithm::kXlaBestFit);
  EXPECT_EQ(AlgorithmFromName("pytorch-caching"), std::nullopt);
  EXPECT_EQ(AlgorithmFromName("First-Fit-Size"), std::nullopt);
  EXPECT_EQ(AlgorithmFromName(""), std::nullopt);
}

TEST(Outcomes, HaveNames) {
  EXPECT_EQ(ToString(Outcome::kOptimal), "optimal");
  EXPECT_EQ(ToString(Outcome::kFeasible), "feasible");
  EXPECT_EQ(ToString(Outcome::kInfeasible), "infeasible");
  EXPECT_EQ(ToString(Outcome::kUnknown), "unknown");
}

}  // namespace
}  // namespace berth
