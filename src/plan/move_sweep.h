// plan/move_sweep.h -- where every tensor is at every step, by bytes alone.
//
// A sweep along the order keeps partial plans side by side. A state is the memory of each tensor that
// is live (and what rounding has left over); of two plans with the same state only the cheaper one is
// kept. Before each step every live tensor stays or is copied, and every new one gets a memory, one
// decision after another; what does not fit is dropped, and so is what costs too much with the least
// that the rest must cost at some prices (MovePrices). Where nothing else is dropped, the plan at the
// end is the best one by bytes. Where there are more states than the width allows, those of the least
// estimate are kept, and the least that was dropped still is a bound.
#ifndef BERTH_PLAN_MOVE_SWEEP_H_
#define BERTH_PLAN_MOVE_SWEEP_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "berth/budget.h"
#include "plan/move_model.h"
#include "plan/move_prices.h"

namespace berth::internal::plan {

struct SweepOptions {
  std::size_t width = 256;
  // Copies at any time; else only next to an operator that uses the tensor, which is faster and proves
  // nothing.
  bool anywhere = false;
  // Costs are rounded up as in plans. False in relaxations: the scaled ones count.
  bool rounded = true;
};

struct SweepAnswer {
  std::optional<std::int64_t> cost;  // Of the best plan that costs less than `upper`.
  std::vector<Stay> stays;           // Of this plan: by item, then by start.
  // At most the cost of any plan by bytes; no more than `upper`.
  std::int64_t bound = 0;
};

// `upper`, in whole units: plans that cost this much are not wanted. Cost: as many copies of states as
// the width times the decisions, at most some seconds at a width of 4096.
[[nodiscard]] SweepAnswer Sweep(const MoveModel& model, const MovePrices& prices,
                                std::int64_t upper, const SweepOptions& options, Budget& budget);

}  // namespace berth::internal::plan

#endif  // BERTH_PLAN_MOVE_SWEEP_H_
