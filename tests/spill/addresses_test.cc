// Addresses for a layout, where one storage has to leave and the others need not.
#include "spill/addresses.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "berth/graph.h"
#include "berth/place.h"
#include "berth/plan.h"
#include "berth/spill.h"
#include "spill/layout.h"

namespace berth::internal::spill {
namespace {

constexpr std::size_t kStorages = 256;
constexpr std::size_t kHard = 77;

// Operator i makes a tensor of a byte that operator kStorages + i reads.
Graph ReadLater() {
  Graph graph;
  for (std::size_t i = 0; i < kStorages; ++i) {
    graph.tensors.push_back({.name = "t" + std::to_string(i), .bytes = 1});
    graph.operators.push_back({"make" + std::to_string(i), "", {}, {i}});
  }
  for (std::size_t i = 0; i < kStorages; ++i) {
    graph.operators.push_back({"read" + std::to_string(i), "", {i}, {}});
  }
  return graph;
}

Layout AllKept(const Graph& graph) {
  Layout layout;
  layout.order = ProgramOrder(graph);
  for (std::size_t i = 0; i < kStorages; ++i) {
    Stays stays;
    stays.tensor = i;
    stays.size = 1;
    stays.accesses = {{static_cast<Step>(i), true}, {static_cast<Step>(kStorages + i), false}};
    stays.kept = {1, 0};
    layout.storages.push_back(std::move(stays));
  }
  return layout;
}

// What a placer was asked, and how many nodes it was allowed and has spent.
struct Calls {
  std::vector<Problem> problems;
  std::vector<std::int64_t> limits;
  std::int64_t nodes = 0;
};

// Spends all of its nodes and finds nothing.
Placer SpendsAll(Calls& calls) {
  return [&calls](const Problem& problem, Budget& budget) -> Result<PlanAnswer> {
    calls.problems.push_back(problem);
    calls.limits.push_back(budget.node_limit());
    while (budget.SpendNode()) ++calls.nodes;
    return PlanAnswer{};
  };
}

// Finds nothing, in no time.
Result<PlanAnswer> FindsNothing(const Problem& /*problem*/, Budget& /*budget*/) {
  return PlanAnswer{};
}

bool AreEqual(const Problem& a, const Problem& b) {
  return std::equal(a.buffers.begin(), a.buffers.end(), b.buffers.begin(), b.buffers.end(),
                    [](const Buffer& x, const Buffer& y) {
                      return x.start == y.start && x.end == y.end && x.size == y.size;
                    });
}

// Layout with everything kept but results at the end, of tensors that are made and used on chip.
Layout LayoutOfAll(const Graph& graph) {
  Layout layout;
  layout.order = ProgramOrder(graph);
  for (std::size_t t = 0; t < graph.tensors.size(); ++t) {
    Stays stays;
    stays.tensor = t;
    stays.size = graph.tensors[t].bytes;
    for (std::size_t v = 0; v < graph.operators.size(); ++v) {
      const auto has = [&](const std::vector<std::size_t>& list) {
        return std::find(list.begin(), list.end(), t) != list.end();
      };
      const Operator& op = graph.operators[v];
      if (has(op.inputs) || has(op.outputs)) {
        stays.accesses.push_back({static_cast<Step>(v), has(op.outputs)});
      }
    }
    stays.kept.assign(stays.accesses.size(), 1);
    stays.kept.back() = 0;
    layout.storages.push_back(std::move(stays));
  }
  return layout;
}

// x and y stay while an operator makes z. Two of the three fit.
Graph TwoOfThree() {
  Graph graph;
  graph.tensors = {{.name = "x", .bytes = 4}, {.name = "y", .bytes = 2}, {.name = "z", .bytes = 4}};
  graph.operators = {{"make x and y", "", {}, {0, 1}},
                     {"make z", "", {}, {2}},
                     {"read z", "", {2}, {}},
                     {"read x and y", "", {0, 1}, {}}};
  return graph;
}

// Once all have left, all but the one that the placer finds no room for come back after few placements,
// of which no two are the same.
TEST(FindAddressesTest, WhatNeedNotLeaveComesBackTogether) {
  const Graph graph = ReadLater();
  AddressOptions options;
  options.capacity = kStorages;
  options.enough = 2;
  std::vector<Problem> asked;
  const Placer placer = [&](const Problem& problem, Budget& budget) -> Result<PlanAnswer> {
    asked.push_back(problem);
    auto answer = Place(problem, {}, budget);
    const auto is_hard = [](const Buffer& buffer) {
      return buffer.start == static_cast<Step>(kHard) && buffer.end > buffer.start + 1;
    };
    for (std::size_t i = 0; i < problem.buffers.size(); ++i) {
      if (!is_hard(problem.buffers[i])) continue;
      // The first placement must be there, though too high; the next one fails, so that all leave.
      if (asked.size() > 1) {
        answer->best.reset();
      } else {
        answer->best->residencies[i].offset = kStorages;
        answer->best->memories.front().height = kStorages + 1;
      }
    }
    return answer;
  };
  Budget budget;
  const auto found = FindAddresses(graph, AllKept(graph), options, placer, budget);
  ASSERT_TRUE(found.has_value() && found->best.has_value());
  EXPECT_EQ(found->best->plan.traffic.avoidable(), 2);
  EXPECT_LE(found->best->plan.height(), options.capacity);
  EXPECT_LT(asked.size(), 32);
  for (std::size_t i = 0; i < asked.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) EXPECT_FALSE(AreEqual(asked[i], asked[j])) << i << " " << j;
  }
}

TEST(FindAddressesTest, APlanWithExactlyTheLimitCounts) {
  const Graph graph = TwoOfThree();
  AddressOptions options;
  options.capacity = 8;
  const auto traffic_within = [&](Bytes limit) {
    options.limit = limit;
    Budget budget;
    const auto found = FindAddresses(graph, LayoutOfAll(graph), options, DefaultPlacer(), budget);
    EXPECT_TRUE(found.has_value());
    return found->best ? found->best->plan.traffic.avoidable() : -1;
  };
  EXPECT_EQ(traffic_within(1000), 4);  // y leaves and comes back.
  EXPECT_EQ(traffic_within(4), 4);
  EXPECT_EQ(traffic_within(3), -1);
  // Also where nothing has to be changed.
  options.capacity = 10;
  EXPECT_EQ(traffic_within(0), 0);
}

// Whatever the placer does, and if time is up from the beginning.
TEST(FindAddressesTest, ThereIsAPlanWithoutAnyPlacement) {
  const Graph graph = TwoOfThree();
  AddressOptions options;
  options.capacity = 6;
  for (const bool cancelled : {false, true}) {
    Budget budget;
    if (cancelled) budget.Cancel();
    const auto found = FindAddresses(graph, LayoutOfAll(graph), options, FindsNothing, budget);
    ASSERT_TRUE(found.has_value() && found->best.has_value());
    EXPECT_EQ(found->best->plan.traffic.avoidable(), 2 * (4 + 2 + 4));
    EXPECT_TRUE(ValidatePlan(graph, {}, options.capacity, found->best->plan).has_value());
    EXPECT_EQ(found->out_of_budget, cancelled);
  }
}

// Where alignments need another arrangement than a stack, the placer has what is left of the whole
// budget, though the part for clearings is spent.
TEST(FindAddressesTest, TheLastPlacementHasWhatIsLeft) {
  Graph graph;
  graph.tensors = {{.name = "a", .bytes = 5, .alignment = 4},
                   {.name = "b", .bytes = 5, .alignment = 4},
                   {.name = "c", .bytes = 3},
                   {.name = "d", .bytes = 13}};
  graph.operators = {{"make a, b and c", "", {}, {0, 1, 2}},
                     {"make d", "", {}, {3}},
                     {"read d", "", {3}, {}},
                     {"read a, b and c", "", {0, 1, 2}, {}}};
  AddressOptions options;
  options.capacity = 13;
  options.max_trials = 0;
  ASSERT_FALSE(SpillAll(graph, LayoutOfAll(graph), options.capacity).has_value());
  const Placer placer = [](const Problem& problem, Budget& budget) -> Result<PlanAnswer> {
    Budget mine;
    auto answer = Place(problem, {}, mine);
    if (!budget.SpendNode()) answer->best.reset();
    while (budget.SpendNode()) {
    }
    return answer;
  };
  Budget budget;
  budget.SetNodeLimit(1000);
  const auto found = FindAddresses(graph, LayoutOfAll(graph), options, placer, budget);
  ASSERT_TRUE(found.has_value() && found->best.has_value());
  EXPECT_LE(found->best->plan.height(), options.capacity);
}

TEST(FindAddressesTest, NodesOfPlacementsAreThoseOfTheBudget) {
  const Graph graph = ReadLater();
  AddressOptions options;
  options.capacity = kStorages;
  for (const std::int64_t limit : {0, 1, 100, 5000}) {
    Calls calls;
    Budget budget;
    budget.SetNodeLimit(limit);
    const auto found = FindAddresses(graph, AllKept(graph), options, SpendsAll(calls), budget);
    ASSERT_TRUE(found.has_value() && found->best.has_value());
    EXPECT_LE(calls.nodes, limit);
    EXPECT_EQ(budget.nodes_spent(), calls.nodes);
    EXPECT_TRUE(found->out_of_budget);
    auto improved = ImproveAddresses(graph, *found->best, options, SpendsAll(calls), budget);
    ASSERT_TRUE(improved.has_value() && improved->best.has_value());
    EXPECT_LE(calls.nodes, limit);
    EXPECT_EQ(budget.nodes_spent(), calls.nodes);
    EXPECT_TRUE(improved->out_of_budget);
  }
}

// That results stay to the end is tried with a part of the nodes, and only where it changes something.
TEST(FindAddressesTest, ResultsThatStayHaveAShare) {
  Graph graph;
  graph.tensors = {{.name = "r", .bytes = 1}, {.name = "x", .bytes = 1}, {.name = "y", .bytes = 1}};
  graph.operators = {
      {"make r", "", {}, {0}}, {"make x and y", "", {}, {1, 2}}, {"read x and y", "", {1, 2}, {}}};
  AddressOptions options;
  options.capacity = 3;
  options.max_trials = 0;
  for (const bool has_result : {true, false}) {
    Layout layout = LayoutOfAll(graph);
    layout.storages[0].result = has_result;
    Calls calls;
    Budget budget;
    budget.SetNodeLimit(1000);
    ASSERT_TRUE(FindAddresses(graph, layout, options, SpendsAll(calls), budget).has_value());
    ASSERT_GE(calls.problems.size(), 2);
    EXPECT_FALSE(AreEqual(calls.problems[0], calls.problems[1]));
    EXPECT_LE(calls.limits[0], 300);
    EXPECT_GE(calls.limits[1], 200);
    EXPECT_EQ(calls.problems[0].buffers[0].end, has_result ? 3 : 1);
  }
}

// A plan in which x leaves, where it is cheaper that y leaves.
Addressed WithoutX(const Graph& graph) {
  Layout layout = LayoutOfAll(graph);
  layout.storages[0].kept[0] = 0;
  AddressOptions options;
  options.capacity = 8;
  Budget budget;
  auto found = FindAddresses(graph, layout, options, DefaultPlacer(), budget);
  EXPECT_TRUE(found.has_value() && found->best.has_value());
  EXPECT_EQ(found->best->plan.traffic.avoidable(), 8);
  return std::move(*found->best);
}

TEST(ImproveAddressesTest, ExchangesWhatLeavesForSomethingCheaper) {
  const Graph graph = TwoOfThree();
  AddressOptions options;
  options.capacity = 8;
  Budget budget;
  const auto better = ImproveAddresses(graph, WithoutX(graph), options, DefaultPlacer(), budget);
  ASSERT_TRUE(better.has_value() && better->best.has_value());
  EXPECT_EQ(better->best->plan.traffic.avoidable(), 4);
  EXPECT_TRUE(ValidatePlan(graph, {}, options.capacity, better->best->plan).has_value());
  EXPECT_FALSE(better->out_of_budget);
  EXPECT_FALSE(better->out_of_nodes);

  // One that is good enough stays as it is, and one that cannot be placed any better, too.
  options.enough = 8;
  Calls calls;
  const auto enough = ImproveAddresses(graph, WithoutX(graph), options, SpendsAll(calls), budget);
  ASSERT_TRUE(enough.has_value() && enough->best.has_value());
  EXPECT_EQ(enough->best->plan.traffic.avoidable(), 8);
  EXPECT_TRUE(calls.problems.empty());
  options.enough = 0;
  const auto same = ImproveAddresses(graph, WithoutX(graph), options, FindsNothing, budget);
  ASSERT_TRUE(same.has_value() && same->best.has_value());
  EXPECT_EQ(same->best->plan.traffic.avoidable(), 8);
  EXPECT_FALSE(same->out_of_budget);
}

// With a placer that finds nothing all leave, though two could stay: that the nodes ended is the reason.
TEST(ImproveAddressesTest, ALimitThatEndedIsTheReason) {
  const Graph graph = TwoOfThree();
  SpillOptions options;
  options.capacity = 10;
  Calls calls;
  options.placer = SpendsAll(calls);
  Budget limited;
  limited.SetNodeLimit(100'000);
  const auto answer = PlanWithSpills(graph, options, limited);
  ASSERT_TRUE(answer.has_value() && answer->best.has_value());
  EXPECT_EQ(answer->best->traffic.avoidable(), 20);
  EXPECT_EQ(answer->traffic_bound, 0);
  EXPECT_EQ(answer->stopped, StopReason::kBudget);
  EXPECT_LE(limited.nodes_spent(), 100'000);
  EXPECT_GT(calls.nodes, 90'000);
  Budget unlimited;
  const auto effort = PlanWithSpills(graph, options, unlimited);
  ASSERT_TRUE(effort.has_value());
  EXPECT_EQ(effort->stopped, StopReason::kEffort);
  options.placer = FindsNothing;
  Budget fresh;
  fresh.SetNodeLimit(100'000);
  const auto algorithm = PlanWithSpills(graph, options, fresh);
  ASSERT_TRUE(algorithm.has_value());
  EXPECT_EQ(algorithm->stopped, StopReason::kAlgorithm);
}

}  // namespace
}  // namespace berth::internal::spill
