// Traces of allocations (docs/formats/events.md).
#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/csv.h"
#include "base/event_trace.h"
#include "base/source.h"
#include "base/text.h"
#include "base/try.h"
#include "berth/event_io.h"

namespace berth {
namespace internal {
namespace {

enum Column : std::size_t { kEvent, kId, kSize, kAlignment, kColumns };
struct ColumnName {
  std::string_view name;
  Column column;
};
constexpr ColumnName kColumnNames[] = {
    {"event", kEvent}, {"id", kId}, {"address", kId}, {"size", kSize}, {"alignment", kAlignment}};

std::string LowerCase(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

class EventReader {
 public:
  explicit EventReader(const Source& source) : source_(source), records_(source) {}

  Result<Table> Read() {
    BERTH_TRY(source_.CheckEncoding());
    BERTH_TRY(ReadHeader());
    while (BERTH_TRY(records_.Next())) {
      if (records_.fields().size() != width_) {
        return source_.FailAt(records_.end(), "the row has " +
                                                  std::to_string(records_.fields().size()) +
                                                  " fields, the header " + std::to_string(width_));
      }
      const std::string event = LowerCase(Field(kEvent).value);
      if (event == "alloc") {
        BERTH_TRY(Allocate());
      } else if (event == "free") {
        BERTH_TRY(Free());
      } else {
        return source_.FailAt(Field(kEvent).position,
                              "the event " + Quoted(Field(kEvent).value) + " is not alloc or free");
      }
    }
    table_.problem = trace_.Finish();
    if (auto valid = Validate(table_.problem); !valid) return source_.FailWith(valid.error());
    return std::move(table_);
  }

 private:
  Result<void> ReadHeader() {
    if (!BERTH_TRY(records_.Next())) return source_.FailAsWhole("the file is empty");
    width_ = records_.fields().size();
    for (std::size_t f = 0; f < width_; ++f) {
      const std::string name = LowerCase(records_.fields()[f].value);
      for (const ColumnName& known : kColumnNames) {
        if (known.name != name) continue;
        if (columns_[known.column]) {
          return source_.FailAt(records_.fields()[f].position,
                                "the column " + Quoted(name) + " comes twice");
        }
        columns_[known.column] = f;
      }
    }
    for (const Column needed : {kEvent, kId, kSize}) {
      if (columns_[needed]) continue;
      return source_.FailAt(0, std::string("the column ") +
                                   (needed == kEvent ? "event"
                                    : needed == kId  ? "id (or address)"
                                                     : "size") +
                                   " is missing");
    }
    return {};
  }

  [[nodiscard]] const CsvField& Field(Column column) const {
    return records_.fields()[*columns_[column]];
  }

  Result<Bytes> ReadBytes(Column column, const char* name) const {
    const CsvField& field = Field(column);
    Bytes value = 0;
    const char* const last = field.value.data() + field.value.size();
    const auto [end, error] = std::from_chars(field.value.data(), last, value);
    if (error != std::errc() || end != last || value < 1 || value > kMaxBytes) {
      return source_.FailAt(field.position, std::string(name) + " " + Quoted(field.value) +
                                                " is not a whole number from 1 to 2^60");
    }
    return value;
  }

  Result<void> Allocate() {
    const CsvField& id = Field(kId);
    if (id.value.empty()) return source_.FailAt(id.position, "the id is empty");
    const Bytes size = BERTH_TRY(ReadBytes(kSize, "size"));
    Bytes alignment = 1;
    if (columns_[kAlignment] && !Field(kAlignment).value.empty()) {
      alignment = BERTH_TRY(ReadBytes(kAlignment, "alignment"));
    }
    if (!trace_.Allocate(id.value, size, alignment)) {
      return source_.FailAt(
          id.position, "buffer " + Quoted(id.value) + " is allocated again before it is freed");
    }
    table_.lines.push_back(records_.line());
    return {};
  }

  Result<void> Free() {
    const CsvField& id = Field(kId);
    if (!trace_.Free(id.value)) {
      return source_.FailAt(id.position,
                            "buffer " + Quoted(id.value) + " is freed, but not allocated");
    }
    return {};
  }

  const Source& source_;
  CsvReader records_;
  std::array<std::optional<std::size_t>, kColumns> columns_;
  std::size_t width_ = 0;
  EventTrace trace_;
  Table table_;
};

}  // namespace
}  // namespace internal

bool LooksLikeEvents(std::string_view text) {
  text = internal::WithoutByteOrderMark(text);
  std::string header = ",";
  for (const char c : text.substr(0, text.find_first_of("\r\n"))) {
    if (c != '"' && c != ' ' && c != '\t') header += c;
  }
  header = internal::LowerCase(header) + ",";
  return header.find(",event,") != std::string::npos;
}

Result<Table> ReadEvents(std::string_view text, std::string_view name) {
  const internal::Source source(text, name);
  return internal::EventReader(source).Read();
}

}  // namespace berth
