#include <limits>
#include <vector>

#include "base/arithmetic.h"
#include "berth/baselines.h"

namespace berth {

Problem PreplacePyramid(Problem problem) {
  Step first = std::numeric_limits<Step>::min();
  Step end = std::numeric_limits<Step>::max();
  Bytes base = 0;
  std::vector<bool> processed(problem.buffers.size(), false);
  for (;;) {
    std::size_t widest = problem.buffers.size();
    for (std::size_t b = 0; b < problem.buffers.size(); ++b) {
      const Buffer& buffer = problem.buffers[b];
      if (processed[b] || buffer.start < first || buffer.end > end || buffer.offset) continue;
      if (widest == problem.buffers.size() ||
          buffer.end - buffer.start > problem.buffers[widest].end - problem.buffers[widest].start) {
        widest = b;
      }
    }
    if (widest == problem.buffers.size()) return problem;
    Buffer& buffer = problem.buffers[widest];
    base = internal::RoundUp(base, buffer.alignment);
    buffer.offset = base;
    base += buffer.size;
    first = buffer.start;
    end = buffer.end;
    processed[widest] = true;
  }
}

}  // namespace berth
