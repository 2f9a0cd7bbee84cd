// base/nested_rectangles.h -- which rectangles have all bytes of others while both are live.
//
// Planners that know aliases give them the same bytes, so many rectangles may lie in many others, all
// at once. Pairs of them are never listed: tens of thousands of rectangles have billions.
#ifndef BERTH_BASE_NESTED_RECTANGLES_H_
#define BERTH_BASE_NESTED_RECTANGLES_H_

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

#include "base/disjoint_sets.h"
#include "base/radix_sort.h"
#include "base/rectangles.h"

namespace berth::internal {

// Positions of rectangles such that one that has all bytes of another comes before it: by the lower
// end, the larger first; of two with the same bytes, the first of `rectangles`.
struct NestingOrder {
  explicit NestingOrder(const std::vector<Rectangle>& rectangles)
      : at(rectangles.size()), position_of(rectangles.size()) {
    std::iota(at.begin(), at.end(), std::size_t{0});
    std::sort(at.begin(), at.end(), [&](std::size_t a, std::size_t b) {
      const Rectangle& x = rectangles[a];
      const Rectangle& y = rectangles[b];
      if (x.lower != y.lower) return x.lower < y.lower;
      return x.upper != y.upper ? x.upper > y.upper : a < b;
    });
    for (std::size_t p = 0; p < at.size(); ++p) position_of[at[p]] = p;
  }
  std::vector<std::size_t> at;           // Rectangles, by position.
  std::vector<std::size_t> position_of;  // Parallel to the rectangles.
};

// Some of the positions 0 to n - 1, each with a value and in one of `sets`, which are joined all the
// time. Each node of a tree has the position of the greatest value below it, and the one of the
// greatest value in any other set. Where the two are in one set by now, they are found anew; as that
// set then has absorbed one below the node, this happens O(n log n) times.
class GreatestOfOtherSets {
 public:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  // `set_of` has the number in `sets` of each position.
  GreatestOfOtherSets(std::vector<std::int64_t> values, const std::vector<std::size_t>& set_of,
                      DisjointSets& sets)
      : values_(std::move(values)),
        set_of_(set_of),
        sets_(sets),
        width_(std::bit_ceil(std::max<std::size_t>(values_.size(), 1))),
        nodes_(2 * width_) {}

  void Insert(std::size_t position) { Set(position, position); }
  void Erase(std::size_t position) { Set(position, kNone); }

  // One from `begin` to before `end` with a value of `least` or more that is not in the set that has
  // `set`; kNone if there is none. Cost: O(log n), amortised.
  [[nodiscard]] std::size_t Find(std::size_t begin, std::size_t end, std::int64_t least,
                                 std::size_t set) {
    const std::size_t root = sets_.Find(set);
    for (begin += width_, end += width_; begin < end; begin /= 2, end /= 2) {
      if (begin % 2 == 1) {
        if (const std::size_t found = FindAt(begin++, least, root); found != kNone) return found;
      }
      if (end % 2 == 1) {
        if (const std::size_t found = FindAt(--end, least, root); found != kNone) return found;
      }
    }
    return kNone;
  }

 private:
  struct Node {
    std::size_t first = kNone;
    std::size_t second = kNone;  // Of another set than `first`, when it was found.
  };

  [[nodiscard]] std::size_t SetOf(std::size_t position) { return sets_.Find(set_of_[position]); }
  void Set(std::size_t position, std::size_t first) {
    std::size_t node = position + width_;
    nodes_[node].first = first;
    while ((node /= 2) > 0) Update(node);
  }
  void Update(std::size_t node) {
    nodes_[node] = {};
    for (const std::size_t child : {2 * node, 2 * node + 1}) {
      Renew(child);
      Offer(nodes_[node], nodes_[child].first);
      Offer(nodes_[node], nodes_[child].second);
    }
  }
  void Renew(std::size_t node) {
    const Node& of = nodes_[node];
    if (of.second != kNone && SetOf(of.first) == SetOf(of.second)) Update(node);
  }
  void Offer(Node& node, std::size_t position) {
    if (position == kNone) return;
    if (node.first == kNone) {
      node.first = position;
      return;
    }
    const bool other = SetOf(position) != SetOf(node.first);
    if (values_[position] > values_[node.first]) {
      if (other) node.second = node.first;
      node.first = position;
    } else if (other && (node.second == kNone || values_[position] > values_[node.second])) {
      node.second = position;
    }
  }
  [[nodiscard]] std::size_t FindAt(std::size_t node, std::int64_t least, std::size_t root) {
    Renew(node);
    const auto [first, second] = nodes_[node];
    for (const std::size_t position : {first, second}) {
      if (position == kNone || values_[position] < least) break;
      if (SetOf(position) != root) return position;
    }
    return kNone;
  }

