// base/latency.h -- the bound on times that are given for one event: a copy, a transfer, a launch.
#ifndef BERTH_BASE_LATENCY_H_
#define BERTH_BASE_LATENCY_H_

#include <cstdint>

namespace berth::internal {

// In nanoseconds; some 18 minutes. A million of them add up to 2^60.
inline constexpr std::int64_t kMostLatency = std::int64_t{1} << 40;
// How errors call the range.
inline constexpr const char* kLatencyRange = "from 0 to 2^40";

[[nodiscard]] constexpr bool IsLatency(std::int64_t nanoseconds) {
  return nanoseconds >= 0 && nanoseconds <= kMostLatency;
}

}  // namespace berth::internal

#endif  // BERTH_BASE_LATENCY_H_
