#include "io/source.h"

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace berth::internal {
namespace {

std::string_view WithoutByteOrderMark(std::string_view text) {
  constexpr std::string_view kMark = "\xef\xbb\xbf";
  if (text.substr(0, kMark.size()) == kMark) text.remove_prefix(kMark.size());
  return text;
}

}  // namespace

Source::Source(std::string_view text, std::string_view name)
    : text_(WithoutByteOrderMark(text)), name_(Printable(name)) {}

Result<void> Source::CheckEncoding() const {
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

tl::unexpected<Error> Source::FailAt(std::size_t position, std::string_view sentence,
                                     ErrorCode code) const {
  const std::string_view before = text_.substr(0, position);
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const std::string_view in_line = before.substr(before.rfind('\n') + 1);
  const auto column =
      std::count_if(in_line.begin(), in_line.end(), [](char c) { return (c & 0xc0) != 0x80; }) + 1;
  return Fail(code, name_ + ":" + std::to_string(line) + ":" + std::to_string(column) + ": " +
                        std::string(sentence));
}

tl::unexpected<Error> Source::FailAsWhole(std::string_view sentence, ErrorCode code) const {
  return Fail(code, name_ + ": " + std::string(sentence));
}

}  // namespace berth::internal
