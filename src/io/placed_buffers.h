// io/placed_buffers.h -- tables with the plan that somebody else has made for them.
#ifndef BERTH_IO_PLACED_BUFFERS_H_
#define BERTH_IO_PLACED_BUFFERS_H_

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

// The same with buffers that share bytes at some step as one, as they then do in every plan
// (Colocate()). Buffers whose offsets are multiples of `alignment` get it. If groups have others
// between their members, which a plan for the result cannot have, `exact` becomes false.
// Errors: those of Colocate(); kInvalidProblem. Cost: O(n log n) and the overlaps in time.
[[nodiscard]] Result<PlacedBuffers> Merged(const PlacedBuffers& placed, Bytes alignment,
                                           bool& exact);

}  // namespace berth::internal

#endif  // BERTH_IO_PLACED_BUFFERS_H_
