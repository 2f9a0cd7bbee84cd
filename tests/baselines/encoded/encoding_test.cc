// The encoding against the definition of what is live when, and its arithmetic against the obvious.
#include "baselines/encoded/encoding.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>

#include "base/random.h"
#include "testing/differential.h"
#include "testing/live.h"
#include "tests/baselines/encoded/ask.h"

namespace berth::internal {
namespace {

TEST(Encoding, SeparatesOverlappingBuffers) {
  ProblemKnobs knobs = AllKnobs();
  knobs.size_unit = 3;
  EXPECT_TRUE(ForRandomProblems(1, 1000, knobs, [](const Problem& problem) {
    const Encoding encoding = EncodeAll(problem);
    const std::vector<Step> breakpoints = Breakpoints(problem);
    std::size_t pair = 0;
    for (std::size_t i = 0; i < problem.buffers.size(); ++i) {
      for (std::size_t j = i + 1; j < problem.buffers.size(); ++j) {
        const bool has_pair = pair < encoding.pairs.size() &&
                              encoding.pairs[pair].i == static_cast<std::int32_t>(i) &&
                              encoding.pairs[pair].j == static_cast<std::int32_t>(j);
        for (Grains difference = -30; difference <= 30; ++difference) {
          const bool shares = Share(problem.buffers[i], 1000 * encoding.grain, problem.buffers[j],
                                    (1000 + difference) * encoding.grain, breakpoints);
          const auto& forbidden =
              has_pair ? encoding.pairs[pair].forbidden : std::vector<Encoding::Interval>();
          const bool apart =
              std::none_of(forbidden.begin(), forbidden.end(), [&](const auto& interval) {
                return difference > interval.lower && difference < interval.upper;
              });
          if (shares == apart) return std::optional("wrong at " + std::to_string(difference));
        }
        if (has_pair) ++pair;
      }
    }
    return pair == encoding.pairs.size() ? std::optional<std::string>()
                                         : std::optional<std::string>("pairs out of order");
  }));
}

TEST(Encoding, DividesByTheCommonDivisor) {
  Problem problem;
  problem.buffers = {{"a", 0, 2, 4096, 512}, {"b", 1, 3, 1536}, {"c", 1, 3, 1536, 1, 1024}};
  Encoding encoding = EncodeAll(problem);
  EXPECT_EQ(encoding.grain, 512);
  EXPECT_EQ(encoding.items[0].alignment, 1);
  EXPECT_EQ(encoding.Within(5119), 9);
  EXPECT_EQ(encoding.items[2].pin, 2);
  problem.buffers[0].alignment = 768;
  EXPECT_EQ(EncodeAll(problem).grain, 256);
  problem.buffers[1].gaps = {{1, 2, Window{4, 512}}};
  EXPECT_EQ(EncodeAll(problem).grain, 4);
}

TEST(Encoding, GivesUpOnTooManyPairs) {
  Problem problem;
  for (int b = 0; b < 10; ++b) problem.buffers.push_back({std::to_string(b), 0, 1, 1});
  const Budget unlimited;
  EXPECT_FALSE(Encode(problem, 44, unlimited).has_value());
  EXPECT_EQ(Encode(problem, 45, unlimited)->pairs.size(), 45u);
}

TEST(Encoding, FindsTwins) {
  Problem problem;
  problem.buffers = {{"a", 0, 2, 4},    {"b", 0, 2, 4}, {"c", 0, 2, 4, 1, 8},
                     {"d", 0, 2, 4, 2}, {"e", 0, 2, 4}, {"f", 0, 3, 4}};
  const Encoding encoding = EncodeAll(problem);
  std::vector<std::int32_t> twins;
  for (const Encoding::Item& item : encoding.items) twins.push_back(item.twin);
  EXPECT_EQ(twins, (std::vector<std::int32_t>{-1, 0, -1, -1, 1, -1}));
}

// All offsets on a small grid, one after the other.
std::optional<std::vector<Grains>> LeastByTrying(const Encoding& encoding, Grains capacity,
                                                 const std::vector<Difference>& constraints) {
  const std::size_t n = encoding.items.size();
  std::vector<Grains> offsets(n, 0);
  std::optional<std::vector<Grains>> least;
  while (true) {
    bool holds = true;
    for (std::size_t x = 0; x < n; ++x) {
      holds = holds && offsets[x] % encoding.items[x].alignment == 0 &&
              offsets[x] <= encoding.HighestOffset(x, capacity) &&
              offsets[x] == encoding.items[x].pin.value_or(offsets[x]);
    }
    for (const Difference& c : constraints) {
      holds = holds && offsets[static_cast<std::size_t>(c.to)] >=
                           offsets[static_cast<std::size_t>(c.from)] + c.least;
    }
    if (holds && !least) least = offsets;
    for (std::size_t x = 0; holds && x < n; ++x) (*least)[x] = std::min((*least)[x], offsets[x]);
    std::size_t x = 0;
    while (x < n && ++offsets[x] > capacity) offsets[x++] = 0;
    if (x == n) return least;
  }
}

TEST(LeastOffsets, MatchBruteForceAndConflictsAreReal) {
  Random random(7);
  int impossible = 0;
  for (int round = 0; round < 3000; ++round) {
    SCOPED_TRACE(round);
    Encoding encoding;
    const bool aligned = random.Chance(0.5);
    for (int x = 0; x < 3; ++x) {
      const Grains alignment = aligned ? random.Uniform(1, 3) : 1;
      encoding.items.push_back({random.Uniform(1, 3), alignment, std::nullopt, 1, -1});
      if (random.Chance(0.1)) encoding.items.back().pin = alignment * random.Uniform(0, 2);
    }
    std::vector<Difference> constraints;
    for (int c = 0; c < 5; ++c) {
      const auto from = static_cast<std::int32_t>(random.Uniform(0, 2));
      const auto to = static_cast<std::int32_t>((from + random.Uniform(1, 2)) % 3);
      constraints.push_back({from, to, random.Uniform(-4, 4)});
    }
    const Grains capacity = random.Uniform(3, 10);
    std::vector<std::size_t> conflict;
    const auto offsets = LeastOffsets(encoding, capacity, constraints, &conflict);
    EXPECT_EQ(offsets, LeastByTrying(encoding, capacity, constraints));
    if (offsets) continue;
    ++impossible;
    std::vector<Difference> core;
    for (const std::size_t c : conflict) core.push_back(constraints[c]);
    EXPECT_FALSE(LeastByTrying(encoding, capacity, core).has_value());
  }
  EXPECT_GT(impossible, 300);
}

// Two small buffers that push each other do not climb to a far capacity in small steps.
TEST(LeastOffsets, SeeACycleAtOnce) {
  Encoding encoding;
  for (int x = 0; x < 2; ++x) encoding.items.push_back({1, 1, std::nullopt, 1, -1});
  std::vector<std::size_t> conflict;
  EXPECT_FALSE(
      LeastOffsets(encoding, Grains{1} << 50, {{0, 1, 1}, {1, 0, 1}}, &conflict).has_value());
  EXPECT_EQ(conflict, (std::vector<std::size_t>{0, 1}));
}

}  // namespace
}  // namespace berth::internal
