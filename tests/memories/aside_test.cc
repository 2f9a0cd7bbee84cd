// Small units that are set aside.
#include <gtest/gtest.h>

#include "base/random.h"
#include "berth/memories.h"
#include "memories/assign.h"
#include "memories/choose.h"
#include "testing/memories_oracle.h"
#include "testing/seeds.h"
#include "tools/verify/memories.h"

namespace berth::internal::memories {
namespace {

constexpr Bytes kHighest = 28;

// Whatever is set aside, and however much it matters where it is.
TEST(SetAside, BoundsHold) {
  std::size_t aside = 0;
  for (std::uint64_t seed = 1; seed <= Seeds(800); ++seed) {
    SCOPED_TRACE(seed);
    const MemoryProblem problem = RandomMemoryProblem(seed);
    const auto model = Compile(problem);
    ASSERT_TRUE(model.has_value());
    const PlanCost best = OracleMemories(problem, kHighest);
    for (const std::int64_t most : {0, 3, 30, 1000}) {
      Assigner assigner(problem, *model);
      aside += assigner.SetAside(Wide(most));
      EXPECT_LE(assigner.spread_of_aside(), Wide(most));
      Budget budget;
      const Selection& large = assigner.Build(seed % 2 == 0);
      const Chosen chosen = Choose(large, -1, {}, budget);
      const PlanCost bound = assigner.CostOfScore(assigner.ScoreOfBound(chosen.bound));
      EXPECT_LE(std::pair(bound.unplaced, bound.cost), std::pair(best.unplaced, best.cost));
      // With them in it, what is chosen fits by sum, and costs no less.
      const Assignment with = assigner.WithAside(assigner.FromChoice(*chosen.choice));
      EXPECT_GE(assigner.Score(with), assigner.ScoreOfBound(chosen.bound));
      assigner.TakeBack();
      EXPECT_EQ(assigner.spread_of_aside(), Wide(0));
    }
  }
  EXPECT_GT(aside, Seeds(800));
}

// Buffers that are too many for the fast memories, and many small ones that are live throughout and
// nearly as good anywhere.
MemoryProblem ManySmall() {
  MemoryProblem problem;
  problem.memories = {{.name = "a", .capacity = 4096, .read = {1, 16}},
                      {.name = "b", .capacity = 8192, .read = {1, 4}},
                      {.name = "c", .capacity = 1 << 20, .read = {1, 1}}};
  Random random(1);
  for (int i = 0; i < 300; ++i) {
    const Step start = random.Uniform(0, 240);
    const Bytes size = 16 * random.Uniform(8, 80);
    problem.table.buffers.push_back(
        {"large" + std::to_string(i), start, start + random.Uniform(2, 6), size});
    problem.placing.emplace_back().bytes_read = size * random.Uniform(2000, 6000);
  }
  for (int i = 0; i < 120; ++i) {
    problem.table.buffers.push_back({"small" + std::to_string(i), 0, 246, 4});
    problem.placing.emplace_back().bytes_read = 4;
  }
  return problem;
}

// With them, ten times the nodes do not prove it.
TEST(SetAside, ManySmallBuffersDoNotHideTheProof) {
  const MemoryProblem problem = ManySmall();
  Budget budget;
  budget.SetNodeLimit(400'000);
  const auto answer = PlaceInMemories(problem, {}, budget);
  ASSERT_TRUE(answer.has_value()) << answer.error().message;
  EXPECT_EQ(answer->outcome, Outcome::kOptimal);
  EXPECT_EQ(answer->best->cost.cost, answer->cost_bound.cost);
  EXPECT_EQ(verify::VerifyMemories(problem, *answer->best), std::vector<std::string>());
}

}  // namespace
}  // namespace berth::internal::memories
