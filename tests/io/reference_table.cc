#include "tests/io/reference_table.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

namespace berth::internal {
namespace {

struct Cell {
  std::string value;
  std::size_t position = 0;  // In the text, of its first byte.
  bool verbatim = true;      // Without doubled quotes.
};

struct Record {
  std::vector<Cell> cells;
  std::size_t line = 1;
  std::size_t end = 0;
};

// Cuts the text into records, one character after another. Faults are thrown.
class Cutter {
 public:
  explicit Cutter(const std::string& text) : text_(text) {
    if (text.substr(0, 3) == "\xef\xbb\xbf") at_ = 3;
  }

  // False after the last record.
  bool Next(Record& record) {
    while (at_ < text_.size()) {
      record = {{}, line_, 0};
      do {
        record.cells.push_back(NextCell());
        record.end = at_;
      } while (NextIs(',') && ++at_ > 0);
      if (at_ < text_.size()) {
        at_ += text_[at_] == '\r' ? 2 : 1;
        ++line_;
      }
      const bool blank = record.cells.size() == 1 && record.cells[0].position == record.end;
      if (!blank) return true;
    }
    return false;
  }

 private:
  [[nodiscard]] bool NextIs(char c) const { return at_ < text_.size() && text_[at_] == c; }
  [[nodiscard]] bool LineEnds() const {
    return at_ == text_.size() || text_[at_] == '\n' || text_.substr(at_, 2) == "\r\n";
  }
  void SkipBlanks() {
    while (NextIs(' ') || NextIs('\t')) ++at_;
  }

  Cell NextCell() {
    SkipBlanks();
    return NextIs('"') ? NextQuoted() : NextPlain();
  }

  Cell NextPlain() {
    Cell cell{"", at_, true};
    for (; !LineEnds() && text_[at_] != ','; ++at_) {
      const char c = text_[at_];
      if (c == '"' || (static_cast<unsigned char>(c) < 32 && c != '\t')) throw TableFault{at_};
      cell.value += c;
    }
    while (!cell.value.empty() && (cell.value.back() == ' ' || cell.value.back() == '\t')) {
      cell.value.pop_back();
    }
    return cell;
  }

  Cell NextQuoted() {
    const std::size_t opening = at_++;
    Cell cell{"", at_, true};
    for (;;) {
      if (at_ == text_.size()) throw TableFault{opening};
      const char c = text_[at_++];
      if (c == '"' && !NextIs('"')) break;
      if (c == '"') {
        ++at_;
        cell.verbatim = false;
      }
      if (c == '\n') ++line_;
      cell.value += c;
    }
    SkipBlanks();
    if (!LineEnds() && !NextIs(',')) throw TableFault{at_};
    return cell;
  }

  const std::string& text_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
};

// By the bit patterns of the standard.
bool IsUtf8Text(const std::string& text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto byte = [&](std::size_t k) -> unsigned {
      return k < text.size() ? static_cast<unsigned char>(text[k]) : 0;
    };
    const unsigned first = byte(i);
    const std::size_t length = first < 0x80   ? 1
                               : first < 0xc0 ? 0
                               : first < 0xe0 ? 2
                               : first < 0xf0 ? 3
                                              : 4;
    if (length == 0 || first >= 0xf8) return false;
    unsigned code = length == 1 ? first : first & (0x7fu >> length);
    for (std::size_t k = 1; k < length; ++k) {
      if (byte(i + k) >> 6 != 2) return false;
      code = code << 6 | (byte(i + k) & 0x3f);
    }
    constexpr unsigned kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
    if (code < kLeast[length] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return false;
    i += length;
  }
  return true;
}

// A whole number of 64 bits that `text` is.
std::optional<std::int64_t> NumberOf(const std::string& text) {
  const bool negative = !text.empty() && text[0] == '-';
  const std::string digits = text.substr(negative ? 1 : 0);
  if (digits.empty() || digits.find_first_not_of("0123456789") != std::string::npos) return {};
  constexpr std::uint64_t kMost = INT64_MAX;
  std::uint64_t value = 0;
  for (const char c : digits) {
    const auto digit = static_cast<std::uint64_t>(c - '0');
    if (value > (kMost + 1 - digit) / 10) return {};
    value = value * 10 + digit;
  }
  if (value > kMost && !negative) return {};
  return static_cast<std::int64_t>(negative ? 0 - value : value);
}

std::string SmallLetters(std::string text) {
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  return text;
}

class Reader {
 public:
  Reader(const std::string& text, Endpoints endpoints) : cutter_(text), endpoints_(endpoints) {}

