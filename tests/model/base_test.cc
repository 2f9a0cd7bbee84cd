#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/arithmetic.h"
#include "base/indexed_vector.h"
#include "base/keyed.h"
#include "base/name_set.h"
#include "base/nested_rectangles.h"
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
       std::initializer_list<std::size_t>{0, 1, 2, 15, 16, 17, 32, 33, 100, 1023, 1024, 5000}) {
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

// Few places, so that many have the same bytes or ends.
std::vector<Rectangle> RandomNested(Random& random) {
  std::vector<Rectangle> rectangles(static_cast<std::size_t>(random.Uniform(0, 40)));
  const std::int64_t steps = random.Uniform(1, 30);
  const std::int64_t bytes = random.Uniform(1, 30);
  const std::int64_t longest = random.Uniform(1, steps);
  for (std::size_t r = 0; r < rectangles.size(); ++r) {
    Rectangle& each = rectangles[r];
    each.start = random.Uniform(0, steps);
    each.end = each.start + random.Uniform(1, longest);
    each.lower = random.Uniform(0, bytes);
    each.upper = each.lower + random.Uniform(1, bytes);
    each.owner = r;
  }
  return rectangles;
}

bool HasAllBytesOf(const Rectangle& outer, const Rectangle& inner) {
  return outer.lower <= inner.lower && inner.upper <= outer.upper;
}

TEST(JoinNested, JoinsWhatTheDefinitionJoins) {
  int joined = 0;
  for (std::uint64_t seed = 1; seed <= 4000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const std::vector<Rectangle> rectangles = RandomNested(random);
    DisjointSets expected(rectangles.size());
    for (const Rectangle& a : rectangles) {
      for (const Rectangle& b : rectangles) {
        if (a.start < b.end && b.start < a.end && HasAllBytesOf(a, b)) {
          expected.Join(a.owner, b.owner);
        }
      }
    }
    DisjointSets sets(rectangles.size());
    JoinNested(rectangles, sets);
    for (std::size_t a = 0; a < rectangles.size(); ++a) {
      for (std::size_t b = 0; b < a; ++b) {
        const bool same = expected.Find(a) == expected.Find(b);
        ASSERT_EQ(sets.Find(a) == sets.Find(b), same) << a << " and " << b;
        joined += same ? 1 : 0;
      }
    }
  }
  EXPECT_GT(joined, 100000);
}

// Of one rectangle, the steps at which another one that is live has all its bytes.
std::vector<std::pair<std::int64_t, std::int64_t>> NestedByDefinition(
    const std::vector<Rectangle>& rectangles, std::size_t inner) {
  std::vector<std::pair<std::int64_t, std::int64_t>> ranges;
  const Rectangle& of = rectangles[inner];
  for (std::int64_t step = of.start; step < of.end; ++step) {
    const bool within = std::any_of(rectangles.begin(), rectangles.end(), [&](const auto& each) {
      const bool before = !HasAllBytesOf(of, each) || each.owner < inner;
      return each.start <= step && step < each.end && HasAllBytesOf(each, of) && before;
    });
    if (!within) continue;
    if (!ranges.empty() && ranges.back().second == step) {
      ++ranges.back().second;
    } else {
      ranges.emplace_back(step, step + 1);
    }
  }
  return ranges;
}

TEST(ForEachNested, FindsTheRangesOfTheDefinition) {
  std::size_t found = 0;
  for (std::uint64_t seed = 1; seed <= 4000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const std::vector<Rectangle> rectangles = RandomNested(random);
    std::vector<std::vector<std::pair<std::int64_t, std::int64_t>>> ranges(rectangles.size());
    ForEachNested(rectangles, [&](std::size_t inner, std::int64_t start, std::int64_t end) {
      ranges[inner].emplace_back(start, end);
      return true;
    });
    for (std::size_t r = 0; r < rectangles.size(); ++r) {
      ASSERT_EQ(ranges[r], NestedByDefinition(rectangles, r)) << r;
      found += ranges[r].size();
    }
  }
  EXPECT_GT(found, 20000u);
}

// Pairs are too many to look at one by one: each of these takes hours if they are.
TEST(Nested, HundredsOfThousandsMayHaveTheSameBytes) {
  constexpr std::size_t kCount = 300000;
  const auto at = [](std::size_t i) { return static_cast<std::int64_t>(i); };
  std::vector<Rectangle> same;
  std::vector<Rectangle> stairs;  // All of which have the bytes of later ones.
  for (std::size_t i = 0; i < kCount; ++i) {
    same.push_back({0, 5, 0, 8, i});
    const auto half = at(kCount / 2);
    if (i < kCount / 2) {
      stairs.push_back({0, 3 * half, at(i), half + at(i) + 1, i});
    } else {
      // One after the other, each in all the stairs.
      stairs.push_back({2 * (at(i) - half), 2 * (at(i) - half) + 2, half - 1, half, i});
    }
  }
  for (const auto* rectangles : {&same, &stairs}) {
    DisjointSets sets(kCount);
    JoinNested(*rectangles, sets);
    for (std::size_t i = 1; i < kCount; ++i) ASSERT_EQ(sets.Find(i), sets.Find(0));
    std::size_t ranges = 0;
    ForEachNested(*rectangles, [&](std::size_t, std::int64_t, std::int64_t) {
      ++ranges;
      return true;
    });
    EXPECT_EQ(ranges, rectangles == &same ? kCount - 1 : kCount / 2);
  }
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

TEST(NameSet, NumbersNamesAndMakesRoom) {
  std::vector<std::string> names;
  for (int k = 0; k < 1000; ++k) names.push_back("name " + std::to_string(k));
  NameSet set(0);
  for (std::size_t k = 0; k < names.size(); ++k) {
    EXPECT_EQ(set.NumberOf(names[k]), 0u);
    EXPECT_TRUE(set.Insert(names[k]));
    if (k == 10) set.Reserve(5);  // Fewer than there are.
    if (k == 20) set.Reserve(700);
    EXPECT_EQ(set.NumberOf(names[k]), k + 1);
    EXPECT_EQ(set.NumberOf("name 7"), k < 7 ? 0u : 8u);
  }
}

TEST(Text, AppendsNumbers) {
  std::string text = "x";
  for (const std::int64_t number : {std::int64_t{0}, std::int64_t{-7}, std::int64_t{1} << 60,
                                    std::numeric_limits<std::int64_t>::min()}) {
    AppendNumber(text, number);
    text += ' ';
  }
  EXPECT_EQ(text, "x0 -7 1152921504606846976 -9223372036854775808 ");
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
