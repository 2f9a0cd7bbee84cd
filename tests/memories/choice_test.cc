// The parts of the choice: prices, cuts, sweeps and branching, on choices small enough to enumerate.
#include <gtest/gtest.h>

#include "base/random.h"
#include "memories/choose.h"
#include "memories/sweep.h"

namespace berth::internal::memories {
namespace {

Selection RandomSelection(std::uint64_t seed) {
  Random random(seed);
  Selection selection;
  selection.sections = static_cast<std::size_t>(random.Uniform(1, 6));
  const std::int64_t memories = random.Uniform(1, 2);
  for (std::int64_t m = 0; m < memories; ++m) {
    std::vector<Bytes>& capacity = selection.capacity.emplace_back();
    for (std::size_t s = 0; s < selection.sections; ++s) capacity.push_back(random.Uniform(5, 12));
  }
  const std::int64_t count = random.Uniform(1, memories == 1 ? 11 : 7);
  for (std::int64_t i = 0; i < count; ++i) {
    Item item;
    const auto sections = static_cast<std::int64_t>(selection.sections);
    const auto first = static_cast<std::size_t>(random.Uniform(0, sections - 1));
    const auto last =
        static_cast<std::size_t>(random.Uniform(static_cast<std::int64_t>(first) + 1, sections));
    item.stays.push_back({first, last, random.Uniform(1, 5)});
    if (random.Chance(0.2) && last < selection.sections) {
      item.stays.push_back({last, selection.sections, random.Uniform(1, 5)});
    }
    for (std::int64_t m = 0; m < memories; ++m) {
      if (m > 0 && random.Chance(0.3)) continue;
      item.options.push_back({static_cast<std::size_t>(m), random.Uniform(1, 20)});
    }
    selection.items.push_back(std::move(item));
  }
  if (count >= 3 && random.Chance(0.5)) {
    Nogood nogood;
    for (std::size_t i = 0; i < 3; ++i) {
      if (i > 1 && random.Chance(0.5)) break;
      nogood.members.push_back({{i, 0}});
    }
    selection.nogoods.push_back(std::move(nogood));
  }
  return selection;
}

// Items without bytes that are worth something only together with others.
void AddTogether(std::uint64_t seed, Selection& selection) {
  Random random(seed ^ 0x70e7u);
  const auto count = static_cast<std::int64_t>(selection.items.size());
  for (std::int64_t k = random.Uniform(1, 3); k > 0; --k) {
    const std::size_t worse = selection.items.size();
    Stay hull = {selection.sections, 0, 0};
    for (std::int64_t i = 0; i < count; ++i) {
      const Item& item = selection.items[static_cast<std::size_t>(i)];
      if (item.options.size() > 1 || random.Chance(0.6)) continue;
      hull = {std::min(hull.first, item.first()), std::max(hull.last, item.last()), 0};
      selection.dominates.emplace_back(static_cast<std::size_t>(i), worse);
    }
    if (hull.first >= hull.last) continue;
    selection.items.push_back({{hull}, {{0, random.Uniform(1, 20)}}});
  }
}

std::int64_t BestByTryingAll(const Selection& selection, Choice choice, std::size_t item) {
  if (item == selection.items.size()) {
    return Allows(selection, choice) ? ProfitOf(selection, choice) : -1;
  }
  std::int64_t best = -1;
  for (int option = kOut; option < static_cast<int>(selection.items[item].options.size());
       ++option) {
    choice[item] = option;
    best = std::max(best, BestByTryingAll(selection, choice, item + 1));
  }
  return best;
}

TEST(Choose, FindsTheBestOfAllChoices) {
  for (std::uint64_t seed = 1; seed <= 1500; ++seed) {
    SCOPED_TRACE(seed);
    const Selection selection = RandomSelection(seed);
    const std::int64_t best = BestByTryingAll(selection, Choice(selection.items.size(), kOut), 0);
    for (const std::size_t width : {std::size_t{1}, std::size_t{1} << 16}) {
      Budget budget;
      const Chosen chosen = Choose(selection, -1, {seed % 3 != 0, width}, budget);
      ASSERT_EQ(chosen.profit, best);
      ASSERT_EQ(chosen.bound, best);
      ASSERT_TRUE(chosen.choice.has_value());
      EXPECT_TRUE(Allows(selection, *chosen.choice));
      // Nothing is better than the best.
      const Chosen none = Choose(selection, best, {true, width}, budget);
      EXPECT_FALSE(none.choice.has_value());
      EXPECT_EQ(none.bound, best);
    }
  }
}

// With room for few rows or none: the bound is weaker, but holds, and the search ends with a proof.
TEST(Choose, KeepsToItsMemory) {
  int weaker = 0;
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    SCOPED_TRACE(seed);
    const Selection selection = RandomSelection(seed);
    const std::int64_t best = BestByTryingAll(selection, Choice(selection.items.size(), kOut), 0);
    std::vector<std::int64_t> bounds;
    for (const std::size_t most_bytes : {std::size_t{0}, std::size_t{200}, std::size_t{1} << 30}) {
      ChooseLimits limits;
      limits.most_bytes = most_bytes;
      Budget budget;
      const Chosen chosen = Choose(selection, -1, limits, budget);
      ASSERT_EQ(chosen.profit, best);
      ASSERT_EQ(chosen.bound, best);
      Relaxation relaxation(selection);
      relaxation.LimitMemory(most_bytes);
      relaxation.Solve(10, budget);
      EXPECT_LE(relaxation.num_rows() * selection.items.size() * sizeof(double), most_bytes);
      const Prices prices = relaxation.Exact(-1);
      bounds.push_back(prices.bound / prices.scale);
      EXPECT_GE(bounds.back(), best);
    }
    if (bounds.front() > bounds.back()) ++weaker;
  }
  EXPECT_GT(weaker, 100);
}

TEST(Choose, TakesWhatIsWorthSomethingOnlyTogether) {
  std::uint64_t taken = 0;
  for (std::uint64_t seed = 1; seed <= 1500; ++seed) {
    SCOPED_TRACE(seed);
    Selection selection = RandomSelection(seed);
    AddTogether(seed, selection);
    if (selection.dominates.empty()) continue;
    const std::int64_t best = BestByTryingAll(selection, Choice(selection.items.size(), kOut), 0);
    for (const std::size_t width : {std::size_t{1}, std::size_t{1} << 16}) {
      Budget budget;
      const Chosen chosen = Choose(selection, -1, {seed % 3 != 0, width}, budget);
      ASSERT_EQ(chosen.profit, best);
      ASSERT_EQ(chosen.bound, best);
      ASSERT_TRUE(chosen.choice.has_value());
      EXPECT_TRUE(Allows(selection, *chosen.choice));
      taken += (*chosen.choice)[selection.dominates.front().second] != kOut ? 1 : 0;
    }
  }
  EXPECT_GT(taken, 200);
}

TEST(Prices, BoundEveryChoice) {
  int nogoods = 0;  // Cases in which one has a price.
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    SCOPED_TRACE(seed);
    const Selection selection = RandomSelection(seed);
    const std::int64_t best = BestByTryingAll(selection, Choice(selection.items.size(), kOut), 0);
    for (const int rounds : {0, 10}) {
      Relaxation relaxation(selection);
      Budget budget;
      relaxation.Solve(rounds, budget);
      const Prices prices = relaxation.Exact(-1);
      EXPECT_GE(prices.bound / prices.scale, best);
      if (!prices.nogoods.empty()) ++nogoods;
    }
  }
  EXPECT_GT(nogoods, 50);
}

