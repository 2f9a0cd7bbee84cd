// Tables of buffers for several memories (docs/formats/csv.md).

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/csv.h"
#include "base/source.h"
#include "base/text.h"
#include "base/try.h"
#include "berth/memory_io.h"
#include "io/rows.h"
#include "io/table.h"

namespace berth {
namespace internal {
namespace {

// More pairs of buffers than this are no help to anyone.
constexpr std::size_t kMostPairs = std::size_t{1} << 20;

// A buffer with more places than this is none of a plan, and takes long to check.
constexpr std::size_t kMostPlaces = 1024;

// A word of a list as written.
struct Word {
  std::string_view text;
  std::size_t position;
};

// The words of a list, which are separated by blanks; within single quotes blanks are part of a word.
Result<std::vector<Word>> WordsOf(const Source& source, const CsvField& field) {
  std::vector<Word> words;
  const std::string_view value = field.value;
  for (std::size_t at = 0; at < value.size();) {
    if (value[at] == ' ' || value[at] == '\t') {
      ++at;
      continue;
    }
    const std::size_t begin = at;
    const std::size_t position = field.position + (field.verbatim ? begin : 0);
    bool quoted = false;
    for (; at < value.size() && (quoted || (value[at] != ' ' && value[at] != '\t')); ++at) {
      if (value[at] == '\'') quoted = !quoted;
    }
    const std::string_view word = value.substr(begin, at - begin);
    if (quoted) return source.FailAt(position, "the quote in " + Quoted(word) + " is never closed");
    words.push_back({word, position});
  }
  return words;
}

// A name in a list: as it is, or in single quotes, those within doubled.
std::string NameInList(const std::string& name) {
  if (!name.empty() && name.find_first_of(" \t\r\n'@=") == std::string::npos) return name;
  std::string quoted = "'";
  for (const char c : name) {
    if (c == '\'') quoted += c;
    quoted += c;
  }
  return quoted + "'";
}

// Takes a name off the front of `rest`; nothing where there is none.
std::optional<std::string> TakeName(std::string_view& rest) {
  if (!rest.starts_with('\'')) {
    const std::size_t end = std::min(rest.find_first_of("@="), rest.size());
    const std::string name(rest.substr(0, end));
    rest.remove_prefix(end);
    if (name.empty() || name.find('\'') != std::string::npos) return std::nullopt;
    return name;
  }
  std::string name;
  for (std::size_t at = 1; at < rest.size(); ++at) {
    if (rest[at] == '\'' && rest.substr(at + 1, 1) != "'") {
      rest.remove_prefix(at + 1);
      return name;
    }
    if (rest[at] == '\'') ++at;
    name += rest[at];
  }
  return std::nullopt;
}

// A number from 0 to 2^60 after `mark`, if `rest` begins with it. False: there is none.
bool TakeNumber(std::string_view& rest, char mark, std::optional<std::int64_t>& number) {
  if (!rest.starts_with(mark)) return true;
  const char* const last = rest.data() + rest.size();
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(rest.data() + 1, last, value);
  if (error != std::errc() || value < 0 || value > kMaxBytes) return false;
  rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
  number = value;
  return true;
}

class MemoryColumns final : public MoreColumns {
 public:
  MemoryColumns(const Source& source, const std::vector<Memory>& memories)
      : source_(source), memories_(memories) {
    for (std::size_t m = 0; m < memories.size(); ++m) by_name_.emplace(memories[m].name, m);
  }

  void ReadHeader(const Rows& rows) override {
    for (const Column column :
         {Column::kBytesRead, Column::kBytesWritten, Column::kAccesses, Column::kCostLeftOut}) {
      has_costs_ = has_costs_ || rows.Has(column);
    }
  }

  Result<void> ReadRow(const Rows& rows, const Buffer& buffer) override {
    Placing placing;
    BERTH_TRY(Read(rows, buffer, Column::kBytesRead, placing.bytes_read));
    BERTH_TRY(Read(rows, buffer, Column::kBytesWritten, placing.bytes_written));
    BERTH_TRY(Read(rows, buffer, Column::kAccesses, placing.accesses));
    if (!TextOf(rows, Column::kCostLeftOut).empty()) {
      BERTH_TRY(Read(rows, buffer, Column::kCostLeftOut, placing.cost_left_out.emplace()));
    }
    BERTH_TRY(ReadCandidates(rows, buffer, placing));
    BERTH_TRY(ReadMemory(rows, buffer, placing));
    BERTH_TRY(ReadPrevious(rows, buffer, placing));
    BERTH_TRY(ReadGroup(rows, buffer));
    BERTH_TRY(ReadApart(rows, buffer, Column::kApart));
    BERTH_TRY(ReadApart(rows, buffer, Column::kApartMemories));
    positions_.push_back(rows.FieldOf(Column::kId).position);
    placings_.push_back(std::move(placing));
    return {};
  }

