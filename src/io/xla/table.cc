// The values of an allocation as a table of buffers.

#include <algorithm>
#include <cstddef>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

#include "base/disjoint_sets.h"
#include "base/text.h"
#include "base/try.h"
#include "base/unique_names.h"
#include "berth/colocate.h"
#include "berth/xla.h"

namespace berth {
namespace {

constexpr Bytes kMostAlignment = 256;

// Groups of buffers that share bytes at `offsets` at some step, directly or through others, with their
// distances.
std::vector<std::vector<Member>> GroupsOf(const Problem& problem,
                                          const std::vector<Bytes>& offsets) {
  const std::vector<Buffer>& buffers = problem.buffers;
  std::vector<std::size_t> order(buffers.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return buffers[a].start != buffers[b].start ? buffers[a].start < buffers[b].start : a < b;
  });
  internal::DisjointSets sharing(buffers.size());
  std::vector<std::size_t> live;
  for (const std::size_t b : order) {
    std::erase_if(live, [&](std::size_t a) { return buffers[a].end <= buffers[b].start; });
    for (const std::size_t a : live) {
      if (offsets[a] < offsets[b] + buffers[b].size && offsets[b] < offsets[a] + buffers[a].size) {
        sharing.Join(a, b);
      }
    }
    live.push_back(b);
  }
  std::map<std::size_t, std::vector<Member>> groups;
  for (std::size_t b = 0; b < buffers.size(); ++b) {
    groups[sharing.Find(b)].push_back({b, offsets[b]});
  }
  std::vector<std::vector<Member>> result;
  for (auto& [root, members] : groups) {
    if (members.size() < 2) continue;
    const Bytes base = members.front().distance;
    for (Member& member : members) member.distance -= base;
    result.push_back(std::move(members));
  }
  return result;
}

Bytes CommonAlignment(const std::vector<Bytes>& offsets) {
  Bytes alignment = kMostAlignment;
  for (const Bytes offset : offsets) {
    while (offset % alignment != 0) alignment /= 2;
  }
  return alignment;
}

}  // namespace

Result<XlaTable> XlaTableOf(const XlaAllocation& allocation, Step steps,
                            std::optional<Bytes> alignment) {
  XlaTable table;
  Problem problem;
  std::vector<Bytes> offsets;
  internal::UniqueNames names;
  for (const XlaValue& value : allocation.values) {
    if (value.size == 0) continue;
    Buffer buffer;
    buffer.id = names.Take(internal::Printable(value.name));
    if (!value.live) ++table.unknown;
    std::tie(buffer.start, buffer.end) =
        value.live.value_or(std::pair<Step, Step>{0, std::max<Step>(steps, 1)});
    buffer.size = value.size;
    problem.buffers.push_back(std::move(buffer));
    offsets.push_back(value.offset);
  }
  const Bytes common = alignment.value_or(CommonAlignment(offsets));
  const auto groups = GroupsOf(problem, offsets);
  Colocated merged = BERTH_TRY(Colocate(problem, groups));
  table.problem = std::move(merged.problem);
  table.offsets.resize(table.problem.buffers.size());
  for (std::size_t b = 0; b < offsets.size(); ++b) {
    table.offsets[merged.places[b].buffer] = offsets[b] - merged.places[b].distance;
  }
  for (std::size_t b = 0; b < table.offsets.size(); ++b) {
    if (table.offsets[b] % common == 0) table.problem.buffers[b].alignment = common;
  }
  BERTH_TRY(Validate(table.problem));  // The sum of all bytes may have grown.
  const Placement plan{table.offsets, Height(table.problem, table.offsets)};
  table.exact = ValidatePlacement(table.problem, plan).has_value();
  return table;
}

}  // namespace berth