// Where nothing that is allowed fits, the prices say so: by any profit that is asked for.
TEST(Prices, ProveThatNothingFits) {
  Selection selection;
  selection.sections = 2;
  selection.capacity = {{10, 10}};
  for (const Bytes bytes : {6, 5, 3}) {
    selection.items.push_back({{{0, 2, bytes}}, {{0, 1000 * bytes}}});
  }
  Relaxation relaxation(selection);
  Budget budget;
  relaxation.Solve(0, budget);
  EXPECT_GE(relaxation.Exact(-1).bound, relaxation.Exact(-1).scale * 9000);
  for (const std::size_t must : {std::size_t{0}, std::size_t{1}}) relaxation.Allow(must, 2);
  relaxation.Solve(0, budget);
  for (const std::int64_t least : {8000, 100, 0}) {
    const Prices prices = relaxation.Exact(least);
    EXPECT_LE(prices.bound / prices.scale, least);
  }
}

// A byte may be worth more than everything: of what must be taken and what is worth little.
TEST(Prices, MayExceedAllProfits) {
  Selection selection;
  selection.sections = 2;
  // The first item leaves one byte of the first section, and the second is worth much.
  selection.capacity = {{101, 101}};
  selection.items.push_back({{{0, 1, 100}}, {{0, 1}}});
  selection.items.push_back({{{0, 1, 2}}, {{0, 1'000'000}}});
  selection.items.push_back({{{1, 2, 10}}, {{0, 3}}});
  Relaxation relaxation(selection);
  relaxation.Allow(0, 2);
  Budget budget;
  relaxation.Solve(0, budget);
  const Prices prices = relaxation.Exact(-1);
  // Half of the second item, at most, and the others.
  EXPECT_LE(prices.bound / prices.scale, 500'004 + 1);
  EXPECT_GE(prices.bound / prices.scale, 4);
}

using Separate = bool (*)(const std::vector<std::pair<std::size_t, Bytes>>&,
                          const std::vector<double>&, Bytes, Cut&);

// Every inequality that is found holds for all sets of items that fit, and not for the solution.
void CheckCuts(Separate separate, std::int64_t most_bytes) {
  int found = 0;
  for (std::uint64_t seed = 1; seed <= 3000; ++seed) {
    Random random(seed);
    std::vector<std::pair<std::size_t, Bytes>> live;
    std::vector<double> in;
    const std::int64_t count = random.Uniform(2, 9);
    for (std::int64_t i = 0; i < count; ++i) {
      live.emplace_back(static_cast<std::size_t>(i), random.Uniform(1, most_bytes));
      in.push_back(static_cast<double>(random.Uniform(0, 10)) / 10);
    }
    const Bytes capacity = random.Uniform(1, 3 * most_bytes);
    Cut cut;
    if (!separate(live, in, capacity, cut)) continue;
    ++found;
    double now = 0;
    for (const auto& [item, coefficient] : cut.terms) {
      now += in[item] * static_cast<double>(coefficient);
    }
    ASSERT_GT(now, static_cast<double>(cut.limit)) << "seed " << seed;
    for (unsigned set = 0; set < 1u << count; ++set) {
      Bytes bytes = 0;
      for (std::int64_t i = 0; i < count; ++i) {
        if ((set >> i & 1) != 0) bytes += live[static_cast<std::size_t>(i)].second;
      }
      if (bytes > capacity) continue;
      std::int64_t left = 0;
      for (const auto& [item, coefficient] : cut.terms) {
        ASSERT_GE(coefficient, 1);
        if ((set >> item & 1) != 0) left += coefficient;
      }
      ASSERT_LE(left, cut.limit) << "seed " << seed << ", set " << set;
    }
  }
  EXPECT_GT(found, 500);
}

TEST(Covers, HoldForAllThatFits) { CheckCuts(SeparateCover, 9); }

TEST(Rounding, HoldsForAllThatFits) {
  CheckCuts(SeparateRounding, 9);
  CheckCuts(SeparateRounding, 1'000'000);
}

// Stopped after every few nodes and gone on with, it finds the same.
TEST(ChoiceSearch, GoesOnWhereItStopped) {
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    SCOPED_TRACE(seed);
    const Selection selection = RandomSelection(seed);
    const std::int64_t best = BestByTryingAll(selection, Choice(selection.items.size(), kOut), 0);
    ChoiceSearch search(selection, seed % 2 == 0);
    std::int64_t floor = -1;
    for (int rounds = 0;; ++rounds) {
      ASSERT_LT(rounds, 1000);
      Budget few;
      few.SetNodeLimit(3 + rounds);
      const Chosen chosen = search.Run(floor, {true, 1 + seed % 4}, few);
      EXPECT_GE(chosen.bound, best);
      EXPECT_EQ(chosen.choice.has_value(), chosen.profit > floor);
      if (chosen.choice) {
        EXPECT_EQ(ProfitOf(selection, *chosen.choice), chosen.profit);
        EXPECT_TRUE(Allows(selection, *chosen.choice));
      }
      floor = chosen.profit;
      if (!chosen.stopped) break;
    }
    EXPECT_EQ(floor, best);
  }
}