  std::vector<std::int64_t> values_;
  const std::vector<std::size_t>& set_of_;
  DisjointSets& sets_;
  std::size_t width_;
  std::vector<Node> nodes_;
};

// Joins, in `sets`, the owners of every two rectangles that meet in time of which one has all bytes of
// the other. Cost: O(n log n), whatever the number of pairs.
inline void JoinNested(const std::vector<Rectangle>& rectangles, DisjointSets& sets) {
  constexpr std::size_t kNone = GreatestOfOtherSets::kNone;
  const NestingOrder order(rectangles);
  std::vector<std::size_t> owners;
  std::vector<std::int64_t> uppers;
  std::vector<std::int64_t> negated;
  owners.reserve(rectangles.size());
  uppers.reserve(rectangles.size());
  negated.reserve(rectangles.size());
  for (const std::size_t r : order.at) {
    owners.push_back(rectangles[r].owner);
    uppers.push_back(rectangles[r].upper);
    negated.push_back(-rectangles[r].upper);
  }
  GreatestOfOtherSets by_upper(std::move(uppers), owners, sets);
  GreatestOfOtherSets by_least_upper(std::move(negated), owners, sets);
  ForEachEnd(rectangles, [&](const Rectangle& rectangle, bool starts) {
    const auto r = static_cast<std::size_t>(&rectangle - rectangles.data());
    const std::size_t position = order.position_of[r];
    if (!starts) {
      by_upper.Erase(position);
      by_least_upper.Erase(position);
      return true;
    }
    const auto join_all = [&](GreatestOfOtherSets& live, std::size_t begin, std::size_t end,
                              std::int64_t least) {
      for (;;) {
        const std::size_t found = live.Find(begin, end, least, rectangle.owner);
        if (found == kNone) return;
        sets.Join(rectangle.owner, owners[found]);
      }
    };
    // What has all its bytes comes before it, what is within it after it.
    join_all(by_upper, 0, position, rectangle.upper);
    join_all(by_least_upper, position + 1, rectangles.size(), -rectangle.upper);
    by_upper.Insert(position);
    by_least_upper.Insert(position);
    return true;
  });
}

// Some of the positions 0 to n - 1, each with a value.
class FirstAbove {
 public:
  explicit FirstAbove(std::size_t count)
      : width_(std::bit_ceil(std::max<std::size_t>(count, 1))), greatest_(2 * width_, kNothing) {}

  void Insert(std::size_t position, std::int64_t value) { Set(position, value); }
  void Erase(std::size_t position) { Set(position, kNothing); }
  // The first one from `begin` to before `end` with a value above `value`; `end` if there is none.
  [[nodiscard]] std::size_t Find(std::size_t begin, std::size_t end, std::int64_t value) const {
    if (begin >= end) return end;
    // Up to a part that has one, to the right of which the search goes on; then down in it.
    std::size_t node = begin + width_;
    while (greatest_[node] <= value) {
      while (node % 2 == 1) node /= 2;
      if (node == 0) return end;  // The last one of all.
      ++node;
    }
    while (node < width_) {
      node *= 2;
      if (greatest_[node] <= value) ++node;
    }
    return std::min(node - width_, end);
  }

 private:
  static constexpr std::int64_t kNothing = std::numeric_limits<std::int64_t>::min();

  void Set(std::size_t position, std::int64_t value) {
    std::size_t node = position + width_;
    greatest_[node] = value;
    while ((node /= 2) > 0)
      greatest_[node] = std::max(greatest_[2 * node], greatest_[2 * node + 1]);
  }

