// The tables that XLA's memory space assignment gives to its `dump_fn`: `bufferinfo`, the values that
// it may keep in fast memory, and `allocinfo`, where and when it keeps them there. Both ends of their
// ranges are included.

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/csv.h"
#include "base/source.h"
#include "base/text.h"
#include "base/try.h"
#include "base/unique_names.h"
#include "berth/xla.h"
#include "io/xla/names.h"

namespace berth {
namespace {

using internal::CsvField;
using internal::CsvReader;
using internal::Printable;
using internal::Quoted;
using internal::Source;

constexpr std::string_view kAllocInfo = "buffer_id,size,offset,start_time,end_time";
constexpr std::string_view kBufferInfo =
    "buffer_id,buffer_name,alt_mem_benefit,size,definition_time,";

// Rows of a table, the first columns of which are known.
class Records {
 public:
  Records(const Source& source, std::size_t columns)
      : source_(source), reader_(source), columns_(columns) {}

  // Past the header.
  Result<void> Begin() {
    BERTH_TRY(source_.CheckEncoding());
    static_cast<void>(BERTH_TRY(reader_.Next()));
    return {};
  }
  Result<bool> Next() {
    if (!BERTH_TRY(reader_.Next())) return false;
    if (reader_.fields().size() < columns_) {
      return source_.FailAt(
          reader_.end(), "the row has " + std::to_string(reader_.fields().size()) +
                             " fields where at least " + std::to_string(columns_) + " should be");
    }
    return true;
  }
  [[nodiscard]] const CsvField& At(std::size_t column) const { return reader_.fields()[column]; }
  // Of the whole field, from `least` to 2^60.
  [[nodiscard]] Result<std::int64_t> Number(std::size_t column, std::int64_t least = 0,
                                            std::int64_t most = kMaxBytes) const {
    return NumberIn(At(column).value, At(column).position, least, most);
  }
  [[nodiscard]] Result<std::int64_t> NumberIn(std::string_view text, std::size_t position,
                                              std::int64_t least,
                                              std::int64_t most = kMaxBytes) const {
    std::int64_t value = 0;
    const char* const last = text.data() + text.size();
    const auto [end, error] = std::from_chars(text.data(), last, value);
    if (error != std::errc() || end != last || value < least || value > most) {
      return source_.FailAt(position, Quoted(text) + " is not a number from " +
                                          (least == 0 ? "0" : "-2^60") + " to 2^60" +
                                          (most == kMaxBytes ? "" : " - 1"));
    }
    return value;
  }

