#include "io/json.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "base/text.h"
#include "base/try.h"

namespace berth::internal {
namespace {

// Finds faults in a text in JSON before it becomes a tree, including a key that comes twice in an
// object, of which a tree would silently keep the last. (A parser callback could find them while
// the tree is built, but makes nlohmann's parser look through the whole list after each element.)
class JsonChecker final : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit JsonChecker(const Source& source) : source_(source) {}

  [[nodiscard]] Result<void> Check() {
    if (nlohmann::json::sax_parse(source_.text(), this)) return {};
    return tl::unexpected(*error_);
  }

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_array(std::size_t) override { return true; }
  bool end_array() override { return true; }
  bool start_object(std::size_t) override {
    keys_.emplace_back();
    return true;
  }
  bool end_object() override {
    keys_.pop_back();
    return true;
  }
  bool key(string_t& key) override {
    if (keys_.back().insert(key).second) return true;
    error_ = source_.FailAsWhole("the key " + Quoted(key) + " comes twice in an object").value();
    return false;
  }
  bool parse_error(std::size_t read, const std::string& /*token*/,
                   const nlohmann::detail::exception& exception) override {
    // The last byte read is the first that cannot be; it may be the end.
    const std::string_view text = source_.text();
    const std::size_t position = std::min(read == 0 ? 0 : read - 1, text.size());
    const bool out_of_range = dynamic_cast<const nlohmann::json::out_of_range*>(&exception);
    error_ =
        (out_of_range ? source_.FailAt(position, "the number that ends here is out of range")
         : position == text.size()
             ? source_.FailAt(position, "the JSON ends in the middle")
             : source_.FailAt(position, "not JSON from here on: " + Quoted(text.substr(position))))
            .value();
    return false;
  }

 private:
  const Source& source_;
  std::vector<std::unordered_set<std::string>> keys_;  // Of the objects that are open.
  std::optional<Error> error_;
};

}  // namespace

Result<nlohmann::json> ParseJson(const Source& source) {
  BERTH_TRY(JsonChecker(source).Check());
  return nlohmann::json::parse(source.text());
}

const nlohmann::json* Member(const nlohmann::json& object, const char* key) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(key);
  return found == object.end() ? nullptr : &*found;
}

std::string Shown(const nlohmann::json* value) {
  if (value == nullptr) return "missing";
  if (value->is_structured()) return "an " + std::string(value->type_name());
  return value->is_string() ? Quoted(value->get_ref<const std::string&>()) : value->dump();
}

bool IsInt64(const nlohmann::json& value) {
  if (!value.is_number_integer()) return false;
  return !value.is_number_unsigned() ||
         value.get<std::uint64_t>() <= static_cast<std::uint64_t>(INT64_MAX);
}

std::string Line(const nlohmann::ordered_json& json) {
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace berth::internal
