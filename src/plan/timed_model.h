// plan/timed_model.h -- what operators and copies take where copies are made while operators run, and the
// simplest lower bound for the time of a run: the times of the operators and the least that their accesses cost
// where tensors move for nothing. timed_prices.h has one in which copies count.
#ifndef BERTH_PLAN_TIMED_MODEL_H_
#define BERTH_PLAN_TIMED_MODEL_H_

#include <cstdint>
#include <optional>
#include <vector>

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
  // The rest is scaled, and at most kTooMuch.
  std::vector<std::vector<std::int64_t>> scaled_copying;
  // By step: what its operator takes wherever the items are.
  std::vector<std::int64_t> fixed;
  // Operators that are not of the model, and what each takes at least. In every order it runs right before one
  // of the steps from `first` through `last`; that of the number of steps: at the end.
  struct Other {
    Step first;
    Step last;
    std::int64_t time;
  };
  std::vector<Other> others;
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

// At most the time of any run. `prices` are of `model.free`.
[[nodiscard]] std::int64_t BoundOfTime(const TimedModel& model, const MovePrices& prices);

}  // namespace berth::internal::plan

#endif  // BERTH_PLAN_TIMED_MODEL_H_
