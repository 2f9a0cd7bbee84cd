// report/json_text.h -- JSON that is written once, from front to back, for what draws it.
//
// A tree of values costs many times the text where there are a hundred thousand of them. Within the text
// no string has a "<", so that it may stand in a script element of HTML.
#ifndef BERTH_REPORT_JSON_TEXT_H_
#define BERTH_REPORT_JSON_TEXT_H_

#include <charconv>
#include <cstddef>
#include <initializer_list>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace berth::internal::report {

// A string in quotes. What is no UTF-8 becomes U+FFFD.
void AppendString(std::string_view value, std::string& text);
void AppendTree(const nlohmann::ordered_json& value, std::string& text);
void AppendNumber(double value, std::string& text);

template <typename T>
struct IsOptional : std::false_type {};
template <typename T>
struct IsOptional<std::optional<T>> : std::true_type {};

class JsonObject;

// A value that is text already; by default null.
class JsonText {
 public:
  JsonText() : text_("null") {}
  // Numbers, strings, optionals (null without a value), ranges of these, objects and trees.
  template <typename T>
  JsonText(const T& value);  // NOLINT(google-explicit-constructor): values are what members have.

  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  template <typename Range, typename Of>
  friend JsonText Column(const Range& range, Of of);
  template <typename... Values>
  friend JsonText Row(const Values&... values);

  std::string text_;
};

template <typename T>
void AppendJson(const T& value, std::string& text) {
  if constexpr (std::is_same_v<T, JsonText>) {
    text += value.text();
  } else if constexpr (std::is_same_v<T, JsonObject>) {
    text += value.members();
    text += value.members().empty() ? "{}" : "}";
  } else if constexpr (std::is_same_v<T, nlohmann::ordered_json>) {
    AppendTree(value, text);
  } else if constexpr (std::is_same_v<T, std::nullptr_t>) {
    text += "null";
  } else if constexpr (std::is_same_v<T, bool>) {
    text += value ? "true" : "false";
  } else if constexpr (std::is_integral_v<T>) {
    char digits[24];
    text.append(digits, std::to_chars(std::begin(digits), std::end(digits), value).ptr);
  } else if constexpr (std::is_floating_point_v<T>) {
    AppendNumber(value, text);
  } else if constexpr (std::is_convertible_v<const T&, std::string_view>) {
    AppendString(value, text);
  } else if constexpr (IsOptional<T>::value) {
    value ? AppendJson(*value, text) : AppendJson(nullptr, text);
  } else {
    char before = '[';
    for (const auto& element : value) {
      text += std::exchange(before, ',');
      AppendJson(element, text);
    }
    text += before == '[' ? "[]" : "]";
  }
}

template <typename T>
JsonText::JsonText(const T& value) {
  AppendJson(value, text_);
}

// [of(a), of(b), ...] of the elements of a range.
template <typename Range, typename Of>
JsonText Column(const Range& range, Of of) {
  JsonText column;
  std::string& text = column.text_;
  text = "[";
  for (const auto& element : range) {
    if (text.size() > 1) text += ',';
    AppendJson(of(element), text);
  }
  text += ']';
  return column;
}

// [a, b, ...] of values of different types.
template <typename... Values>
JsonText Row(const Values&... values) {
  JsonText row;
  std::string& text = row.text_;
  text.clear();
  char before = '[';
  ((text += std::exchange(before, ','), AppendJson(values, text)), ...);
  text += ']';
  return row;
}

// Members in the order in which they are added.
class JsonObject {
 public:
  JsonObject() = default;
  JsonObject(std::initializer_list<std::pair<std::string_view, JsonText>> members) {
    for (const auto& [key, value] : members) Add(key, value);
  }
  template <typename T>
  void Add(std::string_view key, const T& value) {
    text_ += text_.empty() ? '{' : ',';
    AppendString(key, text_);
    text_ += ':';
    AppendJson(value, text_);
  }
  // All but the last bracket; empty without any.
  [[nodiscard]] const std::string& members() const { return text_; }

 private:
  std::string text_;
};

}  // namespace berth::internal::report

#endif  // BERTH_REPORT_JSON_TEXT_H_
