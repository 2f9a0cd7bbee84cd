// The bound of runs whose copies take the engine's time and room, against trying everything on small graphs.
#include "plan/timed_prices.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>

#include "berth/plan.h"
#include "graph/plan.h"
#include "plan/memory_bound.h"
#include "plan/move_prices.h"
#include "plan/timed_model.h"
#include "testing/prefetch_oracle.h"
#include "testing/random_graph.h"
#include "testing/seeds.h"
#include "tests/graph/build.h"
#include "tests/plan/moving_case.h"

namespace berth::internal::plan {
namespace {

struct Bounds {
  std::int64_t free = 0;   // Copies cost nothing.
  std::int64_t timed = 0;  // They take the engine's time and room.
};

// `upper` is far above the best run, so that no bound is cut off there.
Bounds BoundsOf(const TimedModel& model, std::int64_t upper) {
  Budget budget;
  const MovePrices prices(model.free, ScaledUpper(model, upper), budget);
  return {BoundOfTime(model, prices), TimedPrices(model, prices, upper, budget).bound()};
}

// How the bounds of many cases compare with the best runs.
class BoundTally {
 public:
  void Add(const TimedModel& model, std::int64_t least) {
    const Bounds found = BoundsOf(model, 2 * least + 10);
    EXPECT_LE(found.timed, least);
    EXPECT_GE(found.timed, found.free);
    larger_ += found.timed > found.free ? 1 : 0;
    ++all_;
  }
  void ExpectAtLeast(int cases, int percent_larger) const {
    EXPECT_GT(all_, cases);
    EXPECT_GE(larger_ * 100, all_ * percent_larger) << larger_ << " of " << all_;
  }

 private:
  int all_ = 0;
  int larger_ = 0;
};

MovingCase CaseOf(std::uint64_t seed) {
  if (seed % 3 == 0) return RandomStaging(seed, /*prefetch=*/true);
  if (seed % 3 == 1) return RandomSkips(seed, /*prefetch=*/true);
  auto made = RandomMovingCase(seed, /*prefetch=*/true);
  return made ? *made : RandomSkips(seed, /*prefetch=*/true);
}

TEST(TimedPricesTest, NoRunIsShorterInOneOrder) {
  BoundTally tally;
  for (std::uint64_t seed = 1; seed <= Seeds(600); ++seed) {
    SCOPED_TRACE(seed);
    const auto [graph, options] = CaseOf(seed);
    const Counting& counting = options.schedule.counting;
    const Order order = RandomOrder(graph, seed);
    const auto least = OracleOfPrefetch(graph, order, counting, options.memories);
    const auto model = TimedModelOf(graph, order, counting, options.memories);
    if (!least || !model || model->free.unplaceable > 0) continue;
    tally.Add(*model, *least);
    if (HasFailure()) return;
  }
  tally.ExpectAtLeast(static_cast<int>(Seeds(600)) / 2, 20);
}

// In any order, with the chain of operators that all of them have in common.
TEST(TimedPricesTest, NoRunIsShorterInAnyOrder) {
  BoundTally tally;
  for (std::uint64_t seed = 1; seed <= Seeds(600); ++seed) {
    SCOPED_TRACE(seed);
    const auto [graph, options] = CaseOf(seed);
    const Counting& counting = options.schedule.counting;
    const Order order = RandomOrder(graph, seed);
    const auto least = OracleOfPrefetch(graph, order, counting, options.memories);
    Budget budget;
    const auto chain = FindChain(graph, counting, options.memories, order, budget);
    if (!least || !chain) continue;
    const auto model =
        TimedModelOf(graph, *chain, static_cast<Step>(order.size()), options.memories);
    if (!model || model->free.unplaceable > 0) continue;
    tally.Add(*model, *least);
    if (HasFailure()) return;
  }
  tally.ExpectAtLeast(static_cast<int>(Seeds(600)) / 2, 5);
}

// x waits in the slow memory while six operators need all of the fast one. A byte takes 10 ns to get there or
// back, and each operator 1 ns and 16 for its accesses.
TEST(TimedPricesTest, TheEngineHasNoMoreTimeThanTheRun) {
  Build b;
  b.Made("x", 8).Made("y", 8);
  b.Op("X", {}, {"x"}).Op("Y", {"x"}, {"y"});
  std::string last = "y";
  for (int i = 0; i < 6; ++i) {
    const std::string name = "t" + std::to_string(i);
    b.Made(name, 8).Op("op" + std::to_string(i), {last}, {name});
    last = name;
  }
  b.Made("z", 1).Op("Z", {last, "x"}, {"z"}).Output("z");
  for (Operator& op : b.graph.operators) op.cost = 1;
  b.graph.cost_unit = "ns";
  GraphMemories memories;
  memories.memories = {{.name = "fast", .capacity = 16, .read = {1, 1}, .write = {1, 1}},
                       {.name = "slow", .read = {10, 1}, .write = {10, 1}}};
  memories.may_move = memories.prefetch = true;
  const auto model = TimedModelOf(b.graph, ProgramOrder(b.graph), {}, memories);
  ASSERT_TRUE(model.has_value());
  const Bounds found = BoundsOf(*model, 1000);
  // If copies cost nothing: 9 for computing, 8 + 8 + 8 for x, 8 + 8 for the other seven, 10 for z, which finds no
  // room beside what it is made from.
  EXPECT_EQ(found.free, 9 + 24 + 7 * 16 + 10);
  EXPECT_GT(found.timed, found.free + 40);
  PlanOptions options;
  options.memories = memories;
  Budget budget;
  const auto answer = Plan(b.graph, options, budget);
  ASSERT_TRUE(answer.has_value()) << answer.error().message;
  EXPECT_LE(found.timed, answer->best->cost.cost);
}

// A chain of operators, each with a weight that an operator reads as slowly as the engine. Both together take at
// least half of what all weights take, and what else there is.
TEST(TimedPricesTest, WeightsThatTheEngineCannotBringInTime) {
  constexpr int kLayers = 20;
  const Build b = LayersWithWeights(kLayers, 100, 2);
  PlanOptions options;
  options.schedule.counting = {true, true};
  options.memories.memories = {{.name = "sram", .capacity = 1000},
                               {.name = "flash", .read = {1, 1}, .write = {1000, 1}}};
  options.memories.allowed = AllowedByKind(b.graph, {0}, {1});
  options.memories.may_move = options.memories.prefetch = true;
  options.memories.stage_in = {0};
  Budget budget;
  const auto answer = Plan(b.graph, options, budget);
  ASSERT_TRUE(answer.has_value()) << answer.error().message;
  constexpr std::int64_t kHalf = kLayers * (100 + 2) / 2;
  EXPECT_GE(answer->cost_bound.cost, kHalf);
  EXPECT_LE(answer->cost_bound.cost, answer->best->cost.cost);
}

}  // namespace
}  // namespace berth::internal::plan
