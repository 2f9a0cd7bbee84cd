// testing/lines.h -- a text as its lines, to change some of them.
#ifndef BERTH_TESTING_LINES_H_
#define BERTH_TESTING_LINES_H_

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace berth::internal {

using Lines = std::vector<std::string>;

// Without their ends; the last line may lack one.
inline Lines Split(std::string_view text) {
  Lines lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

inline std::string Join(const Lines& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

}  // namespace berth::internal

#endif  // BERTH_TESTING_LINES_H_
