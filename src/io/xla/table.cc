// The values of an allocation as a table of buffers.

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/text.h"
#include "base/try.h"
#include "base/unique_names.h"
#include "berth/colocate.h"
#include "berth/xla.h"
#include "io/placed_buffers.h"
#include "io/xla/names.h"

namespace berth {
namespace {

constexpr Bytes kMostAlignment = 256;

using Groups = std::vector<std::vector<Member>>;

// What has exactly the bytes of a value that is `phi`, where there are several such values. `values` are
// parallel to the buffers.
Groups GroupsOfPhis(const std::vector<const XlaValue*>& values) {
  std::map<std::pair<Bytes, Bytes>, std::vector<Member>> with_bytes;
  for (const XlaValue* value : values) {
    if (value->phi) with_bytes.try_emplace({value->offset, value->size});
  }
  if (with_bytes.empty()) return {};
  for (std::size_t v = 0; v < values.size(); ++v) {
    const auto found = with_bytes.find({values[v]->offset, values[v]->size});
    if (found != with_bytes.end()) found->second.push_back({v, 0});
  }
  Groups groups;
  for (auto& [bytes, members] : with_bytes) {
    if (members.size() > 1) groups.push_back(std::move(members));
  }
  return groups;
}

// Each of the groups as one buffer.
Result<internal::PlacedBuffers> Together(const internal::PlacedBuffers& placed,
                                         const Groups& groups) {
  Colocated together = BERTH_TRY(Colocate(placed.problem, groups));
  internal::PlacedBuffers result{std::move(together.problem), {}};
  result.offsets.resize(result.problem.buffers.size());
  for (std::size_t b = 0; b < placed.offsets.size(); ++b) {
    result.offsets[together.places[b].buffer] = placed.offsets[b];
  }
  return result;
}

std::string NoteOnPhis(const internal::PlacedBuffers& placed, const Groups& groups) {
  const auto id = [&](std::size_t member) {
    return internal::Quoted(placed.problem.buffers[groups[0][member].buffer].id);
  };
  return (groups.size() == 1 ? "One group of values has"
                             : internal::Grouped(static_cast<std::int64_t>(groups.size())) +
                                   " groups of values have") +
         " the bytes of a value that a loop or a branch gives, such as " + id(0) + " and " + id(1) +
         ": kept in one place, although the text does not say that XLA must. NAME.hlo.pb says it.";
}

}  // namespace

Result<XlaTable> XlaTableOf(const XlaAllocation& allocation, Step steps,
                            std::optional<Bytes> alignment) {
  XlaTable table;
  internal::PlacedBuffers placed;
  internal::UniqueNames names;
  placed.problem.buffers.reserve(allocation.values.size());
  placed.offsets.reserve(allocation.values.size());
  std::vector<const XlaValue*> values;
  values.reserve(allocation.values.size());
  for (const XlaValue& value : allocation.values) {
    if (value.size == 0) continue;
    Buffer buffer;
    buffer.id = names.Take(internal::Printable(value.name));
    if (!value.live) ++table.unknown;
    std::tie(buffer.start, buffer.end) = internal::xla::LifeOf(value, steps);
    buffer.size = value.size;
    placed.problem.buffers.push_back(std::move(buffer));
    placed.offsets.push_back(value.offset);
    values.push_back(&value);
  }
  const Groups phis = GroupsOfPhis(values);
  std::string note;
  if (!phis.empty()) {
    note = NoteOnPhis(placed, phis);
    placed = BERTH_TRY(Together(placed, phis));
  }
  table.alignment = alignment.value_or(internal::CommonAlignment(placed.offsets, kMostAlignment));
  static_cast<PlannedProblem&>(table) =
      BERTH_TRY(internal::Merged(std::move(placed), table.alignment));
  if (!note.empty()) table.notes.push_back(std::move(note));
  table.exact = table.exact && phis.empty() && table.unknown == 0;
  return table;
}

}  // namespace berth
