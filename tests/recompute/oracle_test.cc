// PlanWithRecomputation() against exhaustive search, on tiny graphs with every feature.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "berth/recompute.h"
#include "recompute/bound.h"
#include "recompute/exact.h"
#include "recompute/gaps.h"
#include "recompute/improve.h"
#include "recompute/model.h"
#include "recompute/sequence.h"
#include "testing/random_graph.h"
#include "testing/recompute_oracle.h"
#include "testing/seeds.h"
#include "tools/verify/verify.h"

namespace berth {
namespace {

using internal::GraphKnobs;
using internal::OracleRecomputation;
using internal::Random;
using internal::RandomGraph;
using internal::Seeds;

// Graphs with costs, operators that may not run again, and writes that are skipped.
Graph GraphOf(std::uint64_t seed, int most_operators) {
  GraphKnobs knobs = internal::SpillKnobs(2, most_operators);
  knobs.write_chance = 0.15;
  Graph graph = RandomGraph(seed, knobs);
  Random random(seed ^ 0x5eedu);
  const bool costs = random.Chance(0.8);
  const bool never = random.Chance(0.5);
  for (Operator& op : graph.operators) {
    op.type.clear();
    if (costs && random.Chance(0.9)) op.cost = random.Uniform(0, 9);
    if (never && random.Chance(0.2)) op.repeat = Repeat::kNever;
    if (random.Chance(0.1)) op.repeat = Repeat::kPure;
    if (random.Chance(0.05)) op.random = true;
    if (!op.mutates.empty() && random.Chance(0.3)) op.skips = {op.mutates.front()};
  }
  return graph;
}

// From what one operator needs to the peak of the order.
Bytes CapacityOf(const Graph& graph, const Counting& counting, std::uint64_t seed) {
  Random random(seed ^ 0xcab5u);
  const internal::recompute::Model model = internal::recompute::Compile(graph, counting);
  Bytes least = 0;
  for (std::size_t v = 0; v < graph.operators.size(); ++v) {
    least = std::max(least, model.NeedOf(static_cast<internal::recompute::Op>(v)));
  }
  const Bytes peak = Live(graph, ProgramOrder(graph), counting).peak;
  return random.Uniform(std::max<Bytes>(least - 1, 0), std::max(least, peak));
}

Counting CountingOf(std::uint64_t seed) {
  return {.inputs = seed % 3 == 1, .parameters = seed % 5 == 2, .unsized_as_zero = true};
}

// The seeds [first, first + count).
void CompareWithOracle(std::uint64_t first, std::uint64_t count) {
  std::uint64_t recomputed = 0;
  std::uint64_t impossible = 0;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Graph graph = GraphOf(seed, 8);
    const Counting counting = CountingOf(seed);
    const Bytes capacity = CapacityOf(graph, counting, seed);
    const bool fixed = seed % 2 == 0;
    const Order order = internal::RandomOrder(graph, seed);
    const auto best = OracleRecomputation(graph, capacity, counting, fixed ? &order : nullptr);
    RecomputeOptions options;
    options.capacity = capacity;
    options.counting = counting;
    options.orders = {order};
    options.fixed_order = fixed;
    options.placer = nullptr;
    Budget budget;
    const auto answer = PlanWithRecomputation(graph, options, budget);
    ASSERT_TRUE(answer.has_value()) << answer.error().message;
    if (!best) {
      EXPECT_EQ(answer->outcome, Outcome::kInfeasible);
      ++impossible;
      continue;
    }
    ASSERT_EQ(answer->outcome, Outcome::kOptimal);
    EXPECT_EQ(answer->best->recomputed.cost, *best);
    EXPECT_EQ(answer->recompute_bound, *best);
    EXPECT_LE(answer->best->peak(), capacity);
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
  namespace room = internal::recompute;
  int of_order = 0;
  int tight_of_order = 0;
  int cut = 0;
  int tight_cut = 0;
  int found = 0;
  for (std::uint64_t seed = 1; seed <= Seeds(1500); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Graph graph = GraphOf(seed + 10'000, 7);
    const Counting counting = CountingOf(seed);
    const Bytes capacity = CapacityOf(graph, counting, seed);
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
      std::vector<std::int64_t> prices;
      for (const room::Gap& gap : gaps.all()) prices.push_back(gap.price);
      const room::Gaps::Answer chosen = gaps.Choose(prices, 1'000'000, unlimited);
      const std::int64_t cost = measurer.Of(*best.sequence).cost;
      EXPECT_LE(chosen.bound, cost);
      ++of_order;
      tight_of_order += chosen.bound == cost ? 1 : 0;
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
  EXPECT_GT(of_order, 100);
  EXPECT_GT(4 * tight_of_order, 3 * of_order);
  EXPECT_GT(cut, 100);
  EXPECT_GT(2 * tight_cut, cut);
  EXPECT_GT(4 * found, 3 * of_order);
}

// Without exact search, under every combination of rules: valid, never below the least cost, and
// never a bound above it.
TEST(RecomputeOracle, EveryRuleOnAndOff) {
  for (std::uint64_t seed = 1; seed <= Seeds(80); ++seed) {
    const Graph graph = GraphOf(seed + 50'000, 6);
    const Bytes capacity = CapacityOf(graph, {}, seed);
    const auto best = OracleRecomputation(graph, capacity);
    for (int rules = 0; rules < 16; ++rules) {
      SCOPED_TRACE("seed " + std::to_string(seed) + ", rules " + std::to_string(rules));
      RecomputeOptions options;
      options.capacity = capacity;
      options.rules.selection = (rules & 1) != 0;
      options.rules.reprice = (rules & 2) != 0;
      options.rules.exchange = (rules & 4) != 0;
      options.rules.cuts = (rules & 8) != 0;
      options.rules.exact = false;
      Budget budget;
      const auto answer = PlanWithRecomputation(graph, options, budget);
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
        EXPECT_TRUE(ValidatePlan(graph, {}, capacity, *answer->best).has_value());
      }
    }
  }
}

// Joint plans: every tensor that has to make room is copied or made again.
Link LinkOf(std::uint64_t seed) {
  Random random(seed ^ 0x11abu);
  const auto rate = [&] { return random.Uniform(1, 4) * 500'000'000; };  // Bytes per second.
  return {.out_bytes_per_second = rate(),
          .in_bytes_per_second = rate(),
          .latency_nanoseconds = random.Uniform(0, 3)};
}
Graph TimedGraphOf(std::uint64_t seed, int most_operators) {
  Graph graph = GraphOf(seed, most_operators);
  graph.cost_unit = "ns";
  graph.operators.front().cost = graph.operators.front().cost.value_or(1);
  for (Operator& op : graph.operators) {
    if (op.cost) op.cost = (std::int64_t{1} << (2 * (seed % 4))) * *op.cost;
  }
  return graph;
}

void ExpectHolds(const Graph& graph, const Counting& counting, Bytes capacity, const Link& link,
                 const MemoryPlan& plan) {
  const auto valid = ValidatePlan(graph, counting, capacity, plan, &link);
  EXPECT_TRUE(valid.has_value()) << valid.error().message;
  const auto report = verify::VerifyPlan(graph, counting, capacity, plan, 10, &link);
  EXPECT_TRUE(report.ok()) << Describe(report, graph, plan);
}

void CompareJointWithOracle(std::uint64_t first, std::uint64_t count) {
  std::uint64_t mixed = 0;
  std::uint64_t copied = 0;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Graph graph = TimedGraphOf(seed, seed % 100 == 0 ? 8 : seed % 10 == 0 ? 7 : 5);
    if (graph.tensors.size() > 14) continue;  // They take the oracle seconds.
    const Counting counting = CountingOf(seed);
    const Link link = LinkOf(seed);
    // Little more than one operator needs, where most graphs do not fit.
    const Bytes capacity = FindLeastMemory(graph, counting).bytes + static_cast<Bytes>(seed % 3);
    const bool fixed = seed % 2 == 0;
    const Order order = internal::RandomOrder(graph, seed);
    const auto best =
        OracleRecomputation(graph, capacity, counting, fixed ? &order : nullptr, &link);
    RecomputeOptions options;
    options.capacity = capacity;
    options.counting = counting;
    options.link = link;
    options.orders = {order};
    options.fixed_order = fixed;
    options.placer = nullptr;
    Budget budget;
    const auto answer = PlanWithRecomputation(graph, options, budget);
    ASSERT_TRUE(answer.has_value()) << answer.error().message;
    if (!best) {
      EXPECT_EQ(answer->outcome, Outcome::kInfeasible);
      continue;
    }
    ASSERT_EQ(answer->outcome, Outcome::kOptimal);
    EXPECT_EQ(answer->best->overhead(), *best);
    EXPECT_EQ(answer->recompute_bound, *best);
    EXPECT_LE(answer->best->peak(), capacity);
    ExpectHolds(graph, counting, capacity, link, *answer->best);
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
    const Graph graph = TimedGraphOf(seed + 70'000, 7);
    const Counting counting = CountingOf(seed);
    const Link link = LinkOf(seed);
    const Bytes capacity = CapacityOf(graph, counting, seed);
    const bool fixed = seed % 2 == 0;
    const Order order = ProgramOrder(graph);
    const auto best =
        OracleRecomputation(graph, capacity, counting, fixed ? &order : nullptr, &link);
    for (int rules = 0; rules < 16; ++rules) {
      SCOPED_TRACE("seed " + std::to_string(seed) + ", rules " + std::to_string(rules));
      RecomputeOptions options;
      options.capacity = capacity;
      options.counting = counting;
      options.link = link;
      options.fixed_order = fixed;
      options.rules.selection = (rules & 1) != 0;
      options.rules.reprice = (rules & 2) != 0;
      options.rules.exchange = (rules & 4) != 0;
      options.rules.cuts = (rules & 8) != 0;
      options.rules.exact = false;
      Budget budget;
      const auto answer = PlanWithRecomputation(graph, options, budget);
      ASSERT_TRUE(answer.has_value()) << answer.error().message;
      if (!best) {
        EXPECT_FALSE(answer->best.has_value());
        continue;
      }
      EXPECT_NE(answer->outcome, Outcome::kInfeasible);
      EXPECT_LE(answer->recompute_bound, *best);
      if (!answer->best) continue;
      EXPECT_GE(answer->best->overhead(), *best);
      ExpectHolds(graph, counting, capacity, link, *answer->best);
      if (rules != 15) continue;
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
