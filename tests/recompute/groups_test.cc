// FindGroups(): sequences of groups are sequences of operators, at the same cost. Versions that have been
// written over: what they add to both bounds.
#include "recompute/groups.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
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
                                        {exponent, true}, room::kMostCost, work, budget);
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
    EXPECT_EQ(BoundOf(gaps), least);
    room::Work work{kPlenty};
    const auto cuts = room::CutBound(model, capacity, order, 1'000'000, work, budget);
    // An eighth of s does not fit. Half of multiply() counts for t.
    EXPECT_EQ(cuts.bound, size == 8 ? 8 : 2);
  }
}

// multiply() makes t, which is split at random, parts of parts as well. Some parts are used after a large
// tensor: there, tensors without a use stand for parts that are dropped.
Graph Split(std::uint64_t seed) {
  internal::Random random(seed);
  Build build;
  std::vector<std::string> parts = {"t"};
  std::vector<Bytes> sizes = {random.Uniform(4, 12)};
  build.Made("t", sizes[0]).Op("multiply", {}, {"t"});
  std::string last = "multiply";
  for (int i = 0, most = static_cast<int>(random.Uniform(1, 3)); i < most; ++i) {
    const auto at = static_cast<std::size_t>(random.Uniform(0, static_cast<int>(parts.size()) - 1));
    const std::string from = parts[at];
    Bytes left = sizes[at];
    std::vector<std::string> made;
    for (int k = 0, count = static_cast<int>(random.Uniform(1, 3)); k < count; ++k) {
      const Bytes size = random.Chance(0.3) ? random.Uniform(0, 8)
                         : k + 1 == count   ? left
                                            : random.Uniform(0, left);
      left = std::max<Bytes>(0, left - size);
      made.push_back("s" + std::to_string(i) + "_" + std::to_string(k));
      build.Made(made.back(), size);
      parts.push_back(made.back());
      sizes.push_back(size);
    }
    last = "split" + std::to_string(i);
    build.Op(last, {from}, made);
    if (random.Chance(0.8)) {  // Otherwise it has a use besides.
      parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(at));
      sizes.erase(sizes.begin() + static_cast<std::ptrdiff_t>(at));
    }
  }
  build.Made("z", random.Uniform(4, 16)).Made("c0", 1).Op("big", {}, {"z"}, {}, {last});
  build.Op("use_z", {"z"}, {"c0"});
  std::string token = "c0";
  for (std::size_t k = 0; k < parts.size() && k < 5; ++k) {
    const std::string next = "c" + std::to_string(k + 1);
    build.Made(next, 1).Op("use_" + parts[k], {parts[k], token}, {next});
    token = next;
  }
  build.Output(token);
  std::vector<std::int64_t> costs(build.graph.operators.size());
  for (std::int64_t& cost : costs) cost = random.Uniform(0, 20);
  Graph graph = WithCosts(std::move(build), costs);
  for (Operator& op : graph.operators) {
    if (seed % 2 == 1 && random.Chance(0.3)) op.repeat = Repeat::kNever;
  }
  return graph;
}

// If multiply() may not run again, t or s has to stay: dropping s frees nothing if t has as many bytes.
TEST(Groups, WhatIsGoneForGoodHasToStay) {
  Build build;
  build.Made("t", 8).Made("s", 8).Made("z", 12).Made("c", 1).Made("a", 1);
  build.Op("multiply", {}, {"t"}).Op("gelu", {"t"}, {"s"}).Op("big", {}, {"z"}, {}, {"gelu"});
  build.Op("use_z", {"z"}, {"c"}).Op("use_s", {"s", "c"}, {"a"}).Output("a");
  Graph graph = WithCosts(std::move(build), {100, 10, 5000, 5000, 5000});
  graph.operators[0].repeat = Repeat::kNever;
  for (const Bytes size : {8, 7}) {  // Of t.
    SCOPED_TRACE(size);
    graph.tensors[0].bytes = size;
    const room::Model model = room::Compile(graph, {});
    const std::vector<room::Op> order = OpsOf(ProgramOrder(graph));
    const Bytes capacity = 20;
    Budget budget;
    const auto best = room::SearchExactly(model, capacity, &order, 1'000'000, budget);
    ASSERT_TRUE(best.complete);
    EXPECT_EQ(best.sequence.has_value(), size == 7);
    const room::Gaps gaps(model, order, capacity);
    EXPECT_EQ(gaps.fits_at_all(), size == 7);
    room::Work work{kPlenty};
    const auto cuts = room::CutBound(model, capacity, order, 1'000'000, work, budget);
    EXPECT_EQ(cuts.infeasible, size == 8);
  }
}

