#include "report/text.h"

#include <vector>

namespace berth::internal {
namespace {

constexpr char32_t kReplacement = 0xfffd;

// Takes the first code point off `text`, which is not empty; kReplacement for a byte that begins no
// well-formed UTF-8 sequence.
char32_t TakeCodePoint(std::string_view& text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  std::size_t length = 1;
  char32_t code_point = lead;
  if (lead >= 0xf0 && lead <= 0xf4) {
    length = 4;
    code_point = lead & 0x07u;
  } else if (lead >= 0xe0) {
    length = 3;
    code_point = lead & 0x0fu;
  } else if (lead >= 0xc2) {
    length = 2;
    code_point = lead & 0x1fu;
  } else if (lead >= 0x80) {
    code_point = kReplacement;
  }
  bool well_formed = lead <= 0xf4 && length <= text.size();
  for (std::size_t i = 1; i < length && well_formed; ++i) {
    well_formed = (byte(i) & 0xc0u) == 0x80u;
    code_point = (code_point << 6) | (byte(i) & 0x3fu);
  }
  const bool overlong =
      (length == 3 && code_point < 0x800) || (length == 4 && code_point < 0x10000);
  const bool surrogate = code_point >= 0xd800 && code_point < 0xe000;
  if (!well_formed || overlong || surrogate || code_point > 0x10ffff) {
    text.remove_prefix(1);
    return kReplacement;
  }
  text.remove_prefix(length);
  return code_point;
}

void AppendUtf8(char32_t code_point, std::string& text) {
  const auto append = [&](char32_t bits) { text += static_cast<char>(bits); };
  if (code_point < 0x80) {
    append(code_point);
  } else if (code_point < 0x800) {
    append(0xc0 | (code_point >> 6));
    append(0x80 | (code_point & 0x3f));
  } else if (code_point < 0x10000) {
    append(0xe0 | (code_point >> 12));
    append(0x80 | ((code_point >> 6) & 0x3f));
    append(0x80 | (code_point & 0x3f));
  } else {
    append(0xf0 | (code_point >> 18));
    append(0x80 | ((code_point >> 12) & 0x3f));
    append(0x80 | ((code_point >> 6) & 0x3f));
    append(0x80 | (code_point & 0x3f));
  }
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
    const char32_t code_point = MakeVisible(TakeCodePoint(text));
    switch (code_point) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\'':
        escaped += "&#39;";
        break;
      default:
        AppendUtf8(code_point, escaped);
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

std::string Grouped(std::int64_t number) {
  std::string text = std::to_string(number);
  const std::size_t digits_from = number < 0 ? 1 : 0;
  for (std::size_t i = text.size(); i > digits_from + 3;) {
    i -= 3;
    text.insert(i, ",");
  }
  return text;
}

}  // namespace berth::internal
