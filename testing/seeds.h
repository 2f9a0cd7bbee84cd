// testing/seeds.h -- how many random cases a test tries.
#ifndef BERTH_TESTING_SEEDS_H_
#define BERTH_TESTING_SEEDS_H_

#include <cstdint>

namespace berth::internal {

// `count`, or a part of it where sanitizers make everything some ten times as slow.
[[nodiscard]] constexpr std::uint64_t Seeds(std::uint64_t count) {
#if defined(__SANITIZE_ADDRESS__)
  return (count + 7) / 8;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
  return (count + 7) / 8;
#else
  return count;
#endif
#else
  return count;
#endif
}

}  // namespace berth::internal

#endif  // BERTH_TESTING_SEEDS_H_
