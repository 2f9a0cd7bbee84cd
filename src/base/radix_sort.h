// base/radix_sort.h -- many things sorted by one integer, in linear time.
#ifndef BERTH_BASE_RADIX_SORT_H_
#define BERTH_BASE_RADIX_SORT_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace berth::internal {

// Sorts by `key_of` (a function to std::int64_t), smallest first; equal keys keep their order.
// Cost: one pass for each 11 bits of the difference of the keys. For a few things, and for keys of
// more than 44 bits, std::stable_sort is as fast.
template <typename T, typename KeyOf>
void SortByInteger(std::vector<T>& things, KeyOf key_of) {
  constexpr std::size_t kFew = 1024;
  constexpr unsigned kBits = 11;
  constexpr unsigned kMostBits = 4 * kBits;
  constexpr std::size_t kDigits = std::size_t{1} << kBits;
  const auto by_key = [&](const T& x, const T& y) { return key_of(x) < key_of(y); };
  if (std::is_sorted(things.begin(), things.end(), by_key)) return;
  const auto [least, most] = std::minmax_element(things.begin(), things.end(), by_key);
  const auto base = static_cast<std::uint64_t>(key_of(*least));
  const std::uint64_t range = static_cast<std::uint64_t>(key_of(*most)) - base;
  if (things.size() < kFew || (range >> kMostBits) != 0) {
    std::stable_sort(things.begin(), things.end(), by_key);
    return;
  }
  std::vector<T> other(things.size());
  for (unsigned shift = 0; (range >> shift) != 0; shift += kBits) {
    const auto digit = [&](const T& thing) {
      return static_cast<std::size_t>((static_cast<std::uint64_t>(key_of(thing)) - base) >> shift) &
             (kDigits - 1);
    };
    std::array<std::size_t, kDigits> next{};  // Where the next thing with this digit goes.
    for (const T& thing : things) ++next[digit(thing)];
    std::size_t sum = 0;
    for (std::size_t& count : next) sum += std::exchange(count, sum);
    for (T& thing : things) other[next[digit(thing)]++] = std::move(thing);
    things.swap(other);
  }
}

}  // namespace berth::internal

#endif  // BERTH_BASE_RADIX_SORT_H_
