// plan/prefetch_sweep.h -- where every tensor is at every step, and when copies are made while operators
// run: by bytes alone, in one order.
//
// As move_sweep.h, this sweeps along the order with partial plans side by side. A state is the memory of
// each live tensor and the copies that the DMA engine has taken on, in its order. Before each step any
// tensors are given to the engine (their targets have their bytes from then on), and then the operator
// waits for any number of copies, from the first on (their sources give up their bytes). Nothing is
// lost by keeping that order: a copy that is made after another may as well begin no earlier, which takes
// less room, and one that is waited for with a later one ends no later.
//
// A state has several times: that of the run, and the end of each copy under way. Of two states that are
// alike, one is dropped if none of its times is earlier (Pareto dominance). A lower bound of what is left
// comes from the prices of a model whose copies cost nothing. Where nothing is dropped for the width and
// no rule of thumb is on, the plan at the end is the best one by bytes.
#ifndef BERTH_PLAN_PREFETCH_SWEEP_H_
#define BERTH_PLAN_PREFETCH_SWEEP_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "berth/budget.h"
#include "plan/move_model.h"
#include "plan/move_prices.h"
#include "plan/timed_model.h"

namespace berth::internal::plan {

struct PrefetchSweepOptions {
  std::size_t width = 64;
  // Every copy at every time. Else rules of thumb leave out most of them, and nothing is proved.
  bool everything = false;
  // Of states, those are kept first that are good if copies cost so much of their time.
  std::int64_t sixteenths = 8;
};

struct PrefetchSweepAnswer {
  std::optional<std::int64_t> time;  // Of the best run shorter than `upper`.
  std::vector<Stay> stays;           // Of it: by item, then by start.
  std::int64_t bound = 0;            // At most the time of any run by bytes; no more than `upper`.
  std::int64_t nodes = 0;            // States.
};

// `prices` are of `model.free`, `guide` of WithCopyCosts(); `model` is of an order. Cost: as many copies of states as the width
// times the decisions.
[[nodiscard]] PrefetchSweepAnswer PrefetchSweep(const TimedModel& model, const MovePrices& prices,
                                                const MovePrices& guide, std::int64_t upper,
                                                const PrefetchSweepOptions& options,
                                                Budget& budget);

}  // namespace berth::internal::plan

#endif  // BERTH_PLAN_PREFETCH_SWEEP_H_
