// baselines/settings.h -- the settings of baselines, from text.
#ifndef BERTH_BASELINES_SETTINGS_H_
#define BERTH_BASELINES_SETTINGS_H_

#include "baselines/task.h"
#include "berth/baselines.h"
#include "berth/result.h"

namespace berth::internal {

// Error: kInvalidOptions, naming the first that does not exist or is out of bounds.
[[nodiscard]] Result<Settings> ParseSettings(const BaselineOptions& options);

}  // namespace berth::internal

#endif  // BERTH_BASELINES_SETTINGS_H_
