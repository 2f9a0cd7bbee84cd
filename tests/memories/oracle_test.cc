// PlaceInMemories() against trying everything, on thousands of small problems with every feature.
#include <gtest/gtest.h>

#include "berth/memories.h"
#include "testing/memories_oracle.h"
#include "testing/seeds.h"
#include "tools/verify/memories.h"

namespace berth::internal {
namespace {

// Enough for every plan worth making in a memory without a capacity.
constexpr Bytes kHighest = 28;

void Check(std::uint64_t seed, const MemoriesOptions& options) {
  const MemoryProblem problem = RandomMemoryProblem(seed);
  SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + ToCpp(problem));
  ASSERT_TRUE(Validate(problem).has_value()) << Validate(problem).error().message;
  const PlanCost best = OracleMemories(problem, kHighest);
  Budget budget;
  const auto answer = PlaceInMemories(problem, options, budget);
  ASSERT_TRUE(answer.has_value()) << answer.error().message;
  ASSERT_TRUE(answer->best.has_value());
  const Result<void> valid = ValidatePlan(problem, *answer->best);
  EXPECT_TRUE(valid.has_value()) << valid.error().message;
  EXPECT_EQ(verify::VerifyMemories(problem, *answer->best), std::vector<std::string>());
  EXPECT_EQ(answer->best->cost.unplaced, best.unplaced);
  EXPECT_EQ(answer->best->cost.cost, best.cost);
  EXPECT_EQ(answer->cost_bound.unplaced, best.unplaced);
  EXPECT_EQ(answer->cost_bound.cost, best.cost);
  EXPECT_EQ(answer->outcome, best.unplaced == 0 ? Outcome::kOptimal : Outcome::kInfeasible);
}

TEST(MemoriesOracle, EveryFeature) {
  for (std::uint64_t seed = 1; seed <= Seeds(2500); ++seed) {
    Check(seed, {});
    if (HasFatalFailure() || HasNonfatalFailure()) return;
  }
}

TEST(MemoriesOracle, EverySwitch) {
  for (std::uint64_t seed = 2501; seed <= 2500 + Seeds(2500); ++seed) {
    MemoriesOptions options;
    options.covers = seed % 2 == 0;
    options.dominance = seed / 2 % 2 == 0;
    options.conflicts = seed / 4 % 2 == 0;
    options.width = seed / 8 % 2 == 0 ? 1 << 16 : 1;
    Check(seed, options);
    if (HasFatalFailure() || HasNonfatalFailure()) return;
  }
}

}  // namespace
}  // namespace berth::internal
