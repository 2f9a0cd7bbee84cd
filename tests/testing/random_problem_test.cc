#include "testing/random_problem.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "testing/oracle.h"

namespace berth::internal {
namespace {

TEST(RandomProblemTest, IsValidAndRepeatable) {
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    SCOPED_TRACE(seed);
    ProblemKnobs knobs = AllKnobs();
    knobs.pins_may_collide = seed % 2 == 0;
    knobs.size_unit = seed % 3 == 0 ? 4 : 1;
    const Problem problem = RandomProblem(seed, knobs);
    const auto valid = Validate(problem);
    ASSERT_TRUE(valid.has_value()) << valid.error().message;
    EXPECT_EQ(problem, RandomProblem(seed, knobs));
  }
}

TEST(RandomProblemTest, HasEverythingAndNothing) {
  int with_all = 0;
  int plain = 0;
  int negative_steps = 0;
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    const Problem problem = RandomProblem(seed, AllKnobs());
    const auto any = [&](auto has) {
      return std::any_of(problem.buffers.begin(), problem.buffers.end(), has);
    };
    const bool aligned = any([](const Buffer& b) { return b.alignment > 1; });
    const bool pinned = any([](const Buffer& b) { return b.offset.has_value(); });
    const bool hinted = any([](const Buffer& b) { return b.hint.has_value(); });
    const bool gapped = any([](const Buffer& b) { return !b.gaps.empty(); });
    const bool windowed = any([](const Buffer& b) {
      return std::any_of(b.gaps.begin(), b.gaps.end(), [](const Gap& g) { return g.window; });
    });
    with_all += aligned && pinned && hinted && gapped && windowed;
    plain += !aligned && !pinned && !hinted && !gapped;
    negative_steps += any([](const Buffer& b) { return b.start < 0; });
  }
  EXPECT_GT(with_all, 20);
  EXPECT_GT(plain, 20);
  EXPECT_GT(negative_steps, 50);
}

TEST(RandomProblemTest, PinsCollideOnlyWhereAllowed) {
  ProblemKnobs knobs;
  knobs.pin_chance = 0.6;
  int impossible = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    knobs.pins_may_collide = false;
    EXPECT_TRUE(OracleHeight(RandomProblem(seed, knobs)));
    knobs.pins_may_collide = true;
    impossible += !OracleHeight(RandomProblem(seed, knobs)).has_value();
  }
  EXPECT_GT(impossible, 20);
}

}  // namespace
}  // namespace berth::internal
