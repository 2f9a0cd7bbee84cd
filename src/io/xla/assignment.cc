// XLA's dumps of buffer assignments as text. The form of the lines follows from what XLA prints, not
// from a specification: there is none.

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "base/arithmetic.h"
#include "base/line.h"
#include "base/source.h"
#include "base/text.h"
#include "base/try.h"
#include "berth/xla.h"
#include "io/xla/names.h"

namespace berth {
namespace {

using internal::CheckedAdd;
using internal::ForEachLine;
using internal::Line;
using internal::Quoted;
using internal::Source;

constexpr std::string_view kHead = "BufferAssignment:";
constexpr std::string_view kSuffix = "-buffer-assignment.txt";
constexpr std::string_view kRangesSuffix = "-live-range.txt";

// "name" and "name{}" are one value; the file of live ranges always has the index.
std::string WithIndex(std::string_view name) {
  return name.ends_with('}') ? std::string(name) : std::string(name) + "{}";
}

// ", output shape is |f32[4]|, maybe-live-out": attributes, some with shapes, which have commas.
Result<void> ReadAttributes(Line& line, XlaAllocation& allocation) {
  bool leaves = false;
  while (line.Skip(", ")) {
    if (line.Skip("color ")) {
      allocation.color = BERTH_TRY(line.Number());
    } else if (line.Skip("parameter ")) {
      allocation.use = "parameter " + std::to_string(BERTH_TRY(line.Number()));
    } else if (line.Skip("shape |")) {
      static_cast<void>(BERTH_TRY(line.Until("|")));
      if (line.Skip(" at ShapeIndex {")) static_cast<void>(BERTH_TRY(line.Until("}")));
    } else if (line.Skip("output shape is |")) {
      static_cast<void>(BERTH_TRY(line.Until("|")));
    } else {
      const std::size_t end = std::min(line.rest().find_first_of(",:"), line.rest().size());
      const std::string_view word = line.rest().substr(0, end);
      if (word == "preallocated-temp") {
        allocation.temporary = true;
        allocation.use = "temporary";
      } else if (word == "maybe-live-out") {
        leaves = true;
      } else if (word == "constant" || word == "thread-local") {
        allocation.use = word;
      }
      static_cast<void>(line.Skip(word));
    }
  }
  BERTH_TRY(line.Expect(":"));
  if (allocation.use.empty()) allocation.use = leaves ? "output" : "other";
  return {};
}

// "allocation 5: size 9216, preallocated-temp:", after its first word.
Result<XlaAllocation> ReadAllocation(Line& line) {
  XlaAllocation allocation;
  allocation.index = BERTH_TRY(line.Number());
  BERTH_TRY(line.Expect(": size "));
  allocation.size = BERTH_TRY(line.Number());
  BERTH_TRY(ReadAttributes(line, allocation));
  return allocation;
}

// "<9 fusion{0} (phi) @0> (size=1024,offset=8192): f32[256]{0}".
Result<XlaValue> ReadValue(Line& line, const XlaAllocation& allocation) {
  BERTH_TRY(line.Expect("<"));
  static_cast<void>(BERTH_TRY(line.Number()));
  BERTH_TRY(line.Expect(" "));
  XlaValue value;
  const std::string_view name = BERTH_TRY(line.Until("> (size="));
  value.name = internal::xla::NameOfValue(name);
  value.phi = internal::xla::WithoutColor(name).ends_with(internal::xla::kPhi);
  value.size = BERTH_TRY(line.Number());
  BERTH_TRY(line.Expect(",offset="));
  value.offset = BERTH_TRY(line.Number());
  if (value.offset + value.size > allocation.size) {
    return line.Fail("the value ends at byte " + std::to_string(value.offset + value.size) +
                     " of an allocation of " + std::to_string(allocation.size));
  }
  BERTH_TRY(line.Expect(")"));
  if (line.Skip(": ")) value.shape = line.rest();
  return value;
}

Result<XlaAssignment> ReadAllocations(const Source& source) {
  XlaAssignment result;
  bool of_other_color = false;
  BERTH_TRY(ForEachLine(source, [&](Line line) -> Result<void> {
    if (line.Skip("allocation ")) {
      of_other_color = false;
      result.allocations.push_back(BERTH_TRY(ReadAllocation(line)));
      const auto total = CheckedAdd(result.total, result.allocations.back().size);
      if (!total || *total > kMaxBytes) return line.Fail("all allocations have over 2^60 bytes");
      result.total = *total;
    } else if (line.Skip(" reused by buffers of a different color")) {
      of_other_color = true;  // The values that follow have been listed already.
    } else if (!of_other_color && line.Skip(" value: ")) {
      if (result.allocations.empty()) return line.Fail("a value before the first allocation");
      XlaAllocation& allocation = result.allocations.back();
      allocation.values.push_back(BERTH_TRY(ReadValue(line, allocation)));
    }
    return {};
  }));
  return result;
}

using Ranges = std::unordered_map<std::string, std::pair<Step, Step>>;

// "    fusion{}:7-8", both ends included; and the length of the sequence.
Result<Ranges> ReadRanges(const Source& source, Step& steps) {
  Ranges ranges;
  bool within = false;
  BERTH_TRY(ForEachLine(source, [&](Line line) -> Result<void> {
    if (line.Skip("HloLiveRange (max ")) {
      steps = BERTH_TRY(line.Number(0, kMaxStep - 1)) + 1;
    } else if (!line.rest().starts_with("    ")) {
      within = line.rest() == "  BufferLiveRange:";
    } else if (within) {
      static_cast<void>(line.Skip("    "));
      const std::size_t colon = line.rest().rfind(':');
      if (colon == std::string_view::npos) return line.Fail("expected NAME{INDEX}:FIRST-LAST");
      const std::string name = WithIndex(line.rest().substr(0, colon));
      static_cast<void>(line.Skip(line.rest().substr(0, colon + 1)));
      const Step first = BERTH_TRY(line.Number());
      BERTH_TRY(line.Expect("-"));
      const Step last = BERTH_TRY(line.Number(0, kMaxStep - 1));
      if (last < first) return line.Fail("the range ends before it begins");
      steps = std::max(steps, last + 1);
      ranges[name] = {first, last + 1};
    }
    return {};
  }));
  return ranges;
}

}  // namespace

bool LooksLikeXlaAssignment(std::string_view text) {
  return Source(text, "").text().starts_with(kHead);
}

std::optional<std::string> XlaRangesBeside(std::string_view path) {
  if (!path.ends_with(kSuffix)) return std::nullopt;
  path.remove_suffix(kSuffix.size());
  return std::string(path) + std::string(kRangesSuffix);
}

Result<XlaAssignment> ReadXlaAssignment(std::string_view text, std::string_view name,
                                        std::string_view ranges, std::string_view ranges_name) {
  const Source source(text, name);
  BERTH_TRY(source.CheckEncoding());
  if (!LooksLikeXlaAssignment(source.text())) {
    return source.FailAt(0, "expected " + Quoted(kHead) + ", as XLA writes it");
  }
  XlaAssignment result = BERTH_TRY(ReadAllocations(source));
  const Source ranges_source(ranges, ranges_name);
  if (!ranges_source.text().starts_with("HloLiveRange")) {
    return ranges_source.FailAt(0, "expected \"HloLiveRange\", as XLA writes it");
  }
  const Ranges found = BERTH_TRY(ReadRanges(ranges_source, result.steps));
  for (XlaAllocation& allocation : result.allocations) {
    for (XlaValue& value : allocation.values) {
      const auto range = found.find(WithIndex(value.name));
      if (range != found.end()) value.live = range->second;
    }
  }
  return result;
}

}  // namespace berth
