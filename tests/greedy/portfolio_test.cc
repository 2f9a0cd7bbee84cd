#include <gtest/gtest.h>

#include <map>

#include "place/greedy/greedy.h"
#include "testing/differential.h"
#include "tests/greedy/problems.h"

namespace berth::internal::greedy {
namespace {

GreedyAnswer Portfolio(const Problem& problem, int threads = 1, Bytes stop_at = 0) {
  const Budget budget;
  return PlaceGreedyPortfolio(problem, Compile(problem), stop_at, threads, budget).value();
}

std::optional<std::string> Fault(const Problem& problem, const GreedyAnswer& answer) {
  const auto valid = ValidatePlacement(problem, {answer.offsets, answer.height});
  return valid ? std::nullopt : std::optional(valid.error().message);
}

TEST(Portfolio, GivesValidPlansWhateverTheThreads) {
  ProblemKnobs knobs = AllKnobs();
  knobs.max_buffers = 14;
  knobs.horizon = 12;
  knobs.with_capacity = false;
  ForRandomProblems(1, 200, knobs, [](const Problem& problem) -> std::optional<std::string> {
    const GreedyAnswer answer = Portfolio(problem);
    if (auto fault = Fault(problem, answer)) return fault;
    for (const Bytes stop_at : {Bytes{0}, MaxLiveLoad(problem).lower_bound, answer.height + 2}) {
      const GreedyAnswer one = Portfolio(problem, 1, stop_at);
      const GreedyAnswer four = Portfolio(problem, 4, stop_at);
      if (one.offsets != four.offsets || one.algorithm != four.algorithm) {
        return "one and four threads differ at stop_at " + std::to_string(stop_at);
      }
      if (one.height > std::max(answer.height, stop_at)) return "stopped too early";
    }
    return std::nullopt;
  });
}

TEST(Portfolio, IsAsLowAsItsMembersAndSaysWhich) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    SCOPED_TRACE(seed);
    const Problem problem = GeneratedProblem(seed, 80);
    const GreedyAnswer answer = Portfolio(problem);
    for (const Algorithm member :
         {Algorithm::kContention, Algorithm::kBestFitLowest, Algorithm::kFirstFitStart,
          Algorithm::kFirstFitSize, Algorithm::kBestFitStart}) {
      EXPECT_LE(answer.height, Height(problem, PlaceGreedy(Compile(problem), member)));
    }
    if (answer.algorithm != Algorithm::kGreedy) {
      EXPECT_EQ(answer.offsets, PlaceGreedy(Compile(problem), answer.algorithm));
    }
  }
}

TEST(Portfolio, HasAPlanEvenWithoutTime) {
  Problem problem = GeneratedProblem(1, 200);
  Budget cancelled;
  cancelled.Cancel();
  Budget late;
  late.SetTimeLimit(0);
  for (const bool pinned : {false, true}) {
    if (pinned) problem.buffers[0].offset = 64;
    for (const Budget* budget : {&cancelled, &late}) {
      for (const int threads : {1, 4}) {
        const GreedyAnswer answer =
            PlaceGreedyPortfolio(problem, Compile(problem), 0, threads, *budget).value();
        EXPECT_EQ(Fault(problem, answer), std::nullopt);
      }
    }
  }
}

// An earlier plan, given as hints, is returned, or a lower one.
TEST(Portfolio, KeepsHintsThatCostNothing) {
  int kept = 0;
  int hints = 0;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    SCOPED_TRACE(seed);
    Problem problem = GeneratedProblem(seed, 60);
    const GreedyAnswer before = Portfolio(problem);
    for (std::size_t b = 0; b < problem.buffers.size(); b += 2) {
      problem.buffers[b].hint = before.offsets[b];
    }
    const GreedyAnswer after = Portfolio(problem);
    EXPECT_EQ(Fault(problem, after), std::nullopt);
    EXPECT_LE(after.height, before.height);
    for (std::size_t b = 0; b < problem.buffers.size(); b += 2) {
      ++hints;
      kept += after.offsets[b] == before.offsets[b];
    }
  }
  EXPECT_GT(kept, hints * 9 / 10) << kept << " of " << hints;
  Problem alone = MakeProblem({{0, 1, 4}, {0, 2, 8}});
  alone.buffers[0].hint = 8;
  EXPECT_EQ(Portfolio(alone).offsets, (std::vector<Bytes>{8, 0}));
}

TEST(Portfolio, TakesTheEmptyProblemAndBuffersThatNeverLive) {
  EXPECT_TRUE(Portfolio({}).offsets.empty());
  EXPECT_EQ(Portfolio({}).height, 0);
  Problem problem = MakeProblem({{0, 4, 8}, {0, 4, 2}});
  problem.buffers[0].gaps = {{0, 4, std::nullopt}};
  EXPECT_EQ(Portfolio(problem).height, 8);
}

// If many buffers overlap and plateaus do not apply, the in-order members do the work.
TEST(Portfolio, TakesManyBuffersThatMeet) {
  Problem problem = GeneratedProblem(1, 3000);
  for (Buffer& buffer : problem.buffers) buffer.end += 3000;
  problem.buffers[0].offset = 1000;
  const GreedyAnswer answer = Portfolio(problem);
  EXPECT_EQ(Fault(problem, answer), std::nullopt);
}

// Heights are pinned: a different height means that an algorithm has changed.
TEST(Golden, Heights) {
  const std::vector<std::pair<std::uint64_t, int>> tables = {{11, 30}, {12, 100}, {13, 300}};
  const std::map<std::string, std::vector<Bytes>> golden = {
      {"contention", {1150, 3582, 6456}},
      {"first-fit-size", {1150, 3630, 6456}},
      {"first-fit-area", {1150, 3696, 7491}},
      {"first-fit-lifetime", {1150, 3829, 7560}},
      {"first-fit-start", {1173, 3677, 8212}},
      {"first-fit-lowest", {1150, 3584, 6456}},
      {"best-fit-size", {1150, 3630, 6456}},
      {"best-fit-area", {1150, 3696, 7464}},
      {"best-fit-lifetime", {1150, 3829, 7560}},
      {"best-fit-start", {1173, 3677, 7372}},
      {"best-fit-lowest", {1150, 3582, 6456}},
      {"xla-best-fit", {1150, 3630, 6456}},
      {"greedy", {1150, 3582, 6456}},
  };
  for (const Algorithm algorithm : Planners()) {
    std::vector<Bytes> heights;
    for (const auto& [seed, count] : tables) {
      const Problem problem = GeneratedProblem(seed, count);
      heights.push_back(Height(problem, PlaceGreedy(Compile(problem), algorithm)));
    }
    const std::string name(Info(algorithm).name);
    const auto found = golden.find(name);
    ASSERT_NE(found, golden.end()) << name;
    EXPECT_EQ(heights, found->second) << name;
  }
  std::vector<Bytes> heights;
  for (const auto& [seed, count] : tables) {
    heights.push_back(Portfolio(GeneratedProblem(seed, count)).height);
  }
  EXPECT_EQ(heights, golden.at("greedy"));
}

}  // namespace
}  // namespace berth::internal::greedy
