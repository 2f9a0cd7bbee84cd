// Verdicts about graphs do not depend on the magnitude of the sizes.

#include <gtest/gtest.h>

#include "berth/graph.h"
#include "berth/plan.h"
#include "testing/random_graph.h"

namespace berth::internal {
namespace {

constexpr Bytes kPrimes[] = {1'000'003, 2'147'483'647, 1'099'511'627'689};

Graph Scaled(Graph graph, Bytes factor) {
  for (Tensor& tensor : graph.tensors) {
    tensor.bytes *= factor;
    tensor.alignment *= factor;
  }
  return graph;
}

TEST(LargeGraphNumbers, GiveTheSameVerdicts) {
  GraphKnobs knobs = AllGraphKnobs();
  knobs.max_operators = 9;
  for (std::uint64_t seed = 1; seed <= 120; ++seed) {
    SCOPED_TRACE(seed);
    const Graph graph = RandomGraph(seed, knobs);
    const Bytes factor = kPrimes[seed % std::size(kPrimes)];
    const Graph scaled = Scaled(graph, factor);
    if (!Validate(scaled)) continue;  // The sum of all sizes is too large.
    PlanOptions options;
    options.schedule.counting = {seed % 3 == 0, seed % 5 == 0, /*unsized_as_zero=*/true};
    for (const bool spill : {false, true}) {
      options.spill = spill;
      if (spill) options.capacity = NamedBudget::kOneOperator;
      Budget budget;
      const auto small = Plan(graph, options, budget);
      const auto large = Plan(scaled, options, budget);
      ASSERT_TRUE(small.has_value()) << small.error().message;
      ASSERT_TRUE(large.has_value()) << large.error().message;
      EXPECT_EQ(large->outcome, small->outcome);
      EXPECT_EQ(large->peak_bound, small->peak_bound * factor);
      EXPECT_EQ(large->traffic_bound, small->traffic_bound * factor);
      ASSERT_EQ(large->best.has_value(), small->best.has_value());
      if (!small->best) continue;
      EXPECT_EQ(large->best->peak(), small->best->peak() * factor);
      EXPECT_EQ(large->best->traffic.avoidable(), small->best->traffic.avoidable() * factor);
    }
  }
}

}  // namespace
}  // namespace berth::internal
