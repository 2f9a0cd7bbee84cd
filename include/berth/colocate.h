// berth/colocate.h -- buffers with one address: aliases, results written in place, slices.
//
//   berth::Result<berth::Colocated> merged = berth::Colocate(problem, {{{0, 0}, {3, 0}}});
//   berth::Result<berth::PlanAnswer> answer = berth::Place(merged->problem, {}, budget);
//   if (answer->best) Use(merged->OffsetsOf(berth::PlacementOf(*answer->best).offsets));
//
// Members of a group have one offset, or stand at fixed distances from it, and may share bytes with
// each other at any step. Each group becomes one buffer of a table that every placer takes: where
// fewer of its bytes are needed, it has a gap with a window.
//
//        +-------+                 +-------+--+
//        |   a   |                 |   .   .  |   a: [0,4), 6 bytes
//        |   +---+----+     =>     |   .   +--+   b: [2,7), 3 bytes, the same offset:
//        |   |   b    |            |   .   |      one buffer, [0,7), 6 bytes, with the
//        +---+---+----+            +---+---+--+   gap [4,7) and its window [0,3)
#ifndef BERTH_COLOCATE_H_
#define BERTH_COLOCATE_H_

#include <cstddef>
#include <vector>

#include "berth/problem.h"
#include "berth/result.h"

namespace [[gnu::visibility("default")]] berth {

// A buffer of a group; its offset is that of the group plus `distance`, which may be negative.
struct Member {
  std::size_t buffer = 0;
  Bytes distance = 0;
  friend bool operator==(const Member&, const Member&) = default;
};

// A table with one buffer for each group and one for each buffer without a group. A group stands
// where its first buffer stood and has that buffer's id. If its members need bytes that do not meet,
// its buffer needs those between them, too.
struct Colocated {
  Problem problem;
  std::vector<Member> places;  // Of each buffer given: its buffer in `problem`, and the distance.

  // Offsets of the buffers given, from those of `problem`.
  [[nodiscard]] std::vector<Bytes> OffsetsOf(const std::vector<Bytes>& offsets) const;
};

// `problem` with the members of each group as one buffer. Its plans are those plans of `problem` in
// which groups are together and, but for the bytes between members, all of them.
// Errors: kInvalidProblem, with the buffer, for a problem that is not valid; a buffer in two groups,
// or twice in one; alignments that the distances contradict; pins that they contradict; a group of
// more than 2^60 bytes. Cost: O(n log n).
[[nodiscard]] Result<Colocated> Colocate(const Problem& problem,
                                         const std::vector<std::vector<Member>>& groups);

// The groups of buffers of which one has all the bytes of the other at `offsets` (parallel to the
// buffers) while both are live, directly or through others, with the distances that they have there:
// what another planner placed as one, such as views and results written in place. Buffers that share
// some of their bytes only are no group: that plan is not valid. Groups come in the order of their
// first buffers. In its gaps a buffer is not live, or only its window is; buffers without bytes or steps
// do not count. Cost: O(n log n), with the gaps.
[[nodiscard]] std::vector<std::vector<Member>> GroupsSharingBytes(
    const Problem& problem, const std::vector<Bytes>& offsets);

}  // namespace berth

#endif  // BERTH_COLOCATE_H_
