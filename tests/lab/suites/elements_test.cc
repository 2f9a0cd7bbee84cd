// Operators on processing elements: where HEFT puts them, and what the graph on elements means.
#include "tools/lab/suites/elements.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>

#include "berth/graph_memories.h"
#include "berth/plan.h"
#include "berth/spill.h"
#include "testing/random_graph.h"
#include "testing/seeds.h"
#include "tools/verify/graph_memories.h"

namespace berth::lab {
namespace {

// x is given; A makes a of it, B and C one result each of a, and D reads both and a.
Graph Diamond() {
  Graph graph;
  graph.cost_unit = "ns";
  graph.tensors = {{"x", 8, 1, TensorKind::kInput}, {"a", 4}, {"b", 2}, {"c", 2}, {"d", 1}};
  graph.tensors[4].output = true;
  graph.operators = {
      {"A", "", {0}, {1}}, {"B", "", {1}, {2}}, {"C", "", {1}, {3}}, {"D", "", {2, 3, 1}, {4}}};
  for (Operator& op : graph.operators) op.cost = 100;
  return graph;
}

// A byte in a nanosecond.
constexpr Link kFast = {1'000'000'000, 1'000'000'000, 0};

TEST(Heft, BranchesRunSideBySideWhereCopiesAreCheap) {
  const Graph graph = Diamond();
  const auto cheap = AssignByHeft(graph, 2, kFast);
  EXPECT_EQ(cheap[0], 0U);
  EXPECT_NE(cheap[1], cheap[2]);
  // A copy of a takes twice 400 ns, longer than B and C one after the other.
  const auto dear = AssignByHeft(graph, 2, {10'000'000, 10'000'000, 0});
  EXPECT_EQ(std::set<std::size_t>(dear.begin(), dear.end()).size(), 1U);
  EXPECT_EQ(AssignByHeft(graph, 1, kFast), (std::vector<std::size_t>(4, 0)));
}

// The longest way goes through the dear operator, so it comes first, although it is the second one.
TEST(Heft, TheLongestWayFirst) {
  Graph graph = Diamond();
  graph.operators[2].cost = 1000;
  const auto element = AssignByHeft(graph, 2, kFast);
  EXPECT_EQ(element[2], element[0]);
  EXPECT_NE(element[1], element[0]);
}

TEST(Elements, CopiesThroughOffChipMemory) {
  const auto made = OnElements(Diamond(), {0, 0, 1, 0}, Crossing::kOffChip);
  ASSERT_TRUE(made.has_value()) << made.error().message;
  // a goes to element 1, c comes back: each is written and read once.
  EXPECT_EQ(made->off_chip, 2 * (4 + 2));
  EXPECT_EQ(made->direct, 0);
  ASSERT_EQ(made->graph.operators.size(), 4U);
  ASSERT_EQ(made->graph.tensors.size(), 7U);
  const auto find = [&](const std::string& name) {
    const auto& tensors = made->graph.tensors;
    return static_cast<std::size_t>(
        std::find_if(tensors.begin(), tensors.end(),
                     [&](const Tensor& tensor) { return tensor.name == name; }) -
        tensors.begin());
  };
  const TensorIndex copy = find("a@1");
  ASSERT_LT(copy, 7U);
  EXPECT_EQ(made->graph.tensors[copy].kind, TensorKind::kInput);
  EXPECT_EQ(made->allowed[copy], std::vector<std::size_t>{1});
  EXPECT_EQ(made->maker[copy], OperatorIndex{0});
  EXPECT_EQ(made->graph.operators[2].after, std::vector<OperatorIndex>{0});
  EXPECT_TRUE(made->graph.tensors[find("a")].output);
  EXPECT_TRUE(made->graph.tensors[find("c")].output);
  EXPECT_FALSE(made->graph.tensors[find("b")].output);
  EXPECT_EQ(made->OrderOf({0, 2, 1, 3}), (Order{0, 2, 1, 3}));
}

TEST(Elements, DirectCopiesAreOperators) {
  const auto made = OnElements(Diamond(), {0, 0, 1, 0}, Crossing::kDirect);
  ASSERT_TRUE(made.has_value()) << made.error().message;
  EXPECT_EQ(made->direct, 4 + 2);
  EXPECT_EQ(made->off_chip, 0);
  ASSERT_EQ(made->graph.operators.size(), 6U);
  // Each copy right before its first use.
  const Order order = made->OrderOf({0, 2, 1, 3});
  std::string names;
  for (const OperatorIndex v : order) names += made->graph.operators[v].name + "; ";
  EXPECT_EQ(names, "A; copy a@1; C; B; copy c@0; D; ");
  EXPECT_TRUE(ValidateOrder(made->graph, order).has_value());
}

TEST(Elements, WhatIsGivenIsReadOnEachElement) {
  Graph graph = Diamond();
  graph.operators[2].inputs.push_back(0);
  for (const Crossing crossing : {Crossing::kOffChip, Crossing::kDirect}) {
    const auto made = OnElements(graph, {0, 0, 1, 0}, crossing);
    ASSERT_TRUE(made.has_value());
    EXPECT_EQ(made->off_chip, 8 + (crossing == Crossing::kOffChip ? 12 : 0));
  }
  graph.operators[3].mutates = {1};
  const auto refused = OnElements(graph, {0, 0, 1, 0}, Crossing::kDirect);
  ASSERT_FALSE(refused.has_value());
  EXPECT_NE(refused.error().message.find("\"D\" writes in place"), std::string::npos);
}

// Random graphs, with views: every operator is where it was put, as are the tensors that it uses, all orders of
// the graph are orders on elements, and plans can be run.
TEST(Elements, PlansOfRandomGraphsRun) {
  std::int64_t crossed = 0;
  std::int64_t spilled = 0;
  std::int64_t views = 0;
  for (std::uint64_t seed = 1; seed <= internal::Seeds(150); ++seed) {
    SCOPED_TRACE(seed);
    internal::GraphKnobs knobs = internal::SpillKnobs(4, 10);
    knobs.write_chance = 0;
    Graph graph = internal::RandomGraph(seed, knobs);
    if (std::any_of(graph.operators.begin(), graph.operators.end(),
                    [](const Operator& op) { return !op.mutates.empty(); })) {
      continue;
    }
    for (Operator& op : graph.operators) op.cost = 10;
    graph.cost_unit = "ns";
    const auto element = AssignByHeft(graph, 2, kFast);
    for (const Crossing crossing : {Crossing::kOffChip, Crossing::kDirect}) {
      const auto made = OnElements(graph, element, crossing);
      ASSERT_TRUE(made.has_value()) << made.error().message;
      const Order order = made->OrderOf(internal::RandomOrder(graph, seed));
      ASSERT_TRUE(ValidateOrder(made->graph, order).has_value());
      for (OperatorIndex v = 0; v < graph.operators.size(); ++v) {
        const Operator& op = made->graph.operators[made->operators[v]];
        EXPECT_EQ(op.name, graph.operators[v].name);
        for (const auto* const list : {&op.inputs, &op.outputs}) {
          for (const TensorIndex t : *list) {
            EXPECT_EQ(made->allowed[t], std::vector<std::size_t>{element[v]});
            EXPECT_FALSE(made->graph.tensors[t].alias_of);
          }
        }
      }
      PlanOptions options;
      options.spill = true;
      options.schedule.counting = {true, false};
      options.memories.allowed = made->allowed;
      for (std::size_t e = 0; e < 2; ++e) {
        options.memories.memories.push_back({.name = std::to_string(e), .capacity = kMaxBytes});
      }
      for (std::size_t e = 0; e < 2; ++e) {
        const Graph part = PartOf(made->graph, options.memories, e);
        options.memories.memories[e].capacity =
            std::max<Bytes>(1, FindLeastMemory(part, options.schedule.counting).bytes);
      }
      Budget budget;
      const auto answer = Plan(made->graph, options, budget);
      ASSERT_TRUE(answer.has_value()) << answer.error().message;
      if (!answer->best || !answer->best->addressed) continue;
      EXPECT_TRUE(verify::VerifyMemories(made->graph, options.schedule.counting, options.memories,
                                         *answer->best)
                      .empty());
      crossed += made->direct + made->off_chip > 0 ? 1 : 0;
      spilled += answer->best->traffic.avoidable() > 0 ? 1 : 0;
      views += made->graph.tensors.size() < graph.tensors.size() ? 1 : 0;
    }
  }
  // Sanitized builds run fewer seeds.
  EXPECT_GT(crossed, 0);
  EXPECT_GT(spilled, 0);
  EXPECT_GT(views, 0);
}

}  // namespace
}  // namespace berth::lab