  Table Read() {
    if (!cutter_.Next(record_)) throw TableFault{0};
    ReadHeader();
    while (cutter_.Next(record_)) ReadRow();
    if (pin_ + total_ > kMaxBytes) {
      throw TableFault{pin_position_, ErrorCode::kInvalidProblem, pinned_};
    }
    return table_;
  }

 private:
  void ReadHeader() {
    static const std::map<std::string, std::string> kNames = {
        {"id", "id"},        {"buffer", "id"},   {"buffer_id", "id"}, {"lower", "lower"},
        {"start", "lower"},  {"begin", "lower"}, {"upper", "upper"},  {"end", "upper"},
        {"size", "size"},    {"hint", "hint"},   {"gaps", "gaps"},    {"alignment", "alignment"},
        {"offset", "offset"}};
    width_ = record_.cells.size();
    bool end = false;
    for (std::size_t i = 0; i < width_; ++i) {
      const std::string name = SmallLetters(record_.cells[i].value);
      const auto known = kNames.find(name);
      if (known == kNames.end() || !columns_.emplace(known->second, i).second) {
        throw TableFault{record_.cells[i].position};
      }
      end |= name == "end";
    }
    for (const char* const needed : {"id", "lower", "upper", "size"}) {
      if (columns_.count(needed) == 0) throw TableFault{record_.cells[0].position};
    }
    const bool by_name = endpoints_ == Endpoints::kByColumnName;
    later_start_ = endpoints_ == Endpoints::kExclusive ? 1 : 0;
    later_end_ = endpoints_ == Endpoints::kInclusive || (by_name && end) ? 1 : 0;
  }

  [[nodiscard]] bool Has(const std::string& column) const { return columns_.count(column) > 0; }
  [[nodiscard]] const Cell& At(const std::string& column) const {
    return record_.cells[columns_.at(column)];
  }
  void Demand(bool holds, std::size_t position) const {
    if (!holds) {
      throw TableFault{position, ErrorCode::kInvalidProblem, table_.problem.buffers.size()};
    }
  }
  [[nodiscard]] std::int64_t Number(const std::string& column, std::int64_t least) const {
    const auto value = NumberOf(At(column).value);
    if (!value) throw TableFault{At(column).position};
    Demand(*value >= least && *value <= kMaxBytes, At(column).position);
    return *value;
  }
  [[nodiscard]] std::optional<Bytes> NumberIfAny(const std::string& column) const {
    if (!Has(column) || At(column).value.empty() || At(column).value == "-1") return {};
    return Number(column, 0);
  }

  void ReadRow() {
    const std::size_t width = record_.cells.size();
    if (width > width_) throw TableFault{record_.cells[width_].position};
    if (width < width_) throw TableFault{record_.end};
    Buffer buffer;
    buffer.id = At("id").value;
    if (buffer.id.empty() || !IsUtf8Text(buffer.id)) throw TableFault{At("id").position};
    for (const Buffer& other : table_.problem.buffers) {
      Demand(other.id != buffer.id, At("id").position);
    }
    buffer.start = Number("lower", -kMaxStep) + later_start_;
    buffer.end = Number("upper", -kMaxStep) + later_end_;
    Demand(buffer.start < buffer.end, At("lower").position);
    Demand(buffer.end <= kMaxStep, At("upper").position);
    buffer.size = Number("size", 1);
    if (Has("alignment")) buffer.alignment = Number("alignment", 1);
    total_ += buffer.size + buffer.alignment - 1;
    Demand(total_ <= kMaxBytes, At("size").position);
    buffer.hint = NumberIfAny("hint");
    buffer.offset = NumberIfAny("offset");
    if (buffer.offset) {
      Demand(*buffer.offset % buffer.alignment == 0, At("offset").position);
      if (*buffer.offset > pin_) {
        pin_ = *buffer.offset;
        pin_position_ = At("offset").position;
        pinned_ = table_.problem.buffers.size();
      }
    }
    if (Has("gaps")) ReadGaps(buffer);
    table_.problem.buffers.push_back(buffer);
    table_.lines.push_back(record_.line);
  }

