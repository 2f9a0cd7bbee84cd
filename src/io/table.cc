// Buffer tables (docs/formats/csv.md).
//
// The rules of berth/problem.h are checked here row by row, although Validate() knows them too,
// because only this reader knows the line and column of each value. The table's first fault is
// reported.

#include "io/table.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/arithmetic.h"
#include "base/check.h"
#include "base/csv.h"
#include "base/name_set.h"
#include "base/source.h"
#include "base/text.h"
#include "base/try.h"
#include "berth/table_io.h"
#include "io/rows.h"

namespace berth {
namespace internal {
namespace {

// A gap as written.
struct WrittenGap {
  std::string_view text;
  std::size_t position;
  Step start;
  Step end;
  std::optional<Window> window;
};

class TableReader {
 public:
  TableReader(const Source& source, const CsvOptions& options, MoreColumns* more)
      : source_(source), rows_(source), options_(options), more_(more) {}

  Result<Table> Read() {
    BERTH_TRY(rows_.ReadHeader({Column::kId, Column::kStart, Column::kEnd, Column::kSize},
                               more_ == nullptr ? Columns::kOfTable : Columns::kOfMemories));
    if (more_ != nullptr) more_->ReadHeader(rows_);
    SetEndpoints();
    const Result<void> read = ReadRows();
    // An id that came twice is a fault before the one that ended the table.
    while (ids_checked_ < ids_read_) BERTH_TRY(CheckNextId());
    if (!read) return tl::unexpected(read.error());
    BERTH_TRY(CheckPins());
    BERTH_DCHECK(Validate(table_.problem).has_value());
    return std::move(table_);
  }

 private:
  void SetEndpoints() {
    Endpoints endpoints = options_.endpoints;
    if (endpoints == Endpoints::kByColumnName) {
      endpoints =
          rows_.NameOf(Column::kEnd) == "end" ? Endpoints::kInclusive : Endpoints::kHalfOpen;
    }
    start_shift_ = endpoints == Endpoints::kExclusive ? 1 : 0;
    end_shift_ = endpoints == Endpoints::kInclusive ? 1 : 0;
  }

  Result<void> ReadRows() {
    const std::size_t begin = rows_.end();
    std::size_t sample = kRowsOfSample;
    while (BERTH_TRY(rows_.Next())) {
      BERTH_TRY(AddBuffer());
      if (table_.lines.size() < sample) continue;
      ReserveForMoreRows(sample, rows_.end() - begin);
      sample *= kMostTimesSample;
    }
    return {};
  }

  // Makes room for all rows, if those that follow are as long as those of the sample; where that would be
  // many times as many, as far as the next sample.
  void ReserveForMoreRows(std::size_t sample, std::size_t bytes_of_sample) {
    const std::size_t bytes_left = source_.text().size() - rows_.end();
    // Ids with numbers grow longer, so this is rather too much than too little.
    const std::size_t times = std::min(bytes_left / bytes_of_sample + 2, kMostTimesSample);
    const std::size_t rows = times * sample;
    table_.problem.buffers.reserve(rows);
    table_.lines.reserve(rows);
    ids_.Reserve(rows);
  }

  // Adds the current row as a buffer.
  Result<void> AddBuffer() {
    Buffer buffer;
    BERTH_TRY(ReadId(buffer));
    BERTH_TRY(ReadLifetime(buffer));
    BERTH_TRY(ReadBytes(buffer, Column::kSize, 1, buffer.size));
    if (rows_.Has(Column::kAlignment)) {
      BERTH_TRY(ReadBytes(buffer, Column::kAlignment, 1, buffer.alignment));
    }
    BERTH_TRY(CountTotal(buffer));
    BERTH_TRY(ReadOptional(buffer, Column::kHint, buffer.hint));
    BERTH_TRY(ReadOptional(buffer, Column::kOffset, buffer.offset));
    BERTH_TRY(CheckPin(buffer));
    BERTH_TRY(ReadGaps(buffer));
    if (more_ != nullptr) BERTH_TRY(more_->ReadRow(rows_, buffer));
    table_.problem.buffers.push_back(std::move(buffer));
    table_.lines.push_back(rows_.line());
    return {};
  }

  Result<void> ReadId(Buffer& buffer) {
    const CsvField& field = rows_.FieldOf(Column::kId);
    if (field.value.empty()) return source_.FailAt(field.position, "the id is empty");
    if (!IsUtf8(field.value)) {
      return source_.FailAt(field.position, "the id " + Quoted(field.value) + " is not in UTF-8");
    }
    // A look at the set of ids waits for memory, unless it is asked for some rows ahead.
    if (ids_read_ - ids_checked_ == kIdsAhead) BERTH_TRY(CheckNextId());
    ids_.Prefetch(field.value);
    ids_ahead_[ids_read_++ % kIdsAhead] = {field.value, field.position};
    buffer.id = field.value;
    return {};
  }

