#include "io/placed_buffers.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "base/rectangles.h"
#include "base/text.h"
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

namespace {

// `problem` with a gap in each buffer while another one has all its bytes.
Problem Apart(const PlacedBuffers& placed) {
  Problem problem = placed.problem;
  std::vector<Buffer>& buffers = problem.buffers;
  std::vector<Rectangle> places;
  places.reserve(buffers.size());
  for (std::size_t b = 0; b < buffers.size(); ++b) {
    const Bytes offset = placed.offsets[b];
    places.push_back({buffers[b].start, buffers[b].end, offset, offset + buffers[b].size, b});
  }
  ForEachWithin(places, [&](std::size_t outer, std::size_t inner) {
    const Step start = std::max(buffers[outer].start, buffers[inner].start);
    buffers[inner].gaps.push_back({start, std::min(buffers[outer].end, buffers[inner].end)});
  });
  for (Buffer& buffer : buffers) {
    std::vector<Gap>& gaps = buffer.gaps;
    std::sort(gaps.begin(), gaps.end(),
              [](const Gap& a, const Gap& b) { return a.start < b.start; });
    std::size_t last = 0;
    for (std::size_t g = 1; g < gaps.size(); ++g) {
      if (gaps[g].start <= gaps[last].end) {
        gaps[last].end = std::max(gaps[last].end, gaps[g].end);
      } else {
        gaps[++last] = gaps[g];
      }
    }
    if (!gaps.empty()) gaps.resize(last + 1);
  }
  return problem;
}

}  // namespace

Result<Together> Merged(const PlacedBuffers& placed, Bytes alignment) {
  const auto groups = GroupsSharingBytes(placed.problem, placed.offsets);
  Colocated merged = BERTH_TRY(Colocate(placed.problem, groups));
  Together result;
  result.placed.problem = std::move(merged.problem);
  std::vector<Buffer>& buffers = result.placed.problem.buffers;
  std::vector<Bytes>& offsets = result.placed.offsets;
  offsets.resize(buffers.size());
  for (std::size_t b = 0; b < placed.offsets.size(); ++b) {
    offsets[merged.places[b].buffer] = placed.offsets[b] - merged.places[b].distance;
  }
  for (std::size_t b = 0; b < buffers.size(); ++b) {
    if (offsets[b] % alignment == 0) buffers[b].alignment = alignment;
  }
  BERTH_TRY(Validate(result.placed.problem));  // The sum of all bytes may have grown.
  const Placement plan{offsets, Height(result.placed.problem, offsets)};
  result.exact = ValidatePlacement(result.placed.problem, plan).has_value();
  result.apart = Apart(placed);
  if (!groups.empty()) {
    const auto id = [&](std::size_t member) {
      return Quoted(placed.problem.buffers[groups[0][member].buffer].id);
    };
    result.note =
        (groups.size() == 1 ? "One group of buffers shares"
                            : std::to_string(groups.size()) + " groups of buffers share") +
        " bytes while both are live, such as " + id(0) + " and " + id(1) +
        ": taken as intended, as for views and results written in place.";
  }
  return result;
}

}  // namespace berth::internal
