#include "berth/allocators.h"

#include <gtest/gtest.h>

#include "berth/baselines.h"
#include "testing/random_problem.h"
#include "tests/greedy/problems.h"

namespace berth::internal {
namespace {

using Offsets = std::vector<Bytes>;

AllocatorRun Replay(const Problem& problem, RuntimeAllocator algorithm) {
  const auto run = RunAllocator(problem, algorithm);
  EXPECT_TRUE(run.has_value());
  const auto valid = ValidatePlacement(problem, {run->offsets, Height(problem, run->offsets)});
  EXPECT_TRUE(valid.has_value()) << valid.error().message;
  return *run;
}

// a takes 1024 bytes, b the next 256. After a is freed, c (768 bytes) gets its whole chunk, because
// 1024 is less than twice 768; so d goes above b, and the chunks end at 1536.
TEST(Bfc, KeepsAChunkWholeBelowTwiceTheRequest) {
  const auto run = Replay(MakeProblem({{0, 1, 1000}, {0, 3, 100}, {1, 3, 600}, {1, 2, 256}}),
                          RuntimeAllocator::kBfc);
  EXPECT_EQ(run.offsets, (Offsets{0, 1024, 0, 1280}));
  EXPECT_EQ(run.reserved, 1536);
}
// Now c takes 512 of the 1024 bytes, and d the part that was split off.
TEST(Bfc, SplitsAChunkOfTwiceTheRequest) {
  const auto run = Replay(MakeProblem({{0, 1, 1000}, {0, 3, 100}, {1, 3, 512}, {1, 2, 256}}),
                          RuntimeAllocator::kBfc);
  EXPECT_EQ(run.offsets, (Offsets{0, 1024, 0, 512}));
  EXPECT_EQ(run.reserved, 1280);
}
// 400 MiB, less than twice 256 MiB, but 144 MiB more than it: split, so that c fits behind b.
TEST(Bfc, SplitsAChunkThatWouldWaste128MiB) {
  const auto run = Replay(MakeProblem({{0, 1, 400 * kMiB}, {1, 2, 256 * kMiB}, {1, 2, 144 * kMiB}}),
                          RuntimeAllocator::kBfc);
  EXPECT_EQ(run.offsets, (Offsets{0, 0, 256 * kMiB}));
  EXPECT_EQ(run.reserved, 400 * kMiB);
}
// Holes of 1024 bytes at 0 and of 512 at 1280 (b and d stay): the smaller one is taken for 512; of
// equal ones, the lower.
TEST(Bfc, TakesTheSmallestChunkThenTheLowest) {
  EXPECT_EQ(Replay(MakeProblem({{0, 1, 1024}, {0, 3, 256}, {0, 1, 512}, {0, 3, 256}, {1, 2, 512}}),
                   RuntimeAllocator::kBfc)
                .offsets,
            (Offsets{0, 1024, 1280, 1792, 1280}));
  EXPECT_EQ(Replay(MakeProblem({{0, 1, 512}, {0, 3, 256}, {0, 1, 512}, {0, 3, 256}, {1, 2, 512}}),
                   RuntimeAllocator::kBfc)
                .offsets,
            (Offsets{0, 512, 768, 1280, 0}));
}
// a, b and c are freed together; they merge with the rest of the region into one chunk.
TEST(Bfc, CoalescesWithBothNeighbours) {
  EXPECT_EQ(Replay(MakeProblem({{0, 2, 256}, {0, 3, 256}, {0, 1, 256}, {3, 4, 5000}}),
                   RuntimeAllocator::kBfc)
                .offsets,
            (Offsets{0, 256, 512, 0}));
}

// One request each at step 0, in this order:
//   a  1000 B     small: a 2 MiB segment at 0, of which it takes 1024 bytes
//   b  1.5 MiB    large, below 10 MiB: a 20 MiB segment at 2 MiB
//   c  1 MiB      small: behind a
//   d  1 MiB      only 1 MiB less 1024 bytes are left: a new segment at 22 MiB
//   e  12 MiB     behind b
//   f  10 MiB     6.5 MiB are left: a segment of its own, at 24 MiB
//   g  11 MiB+1   rounded to 12 MiB for the segment, at 34 MiB
TEST(PytorchCaching, ServesSmallAndLargeFromTheirPools) {
  const auto run = Replay(MakeProblem({{0, 1, 1000},
                                       {0, 1, 3 * kMiB / 2},
                                       {0, 1, kMiB},
                                       {0, 1, kMiB},
                                       {0, 1, 12 * kMiB},
                                       {0, 1, 10 * kMiB},
                                       {0, 1, 11 * kMiB + 1}}),
                          RuntimeAllocator::kPytorchCaching);
  EXPECT_EQ(run.offsets,
            (Offsets{0, 2 * kMiB, kKiB, 22 * kMiB, 7 * kMiB / 2, 24 * kMiB, 34 * kMiB}));
  EXPECT_EQ(run.reserved, 46 * kMiB);
}
// A small block is split if 512 bytes remain: b goes behind c in the block that a left.
TEST(PytorchCaching, SplitsSmallBlocksDownTo512Bytes) {
  const auto run = Replay(MakeProblem({{0, 1, 1024}, {0, 3, 512}, {1, 3, 100}, {1, 2, 100}}),
                          RuntimeAllocator::kPytorchCaching);
  EXPECT_EQ(run.offsets, (Offsets{0, 1024, 0, 512}));
}
// b takes the whole 12 MiB segment of a, since no more than 1 MiB would remain: c needs another.
// With one block of 512 bytes less, b leaves enough to split off, which c uses.
TEST(PytorchCaching, SplitsLargeBlocksAboveOneMebibyte) {
  const auto whole = Replay(MakeProblem({{0, 1, 14 * kMiB}, {1, 2, 13 * kMiB}, {1, 2, kMiB + 1}}),
                            RuntimeAllocator::kPytorchCaching);
  EXPECT_EQ(whole.offsets, (Offsets{0, 0, 14 * kMiB}));
  EXPECT_EQ(whole.reserved, 34 * kMiB);
  const auto split =
      Replay(MakeProblem({{0, 1, 14 * kMiB}, {1, 2, 13 * kMiB - 512}, {1, 2, kMiB + 1}}),
             RuntimeAllocator::kPytorchCaching);
  EXPECT_EQ(split.offsets, (Offsets{0, 0, 13 * kMiB - 512}));
  EXPECT_EQ(split.reserved, 14 * kMiB);
}
// Two segments of 10 MiB lie side by side, but only blocks of one segment merge.
TEST(PytorchCaching, NeverMergesSegments) {
  const auto run = Replay(MakeProblem({{0, 1, 10 * kMiB}, {0, 1, 10 * kMiB}, {1, 2, 20 * kMiB}}),
                          RuntimeAllocator::kPytorchCaching);
  EXPECT_EQ(run.offsets, (Offsets{0, 10 * kMiB, 20 * kMiB}));
  EXPECT_EQ(run.reserved, 40 * kMiB);
}

TEST(Allocators, RejectPinsAndLargeAlignments) {
  for (const auto& [algorithm, rounding, name] :
       {std::tuple(RuntimeAllocator::kBfc, 256, "bfc"),
        std::tuple(RuntimeAllocator::kPytorchCaching, 512, "pytorch-caching")}) {
    Problem problem = MakeProblem({{0, 1, 8}, {0, 1, 8}});
    problem.buffers[1].alignment = rounding;
    EXPECT_TRUE(RunAllocator(problem, algorithm).has_value());
    problem.buffers[1].alignment = 2 * rounding;
    auto refused = RunAllocator(problem, algorithm);
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().code, ErrorCode::kUnsupported);
    EXPECT_EQ(refused.error().message, "buffer \"b\": it needs an alignment of " +
                                           std::to_string(2 * rounding) + ", which " + name +
                                           ", a run-time allocator, cannot give");
    problem.buffers[1].alignment = 1;
    problem.buffers[1].offset = 64;
    refused = RunAllocator(problem, algorithm);
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().message,
              std::string("buffer \"b\": it is pinned to offset 64, which ") + name +
                  ", a run-time allocator, cannot give");
    // 2^60 - 1 bytes do not fit below 2^60 once rounded and behind another.
    problem = MakeProblem({{0, 1, 1}, {0, 1, kMaxBytes - 1}});
    ASSERT_TRUE(Validate(problem).has_value());
    refused = RunAllocator(problem, algorithm);
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().code, ErrorCode::kUnsupported);
  }
}

