#include "io/placed_buffers.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "base/nested_rectangles.h"
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

std::vector<Gap> Joined(std::vector<Gap> gaps) {
  std::sort(gaps.begin(), gaps.end(), [](const Gap& a, const Gap& b) { return a.start < b.start; });
  std::size_t kept = 0;
  for (const Gap& gap : gaps) {
    if (kept > 0 && gap.start <= gaps[kept - 1].end) {
      gaps[kept - 1].end = std::max(gaps[kept - 1].end, gap.end);
    } else {
      gaps[kept++] = gap;
    }
  }
  gaps.resize(kept);
  return gaps;
}

namespace {

// The gaps of a table may be many more than its buffers: where k buffers are live throughout, side by
// side, each of k others that have all their bytes at some steps makes a gap in each of them.
constexpr std::size_t kGapsForBuffer = 32;  // On average.

// The problem with a gap in each buffer while another one has all its bytes.
Result<Problem> Apart(const PlacedBuffers& placed) {
  Problem problem = placed.problem;
  std::vector<Buffer>& buffers = problem.buffers;
  std::vector<Rectangle> places;
  places.reserve(buffers.size());
  for (std::size_t b = 0; b < buffers.size(); ++b) {
    const Bytes offset = placed.offsets[b];
    Step from = buffers[b].start;
    const auto live_until = [&](Step end) {
      if (from < end) places.push_back({from, end, offset, offset + buffers[b].size, b});
    };
    for (const Gap& gap : buffers[b].gaps) {
      live_until(gap.start);
      from = gap.end;
    }
    live_until(buffers[b].end);
  }
  std::size_t left = kGapsForBuffer * buffers.size();
  bool few = true;
  ForEachNested(places, [&](std::size_t inner, Step start, Step end) {
    few = left-- > 0;
    if (few) buffers[places[inner].owner].gaps.push_back({start, end});
    return few;
  });
  for (Buffer& buffer : buffers) buffer.gaps = Joined(std::move(buffer.gaps));
  if (few) return problem;
  return Fail(ErrorCode::kInvalidProblem,
              "of " + std::to_string(buffers.size()) +
                  " buffers, those that have all bytes of others do so at more than " +
                  std::to_string(kGapsForBuffer) + " times for each buffer, the most that is read");
}

}  // namespace

Result<PlannedProblem> Merged(PlacedBuffers placed, Bytes alignment) {
  const auto groups = GroupsSharingBytes(placed.problem, placed.offsets);
  Colocated merged = BERTH_TRY(Colocate(placed.problem, groups));
  PlannedProblem result;
  result.problem = std::move(merged.problem);
  std::vector<Buffer>& buffers = result.problem.buffers;
  std::vector<Bytes>& offsets = result.offsets;
  offsets.resize(buffers.size());
  for (std::size_t b = 0; b < placed.offsets.size(); ++b) {
    offsets[merged.places[b].buffer] = placed.offsets[b] - merged.places[b].distance;
  }
  for (std::size_t b = 0; b < buffers.size(); ++b) {
    if (offsets[b] % alignment == 0) buffers[b].alignment = alignment;
  }
  BERTH_TRY(Validate(result.problem));  // The sum of all bytes may have grown.
  const Placement plan{offsets, Height(result.problem, offsets)};
  result.exact = ValidatePlacement(result.problem, plan).has_value();
  result.requests = BERTH_TRY(Apart(placed));
  if (!groups.empty()) {
    const auto id = [&](std::size_t member) {
      return Quoted(placed.problem.buffers[groups[0][member].buffer].id);
    };
    result.notes.push_back((groups.size() == 1
                                ? "One group of buffers shares"
                                : std::to_string(groups.size()) + " groups of buffers share") +
                           " bytes while both are live, such as " + id(0) + " and " + id(1) +
                           ": taken as intended, as for views and results written in place.");
  }
  if (!result.exact) {
    result.notes.emplace_back(
        "The plan that was read is not one for these buffers: it has others between some that "
        "share "
        "bytes, or is not valid (berth check). More may be needed here.");
  }
  result.request_offsets = std::move(placed.offsets);
  return result;
}

}  // namespace berth::internal
