// schedule/compile.h -- the instance of a graph.
#ifndef BERTH_SCHEDULE_COMPILE_H_
#define BERTH_SCHEDULE_COMPILE_H_

#include "graph/topology.h"
#include "schedule/instance.h"

namespace berth::internal::schedule {

// Its operators and storages. Operator k is operator k of the graph. Cost: linear.
[[nodiscard]] Instance InstanceOf(const Topology& topology);

}  // namespace berth::internal::schedule

#endif  // BERTH_SCHEDULE_COMPILE_H_
