// src/plan/chains.h -- which operators to compute in strips, so that a graph needs less memory.
#ifndef BERTH_PLAN_CHAINS_H_
#define BERTH_PLAN_CHAINS_H_

#include <optional>

#include "berth/budget.h"
#include "berth/graph.h"
#include "plan/strips.h"

namespace berth::internal::plan {

struct ChainInStrips {
  Chain chain;
  Strips strips;
  Bytes peak = 0;  // Of the steps from the first of the chain to the last, with the strips.
};

// Operators around the peak of `order`, and the number of their strips, such that the peak there is
// the lowest found; of equal ones, and of those within `enough`, those with the least computed
// twice. None if none was found that is lower than the peak by a hundredth. `budget` is polled and
// pays one node for each choice looked at. Cost: linear, and that of the choices, each as long as
// the steps between its operators.
[[nodiscard]] std::optional<ChainInStrips> FindChain(const Graph& graph, const Order& order,
                                                     const Counting& counting, Bytes enough,
                                                     Budget& budget);

}  // namespace berth::internal::plan

#endif  // BERTH_PLAN_CHAINS_H_
