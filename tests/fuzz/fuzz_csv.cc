// A table that ReadCsv() accepts is valid, and WriteCsv() and ReadCsv() restore it; a rejected one
// gets a line and a column. A trace that ReadEvents() accepts is valid. The first byte chooses the
// endpoints.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "berth/event_io.h"
#include "berth/io.h"
#include "tests/fuzz/require.h"

namespace {

using berth::internal::Require;

bool IsNumber(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// "t:LINE:COLUMN: sentence", on one line.
bool IsPlaced(std::string_view message) {
  const std::size_t line_end = message.find(':', 2);
  if (message.substr(0, 2) != "t:" || line_end == std::string_view::npos) return false;
  const std::size_t column_end = message.find(':', line_end + 1);
  if (column_end == std::string_view::npos) return false;
  return IsNumber(message.substr(2, line_end - 2)) &&
         IsNumber(message.substr(line_end + 1, column_end - line_end - 1)) &&
         message.find_first_of(std::string_view("\n\r\0\x1b", 4)) == std::string_view::npos;
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto endpoints = static_cast<berth::Endpoints>(data[0] % 4);
  // A copy: reading past its end is then detected.
  const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (const auto events = berth::ReadEvents(text, "t")) {
    Require(berth::Validate(events->problem).has_value(), "a trace that was read is not valid");
    Require(events->lines.size() == events->problem.buffers.size(), "a line for each buffer");
  }
  const auto table = berth::ReadCsv(text, "t", {endpoints});
  if (!table) {
    Require(IsPlaced(table.error().message), table.error().message.c_str());
    return 0;
  }
  Require(berth::Validate(table->problem).has_value(), "a table that was read is not valid");
  Require(table->lines.size() == table->problem.buffers.size(), "a line for each buffer");
  const std::string written = berth::WriteCsv(table->problem);
  const auto again = berth::ReadCsv(written, "t");
  Require(again.has_value(), "what was written cannot be read");
  Require(again->problem == table->problem, "what was written reads differently");
  Require(berth::WriteCsv(again->problem) == written, "writing again gives other bytes");
  return 0;
}
