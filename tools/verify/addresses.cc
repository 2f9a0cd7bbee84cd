// How overlaps are found.
//
// Most plans have none, which takes a fraction of the time to see (disjoint.h). Otherwise:
//
// The live bytes of a residency are cut into rectangles: steps [start, end) by bytes [lower, upper).
// Two rectangles that share a point are a fault. Rectangles are added in order of their starts, and
// ended ones are removed first, so every overlap is found once, when the later rectangle is added
// while the other is live.
//
// When a rectangle is added, the number of live ones that it overlaps is: all, minus those that end
// at or below its lower side, minus those that begin at or above its upper side (none is in both
// sets, as no rectangle is empty). Two Fenwick trees over the sorted sides count that in O(log n),
// so a plan with billions of overlaps is checked as fast as a valid one. The overlapping rectangles
// are only looked up if there are any and the list has room, in a tree over the rectangles sorted
// by lower side, which knows the highest upper side below each node: O(log n) for each one found.
#include "tools/verify/addresses.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>
#include <vector>

#include "tools/verify/disjoint.h"

namespace berth::verify {
namespace {

// Number of live rectangles whose side is at one of the first positions of a sorted list.
class Counter {
 public:
  explicit Counter(std::size_t positions) : sums_(positions + 1, 0) {}

  void Add(std::size_t position, std::int64_t change) {
    for (std::size_t i = position + 1; i < sums_.size(); i += i & (~i + 1)) sums_[i] += change;
  }
  [[nodiscard]] std::int64_t CountBefore(std::size_t position) const {
    std::int64_t count = 0;
    for (std::size_t i = position; i > 0; i -= i & (~i + 1)) count += sums_[i];
    return count;
  }

 private:
  std::vector<std::int64_t> sums_;
};

// The upper sides of the live rectangles, indexed by the rank of their lower sides.
class HighestUpper {
 public:
  explicit HighestUpper(std::size_t positions)
      : leaves_(std::bit_ceil(std::max<std::size_t>(positions, 1))), highest_(2 * leaves_, kDead) {}

  void Set(std::size_t position, Wide upper) {
    std::size_t node = leaves_ + position;
    highest_[node] = upper;
    for (node /= 2; node > 0; node /= 2) {
      highest_[node] = std::max(highest_[2 * node], highest_[2 * node + 1]);
    }
  }
  void Kill(std::size_t position) { Set(position, kDead); }

  // Appends the first `most` positions below `end` whose upper side lies above `lower`.
  void Find(std::size_t end, Wide lower, std::size_t most, std::vector<std::size_t>& found) const {
    Descend(1, 0, leaves_, end, lower, most, found);
  }

 private:
  // Below every side of a rectangle: those are at least -2^63.
  static constexpr Wide kDead =
      Wide{std::numeric_limits<std::int64_t>::min()} + std::numeric_limits<std::int64_t>::min();

  void Descend(std::size_t node, std::size_t first, std::size_t count, std::size_t end, Wide lower,
               std::size_t most, std::vector<std::size_t>& found) const {
    if (first >= end || highest_[node] <= lower || found.size() >= most) return;
    if (count == 1) {
      found.push_back(first);
      return;
    }
    Descend(2 * node, first, count / 2, end, lower, most, found);
    Descend(2 * node + 1, first + count / 2, count / 2, end, lower, most, found);
  }

  std::size_t leaves_;
  std::vector<Wide> highest_;
};

// The permutation that sorts 0 .. n-1 by `key`, and the keys in that order.
struct Ranking {
  std::vector<std::size_t> order;  // order[position] = item.
  std::vector<std::size_t> position;
  std::vector<Wide> keys;  // keys[position], increasing.
};

template <typename Key>
Ranking Rank(std::size_t count, Key key) {
  std::vector<std::pair<Wide, std::size_t>> sorted(count);
  for (std::size_t i = 0; i < count; ++i) sorted[i] = {key(i), i};
  std::sort(sorted.begin(), sorted.end());
  Ranking ranking;
  ranking.order.resize(count);
  ranking.position.resize(count);
  ranking.keys.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    ranking.keys[i] = sorted[i].first;
    ranking.order[i] = sorted[i].second;
    ranking.position[sorted[i].second] = i;
  }
  return ranking;
}

}  // namespace

