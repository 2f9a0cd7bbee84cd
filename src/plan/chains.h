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

// Which of the chains is chosen.
struct ChainGoal {
  Bytes enough = 0;  // Lower peaks are worth no more.
  // Whether other steps, which the strips leave as they are, are part of the peak that counts. If
  // so, a chain does not grow for a peak below theirs; if not, it is ready for theirs to be lowered
  // as well.
  bool count_other_steps = false;
};

// Operators around the peak of `order`, and the number of their strips, such that the peak is the
// lowest found; of those that are about equal, or within the goal, those with the least computed
// twice. None if none was found that is lower than the peak by a hundredth. `budget` is polled and
// pays one node for each choice looked at. Cost: linear, and that of the choices, each as long as
// the steps between its operators.
[[nodiscard]] std::optional<ChainInStrips> FindChain(const Graph& graph, const Order& order,
                                                     const Counting& counting,
                                                     const ChainGoal& goal, Budget& budget);

}  // namespace berth::internal::plan

#endif  // BERTH_PLAN_CHAINS_H_
