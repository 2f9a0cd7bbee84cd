#include "io/records.h"

#include <algorithm>

namespace berth::internal {
namespace {

bool IsBlank(char c) { return c == ' ' || c == '\t'; }

}  // namespace

Result<bool> RecordReader::Next() {
  while (position_ < text_.size()) {
    if (auto read = ReadRecord(); !read) return tl::unexpected(read.error());
    const bool blank_line = fields_.size() == 1 && fields_[0].position == record_end_;
    if (!blank_line) return true;
  }
  return false;
}

Result<void> RecordReader::ReadRecord() {
  fields_.clear();
  record_line_ = line_;
  for (;;) {
    SkipBlanks();
    const bool quoted = position_ < text_.size() && text_[position_] == '"';
    if (auto read = quoted ? ReadQuotedField() : ReadPlainField(); !read) return read;
    record_end_ = position_;
    if (SkipRecordEnd()) return {};
    ++position_;  // The comma.
  }
}

Result<void> RecordReader::ReadPlainField() {
  const std::size_t begin = position_;
  for (; position_ < text_.size(); ++position_) {
    const char c = text_[position_];
    if (c == ',' || c == '\n') break;
    if (c == '\r') {
      if (text_.substr(position_, 2) == "\r\n") break;
      return source_.FailAt(position_,
                            "a carriage return without a line feed; lines end with LF or CR LF");
    }
    if (c == '"') {
      return source_.FailAt(position_,
                            "a quote within a field that does not begin with one; put the whole "
                            "field in quotes and double those within");
    }
    if (static_cast<unsigned char>(c) < 0x20 && c != '\t') {
      return source_.FailAt(position_, "the control character " + Quoted({&text_[position_], 1}) +
                                           " outside quotes; this is not a table in CSV");
    }
  }
  std::size_t end = position_;
  while (end > begin && IsBlank(text_[end - 1])) --end;
  fields_.push_back({text_.substr(begin, end - begin), begin, true});
  return {};
}

Result<void> RecordReader::ReadQuotedField() {
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
                          "expected a comma or the end of the line after a quoted field, "
                          "not " +
                              Quoted(rest.substr(0, std::max<std::size_t>(Utf8Length(rest), 1))));
  }
  return {};
}

void RecordReader::SkipBlanks() {
  while (position_ < text_.size() && IsBlank(text_[position_])) ++position_;
}

bool RecordReader::SkipRecordEnd() {
  if (position_ == text_.size()) return true;
  if (text_[position_] == ',') return false;
  position_ += text_[position_] == '\r' ? 2 : 1;
  ++line_;
  return true;
}

}  // namespace berth::internal
