// schedule/baseline.h -- orders that need no search: what frameworks run, and what to beat.
#ifndef BERTH_SCHEDULE_BASELINE_H_
#define BERTH_SCHEDULE_BASELINE_H_

#include <vector>

#include "berth/graph.h"
#include "schedule/instance.h"

namespace berth::internal::schedule {

// Program order, but each weight update right after the last operator that it waits for: its
// gradient is then freed at once. That is what the control edges of OLLA (section 4.3) aim at.
// Cost: O(n log n).
[[nodiscard]] std::vector<Op> HoistedUpdates(const Graph& graph, const Instance& instance);

}  // namespace berth::internal::schedule

#endif  // BERTH_SCHEDULE_BASELINE_H_
