#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/arithmetic.h"
#include "base/indexed_vector.h"
#include "base/keyed.h"
#include "base/name_set.h"
#include "base/radix_sort.h"
#include "base/random.h"
#include "base/rectangles.h"
#include "base/text.h"
#include "base/wide.h"

namespace berth::internal {
namespace {

TEST(Arithmetic, RoundsToMultiples) {
  EXPECT_EQ(RoundUp(0, 8), 0);
  EXPECT_EQ(RoundUp(1, 8), 8);
  EXPECT_EQ(RoundUp(8, 8), 8);
  EXPECT_EQ(RoundUp(-1, 8), 0);
  EXPECT_EQ(RoundUp(-8, 8), -8);
  EXPECT_EQ(RoundUp(-9, 8), -8);
  EXPECT_EQ(RoundUp(7, 3), 9);
  EXPECT_EQ(RoundDown(7, 3), 6);
  EXPECT_EQ(RoundDown(6, 3), 6);
}

TEST(Arithmetic, SeesOverflow) {
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(CheckedAdd(kMost - 1, 1), kMost);
  EXPECT_EQ(CheckedAdd(kMost, 1), std::nullopt);
  EXPECT_EQ(CheckedMul(kMost / 2, 2), kMost - 1);
  EXPECT_EQ(CheckedMul(kMost / 2 + 1, 2), std::nullopt);
}

// The numbers must never change: generated problems and plans depend on them.
#ifdef __SIZEOF_INT128__
// What stands in for the compiler's integers of 128 bits must calculate as they do.
TEST(TwoWords, CalculateAsTheCompiler) {
  Random random(1);
  const auto draw = [&] {
    return static_cast<std::int64_t>(random.Next()) >> random.Uniform(0, 63);
  };
  for (int i = 0; i < 100'000; ++i) {
    const std::int64_t a = draw();
    const std::int64_t b = draw();
    const std::int64_t c = draw();
    const std::int64_t d = draw();
    SCOPED_TRACE(testing::Message() << a << " " << b << " " << c << " " << d);
    const auto same = [](TwoWords ours, Wide theirs) {
      return static_cast<std::uint64_t>(ours) == static_cast<std::uint64_t>(theirs) &&
             static_cast<std::int64_t>(ours >> 64) == static_cast<std::int64_t>(theirs >> 64);
    };
    const TwoWords ours = TwoWords(a) * b;
    const Wide theirs = Wide{a} * b;
    const TwoWords others = TwoWords(c) * d + b;
    const Wide their_others = Wide{c} * d + b;
    ASSERT_TRUE(same(ours, theirs));
    ASSERT_TRUE(same(-ours, -theirs));
    ASSERT_TRUE(same(others, their_others));
    ASSERT_TRUE(same(ours - others, theirs - their_others));
    const int bits = static_cast<int>(random.Uniform(0, 127));
    ASSERT_TRUE(same(ours >> bits, theirs >> bits)) << bits;
    ASSERT_TRUE(same(ours << bits, theirs << bits)) << bits;
    ASSERT_EQ(ours < others, theirs < their_others);
    ASSERT_EQ(ours == others, theirs == their_others);
    ASSERT_EQ(ours == TwoWords(b) * a, true);
    ASSERT_TRUE(their_others == 0 || same(ours / others, theirs / their_others));
    ASSERT_TRUE(c == 0 || same(ours / c, theirs / c));
  }
}
#endif

TEST(Random, IsTheSameEverywhere) {
  Random random(1);
  EXPECT_EQ(random.Next(), 10451216379200822465u);
  EXPECT_EQ(random.Next(), 13757245211066428519u);
  EXPECT_EQ(random.Uniform(1, 6), 1);
}

TEST(Random, ReachesBothEndsOfARange) {
  Random random(7);
  std::vector<int> seen(4, 0);
  for (int i = 0; i < 400; ++i) ++seen[static_cast<std::size_t>(random.Uniform(-1, 2) + 1)];
  EXPECT_GT(*std::min_element(seen.begin(), seen.end()), 50);
  EXPECT_EQ(random.Uniform(5, 5), 5);
  constexpr auto kLeast = std::numeric_limits<std::int64_t>::min();
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
  EXPECT_NE(random.Uniform(kLeast, kMost), random.Uniform(kLeast, kMost));
}

TEST(Index, RangesCoverTheirIndices) {
  struct Tag;
  using I = Index<Tag>;
  IndexedVector<I, int> items(3, 7);
  int sum = 0;
  for (const I i : items.indices()) sum += items[i] * (i.value() + 1);
  EXPECT_EQ(sum, 42);
  EXPECT_EQ(IndexRange(I(2), I(1)).begin(), IndexRange(I(2), I(1)).end());
}

// Of any length and spread of keys, negative ones too.
TEST(SortByInteger, IsStableAndSorts) {
  Random random(2);
  for (const std::size_t length :
       {std::size_t{0}, std::size_t{1}, std::size_t{100}, std::size_t{5000}}) {
    for (const int bits : {1, 10, 11, 12, 33, 44, 45, 62}) {
      SCOPED_TRACE(testing::Message() << length << " keys of " << bits << " bits");
      const std::int64_t most = std::int64_t{1} << bits;
      std::vector<std::pair<std::int64_t, std::size_t>> things;
      things.reserve(length);
      for (std::size_t k = 0; k < length; ++k) {
        things.emplace_back(random.Uniform(-most / 3, most / 2), k);
      }
      auto expected = things;
      std::sort(expected.begin(), expected.end());
      SortByInteger(things, [](const auto& thing) { return thing.first; });
      ASSERT_EQ(things, expected);
    }
  }
}

TEST(Keyed, AreSortedByAllEntriesThenByIndex) {
  Random random(3);
  for (const std::int64_t length : {10, 5000}) {
    std::vector<Keyed> things;
    things.reserve(static_cast<std::size_t>(length));
    for (std::int64_t k = 0; k < length; ++k) {
      things.push_back(
          {{random.Uniform(-20, 20), random.Uniform(0, 3), random.Uniform(0, 3)}, length - k});
    }
    auto expected = things;
    std::sort(expected.begin(), expected.end());
    Sort(things);
    for (std::size_t k = 0; k < things.size(); ++k) {
      ASSERT_EQ(things[k].key, expected[k].key);
      ASSERT_EQ(things[k].index, expected[k].index);
    }
  }
}

// Clashes as they are defined: the first step at which two rectangles share a byte.
std::optional<std::int64_t> FirstClashByDefinition(const std::vector<Rectangle>& rectangles) {
  std::optional<std::int64_t> first;
  for (const Rectangle& a : rectangles) {
    for (const Rectangle& b : rectangles) {
      if (&a == &b || a.start > b.start || b.start >= a.end) continue;
      if (a.lower < b.upper && b.lower < a.upper)
        first = std::min(first.value_or(b.start), b.start);
    }
  }
  return first;
}

bool Meet(const Rectangle& a, const Rectangle& b) {
  return a.start < b.end && b.start < a.end && a.lower < b.upper && b.lower < a.upper;
}

TEST(FirstClash, IsTheOneOfTheDefinition) {
  int clashes = 0;
  for (std::uint64_t seed = 1; seed <= 3000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    // Few clashes, so that searches go on until many ranges are live.
    std::vector<Rectangle> rectangles(static_cast<std::size_t>(random.Uniform(0, 200)));
    const std::int64_t most = random.Uniform(1, 4000);
    for (Rectangle& each : rectangles) {
      each.start = random.Uniform(0, 50);
      each.end = each.start + random.Uniform(1, 20);
      each.lower = random.Uniform(0, 20 * most);
      each.upper = each.lower + random.Uniform(1, 20);
    }
    const auto clash = FirstClash(rectangles);
    const auto expected = FirstClashByDefinition(rectangles);
    ASSERT_EQ(clash.has_value(), expected.has_value());
    if (!clash) continue;
    ++clashes;
    EXPECT_EQ(clash->late->start, *expected);
    EXPECT_TRUE(Meet(*clash->late, *clash->early));
  }
  EXPECT_GT(clashes, 500);
  EXPECT_LT(clashes, 2900);
}

TEST(FirstClash, FindsTheOneAmongThousandsOfLiveRanges) {
  constexpr std::int64_t kRanges = 20000;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    // Side by side, in random order of time; each place is taken by several, one after the other.
    std::vector<Rectangle> rectangles;
    for (std::int64_t i = 0; i < kRanges; ++i) {
      std::int64_t start = random.Uniform(0, 1000);
      for (int k = 0; k < 3; ++k) {
        const std::int64_t end = start + random.Uniform(1, 5000);
        rectangles.push_back({start, end, 10 * i, 10 * i + 10, rectangles.size()});
        start = end;
      }
    }
    for (std::size_t i = rectangles.size(); i > 1; --i) {
      std::swap(rectangles[i - 1], rectangles[static_cast<std::size_t>(
                                       random.Uniform(0, static_cast<std::int64_t>(i) - 1))]);
    }
    EXPECT_FALSE(FirstClash(rectangles));
    const Rectangle& one = rectangles[static_cast<std::size_t>(
        random.Uniform(0, static_cast<std::int64_t>(rectangles.size()) - 1))];
    rectangles.push_back({one.start, one.start + 1, one.lower + 9, one.lower + 10, 0});
    const auto clash = FirstClash(rectangles);
    ASSERT_TRUE(clash);
    EXPECT_TRUE(Meet(*clash->late, *clash->early));
  }
}

TEST(NameSet, KnowsWhatComesTwice) {
  std::vector<std::string> names = {""};
  names.reserve(3001);
  for (int k = 0; k < 3000; ++k) names.push_back("name " + std::to_string(k));
  NameSet set(2);  // Grows.
  for (const std::string& name : names) {
    EXPECT_FALSE(set.Contains(name));
    EXPECT_TRUE(set.Insert(name));
  }
  for (const std::string& name : names) {
    EXPECT_TRUE(set.Contains(name));
    EXPECT_FALSE(set.Insert(std::string(name)));
  }
  EXPECT_FALSE(set.Contains("name 3000"));
}

TEST(Text, IsShownOnOneLine) {
  EXPECT_EQ(Quoted("plain"), "\"plain\"");
  EXPECT_EQ(Quoted("two\nlines \"quoted\""), "\"two\\nlines \\\"quoted\\\"\"");
  EXPECT_EQ(Printable("\x1b[31m\xff"), "\\x1b[31m\\xff");
  EXPECT_EQ(Printable("\xc3\xa9"), "\xc3\xa9");
  EXPECT_EQ(Quoted(std::string(100, 'x')), "\"" + std::string(60, 'x') + "...\"");
}

TEST(Text, KnowsUtf8) {
  EXPECT_TRUE(IsUtf8("\xf0\x9f\x98\x80"));
  for (const char* bad : {"\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x82", "\x80"}) {
    EXPECT_FALSE(IsUtf8(bad));
  }
}

}  // namespace
}  // namespace berth::internal
