#include "tools/train/oracle.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/random.h"
#include "berth/baselines.h"
#include "testing/oracle.h"
#include "testing/random_problem.h"

namespace berth::internal {
namespace {

// Places some buffers of `problem` at random, in a path.
std::vector<PathStep> RandomPath(const Problem& problem, Random& random) {
  std::vector<PathStep> path;
  for (std::size_t b = 0; b < problem.buffers.size(); ++b) {
    const Buffer& buffer = problem.buffers[b];
    if (!random.Chance(0.4) || buffer.offset) continue;
    const Bytes room = *problem.capacity - buffer.size;
    if (room < 0) continue;
    path.push_back({static_cast<std::int32_t>(b),
                    random.Uniform(0, room / buffer.alignment) * buffer.alignment});
  }
  return path;
}

Problem Pinned(const Problem& problem, std::span<const PathStep> path) {
  Problem pinned = problem;
  for (const PathStep& step : path) {
    pinned.buffers[static_cast<std::size_t>(step.block)].offset = step.offset;
  }
  return pinned;
}

TEST(TrainingOracle, AgreesWithTryingEverythingAndWithTheIlp) {
  int yes = 0;
  int no = 0;
  ProblemKnobs knobs;
  knobs.with_capacity = true;
  knobs.alignment_chance = 0.2;
  for (std::uint64_t seed = 1; seed <= 120; ++seed) {
    SCOPED_TRACE(seed);
    const Problem problem = RandomProblem(seed, knobs);
    const Instance instance = Compile(problem);
    Oracle oracle(instance, *problem.capacity, 20'000);
    Random random(seed);
    for (int k = 0; k < 3; ++k) {
      const auto path = RandomPath(problem, random);
      const Problem pinned = Pinned(problem, path);
      const bool truth = OracleFits(pinned, *problem.capacity).has_value();
      const Solvable said = oracle.Ask(path);
      EXPECT_EQ(said, truth ? Solvable::kYes : Solvable::kNo);
      EXPECT_EQ(oracle.Ask(path), said);  // From the cache.
      ++(truth ? yes : no);
#ifdef BERTH_WITH_SOLVERS
      if (k > 0 || seed > 40) continue;
      BaselineOptions ilp;
      ilp.baseline = Baseline::kIlp;
      Budget budget;
      const auto answer = PlaceWithBaseline(pinned, ilp, budget);
      ASSERT_TRUE(answer.has_value()) << answer.error().message;
      EXPECT_EQ(answer->outcome == Outcome::kInfeasible, !truth);
#endif
    }
    EXPECT_GE(oracle.stats().known, 3);
  }
  EXPECT_GT(yes, 50);
  EXPECT_GT(no, 50);
}

// Three buffers of 4 bytes in 12 bytes: with b at 5, one byte above a, c no longer fits.
TEST(TrainingOracle, FindsTheDeepestSolvablePoint) {
  Problem problem;
  problem.capacity = 12;
  problem.buffers = {{"a", 0, 2, 4}, {"b", 0, 2, 4}, {"c", 0, 1, 4}, {"d", 1, 2, 3}};
  const Instance instance = Compile(problem);
  Oracle oracle(instance, 12, 10'000);
  const std::vector<PathStep> path = {{0, 0}, {1, 5}, {2, 9}};
  std::vector<BacktrackPoint> points(3);
  for (std::int32_t k = 0; k < 3; ++k) points[static_cast<std::size_t>(k)].level = k;
  MajorBacktrack stuck{points, 0, path, 3, 10, 12, 2};
  // b at 5 leaves 1 + 3 bytes, and c needs 4 in a row.
  auto target = oracle.DeepestSolvable(stuck);
  EXPECT_EQ(target.verdict, Solvable::kYes);
  EXPECT_EQ(target.point, 1u);
  EXPECT_EQ(target.unsolvable, 2u);
  // Too few nodes for some questions: answers are still correct, and the other questions stay open.
  int unsure = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(seed);
    ProblemKnobs knobs;
    knobs.with_capacity = true;
    const Problem random_problem = RandomProblem(seed, knobs);
    const Instance random_instance = Compile(random_problem);
    Random random(seed);
    const auto random_path = RandomPath(random_problem, random);
    if (random_path.size() < 3) continue;
    std::vector<BacktrackPoint> levels(random_path.size());
    for (std::size_t k = 0; k < levels.size(); ++k) levels[k].level = static_cast<std::int32_t>(k);
    const MajorBacktrack here{
        levels, 0, random_path, static_cast<std::int32_t>(random_path.size()), 10, 1, 1};
    Oracle slow(random_instance, *random_problem.capacity, 20'000);
    Oracle quick(random_instance, *random_problem.capacity, 1);
    const auto truth = slow.DeepestSolvable(here);
    const auto said = quick.DeepestSolvable(here);
    if (said.verdict == Solvable::kYes) {
      ASSERT_EQ(truth.verdict, Solvable::kYes);
      EXPECT_LE(said.point, truth.point);
    }
    if (truth.verdict == Solvable::kYes) {
      EXPECT_EQ(truth.unsolvable, truth.point + 1);
      EXPECT_GT(said.unsolvable, truth.point);
    }
    unsure += said.verdict != truth.verdict || said.point != truth.point ? 1 : 0;
  }
  EXPECT_GT(unsure, 0);
  // If it is solvable, all can still be placed.
  const std::vector<PathStep> good = {{0, 0}, {1, 4}, {2, 8}};
  stuck.path = good;
  target = oracle.DeepestSolvable(stuck);
  EXPECT_EQ(target.verdict, Solvable::kYes);
  EXPECT_EQ(target.point, points.size());
  EXPECT_EQ(target.unsolvable, points.size() + 1);
  // No candidate lies above the failed placement.
  const std::vector<PathStep> bad = {{0, 1}, {1, 5}, {2, 9}};
  stuck.path = bad;
  stuck.points = std::span(points).subspan(1);
  EXPECT_EQ(oracle.DeepestSolvable(stuck).verdict, Solvable::kNo);
  // Nothing is decided without nodes.
  Oracle hasty(instance, 12, 0);
  EXPECT_EQ(hasty.DeepestSolvable(stuck).verdict, Solvable::kUndecided);
  EXPECT_EQ(hasty.stats().undecided, 2);  // Binary search.
}

}  // namespace
}  // namespace berth::internal
