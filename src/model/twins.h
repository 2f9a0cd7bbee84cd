// model/twins.h -- identical buffers.
//
// Buffers that differ in nothing but their ids can change places in any plan. So a search that
// wants them in one order, the first of them lowest, misses no height.
#ifndef BERTH_MODEL_TWINS_H_
#define BERTH_MODEL_TWINS_H_

#include <vector>

#include "model/instance.h"

namespace berth::internal {

// The buffers that are live somewhere, by first section and then by everything else that a placer
// sees of them, so that twins are neighbours, in the order of their indices: some may not be, if hashes of
// different gaps are equal. Cost: O(n log n).
[[nodiscard]] std::vector<BufferIndex> ByShape(const Instance& instance);

// Whether two buffers that are live somewhere are identical. Pinned buffers never are: two with the
// same pin collide.
[[nodiscard]] bool AreTwins(const Instance& instance, BufferIndex x, BufferIndex y);

}  // namespace berth::internal

#endif  // BERTH_MODEL_TWINS_H_