  // All of it, after the last row.
  Result<MemoryFile> Finish(Table table) {
    MemoryFile file;
    file.problem.table = std::move(table.problem);
    file.lines = std::move(table.lines);
    file.problem.memories = memories_;
    const bool any = std::any_of(placings_.begin(), placings_.end(),
                                 [](const Placing& each) { return each != Placing(); });
    if (any) file.problem.placing = std::move(placings_);
    file.problem.together = std::move(groups_);
    std::sort(pairs_.begin(), pairs_.end());
    pairs_.erase(std::unique(pairs_.begin(), pairs_.end()), pairs_.end());
    for (const auto& [first, second, different] : pairs_) {
      file.problem.apart.push_back({first, second, different});
    }
    file.has_costs = has_costs_;
    if (auto valid = Validate(file.problem); !valid) {
      const Error& error = valid.error();
      if (error.subject.kind != Subject::Kind::kBuffer) return source_.FailWith(error);
      auto placed = source_.FailAt(positions_[error.subject.index], error.message, error.code);
      placed.value().subject = error.subject;
      return placed;
    }
    return file;
  }

 private:
  static std::string Named(const Buffer& buffer) { return "buffer " + Quoted(buffer.id) + ": "; }

  static std::string_view TextOf(const Rows& rows, Column column) {
    return rows.Has(column) ? rows.FieldOf(column).value : std::string_view();
  }

  [[nodiscard]] tl::unexpected<Error> Invalid(const Buffer& buffer, std::size_t position,
                                              const std::string& sentence) const {
    auto error = source_.FailAt(position, Named(buffer) + sentence, ErrorCode::kInvalidProblem);
    error.value().subject = Subject::OfBuffer(placings_.size());
    return error;
  }

  // A number from 0 to 2^60; an empty field leaves `value` as it is.
  Result<void> Read(const Rows& rows, const Buffer& buffer, Column column,
                    std::int64_t& value) const {
    if (TextOf(rows, column).empty()) return {};
    BERTH_TRY(rows.ReadInteger(column, value));
    if (value >= 0 && value <= kMaxBytes) return {};
    return Invalid(buffer, rows.FieldOf(column).position,
                   rows.NameOf(column) + " " + std::to_string(value) + " must be from 0 to 2^60");
  }

  Result<std::size_t> MemoryCalled(const Buffer& buffer, std::string_view name,
                                   std::size_t position) const {
    const auto found = by_name_.find(std::string(name));
    if (found != by_name_.end()) return found->second;
    constexpr std::size_t kMostNames = 8;
    std::string known;
    for (std::size_t m = 0; m < std::min(kMostNames, memories_.size()); ++m) {
      known += (m == 0 ? "" : ", ") + Quoted(memories_[m].name);
    }
    if (memories_.size() > kMostNames) known += ", ...";
    return Invalid(buffer, position, "there is no memory " + Quoted(name) + "; there are " + known);
  }

  Result<void> ReadCandidates(const Rows& rows, const Buffer& buffer, Placing& placing) {
    if (!rows.Has(Column::kMemories)) return {};
    const std::vector<Word> words = BERTH_TRY(WordsOf(source_, rows.FieldOf(Column::kMemories)));
    if (words.size() > kMostPlaces) {
      return Invalid(buffer, words[kMostPlaces].position,
                     "it may be in more than 1,024 places, which is the limit");
    }
    for (const Word& word : words) {
      std::string_view rest = word.text;
      const auto name = TakeName(rest);
      Candidate candidate;
      std::optional<std::int64_t> cost;
      if (!name || !TakeNumber(rest, '@', candidate.offset) || !TakeNumber(rest, '=', cost) ||
          !rest.empty()) {
        return source_.FailAt(word.position,
                              Named(buffer) + Quoted(word.text) +
                                  " is not of the form NAME, NAME=COST or NAME@OFFSET=COST with "
                                  "numbers from 0 to 2^60");
      }
      candidate.memory = BERTH_TRY(MemoryCalled(buffer, *name, word.position));
      if (cost) has_costs_ = true;
      candidate.cost =
          cost ? *cost : BERTH_TRY(UsesIn(buffer, placing, candidate.memory, word.position));
      placing.candidates.push_back(candidate);
    }
    return {};
  }

  Result<std::int64_t> UsesIn(const Buffer& buffer, const Placing& placing, std::size_t memory,
                              std::size_t position) const {
    const auto cost = CostOfUses(placing, memories_[memory]);
    if (cost) return *cost;
    return Invalid(buffer, position,
                   "its cost in memory " + Quoted(memories_[memory].name) + " is more than 2^60");
  }

