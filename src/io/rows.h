// io/rows.h -- a buffer table as rows, its columns found by the names in its header.
#ifndef BERTH_IO_ROWS_H_
#define BERTH_IO_ROWS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>

#include "base/csv.h"
#include "base/source.h"
#include "berth/result.h"

namespace berth::internal {

enum class Column {
  kId,
  kStart,
  kEnd,
  kSize,
  kAlignment,
  kHint,
  kGaps,
  kOffset,
  // Of tables for several memories.
  kMemory,
  kMemories,
  kBytesRead,
  kBytesWritten,
  kAccesses,
  kCostLeftOut,
  kPreviousMemory,
  kPreviousOffset,
  kMoveCost,
  kTogether,
  kDistance,
  kApart,
  kApartMemories,
};

// The columns that a file may have.
enum class Columns {
  kOfTable,     // Of buffers alone.
  kOfMemories,  // Of buffers and the memories for them.
  kAny,         // Unknown ones do not count.
};

class Rows {
 public:
  // `source` must outlive the rows.
  explicit Rows(const Source& source) : source_(source), records_(source) {}

  // Reads the header. Error: kParse, for an empty file, a column that comes twice (under one name
  // or two), one of `needed` that is missing, and one that is not `allowed`.
  [[nodiscard]] Result<void> ReadHeader(std::initializer_list<Column> needed, Columns allowed);
  [[nodiscard]] bool Has(Column column) const { return At(column).position.has_value(); }
  // The name that the header has for the column: "id", "buffer" or "buffer_id".
  [[nodiscard]] const std::string& NameOf(Column column) const { return At(column).name; }

  // Goes to the next row. False after the last one. Error: kParse.
  [[nodiscard]] Result<bool> Next();
  // Of the current row. Has(column) must be true.
  [[nodiscard]] const CsvField& FieldOf(Column column) const {
    return records_.fields()[*At(column).position];
  }
  // Error: kParse.
  [[nodiscard]] Result<void> ReadInteger(Column column, std::int64_t& value) const;
  [[nodiscard]] std::size_t line() const { return records_.line(); }
  // The bytes of the text up to the end of the current row.
  [[nodiscard]] std::size_t end() const { return records_.end(); }

 private:
  struct Place {
    std::optional<std::size_t> position;  // In a record.
    std::string name;
  };
  static constexpr std::size_t kNumColumns = static_cast<std::size_t>(Column::kApartMemories) + 1;

  [[nodiscard]] const Place& At(Column column) const {
    return places_[static_cast<std::size_t>(column)];
  }

  const Source& source_;
  CsvReader records_;
  std::array<Place, kNumColumns> places_;
  std::size_t width_ = 0;
};

}  // namespace berth::internal

#endif  // BERTH_IO_ROWS_H_