// Each best choice is excluded until none is left: a search that goes on finds what a new one finds.
TEST(ChoiceSearch, GoesOnWithMoreNogoods) {
  int extended = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    Selection selection = RandomSelection(seed);
    ChoiceSearch search(selection, true);
    for (int rounds = 0; rounds < 12; ++rounds) {
      const std::int64_t best = BestByTryingAll(selection, Choice(selection.items.size(), kOut), 0);
      Budget budget;
      const Chosen chosen = search.Run(-1, {seed % 3 != 0, seed % 2 == 0 ? 1u : 64u}, budget);
      ASSERT_FALSE(chosen.stopped);
      ASSERT_EQ(chosen.profit, best);
      ASSERT_EQ(chosen.bound, best);
      ASSERT_TRUE(chosen.choice && Allows(selection, *chosen.choice));
      Nogood nogood;
      for (std::size_t i = 0; i < chosen.choice->size(); ++i) {
        if ((*chosen.choice)[i] == kOut) continue;
        nogood.members.push_back({{i, static_cast<std::size_t>((*chosen.choice)[i])}});
      }
      if (nogood.members.size() < 2) break;
      selection.nogoods.push_back(std::move(nogood));
      ++extended;
    }
  }
  EXPECT_GT(extended, 500);
}

// Longer ones than can be tried out, so that searches begin again with what is left: whether the best
// choice may be excluded or not, it is the same.
TEST(ChoiceSearch, IsAsGoodWhetherWaryOrNot) {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Selection selection;
    selection.sections = 40;
    selection.capacity = {std::vector<Bytes>(selection.sections, 400)};
    for (std::size_t i = 0; i < 75; ++i) {
      const auto first = static_cast<std::size_t>(random.Uniform(0, 35));
      const auto last =
          std::min<std::size_t>(40, first + static_cast<std::size_t>(random.Uniform(1, 12)));
      const Bytes bytes = random.Uniform(1, 5) * random.Uniform(5, 30);
      selection.items.push_back({{{first, last, bytes}}, {{0, bytes * random.Uniform(2, 8)}}});
      if (i % 5 != 4 || seed % 2 == 0) continue;
      // What the last two are worth only together.
      const Item& before = selection.items[selection.items.size() - 2];
      const Stay hull = {std::min(before.first(), first), std::max(before.last(), last), 0};
      const std::size_t both = selection.items.size();
      selection.dominates.emplace_back(both - 2, both);
      selection.dominates.emplace_back(both - 1, both);
      selection.items.push_back({{hull}, {{0, random.Uniform(100, 2000)}}});
    }
    Budget budget;
    ChoiceSearch bold(selection, true, false);
    ChoiceSearch wary(selection, true, true);
    for (int rounds = 0; rounds < 3; ++rounds) {
      const Chosen first = bold.Run(-1, {true, 64}, budget);
      const Chosen second = wary.Run(-1, {true, 64}, budget);
      ASSERT_FALSE(first.stopped || second.stopped);
      EXPECT_EQ(first.profit, second.profit);
      EXPECT_EQ(first.bound, first.profit);
      ASSERT_TRUE(first.choice && Allows(selection, *first.choice));
      Nogood nogood;
      for (std::size_t i = 0; i < first.choice->size(); ++i) {
        if ((*first.choice)[i] != kOut) nogood.members.push_back({{{i, 0}}});
      }
      selection.nogoods.push_back(std::move(nogood));
    }
  }
}

