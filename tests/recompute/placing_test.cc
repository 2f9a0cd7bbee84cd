// Offsets for sequences: what is kept where a placer fails, and that searches end once a plan is good enough.

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "berth/recompute.h"
#include "tests/recompute/cases.h"
#include "tools/verify/verify.h"

namespace berth {
namespace {

// DefaultPlacer() for the calls for which `succeeds` is true; else its offsets do not fit.
template <typename Succeeds>
Placer PlacerThat(Succeeds succeeds, int* calls) {
  return [=](const Problem& problem, Budget& budget) -> Result<PlanAnswer> {
    const bool success = succeeds(++*calls);
    auto answer = DefaultPlacer()(problem, budget);
    if (!success && answer && answer->best) {
      for (Residency& each : answer->best->residencies) each.offset += *problem.capacity + 64;
      for (MemoryUse& use : answer->best->memories) use.height += *problem.capacity + 64;
    }
    return answer;
  };
}

// Of several plans to start from the cheapest stays, whichever placement succeeds.
TEST(Placing, NeverGivesUpACheaperPlan) {
  int compared = 0;
  for (std::uint64_t seed = 1; seed <= 16; ++seed) {
    SCOPED_TRACE(seed);
    const Graph graph = TimedGraphOf(seed, 30);
    RecomputeOptions options;
    options.link = LinkOf(seed);
    options.rules.exact = options.rules.cuts = false;
    const Bytes least = FindLeastMemory(graph, {}).bytes;
    options.capacity = least + least / 8;
    Budget budget;
    const auto cheap = PlanWithRecomputation(graph, options, budget);
    options.capacity = least;
    const auto dear = PlanWithRecomputation(graph, options, budget);
    ASSERT_TRUE(cheap && dear);
    if (!cheap->best || !dear->best || cheap->best->overhead() == 0) continue;
    if (cheap->best->overhead() >= dear->best->overhead()) continue;
    ++compared;
    options.capacity = least + least / 8;
    options.plans = {*dear->best, *cheap->best};
    for (int only = 3; only <= 5; ++only) {
      int calls = 0;
      options.placer = PlacerThat([&](int call) { return call == only; }, &calls);
      const auto answer = PlanWithRecomputation(graph, options, budget);
      ASSERT_TRUE(answer && answer->best);
      EXPECT_LE(answer->best->overhead(), cheap->best->overhead()) << "placement " << only;
    }
  }
  EXPECT_GE(compared, 3);
}

// Once a plan is as near to the bound as was asked for, nothing else is placed, although time is left.
TEST(Placing, EndsWithinTheGap) {
  int near = 0;
  for (std::uint64_t seed = 1; seed <= 60 && near < 12; ++seed) {
    SCOPED_TRACE(seed);
    const Graph graph = GraphOf(seed, 30, 0);
    RecomputeOptions options;
    options.rules.exact = false;
    options.fixed_order = seed % 2 == 0;
    const Bytes least = FindLeastMemory(graph, {}).bytes;
    options.capacity = least + least / 4;
    options.gap = 900'000;
    for (int only = 4; only <= 12; only += 4) {
      int calls = 0;
      options.placer = PlacerThat([&](int call) { return call == only; }, &calls);
      Budget budget(0.1);
      const auto answer = PlanWithRecomputation(graph, options, budget);
      ASSERT_TRUE(answer);
      if (answer->stopped != StopReason::kGap) continue;
      ++near;
      EXPECT_EQ(calls, only);
    }
  }
  EXPECT_GE(near, 12);
}

// Of searches and placements together, while they run.
TEST(Placing, ProgressCountsNodes) {
  const Graph graph = GraphOf(8, 60, 0);
  RecomputeOptions options;
  options.capacity = FindLeastMemory(graph, {}).bytes * 9 / 8;
  std::int64_t last = 0;
  options.progress = [&](const Progress& progress) {
    EXPECT_GE(progress.nodes, last);
    last = progress.nodes;
  };
  Budget budget;
  const auto answer = PlanWithRecomputation(graph, options, budget);
  ASSERT_TRUE(answer && answer->best);
  EXPECT_GT(last, 0);
  EXPECT_LE(last, answer->nodes);
}

// A limit of nodes holds for searches and placements together. Only what is checked between nodes and a few
// placements whatever the limit come on top.
TEST(Placing, KeepsTheLimitOfNodes) {
  constexpr std::int64_t kBetween = 64;
  constexpr std::int64_t kWhateverTheLimit = 3'000;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    const Graph graph = GraphOf(seed, 60, 0);
    RecomputeOptions options;
    options.fixed_order = seed % 2 == 0;
    const Bytes least = FindLeastMemory(graph, {}).bytes;
    options.capacity = least + least / 8;
    for (const std::int64_t limit : {0, 1, 100, 2'000, 30'000}) {
      std::int64_t placing = 0;
      options.placer = [&](const Problem& problem, Budget& budget) {
        Budget some;
        some.SetNodeLimit(100);
        auto answer = DefaultPlacer()(problem, some);
        for (Residency& each : answer->best->residencies) each.offset += *problem.capacity + 64;
        answer->best->memories.front().height += *problem.capacity + 64;
        for (; budget.SpendNode(); ++placing) {
        }
        return answer;
      };
      Budget budget;
      budget.SetNodeLimit(limit);
      const auto answer = PlanWithRecomputation(graph, options, budget);
      ASSERT_TRUE(answer);
      EXPECT_LE(answer->nodes, limit + kBetween) << "limit " << limit;
      EXPECT_LE(placing, limit + kBetween + kWhateverTheLimit) << "limit " << limit;
    }
  }
}

}  // namespace
}  // namespace berth
