// Plans with spills: the figures of small graphs, and every answer against the oracle.

#include "berth/spill.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "base/random.h"
#include "berth/place.h"
#include "spill/furthest.h"
#include "spill/layout.h"
#include "spill/model.h"
#include "spill/search.h"
#include "testing/random_graph.h"
#include "testing/spill_oracle.h"
#include "tests/graph/build.h"

namespace berth::internal {
namespace {

Result<PlanAnswer> PlaceIt(const Problem& problem, Budget& budget) {
  return Place(problem, {}, budget);
}

PlanAnswer Solve(const Graph& graph, const SpillOptions& options) {
  Budget budget;
  auto answer = PlanWithSpills(graph, options, budget);
  EXPECT_TRUE(answer.has_value()) << answer.error().message;
  return answer ? *answer : PlanAnswer{};
}

TEST(Spill, WritesAndRetrievesOnce) {
  const Build build = OneSpill();
  SpillOptions options;
  options.capacity = 12;
  options.placer = PlaceIt;
  const PlanAnswer answer = Solve(build.graph, options);
  EXPECT_EQ(answer.outcome, Outcome::kOptimal);
  ASSERT_TRUE(answer.best.has_value());
  EXPECT_EQ(answer.best->traffic.spilled, 4);
  EXPECT_EQ(answer.best->traffic.retrieved, 4);
  EXPECT_EQ(answer.best->traffic.compulsory_out, 2);
  EXPECT_EQ(answer.least.bytes, 12);
  EXPECT_EQ(build.graph.operators[answer.least.op].name, "join");
}

TEST(Spill, NothingIsSpilledIfThePeakFits) {
  const Build build = OneSpill();
  SpillOptions options;
  options.capacity = 14;
  options.placer = PlaceIt;
  const PlanAnswer answer = Solve(build.graph, options);
  EXPECT_EQ(answer.outcome, Outcome::kOptimal);
  ASSERT_TRUE(answer.best.has_value());
  EXPECT_EQ(answer.best->traffic.avoidable(), 0);
  EXPECT_EQ(answer.best->residencies.size(), 4u);
}

TEST(Spill, BelowTheLeastMemoryTheOperatorIsNamed) {
  const Build build = OneSpill();
  SpillOptions options;
  options.capacity = 11;
  const PlanAnswer answer = Solve(build.graph, options);
  EXPECT_EQ(answer.outcome, Outcome::kInfeasible);
  EXPECT_FALSE(answer.best.has_value());
  EXPECT_EQ(answer.least.bytes, 12);
  EXPECT_EQ(build.graph.operators[answer.least.op].name, "join");
}

// Addresses are found even with no budget left, so there is always a plan.
TEST(Spill, PlansWithoutTimeHaveAddresses) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE(seed);
    const Graph graph = RandomGraph(seed, SpillKnobs(10, 30));
    SpillOptions options;
    options.capacity = FindLeastMemory(graph, {}).bytes;
    options.placer = PlaceIt;
    Budget budget;
    switch (seed % 3) {
      case 0:
        budget.SetTimeLimit(0);
        break;
      case 1:
        budget.SetNodeLimit(static_cast<std::int64_t>(seed));
        break;
      default:
        budget.Cancel();
        break;
    }
    const auto answer = PlanWithSpills(graph, options, budget);
    ASSERT_TRUE(answer.has_value()) << answer.error().message;
    ASSERT_TRUE(answer->best.has_value());
    EXPECT_TRUE(ValidatePlan(graph, {}, options.capacity, *answer->best).has_value());
    EXPECT_LE(answer->traffic_bound, answer->best->traffic.avoidable());
  }
}

// A graph that needs many spills and is not proved quickly.
Graph HardGraph(std::uint64_t seed) {
  GraphKnobs knobs;
  knobs.min_operators = 200;
  knobs.max_operators = 200;
  knobs.max_outputs = 2;
  knobs.max_bytes = 40;
  knobs.far_chance = 0.5;
  return RandomGraph(seed, knobs);
}

