// base/lists.h -- lists of T, one for each From, in one array.
#ifndef BERTH_BASE_LISTS_H_
#define BERTH_BASE_LISTS_H_

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/truncate.h"

namespace berth::internal {

template <typename From, typename T>
class Lists {
 public:
  Lists() = default;
  // The pairs (from, item) in any order; equal pairs become one. Cost: linear, and O(k log k) for
  // each list of k items that is not in order.
  Lists(std::size_t num_from, const std::vector<std::pair<From, T>>& pairs);

  // One list for each `from` below num_from, its items in the order in which they are added.
  // `add_all` is called twice, once to count and once to fill, with a function add(from, item); it
  // must add the same items both times. Cost: linear.
  template <typename AddAll>
  [[nodiscard]] static Lists Build(std::size_t num_from, AddAll add_all);

  [[nodiscard]] std::span<const T> operator[](From from) const {
    BERTH_DCHECK(from.position() + 1 < begin_.size());
    const std::size_t begin = begin_[from.position()];
    return {items_.data() + begin, begin_[from.position() + 1] - begin};
  }
  [[nodiscard]] std::size_t num_items() const { return items_.size(); }

 private:
  std::vector<std::size_t> begin_ = {0};
  std::vector<T> items_;
};

// Implementation.

template <typename From, typename T>
Lists<From, T>::Lists(std::size_t num_from, const std::vector<std::pair<From, T>>& pairs) {
  *this = Build(num_from, [&](auto add) {
    for (const auto& [from, item] : pairs) add(from, item);
  });
  std::size_t size = 0;  // Of the items that stay.
  std::size_t begin = 0;
  for (std::size_t f = 0; f < num_from; ++f) {
    T* const first = items_.data() + begin;
    T* const last = items_.data() + begin_[f + 1];
    begin = begin_[f + 1];
    if (!std::is_sorted(first, last)) std::sort(first, last);
    begin_[f] = size;
    size = static_cast<std::size_t>(std::unique_copy(first, last, items_.data() + size) -
                                    items_.data());
  }
  begin_.back() = size;
  Truncate(items_, size);
}

template <typename From, typename T>
template <typename AddAll>
Lists<From, T> Lists<From, T>::Build(std::size_t num_from, AddAll add_all) {
  Lists lists;
  std::vector<std::size_t>& begin = lists.begin_;
  // While counting, entry f + 1 is the length of list f; while filling, where its next item goes.
  begin.assign(num_from + 1, 0);
  add_all([&](From from, const T&) { ++begin[from.position() + 1]; });
  std::size_t sum = 0;
  for (std::size_t f = 1; f <= num_from; ++f) sum += std::exchange(begin[f], sum);
  lists.items_ = std::vector<T>(sum);
  add_all([&](From from, const T& item) { lists.items_[begin[from.position() + 1]++] = item; });
  return lists;
}

}  // namespace berth::internal

#endif  // BERTH_BASE_LISTS_H_
