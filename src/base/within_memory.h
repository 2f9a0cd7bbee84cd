// base/within_memory.h -- limits of memory for searches, and what happens where it runs out all the same.
#ifndef BERTH_BASE_WITHIN_MEMORY_H_
#define BERTH_BASE_WITHIN_MEMORY_H_

#include <cstddef>
#include <new>
#include <optional>
#include <string>
#include <type_traits>

#include "berth/result.h"

namespace berth::internal {

// Room for about a thousand states of a small graph: the least that searches take for `most_bytes`.
inline constexpr std::size_t kLeastMostBytes = std::size_t{1} << 20;

[[nodiscard]] inline Result<void> ValidateMostBytes(std::size_t most_bytes) {
  if (most_bytes >= kLeastMostBytes) return {};
  return Fail(ErrorCode::kInvalidOptions, "most_bytes is " + std::to_string(most_bytes) +
                                              ", less than " + std::to_string(kLeastMostBytes));
}

// What `search` returns. Nothing: no more memory could be had, by a limit of the process or of the machine.
// What the search had taken is free again, so there is room to go on with what it has handed over by then.
template <typename Search>
[[nodiscard]] std::optional<std::invoke_result_t<Search>> WithinMemory(Search search) {
  try {
    return search();
  } catch (const std::bad_alloc&) {
    return std::nullopt;
  }
}

}  // namespace berth::internal

#endif  // BERTH_BASE_WITHIN_MEMORY_H_
