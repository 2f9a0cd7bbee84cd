#include "tools/verify/sort.h"

#include <algorithm>
#include <cstddef>

namespace berth::verify {

void SortByTime(std::vector<AtTime>& things) {
  constexpr unsigned kDigitBits = 12;
  constexpr unsigned kMostBits = 48;
  constexpr std::size_t kDigits = std::size_t{1} << kDigitBits;
  const auto earlier = [](const AtTime& x, const AtTime& y) { return x.time < y.time; };
  if (std::is_sorted(things.begin(), things.end(), earlier)) return;
  const auto [least, most] = std::minmax_element(things.begin(), things.end(), earlier);
  const auto origin = static_cast<std::uint64_t>(least->time);
  const std::uint64_t duration = static_cast<std::uint64_t>(most->time) - origin;
  if (things.size() < kDigits || (duration >> kMostBits) != 0) {
    std::stable_sort(things.begin(), things.end(), earlier);
    return;
  }
  std::vector<AtTime> sorted(things.size());
  std::vector<std::size_t> place(kDigits);  // Of the next thing with a digit.
  for (unsigned shift = 0; (duration >> shift) != 0; shift += kDigitBits) {
    const auto digit_of = [&](const AtTime& thing) {
      const std::uint64_t since = static_cast<std::uint64_t>(thing.time) - origin;
      return static_cast<std::size_t>(since >> shift) % kDigits;
    };
    std::fill(place.begin(), place.end(), 0);
    for (const AtTime& thing : things) ++place[digit_of(thing)];
    std::size_t before = 0;
    for (std::size_t& each : place) {
      const std::size_t count = each;
      each = before;
      before += count;
    }
    for (const AtTime& thing : things) sorted[place[digit_of(thing)]++] = thing;
    things.swap(sorted);
  }
}

}  // namespace berth::verify
