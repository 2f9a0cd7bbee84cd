// Less traffic by the search for sequences of executions, against trying everything on small graphs.
#include "plan/spills.h"

#include <gtest/gtest.h>

#include "berth/plan.h"
#include "berth/spill.h"
#include "graph/plan.h"
#include "testing/random_graph.h"
#include "testing/seeds.h"
#include "testing/spill_oracle.h"
#include "tools/generate/cells.h"

namespace berth::internal::plan {
namespace {

Graph SmallGraph(std::uint64_t seed, int min_operators, int max_operators) {
  GraphKnobs knobs = AllGraphKnobs();
  knobs.min_operators = min_operators;
  knobs.max_operators = max_operators;
  return RandomGraph(seed, knobs);
}

SpillOptions OptionsOf(const Graph& graph, std::uint64_t seed) {
  SpillOptions options;
  options.counting.inputs = seed % 3 == 0;
  options.counting.parameters = seed % 5 == 0;
  options.fixed_order = seed % 4 == 0;
  options.orders = {RandomOrder(graph, seed)};
  const Bytes least = FindLeastMemory(graph, options.counting).bytes;
  options.capacity = least + static_cast<Bytes>(seed % 7) * least / 10;
  return options;
}

Bytes LeastTraffic(const Graph& graph, const SpillOptions& options) {
  return *OracleTraffic(graph, options.capacity, options.counting,
                        options.fixed_order ? &options.orders.front() : nullptr);
}

TEST(ImproveSpillsTest, FindsTheLeastTrafficAndProvesNoMore) {
  int all = 0;
  int least = 0;
  int lost = 0;  // Plans that the search over residencies finds.
  for (std::uint64_t seed = 1; seed <= Seeds(1500); ++seed) {
    SCOPED_TRACE(seed);
    const Graph graph = SmallGraph(seed, 3, 7);
    const SpillOptions options = OptionsOf(graph, seed);
    const Bytes truth = LeastTraffic(graph, options);
    PlanAnswer answer;
    answer.traffic_by_sum = kMaxBytes;
    Budget budget;
    const auto improved = ImproveSpills(graph, options, answer, budget);
    ASSERT_TRUE(improved.has_value()) << improved.error().message;
    EXPECT_LE(answer.traffic_bound, truth);
    if (!answer.fits()) {  // Offsets may be impossible.
      Budget whole;
      lost += PlanWithSpills(graph, options, whole)->fits() ? 1 : 0;
      continue;
    }
    ++all;
    const Traffic& traffic = answer.best->traffic;
    EXPECT_EQ(traffic.cost, 0);
    EXPECT_GE(traffic.avoidable(), truth);
    EXPECT_EQ(answer.outcome == Outcome::kOptimal, traffic.avoidable() == answer.traffic_bound);
    EXPECT_TRUE(ValidatePlan(graph, options.counting, options.capacity, *answer.best).has_value());
    least += traffic.avoidable() == truth ? 1 : 0;
    if (HasFailure()) return;
  }
  EXPECT_GE(all * 2, static_cast<int>(Seeds(1500)));
  EXPECT_LE(lost * 50, all) << lost << " of " << all;
  EXPECT_GE(least * 100, all * 97) << least << " of " << all;
}

// However little time there is, and wherever it ends: in the first search, in the second, or in the third,
// which knows what the others have found.
TEST(SearchForSpillsTest, ProvesNoMoreThanIsTrue) {
  int fits = 0;
  int proved = 0;
  const std::uint64_t seeds = Seeds(600);
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    SCOPED_TRACE(seed);
    const Graph graph = SmallGraph(seed, 5, 8);
    SpillOptions options = OptionsOf(graph, seed);
    options.rules.peaks = seed % 2 == 0;
    options.rules.whole = seed % 3 == 0;
    options.rules.cuts = seed % 5 == 0;
    const Bytes truth = LeastTraffic(graph, options);
    Budget budget(0.0005 * static_cast<double>(1 + seed % 8));
    const auto answer =
        SearchForSpills(graph, options, spill::CompileModel(graph, options.counting, false), 0,
                        spill::kNoCost, budget);
    ASSERT_TRUE(answer.has_value()) << answer.error().message;
    EXPECT_LE(answer->traffic_bound, truth);
    EXPECT_GE(answer->traffic_by_sum, truth);
    if (!answer->fits()) continue;
    ++fits;
    const Bytes traffic = answer->best->traffic.avoidable();
    EXPECT_GE(traffic, truth);
    EXPECT_TRUE(ValidatePlan(graph, options.counting, options.capacity, *answer->best).has_value());
    EXPECT_EQ(answer->outcome == Outcome::kOptimal, traffic == answer->traffic_bound);
    proved += answer->outcome == Outcome::kOptimal ? 1 : 0;
    if (HasFailure()) return;
  }
  EXPECT_GE(fits * 2, static_cast<int>(seeds));
  EXPECT_GT(proved, 0);
}

// Where less traffic than what is useful is impossible, the search ends with that; else it finds the least.
TEST(SearchForSpillsTest, LooksForUsefulPlansOnly) {
  int none = 0;
  int some = 0;
  for (std::uint64_t seed = 1; seed <= Seeds(300); ++seed) {
    SCOPED_TRACE(seed);
    const Graph graph = SmallGraph(seed, 4, 7);
    const SpillOptions options = OptionsOf(graph, seed);
    const Bytes truth = LeastTraffic(graph, options);
    Budget whole;
    const PlanAnswer least = *PlanWithSpills(graph, options, whole);
    if (truth == 0 || !least.best || !least.fits()) continue;  // Offsets may be impossible.
    const Bytes traffic = least.best->traffic.avoidable();
    for (const bool limited : {false, true}) {
      for (const Bytes useful : {truth, traffic + 1}) {
        Budget budget;
        if (limited) budget.SetTimeLimit(60);
        const PlanAnswer answer = *SearchForSpills(
            graph, options, spill::CompileModel(graph, options.counting, false), 0, useful, budget);
        EXPECT_LE(answer.traffic_bound, truth);
        EXPECT_NE(answer.outcome, Outcome::kInfeasible);
        if (useful == truth) {
          EXPECT_EQ(answer.traffic_bound, truth);
          ++none;
          continue;
        }
        ASSERT_TRUE(answer.best && answer.fits());
        EXPECT_LE(answer.best->traffic.avoidable(), traffic);
        ++some;
      }
    }
    if (HasFailure()) return;
  }
  EXPECT_GT(none, 0);
  EXPECT_GT(some, 0);
}

// What is known of a plan and of a bound is as good as if the search had found it.
TEST(SearchForSpillsTest, StartsFromWhatIsKnown) {
  int cheaper = 0;
  for (std::uint64_t seed = 1; seed <= Seeds(600); ++seed) {
    SCOPED_TRACE(seed);
    const Graph graph = SmallGraph(seed, 4, 7);
    const SpillOptions options = OptionsOf(graph, seed);
    const Bytes truth = LeastTraffic(graph, options);
    const auto search = [&](const spill::Known& known) {
      Budget budget;
      return *spill::PlanValid(graph, options, spill::CompileModel(graph, options.counting, false),
                               0, known, budget);
    };
    if (truth == 0) continue;
    // The least: nothing is below it.
    const PlanAnswer none = search({truth, truth});
    EXPECT_FALSE(none.best.has_value());
    EXPECT_EQ(none.traffic_bound, truth);
    const PlanAnswer also = search({0, truth});
    EXPECT_FALSE(also.best.has_value());
    EXPECT_EQ(also.traffic_bound, truth);
    const PlanAnswer better = search({0, truth + 1});
    EXPECT_EQ(better.traffic_bound, truth);
    if (!better.best) continue;  // Offsets may be impossible.
    EXPECT_EQ(better.best->traffic.avoidable(), truth);
    ++cheaper;
  }
  EXPECT_GT(cheaper, 0);
}

// Of larger graphs, from a plan that hardly any search has seen.
TEST(ImproveSpillsTest, NoPlanBecomesDearer) {
  int less = 0;
  for (std::uint64_t seed = 1; seed <= Seeds(150); ++seed) {
    SCOPED_TRACE(seed);
    const Graph graph = RandomGraph(seed, SpillKnobs(20, 30));
    SpillOptions options;
    options.capacity = FindLeastMemory(graph, {}).bytes * 5 / 4;
    Budget little;
    little.SetNodeLimit(200);
    PlanAnswer answer = *PlanWithSpills(graph, options, little);
    const PlanAnswer before = answer;
    if (!before.fits()) continue;
    Budget budget;
    budget.SetNodeLimit(20'000);
    ASSERT_TRUE(ImproveSpills(graph, options, answer, budget).has_value());
    ASSERT_TRUE(answer.fits());
    EXPECT_GE(answer.traffic_bound, before.traffic_bound);
    EXPECT_LE(answer.best->traffic.avoidable(), before.best->traffic.avoidable());
    EXPECT_TRUE(ValidatePlan(graph, {}, options.capacity, *answer.best).has_value());
    less += answer.best->traffic.avoidable() < before.best->traffic.avoidable() ? 1 : 0;
  }
  EXPECT_GT(less, 0);
}

// The search over residencies has a part of the time, but hears of a cancellation: everything that need not
// stay would be spilled otherwise.
TEST(ImproveSpillsTest, CancelledWithATimeLimitPlansStillHaveGoodAddresses) {
  GraphKnobs knobs;
  knobs.min_operators = 90;
  knobs.max_operators = 90;
  knobs.max_outputs = 2;
  knobs.max_bytes = 40;
  const Graph graph = RandomGraph(2, knobs);
  PlanOptions options;
  options.spill = true;
  options.capacity = 2 * FindLeastMemory(graph, {}).bytes;
  Budget budget(1000);
  int polls = 0;
  const PollListener listener(budget, [&] {
    if (++polls == 150) budget.Cancel();
  });
  const auto answer = Plan(graph, options, budget);
  ASSERT_TRUE(answer.has_value() && answer->best.has_value());
  EXPECT_TRUE(budget.cancelled());
  EXPECT_EQ(answer->stopped, StopReason::kBudget);
  EXPECT_GT(answer->traffic_by_sum, 0);
  EXPECT_LT(answer->best->traffic.avoidable(), 2 * answer->traffic_by_sum);
}

// COSMA (Li, Gupta and Malik, 2023, section V-C) could not solve networks of their kind over all orders in a
// day.
TEST(ImproveSpillsTest, NetworksFoundByASearchAreProvedOverAllOrders) {
  const auto least_traffic = [](const Graph& graph, NamedBudget capacity) {
    PlanOptions options;
    options.spill = true;
    options.capacity = capacity;
    Budget budget;
    const auto answer = Plan(graph, options, budget);
    EXPECT_TRUE(answer.has_value() && answer->outcome == Outcome::kOptimal);
    return answer->best->addressed ? answer->best->traffic.avoidable() : -1;
  };
  const Graph amoebanet = MakeAmoebanetD(kAmoebanetD, 1);
  EXPECT_EQ(least_traffic(amoebanet, NamedBudget::kOneOperator), 2'107'392);
  EXPECT_EQ(least_traffic(amoebanet, NamedBudget::kLeastPeak), 0);
  const Graph nasnet = MakeNasnetA({18, 168, 224}, 1);
  EXPECT_EQ(least_traffic(nasnet, NamedBudget::kOneOperator), 7'231'200);
  EXPECT_EQ(least_traffic(nasnet, NamedBudget::kHalfway), 2'892'480);
}

}  // namespace
}  // namespace berth::internal::plan
