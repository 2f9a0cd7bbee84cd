// The guarantees of Place() against the oracle, for every algorithm.

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>

#include "berth/place.h"
#include "model/instance.h"
#include "testing/differential.h"
#include "testing/oracle.h"
#include "tests/place/judge.h"
#include "tools/generate/generate.h"

namespace berth::internal {
namespace {

class EveryAlgorithm : public testing::TestWithParam<Algorithm> {};

TEST_P(EveryAlgorithm, KeepsItsPromises) {
  const bool exact = Info(GetParam()).exact;
  ProblemKnobs knobs = AllKnobs();
  knobs.max_buffers = 6;
  knobs.with_capacity = true;
  knobs.pins_may_collide = true;
  for (const bool minimize : {false, true}) {
    for (const bool with_capacity : {false, true}) {
      knobs.with_capacity = with_capacity;
      const std::uint64_t seed = 7'000'000 + (minimize ? 1000 : 0) + (with_capacity ? 500 : 0);
      ASSERT_TRUE(ForRandomProblems(seed, 500, knobs, [&](const Problem& problem) {
        PlaceOptions options;
        options.algorithm = GetParam();
        options.minimize = minimize;
        Budget budget;
        const auto answer = Place(problem, options, budget);
        if (!answer) {
          return answer.error().code == ErrorCode::kUnsupported
                     ? std::nullopt
                     : std::optional(answer.error().message);
        }
        // Some of the exact searches prove nothing where windows let buffers interlock.
        const Instance instance = Compile(problem);
        const bool complete =
            exact && (GetParam() != Algorithm::kNiche || !instance.has_windows) &&
            (GetParam() != Algorithm::kCanonical || FindOverlaps(instance).stackable);
        return JudgeAnswer(problem, *answer, OracleHeight(problem), minimize || !problem.capacity,
                           complete);
      }));
    }
  }
}

std::vector<Algorithm> AllAlgorithms() {
  std::vector<Algorithm> algorithms;
  for (const AlgorithmInfo& info : Algorithms()) algorithms.push_back(info.algorithm);
  return algorithms;
}

INSTANTIATE_TEST_SUITE_P(All, EveryAlgorithm, testing::ValuesIn(AllAlgorithms()),
                         [](const auto& param) {
                           std::string name(Info(param.param).name);
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

// Canonical and disjunctive search alternate on these.
TEST(Place, DecidesWhereWindowsInterlock) {
  ProblemKnobs knobs = AllKnobs();
  knobs.gap_chance = 0.8;
  knobs.window_chance = 1;
  knobs.with_capacity = true;
  knobs.capacity_above = 1;
  knobs.max_buffers = 5;
  EXPECT_TRUE(ForRandomProblems(8'000'000, 3000, knobs, [](const Problem& problem) {
    Budget budget;
    const auto answer = Place(problem, {}, budget);
    if (!answer) return std::optional(answer.error().message);
    return JudgeAnswer(problem, *answer, OracleHeight(problem), false, true);
  }));
}

// Larger problems, beyond the oracle: the algorithms must not contradict each other.
TEST(Place, ExactSearchesAgreeOnMediumProblems) {
  ProblemKnobs knobs = AllKnobs();
  knobs.min_buffers = 8;
  knobs.max_buffers = 12;
  knobs.horizon = 14;
  EXPECT_TRUE(ForRandomProblems(3'000'000, 300, knobs, [](const Problem& problem) {
    std::optional<std::string> wrong;
    std::optional<Bytes> least;
    for (const Algorithm algorithm : {Algorithm::kAuto, Algorithm::kDisjunctive}) {
      PlaceOptions options;
      options.algorithm = algorithm;
      Budget budget;
      budget.SetNodeLimit(50'000);
      const auto answer = Place(problem, options, budget);
      if (!answer) return std::optional(answer.error().message);
      if (answer->outcome != Outcome::kOptimal) continue;
      if (least && *least != answer->best->height()) wrong = "two least heights";
      least = answer->best->height();
    }
    return wrong;
  }));
}

TEST(Place, NoBuffersNeedNoBytes) {
  Budget budget;
  const auto answer = Place({}, {}, budget);
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->outcome, Outcome::kOptimal);
  ASSERT_TRUE(answer->best.has_value());
  EXPECT_EQ(answer->best->height(), 0);
}

TEST(Place, NamesTheFirstBufferThatIsWrong) {
  Problem problem;
  problem.buffers = {{"good", 0, 1, 1, 1, {}, {}, {}}, {"bad", 3, 3, 1, 1, {}, {}, {}}};
  Budget budget;
  const auto answer = Place(problem, {}, budget);
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().code, ErrorCode::kInvalidProblem);
  EXPECT_EQ(answer.error().message, "buffer \"bad\": start 3 must be less than end 3");
}

TEST(Place, KeepsAnEarlierPlanThatStillWorks) {
  // No algorithm would leave these holes by itself.
  Problem problem;
  problem.capacity = 100;
  problem.buffers = {{"a", 0, 4, 10, 1, {}, 40, {}},
                     {"b", 2, 6, 10, 1, {}, 70, {}},
                     {"c", 5, 9, 10, 1, {}, 5, {}}};
  Budget budget;
  const auto answer = Place(problem, {}, budget);
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->placing.algorithm, "hints");
  EXPECT_EQ(PlacementOf(*answer->best).offsets, (std::vector<Bytes>{40, 70, 5}));
}

TEST(Place, TheSameAnswerOnAnyNumberOfThreads) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    GenerateParameters parameters;
    parameters.seed = seed;
    parameters.buffers = 200;
    const auto generated = Generate(Family::kNetwork, parameters);
    ASSERT_TRUE(generated.has_value()) << generated.error().message;
    Problem problem = generated->problem;
    problem.capacity.reset();
    std::optional<PlanAnswer> first;
    for (const int threads : {1, 2, 5}) {
      PlaceOptions options;
      options.threads = threads;
      Budget budget;
      budget.SetNodeLimit(3000);
      const auto answer = Place(problem, options, budget);
      ASSERT_TRUE(answer.has_value());
      if (!first) first = *answer;
      EXPECT_EQ(answer->best, first->best);
      EXPECT_EQ(answer->nodes, first->nodes);
      EXPECT_EQ(answer->placing.algorithm, first->placing.algorithm);
    }
  }
}