  std::size_t width_;
  std::vector<std::int64_t> greatest_;
};

// Live rectangles in two parts: the front, those that are in no other one, and the rest. Of two on the
// front, the one that begins higher also ends higher:
//
//   a  [-------)            So a new rectangle is in others if the last one of the front that comes
//   b      [---------)      before it has its bytes. If not, those of the front that it has in it
//   c           [-------)   come right after it. What only b has in it when it ends begins below c,
//      -----------> bytes   and ends above a.
template <typename Visit>
class FrontOfRectangles {
 public:
  FrontOfRectangles(const std::vector<Rectangle>& rectangles, Visit& visit)
      : rectangles_(rectangles),
        visit_(visit),
        order_(rectangles),
        since_(rectangles.size()),
        covered_(rectangles.size()) {}

  void Begin(std::size_t rectangle) {
    const std::size_t position = order_.position_of[rectangle];
    const std::int64_t step = rectangles_[rectangle].start;
    auto next = front_.lower_bound(position);
    if (next != front_.begin() && UpperAt(*std::prev(next)) >= UpperAt(position)) {
      Cover(position, step);
      return;
    }
    while (next != front_.end() && UpperAt(*next) <= UpperAt(position)) {
      Cover(*next, step);
      next = front_.erase(next);
    }
    front_.insert(next, position);
  }
  // False if visit() returned false.
  [[nodiscard]] bool End(std::size_t rectangle) {
    const std::size_t position = order_.position_of[rectangle];
    const std::int64_t step = rectangles_[rectangle].end;
    const auto found = front_.find(position);
    if (found == front_.end()) return Uncover(position, step);
    const auto next = front_.erase(found);
    const std::size_t end = next == front_.end() ? rectangles_.size() : *next;
    std::int64_t below = next == front_.begin() ? std::numeric_limits<std::int64_t>::min()
                                                : UpperAt(*std::prev(next));
    for (std::size_t at = position + 1; (at = covered_.Find(at, end, below)) < end; ++at) {
      if (!Uncover(at, step)) return false;
      front_.insert(next, at);
      below = UpperAt(at);
    }
    return true;
  }

 private:
  [[nodiscard]] std::int64_t UpperAt(std::size_t position) const {
    return rectangles_[order_.at[position]].upper;
  }
  void Cover(std::size_t position, std::int64_t step) {
    since_[position] = step;
    covered_.Insert(position, UpperAt(position));
  }
  bool Uncover(std::size_t position, std::int64_t step) {
    covered_.Erase(position);
    return since_[position] == step || visit_(order_.at[position], since_[position], step);
  }

  const std::vector<Rectangle>& rectangles_;
  Visit& visit_;
  NestingOrder order_;
  std::vector<std::int64_t> since_;  // By position, of those that are within others.
  FirstAbove covered_;               // These, with their upper ends.
  std::set<std::size_t> front_;      // The others.
};

// Calls visit(index, start, end), in order of time, for each longest range of steps of a rectangle in
// which another one that has all its bytes is live, until it returns false; of two with the same bytes,
// the first has those of the second. Cost: O(log n) for each rectangle and each call.
template <typename Visit>
void ForEachNested(const std::vector<Rectangle>& rectangles, Visit visit) {
  const std::vector<KeyAndItem> starts = InOrderOf(&Rectangle::start, rectangles);
  const std::vector<KeyAndItem> ends = InOrderOf(&Rectangle::end, rectangles);
  FrontOfRectangles<Visit> front(rectangles, visit);
  std::size_t next = 0;  // Of `ends`.
  for (const KeyAndItem& start : starts) {
    // At one step starts come first: where one takes the place of another, the range goes on.
    for (; ends[next].key < start.key; ++next) {
      if (!front.End(ends[next].position())) return;
    }
    front.Begin(start.position());
  }
  for (; next < ends.size(); ++next) {
    if (!front.End(ends[next].position())) return;
  }
}

}  // namespace berth::internal

#endif  // BERTH_BASE_NESTED_RECTANGLES_H_
