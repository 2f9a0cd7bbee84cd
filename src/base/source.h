// base/source.h -- the text of a file, the lines and columns in it, and how errors quote it.
//
// Files come from strangers: an error is one line that is safe to show on a terminal, whatever
// bytes the file or its name contains.
#ifndef BERTH_BASE_SOURCE_H_
#define BERTH_BASE_SOURCE_H_

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "berth/result.h"

namespace berth::internal {

// A named text without the byte order mark that it may begin with.
class Source {
 public:
  Source(std::string_view text, std::string_view name);

  [[nodiscard]] std::string_view text() const { return text_; }
  [[nodiscard]] std::string_view name() const { return name_; }

  // Fails for a file in UTF-16.
  [[nodiscard]] Result<void> CheckEncoding() const;

  // "NAME:LINE:COLUMN: sentence" for the byte `position`, both counted from 1, columns in
  // characters. The error's subject is the line. Cost: O(position).
  [[nodiscard]] tl::unexpected<Error> FailAt(std::size_t position, std::string_view sentence,
                                             ErrorCode code = ErrorCode::kParse) const;
  // "NAME: sentence".
  [[nodiscard]] tl::unexpected<Error> FailAsWhole(std::string_view sentence,
                                                  ErrorCode code = ErrorCode::kParse) const;
  // "NAME: " and the message of `error`, which keeps its code and subject.
  [[nodiscard]] tl::unexpected<Error> FailWith(Error error) const;

 private:
  std::string_view text_;
  std::string name_;  // Printable.
};

// Implementation.

inline Source::Source(std::string_view text, std::string_view name)
    : text_(WithoutByteOrderMark(text)), name_(Printable(name)) {}

inline Result<void> Source::CheckEncoding() const {
  // Without a mark, UTF-16 shows in every other byte of its first characters being zero.
  const auto is_ascii = [](char c) { return c >= ' ' && c <= '~'; };
  const auto at = [this](std::size_t i) { return i < text_.size() ? text_[i] : '\n'; };
  const bool little_endian = is_ascii(at(0)) && at(1) == 0 && is_ascii(at(2)) && at(3) == 0;
  const bool big_endian = at(0) == 0 && is_ascii(at(1)) && at(2) == 0 && is_ascii(at(3));
  const std::string_view start = text_.substr(0, 2);
  if (start == "\xff\xfe" || start == "\xfe\xff" || little_endian || big_endian) {
    return FailAt(0, "the file is in UTF-16; save it as UTF-8");
  }
  return {};
}

inline tl::unexpected<Error> Source::FailAt(std::size_t position, std::string_view sentence,
                                            ErrorCode code) const {
  const std::string_view before = text_.substr(0, position);
  const auto line = static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n')) + 1;
  const std::string_view in_line = before.substr(before.rfind('\n') + 1);
  const auto column =
      std::count_if(in_line.begin(), in_line.end(), [](char c) { return (c & 0xc0) != 0x80; }) + 1;
  return Fail(code,
              name_ + ":" + std::to_string(line) + ":" + std::to_string(column) + ": " +
                  std::string(sentence),
              Subject::OfLine(line));
}

inline tl::unexpected<Error> Source::FailAsWhole(std::string_view sentence, ErrorCode code) const {
  return Fail(code, name_ + ": " + std::string(sentence));
}

inline tl::unexpected<Error> Source::FailWith(Error error) const {
  error.message = name_ + ": " + error.message;
  return tl::unexpected(std::move(error));
}

}  // namespace berth::internal

#endif  // BERTH_BASE_SOURCE_H_
