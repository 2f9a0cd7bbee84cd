// base/try.h -- hand an error on to the caller in one line.
//
//   Result<Plan> Read(std::string_view text) {
//     const Json json = BERTH_TRY(ParseJson(text));  // The value, or return the error.
//     BERTH_TRY(CheckVersion(json));                 // Of a Result<void>: nothing, or return.
//     ...
//   }
//
// g++ and clang know statement expressions; the standard has nothing as short (P2561 proposes it).
#ifndef BERTH_BASE_TRY_H_
#define BERTH_BASE_TRY_H_

#include <utility>

#include "berth/result.h"

namespace berth::internal {

// The value of `result`, which has one.
template <typename T>
[[nodiscard]] T Take(Result<T>&& result) {
  return *std::move(result);
}
inline void Take(Result<void>&&) {}
template <typename T>
[[nodiscard]] T Take(const Result<T>&& result) {
  return *result;
}

}  // namespace berth::internal

#define BERTH_TRY_NAME_(line) berth_try_##line
#define BERTH_TRY_NAME(line) BERTH_TRY_NAME_(line)
#define BERTH_TRY(...)                                                    \
  __extension__({                                                         \
    auto BERTH_TRY_NAME(__LINE__) = (__VA_ARGS__);                        \
    if (!BERTH_TRY_NAME(__LINE__).has_value()) {                          \
      return tl::unexpected(std::move(BERTH_TRY_NAME(__LINE__)).error()); \
    }                                                                     \
    ::berth::internal::Take(std::move(BERTH_TRY_NAME(__LINE__)));         \
  })

#endif  // BERTH_BASE_TRY_H_
