// spill/prices.h -- a lower bound for one order, from the price of memory at each step.
//
// With the order fixed, a plan decides for each storage and each gap between two of its accesses
// whether the storage is kept. The storages compete only for the bytes that an operator leaves
// free. Put a price on these bytes at each step, and let every storage decide by itself what is
// cheaper: to pay rent for its bytes over the gap, or to be spilled and retrieved (and written
// once, however often it is spilled). The sum of these costs, minus the rent of all free bytes, is
// at most the least traffic for any prices (Lagrangian relaxation). The best prices give the bound
// of the linear program over these choices, including the write that gaps share.
//
// The prices are found by subgradient steps in floating point, which is heuristic. Then they are
// rounded, and every bound is computed from them in integers, so rounding cannot invalidate a
// proof.
//
// The bound applies to any intermediate state, and so does each storage's own decision: rent from
// here on or be spilled now. This guides the search through an order and prunes it: spilling a
// storage costs its traffic plus the rent it would have saved.
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
  // `model` must be a chain: its operators run in their given order.
  PriceBound(const Model& model, Bytes capacity);

  // Improves the prices until the budget or the effort ends; `upper` is the cost of some plan.
  // Cost of each iteration: O(steps + accesses).
  void Improve(Bytes upper, int iterations, Effort& effort, Budget& budget);

  // Lower bound for the whole order, in bytes.
  [[nodiscard]] Bytes value() const;

  [[nodiscard]] Bytes Remaining(const StateView& state) const override;
  [[nodiscard]] bool Prices(const StateView& state, const std::vector<StorageIndex>& storages,
                            std::vector<Bytes>& prices) const override;

 private:
  // An access of a storage, and its consequences.
  struct Use {
    std::size_t step = 0;
    bool writes = false;
    bool settles = false;  // A result with its last value: has a copy for free.
    // The least that the storage pays after this access, at the prices: with a copy, and without.
    Wide clean = 0;
    Wide dirty = 0;
  };
  struct Line {
    Bytes size = 0;
    bool given = false;
    std::size_t begin = 0;  // Its first use.
    std::size_t end = 0;
  };

  // At some prices, the least cost of each storage by itself. By use or by step.
  struct Relaxation {
    Relaxation(std::size_t steps, std::size_t uses)
        : before(steps + 1, 0.0), load(steps + 1, 0.0), clean(uses, 0.0), dirty(uses, 0.0) {}
    std::vector<double> before;  // The sum of the prices before each step.
    std::vector<double> load;    // Changes of the bytes kept for later uses.
    std::vector<double> clean;   // As Use::clean and Use::dirty.
    std::vector<double> dirty;
  };

  // The bound at `prices`, in floating point; fills `r`.
  double Relax(const std::vector<double>& prices, Relaxation& r) const;
  // The first use of `line` at `step` or later.
  [[nodiscard]] std::size_t NextUse(const Line& line, std::size_t step) const;
  [[nodiscard]] static bool CleanAfter(const Use& use, bool clean) {
    return use.settles || (clean && !use.writes);
  }
  // Cost from just before `use` on.
  [[nodiscard]] Wide From(std::size_t use, bool clean) const {
    return CleanAfter(uses_[use], clean) ? uses_[use].clean : uses_[use].dirty;
  }
  [[nodiscard]] static Bytes RoundedUp(Wide scaled);
  void SetPrices(const std::vector<std::int64_t>& prices);
  // What a resident storage pays from `step` on: at best, and if it is spilled now.
  void Ways(const Line& line, std::size_t step, bool clean, Wide& best, Wide& leave,
            Wide& absent) const;

  const Model& model_;
  std::size_t steps_;
  std::vector<Line> lines_;
  std::vector<Use> uses_;
  std::vector<Bytes> free_;  // Bytes that each step leaves free.
  // Sum of the prices before each step, in 1/65536 per byte; each price is at most 2.
  std::vector<std::int64_t> rent_before_;
  // For each step, the cost of all storages live then if absent, plus the cost of all later ones.
  std::vector<Wide> if_absent_;
};

}  // namespace berth::internal::spill

#endif  // BERTH_SPILL_PRICES_H_
