// tools/lab/suites/sheet.h -- a table of results: aligned text for people, CSV for programs.
#ifndef BERTH_TOOLS_LAB_SUITES_SHEET_H_
#define BERTH_TOOLS_LAB_SUITES_SHEET_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "berth/problem.h"

namespace berth::lab {

// What stands in a cell: rounded and with its unit for people, as measured for programs.
struct Cell {
  std::string text;
  std::string raw;
};
[[nodiscard]] Cell TextCell(std::string_view text);
[[nodiscard]] Cell CountCell(std::int64_t count);
[[nodiscard]] Cell BytesCell(Bytes bytes);
[[nodiscard]] Cell SecondsCell(double seconds);
[[nodiscard]] Cell RatioCell(double ratio);       // "1.05 x"
[[nodiscard]] Cell PercentCell(double fraction);  // "25 %"
[[nodiscard]] Cell NoCell();                      // "-", and nothing.

class Sheet {
 public:
  struct Column {
    std::string title;  // For people.
    std::string key;    // In the CSV; its unit at the end: "median_seconds".
    bool number = true;
  };
  explicit Sheet(std::vector<Column> columns) : columns_(std::move(columns)) {}

  // As many cells as there are columns.
  void AddRow(std::vector<Cell> cells);
  [[nodiscard]] bool empty() const { return rows_.empty(); }
  [[nodiscard]] std::string ToText() const;
  [[nodiscard]] std::string ToCsv() const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;
};

}  // namespace berth::lab

#endif  // BERTH_TOOLS_LAB_SUITES_SHEET_H_
