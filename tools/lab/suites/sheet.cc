#include "tools/lab/suites/sheet.h"

#include <charconv>
#include <cstdio>
#include <cstdlib>

#include "berth/io.h"
#include "tools/berth/terminal.h"

namespace berth::lab {
namespace {

std::string Printed(const char* format, double value) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

std::string CsvField(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + "\"";
}

}  // namespace

Cell TextCell(std::string_view text) { return {cli::OneLine(text), std::string(text)}; }

Cell CountCell(std::int64_t count) { return {cli::FormatCount(count), std::to_string(count)}; }

Cell BytesCell(Bytes bytes) { return {FormatBytes(bytes), std::to_string(bytes)}; }

Cell SecondsCell(double seconds) {
  const std::string raw = Printed("%.6g", seconds);
  if (seconds < 1e-4) return {Printed("%.2g \u00b5s", seconds * 1e6), raw};
  return {cli::FormatSeconds(seconds), raw};
}

Cell RatioCell(double ratio) {
  const char* const format = ratio < 0.095  ? "%.2g x"
                             : ratio < 9.95 ? "%.2f x"
                             : ratio < 99.5 ? "%.1f x"
                                            : "%.0f x";
  return {Printed(format, ratio), Printed("%.6g", ratio)};
}

Cell PercentCell(double fraction) {
  return {Printed("%.3g %%", fraction * 100), Printed("%.6g", fraction)};
}

Cell NoCell() { return {"-", ""}; }

void Sheet::AddRow(std::vector<Cell> cells) {
  if (cells.size() != columns_.size()) std::abort();
  rows_.push_back(std::move(cells));
}

std::string Sheet::ToText() const {
  using enum cli::TextTable::Align;
  std::vector<cli::TextTable::Align> align;
  std::vector<std::string> header;
  for (const Column& column : columns_) {
    align.push_back(column.number ? kRight : kLeft);
    header.push_back(column.title);
  }
  cli::TextTable text(align);
  text.AddRow(std::move(header));
  for (const std::vector<Cell>& row : rows_) {
    std::vector<std::string> cells;
    for (const Cell& cell : row) cells.push_back(cell.text);
    text.AddRow(std::move(cells));
  }
  return text.ToString();
}

std::string Sheet::ToCsv() const {
  std::string csv;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    csv += (c == 0 ? "" : ",") + CsvField(columns_[c].key);
  }
  csv += "\n";
  for (const std::vector<Cell>& row : rows_) {
    for (std::size_t c = 0; c < row.size(); ++c) csv += (c == 0 ? "" : ",") + CsvField(row[c].raw);
    csv += "\n";
  }
  return csv;
}

}  // namespace berth::lab
