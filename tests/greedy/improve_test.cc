#include "place/greedy/improve.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "place/greedy/greedy.h"
#include "testing/differential.h"
#include "tests/greedy/problems.h"

namespace berth::internal::greedy {
namespace {

constexpr std::int64_t kWork = 200'000;
constexpr std::uint64_t kSeed = 7;

std::vector<Bytes> FirstPlan(const Problem& problem, Algorithm algorithm) {
  return PlaceGreedy(Compile(problem), algorithm);
}

std::optional<std::string> Fault(const Problem& problem, const std::vector<Bytes>& offsets,
                                 Bytes height) {
  const auto valid = ValidateOffsets(problem, {offsets, height});
  return valid ? std::nullopt : std::optional(valid.error().message);
}

// `count` copies of a problem, one after the other in time.
Problem InARow(std::uint64_t seed, int count, int buffers) {
  Problem problem;
  for (int k = 0; k < count; ++k) {
    for (Buffer& buffer : GeneratedProblem(seed + static_cast<std::uint64_t>(k), buffers).buffers) {
      buffer.id = std::to_string(k) + "." + buffer.id;
      buffer.start += k * 1000;
      buffer.end += k * 1000;
      problem.buffers.push_back(buffer);
    }
  }
  return problem;
}

// Pins, gaps, windows, alignments: the plan is valid, never higher, equal for any number of
// threads, and optimal where the optimum is known and the first plan was higher.
TEST(Improve, KeepsTheRulesAndNeverRaisesAPlan) {
  ProblemKnobs knobs = AllKnobs();
  knobs.max_buffers = 14;
  knobs.horizon = 12;
  knobs.with_capacity = false;
  ForRandomProblems(1, 1000, knobs, [](const Problem& problem) -> std::optional<std::string> {
    const Instance instance = Compile(problem);
    const Bytes bound = MaxLiveLoad(problem).lower_bound;
    for (const Algorithm algorithm : {Algorithm::kFirstFitStart, Algorithm::kContention}) {
      const std::vector<Bytes> before = FirstPlan(problem, algorithm);
      std::vector<Bytes> one = before;
      const Bytes height = ImprovePlan(instance, bound, 20'000, kSeed, 1, nullptr, one);
      if (auto fault = Fault(problem, one, height)) return fault;
      if (height > Height(problem, before)) return "a higher plan";
      std::vector<Bytes> four = before;
      if (ImprovePlan(instance, bound, 20'000, kSeed, 4, nullptr, four) != height || one != four) {
        return "one and four threads differ";
      }
    }
    return std::nullopt;
  });
}

TEST(Improve, LowersMostPlansThatAreNotAtTheBound) {
  int lowered = 0;
  int high = 0;
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    SCOPED_TRACE(seed);
    const Problem problem = GeneratedProblem(seed, 200);
    const Bytes bound = MaxLiveLoad(problem).lower_bound;
    std::vector<Bytes> offsets = FirstPlan(problem, Algorithm::kFirstFitStart);
    const Bytes before = Height(problem, offsets);
    if (before == bound) continue;
    ++high;
    lowered += ImprovePlan(Compile(problem), bound, kWork, kSeed, 1, nullptr, offsets) < before;
  }
  EXPECT_GE(high, 20);
  EXPECT_GE(lowered, high * 9 / 10) << lowered << " of " << high;
}

TEST(Improve, ImprovesEachPartByItselfWithAnyNumberOfThreads) {
  const Problem problem = InARow(1, 8, 100);
  const Instance instance = Compile(problem);
  const std::vector<Bytes> before = FirstPlan(problem, Algorithm::kFirstFitStart);
  const Bytes bound = MaxLiveLoad(problem).lower_bound;
  std::vector<Bytes> one = before;
  const Bytes height = ImprovePlan(instance, bound, 8 * kWork, kSeed, 1, nullptr, one);
  EXPECT_LT(height, Height(problem, before));
  EXPECT_EQ(Fault(problem, one, height), std::nullopt);
  for (const int threads : {2, 5, 16}) {
    std::vector<Bytes> many = before;
    EXPECT_EQ(ImprovePlan(instance, bound, 8 * kWork, kSeed, threads, nullptr, many), height);
    EXPECT_EQ(one, many) << threads;
  }
  // A part that is low enough is not changed.
  const Bytes enough = Height(problem, before) - 1;
  std::vector<Bytes> some = before;
  EXPECT_LE(ImprovePlan(instance, enough, 8 * kWork, kSeed, 1, nullptr, some), enough);
  int parts_as_before = 0;
  for (std::size_t k = 0; k < 8; ++k) {
    parts_as_before += std::equal(some.begin() + static_cast<std::ptrdiff_t>(100 * k),
                                  some.begin() + static_cast<std::ptrdiff_t>(100 * (k + 1)),
                                  before.begin() + static_cast<std::ptrdiff_t>(100 * k));
  }
  EXPECT_GE(parts_as_before, 5);
}

// More work only ever lowers the plan, and the work done is the work allowed.
TEST(Improve, IsAnytime) {
  const Problem problem = GeneratedProblem(3, 400);
  const Instance instance = Compile(problem);
  const std::vector<Bytes> before = FirstPlan(problem, Algorithm::kFirstFitStart);
  const Bytes bound = MaxLiveLoad(problem).lower_bound;
  Bytes last = Height(problem, before);
  for (std::int64_t work = 0; work < 2'000'000; work = 2 * work + 1000) {
    std::vector<Bytes> offsets = before;
    const Bytes height = ImprovePlan(instance, bound, work, kSeed, 1, nullptr, offsets);
    EXPECT_LE(height, last) << work;
    EXPECT_EQ(Fault(problem, offsets, height), std::nullopt);
    if (work == 0) {
      EXPECT_EQ(offsets, before);
    }
    last = height;
  }
  EXPECT_LT(last, Height(problem, before));
}

TEST(Improve, StopsWhenTold) {
  const Problem problem = GeneratedProblem(3, 400);
  const Instance instance = Compile(problem);
  const std::vector<Bytes> before = FirstPlan(problem, Algorithm::kFirstFitStart);
  for (const int after : {0, 1, 3}) {
    std::atomic<int> asked{0};
    std::vector<Bytes> offsets = before;
    // Unreachable: only `stop` ends it.
    const Bytes height = ImprovePlan(
        instance, 1, std::int64_t{1} << 60, kSeed, 1, [&] { return asked++ >= after; }, offsets);
    EXPECT_EQ(asked, after + 1);
    EXPECT_EQ(Fault(problem, offsets, height), std::nullopt);
    if (after == 0) {
      EXPECT_EQ(offsets, before);
    }
  }
}

TEST(Improve, TakesEmptyProblemsAndBuffersThatNeverLive) {
  std::vector<Bytes> none;
  EXPECT_EQ(ImprovePlan(Compile({}), 0, kWork, kSeed, 1, nullptr, none), 0);
  Problem problem = MakeProblem({{0, 4, 8}, {0, 4, 2}});
  problem.buffers[0].gaps = {{0, 4, std::nullopt}};
  std::vector<Bytes> offsets = {100, 0};
  EXPECT_EQ(ImprovePlan(Compile(problem), 8, kWork, kSeed, 1, nullptr, offsets), 8);
}

// Costs are sums of products; they must fit at the limits of a problem.
TEST(Improve, TakesProblemsAtTheLimit) {
  Problem problem = MakeProblem({{-kMaxStep, kMaxStep, kMaxBytes / 4},
                                 {-kMaxStep, 0, kMaxBytes / 4},
                                 {0, kMaxStep, kMaxBytes / 8},
                                 {1, 2, 1}});
  std::vector<Bytes> offsets = {kMaxBytes / 8, kMaxBytes * 3 / 8, 0, kMaxBytes / 2};
  const Bytes bound = MaxLiveLoad(problem).lower_bound;
  EXPECT_EQ(ImprovePlan(Compile(problem), bound, kWork, kSeed, 1, nullptr, offsets), bound);
  EXPECT_EQ(Fault(problem, offsets, bound), std::nullopt);
}

// Sizes and lifetimes of every order of magnitude; most buffers are small.
Problem WideProblem(std::uint64_t seed, int count, Step steps, bool plain) {
  Random random(seed);
  const auto magnitude = [&](int most) {
    const std::int64_t least = std::int64_t{1} << random.Uniform(0, most - 1);
    return random.Uniform(least, 2 * least - 1);
  };
  Problem problem;
  for (int k = 0; k < count; ++k) {
    Buffer buffer;
    buffer.id = std::to_string(k);
    buffer.start = random.Uniform(0, steps);
    buffer.end = buffer.start + magnitude(8);
    buffer.size = magnitude(20);
    if (!plain) {
      if (random.Chance(0.3)) buffer.alignment = Bytes{1} << random.Uniform(0, 8);
      if (random.Chance(0.1) && buffer.end - buffer.start > 3) {
        buffer.gaps = {{buffer.start + 1, buffer.end - 1, std::nullopt}};
        if (buffer.size > 2 && random.Chance(0.5)) buffer.gaps[0].window = Window{1, 2};
      }
    }
    problem.buffers.push_back(buffer);
  }
  return problem;
}

// Pins where first fit puts some of the buffers.
void Pin(Problem& problem, const std::vector<Bytes>& offsets) {
  for (std::size_t b = 0; b < problem.buffers.size(); b += 17) {
    problem.buffers[b].offset = offsets[b];
  }
}

// With levels and a strip, too.
TEST(ImproveInLevels, KeepsTheRulesAndNeverRaisesAPlan) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE(seed);
    Problem problem = WideProblem(seed, 400, 160, seed % 3 == 0);
    const std::vector<Bytes> before = FirstPlan(problem, Algorithm::kFirstFitStart);
    if (seed % 2 == 0) Pin(problem, before);
    const Instance instance = Compile(problem);
    const Bytes bound = MaxLiveLoad(problem).lower_bound;
    Bytes last = Height(problem, before);
    for (std::int64_t work = 0; work < 4'000'000; work = 4 * work + 4000) {
      std::vector<Bytes> one = before;
      const Bytes height = ImprovePlan(instance, bound, work, kSeed, 1, nullptr, one, 1);
      EXPECT_EQ(Fault(problem, one, height), std::nullopt);
      EXPECT_LE(height, Height(problem, before));
      std::vector<Bytes> four = before;
      EXPECT_EQ(ImprovePlan(instance, bound, work, kSeed, 4, nullptr, four, 1), height);
      EXPECT_EQ(one, four);
      last = height;
    }
    EXPECT_LT(last, Height(problem, before));
  }
}

// Peaks far from each other, and a chain of small buffers through all of them.
TEST(ImproveInLevels, RepairsEachPeakByItself) {
  constexpr Step kApart = 6000;
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    SCOPED_TRACE(seed);
    Problem problem;
    for (Step peak = 0; peak < 3; ++peak) {
      const auto one = WideProblem(10 * seed + static_cast<std::uint64_t>(peak), 400, 160, true);
      for (Buffer buffer : one.buffers) {
        buffer.id += "." + std::to_string(peak);
        buffer.start += peak * kApart;
        buffer.end += peak * kApart;
        problem.buffers.push_back(buffer);
      }
    }
    const std::size_t chain = problem.buffers.size();
    for (Step start = 0; start < 3 * kApart; start += 10) {
      problem.buffers.push_back({"c" + std::to_string(start), start, start + 15, 1});
    }
    const Instance instance = Compile(problem);
    const Bytes bound = MaxLiveLoad(problem).lower_bound;
    const std::vector<Bytes> before = FirstPlan(problem, Algorithm::kFirstFitStart);
    constexpr std::int64_t kWorkOfPeaks = 4'000'000;
    std::vector<Bytes> one = before;
    const Bytes height = ImprovePlan(instance, bound, kWorkOfPeaks, kSeed, 1, nullptr, one, 1);
    EXPECT_EQ(Fault(problem, one, height), std::nullopt);
    EXPECT_LT(height - bound, (Height(problem, before) - bound) / 2);
    for (const int threads : {2, 4}) {
      std::vector<Bytes> many = before;
      EXPECT_EQ(ImprovePlan(instance, bound, kWorkOfPeaks, kSeed, threads, nullptr, many, 1),
                height);
      EXPECT_EQ(one, many);
    }
    for (std::size_t b = chain; b < before.size(); ++b) {
      if (problem.buffers[b].start % kApart / 1000 != 3) continue;
      EXPECT_EQ(one[b], before[b]);
    }
  }
}

