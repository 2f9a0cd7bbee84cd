// base/gap.h -- how near to a proved bound is enough, in millionths of what was found.
#ifndef BERTH_BASE_GAP_H_
#define BERTH_BASE_GAP_H_

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>

#include "base/wide.h"
#include "berth/result.h"

namespace berth::internal {

// The largest cost of which `bound` falls short by at most `gap` millionths (at least 0); less than the
// largest number.
[[nodiscard]] inline std::int64_t MostWithin(std::int64_t bound, std::int64_t gap) {
  constexpr std::int64_t kMillion = 1'000'000;
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max() - 1;
  if (gap >= kMillion) return kMost;
  return static_cast<std::int64_t>(
      std::min<Wide>(Wide{bound} * kMillion / (kMillion - gap), kMost));
}

[[nodiscard]] inline Result<void> ValidateGap(std::int64_t gap) {
  if (gap >= 0) return {};
  return Fail(ErrorCode::kInvalidOptions,
              "the gap is " + std::to_string(gap) + " millionths, less than 0");
}

}  // namespace berth::internal

#endif  // BERTH_BASE_GAP_H_