  void ReadGaps(Buffer& buffer) {
    const Cell& cell = At("gaps");
    for (std::size_t at = 0; at < cell.value.size();) {
      if (cell.value[at] == ' ' || cell.value[at] == '\t') {
        ++at;
        continue;
      }
      const std::size_t past = std::min(cell.value.find_first_of(" \t", at), cell.value.size());
      const std::size_t position = cell.position + (cell.verbatim ? at : 0);
      AddGap(buffer, cell.value.substr(at, past - at), position);
      at = past;
    }
  }

  // A word such as -3-5@0:8.
  void AddGap(Buffer& buffer, const std::string& word, std::size_t position) {
    const auto number = [position](const std::string& text) {
      const auto value = NumberOf(text);
      if (!value) throw TableFault{position};
      return *value;
    };
    const std::size_t window = std::min(word.find('@'), word.size());
    const std::string steps = word.substr(0, window);
    const std::size_t dash = steps.find('-', 1);
    if (steps.empty() || dash == std::string::npos) throw TableFault{position};
    Step start = number(steps.substr(0, dash));
    Step end = number(steps.substr(dash + 1));
    std::optional<Window> live;
    if (window < word.size()) {
      const std::string bytes = word.substr(window + 1);
      const std::size_t colon = bytes.find(':');
      if (colon == std::string::npos) throw TableFault{position};
      live = Window{number(bytes.substr(0, colon)), number(bytes.substr(colon + 1))};
    }
    Demand(std::max(std::abs(start), std::abs(end)) <= 2 * kMaxStep, position);
    start += later_start_;
    end += later_end_;
    Demand(start < end && start >= buffer.start && end <= buffer.end, position);
    Demand(buffer.gaps.empty() || start >= buffer.gaps.back().end, position);
    Demand(!live || (live->lower >= 0 && live->lower < live->upper && live->upper <= buffer.size),
           position);
    buffer.gaps.push_back({start, end, live});
  }

  Cutter cutter_;
  const Endpoints endpoints_;
  Record record_;
  std::size_t width_ = 0;
  std::map<std::string, std::size_t> columns_;
  Step later_start_ = 0;
  Step later_end_ = 0;
  Table table_;
  Bytes total_ = 0;
  Bytes pin_ = 0;
  std::size_t pin_position_ = 0;
  std::size_t pinned_ = 0;
};

}  // namespace

std::variant<Table, TableFault> ReadReferenceTable(const std::string& text, Endpoints endpoints) {
  try {
    return Reader(text, endpoints).Read();
  } catch (const TableFault& fault) {
    return fault;
  }
}

std::string PlaceInText(const std::string& text, std::size_t position) {
  std::size_t line = 1;
  std::size_t column = 1;
  const std::size_t mark = text.substr(0, 3) == "\xef\xbb\xbf" ? 3 : 0;
  for (std::size_t i = mark; i < position; ++i) {
    const bool starts_character = (static_cast<unsigned char>(text[i]) & 0xc0) != 0x80;
    if (starts_character) ++column;
    if (text[i] == '\n') {
      ++line;
      column = 1;
    }
  }
  return std::to_string(line) + ":" + std::to_string(column);
}

}  // namespace berth::internal
