// base/arithmetic.h -- sums and products of bytes that cannot wrap around.
#ifndef BERTH_BASE_ARITHMETIC_H_
#define BERTH_BASE_ARITHMETIC_H_

#include <cstdint>
#include <optional>
#include <type_traits>

namespace berth::internal {

// Nothing where the result does not fit in 64 bits.
[[nodiscard]] inline std::optional<std::int64_t> CheckedAdd(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) return std::nullopt;
  return sum;
}
[[nodiscard]] inline std::optional<std::int64_t> CheckedMul(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) return std::nullopt;
  return product;
}

// The least multiple of `alignment` (at least 1) that is no less than `value`, which may be
// negative. For values and alignments up to kMaxBytes the result fits.
template <typename T>
[[nodiscard]] constexpr T RoundUp(T value, std::type_identity_t<T> alignment) {
  const T rest = value % alignment;
  if (rest == 0) return value;
  return value - rest + (rest > 0 ? alignment : 0);
}
// The greatest multiple of `alignment` (at least 1) that is no more than `value`, at least 0.
template <typename T>
[[nodiscard]] constexpr T RoundDown(T value, std::type_identity_t<T> alignment) {
  return value - value % alignment;
}

}  // namespace berth::internal

#endif  // BERTH_BASE_ARITHMETIC_H_
