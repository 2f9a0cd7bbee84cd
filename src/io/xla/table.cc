// The values of an allocation as a table of buffers.

#include <tuple>
#include <utility>

#include "base/text.h"
#include "base/try.h"
#include "base/unique_names.h"
#include "berth/xla.h"
#include "io/placed_buffers.h"
#include "io/xla/names.h"

namespace berth {
namespace {

constexpr Bytes kMostAlignment = 256;

}  // namespace

Result<XlaTable> XlaTableOf(const XlaAllocation& allocation, Step steps,
                            std::optional<Bytes> alignment) {
  XlaTable table;
  internal::PlacedBuffers placed;
  internal::UniqueNames names;
  placed.problem.buffers.reserve(allocation.values.size());
  placed.offsets.reserve(allocation.values.size());
  for (const XlaValue& value : allocation.values) {
    if (value.size == 0) continue;
    Buffer buffer;
    buffer.id = names.Take(internal::Printable(value.name));
    if (!value.live) ++table.unknown;
    std::tie(buffer.start, buffer.end) = internal::xla::LifeOf(value, steps);
    buffer.size = value.size;
    placed.problem.buffers.push_back(std::move(buffer));
    placed.offsets.push_back(value.offset);
  }
  table.alignment = alignment.value_or(internal::CommonAlignment(placed.offsets, kMostAlignment));
  static_cast<PlannedProblem&>(table) =
      BERTH_TRY(internal::Merged(std::move(placed), table.alignment));
  return table;
}

}  // namespace berth