// After an interruption it still looks for addresses; otherwise everything that need not stay would
// be spilled.
TEST(Spill, CancelledItStillFindsAddresses) {
  const Graph graph = HardGraph(2);
  SpillOptions options;
  options.capacity = 2 * FindLeastMemory(graph, {}).bytes;
  options.placer = PlaceIt;
  Budget budget;
  int polls = 0;
  const internal::PollListener listener(budget, [&] {
    if (++polls == 8) budget.Cancel();
  });
  const auto answer = PlanWithSpills(graph, options, budget);
  ASSERT_TRUE(answer.has_value() && answer->best.has_value());
  EXPECT_TRUE(budget.cancelled());
  EXPECT_LT(answer->best->traffic.avoidable(), 2 * answer->traffic_by_sum);
}

// The same if cancelled while it looks for addresses: the placer's first answer comes too late.
TEST(Spill, CancelledDuringAddressSearchItStillFindsAddresses) {
  const Graph graph = HardGraph(2);
  SpillOptions options;
  options.capacity = 2 * FindLeastMemory(graph, {}).bytes;
  options.max_states = 1000;
  Budget budget;
  int asked = 0;
  options.placer = [&](const Problem& problem, Budget& own) {
    if (++asked == 1) budget.Cancel();
    return Place(problem, {}, own);
  };
  budget.SetNodeLimit(2000);
  const auto answer = PlanWithSpills(graph, options, budget);
  ASSERT_TRUE(answer.has_value() && answer->best.has_value());
  EXPECT_GT(asked, 1);
  EXPECT_EQ(answer->stopped, StopReason::kBudget);
  EXPECT_LT(answer->best->traffic.avoidable(), 2 * answer->traffic_by_sum);
  EXPECT_TRUE(ValidatePlan(graph, {}, options.capacity, *answer->best).has_value());
}

TEST(Spill, ReportsProgressThatOnlyGetsBetter) {
  const Graph graph = HardGraph(2);
  SpillOptions options;
  options.capacity = 2 * FindLeastMemory(graph, {}).bytes;
  options.placer = nullptr;
  std::vector<Progress> heard;
  options.progress = [&](const Progress& progress) { heard.push_back(progress); };
  Budget budget;
  budget.SetNodeLimit(3000);
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(budget.SpendNode());  // By an earlier search.
  const auto answer = PlanWithSpills(graph, options, budget);
  ASSERT_TRUE(answer.has_value());
  ASSERT_GE(heard.size(), 2u);
  EXPECT_EQ(heard.front().nodes, 0);
  for (std::size_t k = 1; k < heard.size(); ++k) {
    EXPECT_LE(*heard[k].best, *heard[k - 1].best);
    EXPECT_GE(heard[k].bound, heard[k - 1].bound);
    EXPECT_GE(heard[k].nodes, heard[k - 1].nodes);
  }
  EXPECT_EQ(heard.back().best, answer->traffic_by_sum);
  EXPECT_EQ(heard.back().bound, answer->traffic_bound);
  EXPECT_GT(heard.back().nodes, 0);
  EXPECT_LE(heard.back().nodes, answer->nodes);
}

TEST(Spill, ReportsTheStateLimit) {
  const Graph graph = HardGraph(1);
  SpillOptions options;
  options.capacity = FindLeastMemory(graph, {}).bytes;
  options.max_states = 1;
  options.rules.segments = false;
  options.rules.prices = false;
  options.fixed_order = true;
  Budget budget;
  const auto answer = PlanWithSpills(graph, options, budget);
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->outcome, Outcome::kFeasible);
  EXPECT_EQ(answer->stopped, StopReason::kSize);
}

