// base/hash.h -- a hash that is the same on every machine, to tell one text from another.
//
// FNV-1a with 64 bits: by G. Fowler, L. C. Noll and K.-P. Vo; RFC 9923 gives the constants. It is
// for detecting mix-ups, not forgery.
#ifndef BERTH_BASE_HASH_H_
#define BERTH_BASE_HASH_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace berth::internal {

[[nodiscard]] constexpr std::uint64_t Fnv1a(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  }
  return hash;
}

// 16 hexadecimal digits.
[[nodiscard]] inline std::string Fnv1aDigits(std::string_view text) {
  std::string digits(16, '0');
  std::uint64_t hash = Fnv1a(text);
  for (std::size_t i = digits.size(); i-- > 0; hash >>= 4)
    digits[i] = "0123456789abcdef"[hash & 15];
  return digits;
}

}  // namespace berth::internal

#endif  // BERTH_BASE_HASH_H_
