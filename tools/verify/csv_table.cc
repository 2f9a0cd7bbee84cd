#include "tools/verify/csv_table.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace berth::verify {
namespace {

struct BadTable {
  std::string what;
};

std::int64_t Number(std::string_view word) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size()) {
    throw BadTable{"'" + std::string(word.substr(0, 40)) + "' is not a whole number"};
  }
  if (value < -kMaxBytes || value > kMaxBytes) {
    throw BadTable{std::string(word) + " is not within 2^60"};
  }
  return value;
}

// Records of fields; quotes as in RFC 4180.
class Records {
 public:
  explicit Records(std::string_view text) : text_(text) {}

  // False at the end. Lines that are blank are left out.
  bool Next(std::vector<std::string>& fields) {
    while (at_ < text_.size()) {
      line_ = next_line_;
      fields.clear();
      ReadRecord(fields);
      if (fields.size() > 1 || !fields.front().empty()) return true;
    }
    return false;
  }
  [[nodiscard]] std::size_t line() const { return line_; }

 private:
  void ReadRecord(std::vector<std::string>& fields) {
    for (;;) {
      fields.push_back(ReadField());
      if (at_ == text_.size()) return;
      const char c = text_[at_++];
      if (c == ',') continue;
      if (c == '\r' && at_ < text_.size() && text_[at_] == '\n') ++at_;
      ++next_line_;
      return;
    }
  }
  [[nodiscard]] bool IsBlank() const {
    return at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t');
  }
  std::string ReadField() {
    while (IsBlank()) ++at_;
    if (at_ < text_.size() && text_[at_] == '"') return ReadQuoted();
    std::string field;
    while (at_ < text_.size() && text_[at_] != ',' && text_[at_] != '\n' && text_[at_] != '\r') {
      field += text_[at_++];
    }
    while (!field.empty() && (field.back() == ' ' || field.back() == '\t')) field.pop_back();
    return field;
  }
  std::string ReadQuoted() {
    std::string field;
    for (++at_; at_ < text_.size(); ++at_) {
      if (text_[at_] == '\n') ++next_line_;
      if (text_[at_] != '"') {
        field += text_[at_];
      } else if (at_ + 1 < text_.size() && text_[at_ + 1] == '"') {
        field += text_[at_++];
      } else {
        ++at_;
        while (IsBlank()) ++at_;
        if (at_ == text_.size() || text_[at_] == ',' || text_[at_] == '\n' || text_[at_] == '\r') {
          return field;
        }
        break;
      }
    }
    throw BadTable{"a quoted field does not end where it should"};
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t line_ = 0;
  std::size_t next_line_ = 1;
};

class Reader {
 public:
  Reader(std::string_view text, Ends ends) : records_(WithoutMark(text)), ends_(ends) {}

  Problem Read() {
    std::vector<std::string> fields;
    if (!records_.Next(fields)) throw BadTable{"the table has no header"};
    ReadHeader(fields);
    Problem problem;
    while (records_.Next(fields)) problem.buffers.push_back(ReadBuffer(fields));
    return problem;
  }
  [[nodiscard]] std::size_t line() const { return records_.line(); }

 private:
  enum Column { kStart, kEnd, kSize, kAlignment, kOffset, kGaps, kId, kHint, kColumns };
  static constexpr std::size_t kMissing = static_cast<std::size_t>(-1);

  // Some programs begin a text with a byte order mark.
  static std::string_view WithoutMark(std::string_view text) {
    constexpr std::string_view kMark = "\xEF\xBB\xBF";
    return text.substr(text.substr(0, kMark.size()) == kMark ? kMark.size() : 0);
  }

  static Column ColumnOf(const std::string& name) {
    const std::pair<std::string_view, Column> names[] = {
        {"lower", kStart}, {"start", kStart}, {"begin", kStart},         {"upper", kEnd},
        {"end", kEnd},     {"size", kSize},   {"alignment", kAlignment}, {"offset", kOffset},
        {"gaps", kGaps},   {"id", kId},       {"buffer", kId},           {"buffer_id", kId},
        {"hint", kHint}};
    for (const auto& [known, column] : names) {
      if (known == name) return column;
    }
    throw BadTable{"'" + name.substr(0, 40) + "' is not a column of a table for one memory"};
  }

