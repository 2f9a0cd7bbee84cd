// io/records.h -- a CSV text as records of fields.
//
// RFC 4180, and what spreadsheets and people make of it. A record ends with LF, CR LF or the text.
// A field in double quotes may hold commas, line ends and, doubled, quotes, and is kept as it is;
// spaces and tabs around it do not count. A field without quotes loses the spaces and tabs around
// it and may hold neither quotes nor control characters. Lines with nothing on them are no records.
// Cost: one pass over the text.
#ifndef BERTH_IO_RECORDS_H_
#define BERTH_IO_RECORDS_H_

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "berth/result.h"
#include "io/source.h"

namespace berth::internal {

struct Field {
  std::string_view value;  // Without quotes; lives as long as the RecordReader and its Source.
  std::size_t position;    // In the source's text, of the value's first byte.
  bool verbatim;           // `value` is the part of the text at `position`.
};

class RecordReader {
 public:
  // `source` must outlive the reader.
  explicit RecordReader(const Source& source) : source_(source), text_(source.text()) {}

  // Goes to the next record. False where there is none. Error: kParse.
  [[nodiscard]] Result<bool> Next();

  // Of the current record.
  [[nodiscard]] const std::vector<Field>& fields() const { return fields_; }
  [[nodiscard]] std::size_t line() const { return record_line_; }
  // Past its last byte, its line end not counted.
  [[nodiscard]] std::size_t end() const { return record_end_; }

 private:
  [[nodiscard]] Result<void> ReadRecord();
  [[nodiscard]] Result<void> ReadPlainField();
  [[nodiscard]] Result<void> ReadQuotedField();
  void SkipBlanks();
  // True, and past the line end, where the current record ends.
  [[nodiscard]] bool SkipRecordEnd();

  const Source& source_;
  std::string_view text_;
  std::size_t position_ = 0;  // Of the first byte not yet read.
  std::size_t line_ = 1;      // Of that byte.
  std::vector<Field> fields_;
  std::size_t record_line_ = 0;
  std::size_t record_end_ = 0;
  std::deque<std::string> unescaped_;  // Values that held doubled quotes.
};

}  // namespace berth::internal

#endif  // BERTH_IO_RECORDS_H_
