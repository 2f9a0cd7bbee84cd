// io/json_tree.h -- JSON from strangers as a tree in which every value knows its place in the file.
#ifndef BERTH_IO_JSON_TREE_H_
#define BERTH_IO_JSON_TREE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/source.h"
#include "base/text.h"
#include "berth/result.h"

namespace berth::internal {

// Whether `text` begins as an object does; a table in CSV does not.
[[nodiscard]] inline bool LooksLikeJson(std::string_view text) {
  text = WithoutByteOrderMark(text);
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && text[first] == '{';
}

struct JsonNode {
  enum class Kind { kNull, kBool, kInteger, kNumber, kText, kList, kObject };
  Kind kind = Kind::kNull;
  std::size_t position = 0;          // Of its first byte.
  bool boolean = false;              // Of kBool.
  std::int64_t integer = 0;          // Of kInteger, which is any whole number that fits in 64 bits.
  std::string text = {};             // Of kText, and any other number as written.
  std::vector<JsonNode> items = {};  // Of a list; of an object its values.
  std::vector<std::string> keys = {};  // Of an object, parallel to `items`.
  std::vector<std::size_t> key_positions = {};

  [[nodiscard]] bool is(Kind other) const { return kind == other; }
  // The value of `key`; null where this is no object or does not have it.
  [[nodiscard]] const JsonNode* Find(std::string_view key) const;
  // As errors show it: short, on one line.
  [[nodiscard]] std::string Shown() const;
};

// The value of a number, whole or not; none of anything else.
[[nodiscard]] std::optional<double> NumberOf(const JsonNode& node);

// Errors: kParse, with line and column: no JSON, numbers out of range, a key that comes twice in one
// object, lists and objects nested deeper than 64. Trees are safe to walk by recursion.
[[nodiscard]] Result<JsonNode> ParseJsonTree(const Source& source);

}  // namespace berth::internal

#endif  // BERTH_IO_JSON_TREE_H_
