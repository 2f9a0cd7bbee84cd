#include "testing/oracle.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "testing/differential.h"
#include "testing/live.h"
#include "testing/random_problem.h"

namespace berth::internal {
namespace {

Buffer MakeBuffer(const std::string& id, Step start, Step end, Bytes size) {
  Buffer buffer;
  buffer.id = id;
  buffer.start = start;
  buffer.end = end;
  buffer.size = size;
  return buffer;
}

TEST(OracleTest, SolvesNoBuffersAndOne) {
  EXPECT_EQ(OracleHeight({}), 0);
  Problem problem;
  problem.buffers = {MakeBuffer("a", 5, 6, 7)};
  EXPECT_EQ(OracleHeight(problem), 7);
  EXPECT_TRUE(OracleFits(problem, 7));
  EXPECT_FALSE(OracleFits(problem, 6));
}

TEST(OracleTest, KnowsThatLoadIsNotEnough) {
  // The load is 4 at every step. The two pairs of ends force both long buffers (l and m) to the
  // outside at one end and together at the other.
  Problem problem;
  problem.buffers = {MakeBuffer("l", 0, 4, 1), MakeBuffer("m", 1, 6, 1), MakeBuffer("n", 0, 1, 3),
                     MakeBuffer("o", 1, 3, 2), MakeBuffer("p", 4, 6, 3), MakeBuffer("q", 3, 4, 2)};
  EXPECT_EQ(PeakLoad(problem), 4);
  EXPECT_EQ(OracleHeight(problem), 4);
  // With one buffer between both ends that must be in the middle of one and at an edge of the
  // other:
  problem.buffers = {MakeBuffer("a", 0, 2, 2), MakeBuffer("b", 1, 3, 2), MakeBuffer("c", 2, 4, 2),
                     MakeBuffer("d", 0, 1, 1), MakeBuffer("e", 3, 4, 1)};
  EXPECT_EQ(PeakLoad(problem), 4);
  EXPECT_EQ(OracleHeight(problem), 4);
}

TEST(OracleTest, WastesWhatAlignmentDemands) {
  Problem problem;
  problem.buffers = {MakeBuffer("a", 0, 2, 3), MakeBuffer("b", 0, 2, 3)};
  EXPECT_EQ(OracleHeight(problem), 6);
  problem.buffers[1].alignment = 4;
  EXPECT_EQ(OracleHeight(problem), 6);  // b at 0, a at 3.
  problem.buffers[0].alignment = 5;
  EXPECT_EQ(OracleHeight(problem), 7);  // a at 0, b at 4.
}

TEST(OracleTest, KeepsPinsAndKnowsWhenTheyCollide) {
  Problem problem;
  problem.buffers = {MakeBuffer("a", 0, 2, 4), MakeBuffer("b", 1, 3, 4), MakeBuffer("c", 0, 3, 2)};
  problem.buffers[0].offset = 1;
  EXPECT_EQ(OracleHeight(problem), 11);  // a [1, 5), b above it, c above both.
  problem.buffers[2].size = 1;
  EXPECT_EQ(OracleHeight(problem), 9);  // c fits below a.
  problem.buffers[1].offset = 4;
  EXPECT_EQ(OraclePlace(problem), std::nullopt);
  EXPECT_FALSE(OracleFits(problem, 1000));
}

TEST(OracleTest, UsesGaps) {
  Problem problem;
  problem.buffers = {MakeBuffer("a", 0, 9, 4), MakeBuffer("b", 3, 6, 4)};
  EXPECT_EQ(OracleHeight(problem), 8);
  problem.buffers[0].gaps = {Gap{3, 6, std::nullopt}};
  EXPECT_EQ(OracleHeight(problem), 4);
  problem.buffers[0].gaps = {Gap{3, 6, Window{3, 4}}};
  EXPECT_EQ(OracleHeight(problem), 5);  // a raised by one, b below its window.
  problem.buffers[0].gaps = {Gap{3, 6, Window{1, 2}}};
  EXPECT_EQ(OracleHeight(problem), 6);  // b above the window: 2 + 4.
}

// Two buffers whose windows lie in each other's gaps: they interlock like two combs, and the only
// plan of height 4 has both at offset 0.
TEST(OracleTest, Interlocks) {
  Problem problem;
  problem.buffers = {MakeBuffer("a", 0, 4, 4), MakeBuffer("b", 0, 4, 4)};
  problem.buffers[0].gaps = {Gap{0, 2, Window{0, 2}}, Gap{2, 4, Window{2, 4}}};
  problem.buffers[1].gaps = {Gap{0, 2, Window{2, 4}}, Gap{2, 4, Window{0, 2}}};
  EXPECT_EQ(OracleHeight(problem), 4);
  const auto placement = OracleFits(problem, 4);
  ASSERT_TRUE(placement);
  EXPECT_EQ(placement->offsets, (std::vector<Bytes>{0, 0}));
  // Slightly wider windows no longer interlock: b must go above, where it overlaps a in only one
  // place.
  problem.buffers[0].gaps[0].window = Window{0, 3};
  EXPECT_EQ(OracleHeight(problem), 8);
}

// A buffer between two live windows of another: above one and below the other at once.
TEST(OracleTest, SlipsBetweenLiveWindows) {
  Problem problem;
  problem.buffers = {MakeBuffer("jaw", 0, 4, 10), MakeBuffer("bite", 0, 4, 4)};
  problem.buffers[0].gaps = {Gap{0, 2, Window{0, 3}}, Gap{2, 4, Window{7, 10}}};
  const auto placement = OraclePlace(problem);
  ASSERT_TRUE(placement);
  EXPECT_EQ(placement->height, 10);
  EXPECT_EQ(placement->offsets, (std::vector<Bytes>{0, 3}));
  problem.buffers[1].alignment = 4;  // Too low at 0, too high at 4: only the outer buffer can move.
  EXPECT_EQ(OracleHeight(problem), 11);
  problem.buffers[0].alignment = 4;  // Every difference is a multiple of 4, and none is valid.
  EXPECT_EQ(OracleHeight(problem), 14);
}

TEST(OracleTest, DividesByTheCommonDivisor) {
  Problem problem;
  problem.buffers = {MakeBuffer("a", 0, 2, Bytes{3} << 40), MakeBuffer("b", 1, 3, Bytes{5} << 40)};
  problem.buffers[1].alignment = Bytes{2} << 40;
  EXPECT_EQ(OracleHeight(problem), Bytes{8} << 40);
  EXPECT_FALSE(OracleFits(problem, (Bytes{8} << 40) - 1));
}

// A second, independent oracle: it fills a grid of steps and bytes, cell by cell, and enumerates
// all offsets like an odometer.
std::optional<Bytes> HeightByOdometer(const Problem& problem, Bytes highest) {
  const std::size_t count = problem.buffers.size();
  std::vector<Bytes> offsets(count, 0);
  std::optional<Bytes> least;
  for (;;) {
    Bytes height = 0;
    for (std::size_t i = 0; i < count; ++i) {
      height = std::max(height, offsets[i] + problem.buffers[i].size);
    }
    bool good = !least || height < *least;
    std::set<std::pair<Step, Bytes>> cells;
    for (std::size_t i = 0; i < count && good; ++i) {
      const Buffer& buffer = problem.buffers[i];
      good = offsets[i] % buffer.alignment == 0 && (!buffer.offset || *buffer.offset == offsets[i]);
      for (Step step = buffer.start; step < buffer.end && good; ++step) {
        Window live{0, buffer.size};
        for (const Gap& gap : buffer.gaps) {
          if (gap.start <= step && step < gap.end) live = gap.window.value_or(Window{0, 0});
        }
        for (Bytes byte = live.lower; byte < live.upper && good; ++byte) {
          good = cells.emplace(step, offsets[i] + byte).second;
        }
      }
    }
    if (good) least = height;
    std::size_t digit = 0;
    while (digit < count && ++offsets[digit] > highest) offsets[digit++] = 0;
    if (digit == count) return least;
  }
}

TEST(OracleTest, AgreesWithASecondOracle) {
  for (const bool pins_may_collide : {false, true}) {
    ProblemKnobs knobs = AllKnobs();
    knobs.max_buffers = 3;
    knobs.max_size = 4;
    knobs.horizon = 5;
    knobs.max_alignment = 3;
    knobs.pins_may_collide = pins_may_collide;
    ForRandomProblems(1, 500, knobs, [](const Problem& problem) -> std::optional<std::string> {
      // Three buffers of at most 4 bytes and alignment 3, above pins of at most 12 + 4.
      const auto expected = HeightByOdometer(problem, 20);
      const auto height = OracleHeight(problem);
      if (height != expected) {
        return "the oracle says " + std::to_string(height.value_or(-1)) + ", the odometer " +
               std::to_string(expected.value_or(-1));
      }
      if (!height) return std::nullopt;
      const auto placement = OraclePlace(problem);
      Problem unlimited = problem;
      unlimited.capacity.reset();
      if (const auto valid = ValidatePlacement(unlimited, *placement); !valid) {
        return valid.error().message;
      }
      if (!OracleFits(problem, *height)) return "OracleFits denies the least height";
      if (OracleFits(problem, *height - 1)) return "OracleFits goes below the least height";
      return std::nullopt;
    });
  }
}

}  // namespace
}  // namespace berth::internal
