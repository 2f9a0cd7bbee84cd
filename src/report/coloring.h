// report/coloring.h -- colours that tell neighbours apart.
#ifndef BERTH_REPORT_COLORING_H_
#define BERTH_REPORT_COLORING_H_

#include <cstddef>
#include <vector>

#include "berth/problem.h"

namespace berth::internal::report {

// A part of a drawn buffer: steps [start, end) by bytes [lower, upper).
struct DrawnPiece {
  std::size_t buffer = 0;
  Step start = 0;
  Step end = 0;
  Bytes lower = 0;
  Bytes upper = 0;
};

// A colour in [0, colors) for each buffer. Buffers that touch along an edge differ: always
// with six colours or more and no gaps, almost always with gaps. Which of the possible colours a
// buffer gets depends on its id. Cost: O(n log n).
[[nodiscard]] std::vector<int> ColorBuffers(const Problem& problem,
                                            const std::vector<DrawnPiece>& pieces, int colors);

}  // namespace berth::internal::report

#endif  // BERTH_REPORT_COLORING_H_
