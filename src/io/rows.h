// io/rows.h -- a CSV text as rows under a header whose column names mean something.
#ifndef BERTH_IO_ROWS_H_
#define BERTH_IO_ROWS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>

#include "berth/result.h"
#include "io/records.h"
#include "io/source.h"

namespace berth::internal {

enum class Column { kId, kStart, kEnd, kSize, kAlignment, kHint, kGaps, kOffset };

class Rows {
 public:
  // `source` must outlive the rows.
  explicit Rows(const Source& source) : source_(source), records_(source) {}

  // Reads the header. Error: kParse, for a header that is not there, a column that comes twice (be
  // it by another of its names), one of `needed` that is missing and, unless `any_column`, one that
  // is unknown.
  [[nodiscard]] Result<void> ReadHeader(std::initializer_list<Column> needed, bool any_column);
  [[nodiscard]] bool Has(Column column) const { return At(column).position.has_value(); }
  // Which of its names the column goes by: "id", "buffer" or "buffer_id".
  [[nodiscard]] const std::string& NameOf(Column column) const { return At(column).name; }

  // Goes to the next row. False where there is none. Error: kParse.
  [[nodiscard]] Result<bool> Next();
  // Of the current row, the column being there.
  [[nodiscard]] const Field& FieldOf(Column column) const {
    return records_.fields()[*At(column).position];
  }
  // Error: kParse.
  [[nodiscard]] Result<void> ReadInteger(Column column, std::int64_t& value) const;
  [[nodiscard]] std::size_t line() const { return records_.line(); }

 private:
  struct Place {
    std::optional<std::size_t> position;  // In a record.
    std::string name;
  };
  static constexpr std::size_t kNumColumns = 8;

  [[nodiscard]] const Place& At(Column column) const {
    return places_[static_cast<std::size_t>(column)];
  }

  const Source& source_;
  RecordReader records_;
  std::array<Place, kNumColumns> places_;
  std::size_t width_ = 0;
};

}  // namespace berth::internal

#endif  // BERTH_IO_ROWS_H_
