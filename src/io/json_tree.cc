#include "io/json_tree.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <unordered_set>
#include <utility>

#include "base/text.h"

namespace berth::internal {
namespace {

constexpr std::size_t kDeepest = 64;

// The text, for a parser that is to say how far it is.
class Reading {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  Reading(const char* at, std::size_t* read) : at_(at), read_(read) {}
  reference operator*() const { return *at_; }
  Reading& operator++() {
    ++at_;
    ++*read_;
    return *this;
  }
  Reading operator++(int) {
    Reading before = *this;
    ++*this;
    return before;
  }
  friend bool operator==(const Reading& a, const Reading& b) { return a.at_ == b.at_; }

 private:
  const char* at_;
  std::size_t* read_;
};

bool IsOfNumber(char c) {
  return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E';
}

class TreeBuilder final : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit TreeBuilder(const Source& source) : source_(source) {}

  Result<JsonNode> Build() {
    const std::string_view text = source_.text();
    const Reading first(text.data(), &read_);
    const Reading last(text.data() + text.size(), &read_);
    if (nlohmann::json::sax_parse(first, last, this)) return std::move(root_);
    return tl::unexpected(*error_);
  }

  bool null() override { return Add(Literal(4)); }
  bool boolean(bool value) override {
    JsonNode node = Literal(value ? 4 : 5);
    node.kind = JsonNode::Kind::kBool;
    node.boolean = value;
    return Add(std::move(node));
  }
  bool number_integer(number_integer_t value) override { return AddInteger(value); }
  bool number_unsigned(number_unsigned_t value) override {
    if (value > static_cast<number_unsigned_t>(INT64_MAX)) return Add(Number());
    return AddInteger(static_cast<std::int64_t>(value));
  }
  bool number_float(number_float_t, const string_t&) override { return Add(Number()); }
  bool string(string_t& value) override {
    JsonNode node = Text();
    node.text = std::move(value);
    return Add(std::move(node));
  }
  bool binary(binary_t&) override { return false; }  // Not of JSON.
  bool start_object(std::size_t) override { return Open(JsonNode::Kind::kObject); }
  bool start_array(std::size_t) override { return Open(JsonNode::Kind::kList); }
  bool end_object() override {
    keys_.pop_back();
    return CloseNode();
  }
  bool end_array() override { return CloseNode(); }
  bool key(string_t& key) override {
    const std::size_t position = Text().position;
    if (!keys_.back().insert(key).second) {
      return Fault(position, "the key " + Quoted(key) + " comes twice in an object");
    }
    open_.back().keys.push_back(std::move(key));
    open_.back().key_positions.push_back(position);
    return true;
  }
  bool parse_error(std::size_t read, const std::string& /*token*/,
                   const nlohmann::detail::exception& exception) override {
    // The last byte read is the first that cannot be; it may be the end.
    const std::string_view text = source_.text();
    const std::size_t position = std::min(read == 0 ? 0 : read - 1, text.size());
    if (dynamic_cast<const nlohmann::json::out_of_range*>(&exception) != nullptr) {
      return Fault(position, "the number that ends here is out of range");
    }
    if (position == text.size()) return Fault(position, "the JSON ends in the middle");
    return Fault(position, "not JSON from here on: " + Quoted(text.substr(position)));
  }

 private:
  bool Fault(std::size_t position, const std::string& sentence) {
    error_ = source_.FailAt(position, sentence).value();
    return false;
  }

  [[nodiscard]] JsonNode Literal(std::size_t length) const {
    JsonNode node;
    node.position = read_ - std::min(length, read_);
    return node;
  }
  // The parser has read a byte beyond a number, unless the text ends with it.
  [[nodiscard]] JsonNode Number() const {
    const std::string_view text = source_.text();
    std::size_t end = read_;
    if (end > 0 && !IsOfNumber(text[end - 1])) --end;
    JsonNode node;
    node.kind = JsonNode::Kind::kNumber;
    node.position = end;
    while (node.position > 0 && IsOfNumber(text[node.position - 1])) --node.position;
    node.text = text.substr(node.position, end - node.position);
    return node;
  }
  // Within a text all quotes are escaped, so the last one before its end opens it.
  [[nodiscard]] JsonNode Text() const {
    const std::string_view text = source_.text();
    JsonNode node;
    node.kind = JsonNode::Kind::kText;
    std::size_t at = read_ - 1;
    while (at > 0) {
      --at;
      if (text[at] != '"') continue;
      std::size_t slashes = 0;
      while (slashes < at && text[at - slashes - 1] == '\\') ++slashes;
      if (slashes % 2 == 0) break;
    }
    node.position = at;
    return node;
  }
  bool AddInteger(std::int64_t value) {
    JsonNode node = Number();
    node.kind = JsonNode::Kind::kInteger;
    node.integer = value;
    node.text.clear();
    return Add(std::move(node));
  }
  bool Add(JsonNode node) {
    if (open_.empty()) {
      root_ = std::move(node);
    } else {
      open_.back().items.push_back(std::move(node));
    }
    return true;
  }
  bool Open(JsonNode::Kind kind) {
    JsonNode node = Literal(1);
    node.kind = kind;
    if (open_.size() == kDeepest) {
      return Fault(node.position, "lists and objects are nested deeper than " +
                                      std::to_string(kDeepest) + " levels");
    }
    open_.push_back(std::move(node));
    if (kind == JsonNode::Kind::kObject) keys_.emplace_back();
    return true;
  }
  bool CloseNode() {
    JsonNode node = std::move(open_.back());
    open_.pop_back();
    return Add(std::move(node));
  }

  const Source& source_;
  std::size_t read_ = 0;  // Bytes.
  JsonNode root_;
  std::vector<JsonNode> open_;
  std::vector<std::unordered_set<std::string>> keys_;  // Of the objects that are open.
  std::optional<Error> error_;
};

}  // namespace

const JsonNode* JsonNode::Find(std::string_view key) const {
  const auto found = std::find(keys.begin(), keys.end(), key);
  return found == keys.end() ? nullptr : &items[static_cast<std::size_t>(found - keys.begin())];
}

std::string JsonNode::Shown() const {
  switch (kind) {
    case Kind::kNull:
      return "null";
    case Kind::kBool:
      return boolean ? "true" : "false";
    case Kind::kInteger:
      return std::to_string(integer);
    case Kind::kNumber:
      return text;
    case Kind::kText:
      return Quoted(text);
    case Kind::kList:
      return "a list";
    case Kind::kObject:
      break;
  }
  return "an object";
}

Result<JsonNode> ParseJsonTree(const Source& source) { return TreeBuilder(source).Build(); }

std::optional<double> NumberOf(const JsonNode& node) {
  if (node.is(JsonNode::Kind::kInteger)) return static_cast<double>(node.integer);
  if (!node.is(JsonNode::Kind::kNumber)) return std::nullopt;
  // Independent of the locale, unlike strtod(); libc++ 14 has no from_chars() for it.
  const auto number = nlohmann::json::parse(node.text, nullptr, false);
  if (!number.is_number() || !std::isfinite(number.get<double>())) return std::nullopt;
  return number.get<double>();
}

}  // namespace berth::internal
