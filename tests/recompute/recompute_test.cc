#include "berth/recompute.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "berth/plan.h"
#include "tools/verify/verify.h"

namespace berth {
namespace {

// A chain of `length` operators, forward and back: step k of the way back reads the results of step
// k + 1 of it and of step k of the way forward, as in training. Every tensor has `bytes`.
Graph Training(int length, Bytes bytes) {
  Graph graph;
  const auto add = [&](std::string name, std::vector<TensorIndex> inputs) {
    const TensorIndex made = graph.tensors.size();
    graph.tensors.push_back({name, bytes});
    graph.operators.push_back({std::move(name), "", std::move(inputs), {made}});
    graph.operators.back().cost = 10;
    return made;
  };
  std::vector<TensorIndex> forward;
  for (int k = 0; k < length; ++k) {
    forward.push_back(add("f" + std::to_string(k),
                          k == 0 ? std::vector<TensorIndex>() : std::vector{forward.back()}));
  }
  TensorIndex gradient = forward.back();
  for (int k = length; k-- > 0;) {
    gradient = add("b" + std::to_string(k), {gradient, forward[static_cast<std::size_t>(k)]});
  }
  graph.tensors[gradient].output = true;
  return graph;
}

Result<PlanAnswer> PlanOf(const Graph& graph, Bytes capacity, double seconds = 5) {
  RecomputeOptions options;
  options.capacity = capacity;
  Budget budget(seconds);
  return PlanWithRecomputation(graph, options, budget);
}

TEST(Recompute, CostsNothingWhereTheGraphFits) {
  const Graph graph = Training(4, 10);
  const auto answer = PlanOf(graph, 1000);
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->outcome, Outcome::kOptimal);
  EXPECT_EQ(answer->best->recomputed, Recomputed());
  EXPECT_EQ(answer->best->order.size(), graph.operators.size());
}

// With room for k tensors a chain runs again what it must, and never more with more memory.
TEST(Recompute, IsMonotoneInTheCapacity) {
  const Graph graph = Training(8, 10);
  std::optional<std::int64_t> before;
  for (Bytes capacity = 30; capacity <= 100; capacity += 10) {
    const auto answer = PlanOf(graph, capacity);
    ASSERT_TRUE(answer.has_value());
    ASSERT_EQ(answer->outcome, Outcome::kOptimal) << capacity;
    const std::int64_t cost = answer->best->recomputed.cost;
    if (before) {
      EXPECT_LE(cost, *before) << capacity;
    }
    before = cost;
    EXPECT_LE(answer->best->height(), capacity);
    EXPECT_TRUE(verify::VerifyPlan(graph, {}, capacity, *answer->best).ok());
  }
  EXPECT_EQ(before, 0);
}

TEST(Recompute, NamesTheOperatorThatNeedsTooMuch) {
  const Graph graph = Training(4, 10);
  const auto answer = PlanOf(graph, 29);
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->outcome, Outcome::kInfeasible);
  EXPECT_FALSE(answer->best.has_value());
  EXPECT_EQ(answer->least.bytes, 30);
}

TEST(Recompute, RunsOnceWhatMayNotRunAgain) {
  Graph graph = Training(6, 10);
  const auto free = PlanOf(graph, 40);
  ASSERT_EQ(free->outcome, Outcome::kOptimal);
  ASSERT_GT(free->best->recomputed.operators, 0u);
  for (int k = 0; k < 6; ++k) graph.operators[static_cast<std::size_t>(k)].random = true;
  const auto none = PlanOf(graph, 40);
  ASSERT_TRUE(none.has_value());
  EXPECT_EQ(none->outcome, Outcome::kInfeasible);
  graph.operators[2].repeat = Repeat::kPure;
  EXPECT_TRUE(MayRepeat(graph, 2));
  EXPECT_FALSE(MayRepeat(graph, 3));
}

TEST(Recompute, KnowsOperatorsThatAreNotPureByName) {
  Graph graph = Training(1, 1);
  const auto may = [&](std::string type) {
    graph.operators[0].type = std::move(type);
    return MayRepeat(graph, 0);
  };
  EXPECT_TRUE(may(""));
  EXPECT_TRUE(may("Conv"));
  EXPECT_TRUE(may("aten::relu_"));
  EXPECT_TRUE(may("aten.native_batch_norm.default"));
  EXPECT_TRUE(may("Expand"));         // Not "rand".
  EXPECT_TRUE(may("instance_norm"));  // Not "norm...al".
  EXPECT_TRUE(may("layer_normalization"));
  EXPECT_FALSE(may("aten::rand_like"));
  EXPECT_FALSE(may("torch.ops.aten.native_dropout.default"));
  EXPECT_FALSE(may("native_dropout"));
  EXPECT_FALSE(may("Dropout"));
  EXPECT_FALSE(may("RandomNormalLike"));
  EXPECT_FALSE(may("RANDOM_UNIFORM"));
  EXPECT_FALSE(may("bernoulli.p"));
  EXPECT_FALSE(may("_c10d_functional::all_reduce"));
  EXPECT_FALSE(may("_c10d_functional.wait_tensor.default"));
  EXPECT_FALSE(may("all-reduce"));
  EXPECT_FALSE(may("ASSIGN_VARIABLE"));
}

