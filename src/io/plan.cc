// Plans (docs/formats/plan.md).

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/check.h"
#include "berth/io.h"
#include "io/rows.h"
#include "io/source.h"

namespace berth {
namespace internal {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kFormat = "berth-plan";
constexpr int kFormatVersion = 1;

// On one line. What is not UTF-8 becomes U+FFFD: JSON cannot hold it.
std::string Line(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json PlacementOf(const Buffer& buffer, Bytes offset) {
  return {{"id", buffer.id},
          {"start", buffer.start},
          {"end", buffer.end},
          {"size", buffer.size},
          {"offset", offset}};
}

// Collects the offset of each buffer of a problem.
class OffsetCollector {
 public:
  OffsetCollector(const Source& source, const Problem& problem)
      : source_(source), problem_(problem), offsets_(problem.buffers.size()) {
    buffers_.reserve(problem.buffers.size());
    for (std::size_t b = 0; b < problem.buffers.size(); ++b) {
      buffers_.emplace(problem.buffers[b].id, b);
    }
  }

  // The sentence that says what is wrong, if anything is.
  std::optional<std::string> Add(std::string_view id, std::int64_t offset) {
    const auto found = buffers_.find(id);
    if (found == buffers_.end()) return "the problem has no buffer " + Quoted(id);
    std::optional<Bytes>& known = offsets_[found->second];
    if (known) return "buffer " + Quoted(id) + " has an offset already, " + std::to_string(*known);
    if (offset < 0 || offset > kMaxBytes) {
      return "buffer " + Quoted(id) + ": offset " + std::to_string(offset) +
             " must be from 0 to 2^60";
    }
    known = offset;
    return std::nullopt;
  }

  Result<std::vector<Bytes>> Finish() const {
    std::vector<Bytes> offsets;
    offsets.reserve(offsets_.size());
    for (std::size_t b = 0; b < offsets_.size(); ++b) {
      if (!offsets_[b]) {
        return source_.FailAsWhole("buffer " + Quoted(problem_.buffers[b].id) + " has no offset",
                                   ErrorCode::kInvalidPlan);
      }
      offsets.push_back(*offsets_[b]);
    }
    return offsets;
  }

 private:
  const Source& source_;
  const Problem& problem_;
  std::unordered_map<std::string_view, std::size_t> buffers_;
  std::vector<std::optional<Bytes>> offsets_;
};

Result<std::vector<Bytes>> ReadOffsetsCsv(const Source& source, const Problem& problem) {
  Rows rows(source);
  if (auto header = rows.ReadHeader({Column::kId, Column::kOffset}, /*any_column=*/true); !header) {
    return tl::unexpected(header.error());
  }
  OffsetCollector collector(source, problem);
  for (;;) {
    const auto more = rows.Next();
    if (!more) return tl::unexpected(more.error());
    if (!*more) return collector.Finish();
    const Field& field = rows.FieldOf(Column::kOffset);
    const std::string_view id = rows.FieldOf(Column::kId).value;
    if (field.value.empty() || field.value == "-1") {
      return source.FailAt(field.position, "buffer " + Quoted(id) + " has no offset",
                           ErrorCode::kInvalidPlan);
    }
    std::int64_t offset = 0;
    if (auto read = rows.ReadInteger(Column::kOffset, offset); !read) {
      return tl::unexpected(read.error());
    }
    if (const auto fault = collector.Add(id, offset)) {
      return source.FailAt(rows.FieldOf(Column::kId).position, *fault, ErrorCode::kInvalidPlan);
    }
  }
}

// Finds what is wrong with a text in JSON before it becomes a tree: also a key that comes twice in
// an object, of which a tree would silently keep the last. (A parser callback could do so on the
// way to the tree, but makes nlohmann's parser look through the whole list after each element.)
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

Result<std::vector<Bytes>> ReadOffsetsJson(const Source& source, const Problem& problem) {
  if (auto checked = JsonChecker(source).Check(); !checked) return tl::unexpected(checked.error());
  const auto plan = nlohmann::json::parse(source.text());
  using Value = const nlohmann::json;
  const auto member = [](Value& object, const char* key) -> Value* {
    const auto found = object.find(key);
    return found == object.end() ? nullptr : &*found;
  };
  // Lists and objects may nest deeper than the stack.
  const auto seen = [](Value* value) {
    if (value == nullptr) return std::string("missing");
    if (value->is_structured()) return "an " + std::string(value->type_name());
    return value->is_string() ? Quoted(value->get_ref<const std::string&>()) : value->dump();
  };

  Value* const format = member(plan, "format");
  if (format == nullptr || *format != kFormat) {
    return source.FailAsWhole("not a plan: \"format\" is " + seen(format) +
                              " where it should be \"berth-plan\"");
  }
  Value* const version = member(plan, "format_version");
  if (version == nullptr || *version != kFormatVersion) {
    return source.FailAsWhole("\"format_version\" is " + seen(version) +
                              ", but this reader knows version 1 alone");
  }
  Value* const placements = member(plan, "placements");
  if (placements != nullptr && placements->is_null()) {
    return source.FailAsWhole("the search that wrote this found no plan", ErrorCode::kInvalidPlan);
  }
  if (placements == nullptr || !placements->is_array()) {
    return source.FailAsWhole("\"placements\" is " + seen(placements) +
                              " where it should be a list");
  }

  OffsetCollector collector(source, problem);
  for (std::size_t i = 0; i < placements->size(); ++i) {
    Value& placement = (*placements)[i];
    const std::string number = "placement number " + std::to_string(i + 1);
    Value* const id = placement.is_object() ? member(placement, "id") : nullptr;
    if (id == nullptr || !id->is_string()) {
      return source.FailAsWhole(number + " is " + seen(&placement) +
                                " where it should be an object with an \"id\" that is text");
    }
    Value* const offset = member(placement, "offset");
    // Integers past 64 bits parse as unsigned or as floating-point numbers.
    const bool fits = offset != nullptr && offset->is_number_integer() &&
                      (!offset->is_number_unsigned() ||
                       offset->get<std::uint64_t>() <= static_cast<std::uint64_t>(INT64_MAX));
    if (!fits) {
      return source.FailAsWhole(number + ": the offset of buffer " +
                                Quoted(id->get_ref<const std::string&>()) + " is " + seen(offset) +
                                " where it should be a 64-bit integer");
    }
    const auto fault =
        collector.Add(id->get_ref<const std::string&>(), offset->get<std::int64_t>());
    if (fault) return source.FailAsWhole(number + ": " + *fault, ErrorCode::kInvalidPlan);
  }
  return collector.Finish();
}

}  // namespace
}  // namespace internal

std::string WritePlanJson(const Problem& problem, const PlaceAnswer& answer,
                          const Provenance& provenance) {
  using internal::Json;
  using internal::Line;
  Json options = Json::object();
  for (const OptionInfo& option : Options()) {
    if (option.name == "threads") continue;  // The same plan gives the same bytes.
    const auto value = GetOption(provenance.options, option.name);
    BERTH_CHECK(value.has_value());
    const bool other = option.name == "algorithm" && !provenance.solver.empty();
    options[std::string(option.name)] = other ? provenance.solver : *value;
  }
  const Json head = {
      {"format", internal::kFormat},
      {"format_version", internal::kFormatVersion},
      {"berth_version", provenance.version},
      {"input", {{"name", provenance.input}, {"hash", provenance.input_hash}}},
      {"options", std::move(options)},
      {"node_limit", provenance.node_limit ? Json(*provenance.node_limit) : Json()},
      {"outcome", ToString(answer.outcome)},
      {"stopped", ToString(answer.stopped)},
      {"algorithm", answer.algorithm},
      {"capacity", problem.capacity ? Json(*problem.capacity) : Json()},
      {"height", answer.best ? Json(answer.best->height) : Json()},
      {"lower_bound", answer.lower_bound},
      {"nodes", answer.nodes},
  };

  // A placement a line: plans are compared with line-based tools.
  std::string out = "{\n";
  for (const auto& [key, value] : head.items()) {
    out += "  " + Line(key) + ": " + Line(value) + ",\n";
  }
  out += "  \"placements\": ";
  if (!answer.best) {
    out += "null";
  } else if (problem.buffers.empty()) {
    out += "[]";
  } else {
    BERTH_CHECK(answer.best->offsets.size() == problem.buffers.size());
    for (std::size_t b = 0; b < problem.buffers.size(); ++b) {
      out += b == 0 ? "[\n    " : ",\n    ";
      out += Line(internal::PlacementOf(problem.buffers[b], answer.best->offsets[b]));
    }
    out += "\n  ]";
  }
  return out + "\n}\n";
}

Result<std::vector<Bytes>> ReadOffsets(std::string_view text, std::string_view name,
                                       const Problem& problem) {
  const internal::Source source(text, name);
  const std::string_view start = source.text();
  const std::size_t first = start.find_first_not_of(" \t\r\n");
  const bool is_json = first != std::string_view::npos && start[first] == '{';
  return is_json ? internal::ReadOffsetsJson(source, problem)
                 : internal::ReadOffsetsCsv(source, problem);
}

}  // namespace berth
