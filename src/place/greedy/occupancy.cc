#include "place/greedy/occupancy.h"

#include <algorithm>
#include <bit>

#include "base/arithmetic.h"

namespace berth::internal::greedy {

bool ByteRanges::Add(Range range) {
  // The first range that meets or touches the new one, if any does.
  const auto first = std::partition_point(ranges_.begin(), ranges_.end(),
                                          [&](const Range& r) { return r.upper < range.lower; });
  if (first == ranges_.end() || first->lower > range.upper) {
    ranges_.insert(first, range);
    return true;
  }
  if (first->lower <= range.lower && range.upper <= first->upper) return false;
  auto last = first;
  while (last != ranges_.end() && last->lower <= range.upper) {
    range.upper = std::max(range.upper, last->upper);
    ++last;
  }
  range.lower = std::min(range.lower, first->lower);
  *first = range;
  ranges_.erase(first + 1, last);
  return true;
}

Occupancy::Occupancy(std::size_t num_sections)
    : leaves_(std::bit_ceil(std::max<std::size_t>(num_sections, 1))), nodes_(2 * leaves_) {}

void Occupancy::Add(std::span<const Piece> pieces, Bytes offset) {
  for (const Piece& piece : pieces) {
    const ByteRanges::Range taken{offset + piece.lower, offset + piece.upper};
    const auto cover = [&](std::size_t node) {
      nodes_[node].full.Add(taken);
      // What a node has, all nodes above it have: the first that knows ends the climb.
      for (; node > 0 && nodes_[node].any.Add(taken); node /= 2) {
      }
    };
    std::size_t left = piece.first.position() + leaves_;
    std::size_t right = piece.last.position() + leaves_;
    for (; left < right; left /= 2, right /= 2) {
      if (left % 2 == 1) cover(left++);
      if (right % 2 == 1) cover(--right);
    }
  }
}

void Occupancy::Clear() {
  for (Node& node : nodes_) {
    node.any.Clear();
    node.full.Clear();
  }
}

void FreeOffsets::AddSource(const ByteRanges& ranges, const Piece& piece) {
  if (!ranges.empty()) sources_.push_back({ranges.begin(), ranges.end(), piece.lower, piece.upper});
}

namespace {

using Range = ByteRanges::Range;

// The first of [next, end) that ends above `level`. The nearest are the likeliest.
const Range* FirstAbove(const Range* next, const Range* end, Bytes level) {
  for (int k = 0; k < 8; ++k, ++next) {
    if (next == end || next->upper > level) return next;
  }
  return std::partition_point(next, end, [&](const Range& r) { return r.upper <= level; });
}

}  // namespace

void FreeOffsets::LookFor(std::span<const Piece> pieces, Bytes alignment) {
  sources_.clear();
  alignment_ = alignment;
  if (occupancy_.nodes_[1].any.empty()) return;
  const auto& nodes = occupancy_.nodes_;
  for (const Piece& piece : pieces) {
    // Level by level upwards: the nodes of the span, and, once there is one to the left (right),
    // the node that lies over the leftmost (rightmost) of them.
    std::size_t left = piece.first.position() + occupancy_.leaves_;
    std::size_t right = piece.last.position() + occupancy_.leaves_;
    std::size_t over_left = 0;
    std::size_t over_right = 0;
    for (; left < right || over_left > 1 || over_right > 1; left /= 2, right /= 2) {
      over_left /= 2;
      over_right /= 2;
      if (over_left > 0) AddSource(nodes[over_left].full, piece);
      if (over_right > 0 && over_right != over_left) AddSource(nodes[over_right].full, piece);
      if (left >= right) continue;
      if (left % 2 == 1) {
        AddSource(nodes[left].any, piece);
        if (over_left == 0) over_left = left;
        ++left;
      }
      if (right % 2 == 1) {
        --right;
        AddSource(nodes[right].any, piece);
        if (over_right == 0) over_right = right;
      }
    }
  }
}

Bytes FreeOffsets::AtLeast(Bytes from) {
  const auto align = [this](Bytes offset) {  // Spares the division where it can.
    return alignment_ == 1 ? offset : RoundUp(offset, alignment_);
  };
  Bytes offset = align(from);
  const std::size_t count = sources_.size();
  std::size_t agreed = 0;
  for (std::size_t i = 0; agreed < count; i = i + 1 == count ? 0 : i + 1) {
    Source& source = sources_[i];
    ++agreed;
    const Range* next = source.next;
    for (;;) {
      next = FirstAbove(next, source.end, offset + source.lower);
      if (next == source.end || next->lower >= offset + source.upper) break;
      offset = align(next->upper - source.lower);
      agreed = 1;
      ++next;
    }
    source.next = next;
  }
  return offset;
}

Bytes FreeOffsets::EndOfRoom() const {
  Bytes end = kUnbounded;
  for (const Source& source : sources_) {
    if (source.next != source.end) end = std::min(end, source.next->lower - source.upper);
  }
  return end;
}

}  // namespace berth::internal::greedy
