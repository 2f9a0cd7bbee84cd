// schedule/options.h -- validates the options of scheduling.
#ifndef BERTH_SCHEDULE_OPTIONS_H_
#define BERTH_SCHEDULE_OPTIONS_H_

#include "berth/schedule.h"

namespace berth::internal::schedule {

// Error: kInvalidOptions, naming the first option out of bounds.
[[nodiscard]] Result<void> ValidateOptions(const ScheduleOptions& options);

}  // namespace berth::internal::schedule

#endif  // BERTH_SCHEDULE_OPTIONS_H_