  // The only memory: it is all that is left of the candidates.
  Result<void> ReadMemory(const Rows& rows, const Buffer& buffer, Placing& placing) {
    const std::string_view name = TextOf(rows, Column::kMemory);
    if (name.empty()) return {};
    const std::size_t position = rows.FieldOf(Column::kMemory).position;
    const std::size_t memory = BERTH_TRY(MemoryCalled(buffer, name, position));
    if (placing.candidates.empty()) {
      placing.candidates.push_back(
          {memory, BERTH_TRY(UsesIn(buffer, placing, memory, position)), {}});
      return {};
    }
    std::erase_if(placing.candidates, [&](const Candidate& each) {
      return each.memory != memory ||
             (each.offset && buffer.offset && *each.offset != *buffer.offset);
    });
    if (!placing.candidates.empty()) return {};
    return Invalid(buffer, position,
                   "it may not be in memory " + Quoted(name) +
                       (buffer.offset ? " at offset " + std::to_string(*buffer.offset) : "") +
                       ", by its column memories");
  }

  Result<void> ReadPrevious(const Rows& rows, const Buffer& buffer, Placing& placing) {
    const std::string_view name = TextOf(rows, Column::kPreviousMemory);
    const std::string_view offset = TextOf(rows, Column::kPreviousOffset);
    if (name.empty() && offset.empty() && TextOf(rows, Column::kMoveCost).empty()) return {};
    if (name.empty() || offset.empty()) {
      return Invalid(buffer, rows.FieldOf(Column::kId).position,
                     "a previous place needs both previous_memory and previous_offset");
    }
    Previous previous;
    previous.memory =
        BERTH_TRY(MemoryCalled(buffer, name, rows.FieldOf(Column::kPreviousMemory).position));
    BERTH_TRY(Read(rows, buffer, Column::kPreviousOffset, previous.offset));
    BERTH_TRY(Read(rows, buffer, Column::kMoveCost, previous.move_cost));
    placing.previous = previous;
    return {};
  }

  Result<void> ReadGroup(const Rows& rows, const Buffer& buffer) {
    const std::string_view name = TextOf(rows, Column::kTogether);
    Member member{placings_.size(), 0};
    if (!TextOf(rows, Column::kDistance).empty()) {
      const std::size_t position = rows.FieldOf(Column::kDistance).position;
      if (name.empty()) {
        return Invalid(buffer, position, "it has a distance, but no group in the column together");
      }
      BERTH_TRY(rows.ReadInteger(Column::kDistance, member.distance));
      if (member.distance < -kMaxBytes || member.distance > kMaxBytes) {
        return Invalid(
            buffer, position,
            "distance " + std::to_string(member.distance) + " must be from -2^60 to 2^60");
      }
    }
    if (name.empty()) return {};
    const auto [found, is_new] = group_of_.emplace(name, groups_.size());
    if (is_new) groups_.emplace_back();
    groups_[found->second].push_back(member);
    return {};
  }

  // Buffers that have a word in common.
  Result<void> ReadApart(const Rows& rows, const Buffer& buffer, Column column) {
    if (!rows.Has(column)) return {};
    const bool different = column == Column::kApartMemories;
    std::set<std::string_view> seen;
    const std::vector<Word> words = BERTH_TRY(WordsOf(source_, rows.FieldOf(column)));
    for (const Word& word : words) {
      if (!seen.insert(word.text).second) {
        return Invalid(buffer, word.position, "the word " + Quoted(word.text) + " comes twice");
      }
      std::vector<std::size_t>& others = apart_[different ? 1 : 0][std::string(word.text)];
      if (others.size() > kMostPairs - pairs_.size()) {
        return Invalid(buffer, word.position,
                       "more than " + Grouped(static_cast<std::int64_t>(kMostPairs)) +
                           " pairs of buffers are apart");
      }
      for (const std::size_t other : others)
        pairs_.emplace_back(other, placings_.size(), different);
      others.push_back(placings_.size());
    }
    return {};
  }