TEST(ImproveInLevels, LowersLargePlansFurther) {
  for (const std::uint64_t seed : {1u}) {
    SCOPED_TRACE(seed);
    const Problem problem = WideProblem(seed, 50'000, 2000, true);
    const Instance instance = Compile(problem);
    const Bytes bound = MaxLiveLoad(problem).lower_bound;
    const std::vector<Bytes> before = FirstPlan(problem, Algorithm::kContention);
    constexpr std::int64_t kWorkOfLarge = 20'000'000;
    std::vector<Bytes> at_once = before;
    const Bytes without =
        ImprovePlan(instance, bound, kWorkOfLarge, kSeed, 1, nullptr, at_once, 1'000'000);
    std::vector<Bytes> in_levels = before;
    const Bytes with = ImprovePlan(instance, bound, kWorkOfLarge, kSeed, 1, nullptr, in_levels, 1);
    EXPECT_EQ(Fault(problem, in_levels, with), std::nullopt);
    EXPECT_LT(with - bound, (without - bound) * 9 / 10) << bound << " " << without << " " << with;
  }
}

TEST(ImproveInLevels, StopsWhenTold) {
  const Problem problem = WideProblem(3, 2000, 800, true);
  const Instance instance = Compile(problem);
  const std::vector<Bytes> before = FirstPlan(problem, Algorithm::kFirstFitStart);
  for (const int after : {0, 1, 2, 3, 10}) {
    std::atomic<int> asked{0};
    std::vector<Bytes> offsets = before;
    const Bytes height = ImprovePlan(
        instance, 1, std::int64_t{1} << 60, kSeed, 1, [&] { return asked++ >= after; }, offsets, 1);
    EXPECT_EQ(asked, after + 1);
    EXPECT_EQ(Fault(problem, offsets, height), std::nullopt);
  }
}

// Heights are pinned: a different height means that the search has changed.
TEST(Improve, Golden) {
  std::vector<Bytes> heights;
  for (const std::uint64_t seed : {21u, 22u, 23u}) {
    const Problem problem = GeneratedProblem(seed, 300);
    std::vector<Bytes> offsets = FirstPlan(problem, Algorithm::kFirstFitStart);
    heights.push_back(ImprovePlan(Compile(problem), MaxLiveLoad(problem).lower_bound, kWork, kSeed,
                                  1, nullptr, offsets));
  }
  EXPECT_EQ(heights, (std::vector<Bytes>{7388, 5797, 4245}));
}

// Heights are pinned, as above, for the windows of large parts, where heat is sharper.
TEST(ImproveInLevels, Golden) {
  std::vector<Bytes> heights;
  for (const std::uint64_t seed : {13u, 14u}) {
    const Problem problem = WideProblem(seed, 20'000, 2000, true);
    std::vector<Bytes> offsets = FirstPlan(problem, Algorithm::kContention);
    heights.push_back(ImprovePlan(Compile(problem), MaxLiveLoad(problem).lower_bound, 50 * kWork,
                                  kSeed, 1, nullptr, offsets, 1));
  }
  EXPECT_EQ(heights, (std::vector<Bytes>{48295039, 50770109}));
}

}  // namespace
}  // namespace berth::internal::greedy
