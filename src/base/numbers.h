// base/numbers.h -- small integer functions that steer searches, with the same results on every
// machine.
#ifndef BERTH_BASE_NUMBERS_H_
#define BERTH_BASE_NUMBERS_H_

#include <cstdint>

namespace berth::internal {

// log2 of `value`, at least 1, in units of 1/65536, rounded down.
[[nodiscard]] inline std::int64_t Log2(std::uint64_t value) {
  std::int64_t whole = 0;
  while (value >> whole > 1) ++whole;
  std::uint64_t mantissa = whole <= 31 ? value << (31 - whole) : value >> (whole - 31);  // [1, 2)
  std::int64_t log = whole;
  for (int bit = 0; bit < 16; ++bit) {
    mantissa = mantissa * mantissa >> 31;
    log *= 2;
    if (mantissa >> 32 != 0) {
      mantissa >>= 1;
      ++log;
    }
  }
  return log;
}

// `hash` with `value` mixed in, for hashes that are compared with each other only.
[[nodiscard]] inline std::uint64_t Mixed(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ value) * 0xbf58476d1ce4e5b9u;
  return hash ^ hash >> 29;
}

// Term k, from 0, of 1 1 2 1 1 2 4 1 1 2 1 1 2 4 8 ... (Luby, Sinclair and Zuckerman, 1993).
[[nodiscard]] inline std::int64_t Luby(std::int64_t k) {
  std::int64_t size = 1;
  while (size < k + 1) size = 2 * size + 1;
  while (size - 1 != k) {
    size /= 2;
    k %= size;
  }
  return (size + 1) / 2;
}

}  // namespace berth::internal

#endif  // BERTH_BASE_NUMBERS_H_