 private:
  const Source& source_;
  CsvReader reader_;
  std::size_t columns_;
};

// "fusion{0}" of "<12 fusion{0} @0>"; other texts as they are, but cut.
std::string NameIn(std::string_view text) {
  using internal::xla::kLongestName;
  const std::size_t space = text.find(' ');
  if (!text.starts_with('<') || !text.ends_with('>') || space == std::string_view::npos) {
    return std::string(text.substr(0, kLongestName));
  }
  return internal::xla::NameOfValue(text.substr(space + 1, text.size() - space - 2))
      .substr(0, kLongestName);
}

struct BufferInfo {
  std::int64_t id = 0;
  std::string name;
  Bytes size = 0;
  Step first = 0;
  Step last = 0;
};

Result<std::vector<BufferInfo>> ReadInfo(const Source& source) {
  enum : std::size_t { kId, kName, kBenefit, kSize, kDefinition, kUses, kColumns };
  std::vector<BufferInfo> result;
  Records records(source, kColumns);
  BERTH_TRY(records.Begin());
  while (BERTH_TRY(records.Next())) {
    BufferInfo info;
    info.id = BERTH_TRY(records.Number(kId, -kMaxBytes));
    info.name = NameIn(records.At(kName).value);
    info.size = BERTH_TRY(records.Number(kSize));
    info.first = BERTH_TRY(records.Number(kDefinition));
    info.last = info.first;
    std::string_view uses = records.At(kUses).value;
    while (!uses.empty()) {
      const std::size_t end = std::min(uses.find(';'), uses.size());
      const Step use =
          BERTH_TRY(records.NumberIn(uses.substr(0, end), records.At(kUses).position, 0));
      info.last = std::max(info.last, use);
      uses.remove_prefix(std::min(end + 1, uses.size()));
    }
    result.push_back(std::move(info));
  }
  return result;
}

}  // namespace

bool LooksLikeXlaAllocInfo(std::string_view text) {
  return Source(text, "").text().starts_with(kAllocInfo);
}
bool LooksLikeXlaBufferInfo(std::string_view text) {
  return Source(text, "").text().starts_with(kBufferInfo);
}

std::optional<std::string> XlaBufferInfoBeside(std::string_view path) {
  constexpr std::string_view kOld = "allocinfo";
  const std::size_t at = path.rfind(kOld);
  if (at == std::string_view::npos || path.find('/', at) != std::string_view::npos) {
    return std::nullopt;
  }
  std::string beside(path);
  return beside.replace(at, kOld.size(), "bufferinfo");
}

Result<XlaAssignment> ReadXlaAllocInfo(std::string_view text, std::string_view name,
                                       std::optional<std::string_view> buffers,
                                       std::string_view buffers_name) {
  enum : std::size_t { kId, kSize, kOffset, kStart, kEnd, kColumns };
  const Source source(text, name);
  if (!LooksLikeXlaAllocInfo(source.text())) {
    return source.FailAt(0, "expected " + Quoted(kAllocInfo));
  }
  std::map<std::int64_t, std::string> names;
  if (buffers) {
    const Source info(*buffers, buffers_name);
    if (!LooksLikeXlaBufferInfo(info.text())) {
      return info.FailAt(0, "expected " + Quoted(kBufferInfo));
    }
    for (BufferInfo& each : BERTH_TRY(ReadInfo(info))) names[each.id] = std::move(each.name);
  }
  XlaAllocation memory;
  memory.color = 1;
  memory.temporary = true;
  memory.use = "alternate memory";
  XlaAssignment result;
  Records records(source, kColumns);
  BERTH_TRY(records.Begin());
  while (BERTH_TRY(records.Next())) {
    XlaValue value;
    const std::int64_t id = BERTH_TRY(records.Number(kId, -kMaxBytes));
    const auto named = names.find(id);
    value.name = named == names.end() ? "buffer " + std::to_string(id) : named->second;
    value.size = BERTH_TRY(records.Number(kSize));
    value.offset = BERTH_TRY(records.Number(kOffset));
    const Step first = BERTH_TRY(records.Number(kStart, -kMaxBytes));
    const Step last = BERTH_TRY(records.Number(kEnd, 0, kMaxStep - 1));
    if (last < first || value.offset + value.size > kMaxBytes) {
      return source.FailAt(records.At(kId).position, last < first
                                                         ? "the allocation ends before it begins"
                                                         : "the allocation ends after byte 2^60");
    }
    // What is there from the start begins before the first instruction, at -1.
    value.live = {std::max<Step>(first, 0), last + 1};
    memory.size = std::max(memory.size, value.offset + value.size);
    result.steps = std::max(result.steps, last + 1);
    memory.values.push_back(std::move(value));
  }
  result.total = memory.size;
  result.allocations.push_back(std::move(memory));
  return result;
}

Result<Problem> ReadXlaBufferInfo(std::string_view text, std::string_view name) {
  const Source source(text, name);
  if (!LooksLikeXlaBufferInfo(source.text())) {
    return source.FailAt(0, "expected " + Quoted(kBufferInfo));
  }
  Problem problem;
  internal::UniqueNames names;
  for (const BufferInfo& each : BERTH_TRY(ReadInfo(source))) {
    if (each.size == 0) continue;
    Buffer buffer;
    buffer.id =
        names.Take(Printable(each.name.empty() ? "buffer " + std::to_string(each.id) : each.name));
    buffer.start = each.first;
    buffer.end = each.last + 1;
    buffer.size = each.size;
    problem.buffers.push_back(std::move(buffer));
  }
  if (auto valid = Validate(problem); !valid) return source.FailWith(valid.error());
  return problem;
}

}  // namespace berth