// A tensor that is written in place is made again with the same writes.
TEST(Recompute, MakesTheRightVersionAgain) {
  Graph graph;
  graph.tensors = {{"a", 10}, {"big", 30}, {"c", 10}, {"d", 10}};
  graph.tensors[3].output = true;
  graph.operators.resize(5);
  graph.operators[0] = {"make a", "", {}, {0}};
  graph.operators[1] = {"write a", "", {0}, {}};
  graph.operators[1].mutates = {0};
  graph.operators[2] = {"c of a", "", {0}, {2}};
  graph.operators[2].after = {1};
  graph.operators[3] = {"big of c", "", {2}, {1}};
  graph.operators[4] = {"d of all", "", {0}, {3}};
  graph.operators[4].after = {3};
  for (Operator& op : graph.operators) op.cost = 7;
  const auto answer = PlanOf(graph, 40);
  ASSERT_TRUE(answer.has_value());
  ASSERT_EQ(answer->outcome, Outcome::kOptimal);
  EXPECT_EQ(answer->best->order, (Order{0, 1, 2, 3, 0, 1, 4}));
  EXPECT_EQ(answer->best->recomputed.cost, 14);
  EXPECT_TRUE(verify::VerifyPlan(graph, {}, 40, *answer->best).ok());
}

TEST(Recompute, IsTheSameEveryTime) {
  const Graph graph = Training(40, 10);
  RecomputeOptions options;
  options.capacity = 120;
  Budget first;
  Budget second;
  const auto a = PlanWithRecomputation(graph, options, first);
  const auto b = PlanWithRecomputation(graph, options, second);
  ASSERT_TRUE(a.has_value() && b.has_value());
  EXPECT_EQ(a->best->order, b->best->order);
  EXPECT_EQ(a->recompute_bound, b->recompute_bound);
  EXPECT_TRUE(a->fits());
}

TEST(Recompute, EndsWithItsBudget) {
  const Graph graph = Training(300, 10);
  Budget cancelled;
  cancelled.Cancel();
  RecomputeOptions options;
  options.capacity = 400;
  const auto answer = PlanWithRecomputation(graph, options, cancelled);
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->stopped, StopReason::kBudget);
}

// Ends once the cost is near enough to the bound, and says so.
TEST(Recompute, EndsWithinTheGap) {
  const Graph graph = Training(60, 10);
  RecomputeOptions options;
  options.capacity = 80;
  options.gap = 900'000;
  Budget budget(20);
  const auto near = PlanWithRecomputation(graph, options, budget);
  ASSERT_TRUE(near.has_value() && near->best);
  EXPECT_EQ(near->stopped, StopReason::kGap);
  EXPECT_EQ(near->outcome, Outcome::kFeasible);
  const std::int64_t cost = near->best->recomputed.cost;
  EXPECT_GT(cost, near->recompute_bound);
  EXPECT_LE((cost - near->recompute_bound) * 1'000'000, cost * options.gap);
  options.gap = -1;
  EXPECT_FALSE(PlanWithRecomputation(graph, options, budget).has_value());
}

TEST(Recompute, RefusesBadOptions) {
  const Graph graph = Training(2, 1);
  RecomputeOptions options;
  options.capacity = -1;
  Budget budget;
  EXPECT_EQ(PlanWithRecomputation(graph, options, budget).error().message,
            "the capacity is -1 bytes but must be from 0 to 2^60");
  options.capacity = 10;
  options.most_bytes = 1000;
  EXPECT_EQ(PlanWithRecomputation(graph, options, budget).error().message,
            "most_bytes is 1000, less than 1048576");
  options.most_bytes = RecomputeOptions().most_bytes;
  options.orders = {{3, 2, 1, 0}};
  EXPECT_EQ(PlanWithRecomputation(graph, options, budget).error().code, ErrorCode::kInvalidPlan);
}

}  // namespace
}  // namespace berth
