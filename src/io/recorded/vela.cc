// What Vela, the compiler for Ethos-U, prints with --verbose-allocation: a table for each memory.
//
//   Allocation, memory Sram, usage mask: FeatureMap|Staging
//   Start Time - End Time  : Start Addr -   End Addr: Tensor Size: Memory Usage: Format  : Name
//            0 -          1:        0x0 -     0x6c00:       27648:        65120: NHWC    : input
//            0 -          3:     0x9000 -    0x12000:       36864:        74320: NHCWB16 : conv;bias
//   Allocation Peak Tensor Size: 74480 bytes == 72.734375 KiB
//
// Both ends of a lifetime are included, the end of the addresses is not. Versions differ in the title
// and in the columns between the memory usage and the name; rows have the columns of their header.
// Several tensors may be in one row's memory: rows with the same bytes and steps. A logger may
// have put its own words before each line.
#include <algorithm>
#include <string>
#include <utility>

#include "base/line.h"
#include "base/text.h"
#include "base/try.h"
#include "io/recorded/readers.h"

namespace berth::internal::recorded {
namespace {

constexpr std::string_view kHeader = "Start Time";
constexpr std::string_view kAddresses = "Start Addr";
constexpr std::string_view kLastLine = "Allocation Peak Tensor Size";

// Where the header begins in a line; npos in other lines.
std::size_t HeaderIn(std::string_view line) {
  const std::size_t at = line.find(kHeader);
  if (at == std::string_view::npos || line.find(kAddresses, at) == std::string_view::npos) {
    return std::string_view::npos;
  }
  return at;
}

// "Sram" of the title above; the whole title where it is written in another way.
std::string NameOf(std::string_view title) {
  for (const std::string_view prefix : {"Allocation, memory ", "Tensor Allocation for "}) {
    const std::size_t at = title.find(prefix);
    if (at != std::string_view::npos) title.remove_prefix(at + prefix.size());
  }
  for (const std::string_view rest : {", usage mask", ", using allocator"}) {
    title = title.substr(0, title.find(rest));
  }
  while (title.ends_with(':') || title.ends_with(' ')) title.remove_suffix(1);
  return title.empty() ? "memory" : std::string(title);
}

class VelaReader {
 public:
  explicit VelaReader(const Source& source) : source_(source) {}

  Result<Problems> Read() {
    std::string_view before;  // The last line of text since the table before.
    BERTH_TRY(ForEachLine(source_, [&](Line line) -> Result<void> {
      const std::size_t header = HeaderIn(line.rest());
      if (header != std::string_view::npos) {
        BERTH_TRY(FinishTable());
        within_ = true;
        prefixed_ = header > 0;
        const std::string_view columns = line.rest().substr(header);
        columns_ = std::count(columns.begin(), columns.end(), ':');
        title_ = std::exchange(before, {});
        return {};
      }
      if (within_) {
        within_ = SkipToRow(line);
        if (within_) return ReadRow(line);
        if (line.rest().find(kLastLine) != std::string_view::npos) return {};
      }
      if (!line.rest().empty()) before = line.rest();
      return {};
    }));
    BERTH_TRY(FinishTable());
    return std::move(problems_);
  }

 private:
  // Rows begin with a number, flush right. False for other lines.
  [[nodiscard]] bool SkipToRow(Line& line) const {
    constexpr std::string_view kDigits = "0123456789";
    if (!prefixed_) {
      line.SkipBlanks();
      return !line.rest().empty() && kDigits.find(line.rest().front()) != std::string_view::npos;
    }
    // A prefix may have numbers, and not the same length in each line.
    for (std::size_t at = line.rest().find("0x"); at != std::string_view::npos;
         at = line.rest().find("0x", at + 1)) {
      std::string_view left = line.rest().substr(0, at);
      const auto drop = [&left](std::string_view characters) {
        const std::size_t before = left.size();
        left = left.substr(0, left.find_last_not_of(characters) + 1);
        return before - left.size();
      };
      drop(" ");
      if (drop(":") != 1) continue;
      drop(" ");
      if (drop(kDigits) == 0) continue;
      drop(" ");
      if (drop("-") != 1) continue;
      drop(" ");
      if (drop(kDigits) == 0) continue;
      return line.Skip(line.rest().substr(0, left.size()));
    }
    return false;
  }

