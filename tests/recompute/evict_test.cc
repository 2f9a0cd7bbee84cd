// Evict(): its sequences fit, cost no less than the least, and exist for nearly all graphs that have one.
#include "recompute/evict.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "recompute/exact.h"
#include "testing/seeds.h"
#include "tests/recompute/cases.h"

namespace berth {
namespace {

using internal::Seeds;
TEST(Evict, FitsAndIsNeverBelowTheLeastCost) {
  std::uint64_t possible = 0;
  std::uint64_t found = 0;
  std::uint64_t copied = 0;
  std::uint64_t repeated = 0;
  std::uint64_t sequences = 0;
  std::uint64_t within = 0;  // The cost that they have.
  std::uint64_t ended_early = 0;
  for (std::uint64_t seed = 1; seed <= Seeds(3000); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const RecomputeCase the = seed % 2 == 0 ? LinkedCaseOf(seed, 6) : CaseOf(seed, 6);
    const room::Model model = room::Compile(the.graph, the.counting, the.link);
    const std::vector<room::Op> order = OpsOf(the.order);
    Budget budget;
    const auto best = room::SearchExactly(model, the.capacity, &order, 1'000'000, budget);
    if (!best.complete) continue;
    room::Measurer measurer(model, the.capacity);
    possible += best.sequence ? 1 : 0;
    bool any = false;
    for (const double exponent : {0.5, 1.0, 2.0}) {
      for (const bool closure : {false, true}) {
        room::Work work{kPlenty};
        const auto evict = [&](std::int64_t most) {
          return room::Evict(model, order, the.capacity, {exponent, closure}, most, work, budget);
        };
        const auto sequence = evict(room::kMostCost);
        if (!sequence) continue;
        any = true;
        ASSERT_TRUE(best.sequence.has_value());
        const room::Measure measure = measurer.Of(*sequence);
        EXPECT_TRUE(measure.fits());
        EXPECT_GE(measure.cost, measurer.Of(*best.sequence).cost);
        EXPECT_EQ(FirstsOf(*sequence, model), order);
        // An earlier attempt, which failed, may have cost more.
        ++sequences;
        within += evict(measure.cost) == sequence ? 1 : 0;
        if (!model.linked && measure.cost > 0) {
          EXPECT_FALSE(evict(measure.cost - 1).has_value());
          ended_early += 1;
        }
        const auto returns = static_cast<std::uint64_t>(std::count_if(
            sequence->begin(), sequence->end(), [&](room::Op v) { return model.IsReturn(v); }));
        copied += returns;
        repeated += sequence->size() - returns - order.size();
      }
    }
    found += any ? 1 : 0;
  }
  EXPECT_GT(possible, Seeds(3000) / 4);
  EXPECT_GE(100 * found, 90 * possible) << found << " of " << possible;
  EXPECT_GT(copied, Seeds(3000) / 10);
  EXPECT_GT(repeated, Seeds(3000) / 10);
  EXPECT_GE(100 * within, 99 * sequences) << within << " of " << sequences;
  EXPECT_GT(ended_early, Seeds(3000) / 10);
}

TEST(Evict, EndsWhenTheWorkIsSpent) {
  const RecomputeCase the = CaseOf(1, 8);
  const room::Model model = room::Compile(the.graph, the.counting);
  Budget budget;
  room::Work work{1};
  EXPECT_FALSE(room::Evict(model, OpsOf(the.order), the.capacity, {}, room::kMostCost, work, budget)
                   .has_value());
  EXPECT_TRUE(work.spent());
}

}  // namespace
}  // namespace berth