// The same where t was written over: use() can run again only as long as multiply() has not been undone.
TEST(Groups, WhatReadWhatWasWrittenOverForGoodHasToStay) {
  Build build;
  build.Made("t", 2).Made("s", 8).Made("z", 12).Made("c", 1).Made("a", 1);
  build.Op("multiply", {}, {"t"}).Op("gelu", {"t"}, {"s"});
  build.Op("write", {"t"}, {}, {"t"}, {"gelu"}).Op("big", {}, {"z"}, {}, {"write"});
  build.Op("use_z", {"z", "t"}, {"c"}).Op("use_s", {"s", "c"}, {"a"}).Output("a");
  Graph graph = WithCosts(std::move(build), {100, 10, 1, 5000, 5000, 5000});
  const room::Model again = room::Compile(graph, {});
  graph.operators[0].repeat = Repeat::kNever;
  const room::Model never = room::Compile(graph, {});
  const std::vector<room::Op> order = OpsOf(ProgramOrder(graph));
  for (const Bytes capacity : {21, 22, 23}) {
    SCOPED_TRACE(capacity);
    for (const room::Model* const model : {&again, &never}) {
      Budget budget;
      const auto best = room::SearchExactly(*model, capacity, &order, 1'000'000, budget);
      ASSERT_TRUE(best.complete);
      const room::Gaps gaps(*model, order, capacity);
      EXPECT_EQ(gaps.fits_at_all(), best.sequence.has_value());
      EXPECT_EQ(gaps.fits_at_all(), model == &again || capacity == 23);
      room::Work work{kPlenty};
      const auto cuts = room::CutBound(*model, capacity, order, 1'000'000, work, budget);
      EXPECT_EQ(cuts.infeasible, !best.sequence.has_value());
    }
  }
}

TEST(Groups, WhatStandsForSeveralNeverRaisesABoundTooFar) {
  std::uint64_t repeated = 0;
  std::uint64_t equal = 0;
  std::uint64_t impossible = 0;
  std::uint64_t seen = 0;
  for (std::uint64_t seed = 1; seed <= Seeds(3000); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Graph graph = Split(seed);
    ASSERT_TRUE(Validate(graph).has_value());
    const room::Model model = room::Compile(graph, {});
    const std::vector<room::Op> order = OpsOf(ProgramOrder(graph));
    const Bytes capacity = SomeCapacity(graph, {}, seed);
    Budget budget;
    const auto best = room::SearchExactly(model, capacity, &order, 1'000'000, budget);
    if (!best.complete) continue;
    const room::Gaps gaps(model, order, capacity);
    if (!best.sequence) {
      ++impossible;
      seen += gaps.fits_at_all() ? 0 : 1;
    } else {
      ASSERT_TRUE(gaps.fits_at_all());
      const std::int64_t bound = BoundOf(gaps);
      ASSERT_LE(bound, best.cost);
      repeated += best.cost > 0 ? 1 : 0;
      equal += best.cost > 0 && bound == best.cost ? 1 : 0;
    }
    const auto free = room::SearchExactly(model, capacity, nullptr, 1'000'000, budget);
    if (!free.complete) continue;
    room::Work work{kPlenty};
    const auto cuts = room::CutBound(model, capacity, order, 1'000'000, work, budget);
    if (free.sequence) {
      ASSERT_FALSE(cuts.infeasible);
      ASSERT_LE(cuts.bound, free.cost);
    }
  }
  EXPECT_GT(repeated, Seeds(3000) / 5);
  EXPECT_GT(2 * equal, repeated);
  EXPECT_GT(impossible, Seeds(3000) / 8);
  EXPECT_GT(4 * seen, 3 * impossible);
}

// q, k and v are parts of t: beside z there is room for t or for all of them, so that t is made again.
TEST(Groups, WhatHasNoUseStandsForAllThatItWasSplitInto) {
  Build build;
  build.Made("t", 9).Made("q", 3).Made("k", 3).Made("v", 3).Made("z", 12).Made("c", 1).Made("a", 1);
  build.Op("multiply", {}, {"t"}).Op("split", {"t"}, {"q", "k", "v"});
  build.Op("big", {}, {"z"}, {}, {"split"}).Op("use_z", {"z"}, {"c"});
  build.Op("attend", {"q", "k", "v", "c"}, {"a"}).Output("a");
  const Graph graph = WithCosts(std::move(build), {100, 10, 5000, 5000, 5000});
  ASSERT_TRUE(Validate(graph).has_value());
  const room::Model model = room::Compile(graph, {});
  const std::vector<room::Op> order = OpsOf(ProgramOrder(graph));
  Budget budget;
  const auto best = room::SearchExactly(model, 21, &order, 1'000'000, budget);
  ASSERT_TRUE(best.sequence.has_value());
  EXPECT_EQ(best.cost, 110);
  const room::Gaps gaps(model, order, 21);
  EXPECT_EQ(BoundOf(gaps), 110);
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
  EXPECT_EQ(BoundOf(gaps), best.cost);
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
