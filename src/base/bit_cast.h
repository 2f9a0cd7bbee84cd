// base/bit_cast.h -- std::bit_cast, which the standard library of emscripten 3.1 lacks.
#ifndef BERTH_BASE_BIT_CAST_H_
#define BERTH_BASE_BIT_CAST_H_

#include <cstring>
#include <type_traits>

namespace berth::internal {

template <typename To, typename From>
[[nodiscard]] To BitCast(const From& from) {
  static_assert(sizeof(To) == sizeof(From));
  static_assert(std::is_trivially_copyable_v<To> && std::is_trivially_copyable_v<From>);
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}

}  // namespace berth::internal

#endif  // BERTH_BASE_BIT_CAST_H_