  static Result<std::int64_t> ReadCell(Line& line, std::string_view end) {
    line.SkipBlanks();
    const std::int64_t value = BERTH_TRY(line.Number(0, kMaxBytes - 1));
    line.SkipBlanks();
    BERTH_TRY(line.Expect(end));
    return value;
  }

  Result<void> ReadRow(Line& line) {
    const Line row = line;
    Buffer buffer;
    buffer.start = BERTH_TRY(ReadCell(line, "-"));
    buffer.end = BERTH_TRY(ReadCell(line, ":")) + 1;
    if (buffer.end <= buffer.start) return row.Fail("the lifetime ends before it begins");
    const Bytes begin = BERTH_TRY(ReadCell(line, "-"));
    const Bytes end = BERTH_TRY(ReadCell(line, ":"));
    if (end < begin) return row.Fail("the addresses end before they begin");
    buffer.size = end - begin;
    // The size, the memory usage, and what the version has besides; the name may contain colons.
    constexpr std::ptrdiff_t kRead = 2;
    for (std::ptrdiff_t column = kRead; column < columns_; ++column) {
      const std::size_t colon = line.rest().find(':');
      if (colon == std::string_view::npos) return line.Fail("expected \":\" and the tensor's name");
      static_cast<void>(line.Skip(line.rest().substr(0, colon + 1)));
    }
    line.SkipBlanks();
    buffer.id = line.rest();
    if (buffer.id.empty()) buffer.id = "tensor";
    if (buffer.size == 0) return {};
    placed_.problem.buffers.push_back(std::move(buffer));
    placed_.offsets.push_back(begin);
    return {};
  }

  Result<void> FinishTable() {
    if (placed_.problem.buffers.empty()) return {};
    PlacedBuffers placed = std::exchange(placed_, {});
    // Constants: they are used at some steps, but must be in the memory at all of them.
    const bool constant = title_.find("read-only") != std::string_view::npos ||
                          title_.find("Permanent") != std::string_view::npos;
    if (constant) {
      Step last = 1;
      for (const Buffer& buffer : placed.problem.buffers) last = std::max(last, buffer.end);
      for (Buffer& buffer : placed.problem.buffers) {
        buffer.start = 0;
        buffer.end = last;
      }
    }
    auto problem = ProblemOfPlan(NameOf(title_), std::move(placed));
    if (!problem) return source_.FailWith(std::move(problem.error()));
    if (constant) {
      problem->notes.emplace_back("Constants: they are taken as live throughout.");
    }
    problems_.push_back(std::move(*problem));
    return {};
  }

  const Source& source_;
  Problems problems_;
  // Of the table that is being read.
  bool within_ = false;
  bool prefixed_ = false;       // Each line has other words first.
  std::ptrdiff_t columns_ = 0;  // How many end in a colon: all but the name.
  std::string_view title_;
  PlacedBuffers placed_;
};

}  // namespace

bool LooksLikeVela(std::string_view text) {
  for (std::size_t at = text.find(kAddresses); at != std::string_view::npos;
       at = text.find(kAddresses, at)) {
    const std::size_t begin = text.substr(0, at).rfind('\n') + 1;
    const std::size_t end = std::min(text.find('\n', at), text.size());
    if (HeaderIn(text.substr(begin, end - begin)) != std::string_view::npos) return true;
    at = end;
  }
  return false;
}

Result<Problems> ReadVela(const Source& source) { return VelaReader(source).Read(); }

}  // namespace berth::internal::recorded