void CheckAddress(const Placed& placed, std::optional<Bytes> capacity, Collector& collector) {
  const auto add = [&](FaultKind kind, Bytes lower = 0, Bytes upper = 0) {
    Fault fault = placed.fault;
    fault.kind = kind;
    fault.lower = lower;
    fault.upper = upper;
    collector.Add(fault);
  };
  if (placed.offset < 0) add(FaultKind::kNegative);
  if (placed.alignment > 1 && placed.offset % placed.alignment != 0) add(FaultKind::kMisaligned);
  if (placed.pin && placed.offset != *placed.pin) add(FaultKind::kPinBroken);
  const Wide top = Wide{placed.offset} + placed.size;
  if (capacity && top > *capacity) add(FaultKind::kBeyondCapacity, *capacity, Clamp(top));
}

void FindOverlaps(std::vector<Rectangle> rectangles, Collector& collector) {
  if (AreDisjoint(rectangles)) return;
  std::stable_sort(rectangles.begin(), rectangles.end(),
                   [](const Rectangle& a, const Rectangle& b) { return a.start < b.start; });
  const std::size_t count = rectangles.size();
  const Ranking by_end = Rank(count, [&](std::size_t i) { return Wide{rectangles[i].end}; });
  const Ranking by_lower = Rank(count, [&](std::size_t i) { return rectangles[i].lower; });
  const Ranking by_upper = Rank(count, [&](std::size_t i) { return rectangles[i].upper; });

  Counter lowers(count);
  Counter uppers(count);
  HighestUpper highest_upper(count);
  std::size_t ended = 0;
  std::vector<std::size_t> met;
  for (std::size_t i = 0; i < count; ++i) {
    const Rectangle& entering = rectangles[i];
    for (; by_end.keys[ended] <= entering.start; ++ended) {
      const std::size_t leaving = by_end.order[ended];
      lowers.Add(by_lower.position[leaving], -1);
      uppers.Add(by_upper.position[leaving], -1);
      highest_upper.Kill(by_lower.position[leaving]);
    }

    // Live rectangles that begin below `entering`'s top, and those that end at or below its bottom.
    const auto first_above = static_cast<std::size_t>(
        std::lower_bound(by_lower.keys.begin(), by_lower.keys.end(), entering.upper) -
        by_lower.keys.begin());
    const auto first_not_below = static_cast<std::size_t>(
        std::upper_bound(by_upper.keys.begin(), by_upper.keys.end(), entering.lower) -
        by_upper.keys.begin());
    const std::int64_t meeting =
        lowers.CountBefore(first_above) - uppers.CountBefore(first_not_below);
    if (meeting > 0) {
      met.clear();
      highest_upper.Find(first_above, entering.lower, collector.room(), met);
      for (const std::size_t position : met) {
        const Rectangle& other = rectangles[by_lower.order[position]];
        Fault fault;
        fault.kind = FaultKind::kOverlap;
        fault.residency = std::min(entering.residency, other.residency);
        fault.other = std::max(entering.residency, other.residency);
        fault.start = entering.start;
        fault.end = std::min(entering.end, other.end);
        fault.lower = Clamp(std::max(entering.lower, other.lower));
        fault.upper = Clamp(std::min(entering.upper, other.upper));
        collector.Add(fault);
      }
      collector.AddUnlisted(meeting - static_cast<std::int64_t>(met.size()));
    }

    lowers.Add(by_lower.position[i], 1);
    uppers.Add(by_upper.position[i], 1);
    highest_upper.Set(by_lower.position[i], entering.upper);
  }
}

}  // namespace berth::verify
