// memories/gap_selection.h -- gaps in the use of what is in memory, as items of a selection.
//
// A gap is the time between two uses of something: what is in memory throughout saves the price of
// bringing it back. What several gaps pay together, once, if any of them is dropped is an item without
// bytes that is taken only with all of its gaps. A gap that pays nothing else is no item of its own: its
// bytes are those of the shared item.
#ifndef BERTH_MEMORIES_GAP_SELECTION_H_
#define BERTH_MEMORIES_GAP_SELECTION_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/wide.h"
#include "berth/budget.h"
#include "memories/choose.h"
#include "memories/selection.h"

namespace berth::internal::memories {

// In the sections [first, last); with none it is never dropped.
struct PricedGap {
  std::size_t first = 0;
  std::size_t last = 0;
  Bytes bytes = 0;
  std::int64_t price = 0;  // At least 0.
};

// What is paid once if any of `gaps` is dropped: at least two of them, by index.
struct SharedPrice {
  std::vector<std::size_t> gaps;
  std::int64_t price = 0;  // More than 0.
};

class GapSelection {
 public:
  // `capacity`: for the gaps, by section, at least 0. `tight`: it is lowered to what whole gaps can fill.
  GapSelection(std::vector<PricedGap> gaps, const std::vector<SharedPrice>& shared,
               std::vector<Bytes> capacity, bool tight);

  [[nodiscard]] const Selection& selection() const { return selection_; }
  // Nothing can be dropped.
  [[nodiscard]] bool empty() const { return selection_.items.empty(); }
  // The relaxation lists every item in all of its sections: these are too many.
  [[nodiscard]] bool IsTooLarge() const;
  // Not all of these gaps may be kept: at least two that can be dropped, by index.
  void Forbid(const std::vector<std::size_t>& gaps);
  struct Answer {
    std::optional<std::vector<char>> kept;  // By gap, in the cheapest choice found.
    std::int64_t bound = 0;                 // Proved: no choice costs less.
  };
  // Ends once nothing is cheaper, even if something as cheap drops fewer gaps, once the bound is `enough`,
  // or with the budget. A state of a sweep is a node. It must not be too large.
  [[nodiscard]] Answer Choose(const ChooseLimits& limits, std::int64_t enough,
                              Budget& budget) const;

 private:
  // What no choice pays less than, if none is worth more than `profit` to the selection.
  [[nodiscard]] std::int64_t CostAt(std::int64_t profit) const;
  [[nodiscard]] std::vector<char> KeptBy(const Choice& choice) const;

  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  void SetUnit(const std::vector<SharedPrice>& shared);
  void AddItem(std::vector<Stay> stays, std::int64_t price, std::size_t gaps);
  void AddShared(const SharedPrice& shared, const std::vector<char>& alone);
  [[nodiscard]] std::vector<Stay> StaysOf(const std::vector<std::size_t>& absorbed,
                                          std::size_t first, std::size_t last) const;

  std::vector<PricedGap> gaps_;
  // Of choices that cost the same, the one that drops the fewest: a price of 1 for each gap, in a unit
  // too small to matter.
  std::int64_t unit_ = 1;
  int shift_ = 0;  // Where the unit does not fit, prices are rounded down.
  std::int64_t ties_ = 0;
  Selection selection_;
  std::vector<std::size_t> item_of_;  // By gap; kNone: it is never dropped.
};

}  // namespace berth::internal::memories

#endif  // BERTH_MEMORIES_GAP_SELECTION_H_
