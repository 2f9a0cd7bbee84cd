#include "tools/lab/train/table.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <system_error>

#include "tools/lab/train/read_number.h"

namespace berth::internal {
namespace {

constexpr std::array<std::string_view, 3> kVerdicts = {"yes", "no", "undecided"};

template <typename T>
void AppendNumber(T number, std::string& text) {
  std::array<char, 32> digits{};
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), number);
  if (error == std::errc()) text.append(digits.data(), end);
}

// Takes the next field of `line` off its front.
std::string_view NextField(std::string_view& line) {
  const std::size_t comma = line.find(',');
  const std::string_view field = line.substr(0, comma);
  line = comma == std::string_view::npos ? std::string_view() : line.substr(comma + 1);
  return field;
}

bool ReadRow(std::string_view line, TrainingRow& row) {
  const auto known = [&](std::string_view word) {
    const auto at = std::find(kVerdicts.begin(), kVerdicts.end(), word);
    row.solvable = static_cast<Solvable>(at - kVerdicts.begin());
    return at != kVerdicts.end();
  };
  bool good = ReadNumber(NextField(line), row.input) && ReadNumber(NextField(line), row.run) &&
              ReadNumber(NextField(line), row.backtrack) && known(NextField(line)) &&
              ReadNumber(NextField(line), row.score) && std::isfinite(row.score);
  for (float& feature : row.features) {
    good = good && ReadNumber(NextField(line), feature) && std::isfinite(feature);
  }
  return good && line.empty();
}

}  // namespace

std::string TableHeader() {
  std::string header = "input,run,backtrack,solvable,score";
  for (std::size_t f = 0; f < kNumFeatures; ++f) {
    header += ',';
    header += ToString(static_cast<Feature>(f));
  }
  return header + '\n';
}

void AppendRow(const TrainingRow& row, std::string& text) {
  for (const std::int64_t number : {row.input, row.run, row.backtrack}) {
    AppendNumber(number, text);
    text += ',';
  }
  text += kVerdicts[static_cast<std::size_t>(row.solvable)];
  text += ',';
  AppendNumber(row.score, text);
  for (const float feature : row.features) {
    text += ',';
    AppendNumber(feature, text);
  }
  text += '\n';
}

Result<std::vector<TrainingRow>> ReadTable(std::string_view text, std::string_view name) {
  std::vector<TrainingRow> rows;
  const auto fail = [&](std::size_t line, const std::string& what) {
    return Fail(ErrorCode::kParse, std::string(name) + ":" + std::to_string(line) + ": " + what);
  };
  std::size_t number = 0;
  while (!text.empty()) {
    ++number;
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) return fail(number, "the line has no end");
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end + 1);
    if (number == 1) {
      if (std::string(line) + '\n' != TableHeader()) {
        return fail(1, "not the header of training data, which is " +
                           TableHeader().substr(0, TableHeader().size() - 1));
      }
      continue;
    }
    if (!ReadRow(line, rows.emplace_back())) {
      return fail(number, "not a row of training data: \"" + std::string(line) + "\"");
    }
  }
  if (number == 0) return fail(1, "empty");
  return rows;
}

}  // namespace berth::internal
