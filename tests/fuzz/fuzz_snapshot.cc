// A snapshot that ReadSnapshot() accepts is consistent, and its pools are valid problems unless their
// bytes are too many; a rejected one gets an offset within the file, on one line.

#include <cstddef>
#include <cstdint>
#include <string>

#include "berth/problem.h"
#include "berth/snapshot.h"
#include "tests/fuzz/require.h"

namespace {

using berth::internal::Require;

void CheckPool(const berth::MemorySnapshot& snapshot, const berth::SnapshotPool& pool,
               std::size_t sites) {
  const std::size_t count = pool.problem.buffers.size();
  Require(
      pool.addresses.size() == count && pool.stacks.size() == count && pool.sites.size() == count,
      "columns of different lengths");
  berth::Bytes total = 0;
  for (std::size_t b = 0; b < count; ++b) {
    total += pool.problem.buffers[b].size;
    Require(pool.stacks[b] < snapshot.stack_count() && pool.sites[b] < sites, "an index too large");
  }
  if (total <= berth::kMaxBytes) {
    const auto valid = berth::Validate(pool.problem);
    Require(valid.has_value(), valid ? "" : valid.error().message.c_str());
    Require(berth::MaxLiveLoad(pool.problem).load == pool.peak.load, "another peak");
  }
  berth::Bytes at_peak = 0;
  for (const berth::SiteUse& site : pool.at_peak) at_peak += site.bytes;
  Require(at_peak == pool.peak.load, "the sites at the peak do not add up to it");
  Require(!pool.reserved.empty() && pool.reserved.front().first == 0, "no reserved bytes at first");
  for (const auto& [step, bytes] : pool.reserved) {
    Require(bytes >= 0 && bytes <= pool.most_reserved, "reserved bytes out of range");
  }
  for (const berth::ReservedRange& range : pool.ranges) {
    Require(range.free >= range.largest_free && range.free <= range.size,
            "more free than reserved");
  }
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // A copy: reading past its end is then detected.
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  const auto snapshot = berth::ReadSnapshot(bytes, "s");
  if (!snapshot) {
    const std::string& message = snapshot.error().message;
    Require(message.substr(0, 8) == "s: byte ", message.c_str());
    Require(std::stoull(message.substr(8)) <= size, "an offset beyond the file");
    Require(message.find_first_of(std::string("\n\r\0\x1b", 4)) == std::string::npos,
            "an error of several lines");
    return 0;
  }
  for (const berth::SnapshotEvent& event : snapshot->events) {
    Require(event.stack < snapshot->stack_count() && event.pool < snapshot->pool_ids.size(),
            "an event with an index too large");
  }
  const berth::SnapshotUse use = berth::UseOf(*snapshot);
  for (const berth::SnapshotPool& pool : use.pools) {
    CheckPool(*snapshot, pool, use.sites.size());
  }
  return 0;
}
