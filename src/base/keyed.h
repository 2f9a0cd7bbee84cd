// base/keyed.h -- things sorted by up to four integers.
//
// Every use has the same type, so that a program has one such sort and not one for each order. Keys
// are made once: of a million things, no two neighbours in the order are neighbours in memory.
#ifndef BERTH_BASE_KEYED_H_
#define BERTH_BASE_KEYED_H_

#include <algorithm>
#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/bit_cast.h"
#include "base/radix_sort.h"

namespace berth::internal {

using SortKey = std::array<std::int64_t, 4>;

// Compared by key, entry by entry, then by index.
struct Keyed {
  SortKey key;
  std::int64_t index;
  friend bool operator<(const Keyed& x, const Keyed& y) {
    for (std::size_t k = 0; k < x.key.size(); ++k) {
      if (x.key[k] != y.key[k]) return x.key[k] < y.key[k];
    }
    return x.index < y.index;
  }
};

// Smallest first.
inline void Sort(std::vector<Keyed>& things) {
  constexpr std::size_t kFew = 1024;
  if (things.size() < kFew) {
    std::sort(things.begin(), things.end());
    return;
  }
  SortByInteger(things, [](const Keyed& thing) { return thing.key[0]; });
  for (auto begin = things.begin(); begin != things.end();) {
    const auto end = std::find_if(begin, things.end(),
                                  [&](const Keyed& x) { return x.key[0] != begin->key[0]; });
    std::sort(begin, end);
    begin = end;
  }
}

// The entry of a key for a value that is not negative: such doubles compare as their bits do.
[[nodiscard]] inline std::int64_t AsKey(double value) { return BitCast<std::int64_t>(value); }

}  // namespace berth::internal

#endif  // BERTH_BASE_KEYED_H_
