// base/text.h -- text from strangers made printable, on one line, whatever bytes it contains.
#ifndef BERTH_BASE_TEXT_H_
#define BERTH_BASE_TEXT_H_

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace berth::internal {

// The length of the UTF-8 sequence that `text` begins with; 0 where it begins with none. Overlong
// forms, surrogates and everything past U+10FFFF are none.
[[nodiscard]] std::size_t Utf8Length(std::string_view text);
[[nodiscard]] bool IsUtf8(std::string_view text);

// `text` without the byte order mark of UTF-8 that editors put before it.
[[nodiscard]] std::string_view WithoutByteOrderMark(std::string_view text);

// `text`, or as many of its first bytes as are whole characters and at most `most`.
[[nodiscard]] std::string_view CutTo(std::string_view text, std::size_t most);

// `text` with what is not printable escaped.
[[nodiscard]] std::string Printable(std::string_view text);
// `text` in double quotes, escaped where it is not printable, and cut after some 60 bytes.
[[nodiscard]] std::string Quoted(std::string_view text);

// 1,234,567.
[[nodiscard]] std::string Grouped(std::int64_t number);
// `number` in decimal digits, at the end of `out`: nothing else is allocated.
void AppendNumber(std::string& out, std::int64_t number);

// Implementation.

inline constexpr std::size_t kLongestQuote = 60;

inline unsigned char Byte(std::string_view text, std::size_t position) {
  return static_cast<unsigned char>(text[position]);
}

// Control characters of ASCII, and those that UTF-8 writes as C2 80 to C2 9F.
inline bool IsControl(std::string_view character) {
  const unsigned char first = Byte(character, 0);
  return first < 0x20 || first == 0x7f ||
         (character.size() == 2 && first == 0xc2 && Byte(character, 1) < 0xa0);
}

inline void AppendEscaped(std::string& out, std::string_view bytes) {
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

inline std::string Escape(std::string_view text, std::string_view escaped) {
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

inline std::size_t Utf8Length(std::string_view text) {
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

inline bool IsUtf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = Utf8Length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

inline std::string_view WithoutByteOrderMark(std::string_view text) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  return text;
}

inline std::string_view CutTo(std::string_view text, std::size_t most) {
  if (text.size() <= most) return text;
  // Bytes that are not UTF-8 have no characters.
  for (int i = 0; i < 3 && most > 0 && (Byte(text, most) & 0xc0) == 0x80; ++i) --most;
  return text.substr(0, most);
}

inline std::string Printable(std::string_view text) { return Escape(text, ""); }

inline std::string Quoted(std::string_view text) {
  const std::string_view shown = CutTo(text, kLongestQuote);
  return "\"" + Escape(shown, "\"\\") + (shown.size() < text.size() ? "...\"" : "\"");
}

inline std::string Grouped(std::int64_t number) {
  std::string text = std::to_string(number);
  const std::size_t digits_from = number < 0 ? 1 : 0;
  for (std::size_t i = text.size(); i > digits_from + 3;) {
    i -= 3;
    text.insert(i, ",");
  }
  return text;
}

inline void AppendNumber(std::string& out, std::int64_t number) {
  constexpr std::size_t kMostDigits = 20;  // With the sign.
  char digits[kMostDigits];
  const auto result = std::to_chars(digits, digits + kMostDigits, number);
  out.append(digits, static_cast<std::size_t>(result.ptr - digits));
}

}  // namespace berth::internal

#endif  // BERTH_BASE_TEXT_H_
