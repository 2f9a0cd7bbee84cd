// place/greedy/occupancy.h -- which bytes are taken, for how long, and where there is room.
//
// A placer that asks, for each buffer, "where is room throughout your lifetime?" must not look at
// every neighbour: a table of 28,000 buffers can have 43 million pairs of them. Occupancy is a
// segment tree over the sections. Each node keeps two sets of byte ranges, touching ranges merged:
//
//   any   bytes that something occupies in some section below the node;
//   full  bytes that one piece occupies in all sections below the node (the piece's span was cut
//         into nodes, and this is one of them).
//
// A span of sections [first, last) is cut into O(log n) nodes. The bytes that are taken somewhere
// within it are the union of `any` of these nodes and `full` of the nodes above them: a placed
// piece that shares a section with the span was cut into a node below, at, or above that section's
// node of the span. Plans are dense, so merged sets stay short: this is what makes it fast.
//
// FreeOffsets walks through that union without forming it: one cursor per set, all moving up
// together; the offset rises until every set in turn agrees with it. A buffer of several pieces
// (gaps, windows) only brings more sets, each with the piece's own bytes, so that a buffer slips
// between another's live bytes wherever that is right.
//
// Cost: adding a piece O(log n) sets; a query O(log n) sets and the ranges passed on the way.
#ifndef BERTH_PLACE_GREEDY_OCCUPANCY_H_
#define BERTH_PLACE_GREEDY_OCCUPANCY_H_

#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "model/instance.h"

namespace berth::internal::greedy {

// Disjoint ranges of bytes [lower, upper), in increasing order; ranges that touch are one.
class ByteRanges {
 public:
  struct Range {
    Bytes lower;
    Bytes upper;
  };
  // False where all bytes of `range`, which is not empty, were in the set before.
  bool Add(Range range);
  void Clear() { ranges_.clear(); }
  [[nodiscard]] bool empty() const { return ranges_.empty(); }
  [[nodiscard]] const Range* begin() const { return ranges_.data(); }
  [[nodiscard]] const Range* end() const { return ranges_.data() + ranges_.size(); }

 private:
  std::vector<Range> ranges_;
};

class Occupancy {
 public:
  explicit Occupancy(std::size_t num_sections);
  // Takes what `pieces` keep live of a buffer at `offset`.
  void Add(std::span<const Piece> pieces, Bytes offset);
  // Frees everything, in time linear in the sections; keeps the memory for the next plan.
  void Clear();

 private:
  friend class FreeOffsets;
  struct Node {
    ByteRanges any;
    ByteRanges full;
  };
  std::size_t leaves_;  // A power of two; node 1 is the root, the children of k are 2k and 2k + 1.
  std::vector<Node> nodes_;
};

// No bound above: past the topmost taken byte.
inline constexpr Bytes kUnbounded = std::numeric_limits<Bytes>::max();

// The offsets at which one buffer has room, from the lowest up.
class FreeOffsets {
 public:
  explicit FreeOffsets(const Occupancy& occupancy) : occupancy_(occupancy) {}

  // Looks for room for `pieces` at multiples of `alignment`, starting again at the bottom.
  // Whatever is added to the occupancy later makes this look stale.
  void LookFor(std::span<const Piece> pieces, Bytes alignment);
  // The lowest free offset that is at least `from` and what earlier calls returned.
  Bytes AtLeast(Bytes from);
  // The highest offset such that it and all from the last answer of AtLeast() on are free
  // (alignment aside); kUnbounded above everything.
  [[nodiscard]] Bytes EndOfRoom() const;

 private:
  struct Source {
    const ByteRanges::Range* next;
    const ByteRanges::Range* end;
    Bytes lower;  // The bytes of the piece, from the buffer's offset.
    Bytes upper;
  };
  void AddSource(const ByteRanges& ranges, const Piece& piece);

  const Occupancy& occupancy_;
  std::vector<Source> sources_;
  Bytes alignment_ = 1;
};

}  // namespace berth::internal::greedy

#endif  // BERTH_PLACE_GREEDY_OCCUPANCY_H_
