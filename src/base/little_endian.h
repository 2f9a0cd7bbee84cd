// base/little_endian.h -- numbers in files: the least significant byte first, whatever the machine.
#ifndef BERTH_BASE_LITTLE_ENDIAN_H_
#define BERTH_BASE_LITTLE_ENDIAN_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace berth::internal {

// At most 8 bytes as a number.
[[nodiscard]] inline std::uint64_t LittleEndian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    value |= std::uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
  }
  return value;
}

}  // namespace berth::internal

#endif  // BERTH_BASE_LITTLE_ENDIAN_H_
