// testing/seeds.h -- how many random cases a test tries.
#ifndef BERTH_TESTING_SEEDS_H_
#define BERTH_TESTING_SEEDS_H_

#include <cstdint>

#include "base/sanitizer.h"

namespace berth::internal {

// `count`, or a part of it where sanitizers make everything some ten times as slow.
[[nodiscard]] constexpr std::uint64_t Seeds(std::uint64_t count) {
  return BERTH_ADDRESS_SANITIZER ? (count + 7) / 8 : count;
}

}  // namespace berth::internal

#endif  // BERTH_TESTING_SEEDS_H_
