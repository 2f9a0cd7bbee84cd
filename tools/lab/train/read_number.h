// train/read_number.h -- numbers in the tables that this tool writes.
#ifndef BERTH_TOOLS_LAB_TRAIN_READ_NUMBER_H_
#define BERTH_TOOLS_LAB_TRAIN_READ_NUMBER_H_

#include <charconv>
#include <cstdlib>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>

namespace berth::internal {

// Whether the whole of `field` is a number, which `number` then is.
template <typename T>
[[nodiscard]] bool ReadNumber(std::string_view field, T& number) {
  if constexpr (std::is_floating_point_v<T>) {
    // The std::from_chars of some standard libraries (libc++ 14) reads whole numbers only.
    if (field.empty() || field.find_first_not_of("0123456789+-.e") != std::string_view::npos)
      return false;
    const std::string text(field);
    char* end = nullptr;
    if constexpr (std::is_same_v<T, float>) {
      number = std::strtof(text.c_str(), &end);
    } else {
      number = std::strtod(text.c_str(), &end);
    }
    return end == text.c_str() + text.size();
  } else {
    const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), number);
    return error == std::errc() && end == field.data() + field.size();
  }
}

}  // namespace berth::internal

#endif  // BERTH_TOOLS_LAB_TRAIN_READ_NUMBER_H_
