// c/call.h -- the wall between C and C++: what a function of berth/berth.h does besides its work.
//
// No exception crosses it: errors, broken invariants and a lack of memory become a status and a
// berth_error.
#ifndef BERTH_C_CALL_H_
#define BERTH_C_CALL_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "base/try.h"
#include "berth/berth.h"
#include "berth/result.h"

struct berth_error {
  berth_status status = BERTH_OK;
  std::string message;
  berth::Subject subject = {};
};

struct berth_text {
  std::string text;
};

namespace berth::internal::c {

// The caller's argument is not what rule 6 or the function's comment asks for.
struct ArgumentError : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

inline void Require(bool condition, const char* message) {
  if (!condition) throw ArgumentError(message);
}
// The number that a caller gave for an enumeration. In C it may be any, which a variable of the type
// must not hold in C++.
template <typename Enumeration>
[[nodiscard]] int NumberOf(const Enumeration& given) {
  static_assert(sizeof given == sizeof(int));
  int number = 0;
  std::memcpy(&number, &given, sizeof number);
  return number;
}
inline void RequireIndex(std::size_t index, std::size_t count, const char* of) {
  if (index < count) return;
  throw ArgumentError(std::string(of) + " " + std::to_string(index) +
                      " is out of range: there are " + std::to_string(count));
}
// `count` items that can be there.
template <typename Item>
void RequireList(const Item* list, std::size_t count, const char* what) {
  if (list == nullptr && count > 0) throw ArgumentError(std::string(what) + " is NULL");
  if (count > static_cast<std::size_t>(PTRDIFF_MAX) / sizeof(Item)) {
    throw ArgumentError(std::string(what) + " has " + std::to_string(count) +
                        " items, more than any memory holds");
  }
}
// A struct to be filled, before the work for it begins.
template <typename Struct>
void RequireStruct(const Struct* out) {
  Require(out != nullptr, "the struct to fill is NULL");
  Require(out->struct_size >= sizeof(std::size_t) && out->struct_size <= std::size_t{1} << 16,
          "struct_size is not set: it must be sizeof the struct");
}
// `text`, or "" for NULL.
[[nodiscard]] inline std::string TextOf(const char* text) { return text == nullptr ? "" : text; }

[[nodiscard]] berth_status StatusOf(ErrorCode code);
// Reports a failure: the status, and in `error`, if it is wanted, the rest.
[[nodiscard]] berth_status Report(berth_error** error, berth_status status,
                                  std::string_view message, Subject subject = {}) noexcept;
// The same of the exception that is being handled.
[[nodiscard]] berth_status ReportException(berth_error** error) noexcept;

// Runs `body`, which returns a Result<void>.
template <typename Body>
[[nodiscard]] berth_status Call(berth_error** error, Body body) noexcept {
  if (error != nullptr) *error = nullptr;
  const ThrowOnFailedCheck checks;
  try {
    const Result<void> result = body();
    if (result) return BERTH_OK;
    return Report(error, StatusOf(result.error().code), result.error().message,
                  result.error().subject);
  } catch (...) {
    return ReportException(error);
  }
}

// Runs `body`, which returns a value, or returns `otherwise` where it throws.
template <typename Value, typename Body>
[[nodiscard]] Value ValueOr(Value otherwise, Body body) noexcept {
  try {
    return body();
  } catch (...) {
    return otherwise;
  }
}

// Writes the fields of `from` that the caller's version of the struct has (rule 8).
template <typename Struct>
void Fill(Struct* out, Struct from) {
  RequireStruct(out);
  const std::size_t size = out->struct_size;
  from.struct_size = size;
  const std::size_t known = size < sizeof(Struct) ? size : sizeof(Struct);
  std::char_traits<char>::copy(reinterpret_cast<char*>(out), reinterpret_cast<const char*>(&from),
                               known);
  // A later version's fields, of which this one knows nothing.
  if (size > known) {
    std::char_traits<char>::assign(reinterpret_cast<char*>(out) + known, size - known, '\0');
  }
}

inline void Give(berth_text** out, std::string text) {
  Require(out != nullptr, "the place for the text is NULL");
  *out = new berth_text{std::move(text)};
}

// The caller's bytes, of which there may be none.
[[nodiscard]] std::string_view ViewOf(const char* bytes, std::size_t length);

}  // namespace berth::internal::c

#endif  // BERTH_C_CALL_H_