  const Source& source_;
  const std::vector<Memory>& memories_;
  std::unordered_map<std::string, std::size_t> by_name_;
  std::vector<Placing> placings_;
  std::vector<std::size_t> positions_;  // Of the buffers' ids.
  bool has_costs_ = false;
  std::unordered_map<std::string_view, std::size_t> group_of_;
  std::vector<std::vector<Member>> groups_;
  std::unordered_map<std::string, std::vector<std::size_t>> apart_[2];
  std::vector<std::tuple<std::size_t, std::size_t, bool>> pairs_;
};

std::string ListOf(const std::vector<Candidate>& candidates, const std::vector<Memory>& memories) {
  std::string list;
  for (const Candidate& candidate : candidates) {
    if (!list.empty()) list += ' ';
    list += NameInList(memories[candidate.memory].name);
    if (candidate.offset) list += '@' + std::to_string(*candidate.offset);
    list += '=' + std::to_string(candidate.cost);
  }
  return list;
}

// Adds columns to lines.
class LineWriter {
 public:
  explicit LineWriter(std::vector<std::string> lines) : lines_(std::move(lines)) {}
  // A column with `cell(b)` for each buffer, if any of them is not empty or `always`.
  template <typename Cell>
  void Add(std::string_view name, const Cell& cell, bool always = false) {
    std::vector<std::string> cells;
    bool any = always;
    for (std::size_t b = 0; b + 1 < lines_.size(); ++b) {
      cells.push_back(CsvCell(cell(b)));
      any = any || !cells.back().empty();
    }
    if (!any) return;
    lines_[0] += ',';
    lines_[0] += name;
    for (std::size_t b = 0; b < cells.size(); ++b) lines_[b + 1] += ',' + cells[b];
  }
  [[nodiscard]] std::string Text() const {
    std::string text;
    for (const std::string& line : lines_) text += line + '\n';
    return text;
  }

 private:
  std::vector<std::string> lines_;
};

// The words of each buffer: the numbers of its pairs.
std::vector<std::string> WordsOf(const MemoryProblem& problem, bool different) {
  std::vector<std::string> words(problem.table.buffers.size());
  std::size_t number = 0;
  for (const Apart& apart : problem.apart) {
    if (apart.different_memories != different) continue;
    ++number;
    for (const std::size_t b : {apart.first, apart.second}) {
      words[b] += (words[b].empty() ? "" : " ") + std::to_string(number);
    }
  }
  return words;
}

}  // namespace
}  // namespace internal

Result<MemoryFile> ReadMemoriesCsv(std::string_view text, std::string_view name,
                                   const std::vector<Memory>& memories, const CsvOptions& options) {
  const internal::Source source(text, name);
  internal::MemoryColumns columns(source, memories);
  Table table = BERTH_TRY(internal::ReadTable(source, options, &columns));
  return columns.Finish(std::move(table));
}

std::string WriteMemoriesCsv(const MemoryProblem& problem, const MemoryPlan* plan) {
  const std::size_t count = problem.table.buffers.size();
  std::vector<std::optional<Bytes>> offsets(count);
  std::vector<std::string> places(count);
  if (plan != nullptr) {
    for (const Residency& residency : plan->residencies) {
      offsets[residency.tensor] = residency.offset;
      places[residency.tensor] = problem.memories[static_cast<std::size_t>(residency.memory)].name;
    }
  }
  internal::LineWriter lines(
      internal::CsvLines(problem.table, plan == nullptr ? nullptr : &offsets));
  if (!problem.placing.empty()) {
    const auto number = [](std::int64_t value) {
      return value == 0 ? std::string() : std::to_string(value);
    };
    const auto of = [&](std::size_t b) -> const Placing& { return problem.placing[b]; };
    lines.Add("memories",
              [&](std::size_t b) { return internal::ListOf(of(b).candidates, problem.memories); });
    lines.Add("bytes_read", [&](std::size_t b) { return number(of(b).bytes_read); });
    lines.Add("bytes_written", [&](std::size_t b) { return number(of(b).bytes_written); });
    lines.Add("accesses", [&](std::size_t b) { return number(of(b).accesses); });
    lines.Add("cost_left_out", [&](std::size_t b) {
      return of(b).cost_left_out ? std::to_string(*of(b).cost_left_out) : std::string();
    });
    lines.Add("previous_memory", [&](std::size_t b) {
      return of(b).previous ? problem.memories[of(b).previous->memory].name : std::string();
    });
    lines.Add("previous_offset", [&](std::size_t b) {
      return of(b).previous ? std::to_string(of(b).previous->offset) : std::string();
    });
    lines.Add("move_cost", [&](std::size_t b) {
      return of(b).previous ? number(of(b).previous->move_cost) : std::string();
    });
  }
  std::vector<std::string> group(count);
  std::vector<std::string> distance(count);
  for (std::size_t g = 0; g < problem.together.size(); ++g) {
    for (const Member& member : problem.together[g]) {
      group[member.buffer] = std::to_string(g + 1);
      if (member.distance != 0) distance[member.buffer] = std::to_string(member.distance);
    }
  }
  lines.Add("together", [&](std::size_t b) { return group[b]; });
  lines.Add("distance", [&](std::size_t b) { return distance[b]; });
  for (const bool different : {false, true}) {
    const std::vector<std::string> words = internal::WordsOf(problem, different);
    lines.Add(different ? "apart_memories" : "apart", [&](std::size_t b) { return words[b]; });
  }
  if (plan != nullptr)
    lines.Add(
        "memory", [&](std::size_t b) { return places[b]; }, true);
  return lines.Text();
}

}  // namespace berth
