// io/placed_buffers.h -- tables with the plan that somebody else has made for them.
#ifndef BERTH_IO_PLACED_BUFFERS_H_
#define BERTH_IO_PLACED_BUFFERS_H_

#include <string>
#include <vector>

#include "berth/problem.h"
#include "berth/result.h"

namespace berth::internal {

struct PlacedBuffers {
  Problem problem;
  std::vector<Bytes> offsets;  // Parallel to the buffers.
};

// The greatest power of two up to `most`, itself one, of which all offsets are multiples.
[[nodiscard]] Bytes CommonAlignment(const std::vector<Bytes>& offsets, Bytes most);

// The same with buffers of which one has all the bytes of the other as one, as they then are in every
// plan (GroupsSharingBytes()). Buffers whose offsets are multiples of `alignment` get it.
struct Together {
  PlacedBuffers placed;
  // The offsets are a plan for the problem. Not so if others lie between the members of a group, or
  // if the plan is not valid.
  bool exact = true;
  std::vector<std::string> notes;  // Sentences: about the groups, and a plan that is not exact.
  // The problem as it was, with gaps in buffers while others have all their bytes: the offsets are a
  // plan for it if no two share bytes in any other way.
  Problem apart = {};
};
// Errors: those of Colocate(); kInvalidProblem, also for more than 32 gaps for each buffer on average.
// Cost: O(log n) for each buffer and each gap.
[[nodiscard]] Result<Together> Merged(const PlacedBuffers& placed, Bytes alignment);

}  // namespace berth::internal

#endif  // BERTH_IO_PLACED_BUFFERS_H_
