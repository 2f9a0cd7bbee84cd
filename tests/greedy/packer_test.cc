// The packer against slow and simple versions of itself.

#include "place/greedy/packer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

#include "base/arithmetic.h"
#include "base/random.h"
#include "place/greedy/greedy.h"
#include "place/greedy/plateaus.h"
#include "place/greedy/shelves.h"
#include "testing/differential.h"
#include "tests/greedy/problems.h"

namespace berth::internal::greedy {
namespace {

// Small sizes, so that every offset can be tried.
ProblemKnobs Knobs() {
  ProblemKnobs knobs = AllKnobs();
  knobs.max_buffers = 14;
  knobs.horizon = 12;
  knobs.max_size = 12;
  knobs.with_capacity = false;
  return knobs;
}

std::optional<std::string> Fault(const Problem& problem, const std::vector<Bytes>& offsets) {
  const Bytes height = Height(problem, offsets);
  if (const auto valid = ValidatePlacement(problem, {offsets, height}); !valid) {
    return valid.error().message;
  }
  if (height < MaxLiveLoad(problem).lower_bound) return "height " + std::to_string(height);
  return std::nullopt;
}

// Plans for when there is no time, whatever the features of the problem.
TEST(Shelves, AlwaysGiveAValidPlan) {
  ForRandomProblems(1, 1000, Knobs(), [](const Problem& problem) {
    return Fault(problem, PlaceOnShelves(Compile(problem)));
  });
  ForRandomProblems(1, 1000, Knobs(), [](const Problem& problem) {
    return Fault(problem, *PlaceSolid(Compile(problem), nullptr));
  });
  EXPECT_TRUE(PlaceOnShelves(Compile({})).empty());
  EXPECT_TRUE(PlaceSolid(Compile({}), nullptr)->empty());
}

TEST(Planners, AlwaysGiveAValidPlan) {
  for (const Algorithm algorithm : Planners()) {
    SCOPED_TRACE(Info(algorithm).name);
    ForRandomProblems(1, 1000, Knobs(), [&](const Problem& problem) {
      return Fault(problem, PlaceGreedy(Compile(problem), algorithm));
    });
  }
}

// Tries one offset after another against one neighbour after another.
std::vector<Bytes> PlaceNaively(const Instance& instance, Order order, Fit fit) {
  std::vector<BufferIndex> placed;
  IndexedVector<BufferIndex, Bytes> offset(instance.num_buffers(), 0);
  for (const BufferIndex b : instance.buffers()) {
    if (instance.pin[b] == kNone) continue;
    offset[b] = instance.pin[b];
    placed.push_back(b);
  }
  for (const BufferIndex b : Ordered(instance, order)) {
    if (instance.pin[b] != kNone) continue;
    const auto is_free = [&](Bytes at) {
      for (const BufferIndex q : placed) {
        for (const Interval& bad : ForbiddenDifferences(instance, q, b)) {
          if (bad.lower < at - offset[q] && at - offset[q] < bad.upper) return false;
        }
      }
      return true;
    };
    Bytes top = 0;
    for (const BufferIndex q : placed) top = std::max(top, offset[q] + instance.size[q]);
    Bytes best = kNone;
    Bytes best_slack = kUnbounded;
    for (Bytes at = 0; best == kNone || (fit == Fit::kBest && at <= top); ++at) {
      if (at % instance.alignment[b] != 0 || !is_free(at)) continue;
      Bytes end = at;  // The last offset of this gap.
      while (end <= top && is_free(end + 1)) ++end;
      const Bytes slack = end > top ? kUnbounded : end - at;
      if (best == kNone || slack < best_slack) {
        best = at;
        best_slack = slack;
      }
      at = end;
    }
    offset[b] = best;
    placed.push_back(b);
  }
  return offset.items();
}

TEST(Packer, InOrderDoesWhatTheNaivePlacerDoes) {
  for (const Order order : {Order::kSize, Order::kLifetime, Order::kStart, Order::kContention,
                            Order::kSpatial, Order::kLargeArea}) {
    for (const Fit fit : {Fit::kFirst, Fit::kBest}) {
      const Rule rule{order, Selection::kInOrder, fit};
      ForRandomProblems(1, 300, Knobs(), [&](const Problem& problem) {
        const Instance instance = Compile(problem);
        const auto packing = Packer(instance).Pack(rule, /*use_hints=*/false);
        return packing->offsets == PlaceNaively(instance, order, fit)
                   ? std::nullopt
                   : std::optional<std::string>("differs from the naive plan");
      });
    }
  }
}

// Long tables are processed one window of time after another; the plan must be that of the order
// itself.
TEST(Packer, WindowsOfTimeChangeNoPlan) {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Problem problem = GeneratedProblem(seed, 6000);
    for (Buffer& buffer : problem.buffers) {
      buffer.end = buffer.start + random.Uniform(1, random.Chance(0.01) ? 1500 : 30);
      if (random.Chance(0.05)) buffer.gaps = {{buffer.start, buffer.end, std::nullopt}};
    }
    const Instance instance = Compile(problem);
    ASSERT_GT(instance.num_sections(), 2000u);
    Occupancy occupancy(instance.num_sections());
    FreeOffsets room(occupancy);
    std::vector<Bytes> offsets(problem.buffers.size());
    for (const BufferIndex b : Ordered(instance, Order::kSize)) {
      room.LookFor(instance.pieces_of(b), instance.alignment[b]);
      offsets[b.position()] = room.AtLeast(0);
      occupancy.Add(instance.pieces_of(b), offsets[b.position()]);
    }
    const Rule rule{Order::kSize, Selection::kInOrder, Fit::kFirst};
    EXPECT_EQ(Packer(instance).Pack(rule, /*use_hints=*/false)->offsets, offsets);
  }
}

// Plateaus, the skyline by heap, and first fit give the same plan for plain problems. Claiming that
// an instance has gaps and windows keeps the packer from the faster methods.
TEST(Packer, ThreeWaysToLowestFirstAgree) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE(seed);
    Problem problem = GeneratedProblem(seed, static_cast<int>(2 + seed % 90));
    for (Buffer& buffer : problem.buffers) buffer.alignment = 1 + static_cast<Bytes>(seed % 3) * 8;
    const Instance plain = Compile(problem);
    ASSERT_TRUE(PlateauPacker::CanPack(plain));
    Instance gaps = plain;
    gaps.has_gaps = true;
    Instance windows = gaps;
    windows.has_windows = true;
    for (const Order order :
         {Order::kContention, Order::kSize, Order::kLifetime, Order::kLongArea}) {
      const Rule rule{order, Selection::kLowestFirst, Fit::kFirst};
      const auto by_plateaus = Packer(plain).Pack(rule, false);
      EXPECT_EQ(by_plateaus->offsets, Packer(gaps).Pack(rule, false)->offsets);
      EXPECT_EQ(by_plateaus->offsets, Packer(windows).Pack(rule, false)->offsets);
      EXPECT_EQ(by_plateaus->height, Height(problem, by_plateaus->offsets));
    }
  }
}

