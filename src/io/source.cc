#include "io/source.h"

#include <algorithm>
#include <utility>

namespace berth::internal {
namespace {

constexpr std::size_t kLongestQuote = 60;

unsigned char Byte(std::string_view text, std::size_t position) {
  return static_cast<unsigned char>(text[position]);
}

// Control characters of ASCII, and those that UTF-8 writes as C2 80 to C2 9F.
bool IsControl(std::string_view character) {
  const unsigned char first = Byte(character, 0);
  return first < 0x20 || first == 0x7f ||
         (character.size() == 2 && first == 0xc2 && Byte(character, 1) < 0xa0);
}

void AppendEscaped(std::string& out, std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const unsigned char byte = Byte(bytes, i);
    switch (byte) {
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      default:
        out += "\\x";
        out += kDigits[byte >> 4];
        out += kDigits[byte & 15];
    }
  }
}

std::string Escape(std::string_view text, std::string_view escaped) {
  std::string out;
  while (!text.empty()) {
    const std::size_t length = Utf8Length(text);
    const std::string_view character = text.substr(0, std::max<std::size_t>(length, 1));
    if (length == 0 || IsControl(character)) {
      AppendEscaped(out, character);
    } else {
      if (escaped.find(character) != std::string_view::npos) out += '\\';
      out += character;
    }
    text.remove_prefix(character.size());
  }
  return out;
}

std::string_view WithoutByteOrderMark(std::string_view text) {
  constexpr std::string_view kMark = "\xef\xbb\xbf";
  if (text.substr(0, kMark.size()) == kMark) text.remove_prefix(kMark.size());
  return text;
}

}  // namespace

std::size_t Utf8Length(std::string_view text) {
  if (text.empty()) return 0;
  const unsigned char first = Byte(text, 0);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xc2 && first < 0xe0    ? 2
                             : first >= 0xe0 && first < 0xf0  ? 3
                             : first >= 0xf0 && first <= 0xf4 ? 4
                                                              : 0;
  if (length == 0 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((Byte(text, i) & 0xc0) != 0x80) return 0;
  }
  const unsigned char second = Byte(text, 1);
  const bool overlong = (first == 0xe0 && second < 0xa0) || (first == 0xf0 && second < 0x90);
  const bool surrogate = first == 0xed && second >= 0xa0;
  const bool too_large = first == 0xf4 && second >= 0x90;
  return overlong || surrogate || too_large ? 0 : length;
}

bool IsUtf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = Utf8Length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string Printable(std::string_view text) { return Escape(text, ""); }

std::string Quoted(std::string_view text) {
  std::string_view shown = text.substr(0, kLongestQuote);
  if (shown.size() < text.size()) {
    // Not within a character.
    for (int i = 0; i < 3 && (Byte(text, shown.size()) & 0xc0) == 0x80; ++i) shown.remove_suffix(1);
  }
  return "\"" + Escape(shown, "\"\\") + (shown.size() < text.size() ? "...\"" : "\"");
}

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
