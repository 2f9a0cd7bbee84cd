// spill/prices.h -- a lower bound for one order: what memory is worth at each step.
//
// With the order fixed, a plan says for each storage and each gap between two of its accesses
// whether it is kept. The storages compete only for the bytes that an operator leaves to others.
// Put a price on these bytes, for each step, and let every storage decide by itself what is
// cheaper: to rent its bytes over the gap, or to leave and come back (and to be written, once,
// however often it leaves). The sum of these, less what all free bytes would have cost, is no more
// than the least traffic, whatever the prices (Lagrange), and the best prices give the bound of the
// linear program over these choices, the write that gaps share included.
//
// The prices are found by subgradient steps in doubles, which is a heuristic; then they are
// rounded, and every bound is computed from them in whole numbers. So no rounding can spoil a
// proof.
//
// The bound is good for any state on the way, as each storage's own decision is: rent from here on
// or leave now. That is what guides the search through an order, and what it prunes by: making a
// storage leave costs its price plus what renting would have saved.
#ifndef BERTH_SPILL_PRICES_H_
#define BERTH_SPILL_PRICES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/wide.h"
#include "spill/model.h"
#include "spill/search.h"

namespace berth::internal::spill {

class PriceBound : public Bound {
 public:
  // `model` is a chain: its operators run in their order.
  PriceBound(const Model& model, Bytes capacity);

  // Looks for better prices, until the budget or the effort ends; `upper` is the cost of some plan.
  // Cost of each iteration: O(steps + accesses).
  void Improve(Bytes upper, int iterations, Effort& effort, Budget& budget);

  // Of the whole order.
  [[nodiscard]] Bytes value() const;

  [[nodiscard]] Bytes Remaining(const StateView& state) const override;
  [[nodiscard]] bool Prices(const StateView& state, const std::vector<StorageIndex>& storages,
                            std::vector<Bytes>& prices) const override;

 private:
  // An access of a storage, and what follows from it.
  struct Use {
    std::size_t step = 0;
    bool writes = false;
    bool settles = false;  // A result with its last value: has a copy for nothing.
    // The least that the storage pays from just after this access on, at the prices: with a copy,
    // and without.
    Wide clean = 0;
    Wide dirty = 0;
  };
  struct Line {
    Bytes size = 0;
    bool given = false;
    std::size_t begin = 0;  // Its uses.
    std::size_t end = 0;
  };

  // The first use of `line` at `step` or later.
  [[nodiscard]] std::size_t NextUse(const Line& line, std::size_t step) const;
  [[nodiscard]] static bool CleanAfter(const Use& use, bool clean) {
    return use.settles || (clean && !use.writes);
  }
  // From just before `use` on.
  [[nodiscard]] Wide From(std::size_t use, bool clean) const {
    return CleanAfter(uses_[use], clean) ? uses_[use].clean : uses_[use].dirty;
  }
  [[nodiscard]] static Bytes RoundedUp(Wide scaled);
  void SetPrices(const std::vector<std::int64_t>& prices);
  // What a resident storage pays from `step` on: at best, and if it leaves now.
  void Ways(const Line& line, std::size_t step, bool clean, Wide& best, Wide& leave,
            Wide& absent) const;

  const Model& model_;
  std::size_t steps_;
  std::vector<Line> lines_;
  std::vector<Use> uses_;
  std::vector<Bytes> free_;  // Bytes that each step leaves to others.
  // In 1/65536 per byte: the sum of the prices before each step; 2 at most each.
  std::vector<std::int64_t> rent_before_;
  // For each step, what all that is live then, and absent, and all that comes later has to pay.
  std::vector<Wide> if_absent_;
};

}  // namespace berth::internal::spill

#endif  // BERTH_SPILL_PRICES_H_
