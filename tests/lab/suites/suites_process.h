// Runs berth-lab suite, and reads the tables that it keeps.
#ifndef BERTH_TESTS_LAB_SUITES_SUITES_PROCESS_H_
#define BERTH_TESTS_LAB_SUITES_SUITES_PROCESS_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/lab/lab_process.h"

namespace berth::lab {

using Fields = std::map<std::string, std::string>;  // By column.

class SuitesTest : public cli::CommandTest {
 protected:
  [[nodiscard]] std::set<std::string> Files() const {
    std::set<std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator(Path("out"))) {
      files.insert(entry.path().filename().string());
    }
    return files;
  }
  // The rows of a CSV file without quotes, the header first.
  [[nodiscard]] std::vector<std::vector<std::string>> Csv(const std::string& name) const {
    std::vector<std::vector<std::string>> rows;
    std::istringstream lines(Read(Path("out/" + name)));
    for (std::string line; std::getline(lines, line);) {
      std::istringstream fields(line + ",");
      rows.emplace_back();
      for (std::string field; std::getline(fields, field, ',');) rows.back().push_back(field);
      EXPECT_EQ(rows.back().size(), rows.front().size()) << line;
    }
    return rows;
  }
  // The one row of a CSV file that has all fields of `key` holds all fields of `expected`.
  void ExpectRow(const std::string& name, const Fields& key, const Fields& expected) const {
    SCOPED_TRACE(name);
    const auto rows = Csv(name);
    const auto has = [&](const std::vector<std::string>& row, const std::string& column,
                         const std::string& value) {
      const auto at = std::find(rows[0].begin(), rows[0].end(), column);
      return at != rows[0].end() && row[static_cast<std::size_t>(at - rows[0].begin())] == value;
    };
    int found = 0;
    for (std::size_t r = 1; r < rows.size(); ++r) {
      if (!std::all_of(key.begin(), key.end(),
                       [&](const auto& field) { return has(rows[r], field.first, field.second); }))
        continue;
      ++found;
      for (const auto& [column, value] : expected) {
        EXPECT_TRUE(has(rows[r], column, value))
            << column << " is not " << value << " in " << testing::PrintToString(rows[r]);
      }
    }
    EXPECT_EQ(found, 1) << testing::PrintToString(key);
  }
  [[nodiscard]] ProcessResult Run(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"suite"});
    arguments.insert(arguments.end(), {"--quick", "-o", Path("out")});
    return Lab(arguments);
  }
};

// A folder of published inputs; empty where BERTH_DATA names none.
inline std::string PublishedData(const std::string& folder) {
  const char* const data = std::getenv("BERTH_DATA");
  return data == nullptr ? std::string() : std::string(data) + "/" + folder;
}

}  // namespace berth::lab

#endif  // BERTH_TESTS_LAB_SUITES_SUITES_PROCESS_H_
