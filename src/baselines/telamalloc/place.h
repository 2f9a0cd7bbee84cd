// baselines/telamalloc/place.h -- TelaMalloc as a placer: the heuristic, the search, minimising.
#ifndef BERTH_BASELINES_TELAMALLOC_PLACE_H_
#define BERTH_BASELINES_TELAMALLOC_PLACE_H_

#include "baselines/task.h"

namespace berth::internal {

// Where the search finds no plan, that of the greedy algorithms is offered. kSize: too many pairs
// of buffers meet.
[[nodiscard]] Ending RunTelaMalloc(const Task& task);

}  // namespace berth::internal

#endif  // BERTH_BASELINES_TELAMALLOC_PLACE_H_
