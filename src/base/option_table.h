// base/option_table.h -- options as a table: each set from text, given back as text, and checked.
//
// One row for each option of a struct; --help, docs, provenance and bindings are made from it. What
// the table accepts is valid, so a struct is valid if the table takes back what it gives. Tables
// are constants: they cost no code at start, and no memory that is written.
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

[[nodiscard]] bool SetBool(bool& field, std::string_view value);
[[nodiscard]] std::string OnOff(bool value);

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

// A list of switches, SWITCH(field, default, sentence) for each, makes fields and rows:
//
//   #define BERTH_FOO_SWITCHES(SWITCH) SWITCH(bar, true, "What bar does.")
//   struct Foo { BERTH_FOO_SWITCHES(BERTH_SWITCH_FIELD) };
#define BERTH_SWITCH_FIELD(field, default_value, sentence) bool field = default_value;

// The row of a switch: kField(options) is the field.
template <typename Options, bool& (*kField)(Options&)>
[[nodiscard]] constexpr OptionRow<Options> SwitchRow(std::string_view name, bool default_value,
                                                     std::string_view sentence) {
  return {{name, default_value ? "on" : "off", "on|off", sentence},
          [](Options& options, std::string_view value) { return SetBool(kField(options), value); },
          [](const Options& options) {
            return OnOff(kField(const_cast<Options&>(options)));  // Only read.
          }};
}

template <typename Options, std::size_t kSize>
[[nodiscard]] constexpr std::array<OptionInfo, kSize> InfosOf(
    const std::array<OptionRow<Options>, kSize>& rows) {
  std::array<OptionInfo, kSize> infos;
  for (std::size_t r = 0; r < kSize; ++r) infos[r] = rows[r].info;
  return infos;
}

// `value` is not allowed for the option, or there is none of that `name`. Error: kInvalidOptions.
[[nodiscard]] tl::unexpected<Error> NotAllowed(const OptionInfo& info, std::string_view value);
[[nodiscard]] tl::unexpected<Error> UnknownOption(std::string_view name);

template <typename Options>
class OptionTable {
 public:
  // `rows` must outlive the table.
  constexpr explicit OptionTable(std::span<const OptionRow<Options>> rows) : rows_(rows) {}

  // Error: kInvalidOptions, naming the option, the value and what is allowed.
  [[nodiscard]] Result<void> Set(Options& options, std::string_view name,
                                 std::string_view value) const {
    const OptionRow<Options>* const row = Find(name);
    if (row == nullptr) return UnknownOption(name);
    if (row->set(options, value)) return {};
    return NotAllowed(row->info, value);
  }

  // Error: kInvalidOptions for an unknown name.
  [[nodiscard]] Result<std::string> Get(const Options& options, std::string_view name) const {
    const OptionRow<Options>* const row = Find(name);
    if (row == nullptr) return UnknownOption(name);
    return row->get(options);
  }

  // Error: kInvalidOptions, naming the first option out of bounds.
  [[nodiscard]] Result<void> Validate(const Options& options) const {
    Options scratch;
    for (const OptionRow<Options>& row : rows_) {
      if (const std::string value = row.get(options); !row.set(scratch, value)) {
        return NotAllowed(row.info, value);
      }
    }
    return {};
  }

  // Nothing where there is none of that name.
  [[nodiscard]] const OptionRow<Options>* Find(std::string_view name) const {
    for (const OptionRow<Options>& row : rows_) {
      if (row.info.name == name) return &row;
    }
    return nullptr;
  }

 private:
  std::span<const OptionRow<Options>> rows_;
};

}  // namespace berth::internal

#endif  // BERTH_BASE_OPTION_TABLE_H_
