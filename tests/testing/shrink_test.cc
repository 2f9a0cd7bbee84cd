#include "testing/shrink.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "testing/live.h"
#include "testing/random_problem.h"

namespace berth::internal {
namespace {

TEST(ShrinkTest, FindsTheOneBufferThatMatters) {
  ProblemKnobs knobs = AllKnobs();
  knobs.min_buffers = 20;
  knobs.max_buffers = 30;
  knobs.max_size = 50;
  const auto fails = [](const Problem& problem) {
    return std::any_of(problem.buffers.begin(), problem.buffers.end(),
                       [](const Buffer& buffer) { return buffer.size >= 17; });
  };
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    const Problem problem = RandomProblem(seed, knobs);
    ASSERT_TRUE(fails(problem));
    Problem expected;
    expected.buffers = {{"a", 0, 1, 17, 1, std::nullopt, std::nullopt, {}}};
    EXPECT_EQ(Shrink(problem, fails), expected);
  }
}

TEST(ShrinkTest, KeepsTheFeaturesThatMatter) {
  ProblemKnobs knobs = AllKnobs();
  knobs.min_buffers = 8;
  knobs.max_buffers = 12;
  knobs.max_gaps = 3;
  // Two buffers live together, one with a window of at least 2 bytes, the other pinned above 0.
  const auto fails = [](const Problem& problem) {
    for (const Buffer& a : problem.buffers) {
      for (const Buffer& b : problem.buffers) {
        if (a.id == b.id || a.start >= b.end || b.start >= a.end) continue;
        const bool windowed = std::any_of(a.gaps.begin(), a.gaps.end(), [](const Gap& gap) {
          return gap.window && gap.window->upper - gap.window->lower >= 2;
        });
        if (windowed && b.offset && *b.offset > 0) return true;
      }
    }
    return false;
  };
  int found = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(seed);
    const Problem problem = RandomProblem(seed, knobs);
    if (!fails(problem)) continue;
    ++found;
    Problem small = Shrink(problem, fails);
    ASSERT_EQ(small.buffers.size(), 2U);
    std::sort(small.buffers.begin(), small.buffers.end(),
              [](const Buffer& a, const Buffer& b) { return a.gaps.size() > b.gaps.size(); });
    small.buffers[0].id = "a";
    small.buffers[1].id = "b";
    Problem expected;
    expected.buffers = {{"a", 0, 1, 2, 1, std::nullopt, std::nullopt, {Gap{0, 1, Window{0, 2}}}},
                        {"b", 0, 1, 1, 1, 1, std::nullopt, {}}};
    EXPECT_EQ(small, expected) << ToCpp(small);
  }
  EXPECT_GT(found, 20);
}

// Sizes and the capacity can only decrease together.
TEST(ShrinkTest, LowersSizesAlongWithTheCapacity) {
  Problem problem;
  problem.capacity = 900'000;
  problem.buffers = {{"x", 10, 70, 400'001, 1, std::nullopt, std::nullopt, {}},
                     {"y", 20, 90, 500'000, 1, std::nullopt, std::nullopt, {}}};
  const Problem small = Shrink(problem, [](const Problem& candidate) {
    return candidate.capacity && PeakLoad(candidate) == *candidate.capacity + 1;
  });
  Problem expected;
  expected.capacity = 0;
  expected.buffers = {{"a", 0, 1, 1, 1, std::nullopt, std::nullopt, {}}};
  EXPECT_EQ(small, expected) << ToCpp(small);
}

TEST(ShrinkTest, AsksOnlyAboutValidProblemsAndNotTooOften) {
  int calls = 0;
  const Problem problem = RandomProblem(3, AllKnobs());
  const Problem small = Shrink(
      problem,
      [&](const Problem& candidate) {
        ++calls;
        EXPECT_TRUE(Validate(candidate).has_value());
        return !candidate.buffers.empty();
      },
      30);
  EXPECT_LE(calls, 30);
  EXPECT_TRUE(Validate(small).has_value());
}

// The statements are compiled here and printed by the function, so the printed code compiles and is
// the problem.
#define BERTH_BOTH(...) \
  __VA_ARGS__;          \
  const std::string source = #__VA_ARGS__

std::string WithoutLayout(const std::string& text) {
  std::string kept;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.compare(i, 2, "//") == 0) i = text.find('\n', i);
    if (text[i] != ' ' && text[i] != '\n' && text[i] != ';') kept += text[i];
  }
  return kept;
}

TEST(ShrinkTest, PrintsCppThatIsTheProblem) {
  // clang-format off
  BERTH_BOTH(
    Problem problem;
    problem.capacity = 12;
    problem.buffers = {
        {"a \"b\"", -3, 9, 8, 4, 4, std::nullopt, {Gap{1, 3, Window{0, 2}}, Gap{4, 5, std::nullopt}}},
        {"c", 0, 1, 3, 1, std::nullopt, 7, {}},
    });
  // clang-format on
  EXPECT_EQ(WithoutLayout(ToCpp(problem)), WithoutLayout(source));
  EXPECT_EQ(ToTable(problem),
            "id,lower,upper,size,alignment,offset,hint,gaps\n"
            "\"a \"\"b\"\"\",-3,9,8,4,4,,1-3@0:2 4-5\n"
            "\"c\",0,1,3,1,,7,\n");
}

}  // namespace
}  // namespace berth::internal
