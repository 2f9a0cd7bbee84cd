// The disjunctive search against the oracle; it must be complete for gaps of any shape.

#include "place/disjunctive/disjunctive.h"

#include <gtest/gtest.h>

#include <limits>
#include <optional>
#include <string>

#include "testing/differential.h"
#include "testing/oracle.h"

namespace berth::internal {
namespace {

constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();
using Verdict = SearchAnswer::Verdict;

std::optional<std::string> CompareWithOracle(const Problem& problem) {
  const auto least = OracleHeight(problem);
  if (!least || problem.buffers.empty()) return std::nullopt;
  const Instance instance = Compile(problem);
  const Overlaps overlaps = FindOverlaps(instance);
  const auto search = disjunctive::MakeSearch(instance, overlaps);
  Budget budget;
  if (search->Decide({*least - 1, kNoLimit}, budget).verdict != Verdict::kImpossible) {
    return "does not prove that nothing lies below the least height";
  }
  const auto at = search->Decide({*least, kNoLimit}, budget);
  if (at.verdict != Verdict::kFound) return "misses the least height";
  Problem limited = problem;
  limited.capacity = *least;
  const auto valid = ValidatePlacement(limited, {at.offsets, Height(problem, at.offsets)});
  return valid ? std::nullopt : std::optional(valid.error().message);
}

TEST(Disjunctive, MatchesTheOracle) {
  EXPECT_TRUE(ForRandomProblems(1, 3000, {}, CompareWithOracle));
}

TEST(Disjunctive, MatchesTheOracleWithEverything) {
  EXPECT_TRUE(ForRandomProblems(500'000, 4000, AllKnobs(), CompareWithOracle));
}

TEST(Disjunctive, MatchesTheOracleWithManyWindows) {
  ProblemKnobs knobs = AllKnobs();
  knobs.gap_chance = 0.9;
  knobs.window_chance = 1;
  knobs.max_gaps = 3;
  knobs.max_buffers = 5;
  EXPECT_TRUE(ForRandomProblems(900'000, 3000, knobs, CompareWithOracle));
}

TEST(Disjunctive, PutsABufferBetweenTheWindowsOfAnother) {
  Problem problem;
  problem.buffers = {{"x", 0, 4, 6, 1, {}, {}, {{0, 2, Window{0, 2}}, {2, 4, Window{4, 6}}}},
                     {"y", 0, 4, 2, 1, {}, {}, {}}};
  const Instance instance = Compile(problem);
  const Overlaps overlaps = FindOverlaps(instance);
  const auto search = disjunctive::MakeSearch(instance, overlaps);
  Budget budget;
  const auto answer = search->Decide({6, kNoLimit}, budget);
  ASSERT_EQ(answer.verdict, Verdict::kFound);
  EXPECT_EQ(answer.offsets, (std::vector<Bytes>{0, 2}));
  EXPECT_EQ(search->Decide({5, kNoLimit}, budget).verdict, Verdict::kImpossible);
}

// With and without alignment, offsets do not climb to a far capacity in small steps.
TEST(Disjunctive, SeesImpossibleCyclesBelowHugeCapacities) {
  const Bytes huge = Bytes{1} << 40;
  EXPECT_TRUE(ForRandomProblems(400'000, 500, AllKnobs(), [&](Problem problem) {
    for (Buffer& buffer : problem.buffers) {
      buffer.alignment *= 2;
      buffer.size += 2 * huge;
      if (buffer.offset) *buffer.offset *= 2;
      for (Gap& gap : buffer.gaps) {
        if (gap.window) gap.window->upper += huge;
      }
    }
    const Instance instance = Compile(problem);
    const Overlaps overlaps = FindOverlaps(instance);
    const auto search = disjunctive::MakeSearch(instance, overlaps);
    Budget budget;
    const auto answer = search->Decide({MaxLiveLoad(problem).lower_bound + huge, 20'000}, budget);
    return answer.verdict == Verdict::kGaveUp ? std::optional<std::string>("gave up")
                                              : std::nullopt;
  }));
}

TEST(Disjunctive, EndsAtItsNodeLimit) {
  Problem problem;
  for (int b = 0; b < 30; ++b) {
    problem.buffers.push_back({std::to_string(b), b % 7, b % 7 + 5, 3 + b % 11, 1, {}, {}, {}});
  }
  const Instance instance = Compile(problem);
  const Overlaps overlaps = FindOverlaps(instance);
  const auto search = disjunctive::MakeSearch(instance, overlaps);
  Budget budget;
  const auto answer = search->Decide({MaxLiveLoad(problem).load, 5}, budget);
  EXPECT_LE(answer.nodes, 5);
}

}  // namespace
}  // namespace berth::internal
