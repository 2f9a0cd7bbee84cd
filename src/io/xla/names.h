// io/xla/names.h -- names of values in XLA's files.
#ifndef BERTH_IO_XLA_NAMES_H_
#define BERTH_IO_XLA_NAMES_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace berth::internal::xla {

// Many values may have the same long name, so names are cut: a small file must not need much memory.
inline constexpr std::size_t kLongestName = 200;

// "fusion" of "fusion{} (phi) @0", the instruction and index of a value without its color.
[[nodiscard]] inline std::string NameOfValue(std::string_view name) {
  const std::size_t color = name.rfind(" @");
  if (color != std::string_view::npos) name = name.substr(0, color);
  if (name.ends_with(" (phi)")) name.remove_suffix(6);
  if (name.ends_with("{}")) name.remove_suffix(2);
  return std::string(name);
}

}  // namespace berth::internal::xla

#endif  // BERTH_IO_XLA_NAMES_H_
