// A memory that knows of its bytes until when they are in use. Rectangles come in order of their
// starts. Each takes its bytes over from the uses that it meets there, all of which must have ended:
//
//   until 9 | until 4   |  | until 7 |    A rectangle from step 5 to 8 may take the bytes of the
//   --------+-----------+--+---------+    second use and the free ones above it. The third use has
//   0       8          20 23        32    not ended: its bytes meet those that are in use.
//
// A use that has ended goes when one of its bytes is taken again, so no list of ends is needed.
#include "tools/verify/disjoint.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "tools/verify/sort.h"

namespace berth::verify {
namespace {

struct Use {
  std::int64_t lower;
  std::int64_t upper;
  Step until;
};

// Uses of disjoint bytes by their lower ends, in blocks. Few are moved for one that comes or goes:
// blocks are larger where there are more of them.
class Uses {
 public:
  // Takes the bytes [use.lower, use.upper) at `start`. False if some of them are in use.
  [[nodiscard]] bool Take(const Use& use, Step start) {
    if (blocks_.empty()) {
      Add(0, {use});
      return true;
    }
    const std::size_t at = BlockOf(use.lower);
    Block& block = blocks_[at];
    const auto first =
        std::upper_bound(block.begin(), block.end(), use.lower,
                         [](std::int64_t lower, const Use& other) { return lower < other.upper; });
    auto last = first;
    for (; last != block.end() && last->lower < use.upper; ++last) {
      if (last->until > start) return false;
    }
    if (last == block.end() && !TakeAbove(at + 1, use, start)) return false;
    if (first == last) {
      block.insert(first, use);
    } else {
      *first = use;
      block.erase(first + 1, last);
    }
    lowers_[at] = block.front().lower;
    if (block.size() > std::max(kBlock, blocks_.size() / 16)) Split(at);
    return true;
  }

 private:
  static constexpr std::size_t kBlock = 64;
  using Block = std::vector<Use>;

  // The last block that begins at `lower` or below, or the first one.
  [[nodiscard]] std::size_t BlockOf(std::int64_t lower) const {
    const auto after = std::upper_bound(lowers_.begin() + 1, lowers_.end(), lower);
    return static_cast<std::size_t>(after - lowers_.begin()) - 1;
  }
  // As Take() for the bytes that block `at` and those after it have, which are then free.
  [[nodiscard]] bool TakeAbove(std::size_t at, const Use& use, Step start) {
    while (at < blocks_.size() && lowers_[at] < use.upper) {
      Block& block = blocks_[at];
      auto last = block.begin();
      for (; last != block.end() && last->lower < use.upper; ++last) {
        if (last->until > start) return false;
      }
      if (last != block.end()) {
        block.erase(block.begin(), last);
        lowers_[at] = block.front().lower;
        return true;
      }
      blocks_.erase(blocks_.begin() + static_cast<std::ptrdiff_t>(at));
      lowers_.erase(lowers_.begin() + static_cast<std::ptrdiff_t>(at));
    }
    return true;
  }
  void Split(std::size_t at) {
    Block& block = blocks_[at];
    const auto middle = block.begin() + static_cast<std::ptrdiff_t>(block.size() / 2);
    Block upper(middle, block.end());
    block.erase(middle, block.end());
    Add(at + 1, std::move(upper));
  }
  void Add(std::size_t at, Block block) {
    lowers_.insert(lowers_.begin() + static_cast<std::ptrdiff_t>(at), block.front().lower);
    blocks_.insert(blocks_.begin() + static_cast<std::ptrdiff_t>(at), std::move(block));
  }

  std::vector<Block> blocks_;         // None is empty.
  std::vector<std::int64_t> lowers_;  // Of the first use of each block.
};

}  // namespace

bool AreDisjoint(const std::vector<Rectangle>& rectangles) {
  constexpr std::size_t kAhead = 16;
  std::vector<AtTime> starts(rectangles.size());
  for (std::size_t r = 0; r < rectangles.size(); ++r) {
    const Rectangle& rectangle = rectangles[r];
    if (rectangle.lower < std::numeric_limits<std::int64_t>::min()) return false;
    if (rectangle.upper > std::numeric_limits<std::int64_t>::max()) return false;
    starts[r] = {rectangle.start, static_cast<std::int64_t>(r)};
  }
  SortByTime(starts);
  Uses uses;
  for (std::size_t k = 0; k < starts.size(); ++k) {
    if (k + kAhead < starts.size()) {  // In a large table it is far away in memory.
      __builtin_prefetch(&rectangles[static_cast<std::size_t>(starts[k + kAhead].item)]);
    }
    const Rectangle& rectangle = rectangles[static_cast<std::size_t>(starts[k].item)];
    const Use use{static_cast<std::int64_t>(rectangle.lower),
                  static_cast<std::int64_t>(rectangle.upper), rectangle.end};
    if (!uses.Take(use, rectangle.start)) return false;
  }
  return true;
}

}  // namespace berth::verify
