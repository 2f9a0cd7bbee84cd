#include "tools/berth/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>
#include <set>

#include "berth/io.h"
#include "src/base/text.h"

namespace berth::cli {
namespace {

// printf for short numbers.
std::string Number(const char* format, double value) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

bool IsContinuationByte(char c) { return (static_cast<unsigned char>(c) & 0xc0u) == 0x80u; }

std::string PadTo(std::string_view text, std::size_t width, TextTable::Align align) {
  const std::size_t used = DisplayWidth(text);
  const std::string padding(width > used ? width - used : 0, ' ');
  return align == TextTable::Align::kLeft ? std::string(text) + padding
                                          : padding + std::string(text);
}

void TrimRight(std::string& text) {
  while (!text.empty() && text.back() == ' ') text.pop_back();
}

}  // namespace

bool IsTerminal(std::FILE* stream) { return isatty(fileno(stream)) == 1; }

bool HasEscapes(std::FILE* stream) {
  const char* const kind = std::getenv("TERM");
  return IsTerminal(stream) && (kind == nullptr || std::string_view(kind) != "dumb");
}

std::size_t TextWidth() {
  constexpr std::size_t kWidest = 100;
  winsize size{};
  if (!IsTerminal(stdout) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return kWidest;
  return std::clamp<std::size_t>(size.ws_col, 60, kWidest);
}

std::string Paint(Tone tone, std::string_view text) {
  const char* const no_color = std::getenv("NO_COLOR");
  const bool plain = no_color != nullptr && *no_color != '\0';
  if (plain || !HasEscapes(stdout)) return std::string(text);
  const char* code = "";
  switch (tone) {
    case Tone::kGood:
      code = "1;32";
      break;
    case Tone::kBad:
      code = "1;31";
      break;
    case Tone::kUnsure:
      code = "1;33";
      break;
    case Tone::kStrong:
      code = "1";
      break;
    case Tone::kFaint:
      code = "2";
      break;
  }
  std::string painted = "\x1b[";
  painted += code;
  painted += 'm';
  painted += text;
  painted += "\x1b[0m";
  return painted;
}

std::string OneLine(std::string_view text) {
  std::string printable;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n') {
      printable += "\\n";
    } else if (c == '\t') {
      printable += "\\t";
    } else if (byte < 0x20 || byte == 0x7f) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\x%02x", static_cast<unsigned>(byte));
      printable += escape;
    } else {
      printable += c;
    }
  }
  return printable;
}

std::string ShellWord(std::string_view text) {
  const bool plain = !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string_view("_./:=@%+,-").find(c) != std::string_view::npos;
  });
  if (plain) return std::string(text);
  std::string word = "'";
  for (const char c : text) {
    if (c == '\'') {
      word += "'\\''";
    } else {
      word += c;
    }
  }
  return word + "'";
}

std::size_t DisplayWidth(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return !IsContinuationByte(c); }));
}

std::string Elided(const std::string& line, std::size_t width) {
  if (DisplayWidth(line) <= width) return line;
  // Ends of names tell them apart more often than beginnings.
  const std::size_t back = width - 3 - (width - 3) / 3;
  std::size_t begin = 0;
  for (std::size_t shown = 0; begin < line.size() && shown < (width - 3) / 3; ++shown) {
    do ++begin;
    while (begin < line.size() && IsContinuationByte(line[begin]));
  }
  std::size_t end = line.size();
  for (std::size_t shown = 0; end > begin && shown < back; ++shown) {
    do --end;
    while (end > begin && IsContinuationByte(line[end]));
  }
  return line.substr(0, begin) + "..." + line.substr(end);
}

