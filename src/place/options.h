// place/options.h -- the options of placement, checked.
#ifndef BERTH_PLACE_OPTIONS_H_
#define BERTH_PLACE_OPTIONS_H_

#include "berth/place.h"

namespace berth::internal {

// Error: kInvalidOptions, naming the first option out of bounds.
[[nodiscard]] Result<void> ValidateOptions(const PlaceOptions& options);

}  // namespace berth::internal

#endif  // BERTH_PLACE_OPTIONS_H_
