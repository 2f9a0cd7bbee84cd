// testing/live.h -- what is live when, straight from the definition in berth/problem.h.
//
// The model has its own, faster reading of gaps and windows; what judges it must not use it.
#ifndef BERTH_TESTING_LIVE_H_
#define BERTH_TESTING_LIVE_H_

#include <optional>
#include <vector>

#include "berth/problem.h"

namespace berth::internal {

// The bytes of `buffer`, counted from its offset, that are live at `step`. Cost: O(gaps).
[[nodiscard]] std::optional<Window> LiveAt(const Buffer& buffer, Step step);

// Steps such that what is live changes only at one of them: every start and end of lifetimes and
// gaps, increasing.
[[nodiscard]] std::vector<Step> Breakpoints(const Problem& problem);

// Whether the two claim a byte at the same time. Cost: O(breakpoints x gaps).
[[nodiscard]] bool Share(const Buffer& a, Bytes offset_a, const Buffer& b, Bytes offset_b,
                         const std::vector<Step>& breakpoints);

// The most bytes live at one step.
[[nodiscard]] Bytes PeakLoad(const Problem& problem);

}  // namespace berth::internal

#endif  // BERTH_TESTING_LIVE_H_
