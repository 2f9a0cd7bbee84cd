// plan/timed_model.h -- what operators and copies take where copies are made while operators run, and a
// lower bound for the time of a run.
//
// A run takes at least the times of the operators, with their accesses, and at least those of the copies,
// as the engine makes one at a time. So it takes at least any mean of the two. In a MoveModel whose
// accesses cost a share of their time and whose copies cost the rest of theirs, the least cost of all
// paths that fit is such a bound, and MovePrices and Sweep() bound that. At the share of 0 for copies they
// are made for nothing, which is best where computing takes the most; a larger one counts where tensors
// would be copied all the time.
#ifndef BERTH_PLAN_TIMED_MODEL_H_
#define BERTH_PLAN_TIMED_MODEL_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "berth/budget.h"
#include "berth/graph.h"
#include "berth/graph_memories.h"
#include "plan/move_model.h"
#include "plan/move_prices.h"

namespace berth::internal::plan {

// With times in nanoseconds.
struct TimedModel {
  MoveModel free;                                  // Copies cost nothing.
  std::vector<std::int64_t> computing;             // By step; of a chain empty.
  std::vector<std::vector<std::int64_t>> copying;  // By item: as MoveItem::copy.
  std::int64_t all_computing = 0;                  // Of all operators.
};

// Of an order, and of what every order has in common. Nothing if it is too large (kMostMoveCells). All
// arguments must be valid, `memories` with `prefetch`.
[[nodiscard]] std::optional<TimedModel> TimedModelOf(const Graph& graph, const Order& order,
                                                     const Counting& counting,
                                                     const GraphMemories& memories);
[[nodiscard]] std::optional<TimedModel> TimedModelOf(const Graph& graph, const ChainOfOrders& chain,
                                                     Step steps, const GraphMemories& memories);

// `model` with copies that cost `sixteenths` of their time, whatever accesses cost.
[[nodiscard]] MoveModel WithCopyCosts(const TimedModel& model, std::int64_t sixteenths);

// Scaled: the time `upper` without that of computing.
[[nodiscard]] std::int64_t ScaledUpper(const TimedModel& model, std::int64_t upper);

// At most the time of any run; at most `upper`. `prices` are of `model.free`. Cost: a few MovePrices.
[[nodiscard]] std::int64_t BoundOfTime(const TimedModel& model, const MovePrices& prices,
                                       std::int64_t upper, Budget& budget);
// The same from sweeps of some width, which takes longer and is tighter.
[[nodiscard]] std::int64_t SweptBoundOfTime(const TimedModel& model, std::int64_t upper,
                                            std::size_t width, Budget& budget);

}  // namespace berth::internal::plan

#endif  // BERTH_PLAN_TIMED_MODEL_H_
