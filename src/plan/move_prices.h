// plan/move_prices.h -- a lower bound for plans with moves, from prices of bytes.
//
// Give each byte of memory m at step s a price p(m, s) >= 0. A tensor that pays for what operators do
// with it, for its copies and for the bytes that it occupies takes a shortest path through its steps
// and memories. The sum of all shortest paths, less the price of all bytes that there are, is at most
// the cost of any plan in this order: a plan occupies no more than that (Lagrangian relaxation, whose
// prices are improved by subgradients, ascent.h). It holds for copies between any two steps. The room that
// copies need at both ends is left out.
#ifndef BERTH_PLAN_MOVE_PRICES_H_
#define BERTH_PLAN_MOVE_PRICES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/wide.h"
#include "berth/budget.h"
#include "plan/ascent.h"
#include "plan/move_model.h"

namespace berth::internal::plan {

// What bytes cost at a price; and all bytes that there are, at prices by memory, then step.
[[nodiscard]] inline std::int64_t Rent(std::int64_t price, Bytes bytes) {
  const Wide rent = Wide(price) * Wide(bytes);
  return rent < Wide(kTooMuch) ? static_cast<std::int64_t>(rent) : kTooMuch;
}
[[nodiscard]] Wide RentOfAll(const MoveModel& model, const std::vector<Multiplier>& prices);

// Bytes beyond the room of each memory and step: the first entries of `excess`.
class BytesOver {
 public:
  BytesOver(const MoveModel& model, std::vector<double>& excess) : model_(model), excess_(excess) {}
  // No bytes at all.
  void Clear();
  void Add(std::size_t memory, Step step, Bytes bytes) {
    if (model_.room[memory][static_cast<std::size_t>(step)] == kAnyRoom) return;
    excess_[memory * static_cast<std::size_t>(model_.steps) + static_cast<std::size_t>(step)] +=
        static_cast<double>(bytes);
  }

 private:
  const MoveModel& model_;
  std::vector<double>& excess_;
};

class MovePrices {
 public:
  // Prices that make the bound large, and stops at `upper` (scaled), the cost of a known plan. Cost:
  // some hundred walks over all cells of the model, at most about a second.
  MovePrices(const MoveModel& model, std::int64_t upper, Budget& budget);

  // Scaled; at most the cost of any plan.
  [[nodiscard]] std::int64_t bound() const { return bound_; }
  // Of a byte, scaled.
  [[nodiscard]] std::int64_t price(std::size_t memory, Step step) const {
    return prices_[memory * static_cast<std::size_t>(model_.steps) + static_cast<std::size_t>(step)]
        .value;
  }
  // The least that item i pays from step `step` on, rent included, if it is then in the k-th of its
  // memories.
  [[nodiscard]] std::int64_t From(std::size_t i, Step step, std::size_t k) const {
    const MoveItem& item = model_.items[i];
    return values_[first_[i] + static_cast<std::size_t>(step - item.start) * item.memories.size() +
                   k];
  }
  // The same from after `step` on.
  [[nodiscard]] std::int64_t After(std::size_t i, Step step, std::size_t k) const;
  // The same from its beginning, in the best memory.
  [[nodiscard]] std::int64_t Whole(std::size_t i) const;

 private:
  template <typename Relaxation>
  friend std::int64_t Ascend(Relaxation&, std::vector<Multiplier>&, std::int64_t, std::size_t,
                             Budget&);
  // The bound at these prices; fills values_.
  std::int64_t Set(const std::vector<Multiplier>& prices);
  void FindPaths(std::size_t i);
  // Bytes beyond the room of each memory and step on the shortest paths.
  void FindExcess(std::vector<double>& excess) const;

  const MoveModel& model_;
  std::vector<std::size_t> first_;
  std::vector<std::int64_t> values_;
  std::vector<Multiplier> prices_;  // By memory, then step.
  std::int64_t bound_ = 0;
};

}  // namespace berth::internal::plan

#endif  // BERTH_PLAN_MOVE_PRICES_H_