// What is said of choices without an option holds for all of them that are better than the floor.
TEST(ChoiceSearch, BoundsChoicesWithoutAnOption) {
  int needed = 0;  // Options that every choice above the floor takes.
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    SCOPED_TRACE(seed);
    const Selection selection = RandomSelection(seed);
    const Choice nothing(selection.items.size(), kOut);
    const std::int64_t floor = BestByTryingAll(selection, nothing, 0) * std::int64_t(seed % 4) / 4;
    ChoiceSearch search(selection, true, seed % 3 != 1);
    Budget budget;
    if (seed % 5 == 0) budget.SetNodeLimit(20);
    static_cast<void>(search.Run(floor, {seed % 3 != 0, 64}, budget));
    for (std::size_t i = 0; i < selection.items.size(); ++i) {
      for (std::size_t o = 0; o < selection.items[i].options.size(); ++o) {
        Selection without = selection;
        without.nogoods.push_back({{{{i, o}}}});
        const std::int64_t best = BestByTryingAll(without, nothing, 0);
        const std::int64_t bound = search.BoundWithout({i, o});
        EXPECT_LE(best, std::max(bound, floor)) << "item " << i << ", option " << o;
        needed += bound <= floor ? 1 : 0;
      }
    }
  }
  EXPECT_GT(needed, 50);
}

// A sweep that keeps one state still gives a bound.
TEST(Sweep, BoundHoldsAtAnyWidth) {
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    SCOPED_TRACE(seed);
    const Selection selection = RandomSelection(seed);
    const std::int64_t best = BestByTryingAll(selection, Choice(selection.items.size(), kOut), 0);
    Relaxation relaxation(selection);
    Budget budget;
    relaxation.Solve(5, budget);
    const Prices prices = relaxation.Exact(-1);
    for (const std::size_t width : {1u, 3u, 1000u}) {
      SweepQuestion question;
      question.allowed = AllowAll(selection);
      question.floor = -1;
      question.width = width;
      const SweepAnswer answer = Sweep(selection, prices, question, budget);
      EXPECT_GE(answer.bound, best);
      EXPECT_LE(answer.profit, best);
      if (answer.complete) {
        EXPECT_EQ(answer.profit, best);
      }
    }
  }
}

}  // namespace
}  // namespace berth::internal::memories
