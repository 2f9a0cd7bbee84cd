// base/line.h -- texts for people that programs read: line by line, each from left to right.
//
//   BERTH_TRY(ForEachLine(source, [&](Line line) -> Result<void> {
//     if (!line.Skip("MODEL ")) return {};
//     ...
//   }));
#ifndef BERTH_BASE_LINE_H_
#define BERTH_BASE_LINE_H_

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>

#include "base/source.h"
#include "base/text.h"
#include "base/try.h"
#include "berth/problem.h"
#include "berth/result.h"

namespace berth::internal {

// One line of a source, and how far it has been read. Errors name the place that was reached.
class Line {
 public:
  Line(const Source& source, std::string_view text) : source_(source), rest_(text) {}

  [[nodiscard]] std::string_view rest() const { return rest_; }
  void SkipBlanks() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t"), rest_.size())); }
  bool Skip(std::string_view text) {
    if (!rest_.starts_with(text)) return false;
    rest_.remove_prefix(text.size());
    return true;
  }
  Result<void> Expect(std::string_view text) {
    if (!Skip(text)) return Fail("expected " + Quoted(text));
    return {};
  }
  // From `least` to `most`, in decimal, or in hexadecimal after 0x.
  Result<std::int64_t> Number(std::int64_t least = 0, std::int64_t most = kMaxBytes) {
    const bool hexadecimal = rest_.starts_with("0x");
    const char* const begin = rest_.data() + (hexadecimal ? 2 : 0);
    std::int64_t value = 0;
    const auto [end, error] =
        std::from_chars(begin, rest_.data() + rest_.size(), value, hexadecimal ? 16 : 10);
    if (error != std::errc() || value < least || value > most) {
      return Fail("expected a number from " + std::to_string(least) + " to " +
                  (most == kMaxBytes ? "2^60" : std::to_string(most)));
    }
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return value;
  }
  // Up to the next blank or the end of the line.
  std::string_view Word() {
    const std::string_view word = rest_.substr(0, rest_.find_first_of(" \t"));
    rest_.remove_prefix(word.size());
    return word;
  }
  // Up to `stop`, which is passed over.
  Result<std::string_view> Until(std::string_view stop) {
    const std::size_t at = rest_.find(stop);
    if (at == std::string_view::npos) return Fail("expected " + Quoted(stop));
    const std::string_view found = rest_.substr(0, at);
    rest_.remove_prefix(at + stop.size());
    return found;
  }
  // Fails unless only blanks are left.
  Result<void> ExpectEnd() {
    SkipBlanks();
    if (!rest_.empty()) return Fail("expected the end of the line, not " + Quoted(rest_));
    return {};
  }
  [[nodiscard]] tl::unexpected<Error> Fail(std::string_view sentence) const {
    return source_.FailAt(static_cast<std::size_t>(rest_.data() - source_.text().data()), sentence);
  }

 private:
  const Source& source_;
  std::string_view rest_;
};

// Calls `use(Line)` for each line, without its end, until it fails.
template <typename Use>
Result<void> ForEachLine(const Source& source, const Use& use) {
  std::string_view rest = source.text();
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view text = rest.substr(0, end);
    if (text.ends_with('\r')) text.remove_suffix(1);
    BERTH_TRY(use(Line(source, text)));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return {};
}

}  // namespace berth::internal

#endif  // BERTH_BASE_LINE_H_
