#include "io/rows.h"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <system_error>

#include "base/text.h"
#include "base/try.h"

namespace berth::internal {
namespace {

struct ColumnName {
  std::string_view name;
  Column column;
};
constexpr ColumnName kColumnNames[] = {
    {"id", Column::kId},
    {"buffer", Column::kId},
    {"buffer_id", Column::kId},
    {"lower", Column::kStart},
    {"start", Column::kStart},
    {"begin", Column::kStart},
    {"upper", Column::kEnd},
    {"end", Column::kEnd},
    {"size", Column::kSize},
    {"hint", Column::kHint},
    {"gaps", Column::kGaps},
    {"alignment", Column::kAlignment},
    {"offset", Column::kOffset},
    // Of tables for several memories, from here on.
    {"memory", Column::kMemory},
    {"memories", Column::kMemories},
    {"bytes_read", Column::kBytesRead},
    {"bytes_written", Column::kBytesWritten},
    {"accesses", Column::kAccesses},
    {"cost_left_out", Column::kCostLeftOut},
    {"benefit", Column::kCostLeftOut},
    {"previous_memory", Column::kPreviousMemory},
    {"previous_offset", Column::kPreviousOffset},
    {"move_cost", Column::kMoveCost},
    {"together", Column::kTogether},
    {"distance", Column::kDistance},
    {"apart", Column::kApart},
    {"apart_memories", Column::kApartMemories},
};

// A real header fits; anything else that was taken for one is cut.
constexpr std::size_t kLongestHeader = 200;

std::string LowerCase(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

// "lower (or start, begin)".
std::string NamesOf(Column column) {
  std::string out;
  int names = 0;
  for (const ColumnName& known : kColumnNames) {
    if (known.column != column) continue;
    if (++names > 1) out += names == 2 ? " (or " : ", ";
    out += known.name;
  }
  return names > 1 ? out + ")" : out;
}

// Why `field` of a header with `width` fields is not a column; the most common mistakes come first.
std::string WhyUnknown(const CsvField& field, std::size_t width, Columns allowed) {
  const std::string seen = Quoted(field.value);
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20; };
  if (!IsUtf8(field.value) || std::any_of(field.value.begin(), field.value.end(), is_control)) {
    return "the header holds " + seen + "; this is not a table in CSV";
  }
  const std::string unknown = "the column " + seen + " is unknown; ";
  if (width == 1 && field.value.find_first_of(";\t|") != std::string_view::npos) {
    return unknown + "columns must be separated by commas";
  }
  if (!field.value.empty() &&
      field.value.find_first_not_of("0123456789") == std::string_view::npos) {
    return unknown + "a table begins with a header such as id,lower,upper,size";
  }
  if (allowed == Columns::kOfMemories) {
    return unknown +
           "known are id, lower, upper, size, alignment, hint, gaps, offset, memory, memories, "
           "bytes_read, bytes_written, accesses, cost_left_out, previous_memory, previous_offset, "
           "move_cost, together, distance, apart and apart_memories";
  }
  return unknown + "known are id, lower, upper, size, alignment, hint, gaps and offset";
}

// Reads `text` if it is a number short enough to need no look at its size: nearly all are, and
// std::from_chars() takes twice as long.
bool ReadShortInteger(std::string_view text, std::int64_t& value) {
  constexpr std::size_t kMostDigits = 18;
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  if (text.empty() || text.size() > kMostDigits) return false;
  std::int64_t magnitude = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return false;
    magnitude = magnitude * 10 + (c - '0');
  }
  value = negative ? -magnitude : magnitude;
  return true;
}

std::string Listed(const std::vector<CsvField>& fields) {
  std::string out;
  for (const CsvField& field : fields) {
    if (!out.empty()) out += ", ";
    if (out.size() > kLongestHeader) return out + "...";
    out += Quoted(field.value);
  }
  return out;
}

}  // namespace

Result<void> Rows::ReadHeader(std::initializer_list<Column> needed, Columns allowed) {
  const bool any_column = allowed == Columns::kAny;
  BERTH_TRY(source_.CheckEncoding());
  const std::size_t first = source_.text().find_first_not_of(" \t\r\n");
  if (first != std::string_view::npos &&
      (source_.text()[first] == '{' || source_.text()[first] == '[')) {
    return source_.FailAt(first, any_column
                                     ? "this looks like JSON, but a plan in JSON begins with {"
                                     : "this looks like JSON; a table is in CSV, under a header "
                                       "such as id,lower,upper,size");
  }
  if (!BERTH_TRY(records_.Next())) {
    return source_.FailAt(
        0, "the file is empty; a table begins with a header such as id,lower,upper,size");
  }
  const std::vector<CsvField>& fields = records_.fields();
  width_ = fields.size();
  for (std::size_t i = 0; i < width_; ++i) {
    const CsvField& field = fields[i];
    const std::string name = LowerCase(field.value);
    const auto* const known =
        std::find_if(std::begin(kColumnNames), std::end(kColumnNames),
                     [&name](const ColumnName& column) { return column.name == name; });
    if (known == std::end(kColumnNames)) {
      if (any_column) continue;
      return source_.FailAt(field.position, WhyUnknown(field, width_, allowed));
    }
    if (allowed == Columns::kOfTable && known->column >= Column::kMemory) {
      return source_.FailAt(field.position,
                            "the column " + Quoted(field.value) +
                                " is of tables for several memories, and none are given");
    }
    Place& place = places_[static_cast<std::size_t>(known->column)];
    if (place.position) {
      return source_.FailAt(
          field.position,
          "the column " + Quoted(field.value) +
              (place.name == name ? " comes twice" : " means the same as " + Quoted(place.name)));
    }
    place = {i, name};
  }
  for (const Column column : needed) {
    if (!Has(column)) {
      return source_.FailAt(
          fields[0].position,
          "the column " + NamesOf(column) + " is missing; the header holds " + Listed(fields));
    }
  }
  return {};
}

Result<bool> Rows::Next() {
  if (!BERTH_TRY(records_.Next())) return false;
  const std::size_t count = records_.fields().size();
  if (count == width_) return true;
  const std::size_t position = count > width_ ? records_.fields()[width_].position : records_.end();
  return source_.FailAt(position, "the row has " + std::to_string(count) +
                                      (count == 1 ? " field" : " fields") + ", the header " +
                                      std::to_string(width_));
}

Result<void> Rows::ReadInteger(Column column, std::int64_t& value) const {
  const CsvField& field = FieldOf(column);
  if (ReadShortInteger(field.value, value)) return {};
  const char* const last = field.value.data() + field.value.size();
  const auto [end, error] = std::from_chars(field.value.data(), last, value);
  if (error == std::errc() && end == last) return {};
  const std::string seen = NameOf(column) + " " + Quoted(field.value);
  if (error == std::errc::result_out_of_range && end == last) {
    return source_.FailAt(field.position, seen + " does not fit in 64 bits");
  }
  return source_.FailAt(field.position, field.value.empty() ? NameOf(column) + " is empty"
                                                            : seen + " is not a whole number");
}

}  // namespace berth::internal