std::string Wrap(std::string_view text, std::size_t width, std::size_t indent) {
  std::string wrapped;
  std::size_t column = indent;
  while (!text.empty()) {
    const std::size_t space = text.find(' ');
    const std::string_view word = text.substr(0, space);
    text = space == std::string_view::npos ? std::string_view() : text.substr(space + 1);
    const std::size_t word_width = DisplayWidth(word);
    if (column > indent && column + 1 + word_width > width) {
      wrapped += '\n';
      wrapped.append(indent, ' ');
      column = indent;
    } else if (column > indent) {
      wrapped += ' ';
      ++column;
    }
    wrapped += word;
    column += word_width;
  }
  return wrapped;
}

std::string FormatCount(std::int64_t count) {
  std::string digits = std::to_string(count);
  const std::size_t first = count < 0 ? 1 : 0;
  for (std::size_t i = digits.size(); i > first + 3;) {
    i -= 3;
    digits.insert(i, ",");
  }
  return digits;
}

std::string FormatSeconds(double seconds) {
  if (seconds < 0.0995) {
    const double milliseconds = seconds * 1e3;
    return Number(milliseconds < 0.995 ? "%.2f ms" : "%.1f ms", milliseconds);
  }
  if (seconds < 119.5) return Number(seconds < 9.995 ? "%.2f s" : "%.1f s", seconds);
  const auto whole = static_cast<std::int64_t>(std::llround(seconds));
  return FormatCount(whole / 60) + " min " + std::to_string(whole % 60) + " s";
}

std::string FormatPercent(double fraction) {
  const double percent = fraction * 100;
  // A gap that exists never reads as none.
  if (percent > 0 && percent < 0.05) return "< 0.1 %";
  return Number(percent == 0 ? "%.0f %%" : "%.1f %%", percent);
}

std::string FormatPercentUp(double fraction) {
  // A fraction that was one of whole tenths before it became a double stays one.
  constexpr double kRounding = 4 * std::numeric_limits<double>::epsilon();
  const double tenths = std::ceil(fraction * 1000 * (1 - kRounding));
  return Number(tenths == 0 ? "%.0f %%" : "%.1f %%", tenths / 10);
}

std::string FormatPercentFinely(double fraction, bool down) {
  const double percent = fraction * 100;
  if (percent <= 0) return "0 %";
  constexpr int kMostDecimals = 9;
  const int decimals =
      std::clamp(2 - static_cast<int>(std::floor(std::log10(percent))), 0, kMostDecimals);
  const double scale = std::pow(10.0, decimals);
  const double shown = down ? std::floor(percent * scale) / scale : percent;
  char text[64];
  std::snprintf(text, sizeof text, "%.*f %%", decimals, shown);
  return text;
}

std::vector<std::string> FormatBytesApart(const std::vector<Bytes>& bytes) {
  std::vector<std::string> texts;
  std::map<std::string, Bytes> seen;
  bool apart = true;
  for (const Bytes value : bytes) {
    texts.push_back(FormatBytes(value));
    apart = apart && seen.emplace(texts.back(), value).first->second == value;
  }
  if (!apart) {
    std::transform(bytes.begin(), bytes.end(), texts.begin(),
                   [](Bytes value) { return Plural(value, "byte"); });
  }
  return texts;
}

std::string Plural(std::int64_t count, std::string_view noun) {
  std::string text = FormatCount(count) + " ";
  text += noun;
  if (count != 1) text += 's';
  return text;
}

double Gap(Bytes height, Bytes lower_bound) {
  if (height <= lower_bound || lower_bound <= 0) return 0;
  return static_cast<double>(height - lower_bound) / static_cast<double>(lower_bound);
}

std::string FormatExcess(Bytes bytes, Bytes needed) {
  if (bytes <= needed) return "as much as";
  return FormatBytes(bytes - needed) + " (" + FormatPercent(Gap(bytes, needed)) + ") more than";
}

