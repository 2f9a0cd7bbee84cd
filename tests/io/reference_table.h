// tests/io/reference_table.h -- docs/formats/csv.md once more, as simple as can be: an oracle for ReadCsv().
#ifndef BERTH_TESTS_IO_REFERENCE_TABLE_H_
#define BERTH_TESTS_IO_REFERENCE_TABLE_H_

#include <cstddef>
#include <optional>
#include <string>
#include <variant>

#include "berth/table_io.h"

namespace berth::internal {

// The first fault of a table.
struct TableFault {
  std::size_t position;                    // In the text, of the byte that an error names.
  ErrorCode code = ErrorCode::kParse;      // Of the error,
  std::optional<std::size_t> buffer = {};  // and its subject; none: the line.
};

// Reads `text`, which must be neither JSON nor UTF-16, character by character. It shares no code with
// the library. Cost: whatever it takes.
[[nodiscard]] std::variant<Table, TableFault> ReadReferenceTable(const std::string& text,
                                                                 Endpoints endpoints);

// "LINE:COLUMN" of a byte, both from 1, columns in characters.
[[nodiscard]] std::string PlaceInText(const std::string& text, std::size_t position);

}  // namespace berth::internal

#endif  // BERTH_TESTS_IO_REFERENCE_TABLE_H_
