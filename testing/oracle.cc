// Every buffer in turn is tried at every offset that its pin or alignment allows, and kept where it
// shares no live byte with those placed before. No offset is skipped by a rule, because the oracle
// judges such rules. With windows some plausible rules are wrong; for example, of two interlocking
// buffers each can rest on the other, and neither on the ground.
//
// Two exact measures keep it fast:
//
//   * The common divisor of every size, pin, window and alignment (other than 1) is divided out
//     first. If a plan exists, one on that grid exists: round every offset down to the grid.
//     Offsets that satisfied o_j - o_i >= d still do, as d is on the grid; so do alignments and
//     pins, and no offset rises.
//   * Whether two buffers share a byte depends only on the difference of their offsets, and is read
//     from a table made from the definition.
//
// The least height is found from above: any plan, then one lower than that, until there is none or
// the height is the peak load.
#include "testing/oracle.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "testing/live.h"

namespace berth::internal {
namespace {

Bytes Grid(const Problem& problem) {
  Bytes grid = 0;
  for (const Buffer& buffer : problem.buffers) {
    grid = std::gcd(grid, buffer.size);
    if (buffer.alignment > 1) grid = std::gcd(grid, buffer.alignment);
    if (buffer.offset) grid = std::gcd(grid, *buffer.offset);
    for (const Gap& gap : buffer.gaps) {
      if (gap.window) grid = std::gcd(grid, std::gcd(gap.window->lower, gap.window->upper));
    }
  }
  return std::max<Bytes>(grid, 1);
}

Problem Divide(Problem problem, Bytes grid) {
  for (Buffer& buffer : problem.buffers) {
    buffer.size /= grid;
    buffer.alignment = std::max<Bytes>(buffer.alignment / grid, 1);
    if (buffer.offset) *buffer.offset /= grid;
    for (Gap& gap : buffer.gaps) {
      if (!gap.window) continue;
      gap.window->lower /= grid;
      gap.window->upper /= grid;
    }
  }
  return problem;
}

class Search {
 public:
  // `problem` is on the grid; no plan higher than `highest` is requested.
  Search(const Problem& problem, Bytes highest)
      : problem_(problem), highest_(highest), offsets_(problem.buffers.size()) {
    const std::size_t count = problem.buffers.size();
    const std::vector<Step> breakpoints = Breakpoints(problem);
    for (std::size_t i = 0; i < count; ++i) order_.push_back(i);
    std::stable_sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) {
      const Buffer& first = problem.buffers[a];
      const Buffer& second = problem.buffers[b];
      if (first.offset.has_value() != second.offset.has_value()) return first.offset.has_value();
      return first.size > second.size;
    });
    share_.resize(count * count);
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t j = 0; j < count; ++j) {
        for (Bytes difference = -highest; difference <= highest; ++difference) {
          share_[i * count + j].push_back(
              Share(problem.buffers[i], 0, problem.buffers[j], difference, breakpoints));
        }
      }
    }
  }

  std::optional<Placement> Find(Bytes capacity) {
    if (!Place(0, capacity)) return std::nullopt;
    Placement placement{offsets_, 0};
    for (std::size_t i = 0; i < offsets_.size(); ++i) {
      placement.height = std::max(placement.height, offsets_[i] + problem_.buffers[i].size);
    }
    return placement;
  }

 private:
  bool Place(std::size_t depth, Bytes capacity) {
    if (depth == order_.size()) return true;
    const Buffer& buffer = problem_.buffers[order_[depth]];
    const Bytes first = buffer.offset.value_or(0);
    const Bytes last = std::min(buffer.offset.value_or(capacity), capacity - buffer.size);
    for (Bytes offset = first; offset <= last; offset += buffer.alignment) {
      if (!IsClear(depth, offset)) continue;
      offsets_[order_[depth]] = offset;
      if (Place(depth + 1, capacity)) return true;
    }
    return false;
  }

  [[nodiscard]] bool IsClear(std::size_t depth, Bytes offset) const {
    for (std::size_t k = 0; k < depth; ++k) {
      const std::size_t other = order_[k];
      const Bytes difference = offset - offsets_[other];
      if (share_[other * order_.size() + order_[depth]]
                [static_cast<std::size_t>(difference + highest_)]) {
        return false;
      }
    }
    return true;
  }

  const Problem& problem_;
  Bytes highest_;
  std::vector<std::size_t> order_;        // Pinned buffers first, then the largest.
  std::vector<std::vector<bool>> share_;  // Whether i and j share bytes, by o_j - o_i + highest_.
  std::vector<Bytes> offsets_;
};

// A sufficient height: all buffers on top of each other, above all pins.
Bytes Enough(const Problem& problem) {
  Bytes pinned = 0;
  Bytes free = 0;
  for (const Buffer& buffer : problem.buffers) {
    if (buffer.offset) {
      pinned = std::max(pinned, *buffer.offset + buffer.size);
    } else {
      free += buffer.size + buffer.alignment - 1;
    }
  }
  return pinned + free;
}

Placement Multiply(Placement placement, Bytes grid) {
  for (Bytes& offset : placement.offsets) offset *= grid;
  placement.height *= grid;
  return placement;
}

}  // namespace

std::optional<Placement> OracleFits(const Problem& problem, Bytes capacity) {
  const Bytes grid = Grid(problem);
  const Problem divided = Divide(problem, grid);
  const Bytes units = std::min(capacity / grid, Enough(divided));
  const std::optional<Placement> placement = Search(divided, units).Find(units);
  if (!placement) return std::nullopt;
  return Multiply(*placement, grid);
}

std::optional<Placement> OraclePlace(const Problem& problem) {
  const Bytes grid = Grid(problem);
  const Problem divided = Divide(problem, grid);
  const Bytes enough = Enough(divided);
  const Bytes load = PeakLoad(divided);
  Search search(divided, enough);
  std::optional<Placement> least;
  for (std::optional<Placement> next = search.Find(enough); next;
       next = search.Find(least->height - 1)) {
    least = next;
    if (least->height <= load) break;
  }
  if (!least) return std::nullopt;
  return Multiply(*least, grid);
}

std::optional<Bytes> OracleHeight(const Problem& problem) {
  const std::optional<Placement> placement = OraclePlace(problem);
  if (!placement) return std::nullopt;
  return placement->height;
}

}  // namespace berth::internal
