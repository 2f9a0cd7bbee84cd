#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "berth/graph.h"
#include "testing/order_oracle.h"
#include "testing/random_graph.h"
#include "tests/graph/build.h"
#include "tools/verify/verify.h"

namespace berth::internal {
namespace {

Build Chain() {
  return Build()
      .Made("a", 4)
      .Made("b", 4)
      .Op("A", {}, {"a"})
      .Op("B", {"a"}, {"b"})
      .MayOverwrite("a", "b")
      .Output("b");
}

TEST(ReuseInPlaceTest, WritesTheOutputOverTheInput) {
  const Build b = Chain();
  const Graph reused = ReuseInPlace(b.graph);
  EXPECT_TRUE(Validate(reused));
  EXPECT_EQ(reused.tensors[b.T("b")].alias_of, b.T("a"));
  EXPECT_EQ(reused.operators[1].mutates, (std::vector<TensorIndex>{b.T("a")}));
  EXPECT_EQ(Live(b.graph, {0, 1}).peak, 8);
  EXPECT_EQ(Live(reused, {0, 1}).peak, 4);
  EXPECT_EQ(ReuseInPlace(reused), reused);
}

TEST(ReuseInPlaceTest, LeavesUnsafeCases) {
  const auto unchanged = [](const Build& b) {
    EXPECT_TRUE(Validate(b.graph));
    return ReuseInPlace(b.graph) == b.graph;
  };
  Build result = Chain();
  result.Output("a");
  EXPECT_TRUE(unchanged(result));
  Build smaller = Chain();
  smaller.graph.tensors[1].bytes = 3;
  EXPECT_TRUE(unchanged(smaller));
  Build read_later = Chain();
  read_later.Made("c", 1).Op("C", {"a"}, {"c"});
  EXPECT_TRUE(unchanged(read_later));
  Build input = Build().Source("a", 4).Made("b", 4).Op("B", {"a"}, {"b"}).MayOverwrite("a", "b");
  EXPECT_TRUE(unchanged(input));
  Build misaligned = Chain();
  misaligned.graph.tensors[0].alignment = 4;
  misaligned.graph.tensors[1].alignment = 6;
  EXPECT_TRUE(unchanged(misaligned));
  // Another reader that may run before or after.
  Build beside =
      Build().Made("a", 4).Made("b", 4).Made("c", 1).Op("A", {}, {"a"}).Op("C", {"a"}, {"c"});
  beside.Op("B", {"a"}, {"b"}).MayOverwrite("a", "b");
  EXPECT_TRUE(unchanged(beside));
  beside.graph.operators[2].after = {1};
  EXPECT_FALSE(unchanged(beside));
}

TEST(ReuseInPlaceTest, OneOutputTakesTheInput) {
  Build b = Build().Made("a", 4).Made("b", 4).Made("c", 4).Op("A", {}, {"a"});
  b.Op("B", {"a"}, {"b", "c"}).MayOverwrite("a", "b").MayOverwrite("a", "c");
  const Graph reused = ReuseInPlace(b.graph);
  EXPECT_TRUE(reused.tensors[1].alias_of);
  EXPECT_FALSE(reused.tensors[2].alias_of);
}

TEST(ReuseInPlaceTest, KeepsTheOrdersAndRaisesNoPeak) {
  int reuses = 0;
  for (std::uint64_t seed = 0; seed < 1500; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Graph graph = RandomGraph(seed, AllGraphKnobs());
    const Graph reused = ReuseInPlace(graph);
    const auto valid = Validate(reused);
    ASSERT_TRUE(valid) << valid.error().message;
    for (std::uint64_t i = 0; i < 3; ++i) {
      const Order order = RandomOrder(graph, 3 * seed + i);
      EXPECT_TRUE(ValidateOrder(reused, order));
      EXPECT_TRUE(verify::VerifyOrder(reused, order).ok());
      EXPECT_LE(Live(reused, order).peak, Live(graph, order).peak);
      EXPECT_TRUE(ValidateOrder(graph, RandomOrder(reused, 3 * seed + i)));
    }
    EXPECT_LE(OracleSchedule(reused).peak, OracleSchedule(graph).peak);
    reuses += reused != graph ? 1 : 0;
  }
  EXPECT_GT(reuses, 100);
}

}  // namespace
}  // namespace berth::internal