// The tree over spans gives the best unplaced one, as a look at each does, until all are placed; and
// all over again with other ranks.
TEST(SpanIndex, FindsTheBestWithin) {
  Random random(3);
  for (const std::size_t count : {1u, 15u, 16u, 17u, 100u, 1000u, 3000u}) {
    SCOPED_TRACE(count);
    const auto sections = static_cast<std::int32_t>(random.Uniform(1, 400));
    std::vector<SpanIndex::Span> spans;
    while (spans.size() < count) {
      // Long and short ones, and many that are the same.
      const auto longest = std::int64_t{1} << random.Uniform(0, 9);
      const auto first = static_cast<std::int32_t>(random.Uniform(0, sections - 1));
      const auto last =
          random.Uniform(first + 1, std::min<std::int64_t>(sections, first + longest));
      spans.push_back({first, static_cast<std::int32_t>(last)});
    }
    auto index = SpanIndex::Make(spans, sections, nullptr);
    ASSERT_TRUE(index);
    for (int round = 0; round < 2; ++round) {
      std::vector<std::int32_t> ranks(count);
      std::iota(ranks.begin(), ranks.end(), 0);
      random.Shuffle(ranks);
      ASSERT_TRUE(index->Reset(ranks, nullptr));
      std::vector<bool> placed(count, false);
      for (std::size_t left = count; left > 0;) {
        auto first = static_cast<std::int32_t>(random.Uniform(0, sections));
        auto last = static_cast<std::int32_t>(random.Uniform(0, sections));
        if (random.Chance(0.1)) std::tie(first, last) = std::pair(0, sections);
        std::int32_t best = SpanIndex::kNoRank;
        std::size_t best_span = 0;
        for (std::size_t k = 0; k < count; ++k) {
          if (placed[k] || spans[k].first < first || spans[k].last > last) continue;
          if (ranks[k] < best) best_span = k;
          best = std::min(best, ranks[k]);
        }
        ASSERT_EQ(index->Best(first, last), best);
        if (best == SpanIndex::kNoRank) continue;
        const std::size_t slot = index->SlotOfRank(best);
        EXPECT_EQ(slot, index->SlotOf(best_span));
        EXPECT_EQ(index->SpanOf(slot).first, spans[best_span].first);
        EXPECT_EQ(index->SpanOf(slot).last, spans[best_span].last);
        index->Remove(slot);
        placed[best_span] = true;
        --left;
      }
      EXPECT_EQ(index->Best(0, sections), SpanIndex::kNoRank);
    }
  }
}

