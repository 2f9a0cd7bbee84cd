// base/choice.h -- one of several problems in a file, by its name or its number, and what errors say of
// the choice. They are kInvalidOptions, and the same in the command and in the C interface.
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

#include "berth/result.h"

namespace berth::internal {

// By name, or else by 1-based number.
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

// "FILE has 2 problems". Here as below, `file` is what errors call the file, on one line.
[[nodiscard]] inline std::string HasProblems(const std::string& file, std::size_t count) {
  return file + " has " + std::to_string(count) + (count == 1 ? " problem" : " problems");
}

// `what` is for one problem, but `file` has `count`. `example`: how one is chosen.
[[nodiscard]] inline tl::unexpected<Error> ChoiceIsMissing(const std::string& what,
                                                           const std::string& file,
                                                           std::size_t count,
                                                           const std::string& example) {
  return Fail(ErrorCode::kInvalidOptions,
              what + ": " + HasProblems(file, count) + "; choose one, such as " + example);
}

// `option` has `choice`, in quotes, which none of the problems is called. `hint`: what they are called.
[[nodiscard]] inline tl::unexpected<Error> ChoiceIsUnknown(const std::string& option,
                                                           const std::string& choice,
                                                           const std::string& file,
                                                           std::size_t count,
                                                           const std::string& hint) {
  return Fail(ErrorCode::kInvalidOptions,
              option + ": " + HasProblems(file, count) + ", and none is " + choice + "; " + hint);
}

// `option` would choose, but `file` is one problem: "a table" in CSV or "a model".
[[nodiscard]] inline tl::unexpected<Error> NothingToChoose(const std::string& option,
                                                           const std::string& file,
                                                           const std::string& kind = "a table") {
  return Fail(ErrorCode::kInvalidOptions,
              option + ": " + file + " is " + kind + ", which is one problem");
}

// `option` says what lifetimes mean, but `file` is not a table in CSV.
[[nodiscard]] inline tl::unexpected<Error> EndpointsAreKnown(const std::string& option,
                                                             const std::string& file) {
  return Fail(ErrorCode::kInvalidOptions, option + ": only for tables in CSV; the format of " +
                                              file + " says what its lifetimes mean");
}

}  // namespace berth::internal

#endif  // BERTH_BASE_CHOICE_H_
