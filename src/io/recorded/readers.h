// io/recorded/readers.h -- one reader for each format of berth/recorded.h, and what they share.
#ifndef BERTH_IO_RECORDED_READERS_H_
#define BERTH_IO_RECORDED_READERS_H_

#include <string>
#include <string_view>
#include <vector>

#include "base/source.h"
#include "berth/recorded.h"
#include "io/placed_buffers.h"

namespace berth::internal::recorded {

[[nodiscard]] bool LooksLikeGlow(std::string_view text);
[[nodiscard]] bool LooksLikeVela(std::string_view text);
[[nodiscard]] bool LooksLikeTflmPlan(std::string_view text);
[[nodiscard]] bool LooksLikeExecutorch(std::string_view bytes);

// Problems in the order of the file; their names may repeat.
using Problems = std::vector<RecordedProblem>;
[[nodiscard]] Result<Problems> ReadGlow(const Source& source);
[[nodiscard]] Result<Problems> ReadVela(const Source& source);
[[nodiscard]] Result<Problems> ReadTflmPlans(const Source& source);
[[nodiscard]] Result<Problems> ReadExecutorch(std::string_view bytes, const Source& source);

// What the offsets of a plan may be aligned to at most: runtimes of microcontrollers ask for no more.
inline constexpr Bytes kMostAlignment = 16;

// A problem with its maker's plan. Ids may repeat; they are made unique. Buffers that share bytes
// there become one; all get the alignment that their offsets have in common, at most kMostAlignment.
// Error: kInvalidProblem.
[[nodiscard]] Result<RecordedProblem> ProblemOfPlan(std::string name, PlacedBuffers placed);

}  // namespace berth::internal::recorded

#endif  // BERTH_IO_RECORDED_READERS_H_
