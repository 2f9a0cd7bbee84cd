// testing/shrink.h -- from a failing problem to the smallest one that still fails.
#ifndef BERTH_TESTING_SHRINK_H_
#define BERTH_TESTING_SHRINK_H_

#include <functional>
#include <string>

#include "berth/problem.h"

namespace berth::internal {

using FailsOn = std::function<bool(const Problem&)>;

// A valid problem on which `fails` is still true and that no single step can shrink: no buffer,
// gap, window, pin, hint, alignment or capacity can be dropped, no lifetime shortened, no number
// lowered. `problem` must be valid and fail. Every candidate is valid. Calls `fails` at most
// `max_calls` times and returns the smallest failing problem found.
[[nodiscard]] Problem Shrink(const Problem& problem, const FailsOn& fails, int max_calls = 20'000);

// The problem as statements to paste into a test, and as a half-open table.
[[nodiscard]] std::string ToCpp(const Problem& problem);
[[nodiscard]] std::string ToTable(const Problem& problem);

}  // namespace berth::internal

#endif  // BERTH_TESTING_SHRINK_H_
