// io/json.h -- JSON from strangers as a tree, its faults as errors of one line.
#ifndef BERTH_IO_JSON_H_
#define BERTH_IO_JSON_H_

#include <nlohmann/json.hpp>
#include <string>

#include "base/source.h"
#include "berth/result.h"

namespace berth::internal {

// The text as a tree. Errors: kParse, with line and column for text that is not JSON and numbers out
// of range; also for a key that comes twice in one object, of which a tree would keep the last.
// Deeply nested lists and objects do not use up the stack here; walking down such a tree could.
[[nodiscard]] Result<nlohmann::json> ParseJson(const Source& source);

// The value of `key`, or null if `object` is not an object or does not have it.
[[nodiscard]] const nlohmann::json* Member(const nlohmann::json& object, const char* key);

// `value` as an error shows it, short and on one line; "missing" for null.
[[nodiscard]] std::string Shown(const nlohmann::json* value);

// Whether it is an integer that fits in 64 bits. (Larger ones parse as unsigned or floating-point
// numbers.)
[[nodiscard]] bool IsInt64(const nlohmann::json& value);

// As text on one line; bytes that are not UTF-8, which JSON cannot hold, become U+FFFD.
[[nodiscard]] std::string Line(const nlohmann::ordered_json& json);

}  // namespace berth::internal

#endif  // BERTH_IO_JSON_H_
