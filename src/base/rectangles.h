// base/rectangles.h -- many byte ranges over many steps, and the first two of them that overlap.
#ifndef BERTH_BASE_RECTANGLES_H_
#define BERTH_BASE_RECTANGLES_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
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

// The rectangles, as items, by one of their two ends in time; those with the same in their order.
[[nodiscard]] inline std::vector<KeyAndItem> InOrderOf(std::int64_t Rectangle::*step,
                                                       const std::vector<Rectangle>& rectangles) {
  std::vector<KeyAndItem> order(rectangles.size());
  for (std::size_t r = 0; r < order.size(); ++r) {
    order[r] = {rectangles[r].*step, static_cast<std::int64_t>(r)};
  }
  SortByKey(order);
  return order;
}

// Calls visit(rectangle, starts) for both ends of each rectangle in order of time, until it returns
// false. At one step ends come before starts, and each in the order of `rectangles`.
template <typename Visit>
void ForEachEnd(const std::vector<Rectangle>& rectangles, Visit visit) {
  const std::vector<KeyAndItem> starts = InOrderOf(&Rectangle::start, rectangles);
  const std::vector<KeyAndItem> ends = InOrderOf(&Rectangle::end, rectangles);
  std::size_t begun = 0;
  for (std::size_t ended = 0; ended < ends.size();) {
    const bool is_start = begun < starts.size() && starts[begun].key < ends[ended].key;
    const KeyAndItem& next = is_start ? starts[begun++] : ends[ended++];
    if (!visit(rectangles[next.position()], is_start)) return;
  }
}

// Disjoint ranges in order, in blocks of neighbours: a tree of two levels, which stays in the cache
// where a std::map fetches a node for each step of its search. Cost: that of moving half a block for
// each change; with n ranges, also n / 32 numbers for every 32 changes.
class DisjointRanges {
 public:
  struct Range {
    std::int64_t lower;
    std::int64_t upper;
    const Rectangle* of;
  };

  // Inserts a range, unless it meets one that is there already, which is returned: the one above its
  // lower end, if both that one and the one below do.
  const Rectangle* Insert(const Range& range) {
    if (order_.empty()) {
      order_.push_back({range.lower, NewBlock()});
      InsertAt(0, 0, range);
      return nullptr;
    }
    const std::size_t at = BlockOf(range.lower);
    Block& block = blocks_[order_[at].block];
    const std::size_t position = PositionIn(block, range.lower);
    const Range* above = nullptr;
    if (position < block.count) {
      above = &block.items[position];
    } else if (at + 1 < order_.size()) {
      above = &blocks_[order_[at + 1].block].items[0];
    }
    if (above != nullptr && above->lower < range.upper) return above->of;
    // Only before the first of all ranges there is none below.
    if (position > 0 && block.items[position - 1].upper > range.lower) {
      return block.items[position - 1].of;
    }
    InsertAt(at, position, range);
    return nullptr;
  }

  // Removes the range that begins at `lower`.
  void Erase(std::int64_t lower) {
    const std::size_t at = BlockOf(lower);
    Block& block = blocks_[order_[at].block];
    const std::size_t position = PositionIn(block, lower);
    std::copy(block.items.begin() + static_cast<std::ptrdiff_t>(position) + 1,
              block.items.begin() + static_cast<std::ptrdiff_t>(block.count),
              block.items.begin() + static_cast<std::ptrdiff_t>(position));
    --block.count;
    if (block.count > 0) {
      order_[at].lower = block.items[0].lower;
      return;
    }
    free_.push_back(order_[at].block);
    order_.erase(order_.begin() + static_cast<std::ptrdiff_t>(at));
  }

 private:
  static constexpr std::size_t kBlock = 64;
  struct Block {
    std::array<Range, kBlock> items;
    std::size_t count = 0;
  };
  struct Entry {
    std::int64_t lower;  // Of its first range.
    std::size_t block;
  };