// To make an index and to use it again can be stopped.
TEST(SpanIndex, CanBeStopped) {
  std::vector<SpanIndex::Span> spans(200000, {0, 1});
  EXPECT_FALSE(SpanIndex::Make(spans, 1, [] { return true; }));
  auto index = SpanIndex::Make(spans, 1, nullptr);
  ASSERT_TRUE(index);
  std::vector<std::int32_t> ranks(spans.size());
  std::iota(ranks.begin(), ranks.end(), 0);
  EXPECT_FALSE(index->Reset(ranks, [] { return true; }));
}

// A packer is reused; no state of the previous plan may remain.
TEST(Packer, KeepsNoStateOfThePreviousPlan) {
  ForRandomProblems(1, 300, Knobs(), [&](const Problem& problem) -> std::optional<std::string> {
    const Instance instance = Compile(problem);
    Packer packer(instance);
    for (const Algorithm algorithm : {Algorithm::kFirstFitSize, Algorithm::kContention}) {
      const Rule rule = algorithm == Algorithm::kContention
                            ? Rule{Order::kContention, Selection::kLowestFirst, Fit::kSkyline}
                            : Rule{Order::kSize, Selection::kInOrder, Fit::kFirst};
      (void)packer.Pack({Order::kArea, Selection::kInOrder, Fit::kBest}, false);
      for (const bool use_hints : {false, true}) {
        if (packer.Pack(rule, use_hints)->offsets !=
            Packer(instance).Pack(rule, use_hints)->offsets) {
          return "a used packer differs from a new one";
        }
      }
    }
    return std::nullopt;
  });
}

TEST(Packer, GivesUpWhenLooksRunOut) {
  Problem problem = GeneratedProblem(1, 50);
  problem.buffers[0].alignment = 2;  // No plateaus.
  const Instance instance = Compile(problem);
  const Rule lowest{Order::kSize, Selection::kLowestFirst, Fit::kSkyline};
  EXPECT_EQ(Packer(instance).Pack(lowest, true, 49).has_value(), false);
  EXPECT_TRUE(Packer(instance).Pack(lowest, true, 1000000).has_value());
}

TEST(Planners, TakeProblemsAtTheLimit) {
  Problem problem =
      MakeProblem({{-kMaxStep, kMaxStep, kMaxBytes / 4}, {-kMaxStep, 0, kMaxBytes / 4}});
  problem.buffers[1].alignment = kMaxBytes / 4;
  ASSERT_TRUE(Validate(problem).has_value());
  for (const Algorithm algorithm : Planners()) {
    EXPECT_EQ(Fault(problem, PlaceGreedy(Compile(problem), algorithm)), std::nullopt);
  }
  for (const Algorithm algorithm : Planners()) {
    EXPECT_TRUE(PlaceGreedy(Compile({}), algorithm).empty());
  }
}

}  // namespace
}  // namespace berth::internal::greedy