// Ends early only where the plan is near enough to the bound, and says so.
TEST(Spill, EndsWithinTheGap) {
  int early = 0;
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    SCOPED_TRACE(seed);
    const Graph graph = HardGraph(seed);
    SpillOptions options;
    options.capacity = 3 * FindLeastMemory(graph, {}).bytes / 2;
    options.placer = {};
    options.gap = 750'000;  // A plan of at most four times the bound.
    Budget budget;
    budget.SetNodeLimit(2000);
    const auto answer = PlanWithSpills(graph, options, budget);
    ASSERT_TRUE(answer.has_value() && answer->best.has_value());
    const Bytes traffic = answer->best->traffic.avoidable();
    const bool near = traffic <= 4 * answer->traffic_bound;
    if (answer->outcome != Outcome::kOptimal) {
      EXPECT_EQ(answer->stopped == StopReason::kGap, near);
    }
    options.gap = 0;
    Budget same;
    same.SetNodeLimit(2000);
    const auto without = PlanWithSpills(graph, options, same);
    ASSERT_TRUE(without.has_value());
    EXPECT_NE(without->stopped, StopReason::kGap);
    if (answer->stopped == StopReason::kGap) {
      EXPECT_LE(answer->nodes, without->nodes);
      ++early;
    }
  }
  EXPECT_GT(early, 5);
  SpillOptions options;
  options.gap = -1;
  Budget budget;
  const auto refused = PlanWithSpills(OneSpill().graph, options, budget);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().message, "the gap is -1 millionths, less than 0");
}

// Work is counted, not timed: the search always ends at the same state.
TEST(Spill, EndsWithItsEffort) {
  const Graph graph = HardGraph(1);
  const spill::Model model = spill::CompileModel(graph, {});
  const auto states_with = [&](std::int64_t work) {
    spill::Effort effort;
    effort.work = work;
    spill::Search search(model, FindLeastMemory(graph, {}).bytes, {}, nullptr, effort);
    Budget budget;
    const auto answer = search.BestFirst(spill::kNoCost, 1'000'000, budget);
    EXPECT_FALSE(answer.complete);
    EXPECT_TRUE(effort.spent());
    return budget.nodes_spent();
  };
  const std::int64_t little = states_with(1'000'000);
  EXPECT_EQ(states_with(1'000'000), little);
  EXPECT_GT(states_with(10'000'000), 2 * little);
}

// When memory is full, a beam drops dead ends and becomes narrower, and exact search ends.
TEST(Spill, LittleMemoryNarrowsTheSearch) {
  const Graph graph = HardGraph(1);
  const Bytes capacity = FindLeastMemory(graph, {}).bytes;
  const spill::Model model = spill::CompileModel(graph, {});
  Budget budget;
  const auto beam = [&](std::size_t most_bytes) {
    spill::Effort effort;
    effort.most_bytes = most_bytes;
    spill::Search search(model, capacity, {}, nullptr, effort);
    bool exact = true;
    const auto found = search.Beam({64, 4, 16}, spill::kNoCost, exact, budget);
    EXPECT_FALSE(exact);
    EXPECT_TRUE(found.has_value());
    if (!found) return Bytes{0};
    // The traffic of its residencies equals its cost in the search.
    const spill::Layout layout = spill::LayoutOf(graph, model, *found);
    EXPECT_EQ(spill::AvoidableTraffic(layout), found->cost);
    const std::vector<Bytes> load = spill::LoadOf(layout);
    EXPECT_LE(*std::max_element(load.begin(), load.end()), capacity);
    return found->cost;
  };
  const Bytes widest = beam(std::size_t{1} << 30);
  EXPECT_EQ(beam(std::size_t{1} << 29), widest);
  EXPECT_NE(beam(std::size_t{1} << 18), widest);
  EXPECT_GT(beam(1), widest);  // A single path.

  spill::Effort effort;
  effort.most_bytes = std::size_t{1} << 18;
  spill::Search search(model, capacity, {}, nullptr, effort);
  const auto answer = search.BestFirst(spill::kNoCost, 1'000'000, budget);
  EXPECT_TRUE(answer.out_of_memory);
  EXPECT_FALSE(answer.complete);
  EXPECT_LE(answer.bound, widest);

  SpillOptions options;
  options.most_bytes = 1000;
  const auto refused = PlanWithSpills(graph, options, budget);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().message, "most_bytes is 1000, less than 1048576");
}

