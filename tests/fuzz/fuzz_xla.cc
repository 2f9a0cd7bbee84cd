// Dumps of XLA that are accepted have values within their allocations, and tables for which XLA's
// own offsets are a plan where the reader says so. An input that begins with "P" is a protocol buffer,
// one that begins with "A" has the tables of memory space assignment; in others and in those, a byte
// 0 ends the first of the two files.

#include <cstddef>
#include <cstdint>
#include <string>

#include "berth/result.h"
#include "berth/xla.h"
#include "tests/fuzz/require.h"

using berth::internal::Require;

namespace {

berth::Result<berth::XlaAssignment> Read(std::string text) {
  if (text.starts_with('P')) {
    // A copy: reading past its end is then detected.
    return berth::ReadXlaProto(std::string(text.substr(1)), "a");
  }
  std::string ranges;
  const std::size_t end = text.find('\0');
  if (end != std::string::npos) {
    ranges = text.substr(end + 1);
    text.resize(end);
  }
  if (text.starts_with('A')) {
    ranges = "buffer_id,buffer_name,alt_mem_benefit,size,definition_time,use_times\n" + ranges;
    const auto problem = berth::ReadXlaBufferInfo(ranges, "r");
    Require(!problem || berth::Validate(*problem).has_value(), "a table is valid");
    return berth::ReadXlaAllocInfo("buffer_id,size,offset,start_time,end_time\n" + text.substr(1),
                                   "a", ranges, "r");
  }
  return berth::ReadXlaAssignment("BufferAssignment:\n" + text, "a",
                                  "HloLiveRange (max 9):\n" + ranges, "r");
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto xla = Read(std::string(reinterpret_cast<const char*>(data), size));
  if (!xla) {
    Require(xla.error().message.starts_with("a:") || xla.error().message.starts_with("r:"),
            "an error names its file");
    return 0;
  }
  for (const berth::XlaAllocation& allocation : xla->allocations) {
    for (const berth::XlaValue& value : allocation.values) {
      Require(value.offset + value.size <= allocation.size, "a value is within its allocation");
    }
    const auto table = berth::XlaTableOf(allocation, xla->steps);
    if (!table) continue;
    Require(berth::Validate(table->problem).has_value(), "a table is valid");
    const berth::Placement plan{table->offsets, berth::Height(table->problem, table->offsets)};
    Require(!table->exact || berth::ValidatePlacement(table->problem, plan).has_value(),
            "XLA's offsets are a plan");
    Require(plan.height <= allocation.size, "XLA's plan is within its allocation");
  }
  return 0;
}
