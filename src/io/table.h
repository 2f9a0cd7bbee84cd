// io/table.h -- what tables of buffers and tables for several memories share.
#ifndef BERTH_IO_TABLE_H_
#define BERTH_IO_TABLE_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/source.h"
#include "berth/table_io.h"
#include "io/rows.h"

namespace berth::internal {

// Reads the columns that a table of buffers does not have.
class MoreColumns {
 public:
  virtual ~MoreColumns() = default;
  // Called once, after the header.
  virtual void ReadHeader(const Rows& rows) = 0;
  // Called for each buffer, which has been read.
  [[nodiscard]] virtual Result<void> ReadRow(const Rows& rows, const Buffer& buffer) = 0;
};

// As ReadCsv(). `more` may be null: there are no other columns.
[[nodiscard]] Result<Table> ReadTable(const Source& source, const CsvOptions& options,
                                      MoreColumns* more);

// The header of a table and its rows, without line ends, which WriteCsv() adds. `offsets` (parallel to
// the buffers, null for none) are written in place of pins.
[[nodiscard]] std::vector<std::string> CsvLines(const Problem& problem,
                                                const std::vector<std::optional<Bytes>>* offsets);

}  // namespace berth::internal

#endif  // BERTH_IO_TABLE_H_
