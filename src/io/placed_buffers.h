// io/placed_buffers.h -- tables with the plan that somebody else has made for them.
#ifndef BERTH_IO_PLACED_BUFFERS_H_
#define BERTH_IO_PLACED_BUFFERS_H_

#include <vector>

#include "berth/planned_problem.h"
#include "berth/problem.h"
#include "berth/result.h"

namespace berth::internal {

struct PlacedBuffers {
  Problem problem;             // Gaps have no windows.
  std::vector<Bytes> offsets;  // Parallel to the buffers.
};

// The greatest power of two up to `most`, itself one, of which all offsets are multiples.
[[nodiscard]] Bytes CommonAlignment(const std::vector<Bytes>& offsets, Bytes most);

// The steps in any of `gaps`, which may overlap and have no windows, as gaps in increasing order. Cost:
// O(n log n).
[[nodiscard]] std::vector<Gap> Joined(std::vector<Gap> gaps);

// The problem of what another system has placed: buffers of which one has all the bytes of the other are
// one (GroupsSharingBytes()). Buffers whose offsets are multiples of `alignment` get it.
// Errors: those of Colocate(); kInvalidProblem, also for more than 32 gaps for each buffer on average.
// Cost: O(log n) for each buffer and each gap.
[[nodiscard]] Result<PlannedProblem> Merged(PlacedBuffers placed, Bytes alignment);

}  // namespace berth::internal

#endif  // BERTH_IO_PLACED_BUFFERS_H_
