// report/analysis.h -- what a page says of a plan beyond the plan itself.
//
// Everything here is counted in whole bytes from the problem and the offsets; nothing is searched.
#ifndef BERTH_REPORT_ANALYSIS_H_
#define BERTH_REPORT_ANALYSIS_H_

#include <cstddef>
#include <optional>
#include <vector>

#include "berth/problem.h"

namespace berth::internal::report {

// Bytes live over time: `live[i]` from step `steps[i]` up to `steps[i + 1]`; the last is 0.
struct Curve {
  std::vector<Step> steps;
  std::vector<Bytes> live;
};
[[nodiscard]] Curve CurveOf(const Problem& problem);

// A part of a buffer's lifetime in which the same of its bytes are live.
struct Piece {
  std::size_t buffer = 0;
  Step start = 0;
  Step end = 0;
  Window window = {};  // Counted from the buffer's own offset.
};
// All pieces with bytes, buffer by buffer, each in order of time. Cost: linear.
[[nodiscard]] std::vector<Piece> PiecesOf(const Problem& problem);

// Bytes [lower, upper) that nothing uses at the peak. Of these the lowest `padding` could not be
// used by the buffer above, whose alignment does not allow it to lie lower over what is below.
struct Hole {
  Bytes lower = 0;
  Bytes upper = 0;
  Bytes padding = 0;
  std::optional<std::size_t> above;  // The buffer right above; none at the top of the arena.
};

// The first step at which the most bytes are live. With a placement: height = load + padding +
// fragmentation.
struct PeakFacts {
  Step start = 0;  // [start, end): as long as the same buffers are live.
  Step end = 0;
  Bytes load = 0;
  std::vector<Piece> live;  // Largest first.
  std::vector<Hole> holes;  // From the lowest.
  Bytes padding = 0;
  Bytes fragmentation = 0;
};
[[nodiscard]] PeakFacts FactsOfPeak(const Problem& problem, const Placement* placement,
                                    const Curve& curve);

// What the peak load would be if a buffer took no bytes: written off chip for the time, recomputed
// or gone. `peak` without it is a lower bound for every plan of what is left.
struct Relief {
  std::size_t buffer = 0;
  Bytes peak = 0;
  // The least by which it alone would have to shrink for all steps to stay within the capacity;
  // none where that is not enough, or nothing is missing.
  std::optional<Bytes> enough;
};
// Of the buffers that are live at every step with the peak load, all others changing nothing; the
// greatest relief first, at most `most`. Cost: O(n log n).
[[nodiscard]] std::vector<Relief> FindRelief(const Problem& problem, const Curve& curve,
                                             std::size_t most);

}  // namespace berth::internal::report

#endif  // BERTH_REPORT_ANALYSIS_H_