// In orders of any length, without a search.
TEST(Spill, FurthestFirstFitsAndCountsItsTraffic) {
  int dearer = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    const Graph graph = RandomGraph(seed, SpillKnobs(5, 8));
    const Order order = RandomOrder(graph, seed);
    const Bytes capacity = FindLeastMemory(graph, {}).bytes;
    const spill::Model model = spill::CompileModel(graph, {}, /*with_ancestors=*/false);
    const spill::Model chain = spill::WithOrder(model, spill::ReduceOrder(model, order));
    spill::Schedule found = spill::FurthestFirst(chain, capacity);
    const spill::Layout layout = spill::LayoutOf(graph, chain, found, &order);
    EXPECT_EQ(layout.order, order);
    EXPECT_EQ(spill::AvoidableTraffic(layout), found.cost);
    const std::vector<Bytes> load = spill::LoadOf(layout);
    EXPECT_LE(*std::max_element(load.begin(), load.end()), capacity);
    const auto least = OracleTraffic(graph, capacity, {}, &order);
    EXPECT_GE(found.cost, *least);
    dearer += found.cost > *least ? 1 : 0;
  }
  EXPECT_LT(dearer, 100);
}

// Operators that touch no counted tensor stay where they are.
TEST(Spill, AFixedOrderIsKeptExactly) {
  Build build;
  build.Made("a", 4).Made("b", 4);
  build.Op("first", {}, {"a"}).Op("idle", {}, {}).Op("last", {"a"}, {"b"});
  SpillOptions options;
  options.capacity = 8;
  options.fixed_order = true;
  EXPECT_EQ(Solve(build.graph, options).best->order, ProgramOrder(build.graph));
}

TEST(Spill, AWriteInPlaceMakesTheCopyStale) {
  // x is spilled, retrieved to be written, spilled again and retrieved: two writes, two retrievals.
  const Build build = Build()
                          .Made("x", 4)
                          .Made("a", 10)
                          .Made("b", 2)
                          .Made("c", 10)
                          .Made("d", 2)
                          .Op("make x", {}, {"x"})
                          .Op("make a", {}, {"a"}, {}, {"make x"})
                          .Op("read a", {"a"}, {"b"})
                          .Op("write x", {"b"}, {}, {"x"})
                          .Op("make c", {}, {"c"}, {}, {"write x"})
                          .Op("read c", {"c", "b"}, {"d"})
                          .Op("end", {"x", "d"}, {});
  SpillOptions options;
  options.capacity = 14;
  options.placer = PlaceIt;
  const PlanAnswer answer = Solve(build.graph, options);
  ASSERT_TRUE(answer.best.has_value());
  EXPECT_EQ(OracleTraffic(build.graph, 14), answer.best->traffic.avoidable());
  EXPECT_EQ(answer.outcome, Outcome::kOptimal);
}

TEST(Spill, WeightsAreRetrievedForTheirOperatorsOnly) {
  Build build = Build()
                    .Source("w1", 6, TensorKind::kParameter)
                    .Source("w2", 6, TensorKind::kParameter)
                    .Made("a", 2)
                    .Made("b", 2)
                    .Op("A", {"w1"}, {"a"})
                    .Op("B", {"w2", "a"}, {"b"})
                    .Output("b");
  SpillOptions options;
  options.capacity = 10;
  options.counting.parameters = true;
  options.placer = PlaceIt;
  const PlanAnswer answer = Solve(build.graph, options);
  EXPECT_EQ(answer.outcome, Outcome::kOptimal);
  ASSERT_TRUE(answer.best.has_value());
  EXPECT_EQ(answer.best->traffic.avoidable(), 0);
  EXPECT_EQ(answer.best->traffic.compulsory_in, 12);
}

