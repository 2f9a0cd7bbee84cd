// place/greedy/shelves.h -- plans for tables of any kind and size, when there is no time for more.
//
// Both take each buffer as solid from its first section to its last, with bytes to spare for its
// alignment, and put all that are not pinned above the highest pin. So they need no search for
// room. Their plans are legal because sizes, alignments and the highest pin add up to at most 2^60.
#ifndef BERTH_PLACE_GREEDY_SHELVES_H_
#define BERTH_PLACE_GREEDY_SHELVES_H_

#include <functional>
#include <optional>
#include <vector>

#include "model/instance.h"

namespace berth::internal::greedy {

// Lowest-first selection on the skyline (plateaus.h) of some buffers without pins as if they had neither
// gaps nor alignments. From any base on, each can lie at the base plus its offset, rounded up to its
// alignment: none then reaches beyond the base plus the height. `order`: the first one first; the
// offsets are parallel to it. Nothing if `stop`, which is asked now and then unless it is empty, says
// yes.
struct SolidPacking {
  std::vector<Bytes> offsets = {};
  Bytes height = 0;
};
[[nodiscard]] std::optional<SolidPacking> PackSolid(const Instance& instance,
                                                    const std::vector<BufferIndex>& order,
                                                    const std::function<bool()>& stop);

// Lowest-first selection on the skyline (plateaus.h): 0.2 s for 100,000 buffers. Nothing if `stop`,
// which is asked now and then, returns true.
[[nodiscard]] std::optional<std::vector<Bytes>> PlaceSolid(const Instance& instance,
                                                           const std::function<bool()>& stop);

// Buffers of about the same size, within a factor of two, share shelves of the largest of them;
// each shelf takes the next buffer as soon as it is free. Cost: O(n log n), 0.3 s for a million
// buffers.
[[nodiscard]] std::vector<Bytes> PlaceOnShelves(const Instance& instance);

}  // namespace berth::internal::greedy

#endif  // BERTH_PLACE_GREEDY_SHELVES_H_
