// Strip packing with fixed x: what is cut fills its rectangle, and what is drawn keeps to its class.

#include "tools/generate/strip.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "berth/place.h"

namespace berth::internal {
namespace {

std::int64_t AreaOf(const Problem& problem) {
  std::int64_t area = 0;
  for (const Buffer& buffer : problem.buffers) area += (buffer.end - buffer.start) * buffer.size;
  return area;
}

TEST(Strip, CutsFillTheirRectangle) {
  for (const CutSize& size : CutSizes()) {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      SCOPED_TRACE(std::string(size.name) + " " + std::to_string(seed));
      const Problem problem = CutRectangle(size.width, size.height, size.pieces, seed);
      ASSERT_TRUE(Validate(problem).has_value());
      EXPECT_EQ(static_cast<std::int64_t>(problem.buffers.size()), size.pieces);
      EXPECT_EQ(problem.capacity, size.height);
      // As much as there is room, and never more at a step: so the load is the height everywhere.
      EXPECT_EQ(AreaOf(problem), size.width * size.height);
      EXPECT_EQ(MaxLiveLoad(problem).load, size.height);
      for (const Buffer& buffer : problem.buffers) {
        EXPECT_GE(buffer.start, 0);
        EXPECT_LE(buffer.end, size.width);
      }
    }
  }
  // To the last unit, which is one plan alone.
  EXPECT_EQ(CutRectangle(4, 3, 12, 1).buffers.size(), 12U);
}

// They fit as they were cut: a search finds a plan of the height.
TEST(Strip, CutsHaveAPlanOfTheirHeight) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    Budget budget;
    const auto answer = Place(CutRectangle(12, 12, 14, seed), {}, budget);
    ASSERT_TRUE(answer.has_value());
    EXPECT_EQ(answer->best->height(), 12);
  }
}

TEST(Strip, ClassesKeepToTheirRanges) {
  for (int number = 1; number <= kStripClasses; ++number) {
    SCOPED_TRACE(number);
    const Problem problem = DrawClass(number, 400, StripRule::kNextFit, 1);
    ASSERT_TRUE(Validate(problem).has_value());
    constexpr std::int64_t kMost[] = {10, 10, 35, 35, 100, 100, 100, 100, 100, 100};
    constexpr Step kWidth[] = {10, 30, 40, 100, 100, 300, 100, 100, 100, 100};
    std::int64_t widest = 0;
    std::int64_t highest = 0;
    std::int64_t own = 0;  // Of the type that most items of classes 7 to 10 have.
    for (const Buffer& buffer : problem.buffers) {
      const Step width = buffer.end - buffer.start;
      EXPECT_LE(buffer.end, kWidth[number - 1]);
      widest = std::max(widest, width);
      highest = std::max(highest, buffer.size);
      const bool wide = width >= 50;
      const bool high = buffer.size >= 50;
      own += number == 7    ? wide && !high
             : number == 8  ? !wide && high
             : number == 9  ? wide && high
             : number == 10 ? !wide && !high
                            : 0;
    }
    EXPECT_LE(widest, kMost[number - 1]);
    EXPECT_LE(highest, kMost[number - 1]);
    EXPECT_GE(std::max(widest, highest), kMost[number - 1] * 97 / 100);
    EXPECT_NEAR(static_cast<double>(own) / 400, number >= 7 ? 0.7 : 0, 0.08);
  }
}

TEST(Strip, RulesMoveTheSameItems) {
  for (int number = 1; number <= kStripClasses; ++number) {
    SCOPED_TRACE(number);
    const Problem left = DrawClass(number, 60, StripRule::kNextFit, 2);
    const Problem least = DrawClass(number, 60, StripRule::kLeastLoad, 2);
    const Problem longer = DrawClass(number, 80, StripRule::kNextFit, 2);
    for (std::size_t k = 0; k < 60; ++k) {
      const Buffer& a = left.buffers[k];
      const Buffer& b = least.buffers[k];
      EXPECT_EQ(a.size, b.size);
      EXPECT_EQ(a.end - a.start, b.end - b.start);
      EXPECT_EQ(a, longer.buffers[k]);
      // The next to the right of the one before, or at the left end.
      EXPECT_TRUE(a.start == 0 || a.start == left.buffers[k - 1].end);
    }
    EXPECT_LT(MaxLiveLoad(least).load, MaxLiveLoad(left).load);
  }
}

// The same on every platform: results of experiments name these instances.
TEST(Strip, IsTheSameEverywhere) {
  const auto numbers = [](const Problem& problem, std::size_t count) {
    std::vector<std::int64_t> all;
    for (std::size_t k = 0; k < count; ++k) {
      const Buffer& buffer = problem.buffers[k];
      all.insert(all.end(), {buffer.start, buffer.end, buffer.size});
    }
    return all;
  };
  EXPECT_EQ(numbers(CutRectangle(40, 40, 10, 1), 4),
            (std::vector<std::int64_t>{0, 3, 9, 0, 34, 1, 39, 40, 11, 39, 40, 1}));
  EXPECT_EQ(numbers(DrawClass(7, 20, StripRule::kLeastLoad, 1), 4),
            (std::vector<std::int64_t>{86, 100, 7, 0, 69, 19, 0, 82, 21, 0, 59, 94}));
}

}  // namespace
}  // namespace berth::internal