TEST(Place, SaysWhyItStopped) {
  Problem easy;
  easy.buffers = {{"a", 0, 1, 1, 1, {}, {}, {}}};
  Problem hard;  // Within a few nodes the bound is neither reached nor refuted.
  GenerateParameters parameters;
  parameters.buffers = 300;
  hard = Generate(Family::kFull, parameters)->problem;
  hard.capacity.reset();
  const auto stopped = [](const Problem& problem, Algorithm algorithm, std::int64_t nodes) {
    PlaceOptions options;
    options.algorithm = algorithm;
    Budget budget;
    if (nodes >= 0) budget.SetNodeLimit(nodes);
    return Place(problem, options, budget)->stopped;
  };
  EXPECT_EQ(stopped(easy, Algorithm::kAuto, -1), StopReason::kAnswered);
  EXPECT_EQ(stopped(hard, Algorithm::kAuto, 100), StopReason::kBudget);
  EXPECT_EQ(stopped(hard, Algorithm::kAuto, -1), StopReason::kEffort);
  EXPECT_EQ(stopped(hard, Algorithm::kFirstFitSize, -1), StopReason::kAlgorithm);
  Problem large;  // 5,000 buffers, all live together: 12.5 million pairs.
  for (int b = 0; b < 5000; ++b) {
    large.buffers.push_back({std::to_string(b), b, b + 5000, 1 + b % 7 * 10, 1, {}, {}, {}});
  }
  large.buffers.front().alignment = 64;
  large.buffers.back().alignment = 64;
  const StopReason reason = stopped(large, Algorithm::kAuto, -1);
  EXPECT_TRUE(reason == StopReason::kSize || reason == StopReason::kAnswered);
}

// A capacity search that tells "timed out" from "proved impossible".
TEST(Minimize, AnEndedBudgetProvesNothing) {
  GenerateParameters parameters;
  parameters.buffers = 80;
  const auto generated = Generate(Family::kPlanted, parameters);
  ASSERT_TRUE(generated.has_value());
  Problem problem = generated->problem;
  const Bytes least = generated->plan->height;
  problem.capacity.reset();
  for (const std::int64_t nodes : {0, 1, 10, 100, 1000}) {
    Budget budget;
    budget.SetNodeLimit(nodes);
    const auto answer = Place(problem, {}, budget);
    ASSERT_TRUE(answer.has_value());
    EXPECT_LE(answer->height_bound, least);
    ASSERT_TRUE(answer->best.has_value());
    EXPECT_GE(answer->best->height(), least);
    EXPECT_NE(answer->stopped, StopReason::kEffort);
    EXPECT_LE(answer->nodes, nodes);
  }
}

TEST(Minimize, ProgressOnlyEverImproves) {
  GenerateParameters parameters;
  parameters.buffers = 40;
  const auto generated = Generate(Family::kPlanted, parameters);
  ASSERT_TRUE(generated.has_value());
  Problem problem = generated->problem;
  problem.capacity.reset();
  std::optional<Bytes> height;
  Bytes bound = 0;
  int calls = 0;
  PlaceOptions options;
  options.progress = [&](const Progress& progress) {
    ++calls;
    if (height) {
      EXPECT_LE(*progress.best, *height);
    }
    EXPECT_GE(progress.bound, bound);
    height = progress.best;
    bound = progress.bound;
  };
  Budget budget;
  budget.SetNodeLimit(200'000);
  const auto answer = Place(problem, options, budget);
  ASSERT_TRUE(answer.has_value());
  EXPECT_GE(calls, 2);
  EXPECT_EQ(height, answer->best->height());
  EXPECT_EQ(bound, answer->height_bound);
}

}  // namespace
}  // namespace berth::internal
