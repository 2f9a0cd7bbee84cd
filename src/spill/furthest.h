// spill/furthest.h -- a first schedule for a fixed order of any length.
//
// Where an operator does not fit, the storages that are needed last are spilled (Belady's rule),
// and of these as few as suffice: one that still fits beside the others stays after all. Storages
// have different sizes and prices, so this is not optimal (spill/search.h is), but it takes
// O(accesses x log) time and linear memory, where a beam copies sets of all operators and storages
// at each step.
#ifndef BERTH_SPILL_FURTHEST_H_
#define BERTH_SPILL_FURTHEST_H_

#include "spill/model.h"
#include "spill/search.h"

namespace berth::internal::spill {

// `model` is ordered (WithOrder()), and each of its operators fits `capacity`.
[[nodiscard]] Schedule FurthestFirst(const Model& model, Bytes capacity);

}  // namespace berth::internal::spill

#endif  // BERTH_SPILL_FURTHEST_H_
