// FindGroups(): sequences of groups are sequences of operators, at the same cost. Versions that have been
// written over: what they add to both bounds.
#include "recompute/groups.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "recompute/bound.h"
#include "recompute/evict.h"
#include "recompute/exact.h"
#include "recompute/gaps.h"
#include "testing/seeds.h"
#include "tests/graph/build.h"
#include "tests/recompute/cases.h"

namespace berth {
namespace {

using internal::Build;
using internal::Seeds;

TEST(Groups, SequencesOfGroupsAreSequencesOfOperators) {
  std::uint64_t grouped = 0;
  std::uint64_t repeated = 0;
  std::uint64_t ordered = 0;
  for (std::uint64_t seed = 1; seed <= Seeds(3000); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RecomputeCase the = seed % 4 == 0 ? LinkedCaseOf(seed, 9) : CaseOf(seed, 9);
    if (seed % 4 != 0) {
      the.graph = GraphOf(seed, 9, 0.5);
      the.capacity = SomeCapacity(the.graph, the.counting, seed);
      the.order = internal::RandomOrder(the.graph, seed);
    }
    const room::Model model = room::Compile(the.graph, the.counting, the.link);
    const std::vector<room::Op> order = OpsOf(the.order);
    const auto groups = room::FindGroups(model, {order}, the.capacity);
    if (!groups) continue;
    ++grouped;
    std::size_t members = 0;
    for (room::Op g = 0; g < groups->members.size(); ++g) {
      members += groups->members[g].size();
      for (const room::Op v : groups->members[g]) {
        EXPECT_EQ(groups->group_of[v], g);
        EXPECT_TRUE(groups->members[g].size() == 1 || model.may_repeat[v] != 0);
      }
      EXPECT_TRUE(groups->members[g].size() == 1 || groups->model.NeedOf(g) <= the.capacity);
    }
    EXPECT_EQ(members, model.num_operators());
    const auto ungrouped = room::Ungroup(model, *groups, groups->orders.front(), &order);
    EXPECT_EQ(ungrouped, order);
    Budget budget;
    room::Measurer of_groups(groups->model, the.capacity);
    room::Measurer measurer(model, the.capacity);
    std::vector<room::Sequence> sequences = {groups->orders.front()};
    for (const double exponent : {0.5, 1.0, 2.0}) {
      room::Work work{kPlenty};
      const auto sequence = room::Evict(groups->model, groups->orders.front(), the.capacity,
                                        {exponent, true}, work, budget);
      if (sequence) sequences.push_back(*sequence);
    }
    for (const room::Sequence& sequence : sequences) {
      const room::Measure before = of_groups.Of(sequence);
      ASSERT_TRUE(before.valid);
      const room::Sequence all = room::Ungroup(model, *groups, sequence, nullptr);
      const room::Sequence firsts = FirstsOf(all, model);
      EXPECT_TRUE(ValidateOrder(the.graph, {firsts.begin(), firsts.end()}).has_value());
      const room::Measure after = measurer.Of(all);
      ASSERT_TRUE(after.valid);
      EXPECT_EQ(after.cost, before.cost);
      EXPECT_LE(after.peak, before.peak);
      repeated += before.cost > 0 ? 1 : 0;
      const room::Sequence same_order = room::Ungroup(model, *groups, sequence, &order);
      EXPECT_EQ(FirstsOf(same_order, model), order);
      ordered += measurer.Of(same_order).fits() ? 1 : 0;
    }
  }
  EXPECT_GT(grouped, Seeds(3000) / 40);
  EXPECT_GT(repeated, Seeds(3000) / 200);
  EXPECT_GT(ordered, Seeds(3000) / 100);
}

// The graph of `build`, whose operators cost so much.
Graph WithCosts(Build build, const std::vector<std::int64_t>& costs) {
  for (OperatorIndex v = 0; v < costs.size(); ++v) build.graph.operators[v].cost = costs[v];
  return std::move(build.graph);
}

// x = make();  y = copy(x);  relu(x);  z = big();  c = use(z);  a = use(y, c);  b = use(x, a):  beside z
// there is room for one of x and y. Bringing both back would take make(), copy() and relu() again.
Graph WrittenOver() {
  Build build;
  build.Made("x", 8).Made("y", 8).Made("z", 12).Made("c", 1).Made("a", 1).Made("b", 1);
  build.Op("make", {}, {"x"}).Op("copy", {"x"}, {"y"}).Op("relu", {"x"}, {}, {"x"}, {"copy"});
  build.Op("big", {}, {"z"}, {}, {"relu"}).Op("use_z", {"z"}, {"c"});
  build.Op("use_y", {"y", "c"}, {"a"}).Op("use_x", {"x", "a"}, {"b"}).Output("b");
  return WithCosts(std::move(build), {100, 10, 1, 5000, 5000, 5000, 5000});
}

// t = multiply();  s = gelu(t);  z = big();  c = use(z);  a = use(s, c):  beside z there is no room for s,
// nor for t instead.
TEST(Groups, WhatHasNoUseAnyMoreCostsItsMakerInBothBounds) {
  Build build;
  build.Made("t", 8).Made("s", 8).Made("z", 12).Made("c", 1).Made("a", 1);
  build.Op("multiply", {}, {"t"}).Op("gelu", {"t"}, {"s"}).Op("big", {}, {"z"}, {}, {"gelu"});
  build.Op("use_z", {"z"}, {"c"}).Op("use_s", {"s", "c"}, {"a"}).Output("a");
  Graph graph = WithCosts(std::move(build), {100, 10, 5000, 5000, 5000});
  for (const Bytes size : {8, 7}) {  // Of t: if it is smaller than s, there is room for it.
    SCOPED_TRACE(size);
    graph.tensors[0].bytes = size;
    ASSERT_TRUE(Validate(graph).has_value());
    const room::Model model = room::Compile(graph, {});
    const std::vector<room::Op> order = OpsOf(ProgramOrder(graph));
    const Bytes capacity = 20;
    const std::int64_t least = size == 8 ? 110 : 10;
    Budget budget;
    const auto best = room::SearchExactly(model, capacity, &order, 1'000'000, budget);
    ASSERT_TRUE(best.sequence.has_value());
    EXPECT_EQ(best.cost, least);
    const room::Gaps gaps(model, order, capacity);
    EXPECT_EQ(gaps.Choose({}, room::Gaps::Depth::kUsual, budget).bound, least);
    room::Work work{kPlenty};
    const auto cuts = room::CutBound(model, capacity, order, 1'000'000, work, budget);
    // An eighth of s does not fit. Half of multiply() counts for t.
    EXPECT_EQ(cuts.bound, size == 8 ? 8 : 2);
  }
}

TEST(Groups, WhatWasWrittenOverCostsItsMakerInBothBounds) {
  const Graph graph = WrittenOver();
  ASSERT_TRUE(Validate(graph).has_value());
  const room::Model model = room::Compile(graph, {});
  const Order program = ProgramOrder(graph);
  const std::vector<room::Op> order = OpsOf(program);
  const Bytes capacity = 21;  // z, c and one of x and y.
  Budget budget;
  const auto best = room::SearchExactly(model, capacity, &order, 1'000'000, budget);
  ASSERT_TRUE(best.sequence.has_value());
  EXPECT_EQ(best.cost, 101);  // make() and relu(); y stays.
  // To drop y costs make() as well, not only copy().
  const room::Gaps gaps(model, order, capacity);
  EXPECT_EQ(gaps.Choose({}, room::Gaps::Depth::kUsual, budget).bound, best.cost);
  room::Work work{kPlenty};
  const auto cuts = room::CutBound(model, capacity, order, 1'000'000, work, budget);
  EXPECT_LE(cuts.bound, best.cost);
  EXPECT_GT(cuts.bound, 11);
  const auto groups = room::FindGroups(model, {order}, capacity);
  ASSERT_TRUE(groups.has_value());
  EXPECT_EQ(groups->members.front(), (std::vector<room::Op>{0, 1, 2}));
  EXPECT_EQ(groups->model.cost.front(), 111);
}

}  // namespace
}  // namespace berth
