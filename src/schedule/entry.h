// schedule/entry.h -- Schedule() for callers that have checked the graph already.
#ifndef BERTH_SCHEDULE_ENTRY_H_
#define BERTH_SCHEDULE_ENTRY_H_

#include "berth/answer.h"
#include "berth/budget.h"
#include "berth/graph.h"
#include "berth/result.h"
#include "berth/schedule.h"

namespace berth::internal::schedule {

// As Schedule(). `graph` must be valid, but may have no names.
[[nodiscard]] Result<PlanAnswer> ScheduleValid(const Graph& graph, const ScheduleOptions& options,
                                               Budget& budget);

}  // namespace berth::internal::schedule

#endif  // BERTH_SCHEDULE_ENTRY_H_