void TextTable::ElideNames(std::vector<std::vector<std::string>>& rows) const {
  constexpr std::size_t kMore = 8;
  for (const auto& [column, width] : elided_) {
    std::set<std::string> names;  // All that need more room than `room` to be told apart.
    for (const auto& row : rows) {
      if (column < row.size()) names.insert(row[column]);
    }
    std::map<std::string, std::string> shown;
    for (std::size_t room = width; !names.empty(); room += kMore) {
      std::map<std::string, std::vector<std::string>> alike;
      for (const std::string& name : names) alike[Elided(name, room)].push_back(name);
      for (const auto& [text, same] : alike) {
        if (same.size() > 1) continue;
        shown[same.front()] = text;
        names.erase(same.front());
      }
    }
    for (auto& row : rows) {
      if (column < row.size()) row[column] = shown[row[column]];
    }
  }
}

std::string TextTable::ToString() const {
  if (elided_.empty() || !IsTerminal(stdout)) return ToString(rows_);
  auto rows = rows_;
  ElideNames(rows);
  return ToString(rows);
}

std::string TextTable::ToString(const std::vector<std::vector<std::string>>& rows) const {
  std::vector<std::size_t> widths(columns_.size(), 0);
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], DisplayWidth(row[i]));
    }
  }
  std::size_t total = 0;
  for (const std::size_t width : widths) total += width + 2;
  std::string text;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    std::string line;
    if (rows[r].empty()) line = std::string(total - 2, '-');
    for (std::size_t i = 0; i < rows[r].size(); ++i) {
      if (i > 0) line += "  ";
      line += PadTo(rows[r][i], widths[i], columns_[i]);
    }
    TrimRight(line);
    text += "  ";
    text += r == 0 || rows[r].empty() ? Paint(Tone::kFaint, line) : line;
    text += '\n';
  }
  return text;
}

std::string FactList::ToString() const {
  std::size_t width = 0;
  for (const auto& [name, value] : facts_) width = std::max(width, DisplayWidth(name));
  std::string text;
  for (const auto& [name, value] : facts_) {
    text += "  ";
    text += Paint(Tone::kFaint, PadTo(name, width, TextTable::Align::kLeft));
    text += "  ";
    text += value;
    text += '\n';
  }
  return text;
}

void ShowProgress(std::string_view line) {
  if (!HasEscapes(stderr)) return;
  const std::string text = line.empty() ? std::string() : "  " + std::string(line);
  std::fprintf(stderr, "\r%s\x1b[K", text.c_str());
  std::fflush(stderr);
}

ProgressLine::ProgressLine() {
  if (HasEscapes(stderr)) thread_ = std::thread([this] { Run(); });
}

ProgressLine::~ProgressLine() { Stop(); }

void ProgressLine::Update(const Progress& progress, bool costs) {
  const std::lock_guard lock(mutex_);
  progress_ = progress;
  costs_ = costs;
}

void ProgressLine::Stop() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void ProgressLine::Run() {
  constexpr auto kPatience = std::chrono::milliseconds(300);
  constexpr auto kInterval = std::chrono::milliseconds(100);
  std::unique_lock lock(mutex_);
  const auto stopped = [this] { return stop_; };
  if (wake_.wait_for(lock, kPatience, stopped)) return;
  do {
    const std::string line = "\r" + Line() + "\x1b[K";
    std::fwrite(line.data(), 1, line.size(), stderr);
    std::fflush(stderr);
  } while (!wake_.wait_for(lock, kInterval, stopped));
  std::fputs("\r\x1b[K", stderr);
  std::fflush(stderr);
}

std::string ProgressLine::Line() const {
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin_;
  const auto amount = [this](std::int64_t value) {
    return costs_ ? internal::Grouped(value) : FormatBytes(value);
  };
  std::string line = "  best ";
  line += progress_.best ? amount(*progress_.best) : "none yet";
  line += "   bound " + amount(progress_.bound);
  if (progress_.best) {
    line += "   gap " + FormatPercentUp(Gap(*progress_.best, progress_.bound));
  }
  line += "   " + Plural(progress_.nodes, "node");
  line += "   " + Number("%.1f s", elapsed.count());
  return line;
}

}  // namespace berth::cli