  void ReadHeader(const std::vector<std::string>& fields) {
    std::fill(std::begin(at_), std::end(at_), kMissing);
    for (std::size_t k = 0; k < fields.size(); ++k) {
      std::string name = fields[k];
      for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      const Column column = ColumnOf(name);
      if (at_[column] != kMissing) throw BadTable{"two columns for the same thing: '" + name + "'"};
      at_[column] = k;
      if (column == kEnd && ends_ == Ends::kByColumnName) {
        ends_ = name == "end" ? Ends::kInclusive : Ends::kHalfOpen;
      }
    }
    for (const Column needed : {kStart, kEnd, kSize}) {
      if (at_[needed] == kMissing) throw BadTable{"lifetimes or sizes are missing"};
    }
    width_ = fields.size();
  }

  // The steps [start, end) that two numbers mean.
  [[nodiscard]] Gap Steps(std::int64_t start, std::int64_t end) const {
    Gap steps;
    steps.start = start + (ends_ == Ends::kExclusive ? 1 : 0);
    steps.end = end + (ends_ == Ends::kInclusive ? 1 : 0);
    if (steps.start >= steps.end) throw BadTable{"steps that end before they begin"};
    return steps;
  }

  [[nodiscard]] std::optional<std::int64_t> Optional(const std::vector<std::string>& fields,
                                                     Column column) const {
    if (at_[column] == kMissing || fields[at_[column]].empty()) return std::nullopt;
    return Number(fields[at_[column]]);
  }

  Buffer ReadBuffer(const std::vector<std::string>& fields) const {
    if (fields.size() != width_) throw BadTable{"not as many fields as the header has"};
    Buffer buffer;
    const Gap life = Steps(Number(fields[at_[kStart]]), Number(fields[at_[kEnd]]));
    buffer.start = life.start;
    buffer.end = life.end;
    buffer.size = Number(fields[at_[kSize]]);
    buffer.alignment = Optional(fields, kAlignment).value_or(1);
    buffer.offset = Optional(fields, kOffset);
    if (buffer.offset == -1) buffer.offset.reset();
    if (at_[kGaps] != kMissing) ReadGaps(fields[at_[kGaps]], buffer);
    return buffer;
  }

  // "2-4 5-7@16:32", with spaces or tabs between.
  void ReadGaps(std::string_view text, Buffer& buffer) const {
    while (!text.empty()) {
      const std::size_t end = std::min(text.find_first_of(" \t"), text.size());
      std::string_view word = text.substr(0, end);
      text.remove_prefix(std::min(end + 1, text.size()));
      if (word.empty()) continue;
      std::optional<Window> window;
      if (const std::size_t at = word.find('@'); at != std::string_view::npos) {
        const std::size_t colon = std::min(word.find(':', at), word.size() - 1);
        window =
            Window{Number(word.substr(at + 1, colon - at - 1)), Number(word.substr(colon + 1))};
        word = word.substr(0, at);
      }
      const std::size_t dash = word.find('-', 1);
      if (dash == std::string_view::npos) throw BadTable{"a gap is not written START-END"};
      Gap gap = Steps(Number(word.substr(0, dash)), Number(word.substr(dash + 1)));
      gap.window = window;
      buffer.gaps.push_back(gap);
    }
  }

  Records records_;
  Ends ends_;
  std::size_t at_[kColumns] = {};
  std::size_t width_ = 0;
};

}  // namespace

Result<Problem> ReadCsvTable(std::string_view text, Ends ends) {
  Reader reader(text, ends);
  try {
    return reader.Read();
  } catch (const BadTable& bad) {
    return Fail(ErrorCode::kParse, std::to_string(reader.line()) + ": " + bad.what);
  }
}

}  // namespace berth::verify
