// graph/loads.h -- a graph in which given tensors are made by operators of their own.
#ifndef BERTH_GRAPH_LOADS_H_
#define BERTH_GRAPH_LOADS_H_

#include <cstddef>

#include "berth/graph.h"

namespace berth::internal {

// The parts of `graph` that matter for its orders, with an additional operator, before all others,
// for each counted tensor that is given and used: it makes the tensor and the given views of it. Such a
// tensor needs memory from its first use through its last only, and has a copy off chip in the end: it is
// no result. The indices of the operators of `graph` grow by the number of these, `loads`.
// `graph` must be valid. Cost: near-linear.
[[nodiscard]] Graph WithLoads(const Graph& graph, const Counting& counting, std::size_t& loads);

}  // namespace berth::internal

#endif  // BERTH_GRAPH_LOADS_H_
