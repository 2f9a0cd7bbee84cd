// The replacement rules that COSMA compares with.
#include <gtest/gtest.h>

#include "berth/cosma.h"
#include "testing/random_graph.h"
#include "testing/spill_oracle.h"
#include "tests/graph/build.h"
#include "tools/verify/verify.h"

namespace berth::internal {
namespace {

TEST(Replacement, IsNoBetterThanTheLeastTraffic) {
  int worse = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    const Graph graph = RandomGraph(seed, SpillKnobs(5, 8));
    const Counting counting = {seed % 2 == 0, seed % 3 == 0};
    const Bytes capacity = FindLeastMemory(graph, counting).bytes;
    const Order order = RandomOrder(graph, seed);
    const auto least = OracleTraffic(graph, capacity, counting, &order);
    for (const Replacement rule : {Replacement::kBelady, Replacement::kGreedy}) {
      const auto plan = ReplaceOneByOne(graph, order, counting, capacity, rule);
      ASSERT_TRUE(plan.has_value()) << plan.error().message;
      const auto report = verify::VerifyPlan(graph, counting, capacity, *plan);
      EXPECT_TRUE(report.ok()) << verify::Describe(report, graph, *plan);
      const auto valid = ValidatePlan(graph, counting, capacity, *plan);
      EXPECT_TRUE(valid.has_value()) << valid.error().message;
      EXPECT_GE(plan->traffic.avoidable(), *least);
      worse += plan->traffic.avoidable() > *least ? 1 : 0;
    }
  }
  EXPECT_GT(worse, 10);
  const Build build = OneSpill();
  const auto too_small =
      ReplaceOneByOne(build.graph, ProgramOrder(build.graph), {}, 11, Replacement::kBelady);
  ASSERT_FALSE(too_small.has_value());
  EXPECT_NE(too_small.error().message.find("\"join\" needs 12 bytes"), std::string::npos);
}

// What lies beyond the capacity is no plan, so its traffic could fall below the least.
TEST(Replacement, NothingLiesBeyondTheCapacity) {
  Build build;
  build.Made("a", 1).Made("b", 1).Op("both", {}, {"a", "b"});
  const auto plan = [&] {
    return ReplaceOneByOne(build.graph, ProgramOrder(build.graph), {}, 2, Replacement::kBelady);
  };
  build.graph.tensors[1].alignment = 3;
  EXPECT_TRUE(plan().has_value());  // "b" at the bottom.
  build.graph.tensors[0].alignment = 3;
  ASSERT_FALSE(plan().has_value());
  EXPECT_NE(plan().error().message.find("\"both\" does not fit"), std::string::npos);
}

}  // namespace
}  // namespace berth::internal
