// schedule/baseline.h -- orders that need no search: those of frameworks, as baselines.
#ifndef BERTH_SCHEDULE_BASELINE_H_
#define BERTH_SCHEDULE_BASELINE_H_

#include <vector>

#include "berth/graph.h"
#include "schedule/instance.h"

namespace berth::internal::schedule {

// Program order with each weight update right after the last operator that it waits for, so that
// its gradient is freed at once. The control edges of OLLA (section 4.3) have the same aim. Cost:
// O(n log n).
[[nodiscard]] std::vector<Op> HoistedUpdates(const Graph& graph, const Instance& instance);

}  // namespace berth::internal::schedule

#endif  // BERTH_SCHEDULE_BASELINE_H_