  // Of the ids that were read, the first whose set has not been asked.
  Result<void> CheckNextId() {
    const std::size_t number = ids_checked_++;
    const auto [id, position] = ids_ahead_[number % kIdsAhead];
    if (ids_.Insert(id)) return {};
    ids_checked_ = ids_read_;  // Those after it do not matter any more.
    // Ids are numbered as their rows are, from 1.
    const std::size_t first_line = table_.lines[ids_.NumberOf(id) - 1];
    return InvalidAt(
        position,
        "the id " + Quoted(id) + " was used in line " + std::to_string(first_line) + " already",
        number);
  }

  Result<void> ReadLifetime(Buffer& buffer) {
    Step start = 0;
    Step end = 0;
    BERTH_TRY(ReadStep(buffer, Column::kStart, start));
    BERTH_TRY(ReadStep(buffer, Column::kEnd, end));
    buffer.start = start + start_shift_;
    buffer.end = end + end_shift_;
    if (buffer.start >= buffer.end) {
      return InvalidAt(rows_.FieldOf(Column::kStart).position,
                       Named(buffer) + "its lifetime " + Lifetime(start, end) + " holds no step");
    }
    if (buffer.end > kMaxStep) {
      return InvalidAt(rows_.FieldOf(Column::kEnd).position,
                       Named(buffer) + rows_.NameOf(Column::kEnd) + " " + std::to_string(end) +
                           " is out of the range -2^60 to 2^60");
    }
    return {};
  }

  // Sizes and alignments count towards a total that bounds every offset a placer can form.
  Result<void> CountTotal(const Buffer& buffer) {
    const auto total = CheckedAdd(total_, buffer.size + (buffer.alignment - 1));
    if (!total || *total > kMaxBytes) {
      return InvalidAt(rows_.FieldOf(Column::kSize).position,
                       Named(buffer) + "with its size " + std::to_string(buffer.size) +
                           " the sizes (and alignments) add up to more than 2^60 bytes");
    }
    total_ = *total;
    return {};
  }

  Result<void> CheckPin(const Buffer& buffer) {
    if (!buffer.offset) return {};
    const std::size_t position = rows_.FieldOf(Column::kOffset).position;
    if (*buffer.offset % buffer.alignment != 0) {
      return InvalidAt(position, Named(buffer) + "offset " + std::to_string(*buffer.offset) +
                                     " is not a multiple of the alignment " +
                                     std::to_string(buffer.alignment));
    }
    if (*buffer.offset > highest_pin_) {
      highest_pin_ = *buffer.offset;
      highest_pin_position_ = position;
      highest_pinned_ = table_.problem.buffers.size();
    }
    return {};
  }

  Result<void> CheckPins() {
    if (highest_pin_ + total_ <= kMaxBytes) return {};
    return InvalidAt(highest_pin_position_,
                     "the offset " + std::to_string(highest_pin_) +
                         " and all sizes and alignments add up to more than 2^60 bytes",
                     highest_pinned_);
  }

  Result<void> ReadGaps(Buffer& buffer) {
    if (!rows_.Has(Column::kGaps)) return {};
    const CsvField& field = rows_.FieldOf(Column::kGaps);
    std::string_view rest = field.value;
    std::string_view previous;
    for (;;) {
      rest.remove_prefix(std::min(rest.find_first_not_of(" \t"), rest.size()));
      if (rest.empty()) return {};
      const std::string_view word = rest.substr(0, rest.find_first_of(" \t"));
      rest.remove_prefix(word.size());
      const auto offset = static_cast<std::size_t>(word.data() - field.value.data());
      const auto gap = BERTH_TRY(ParseGap(word, field.position + (field.verbatim ? offset : 0)));
      BERTH_TRY(AddGap(buffer, gap, previous));
      previous = word;
    }
  }

