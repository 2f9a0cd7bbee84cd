// berth/bytes.h -- sizes as people write and read them.
#ifndef BERTH_BYTES_H_
#define BERTH_BYTES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "berth/problem.h"

namespace [[gnu::visibility("default")]] berth {

// A size in bytes: "512KiB", "1MiB", "1.5GiB", "64kB", "512K" (as KiB), "1048576", "1048576B".
// Nothing if `text` is not a size, or the size is not whole, is negative or exceeds kMaxBytes.
[[nodiscard]] std::optional<Bytes> ParseBytes(std::string_view text);

// Bytes in a second, one at least: "8GB/s". Nothing if `text` is not such a bandwidth.
[[nodiscard]] std::optional<Bytes> ParseBandwidth(std::string_view text);

// A percentage, such as "2%" or "0.05%", in millionths: 20000, 500. Nothing if `text` is not a number
// from 0 to 1,000,000 with at most four decimals before a per cent sign.
[[nodiscard]] std::optional<std::int64_t> ParsePercentage(std::string_view text);
// The inverse: "2%", "0.05%". `millionths` is at least 0.
[[nodiscard]] std::string FormatPercentage(std::int64_t millionths);

// "1.5 MiB": exact where it is a whole number of units, else three significant digits.
[[nodiscard]] std::string FormatBytes(Bytes bytes);
// The same with all digits: "1.2 MiB (1,258,291 bytes)", "23 B".
[[nodiscard]] std::string FormatBytesExactly(Bytes bytes);

}  // namespace berth

#endif  // BERTH_BYTES_H_
