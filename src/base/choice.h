// base/choice.h -- one of several things, by its name or its number.
#ifndef BERTH_BASE_CHOICE_H_
#define BERTH_BASE_CHOICE_H_

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace berth::internal {

// The index in `names` of the one that is called `choice`; else, of the one with that number, the
// first being 1.
[[nodiscard]] inline std::optional<std::size_t> IndexOfChoice(
    std::string_view choice, const std::vector<std::string>& names) {
  const auto named = std::find(names.begin(), names.end(), choice);
  if (named != names.end()) return static_cast<std::size_t>(named - names.begin());
  std::size_t number = 0;
  const char* const last = choice.data() + choice.size();
  const auto [end, error] = std::from_chars(choice.data(), last, number);
  if (error == std::errc() && end == last && number >= 1 && number <= names.size()) {
    return number - 1;
  }
  return std::nullopt;
}

}  // namespace berth::internal

#endif  // BERTH_BASE_CHOICE_H_
