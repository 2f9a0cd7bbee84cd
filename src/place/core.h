// place/core.h -- Place(), and of what a proof that nothing fits was derived.
#ifndef BERTH_PLACE_CORE_H_
#define BERTH_PLACE_CORE_H_

#include <cstddef>
#include <optional>
#include <vector>

#include "berth/place.h"

namespace berth::internal {

// As Place(). `core`: if the outcome is kInfeasible, buffers that cannot be placed by themselves, by
// index, increasing; nothing if the proof does not tell. The guided search tells (and so kAuto may),
// for up to 2^12 buffers.
[[nodiscard]] Result<PlanAnswer> PlaceWithCore(const Problem& problem, const PlaceOptions& options,
                                               Budget& budget,
                                               std::optional<std::vector<std::size_t>>& core);

}  // namespace berth::internal

#endif  // BERTH_PLACE_CORE_H_