  Result<WrittenGap> ParseGap(std::string_view word, std::size_t position) {
    WrittenGap gap{word, position, 0, 0, std::nullopt};
    const char* at = word.data();
    const char* const last = at + word.size();
    bool fits = true;
    const auto number = [&](std::int64_t& value) {
      const auto [end, error] = std::from_chars(at, last, value);
      if (error == std::errc::result_out_of_range) fits = false;
      if (error == std::errc::invalid_argument) return false;
      at = end;
      return true;
    };
    const auto character = [&](char expected) {
      if (at == last || *at != expected) return false;
      ++at;
      return true;
    };
    bool parsed = number(gap.start) && character('-') && number(gap.end);
    if (parsed && character('@')) {
      gap.window.emplace();
      parsed = number(gap.window->lower) && character(':') && number(gap.window->upper);
    }
    if (!parsed || at != last) {
      return source_.FailAt(position, "the gap " + Quoted(word) +
                                          " is not of the form START-END or START-END@LOWER:UPPER");
    }
    if (!fits) {
      return source_.FailAt(position,
                            "the gap " + Quoted(word) + " holds a number that exceeds 64 bits");
    }
    return gap;
  }

  Result<void> AddGap(Buffer& buffer, const WrittenGap& written, std::string_view previous) {
    const auto invalid = [&](const std::string& fault) {
      return InvalidAt(written.position,
                       Named(buffer) + "the gap " + Quoted(written.text) + " " + fault);
    };
    const auto start = CheckedAdd(written.start, start_shift_);
    const auto end = CheckedAdd(written.end, end_shift_);
    if (start && end && *start >= *end) return invalid("holds no step");
    if (!start || !end || *start < buffer.start || *end > buffer.end) {
      return invalid("lies outside the lifetime " +
                     Lifetime(buffer.start - start_shift_, buffer.end - end_shift_));
    }
    if (!buffer.gaps.empty() && *start < buffer.gaps.back().end) {
      return invalid("overlaps or precedes the gap " + Quoted(previous) + " before it");
    }
    if (written.window &&
        (written.window->lower < 0 || written.window->lower >= written.window->upper ||
         written.window->upper > buffer.size)) {
      return invalid("has a window that is empty or outside the buffer's " +
                     std::to_string(buffer.size) + " bytes");
    }
    buffer.gaps.push_back({*start, *end, written.window});
    return {};
  }

  Result<void> ReadStep(const Buffer& buffer, Column column, Step& step) {
    BERTH_TRY(rows_.ReadInteger(column, step));
    if (step < -kMaxStep || step > kMaxStep) {
      return InvalidAt(rows_.FieldOf(column).position, Named(buffer) + rows_.NameOf(column) + " " +
                                                           std::to_string(step) +
                                                           " is out of the range -2^60 to 2^60");
    }
    return {};
  }

  Result<void> ReadBytes(const Buffer& buffer, Column column, Bytes least, Bytes& bytes) {
    BERTH_TRY(rows_.ReadInteger(column, bytes));
    if (bytes < least || bytes > kMaxBytes) {
      return InvalidAt(rows_.FieldOf(column).position,
                       Named(buffer) + rows_.NameOf(column) + " " + std::to_string(bytes) +
                           " must be from " + std::to_string(least) + " to 2^60");
    }
    return {};
  }

  Result<void> ReadOptional(const Buffer& buffer, Column column, std::optional<Bytes>& bytes) {
    if (!rows_.Has(column)) return {};
    const std::string_view value = rows_.FieldOf(column).value;
    if (value.empty() || value == "-1") return {};
    return ReadBytes(buffer, column, 0, bytes.emplace());
  }

  static std::string Named(const Buffer& buffer) { return "buffer " + Quoted(buffer.id) + ": "; }

  // A lifetime in the words of the table.
  [[nodiscard]] std::string Lifetime(Step start, Step end) const {
    return "from " + rows_.NameOf(Column::kStart) + " " + std::to_string(start) +
           (start_shift_ == 0 ? " (inclusive) to " : " (exclusive) to ") +
           rows_.NameOf(Column::kEnd) + " " + std::to_string(end) +
           (end_shift_ == 1 ? " (inclusive)" : " (exclusive)");
  }

  // Of the current row.
  [[nodiscard]] tl::unexpected<Error> InvalidAt(std::size_t position,
                                                std::string_view sentence) const {
    return InvalidAt(position, sentence, table_.problem.buffers.size());
  }
  [[nodiscard]] tl::unexpected<Error> InvalidAt(std::size_t position, std::string_view sentence,
                                                std::size_t buffer) const {
    auto error = source_.FailAt(position, sentence, ErrorCode::kInvalidProblem);
    error.value().subject = Subject::OfBuffer(buffer);
    return error;
  }

  static constexpr std::size_t kRowsOfSample = 256;
  static constexpr std::size_t kMostTimesSample = 64;
  static constexpr std::size_t kIdsAhead = 16;

