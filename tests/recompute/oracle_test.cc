// PlanWithRecomputation() against exhaustive search, on tiny graphs with every feature.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "berth/recompute.h"
#include "recompute/bound.h"
#include "recompute/branches.h"
#include "recompute/exact.h"
#include "recompute/gaps.h"
#include "recompute/improve.h"
#include "recompute/model.h"
#include "recompute/sequence.h"
#include "testing/recompute_oracle.h"
#include "testing/seeds.h"
#include "tests/recompute/cases.h"
#include "tools/verify/verify.h"

namespace berth {
namespace {

using internal::OracleRecomputation;
using internal::Seeds;

void ExpectHolds(const RecomputeCase& the, const MemoryPlan& plan) {
  const Link* const link = the.link ? &*the.link : nullptr;
  const auto valid = ValidatePlan(the.graph, the.counting, the.capacity, plan, link);
  EXPECT_TRUE(valid.has_value()) << valid.error().message;
  const auto report = verify::VerifyPlan(the.graph, the.counting, the.capacity, plan, 10, link);
  EXPECT_TRUE(report.ok()) << Describe(report, the.graph, plan);
}

// The seeds [first, first + count).
void CompareWithOracle(std::uint64_t first, std::uint64_t count) {
  std::uint64_t recomputed = 0;
  std::uint64_t impossible = 0;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const RecomputeCase the = CaseOf(seed, 8);
    const auto best = OracleRecomputation(the.graph, the.capacity, the.counting, the.fixed_order());
    Budget budget;
    const auto answer = PlanWithRecomputation(the.graph, the.Options(), budget);
    ASSERT_TRUE(answer.has_value()) << answer.error().message;
    if (!best) {
      EXPECT_EQ(answer->outcome, Outcome::kInfeasible);
      ++impossible;
      continue;
    }
    ASSERT_EQ(answer->outcome, Outcome::kOptimal);
    EXPECT_EQ(answer->best->recomputed.cost, *best);
    EXPECT_EQ(answer->recompute_bound, *best);
    EXPECT_LE(answer->best->peak(), the.capacity);
    recomputed += *best > 0 ? 1 : 0;
  }
  EXPECT_GT(recomputed, count / 20);
  EXPECT_GT(impossible, count / 40);
}

TEST(RecomputeOracle, FindsTheLeastCost) { CompareWithOracle(1, Seeds(2500)); }
TEST(RecomputeOracle, FindsTheLeastCostAgain) { CompareWithOracle(2501, Seeds(2500)); }

// The parts that large graphs rely on, each by itself: bounds never exceed the least cost, and what
// choosing, realising, repairing and pruning make is valid, and seldom dearer.
TEST(RecomputeOracle, BoundsHoldAndHeuristicsAreNearIt) {
  int of_order = 0;
  int tight_of_order = 0;
  int cut = 0;
  int tight_cut = 0;
  int found = 0;
  for (std::uint64_t seed = 1; seed <= Seeds(1500); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    // Every other graph has many writes in place.
    const Graph graph = GraphOf(seed + 10'000, 7, seed % 2 == 0 ? 0.5 : 0.15);
    const Counting counting = CountingOf(seed);
    const Bytes capacity = SomeCapacity(graph, counting, seed);
    const room::Model model = room::Compile(graph, counting);
    const Order program = ProgramOrder(graph);
    const std::vector<room::Op> order(program.begin(), program.end());
    Budget unlimited;
    Bytes least = 0;
    for (room::Op v = 0; v < model.num_operators(); ++v) least = std::max(least, model.NeedOf(v));
    if (least > capacity) continue;
    const auto best = room::SearchExactly(model, capacity, &order, 1'000'000, unlimited);
    ASSERT_TRUE(best.complete);
    const room::Gaps gaps(model, order, capacity);
    room::Measurer measurer(model, capacity);
    if (!gaps.fits_at_all()) {
      EXPECT_FALSE(best.sequence.has_value());
    } else if (best.sequence) {
      const std::int64_t cost = measurer.Of(*best.sequence).cost;
      const std::int64_t bound = BoundOf(gaps);
      EXPECT_LE(bound, cost);
      ++of_order;
      tight_of_order += bound == cost ? 1 : 0;
      room::Work work{1'000'000'000};
      room::Improver improver(model, capacity, true, 1, work, unlimited);
      room::Sequence sequence = order;
      if (improver.Repair(sequence)) {
        improver.Prune(sequence);
        const room::Measure measure = measurer.Of(sequence);
        EXPECT_TRUE(measure.fits());
        EXPECT_GE(measure.cost, cost);
        ++found;
      }
    }
    const auto free = room::SearchExactly(model, capacity, nullptr, 1'000'000, unlimited);
    ASSERT_TRUE(free.complete);
    room::Work work{1'000'000'000};
    const room::CutAnswer cuts =
        room::CutBound(model, capacity, order, std::int64_t{1} << 60, work, unlimited);
    if (cuts.infeasible) {
      EXPECT_FALSE(free.sequence.has_value());
    }
    if (free.sequence) {
      const std::int64_t cost = measurer.Of(*free.sequence).cost;
      EXPECT_LE(cuts.bound, cost);
      ++cut;
      tight_cut += cuts.bound == cost ? 1 : 0;
    }
  }
  EXPECT_GT(of_order, static_cast<int>(Seeds(1500) / 15));
  EXPECT_GT(4 * tight_of_order, 3 * of_order);
  EXPECT_GT(cut, static_cast<int>(Seeds(1500) / 15));
  EXPECT_GT(2 * tight_cut, cut);
  EXPECT_GT(4 * found, 3 * of_order);
}

// Without exact search, under every combination of rules: valid, never below the least cost, and
// never a bound above it.
TEST(RecomputeOracle, EveryRuleOnAndOff) {
  for (std::uint64_t seed = 1; seed <= Seeds(50); ++seed) {
    RecomputeCase the{GraphOf(seed + 50'000, 6), {}, 0, {}, seed % 2 == 0, {}};
    the.capacity = SomeCapacity(the.graph, the.counting, seed);
    the.order = ProgramOrder(the.graph);
    const auto best = OracleRecomputation(the.graph, the.capacity, the.counting, the.fixed_order());
    for (int rules = 0; rules < 128; ++rules) {
      SCOPED_TRACE("seed " + std::to_string(seed) + ", rules " + std::to_string(rules));
      RecomputeOptions options = the.Options();
      options.placer = DefaultPlacer();
      options.rules.selection = (rules & 1) != 0;
      options.rules.reprice = (rules & 2) != 0;
      options.rules.exchange = (rules & 4) != 0;
      options.rules.cuts = (rules & 8) != 0;
      options.rules.evict = (rules & 16) != 0;
      options.rules.group = (rules & 32) != 0;
      options.rules.branches = (rules & 64) != 0;
      options.rules.exact = false;
      Budget budget;
      const auto answer = PlanWithRecomputation(the.graph, options, budget);
      ASSERT_TRUE(answer.has_value()) << answer.error().message;
      if (answer->outcome == Outcome::kInfeasible) {
        EXPECT_FALSE(best.has_value());
      }
      if (!best) {
        EXPECT_FALSE(answer->best.has_value());
        continue;
      }
      EXPECT_LE(answer->recompute_bound, *best);
      if (answer->best) {
        EXPECT_GE(answer->best->recomputed.cost, *best);
        ExpectHolds(the, *answer->best);
      }
    }
  }
}

// Larger graphs, of which few have operators that gaps share which end one after the other.
TEST(RecomputeOracle, BranchesRaiseTheBoundOfOneOrder) {
  int raised = 0;
  int closed = 0;
  for (std::uint64_t seed = 1; seed <= Seeds(100'000); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Graph graph = GraphOf(seed + 90'000, 11, seed % 2 == 0 ? 0.3 : 0.05);
    const Bytes capacity = SomeCapacity(graph, {}, seed);
    const room::Model model = room::Compile(graph, {});
    const std::vector<room::Op> order = OpsOf(ProgramOrder(graph));
    const room::Gaps gaps(model, order, capacity);
    if (!gaps.fits_at_all()) continue;
    Budget budget;
    const room::Gaps::Answer whole =
        gaps.Choose({}, room::Gaps::Depth::kProof, room::Gaps::Count::kWhenPaid, budget);
    const auto bound = room::BoundByBranches(gaps, model, whole, room::kMostCost, budget);
    if (bound == whole.bound) continue;
    const auto best = room::SearchExactly(model, capacity, &order, 200'000, budget);
    if (!best.sequence) continue;
    ASSERT_TRUE(bound.has_value());
    EXPECT_GT(*bound, whole.bound);
    EXPECT_LE(*bound, best.cost);
    ++raised;
    closed += *bound == best.cost ? 1 : 0;
  }
  EXPECT_GE(raised * 2000, static_cast<int>(Seeds(100'000)));
  EXPECT_GE(closed * 5, raised);
}

// Joint plans: every tensor that has to make room is copied or made again.
void CompareJointWithOracle(std::uint64_t first, std::uint64_t count) {
  std::uint64_t mixed = 0;
  std::uint64_t copied = 0;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const RecomputeCase the = LinkedCaseOf(seed, seed % 100 == 0 ? 8 : seed % 10 == 0 ? 7 : 5);
    if (the.graph.tensors.size() > 14) continue;  // They take the oracle seconds.
    const auto best =
        OracleRecomputation(the.graph, the.capacity, the.counting, the.fixed_order(), &*the.link);
    Budget budget;
    const auto answer = PlanWithRecomputation(the.graph, the.Options(), budget);
    ASSERT_TRUE(answer.has_value()) << answer.error().message;
    if (!best) {
      EXPECT_EQ(answer->outcome, Outcome::kInfeasible);
      continue;
    }
    ASSERT_EQ(answer->outcome, Outcome::kOptimal);
    EXPECT_EQ(answer->best->overhead(), *best);
    EXPECT_EQ(answer->recompute_bound, *best);
    EXPECT_LE(answer->best->peak(), the.capacity);
    ExpectHolds(the, *answer->best);
    const bool copies = answer->best->traffic.avoidable() > 0;
    copied += copies ? 1 : 0;
    mixed += copies && answer->best->recomputed.operators > 0 ? 1 : 0;
  }
  EXPECT_GT(copied, count / 30);
  EXPECT_GE(mixed, count / 500);
}

TEST(RecomputeOracle, FindsTheLeastSumOfBothCosts) { CompareJointWithOracle(1, Seeds(2500)); }
TEST(RecomputeOracle, FindsTheLeastSumOfBothCostsAgain) {
  CompareJointWithOracle(2501, Seeds(2500));
}

// Without exact search, under every combination of rules: valid, executed, never below the least cost,
// and never a bound above it. Bounds for one order and for all.
TEST(RecomputeOracle, EveryRuleOnAndOffWithCopies) {
  int found = 0;
  int best_found = 0;
  int proved = 0;
  for (std::uint64_t seed = 1; seed <= Seeds(60); ++seed) {
    RecomputeCase the{
        TimedGraphOf(seed + 70'000, 7), CountingOf(seed), 0, LinkOf(seed), seed % 2 == 0, {}};
    the.capacity = SomeCapacity(the.graph, the.counting, seed);
    the.order = ProgramOrder(the.graph);
    const auto best =
        OracleRecomputation(the.graph, the.capacity, the.counting, the.fixed_order(), &*the.link);
    for (int rules = 0; rules < 64; ++rules) {
      SCOPED_TRACE("seed " + std::to_string(seed) + ", rules " + std::to_string(rules));
      RecomputeOptions options = the.Options();
      options.placer = DefaultPlacer();
      options.rules.selection = (rules & 1) != 0;
      options.rules.reprice = (rules & 2) != 0;
      options.rules.exchange = (rules & 4) != 0;
      options.rules.cuts = (rules & 8) != 0;
      options.rules.evict = (rules & 16) != 0;
      options.rules.group = (rules & 32) != 0;
      options.rules.exact = false;
      Budget budget;
      const auto answer = PlanWithRecomputation(the.graph, options, budget);
      ASSERT_TRUE(answer.has_value()) << answer.error().message;
      if (!best) {
        EXPECT_FALSE(answer->best.has_value());
        continue;
      }
      EXPECT_NE(answer->outcome, Outcome::kInfeasible);
      EXPECT_LE(answer->recompute_bound, *best);
      if (!answer->best) continue;
      EXPECT_GE(answer->best->overhead(), *best);
      ExpectHolds(the, *answer->best);
      if (rules != 31) continue;
      ++found;
      best_found += answer->best->overhead() == *best ? 1 : 0;
      proved += answer->outcome == Outcome::kOptimal ? 1 : 0;
    }
  }
  EXPECT_GT(10 * best_found, 9 * found);
  EXPECT_GT(2 * proved, found);
}

}  // namespace
}  // namespace berth
