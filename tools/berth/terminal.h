// tools/berth/terminal.h -- how the command talks to people.
//
// Colour and progress appear on a terminal only; what goes into a pipe or a file is plain text. No
// text that came from a file reaches a terminal before OneLine() has made it harmless.
#ifndef BERTH_TOOLS_BERTH_TERMINAL_H_
#define BERTH_TOOLS_BERTH_TERMINAL_H_

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "berth/bytes.h"
#include "berth/place.h"
#include "berth/problem.h"

namespace berth::cli {

[[nodiscard]] bool IsTerminal(std::FILE* stream);
// A terminal that understands escape sequences: not one with TERM=dumb.
[[nodiscard]] bool HasEscapes(std::FILE* stream);
// Columns to wrap text at: those of the terminal, at most 100; 100 where there is no terminal.
[[nodiscard]] std::size_t TextWidth();

enum class Tone { kGood, kBad, kUnsure, kStrong, kFaint };
// `text`, coloured if standard output is a terminal that knows colours and NO_COLOR is not set
// (no-color.org).
[[nodiscard]] std::string Paint(Tone tone, std::string_view text);

// `text` on one line: control characters as \n, \t or \xNN.
[[nodiscard]] std::string OneLine(std::string_view text);
// `text` as one word for a POSIX shell, quoted where it has to be.
[[nodiscard]] std::string ShellWord(std::string_view text);
// The columns that `text` (UTF-8) takes up, one for each code point.
[[nodiscard]] std::size_t DisplayWidth(std::string_view text);
// `line` in at most `width` columns, its middle left out where it is longer.
[[nodiscard]] std::string Elided(const std::string& line, std::size_t width);
// `text` cut into lines of at most `width` columns, all but the first indented by `indent`.
[[nodiscard]] std::string Wrap(std::string_view text, std::size_t width, std::size_t indent);

[[nodiscard]] std::string FormatCount(std::int64_t count);  // "1,048,576"
[[nodiscard]] std::string FormatSeconds(double seconds);    // "0.38 ms", "1.25 s", "2 min 5 s"
[[nodiscard]] std::string FormatPercent(double fraction);   // 0.0312 as "3.1 %"
// The same rounded up: for a bound, which rounding must not make untrue.
[[nodiscard]] std::string FormatPercentUp(double fraction);
// With three digits that count: 0.000288 as "0.0288 %"; `down`: not rounded but cut off, as of a bound.
[[nodiscard]] std::string FormatPercentFinely(double fraction, bool down = false);
using berth::FormatBytesExactly;
// As FormatBytes(); where that would make two different ones look alike, all of them in bytes.
[[nodiscard]] std::vector<std::string> FormatBytesApart(const std::vector<Bytes>& bytes);
[[nodiscard]] std::string Plural(std::int64_t count, std::string_view noun);  // "1 buffer"

// How far `height` lies above `lower_bound`, as a fraction of the bound: 0 is optimal.
[[nodiscard]] double Gap(Bytes height, Bytes lower_bound);
// "212 MiB (3.2 %) more than", or "as much as" where `bytes` are no more than `needed`.
[[nodiscard]] std::string FormatExcess(Bytes bytes, Bytes needed);

// Rows of cells, printed with aligned columns. The first row is the header.
class TextTable {
 public:
  enum class Align { kLeft, kRight };
  explicit TextTable(std::vector<Align> columns) : columns_(std::move(columns)) {}
  void AddRow(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  void AddRule() { rows_.emplace_back(); }
  // A column of names: on a terminal their middles are left out, so that they take at most `width`
  // columns, or as many more as two different names need to look different.
  void Elide(std::size_t column, std::size_t width) { elided_.emplace_back(column, width); }
  // Each line indented by two, the header faint, a rule as a line of dashes.
  [[nodiscard]] std::string ToString() const;
  // Of `rows`, leaves the middle of long names out, as on a terminal.
  void ElideNames(std::vector<std::vector<std::string>>& rows) const;

 private:
  [[nodiscard]] std::string ToString(const std::vector<std::vector<std::string>>& rows) const;

  std::vector<Align> columns_;
  std::vector<std::pair<std::size_t, std::size_t>> elided_;  // Columns, and their widths.
  std::vector<std::vector<std::string>> rows_;
};

// "  name         value" for each of a few facts.
class FactList {
 public:
  void Add(std::string name, std::string value) {
    facts_.emplace_back(std::move(name), std::move(value));
  }
  [[nodiscard]] std::string ToString() const;

 private:
  std::vector<std::pair<std::string, std::string>> facts_;
};

// "table 3 of 11, round 2 of 5" on standard error, in place of the line before; empty: removes it.
// Nothing where standard error is not a terminal that can rewrite its line.
void ShowProgress(std::string_view line);

// One line on standard error that tells how far a search is, rewritten while it runs and removed at
// the end. Nothing at all where standard error is not a terminal. Searches that end at once leave
// no trace.
class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  // In bytes, unless they are costs.
  void Update(const Progress& progress, bool costs = false);
  // Ends the line. Nothing is drawn from then on.
  void Stop();

 private:
  void Run();
  [[nodiscard]] std::string Line() const;

  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::mutex mutex_;
  std::condition_variable wake_;
  Progress progress_;
  bool costs_ = false;
  bool stop_ = false;
  std::thread thread_;  // Last: it uses all of the above.
};

}  // namespace berth::cli

#endif  // BERTH_TOOLS_BERTH_TERMINAL_H_
