// model/instance.h -- a problem compiled for the placers: flat arrays, time reduced to sections.
//
// Only which buffers are live together matters to a placer, not for how long. A sweep over time
// emits a section whenever a buffer ends after another has begun; the sections are the maximal sets
// of buffers live together (the maximal cliques of an interval graph), and every two buffers that
// meet, meet in a section. The bytes that a buffer keeps live in a run of sections are a piece:
//
//      size +--+        +--+
//           |  |        |  |      three pieces: sections [0,2) bytes [0,size),
//    window |  +--------+  |                    sections [2,5) bytes [1,3),
//           |  +--------+  |                    sections [5,7) bytes [0,size)
//         0 +--+        +--+
//           0  2        5  7  section
//
// A gap without a window leaves no piece. Two pieces of one buffer never share a section.
#ifndef BERTH_MODEL_INSTANCE_H_
#define BERTH_MODEL_INSTANCE_H_

#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/indexed_vector.h"
#include "berth/budget.h"
#include "berth/problem.h"

namespace berth::internal {

struct BufferTag;
struct SectionTag;
using BufferIndex = Index<BufferTag>;    // Into Problem::buffers.
using SectionIndex = Index<SectionTag>;  // In order of time.

// Bytes of one buffer that are live throughout [start, end): [lower, upper) from its offset.
struct LivePiece {
  Step start;
  Step end;
  Bytes lower;
  Bytes upper;
};
// The pieces of `buffer` in order of time; adjacent pieces with the same bytes are merged.
[[nodiscard]] std::vector<LivePiece> LivePieces(const Buffer& buffer);

// Calls visit(piece) for each of LivePieces().
template <typename Visit>
void ForEachLivePiece(const Buffer& buffer, Visit visit) {
  if (buffer.gaps.empty() && buffer.start < buffer.end) {
    visit(LivePiece{buffer.start, buffer.end, 0, buffer.size});
    return;
  }
  for (const LivePiece& piece : LivePieces(buffer)) visit(piece);
}

// As ValidatePlacement(), whatever the problem's capacity.
[[nodiscard]] Result<void> ValidateOffsets(const Problem& problem, const Placement& placement);

// Two buffers whose pins make them overlap, the first such pair in time, if there are any: then
// there is no plan at any capacity.
[[nodiscard]] std::optional<std::pair<std::size_t, std::size_t>> CollidingPins(
    const Problem& problem);

struct Piece {
  SectionIndex first;
  SectionIndex last;  // Exclusive.
  Bytes lower;        // From the buffer's offset.
  Bytes upper;
  friend bool operator==(const Piece&, const Piece&) = default;
};

inline constexpr Bytes kNone = -1;  // No pin, no hint.

struct Instance {
  IndexedVector<BufferIndex, Bytes> size;
  IndexedVector<BufferIndex, Bytes> alignment;
  IndexedVector<BufferIndex, Bytes> pin;   // kNone where free.
  IndexedVector<BufferIndex, Bytes> hint;  // kNone where there is none.
  IndexedVector<BufferIndex, Step> start;
  IndexedVector<BufferIndex, Step> end;
  IndexedVector<BufferIndex, SectionIndex> first;  // Of the buffer's first piece.
  IndexedVector<BufferIndex, SectionIndex> last;   // Past its last piece.

  // The pieces of buffer b are pieces[piece_begin[b] .. piece_begin[b + 1]). A buffer whose gaps
  // leave nothing live has none, and can have any offset.
  std::vector<Piece> pieces;
  std::vector<std::int32_t> piece_begin;

  IndexedVector<SectionIndex, Step> section_start;
  IndexedVector<SectionIndex, Step> section_end;
  IndexedVector<SectionIndex, Bytes> section_load;  // Live bytes, alignment aside.

  bool has_pins = false;
  bool has_alignment = false;  // Some alignment is not 1.
  bool has_windows = false;    // Some piece is not the whole buffer.
  bool has_gaps = false;       // Some buffer has a gap.

  [[nodiscard]] std::size_t num_buffers() const { return size.size(); }
  [[nodiscard]] std::size_t num_sections() const { return section_start.size(); }
  [[nodiscard]] IndexRange<BufferIndex> buffers() const { return size.indices(); }
  [[nodiscard]] IndexRange<SectionIndex> sections() const { return section_start.indices(); }
  [[nodiscard]] std::span<const Piece> pieces_of(BufferIndex b) const {
    const auto from = static_cast<std::size_t>(piece_begin[b.position()]);
    const auto to = static_cast<std::size_t>(piece_begin[b.position() + 1]);
    return std::span<const Piece>(pieces).subspan(from, to - from);
  }
};

// Compiles a valid problem. Cost: O(n log n) with n pieces.
[[nodiscard]] Instance Compile(const Problem& problem);
// As MaxLiveLoad(problem), which `instance` was compiled from: in less time where nothing is aligned.
[[nodiscard]] LoadBound MaxLiveLoad(const Problem& problem, const Instance& instance);

// The buffers that are live somewhere, by first section, then index. Cost: O(n log n).
[[nodiscard]] std::vector<BufferIndex> ByFirstSection(const Instance& instance);

// A common divisor of all offsets and tops of every plan that cannot be lowered: such offsets are
// 0, a pin, or another offset plus a clearance, rounded up to an alignment. At least 1.
[[nodiscard]] Bytes Grain(const Instance& instance);

// How buffer j may lie relative to buffer i: o_j - o_i must stay out of every one of `forbidden`.
struct Interval {
  Bytes lower;  // Exclusive: the difference `lower` itself is allowed.
  Bytes upper;  // Exclusive.
};
// The differences o_j - o_i at which live bytes of the two buffers would meet, as disjoint open
// intervals in increasing order; empty when the two never meet. Buffers without windows have at
// most one.
[[nodiscard]] std::vector<Interval> ForbiddenDifferences(const Instance& instance, BufferIndex i,
                                                         BufferIndex j);

// All pairs of buffers that meet. Entry k of row i says: where neighbour[k] lies above i, its
// offset is at least that of i plus clearance[k].
struct Overlaps {
  std::vector<std::int64_t> row_begin;  // Size num_buffers + 1.
  std::vector<BufferIndex> neighbour;
  std::vector<Bytes> clearance;
  // Of every pair, one buffer lies wholly above the other, by at least one byte. Searches in order
  // of offset rely on this. Always true without windows.
  bool stackable = true;

  // The entries of row b: from the first to past the last.
  [[nodiscard]] std::pair<std::size_t, std::size_t> row(BufferIndex b) const {
    return {static_cast<std::size_t>(row_begin[b.position()]),
            static_cast<std::size_t>(row_begin[b.position() + 1])};
  }
};
[[nodiscard]] Overlaps FindOverlaps(const Instance& instance);
// Nothing if time ends before all are found.
[[nodiscard]] std::optional<Overlaps> FindOverlaps(const Instance& instance, const Budget& budget);
// The number of entries FindOverlaps() would give, without making them (windows and gaps aside: an
// upper bound). Cost: O(n log n).
[[nodiscard]] std::int64_t CountOverlaps(const Instance& instance);

}  // namespace berth::internal

#endif  // BERTH_MODEL_INSTANCE_H_
