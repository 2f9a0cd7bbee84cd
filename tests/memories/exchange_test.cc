// Items that could take each other's place, on selections small enough to try all choices.
#include "memories/exchange.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "base/random.h"
#include "memories/choose.h"

namespace berth::internal::memories {
namespace {

struct Case {
  Selection selection;
  std::vector<Movable> movable;
};

// Few different sizes, lifetimes and profits: many are alike, or lie within each other.
Case RandomCase(std::uint64_t seed) {
  Random random(seed);
  Case made;
  made.selection.sections = 3;
  const std::int64_t memories = random.Uniform(2, 3);
  for (std::int64_t m = 0; m < memories; ++m) {
    made.selection.capacity.emplace_back(3, random.Uniform(2, 6));
  }
  const std::int64_t count = random.Uniform(2, 6);
  for (std::int64_t i = 0; i < count; ++i) {
    const Step start = random.Uniform(0, 1);
    const Step end = random.Uniform(2, 3);
    const Bytes size = random.Uniform(1, 3);
    Item item;
    item.stays = {{static_cast<std::size_t>(start), static_cast<std::size_t>(end), size}};
    for (std::int64_t m = 0; m < memories; ++m) {
      if (random.Chance(0.2)) continue;
      item.options.push_back({static_cast<std::size_t>(m), random.Uniform(1, 4)});
    }
    if (item.options.empty()) item.options.push_back({0, 2});
    const Bytes alignment = random.Chance(0.1) ? 2 : 1;
    made.movable.push_back({made.selection.items.size(), start, end, size,
                            std::vector<Bytes>(static_cast<std::size_t>(memories), alignment)});
    made.selection.items.push_back(std::move(item));
  }
  return made;
}

std::size_t ValueOf(int option) { return static_cast<std::size_t>(option + 1); }

bool IsExcluded(const std::vector<Exchange>& exchanges, const Choice& choice) {
  return std::any_of(exchanges.begin(), exchanges.end(), [&](const Exchange& each) {
    return (each.excluded[ValueOf(choice[each.first])] >> ValueOf(choice[each.second]) & 1) != 0;
  });
}

struct Best {
  std::int64_t of_all = -1;
  std::int64_t not_excluded = -1;
  std::size_t excluded = 0;  // How many choices.
};

void TryAll(const Selection& selection, const std::vector<Exchange>& exchanges, Choice& choice,
            std::size_t item, Best& best) {
  if (item == selection.items.size()) {
    if (!Allows(selection, choice)) return;
    const std::int64_t profit = ProfitOf(selection, choice);
    best.of_all = std::max(best.of_all, profit);
    if (IsExcluded(exchanges, choice)) {
      ++best.excluded;
    } else {
      best.not_excluded = std::max(best.not_excluded, profit);
    }
    return;
  }
  const auto options = static_cast<int>(selection.items[item].options.size());
  for (choice[item] = kOut; choice[item] < options; ++choice[item]) {
    TryAll(selection, exchanges, choice, item + 1, best);
  }
}

TEST(Exchanges, NeverExcludeAllBestChoices) {
  std::size_t excluded = 0;
  for (std::uint64_t seed = 1; seed <= 4000; ++seed) {
    SCOPED_TRACE(seed);
    Case made = RandomCase(seed);
    made.selection.exchanges = FindExchanges(made.selection, made.movable);
    Choice choice(made.selection.items.size(), kOut);
    Best best;
    TryAll(made.selection, made.selection.exchanges, choice, 0, best);
    ASSERT_EQ(best.not_excluded, best.of_all);
    excluded += best.excluded;
    // The search keeps to them, whatever it branches on, and however narrow its sweeps are.
    for (const std::size_t width : {std::size_t{1}, std::size_t{1} << 16}) {
      Budget budget;
      const Chosen chosen = Choose(made.selection, -1, {seed % 2 == 0, width}, budget);
      ASSERT_EQ(chosen.profit, best.of_all);
      ASSERT_EQ(chosen.bound, best.of_all);
    }
  }
  EXPECT_GT(excluded, 100000U);
}

// Of n items that do not differ, in two memories or out, there are as many choices as ways to divide
// n into three parts.
TEST(Exchanges, LeaveOneOrderOfItemsThatDoNotDiffer) {
  constexpr std::size_t kItems = 6;
  Case made;
  made.selection.sections = 1;
  made.selection.capacity = {{100}, {100}};
  for (std::size_t i = 0; i < kItems; ++i) {
    made.selection.items.push_back({{{0, 1, 4}}, {{0, 5}, {1, 3}}});
    made.movable.push_back({i, 0, 1, 4, {1, 1}});
  }
  const std::vector<Exchange> exchanges = FindExchanges(made.selection, made.movable);
  std::size_t left = 0;
  Choice choice(kItems, kOut);
  const std::size_t all = 3 * 3 * 3 * 3 * 3 * 3;
  for (std::size_t number = 0; number < all; ++number) {
    std::size_t rest = number;
    for (int& option : choice) {
      option = static_cast<int>(rest % 3) - 1;
      rest /= 3;
    }
    left += IsExcluded(exchanges, choice) ? 0 : 1;
  }
  EXPECT_EQ(left, (kItems + 1) * (kItems + 2) / 2);
}

// Alignment keeps a buffer from another one's place, and one without a section there competes with none.
TEST(Exchanges, AreOfItemsThatCanBeThere) {
  Case made;
  made.selection.sections = 2;
  made.selection.capacity = {{8, 100}, {8, 100}};
  made.selection.items = {{{{0, 1, 4}}, {{0, 5}, {1, 3}}}, {{{0, 1, 4}}, {{0, 5}, {1, 3}}}};
  made.movable = {{0, 0, 1, 4, {8, 8}}, {1, 0, 1, 4, {1, 1}}};
  for (const Exchange& each : FindExchanges(made.selection, made.movable)) {
    EXPECT_EQ(each.first, 1U);
    EXPECT_EQ(each.excluded[0], 0U);  // If the first is left out, it could not be in its place.
  }
  made.movable[0].alignment = {1, 1};
  EXPECT_FALSE(FindExchanges(made.selection, made.movable).empty());
  made.selection.items[1].stays = {{1, 2, 4}};
  EXPECT_TRUE(FindExchanges(made.selection, made.movable).empty());
}

}  // namespace
}  // namespace berth::internal::memories
