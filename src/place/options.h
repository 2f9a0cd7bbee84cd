// place/options.h -- the options of placement, checked.
#ifndef BERTH_PLACE_OPTIONS_H_
#define BERTH_PLACE_OPTIONS_H_

#include "berth/place.h"
#include "place/canonical/canonical.h"
#include "place/learning/options.h"
#include "place/niche/options.h"

namespace berth::internal {

// The options of all exact searches.
struct EngineOptions {
  canonical::Options canonical;
  niche::Options niche;
  learning::Options guided;
};

// What SetOption() has stored in `options`.
[[nodiscard]] EngineOptions EngineOptionsOf(const PlaceOptions& options);
// Sets them all. Error: kInvalidOptions, naming the first option out of bounds.
[[nodiscard]] Result<void> SetEngineOptions(const EngineOptions& engines, PlaceOptions& options);

// Error: kInvalidOptions, naming the first option out of bounds.
[[nodiscard]] Result<void> ValidateOptions(const PlaceOptions& options);

}  // namespace berth::internal

#endif  // BERTH_PLACE_OPTIONS_H_
