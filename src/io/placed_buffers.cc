#include "io/placed_buffers.h"

#include <cstddef>
#include <utility>

#include "base/try.h"
#include "berth/colocate.h"

namespace berth::internal {

Bytes CommonAlignment(const std::vector<Bytes>& offsets, Bytes most) {
  Bytes alignment = most;
  for (const Bytes offset : offsets) {
    while (offset % alignment != 0) alignment /= 2;
  }
  return alignment;
}

Result<PlacedBuffers> Merged(const PlacedBuffers& placed, Bytes alignment, bool& exact) {
  Colocated merged =
      BERTH_TRY(Colocate(placed.problem, GroupsSharingBytes(placed.problem, placed.offsets)));
  PlacedBuffers result{std::move(merged.problem), {}};
  std::vector<Buffer>& buffers = result.problem.buffers;
  result.offsets.resize(buffers.size());
  for (std::size_t b = 0; b < placed.offsets.size(); ++b) {
    result.offsets[merged.places[b].buffer] = placed.offsets[b] - merged.places[b].distance;
  }
  for (std::size_t b = 0; b < buffers.size(); ++b) {
    if (result.offsets[b] % alignment == 0) buffers[b].alignment = alignment;
  }
  BERTH_TRY(Validate(result.problem));  // The sum of all bytes may have grown.
  const Placement plan{result.offsets, Height(result.problem, result.offsets)};
  exact = ValidatePlacement(result.problem, plan).has_value();
  return result;
}

}  // namespace berth::internal
