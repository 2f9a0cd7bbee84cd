// io/json.h -- JSON from strangers as a tree, and what is wrong with it in one line.
#ifndef BERTH_IO_JSON_H_
#define BERTH_IO_JSON_H_

#include <nlohmann/json.hpp>
#include <string>

#include "berth/result.h"
#include "io/source.h"

namespace berth::internal {

// The text as a tree. Errors: kParse, with line and column where it is not JSON or a number is out
// of range; also for a key that comes twice in one object, of which a tree would keep the last.
// However deep lists and objects are nested, this does not use up the stack; only walking down such
// a tree could.
[[nodiscard]] Result<nlohmann::json> ParseJson(const Source& source);

// The value of `key`, or null where `object` is no object or does not have it.
[[nodiscard]] const nlohmann::json* Member(const nlohmann::json& object, const char* key);

// `value` as an error shows it: short, on one line, however large or deep it is; "missing" for
// null.
[[nodiscard]] std::string Shown(const nlohmann::json* value);

// Whether it is an integer that fits in 64 bits. (Larger ones parse as unsigned or floating-point
// numbers.)
[[nodiscard]] bool IsInt64(const nlohmann::json& value);

// As the text of one line; what is not UTF-8 becomes U+FFFD: JSON cannot hold it.
[[nodiscard]] std::string Line(const nlohmann::ordered_json& json);

}  // namespace berth::internal

#endif  // BERTH_IO_JSON_H_
