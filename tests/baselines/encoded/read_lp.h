// tests/baselines/encoded/read_lp.h -- LP files as CBC's own reader sees them.
#ifndef BERTH_TESTS_BASELINES_ENCODED_READ_LP_H_
#define BERTH_TESTS_BASELINES_ENCODED_READ_LP_H_

#include <string>

#include "berth/problem.h"

namespace berth::internal {

// False in builds without CBC: then the next function must not be called.
[[nodiscard]] bool CanReadLp();
// The least objective; NaN if there is none, or if `text` cannot be read.
[[nodiscard]] double OptimumOfLp(const std::string& text);

// The bytes of a unit, from the comment of WriteLp().
[[nodiscard]] Bytes GrainOfLp(const std::string& text);

}  // namespace berth::internal

#endif  // BERTH_TESTS_BASELINES_ENCODED_READ_LP_H_
