// io/placed_buffers.h -- tables with the plan that somebody else has made for them.
#ifndef BERTH_IO_PLACED_BUFFERS_H_
#define BERTH_IO_PLACED_BUFFERS_H_

#include <string>
#include <string_view>
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
  std::string note;  // A sentence about the groups; empty if there are none.
  // The problem as it was, but for gaps in buffers while others have their bytes: the offsets are a
  // plan for it if, but for this, no two share bytes.
  Problem apart = {};
};
// The note for what is not exact.
inline constexpr std::string_view kNotExact =
    "The plan that was read is not one for these buffers: it has others between some that share "
    "bytes, or is not valid (berth check). More may be needed here.";
// Errors: those of Colocate(); kInvalidProblem. Cost: that of GroupsSharingBytes().
[[nodiscard]] Result<Together> Merged(const PlacedBuffers& placed, Bytes alignment);

}  // namespace berth::internal

#endif  // BERTH_IO_PLACED_BUFFERS_H_
