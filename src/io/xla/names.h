// io/xla/names.h -- names and lifetimes of values in XLA's files.
#ifndef BERTH_IO_XLA_NAMES_H_
#define BERTH_IO_XLA_NAMES_H_

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "berth/xla.h"

namespace berth::internal::xla {

// Many values may have the same long name, so names are cut: a small file must not need much memory.
inline constexpr std::size_t kLongestName = 200;

inline constexpr std::string_view kPhi = " (phi)";

// "fusion{} (phi)" of "fusion{} (phi) @0".
[[nodiscard]] inline std::string_view WithoutColor(std::string_view name) {
  return name.substr(0, name.rfind(" @"));
}

// "fusion" of "fusion{} (phi) @0", the instruction and index of a value without its color.
[[nodiscard]] inline std::string NameOfValue(std::string_view name) {
  name = WithoutColor(name);
  if (name.ends_with(kPhi)) name.remove_suffix(kPhi.size());
  if (name.ends_with("{}")) name.remove_suffix(2);
  return std::string(name);
}

// From when to when a value counts as live: throughout, where the dump does not say it.
[[nodiscard]] inline std::pair<Step, Step> LifeOf(const XlaValue& value, Step steps) {
  return value.live.value_or(std::pair<Step, Step>{0, std::max<Step>(steps, 1)});
}

}  // namespace berth::internal::xla

#endif  // BERTH_IO_XLA_NAMES_H_
