// base/option_table.h -- options as a table: each set from text, given back as text, and checked.
//
// One row for each option of a struct; --help, docs, provenance and bindings are made from it. What
// the table accepts is valid, so a struct is valid if the table takes back what it gives.
#ifndef BERTH_BASE_OPTION_TABLE_H_
#define BERTH_BASE_OPTION_TABLE_H_

#include <array>
#include <charconv>
#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <system_error>

#include "berth/place.h"
#include "berth/result.h"

namespace berth::internal {

template <typename Options>
struct OptionRow {
  OptionInfo info;
  bool (*set)(Options& options, std::string_view value);  // False: the value is not allowed.
  std::string (*get)(const Options& options);
};

// What rows are made of. False, and the field as it was, where the value is not allowed.

[[nodiscard]] inline bool SetBool(bool& field, std::string_view value) {
  if (value != "on" && value != "off") return false;
  field = value == "on";
  return true;
}
[[nodiscard]] inline std::string OnOff(bool value) { return value ? "on" : "off"; }

template <typename T>
[[nodiscard]] bool SetNumber(T& field, std::string_view value,
                             T least = std::numeric_limits<T>::min(),
                             T most = std::numeric_limits<T>::max()) {
  T number{};
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc() || end != value.data() + value.size()) return false;
  if (number < least || number > most) return false;
  field = number;
  return true;
}

// A list of switches, X(field, default, sentence) each, makes the fields of a struct.
#define BERTH_SWITCH_FIELD(field, default_value, sentence) bool field = default_value;

template <typename Options, std::size_t kSize>
class OptionTable {
 public:
  explicit OptionTable(const std::array<OptionRow<Options>, kSize>& rows) : rows_(rows) {
    for (std::size_t r = 0; r < kSize; ++r) infos_[r] = rows[r].info;
  }

  [[nodiscard]] std::span<const OptionInfo> infos() const { return infos_; }

  // Error: kInvalidOptions, naming the option, the value and what is allowed.
  [[nodiscard]] Result<void> Set(Options& options, std::string_view name,
                                 std::string_view value) const {
    const OptionRow<Options>* const row = Find(name);
    if (row == nullptr) return Unknown(name);
    if (row->set(options, value)) return {};
    return Fail(ErrorCode::kInvalidOptions, "option " + std::string(name) + " is \"" +
                                                std::string(value) + "\" but must be " +
                                                std::string(row->info.allowed));
  }

  // Error: kInvalidOptions for an unknown name.
  [[nodiscard]] Result<std::string> Get(const Options& options, std::string_view name) const {
    const OptionRow<Options>* const row = Find(name);
    if (row == nullptr) return Unknown(name);
    return row->get(options);
  }

  // Error: kInvalidOptions, naming the first option out of bounds.
  [[nodiscard]] Result<void> Validate(const Options& options) const {
    Options scratch;
    for (const OptionRow<Options>& row : rows_) {
      if (auto valid = Set(scratch, row.info.name, row.get(options)); !valid) return valid;
    }
    return {};
  }

 private:
  [[nodiscard]] const OptionRow<Options>* Find(std::string_view name) const {
    for (const OptionRow<Options>& row : rows_) {
      if (row.info.name == name) return &row;
    }
    return nullptr;
  }
  static tl::unexpected<Error> Unknown(std::string_view name) {
    return Fail(ErrorCode::kInvalidOptions, "there is no option \"" + std::string(name) + "\"");
  }

  std::array<OptionRow<Options>, kSize> rows_;
  std::array<OptionInfo, kSize> infos_;
};

}  // namespace berth::internal

#endif  // BERTH_BASE_OPTION_TABLE_H_
