// plan/timed_prices.h -- a lower bound for the time of a run whose copies are made while operators run, in which
// copies take the engine's time and room.
//
// A run takes the times A(s) of its operators and the times in which none runs. What the engine does while the
// operator of step s runs takes at most A(s); what it does between two operators takes at most the time in which
// none of the model's runs. Give each of these a price from 0 to 1, and each byte of memory m at step s a price
// as in move_prices.h (Lagrangian relaxation). Then the operator of step s costs its time less the part that its
// price takes away, and a copy costs its time at the lowest price in its window, from its beginning until its
// source is given up. All this time its bytes are in the target, too, and pay for that. What a tensor
// costs at least is again a shortest path: through the memories that it is used in, and those that it is being
// copied to.
//
//                 step 0     step 1         step 2     step 3
//   sram           write      read
//                               | engine: price of step 1
//   dram                      (target)      (target)     read
//
// With prices of 0 for the engine, this is the bound with copies that cost nothing. Between two operators of an
// order nothing runs, so the engine's price is 1 there. Between two of a chain others may run. Their time counts
// where it takes away the most, of the places where they can be in any order.
#ifndef BERTH_PLAN_TIMED_PRICES_H_
#define BERTH_PLAN_TIMED_PRICES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "berth/budget.h"
#include "plan/ascent.h"
#include "plan/move_prices.h"
#include "plan/timed_model.h"

namespace berth::internal::plan {

class TimedPrices {
 public:
  // Begins with the prices of bytes of `free`, which are of `model.free`; the bound is no less than
  // theirs. Stops at `upper`, the time of a known run, and gives theirs where it would have more than
  // kMostMoveCells cells. Cost: some hundred walks over all cells of the model.
  TimedPrices(const TimedModel& model, const MovePrices& free, std::int64_t upper, Budget& budget);

  // At most the time of any run.
  [[nodiscard]] std::int64_t bound() const { return bound_; }

  // Of Ascend().
  std::int64_t Set(const std::vector<Multiplier>& prices);
  void FindExcess(std::vector<double>& excess) const;

 private:
  // The cells of item i: for each step and place, whether it is in no other, or where it is copied to.
  [[nodiscard]] std::size_t CellOf(std::size_t i, Step step, std::size_t k, std::size_t l) const {
    const MoveItem& item = model_.free.items[i];
    const std::size_t count = item.memories.size();
    const std::size_t wide = item.may_move ? count : 1;
    return first_[i] + (static_cast<std::size_t>(step - item.start) * count + k) * wide +
           (wide > 1 ? l : 0);
  }
  // Least costs from a step on: used in place k, and also copied to l (l = k: not copied).
  [[nodiscard]] std::int64_t From(std::size_t i, Step step, std::size_t k, std::size_t l) const {
    return values_[CellOf(i, step, k, l)];
  }
  // What is best, and what it costs from there on.
  struct Choice {
    std::int64_t value;
    std::size_t place;
  };
  // Where a copy is begun at `step`, from place k; k itself: none is.
  [[nodiscard]] Choice Start(std::size_t i, Step step, std::size_t k) const;
  // Where it is used at `step`, in place k one step before.
  [[nodiscard]] Choice Change(std::size_t i, Step step, std::size_t k) const;
  [[nodiscard]] std::int64_t After(std::size_t i, Step step, std::size_t k) const {
    return step + 1 < model_.free.items[i].end ? Change(i, step + 1, k).value : 0;
  }
  [[nodiscard]] bool MayCopy(std::size_t i, std::size_t k, std::size_t l) const;
  // At the beginning of item i, as From(): the place, and where it is copied to.
  struct Beginning {
    std::int64_t value;
    std::size_t place;
    std::size_t target;
  };
  [[nodiscard]] std::vector<Multiplier> FirstPrices(const MovePrices& free);
  [[nodiscard]] Beginning Begin(std::size_t i) const;
  void FindPaths(std::size_t i);
  void AddPath(std::size_t i, std::vector<double>& excess) const;
  [[nodiscard]] std::int64_t RentOf(std::size_t i, Step step, std::size_t k, std::size_t l) const;
  // Visits the memories that hold the bytes of item i.
  template <typename Visit>
  void ForEachMemory(std::size_t i, std::size_t k, std::size_t l, Visit visit) const;
  [[nodiscard]] std::int64_t UseOf(std::size_t i, std::size_t use, std::size_t k) const;

  // Prices of the engine, in parts of kWhole: while the operator of a step runs, and before it.
  static constexpr std::int64_t kWhole = 1024;
  [[nodiscard]] std::size_t DuringAt(Step step) const {
    return rooms_ + static_cast<std::size_t>(step);
  }
  [[nodiscard]] std::size_t BeforeAt(Step step) const { return DuringAt(model_.free.steps + step); }
  [[nodiscard]] std::int64_t During(Step step) const { return prices_[DuringAt(step)].value; }
  [[nodiscard]] std::int64_t Before(Step step) const { return prices_[BeforeAt(step)].value; }
  // The step before which operator `other` of the model takes away the most.
  [[nodiscard]] Step DearestOf(const TimedModel::Other& other) const;

  const TimedModel& model_;
  const bool one_order_;
  const std::size_t rooms_;
  std::vector<std::size_t> first_;
  std::vector<std::int64_t> values_;
  std::vector<Multiplier> prices_;  // By memory, then step; then of the engine.
  std::int64_t bound_ = 0;
};

}  // namespace berth::internal::plan

#endif  // BERTH_PLAN_TIMED_PRICES_H_
