// base/radix_sort.h -- many things sorted by one integer, in linear time.
//
// What is sorted is always the same small struct, so that a program has one such sort and not one
// for each type of thing: a standard sort takes 1 to 3 kB of code for each.
#ifndef BERTH_BASE_RADIX_SORT_H_
#define BERTH_BASE_RADIX_SORT_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace berth::internal {

// What to sort by, and what it belongs to: an index, or another number.
struct KeyAndItem {
  std::int64_t key;
  std::int64_t item;

  [[nodiscard]] std::size_t position() const { return static_cast<std::size_t>(item); }
};

[[nodiscard]] inline bool HasLessKey(const KeyAndItem& x, const KeyAndItem& y) {
  return x.key < y.key;
}

// Sorts by key; equal keys keep their order. Short runs are sorted by insertion, then merged two by
// two. Cost: O(n log n).
inline void SortByMerging(std::vector<KeyAndItem>& things) {
  constexpr std::size_t kRun = 16;
  const std::size_t n = things.size();
  for (std::size_t k = 1; k < n; ++k) {
    const KeyAndItem thing = things[k];
    std::size_t to = k;
    for (; to % kRun != 0 && thing.key < things[to - 1].key; --to) things[to] = things[to - 1];
    things[to] = thing;
  }
  if (n <= kRun) return;
  std::vector<KeyAndItem> other(n);
  for (std::size_t run = kRun; run < n; run *= 2) {
    KeyAndItem* out = other.data();
    for (std::size_t begin = 0; begin < n; begin += 2 * run) {
      const KeyAndItem* const first = things.data() + begin;
      const KeyAndItem* const middle = things.data() + std::min(begin + run, n);
      const KeyAndItem* const last = things.data() + std::min(begin + 2 * run, n);
      out = std::merge(first, middle, middle, last, out, HasLessKey);
    }
    things.swap(other);
  }
}

// Sorts by key, smallest first; equal keys keep their order. Cost: one pass for each 11 bits of the
// difference of the keys. A few things, and keys of more than 44 bits, are merged in less time.
inline void SortByKey(std::vector<KeyAndItem>& things) {
  constexpr std::size_t kFew = 1024;
  constexpr unsigned kBits = 11;
  constexpr unsigned kMostBits = 4 * kBits;
  constexpr std::size_t kDigits = std::size_t{1} << kBits;
  if (std::is_sorted(things.begin(), things.end(), HasLessKey)) return;
  std::int64_t least = things.front().key;
  std::int64_t most = least;
  for (const KeyAndItem& thing : things) {
    least = std::min(least, thing.key);
    most = std::max(most, thing.key);
  }
  const auto base = static_cast<std::uint64_t>(least);
  const std::uint64_t range = static_cast<std::uint64_t>(most) - base;
  if (things.size() < kFew || (range >> kMostBits) != 0) return SortByMerging(things);
  std::vector<KeyAndItem> other(things.size());
  for (unsigned shift = 0; (range >> shift) != 0; shift += kBits) {
    const auto digit = [&](const KeyAndItem& thing) {
      return static_cast<std::size_t>((static_cast<std::uint64_t>(thing.key) - base) >> shift) &
             (kDigits - 1);
    };
    std::array<std::size_t, kDigits> next{};  // Where the next thing with this digit goes.
    for (const KeyAndItem& thing : things) ++next[digit(thing)];
    std::size_t sum = 0;
    for (std::size_t& count : next) sum += std::exchange(count, sum);
    for (const KeyAndItem& thing : things) other[next[digit(thing)]++] = thing;
    things.swap(other);
  }
}

// Their items, as indices of type I.
template <typename I>
[[nodiscard]] std::vector<I> ItemsOf(const std::vector<KeyAndItem>& things) {
  std::vector<I> items(things.size(), I());
  for (std::size_t k = 0; k < items.size(); ++k) items[k] = I(things[k].position());
  return items;
}

// The same for things of any type, by key_of(thing); they are moved once, at the end.
template <typename T, typename KeyOf>
void SortByInteger(std::vector<T>& things, KeyOf key_of) {
  std::vector<KeyAndItem> order(things.size());
  bool in_order = true;
  for (std::size_t k = 0; k < things.size(); ++k) {
    order[k] = {key_of(things[k]), static_cast<std::int64_t>(k)};
    in_order = in_order && (k == 0 || order[k - 1].key <= order[k].key);
  }
  if (in_order) return;
  SortByKey(order);
  std::vector<T> sorted(things.size());
  for (std::size_t k = 0; k < things.size(); ++k) {
    sorted[k] = std::move(things[order[k].position()]);
  }
  things.swap(sorted);
}

}  // namespace berth::internal

#endif  // BERTH_BASE_RADIX_SORT_H_
