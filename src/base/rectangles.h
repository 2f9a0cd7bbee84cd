// base/rectangles.h -- many byte ranges over many steps, and the first two of them that overlap.
#ifndef BERTH_BASE_RECTANGLES_H_
#define BERTH_BASE_RECTANGLES_H_

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "base/radix_sort.h"

namespace berth::internal {

// The bytes [lower, upper) in the steps [start, end); neither is empty.
struct Rectangle {
  std::int64_t start;
  std::int64_t end;
  std::int64_t lower;
  std::int64_t upper;
  std::size_t owner;  // For the caller.
};

// Calls visit(rectangle, starts) for both ends of each rectangle in order of time, until it returns
// false. At one step ends come before starts, and each in the order of `rectangles`. What is sorted
// is small, and starts are often in order already.
template <typename Visit>
void ForEachEnd(const std::vector<Rectangle>& rectangles, Visit visit) {
  struct End {
    std::int64_t step;
    const Rectangle* of;
  };
  std::vector<End> starts;
  std::vector<End> ends;
  starts.reserve(rectangles.size());
  ends.reserve(rectangles.size());
  for (const Rectangle& rectangle : rectangles) {
    starts.push_back({rectangle.start, &rectangle});
    ends.push_back({rectangle.end, &rectangle});
  }
  SortByInteger(starts, [](const End& end) { return end.step; });
  SortByInteger(ends, [](const End& end) { return end.step; });
  std::size_t next = 0;  // Of `ends`.
  for (const End& start : starts) {
    for (; ends[next].step <= start.step; ++next) {
      if (!visit(*ends[next].of, false)) return;
    }
    if (!visit(*start.of, true)) return;
  }
  for (; next < ends.size(); ++next) {
    if (!visit(*ends[next].of, false)) return;
  }
}

// Two rectangles that share a byte at a step. `late` starts at the first such step.
struct Clash {
  const Rectangle* late;
  const Rectangle* early;
};

// The first clash in time, if there is one. Live ranges are kept by their lower end. They are
// disjoint up to the first clash, so a new one can only meet the range that starts below it or the
// one that starts above it. Cost: O(log k) for each end, of which k are live.
[[nodiscard]] inline std::optional<Clash> FirstClash(const std::vector<Rectangle>& rectangles) {
  std::map<std::int64_t, const Rectangle*> live;
  std::optional<Clash> clash;
  ForEachEnd(rectangles, [&](const Rectangle& rectangle, bool starts) {
    if (!starts) {
      live.erase(rectangle.lower);
      return true;
    }
    const auto above = live.lower_bound(rectangle.lower);
    if (above != live.end() && above->first < rectangle.upper) {
      clash = Clash{&rectangle, above->second};
    } else if (above != live.begin()) {
      const Rectangle* const below = std::prev(above)->second;
      if (below->upper > rectangle.lower) clash = Clash{&rectangle, below};
    }
    if (!clash) live.emplace_hint(above, rectangle.lower, &rectangle);
    return !clash;
  });
  return clash;
}

}  // namespace berth::internal

#endif  // BERTH_BASE_RECTANGLES_H_
