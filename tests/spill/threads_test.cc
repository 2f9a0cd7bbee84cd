// Several threads: the same plans, within the same limits.

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>

#include "base/random.h"
#include "berth/plan.h"
#include "berth/spill.h"
#include "tests/schedule/irregular.h"
#include "tools/verify/verify.h"

namespace berth::internal {
namespace {

PlanAnswer PlanOn(int threads, const Graph& graph, PlanOptions options, std::int64_t nodes) {
  options.schedule.threads = threads;
  options.place.threads = threads;
  Budget budget;
  budget.SetNodeLimit(nodes);
  auto answer = Plan(graph, options, budget);
  EXPECT_TRUE(answer.has_value());
  EXPECT_LE(answer->nodes, nodes);
  EXPECT_TRUE(answer->best.has_value());
  return *std::move(answer);
}

void ExpectSame(const PlanAnswer& one, const PlanAnswer& many) {
  ASSERT_EQ(one.best->order, many.best->order);
  ASSERT_EQ(one.best->residencies, many.best->residencies);
  ASSERT_EQ(one.traffic_bound, many.traffic_bound);
  ASSERT_EQ(one.peak_bound, many.peak_bound);
  ASSERT_EQ(one.outcome, many.outcome);
  ASSERT_EQ(one.stopped, many.stopped);
  ASSERT_EQ(one.nodes, many.nodes);
}

TEST(Threads, GiveTheSamePlan) {
  std::size_t with_traffic = 0;
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const Graph graph = Irregular(random.Uniform(20, 90), random.Uniform(6, 24), seed);
    PlanOptions options;
    options.spill = true;
    options.capacity = seed % 2 == 0 ? NamedBudget::kHalfway : NamedBudget::kOneOperator;
    if (seed % 3 == 0) options.schedule.most_bytes = std::size_t{1} << 20;
    const std::int64_t nodes = std::int64_t{1} << random.Uniform(8, 19);
    const PlanAnswer one = PlanOn(1, graph, options, nodes);
    with_traffic += one.best->traffic.avoidable() > 0 ? 1 : 0;
    for (const int threads : {2, 3, 8}) {
      SCOPED_TRACE(threads);
      ExpectSame(one, PlanOn(threads, graph, options, nodes));
    }
  }
  EXPECT_GT(with_traffic, 3u);
}

// With nodes enough for shares of them: what runs one after the other above runs side by side.
TEST(Threads, GiveTheSamePlanWithManyNodes) {
  constexpr std::int64_t kManyNodes = 8'000'000;
  std::size_t long_searches = 0;
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const Graph graph = Irregular(50, 10, seed);
    for (const NamedBudget capacity : {NamedBudget::kHalfway, NamedBudget::kOneOperator}) {
      SCOPED_TRACE("seed " + std::to_string(seed) +
                   (capacity == NamedBudget::kHalfway ? ", MH" : ", MR"));
      PlanOptions options;
      options.spill = true;
      options.capacity = capacity;
      const PlanAnswer one = PlanOn(1, graph, options, kManyNodes);
      long_searches += one.nodes > 100'000 ? 1 : 0;
      for (const int threads : {2, 8}) {
        SCOPED_TRACE(threads);
        ExpectSame(one, PlanOn(threads, graph, options, kManyNodes));
      }
    }
  }
  EXPECT_GE(long_searches, 3u);
}

TEST(Threads, AreAtLeastOne) {
  SpillOptions options;
  options.threads = 0;
  Budget budget;
  const auto answer = PlanWithSpills({}, options, budget);
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().message, "threads is 0 but must be from 1 to 256");
}

}  // namespace
}  // namespace berth::internal
