// What gaps pay alone and together, and the choice of gaps that follows, by trying all.
#include "recompute/gaps.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "base/random.h"
#include "berth/spill.h"
#include "memories/gap_selection.h"
#include "recompute/exact.h"
#include "recompute/repeats.h"
#include "testing/random_graph.h"
#include "testing/seeds.h"
#include "testing/spill_oracle.h"
#include "tests/graph/build.h"
#include "tests/recompute/cases.h"

namespace berth {
namespace {

using internal::Random;
using internal::Seeds;

constexpr std::uint32_t kSteps = 12;

// Gaps of a few storages, by storage, then time, and operators that some of them need.
struct Gapped {
  room::Model model;
  std::vector<room::Gap> gaps;
  std::vector<room::Need> needs;

  void AddNeed(std::size_t gap, room::Op op, bool makes, std::uint32_t after = 0) {
    needs.push_back({gap, op, std::max(after, gaps[gap].from), makes});
  }
  [[nodiscard]] std::vector<Bytes> sizes() const {
    std::vector<Bytes> sizes;
    for (const room::Gap& gap : gaps) sizes.push_back(model.storages[gap.storage].size);
    return sizes;
  }
};

room::Gap GapOf(room::Storage s, std::uint32_t from, std::uint32_t to) {
  room::Gap gap;
  gap.storage = s;
  gap.from = from;
  gap.to = to;
  return gap;
}

Gapped RandomGapped(std::uint64_t seed) {
  Random random(seed);
  Gapped the;
  const auto operators = static_cast<room::Op>(random.Uniform(1, 4));
  for (room::Op v = 0; v < operators; ++v) the.model.cost.push_back(random.Uniform(0, 9));
  const auto storages = static_cast<room::Storage>(random.Uniform(1, 4));
  for (room::Storage s = 0; s < storages; ++s) {
    the.model.storages.emplace_back().size = random.Uniform(1, 6);
    const auto maker = static_cast<room::Op>(random.Uniform(0, operators - 1));
    const auto other = static_cast<room::Op>(random.Uniform(0, operators - 1));
    std::int64_t from = random.Uniform(0, 4);
    while (from + 2 < kSteps && the.gaps.size() < 8) {
      const std::int64_t to = random.Uniform(from + 2, kSteps);
      const std::size_t gap = the.gaps.size();
      the.gaps.push_back(
          GapOf(s, static_cast<std::uint32_t>(from), static_cast<std::uint32_t>(to)));
      the.AddNeed(gap, maker, true);
      if (other != maker && random.Chance(0.5)) {
        const auto after = static_cast<std::uint32_t>(
            random.Uniform(from, static_cast<std::int64_t>(the.gaps[gap].Latest())));
        the.AddNeed(gap, other, false, after);
        if (random.Chance(0.5)) {  // Written over, maybe before the gap.
          the.needs.back().since = static_cast<std::uint32_t>(random.Uniform(0, after));
        }
      }
      from = random.Chance(0.7) ? to : to + random.Uniform(0, 3);
    }
  }
  return the;
}

// Some gaps that are missing after a step, wherever it is.
room::MissingAfter RandomMissing(const Gapped& the, Random& random) {
  room::MissingAfter missing(the.gaps.size());
  for (std::size_t g = 0; g < the.gaps.size(); ++g) {
    const room::Gap& gap = the.gaps[g];
    if (random.Chance(0.3)) {
      missing[g] = static_cast<std::uint32_t>(random.Uniform(gap.from, gap.to - 2));
    }
  }
  return missing;
}

// What all executions cost at least that the dropped gaps need: of each operator as few as have one in
// every window.
std::int64_t LeastCost(const Gapped& the, const room::Repeats& repeats, unsigned dropped,
                       const room::MissingAfter& missing) {
  std::int64_t cost = 0;
  for (room::Op v = 0; v < the.model.cost.size(); ++v) {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> windows;  // End, begin.
    for (const room::Need& need : the.needs) {
      if (need.op != v || (dropped >> need.gap & 1) == 0) continue;
      const std::uint32_t begin = missing[need.gap].value_or(repeats.after[need.gap]);
      if (need.after > begin) continue;
      windows.emplace_back(the.gaps[need.gap].to, need.since.value_or(begin));
    }
    std::sort(windows.begin(), windows.end());
    std::int64_t latest = -1;  // Right before this step.
    for (const auto& [end, begin] : windows) {
      if (latest > static_cast<std::int64_t>(begin)) continue;
      latest = end;
      cost += the.model.cost[v];
    }
  }
  return cost;
}

std::int64_t PriceOf(const room::Repeats& repeats, unsigned dropped) {
  std::int64_t price = 0;
  for (std::size_t g = 0; g < repeats.price.size(); ++g) {
    if ((dropped >> g & 1) != 0) price += repeats.price[g];
  }
  for (const internal::memories::SharedPrice& repeat : repeats.shared) {
    const bool any = std::any_of(repeat.gaps.begin(), repeat.gaps.end(),
                                 [&](std::size_t g) { return (dropped >> g & 1) != 0; });
    price += any ? repeat.price : 0;
  }
  return price;
}

TEST(Repeats, CostNoMoreThanTheExecutions) {
  std::uint64_t sets = 0;
  std::uint64_t equal = 0;
  for (std::uint64_t seed = 1; seed <= Seeds(4000); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Gapped the = RandomGapped(seed / 2);
    Random random(seed ^ 0x3155u);
    room::MissingAfter missing(the.gaps.size());
    if (seed % 2 == 1) missing = RandomMissing(the, random);
    const room::Repeats repeats = room::FindRepeats(the.model, the.gaps, the.needs, missing);
    unsigned known = 0;
    for (std::size_t g = 0; g < the.gaps.size(); ++g) {
      EXPECT_GE(repeats.after[g], the.gaps[g].from);
      EXPECT_LE(repeats.after[g], the.gaps[g].Latest());
      known |= (missing[g] ? 1u : 0u) << g;
    }
    for (unsigned dropped = 0; dropped < 1u << the.gaps.size(); ++dropped) {
      if ((dropped & known) != known) continue;
      const std::int64_t price = PriceOf(repeats, dropped);
      const std::int64_t least = LeastCost(the, repeats, dropped, missing);
      ASSERT_LE(price, least) << "dropped " << dropped;
      ++sets;
      equal += price == least ? 1 : 0;
    }
  }
  EXPECT_GT(5 * equal, sets);
}

// One execution of make() serves both ways to copy its result, which was written over before the first of
// them is dropped, as there is room for it: the bound must not count two.
TEST(Repeats, WhatWasWrittenOverCanBeMadeAgainBeforeTheGap) {
  internal::Build build;
  build.Made("a", 1).Made("s", 10).Made("s2", 10).Made("b1", 12).Made("b2", 12);
  for (const char* used : {"i", "j", "k", "u", "v", "w"}) build.Made(used, 0);
  build.Op("make", {}, {"a"}).Op("copy", {"a"}, {"s"}).Op("copy2", {"a"}, {"s2"});
  build.Op("write", {"a"}, {}, {"a"}, {"copy", "copy2"});
  build.Op("big1", {}, {"b1"}, {}, {"write"}).Op("wait1", {}, {"i"}, {}, {"big1"});
  build.Op("wait2", {}, {"j"}, {}, {"wait1"}).Op("wait3", {}, {"k"}, {}, {"wait2"});
  build.Op("use_s2", {"s2"}, {"v"}, {}, {"wait3"}).Op("use_s", {"s"}, {"u"}, {}, {"use_s2"});
  build.Op("big2", {}, {"b2"}, {}, {"use_s"}).Op("use_s_again", {"s"}, {"w"}, {}, {"big2"});
  Graph graph = std::move(build.graph);
  const std::vector<std::int64_t> costs = {100, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  for (std::size_t v = 0; v < costs.size(); ++v) {
    graph.operators[v].cost = costs[v];
    graph.operators[v].repeat = Repeat::kPure;
  }
  const auto valid = Validate(graph);
  ASSERT_TRUE(valid.has_value()) << valid.error().message;
  const room::Model model = room::Compile(graph, {});
  const std::vector<room::Op> order = OpsOf(ProgramOrder(graph));
  Budget budget;
  const auto best = room::SearchExactly(model, 21, &order, 1'000'000, budget);
  ASSERT_TRUE(best.complete && best.sequence);
  EXPECT_EQ(best.cost, 103);
  const room::Gaps gaps(model, order, 21);
  EXPECT_TRUE(gaps.IsAnyLate());
  EXPECT_LE(BoundOf(gaps), best.cost);
}

// Of gaps at the same time one execution serves all, and of gaps after each other each needs its own.
TEST(Repeats, OneExecutionServesGapsAtTheSameTime) {
  Gapped the;
  the.model.cost = {100};
  for (const Bytes size : {3, 5}) the.model.storages.emplace_back().size = size;
  the.gaps = {GapOf(0, 0, 10), GapOf(0, 10, 20), GapOf(1, 1, 9)};
  for (const std::size_t g : {0u, 1u, 2u}) the.AddNeed(g, 0, true);
  const room::Repeats repeats = room::FindRepeats(the.model, the.gaps, the.needs);
  EXPECT_EQ(repeats.price, (std::vector<std::int64_t>{0, 100, 0}));
  ASSERT_EQ(repeats.shared.size(), 1u);
  EXPECT_EQ(repeats.shared[0].gaps, (std::vector<std::size_t>{0, 2}));
  EXPECT_EQ(repeats.shared[0].price, 100);
}

// A gap that begins two steps before a cut is as good as one that begins there; if it begins much
// earlier, all three share by size, since two executions may be needed.
TEST(Repeats, AreCutWhereGapsBeginALittleEarlier) {
  for (const std::uint32_t from : {9u, 4u}) {
    Gapped the;
    the.model.cost = {100};
    for (const Bytes size : {3, 2}) the.model.storages.emplace_back().size = size;
    the.gaps = {GapOf(0, 0, 10), GapOf(0, 10, 30), GapOf(1, from, 30)};
    for (const std::size_t g : {0u, 1u, 2u}) the.AddNeed(g, 0, true);
    const room::Repeats repeats = room::FindRepeats(the.model, the.gaps, the.needs);
    if (from == 9) {
      EXPECT_EQ(repeats.after, (std::vector<std::uint32_t>{0, 10, 10}));
      EXPECT_EQ(repeats.price, (std::vector<std::int64_t>{100, 0, 0}));
      ASSERT_EQ(repeats.shared.size(), 1u);
    } else {
      EXPECT_EQ(repeats.after, (std::vector<std::uint32_t>{0, 10, 4}));
      EXPECT_EQ(repeats.price, (std::vector<std::int64_t>{60, 60, 40}));
      EXPECT_TRUE(repeats.shared.empty());
    }
  }
}

TEST(GapSelection, GivesTheCheapestChoice) {
  std::uint64_t shared = 0;
  std::uint64_t lowered = 0;
  for (std::uint64_t seed = 1; seed <= Seeds(1000); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Gapped the = RandomGapped(seed);
    const room::Repeats repeats = room::FindRepeats(the.model, the.gaps, the.needs);
    Random random(seed ^ 0x9a9u);
    std::vector<Bytes> room;
    std::vector<std::size_t> full;
    const std::vector<Bytes> sizes = the.sizes();
    const auto load_at = [&](std::size_t step, unsigned dropped) {
      Bytes load = 0;
      for (std::size_t g = 0; g < the.gaps.size(); ++g) {
        const std::uint32_t first = repeats.after[g] + 1;
        const bool live = first <= step && step < the.gaps[g].to;
        if (live && (dropped >> g & 1) == 0) load += sizes[g];
      }
      return load;
    };
    for (std::size_t step = 0; step < kSteps; ++step) {
      room.push_back(random.Uniform(0, 12));
      if (load_at(step, 0) > room[step]) full.push_back(step);
    }
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    for (unsigned dropped = 0; dropped < 1u << the.gaps.size(); ++dropped) {
      bool fits = true;
      for (const std::size_t step : full) fits = fits && load_at(step, dropped) <= room[step];
      if (fits) least = std::min(least, PriceOf(repeats, dropped));
    }
    const auto section_from = [&](std::size_t step) {
      return static_cast<std::size_t>(std::lower_bound(full.begin(), full.end(), step) -
                                      full.begin());
    };
    std::vector<internal::memories::PricedGap> gaps;
    for (std::size_t g = 0; g < the.gaps.size(); ++g) {
      gaps.push_back({section_from(repeats.after[g] + 1), section_from(the.gaps[g].to), sizes[g],
                      repeats.price[g]});
    }
    std::vector<Bytes> capacity;
    for (const std::size_t step : full) capacity.push_back(room[step]);
    for (const bool tight : {false, true}) {
      const internal::memories::GapSelection selection(gaps, repeats.shared, capacity, tight);
      lowered += selection.selection().capacity[0] < capacity ? 1 : 0;
      Budget budget;
      const auto chosen = selection.Choose({}, room::kMostCost, budget);
      EXPECT_EQ(chosen.bound, least);
      ASSERT_TRUE(chosen.kept.has_value());
      const std::vector<char>& kept = *chosen.kept;
      unsigned dropped = 0;
      for (std::size_t g = 0; g < kept.size(); ++g) dropped |= (kept[g] == 0 ? 1u : 0u) << g;
      EXPECT_EQ(PriceOf(repeats, dropped), least);
      for (const std::size_t step : full) EXPECT_LE(load_at(step, dropped), room[step]);
    }
    shared += repeats.shared.empty() || full.empty() ? 0 : 1;
  }
  EXPECT_GT(shared, Seeds(1000) / 5);
  EXPECT_GT(lowered, Seeds(1000) / 10);
}

// Where nothing may run again, what gaps pay is what the copies cost.
TEST(GapsTest, OfCopiesAloneTheChoiceIsExactInOneOrder) {
  int all = 0;
  int exact = 0;
  for (std::uint64_t seed = 1; seed <= Seeds(1500); ++seed) {
    SCOPED_TRACE(seed);
    Graph graph = GraphOf(seed, 8);
    graph.cost_unit = "ns";
    for (Operator& op : graph.operators) {
      op.cost = 0;
      op.repeat = Repeat::kNever;
    }
    const Order order = internal::RandomOrder(graph, seed);
    const Bytes least = FindLeastMemory(graph, {}).bytes;
    const Bytes capacity = least + static_cast<Bytes>(seed % 4) * least / 8;
    const auto traffic = internal::OracleTraffic(graph, capacity, {}, &order);
    if (!traffic || *traffic == 0) continue;
    const Link bytes = {1'000'000'000, 1'000'000'000, 0};
    const room::Gaps gaps(room::Compile(graph, {}, bytes), OpsOf(order), capacity);
    const std::int64_t bound = BoundOf(gaps);
    EXPECT_LE(bound, *traffic);
    exact += bound == *traffic ? 1 : 0;
    ++all;
  }
  EXPECT_GE(all * 10, static_cast<int>(Seeds(1500)));
  EXPECT_EQ(exact, all) << exact << " of " << all;
}

}  // namespace
}  // namespace berth