  const Source& source_;
  Rows rows_;
  const CsvOptions options_;
  MoreColumns* const more_;
  Step start_shift_ = 0;  // Added to what the table says, this makes a half-open lifetime.
  Step end_shift_ = 0;
  Table table_;
  NameSet ids_{kRowsOfSample};
  std::array<std::pair<std::string_view, std::size_t>, kIdsAhead> ids_ahead_;  // With positions.
  std::size_t ids_read_ = 0;
  std::size_t ids_checked_ = 0;
  Bytes total_ = 0;
  Bytes highest_pin_ = 0;
  std::size_t highest_pin_position_ = 0;
  std::size_t highest_pinned_ = 0;
};

// Writes a table row by row.
class TableWriter {
 public:
  // With `offsets` there is a column for them, in place of pins.
  TableWriter(const Problem& problem, bool offsets) : problem_(problem), offsets_(offsets) {
    for (const Buffer& buffer : problem.buffers) {
      alignments_ |= buffer.alignment != 1;
      hints_ |= buffer.hint.has_value();
      gaps_ |= !buffer.gaps.empty();
      pins_ |= buffer.offset.has_value();
    }
  }

  void AppendHeader(std::string& out) const {
    out += "id,lower,upper,size";
    if (alignments_) out += ",alignment";
    if (hints_) out += ",hint";
    if (gaps_) out += ",gaps";
    if (offsets_ || pins_) out += ",offset";
  }

  // Buffer `b`, without a line end. `offset` is written if there are offsets.
  void AppendRow(std::string& out, std::size_t b, const std::optional<Bytes>& offset) const {
    const Buffer& buffer = problem_.buffers[b];
    AppendCsvCell(out, buffer.id);
    AppendField(out, buffer.start);
    AppendField(out, buffer.end);
    AppendField(out, buffer.size);
    if (alignments_) AppendField(out, buffer.alignment);
    if (hints_) AppendField(out, buffer.hint);
    if (gaps_) AppendGaps(out, buffer.gaps);
    if (offsets_ || pins_) AppendField(out, offsets_ ? offset : buffer.offset);
  }

 private:
  static void AppendField(std::string& out, const std::optional<Bytes>& number) {
    out += ',';
    if (number) AppendNumber(out, *number);
  }
  static void AppendGaps(std::string& out, const std::vector<Gap>& gaps) {
    char separator = ',';
    if (gaps.empty()) out += separator;
    for (const Gap& gap : gaps) {
      out += std::exchange(separator, ' ');
      AppendNumber(out, gap.start);
      out += '-';
      AppendNumber(out, gap.end);
      if (!gap.window) continue;
      out += '@';
      AppendNumber(out, gap.window->lower);
      out += ':';
      AppendNumber(out, gap.window->upper);
    }
  }

  const Problem& problem_;
  const bool offsets_;
  bool alignments_ = false;
  bool hints_ = false;
  bool gaps_ = false;
  bool pins_ = false;
};

}  // namespace

Result<Table> ReadTable(const Source& source, const CsvOptions& options, MoreColumns* more) {
  return TableReader(source, options, more).Read();
}

std::vector<std::string> CsvLines(const Problem& problem,
                                  const std::vector<std::optional<Bytes>>* offsets) {
  const TableWriter writer(problem, offsets != nullptr);
  std::vector<std::string> lines(problem.buffers.size() + 1);
  writer.AppendHeader(lines[0]);
  for (std::size_t b = 0; b < problem.buffers.size(); ++b) {
    writer.AppendRow(lines[b + 1], b, offsets == nullptr ? std::nullopt : offsets->at(b));
  }
  return lines;
}

}  // namespace internal

Result<Table> ReadCsv(std::string_view text, std::string_view name, const CsvOptions& options) {
  const internal::Source source(text, name);
  return internal::ReadTable(source, options, nullptr);
}

std::string WriteCsv(const Problem& problem, const std::vector<Bytes>* offsets) {
  constexpr std::size_t kRowsOfSample = 256;
  const std::size_t count = problem.buffers.size();
  const internal::TableWriter writer(problem, offsets != nullptr);
  std::string out;
  writer.AppendHeader(out);
  out += '\n';
  for (std::size_t b = 0; b < count; ++b) {
    if (b == kRowsOfSample) out.reserve(out.size() / kRowsOfSample * (count + count / 8));
    writer.AppendRow(out, b, offsets == nullptr ? std::nullopt : std::optional(offsets->at(b)));
    out += '\n';
  }
  return out;
}

}  // namespace berth
