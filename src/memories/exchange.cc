// What follows from exchanging two buffers of a plan. Let a be as large as b at most, and live within its
// lifetime. Where b is, a could be as well:
//
//   bytes
//    ^  +-----------+
//    |  |  b +---+  |      In any plan a can take the place of b, and b be left out. If both are alike,
//    |  |    | a |  |      b can also take the place of a.
//    |  +----+---+--+
//    +----------------> time
//
// A plan that gains by that is not the best. Where it gains nothing, it is enough to look at one of the
// two: the one with the smaller area in use or, of buffers that do not differ, the one with the first
// buffer in the first of their options. So of all best plans one with the least area and, among these,
// the first is never excluded, however many pairs there are.
#include "memories/exchange.h"

#include <algorithm>
#include <cstdint>

#include "base/wide.h"

namespace berth::internal::memories {
namespace {

// Of the items that could take the place of one, so many are looked at, and kept.
constexpr std::size_t kMostTried = 64;
constexpr std::size_t kMostKept = 12;

// The option of an item in a memory; 0 if there is none, else its number + 1.
std::size_t ValueIn(const Item& item, std::size_t memory) {
  for (std::size_t o = 0; o < item.options.size(); ++o) {
    if (item.options[o].memory == memory) return o + 1;
  }
  return 0;
}

std::int64_t ProfitAt(const Item& item, std::size_t value) {
  return value == 0 ? 0 : item.options[value - 1].profit;
}

bool SameOptions(const Item& a, const Item& b) {
  return a.options.size() == b.options.size() &&
         std::equal(a.options.begin(), a.options.end(), b.options.begin(),
                    [](const Option& x, const Option& y) {
                      return x.memory == y.memory && x.profit == y.profit;
                    });
}

class Finder {
 public:
  Finder(const Selection& selection, const std::vector<Movable>& movable)
      : selection_(selection), movable_(movable) {}

  std::vector<Exchange> Find() {
    // Of those with one option each in one memory, Selection::dominates says it.
    const bool any = std::any_of(movable_.begin(), movable_.end(), [this](const Movable& each) {
      return ItemOf(each).options.size() > 1;
    });
    if (!any) return {};
    // The largest within another one come first: what they exclude, others need not.
    std::vector<std::size_t> order(movable_.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(), [this](std::size_t a, std::size_t b) {
      const Wide x = Area(movable_[a]);
      const Wide y = Area(movable_[b]);
      return x != y ? y < x : movable_[b].item < movable_[a].item;
    });
    std::vector<Exchange> found;
    for (const std::size_t j : order) {
      kept_.clear();
      std::size_t tried = 0;
      for (const std::size_t i : order) {
        if (tried == kMostTried || kept_.size() == kMostKept) break;
        if (i == j || !LiesWithin(movable_[i], movable_[j])) continue;
        ++tried;
        Consider(movable_[i], movable_[j]);
      }
      for (Exchange& each : kept_) found.push_back(std::move(each));
    }
    return found;
  }

 private:
  static Wide Area(const Movable& each) {
    return Wide(each.size) * (Wide(each.end) - Wide(each.start));
  }
  [[nodiscard]] const Item& ItemOf(const Movable& each) const {
    return selection_.items[each.item];
  }
  [[nodiscard]] bool LiesWithin(const Movable& a, const Movable& b) const {
    const Item& inner = ItemOf(a);
    const Item& outer = ItemOf(b);
    return a.start >= b.start && a.end <= b.end && a.size <= b.size &&
           inner.first() >= outer.first() && inner.last() <= outer.last();
  }

  // What `b` may not be, by what `a` is, which lies within it.
  [[nodiscard]] Exchange Excluded(const Movable& a, const Movable& b) const {
    const Item& first = ItemOf(a);
    const Item& second = ItemOf(b);
    const bool alike = LiesWithin(b, a);
    const bool same = alike && a.alignment == b.alignment && SameOptions(first, second);
    Exchange exchange{a.item, b.item, std::vector<std::uint64_t>(first.options.size() + 1)};
    for (std::size_t x = 0; x <= first.options.size(); ++x) {
      for (std::size_t y = 1; y <= second.options.size(); ++y) {
        if (Gains(a, b, x, y, alike) || (same && x != y && (x == 0 || y < x) && a.item < b.item)) {
          exchange.excluded[x] |= std::uint64_t{1} << y;
        }
      }
    }
    return exchange;
  }

  // `a` is x, and `b` is y, which is not left out: whether it would gain to give its place to `a`.
  [[nodiscard]] bool Gains(const Movable& a, const Movable& b, std::size_t x, std::size_t y,
                           bool alike) const {
    const Item& first = ItemOf(a);
    const Item& second = ItemOf(b);
    const std::size_t memory = second.options[y - 1].memory;
    const std::size_t there = ValueIn(first, memory);
    if (there == 0 || b.alignment[memory] % a.alignment[memory] != 0) return false;
    const std::int64_t now = ProfitAt(first, x) + ProfitAt(second, y);
    const std::int64_t alone = ProfitAt(first, there) - now;
    if (alone > 0 || (alone == 0 && (!alike || x != 0))) return true;
    if (!alike || x == 0) return false;
    const std::size_t from = first.options[x - 1].memory;
    const std::size_t back = ValueIn(second, from);
    if (back == 0 || a.alignment[from] % b.alignment[from] != 0) return false;
    return alone + ProfitAt(second, back) > 0;
  }

  // Whether what `exchange` excludes follows from two others: of its first item with a third, and of
  // that one with its second.
  [[nodiscard]] static bool Follows(const Exchange& exchange, const Exchange& to_third,
                                    const Exchange& from_third) {
    for (std::size_t x = 0; x < exchange.excluded.size(); ++x) {
      std::uint64_t implied = ~std::uint64_t{0};
      for (std::size_t z = 0; z < from_third.excluded.size(); ++z) {
        if ((to_third.excluded[x] >> z & 1) == 0) implied &= from_third.excluded[z];
      }
      if ((exchange.excluded[x] & ~implied) != 0) return false;
    }
    return true;
  }

  void Consider(const Movable& a, const Movable& b) {
    const Item& first = ItemOf(a);
    const Item& second = ItemOf(b);
    // Of those with one option each in one memory, Selection::dominates says it.
    if (first.options.size() == 1 && second.options.size() == 1) return;
    Exchange exchange = Excluded(a, b);
    const bool any = std::any_of(exchange.excluded.begin(), exchange.excluded.end(),
                                 [](std::uint64_t values) { return values != 0; });
    if (!any) return;
    for (const Exchange& kept : kept_) {
      const Movable& third = movable_[PlaceOf(kept.first)];
      if (LiesWithin(a, third) && Follows(exchange, Excluded(a, third), kept)) return;
    }
    kept_.push_back(std::move(exchange));
  }

  [[nodiscard]] std::size_t PlaceOf(std::size_t item) const {
    const auto at =
        std::lower_bound(movable_.begin(), movable_.end(), item,
                         [](const Movable& each, std::size_t i) { return each.item < i; });
    return static_cast<std::size_t>(at - movable_.begin());
  }

  const Selection& selection_;
  const std::vector<Movable>& movable_;  // In order of their items.
  std::vector<Exchange> kept_;           // Of one second item.
};

}  // namespace

std::vector<Exchange> FindExchanges(const Selection& selection,
                                    const std::vector<Movable>& movable) {
  return Finder(selection, movable).Find();
}

}  // namespace berth::internal::memories
