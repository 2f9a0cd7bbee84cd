#include "report/text.h"

#include <algorithm>
#include <vector>

#include "base/text.h"

namespace berth::internal::report {
namespace {

constexpr char32_t kReplacement = 0xfffd;

// Takes the first code point off `text`, which is not empty; kReplacement for a byte that begins no
// well-formed UTF-8 sequence.
char32_t TakeCodePoint(std::string_view& text) {
  const std::size_t length = Utf8Length(text);
  char32_t code_point = kReplacement;
  if (length > 0) {
    code_point = Byte(text, 0) & (length == 1 ? 0x7fu : 0x7fu >> length);
    for (std::size_t i = 1; i < length; ++i) {
      code_point = (code_point << 6) | (Byte(text, i) & 0x3fu);
    }
  }
  text.remove_prefix(std::max<std::size_t>(length, 1));
  return code_point;
}

char32_t MakeVisible(char32_t code_point) {
  if (code_point < 0x20) return 0x2400 + code_point;
  if (code_point == 0x7f) return 0x2421;
  if (code_point >= 0x80 && code_point < 0xa0) return kReplacement;
  if ((code_point & 0xfffe) == 0xfffe) return kReplacement;  // Noncharacters; XML forbids two.
  // Marks that reverse the text around them would make a picture lie.
  if (code_point >= 0x202a && code_point <= 0x202e) return kReplacement;
  if (code_point >= 0x2066 && code_point <= 0x2069) return kReplacement;
  return code_point;
}

}  // namespace

std::string EscapeXml(std::string_view text) {
  std::string escaped;
  while (!text.empty()) {
    const std::string_view before = text;
    const char32_t code_point = TakeCodePoint(text);
    const char32_t visible = MakeVisible(code_point);
    if (visible == '&') {
      escaped += "&amp;";
    } else if (visible == '<') {
      escaped += "&lt;";
    } else if (visible == '>') {
      escaped += "&gt;";
    } else if (visible == '"') {
      escaped += "&quot;";
    } else if (visible == '\'') {
      escaped += "&#39;";
    } else if (visible == kReplacement) {
      escaped += "\ufffd";
    } else if (visible != code_point) {  // A control picture, U+2400 to U+243F.
      escaped += {'\xe2', '\x90', static_cast<char>(0x80 | (visible & 0x3f))};
    } else {
      escaped += before.substr(0, before.size() - text.size());
    }
  }
  return escaped;
}

std::string Truncate(std::string_view text, std::size_t most) {
  std::vector<std::size_t> starts;  // Of each code point.
  for (std::string_view rest = text; !rest.empty(); TakeCodePoint(rest)) {
    starts.push_back(text.size() - rest.size());
  }
  if (starts.size() <= most) return std::string(text);
  const std::size_t tail = (most - 1) / 2;
  const std::size_t head = most - 1 - tail;
  std::string truncated(text.substr(0, starts[head]));
  truncated += "\u2026";
  if (tail > 0) truncated += text.substr(starts[starts.size() - tail]);
  return truncated;
}

std::int64_t WidthOf(std::string_view text) {
  std::int64_t width = 0;
  while (!text.empty()) {
    const char32_t code_point = TakeCodePoint(text);
    if (code_point >= 0x1100) {
      width += 100;  // Chinese, Japanese, Korean and symbols fill a square.
    } else if (code_point == 'm' || code_point == 'w' || code_point == 'M' || code_point == 'W') {
      width += 90;
    } else if ((code_point >= 'A' && code_point <= 'Z') || code_point >= 0x80 ||
               code_point == '_') {
      width += 68;
    } else if (std::string_view(" .,:;'|!ijl/()[]").find(static_cast<char>(code_point)) !=
               std::string_view::npos) {
      width += 34;
    } else {
      width += 58;
    }
  }
  return width;
}

std::string Tenths(std::int64_t tenths) {
  const std::int64_t whole = tenths / 10;
  const std::int64_t rest = tenths % 10;
  std::string text = tenths < 0 && whole == 0 ? "-0" : std::to_string(whole);
  if (rest != 0) text += "." + std::to_string(rest < 0 ? -rest : rest);
  return text;
}

}  // namespace berth::internal::report
