// testing/live.h -- what is live when, directly from the definition in berth/problem.h.
//
// src/model has its own, faster implementation of gaps and windows; the tests that judge it must
// not use it.
#ifndef BERTH_TESTING_LIVE_H_
#define BERTH_TESTING_LIVE_H_

#include <optional>
#include <vector>

#include "berth/problem.h"

namespace berth::internal {

// The bytes of `buffer`, counted from its offset, that are live at `step`. Cost: O(gaps).
[[nodiscard]] std::optional<Window> LiveAt(const Buffer& buffer, Step step);

// The steps at which the live bytes may change: every start and end of lifetimes and gaps,
// increasing.
[[nodiscard]] std::vector<Step> Breakpoints(const Problem& problem);

// True if the two claim a byte at the same time. Cost: O(breakpoints x gaps).
[[nodiscard]] bool Share(const Buffer& a, Bytes offset_a, const Buffer& b, Bytes offset_b,
                         const std::vector<Step>& breakpoints);

// The largest number of bytes live at one step.
[[nodiscard]] Bytes PeakLoad(const Problem& problem);

}  // namespace berth::internal

#endif  // BERTH_TESTING_LIVE_H_