// A gap does not end a run-time allocation: b cannot use a's bytes.
TEST(Allocators, TreatGapsAsLive) {
  Problem problem = MakeProblem({{0, 9, 256}, {3, 4, 256}});
  problem.buffers[0].gaps = {{2, 6, std::nullopt}};
  EXPECT_EQ(Replay(problem, RuntimeAllocator::kBfc).offsets, (Offsets{0, 256}));
}

TEST(Allocators, AlwaysGiveAValidPlan) {
  ProblemKnobs knobs;
  knobs.max_buffers = 40;
  knobs.horizon = 20;
  knobs.gap_chance = 0.2;
  knobs.hint_chance = 0.2;
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    SCOPED_TRACE(seed);
    // From about a hundred bytes to about a hundred megabytes.
    knobs.max_size = Bytes{512} << (seed % 20);
    const Problem problem = RandomProblem(seed, knobs);
    for (const RuntimeAllocator algorithm :
         {RuntimeAllocator::kBfc, RuntimeAllocator::kPytorchCaching}) {
      const AllocatorRun run = Replay(problem, algorithm);
      EXPECT_GE(run.reserved, Height(problem, run.offsets));
      EXPECT_GE(run.reserved, MaxLiveLoad(problem).load);
    }
  }
}

TEST(Allocators, GoldenHeights) {
  const auto heights_of = [](Baseline baseline) {
    std::vector<Bytes> heights;
    for (const auto& [seed, count] : {std::pair(11, 30), std::pair(12, 100), std::pair(13, 300)}) {
      BaselineOptions options;
      options.baseline = baseline;
      Budget budget;
      const auto answer = PlaceWithBaseline(
          GeneratedProblem(static_cast<std::uint64_t>(seed), count), options, budget);
      EXPECT_EQ(answer->placing.algorithm, Info(baseline).name);
      EXPECT_EQ(answer->stopped, StopReason::kAlgorithm);
      heights.push_back(answer->best->height());
    }
    return heights;
  };
  EXPECT_EQ(heights_of(Baseline::kBfc), (std::vector<Bytes>{2351, 6031, 10996}));
  EXPECT_EQ(heights_of(Baseline::kPytorchCaching), (std::vector<Bytes>{4099, 7067, 14852}));
}

TEST(PytorchCaching, CountsWhatIsHeldInVain) {
  Problem problem;
  // A block of 20 MiB for the first; the second does not fit into the rest of it.
  problem.buffers = {{"a", 0, 2, 9 * kMiB}, {"b", 1, 2, 14 * kMiB + 1}};
  const AllocatorFootprint footprint = MeasureFootprint(problem, RuntimeAllocator::kPytorchCaching);
  EXPECT_EQ(footprint.reserved, 36 * kMiB);
  EXPECT_EQ(footprint.first, 23 * kMiB + 1);
  EXPECT_EQ(footprint.most, 23 * kMiB + 1);
  EXPECT_EQ(footprint.runs, 2);
  // The last segment comes late, when little is in use.
  problem.buffers = {{"a", 0, 2, 18 * kMiB}, {"b", 3, 4, 1 * kMiB}};
  const AllocatorFootprint late = MeasureFootprint(problem, RuntimeAllocator::kPytorchCaching);
  EXPECT_EQ(late.reserved, 20 * kMiB);
  EXPECT_EQ(late.first, 1 * kMiB);
  EXPECT_EQ(late.most, 18 * kMiB);
}

}  // namespace
}  // namespace berth::internal