// All combinations of the rules, by number.
SpillRules RulesOf(unsigned bits) {
  SpillRules rules;
  rules.dominance = (bits & 1) == 0;
  rules.safe_runs = (bits & 2) == 0;
  rules.belady = (bits & 4) == 0;
  rules.prices = (bits & 8) == 0;
  rules.segments = (bits & 16) == 0;
  rules.cuts = (bits & 32) == 0;
  rules.peaks = (bits & 64) == 0;
  rules.whole = (bits & 128) == 0;
  return rules;
}

// `seeds` random graphs of few operators.
void CompareWithOracle(std::uint64_t first, std::uint64_t last, bool fixed_order) {
  int spilling = 0;
  for (std::uint64_t seed = first; seed < last; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    GraphKnobs knobs = AllGraphKnobs();
    knobs.max_operators = 8;
    knobs.max_bytes = 8;
    knobs.min_operators = 5;
    knobs.max_outputs = 2;
    knobs.max_inputs = 2;
    knobs.far_chance = 0.8;  // Tensors with late uses must be spilled in between.
    const Graph graph = RandomGraph(seed, knobs);
    SpillOptions options;
    options.counting = {random.Chance(0.4), random.Chance(0.4)};
    const Bytes least = OracleLeastMemory(graph, options.counting);
    options.capacity = least + (random.Chance(0.7) ? 0 : random.Uniform(0, 4));
    options.rules = RulesOf(static_cast<unsigned>(random.Uniform(0, 255)));
    options.fixed_order = fixed_order;
    Order order = RandomOrder(graph, seed);
    if (random.Chance(0.5)) options.orders.push_back(order);
    if (options.orders.empty()) order = ProgramOrder(graph);
    if (random.Chance(0.5)) options.placer = PlaceIt;
    const auto expected =
        OracleTraffic(graph, options.capacity, options.counting, fixed_order ? &order : nullptr);
    ASSERT_TRUE(expected.has_value());
    const PlanAnswer answer = Solve(graph, options);
    EXPECT_EQ(answer.least.bytes, least);
    EXPECT_EQ(answer.traffic_by_sum, *expected);
    if (fixed_order && options.placer) {
      EXPECT_GE(answer.traffic_bound, *expected);  // It may count addresses.
    } else {
      EXPECT_EQ(answer.traffic_bound, *expected);
    }
    if (!answer.best) {
      // Alignments can waste memory that an operator needs.
      EXPECT_TRUE(options.placer && std::any_of(graph.tensors.begin(), graph.tensors.end(),
                                                [](const Tensor& t) { return t.alignment > 1; }));
      EXPECT_EQ(answer.outcome, Outcome::kUnknown);
      continue;
    }
    EXPECT_GE(answer.best->traffic.avoidable(), answer.traffic_bound);
    if (fixed_order) {
      EXPECT_TRUE(ValidateOrder(graph, answer.best->order).has_value());
    }
    if (!options.placer) {
      EXPECT_EQ(answer.best->traffic.avoidable(), *expected);
    }
    spilling += *expected > 0 ? 1 : 0;
  }
  EXPECT_GT(spilling, static_cast<int>(last - first) / 20);
}

class AgainstOracle : public testing::TestWithParam<int> {};
constexpr std::uint64_t kSeedsPerShard = 250;

TEST_P(AgainstOracle, AllOrders) {
  const auto shard = static_cast<std::uint64_t>(GetParam());
  CompareWithOracle(1 + shard * kSeedsPerShard, 1 + (shard + 1) * kSeedsPerShard, false);
}
TEST_P(AgainstOracle, OneOrder) {
  const auto shard = static_cast<std::uint64_t>(GetParam());
  CompareWithOracle(1 + shard * kSeedsPerShard, 1 + (shard + 1) * kSeedsPerShard, true);
}
INSTANTIATE_TEST_SUITE_P(Spill, AgainstOracle, testing::Range(0, 20));

}  // namespace
}  // namespace berth::internal