  std::size_t NewBlock() {
    if (free_.empty()) {
      blocks_.emplace_back();
      return blocks_.size() - 1;
    }
    const std::size_t block = free_.back();  // It is empty.
    free_.pop_back();
    return block;
  }
  // The last block that begins at `lower` or below, or the first one.
  [[nodiscard]] std::size_t BlockOf(std::int64_t lower) const {
    const auto after = std::upper_bound(
        order_.begin() + 1, order_.end(), lower,
        [](std::int64_t value, const Entry& entry) { return value < entry.lower; });
    return static_cast<std::size_t>(after - order_.begin()) - 1;
  }
  // Of the first range that begins at `lower` or above.
  [[nodiscard]] static std::size_t PositionIn(const Block& block, std::int64_t lower) {
    const auto end = block.items.begin() + static_cast<std::ptrdiff_t>(block.count);
    const auto found = std::lower_bound(
        block.items.begin(), end, lower,
        [](const Range& range, std::int64_t value) { return range.lower < value; });
    return static_cast<std::size_t>(found - block.items.begin());
  }
  void InsertAt(std::size_t at, std::size_t position, const Range& range) {
    if (blocks_[order_[at].block].count == kBlock) {
      const std::size_t half = NewBlock();
      Block& full = blocks_[order_[at].block];
      Block& upper = blocks_[half];
      std::copy(full.items.begin() + kBlock / 2, full.items.end(), upper.items.begin());
      full.count = upper.count = kBlock / 2;
      order_.insert(order_.begin() + static_cast<std::ptrdiff_t>(at) + 1,
                    {upper.items[0].lower, half});
      if (position > kBlock / 2) {
        ++at;
        position -= kBlock / 2;
      }
    }
    Block& block = blocks_[order_[at].block];
    const auto end = block.items.begin() + static_cast<std::ptrdiff_t>(block.count);
    std::copy_backward(block.items.begin() + static_cast<std::ptrdiff_t>(position), end, end + 1);
    block.items[position] = range;
    ++block.count;
    order_[at].lower = block.items[0].lower;
  }

  std::vector<Entry> order_;  // The blocks in use, by their ranges; none is empty.
  std::vector<Block> blocks_;
  std::vector<std::size_t> free_;
};

// Two rectangles that share a byte at a step. `late` starts at the first such step.
struct Clash {
  const Rectangle* late;
  const Rectangle* early;
};

// The first clash in time, if there is one. Live ranges are kept by their lower end. They are
// disjoint up to the first clash, so a new one can only meet the range that starts below it or the
// one that starts above it. Rectangles are fetched from memory ahead of their turn: in a large table
// they are far apart. Cost: O(log k) for each end, of which k are live.
[[nodiscard]] inline std::optional<Clash> FirstClash(const std::vector<Rectangle>& rectangles) {
  constexpr std::size_t kAhead = 16;
  const std::vector<KeyAndItem> starts = InOrderOf(&Rectangle::start, rectangles);
  std::vector<KeyAndItem> ends(rectangles.size());  // The lower ends, by the last steps.
  for (std::size_t r = 0; r < rectangles.size(); ++r) {
    ends[r] = {rectangles[r].end, rectangles[r].lower};
  }
  SortByKey(ends);
  DisjointRanges live;
  std::size_t next = 0;  // Of `ends`.
  for (std::size_t k = 0; k < starts.size(); ++k) {
    if (k + kAhead < starts.size()) {
      // It may lie in two lines of the cache.
      const Rectangle& ahead = rectangles[starts[k + kAhead].position()];
      __builtin_prefetch(&ahead.start);
      __builtin_prefetch(&ahead.upper);
    }
    const Rectangle& late = rectangles[starts[k].position()];
    for (; ends[next].key <= late.start; ++next) live.Erase(ends[next].item);
    if (const Rectangle* const early = live.Insert({late.lower, late.upper, &late})) {
      return Clash{&late, early};
    }
  }
  return std::nullopt;
}

}  // namespace berth::internal

#endif  // BERTH_BASE_RECTANGLES_H_
