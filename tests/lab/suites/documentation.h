// tests/lab/suites/documentation.h -- kept results, and the tables of the documentation that say the same.
#ifndef BERTH_TESTS_LAB_SUITES_DOCUMENTATION_H_
#define BERTH_TESTS_LAB_SUITES_DOCUMENTATION_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "base/csv.h"
#include "base/source.h"

namespace berth::lab {

using Row = std::map<std::string, std::string>;  // By column.

inline std::string ReadText(const std::string& path) {
  std::ifstream file(BERTH_SOURCE_DIR "/" + path);
  EXPECT_TRUE(file.good()) << path;
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

inline std::vector<std::string> Split(const std::string& line, char at) {
  std::vector<std::string> parts;
  std::istringstream stream(line + at);
  for (std::string part; std::getline(stream, part, at);) parts.push_back(part);
  return parts;
}

inline std::vector<Row> Results(const std::string& name) {
  const std::string text = ReadText("bench/results/" + name);
  const internal::Source source(text, name);
  internal::CsvReader reader(source);
  std::vector<std::string> columns;
  std::vector<Row> rows;
  for (auto next = reader.Next(); next && *next; next = reader.Next()) {
    const auto& fields = reader.fields();
    if (columns.empty()) {
      for (const auto& field : fields) columns.emplace_back(field.value);
      continue;
    }
    EXPECT_EQ(fields.size(), columns.size()) << name << ":" << reader.line();
    Row& row = rows.emplace_back();
    for (std::size_t c = 0; c < columns.size() && c < fields.size(); ++c)
      row[columns[c]] = fields[c].value;
  }
  EXPECT_EQ(reader.end(), text.find_last_not_of("\r\n") + 1) << name << ": not read to its end";
  EXPECT_FALSE(rows.empty()) << name;
  return rows;
}

inline double Number(const Row& row, const std::string& column) {
  const auto found = row.find(column);
  EXPECT_NE(found, row.end()) << column;
  return found == row.end() || found->second.empty() ? NAN : std::stod(found->second);
}

// The rows of the tables of one section, or of what follows some words of it, by their first cells, each with its
// other cells, without bold letters. Of rows of the same name the first.
class Tables {
 public:
  Tables(const std::string& document, const std::string& heading, const std::string& after = "") {
    std::string text = ReadText("docs/" + document);
    std::erase(text, '*');
    const std::size_t begin = text.find("\n" + heading + "\n");
    EXPECT_NE(begin, std::string::npos) << heading;
    if (begin == std::string::npos) return;
    section_ = text.substr(begin, text.find("\n#", begin + 1) - begin);
    const std::size_t part = section_.find(after);
    EXPECT_NE(part, std::string::npos) << after;
    if (part == std::string::npos) return;
    section_.erase(0, part);
    std::istringstream lines(section_);
    for (std::string line; std::getline(lines, line);) {
      if (line.empty() || line[0] != '|') continue;
      std::vector<std::string> cells = Split(line.substr(1), '|');
      for (std::string& cell : cells) {
        const std::size_t first = cell.find_first_not_of(' ');
        cell = first == std::string::npos
                   ? ""
                   : cell.substr(first, cell.find_last_not_of(' ') - first + 1);
      }
      const std::string name = cells.front();
      cells.erase(cells.begin());
      if (!cells.empty() && cells.back().empty()) cells.pop_back();
      rows_.try_emplace(name, cells);
    }
  }

  [[nodiscard]] const std::string& section() const { return section_; }

  // The text has these words, wherever its lines end.
  void ExpectWords(const std::string& words) const {
    std::string text = section_;
    std::replace(text.begin(), text.end(), '\n', ' ');
    EXPECT_NE(text.find(words), std::string::npos) << words;
  }

  // Each cell is the number, rounded as it is printed, perhaps with a unit; NAN: empty; infinite: words, as there
  // was no plan.
  void Expect(const std::string& name, const std::vector<double>& numbers) const {
    SCOPED_TRACE(name);
    const auto found = rows_.find(name);
    ASSERT_NE(found, rows_.end());
    ASSERT_GE(found->second.size(), numbers.size());
    for (std::size_t c = 0; c < numbers.size(); ++c) {
      std::string cell = found->second[c];
      std::erase(cell, ',');
      if (std::isnan(numbers[c])) {
        EXPECT_EQ(cell, "") << c;
        continue;
      }
      if (std::isinf(numbers[c])) {
        EXPECT_TRUE(cell == "no plan" || cell.front() == '>') << c << ": " << cell;
        continue;
      }
      cell = cell.substr(0, cell.find(' '));
      ASSERT_FALSE(cell.empty()) << c;
      const std::size_t point = cell.find('.');
      const std::size_t decimals = point == std::string::npos ? 0 : cell.size() - point - 1;
      const double half = 0.5 * std::pow(10, -static_cast<double>(decimals));
      EXPECT_NEAR(std::stod(cell), numbers[c], half * 1.001) << c;
    }
  }

 private:
  std::string section_;
  std::map<std::string, std::vector<std::string>> rows_;
};

constexpr const char* kPapers = "howto/reproduce-the-papers.md";

// Of an odd number the middle one.
inline double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

}  // namespace berth::lab

#endif  // BERTH_TESTS_LAB_SUITES_DOCUMENTATION_H_
