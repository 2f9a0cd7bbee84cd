// base/csv.h -- the one reader of CSV, and the one rule for quotes.
//
//   const Source source(text, "table.csv");
//   CsvReader reader(source);
//   while (BERTH_TRY(reader.Next())) Use(reader.fields()[0].value, reader.line());
//
// RFC 4180, and its variants in practice. A record ends with LF, CR LF or the end of
// the text. A field in double quotes may hold commas, line ends and, doubled, quotes, and is kept
// as it is; spaces and tabs around it do not count. A field without quotes loses the spaces and
// tabs around it and may hold neither quotes nor control characters. Blank lines are not records.
#ifndef BERTH_BASE_CSV_H_
#define BERTH_BASE_CSV_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "base/source.h"
#include "base/text.h"
#include "base/try.h"
#include "berth/result.h"

namespace berth::internal {

// `text` as a cell of a table: in quotes where CsvReader would not read it as it is.
[[nodiscard]] std::string CsvCell(std::string_view text);
void AppendCsvCell(std::string& out, std::string_view text);

struct CsvField {
  std::string_view value;  // Without quotes; lives as long as the CsvReader and its Source.
  std::size_t position;    // In the source's text, of the value's first byte.
  bool verbatim;           // `value` is the part of the text at `position`.
};

// Cost: one pass over the text.
class CsvReader {
 public:
  // `source` must outlive the reader.
  explicit CsvReader(const Source& source) : source_(source), text_(source.text()) {}

  // Goes to the next record. False after the last one. Error: kParse.
  [[nodiscard]] Result<bool> Next();

  // Of the current record.
  [[nodiscard]] const std::vector<CsvField>& fields() const { return fields_; }
  [[nodiscard]] std::size_t line() const { return record_line_; }
  // Past its last byte, its line end not counted.
  [[nodiscard]] std::size_t end() const { return record_end_; }

 private:
  static bool IsBlank(char c) { return c == ' ' || c == '\t'; }
  // Whether a field without quotes goes on with `c`.
  static bool IsPlain(char c) { return kIsPlain[static_cast<unsigned char>(c)]; }

  [[nodiscard]] Result<void> ReadRecord();
  [[nodiscard]] Result<void> ReadPlainField();
  // Says why a field without quotes may not hold the byte there.
  [[nodiscard]] tl::unexpected<Error> FailAtByte(std::size_t position) const;
  [[nodiscard]] Result<void> ReadQuotedField();
  void SkipBlanks();
  // True, and past the line end, where the current record ends.
  [[nodiscard]] bool SkipRecordEnd();

  // One look for each byte, where comparisons would be four or more.
  static constexpr std::array<bool, 256> kIsPlain = [] {
    std::array<bool, 256> is_plain{};
    for (std::size_t c = 0x20; c < is_plain.size(); ++c) is_plain[c] = c != ',' && c != '"';
    is_plain['\t'] = true;
    return is_plain;
  }();

  const Source& source_;
  std::string_view text_;
  std::size_t position_ = 0;  // Of the first byte not yet read.
  std::size_t line_ = 1;      // Of that byte.
  std::vector<CsvField> fields_;
  std::size_t record_line_ = 0;
  std::size_t record_end_ = 0;
  std::deque<std::string> unescaped_;  // Values that held doubled quotes.
};

// Implementation.

inline void AppendCsvCell(std::string& out, std::string_view text) {
  const auto is_special = [](char c) {
    return c == ',' || c == '"' || static_cast<unsigned char>(c) < 0x20;
  };
  const bool quoted = !text.empty() && (text.front() == ' ' || text.back() == ' ' ||
                                        std::any_of(text.begin(), text.end(), is_special));
  if (!quoted) {
    out += text;
    return;
  }
  out += '"';
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  out += '"';
}

inline std::string CsvCell(std::string_view text) {
  std::string cell;
  AppendCsvCell(cell, text);
  return cell;
}

inline Result<bool> CsvReader::Next() {
  while (position_ < text_.size()) {
    BERTH_TRY(ReadRecord());
    const bool blank_line = fields_.size() == 1 && fields_[0].position == record_end_;
    if (!blank_line) return true;
  }
  return false;
}

inline Result<void> CsvReader::ReadRecord() {
  fields_.clear();
  record_line_ = line_;
  for (;;) {
    SkipBlanks();
    const bool quoted = position_ < text_.size() && text_[position_] == '"';
    BERTH_TRY(quoted ? ReadQuotedField() : ReadPlainField());
    record_end_ = position_;
    if (SkipRecordEnd()) return {};
    ++position_;  // The comma.
  }
}

inline Result<void> CsvReader::ReadPlainField() {
  const std::size_t begin = position_;
  std::size_t end = begin;
  while (end < text_.size() && IsPlain(text_[end])) ++end;
  position_ = end;
  if (end < text_.size() && text_[end] != ',' && text_[end] != '\n' &&
      text_.substr(end, 2) != "\r\n") {
    return FailAtByte(end);
  }
  while (end > begin && IsBlank(text_[end - 1])) --end;
  fields_.push_back({text_.substr(begin, end - begin), begin, true});
  return {};
}

inline tl::unexpected<Error> CsvReader::FailAtByte(std::size_t position) const {
  switch (text_[position]) {
    case '\r':
      return source_.FailAt(position,
                            "a carriage return without a line feed; lines end with LF or CR LF");
    case '"':
      return source_.FailAt(position,
                            "a quote within a field that does not begin with one; put the whole "
                            "field in quotes and double those within");
    default:
      return source_.FailAt(position, "the control character " + Quoted(text_.substr(position, 1)) +
                                          " outside quotes; this is not a table in CSV");
  }
}

inline Result<void> CsvReader::ReadQuotedField() {
  const std::size_t opening = position_++;
  std::string* unescaped = nullptr;
  std::string_view value;
  for (;;) {
    const std::size_t closing = text_.find('"', position_);
    if (closing == std::string_view::npos) {
      return source_.FailAt(opening, "the quote that opens here is never closed");
    }
    const std::string_view part = text_.substr(position_, closing - position_);
    line_ += static_cast<std::size_t>(std::count(part.begin(), part.end(), '\n'));
    position_ = closing + 1;
    const bool doubled = position_ < text_.size() && text_[position_] == '"';
    if (doubled && unescaped == nullptr) unescaped = &unescaped_.emplace_back();
    if (unescaped != nullptr) {
      *unescaped += part;
      value = *unescaped;
    } else {
      value = part;
    }
    if (!doubled) break;
    *unescaped += '"';
    ++position_;
  }
  fields_.push_back({value, opening + 1, unescaped == nullptr});

  SkipBlanks();
  const std::string_view rest = text_.substr(position_);
  if (!rest.empty() && rest[0] != ',' && rest[0] != '\n' && rest.substr(0, 2) != "\r\n") {
    return source_.FailAt(position_,
                          "expected a comma or the end of the line after a quoted field, not " +
                              Quoted(rest.substr(0, std::max<std::size_t>(Utf8Length(rest), 1))));
  }
  return {};
}

inline void CsvReader::SkipBlanks() {
  while (position_ < text_.size() && IsBlank(text_[position_])) ++position_;
}

inline bool CsvReader::SkipRecordEnd() {
  if (position_ == text_.size()) return true;
  if (text_[position_] == ',') return false;
  position_ += text_[position_] == '\r' ? 2 : 1;
  ++line_;
  return true;
}

}  // namespace berth::internal

#endif  // BERTH_BASE_CSV_H_
