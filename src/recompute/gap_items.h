// recompute/gap_items.h -- gaps, and what several of them pay together, as items of a selection.
//
// What is in memory throughout a gap earns what it would cost to bring it back. What several gaps pay
// together is an item without bytes that is taken only with all of its gaps. Gaps that pay nothing
// else are no items of their own: their bytes are those of the shared item.
#ifndef BERTH_RECOMPUTE_GAP_ITEMS_H_
#define BERTH_RECOMPUTE_GAP_ITEMS_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/wide.h"
#include "memories/selection.h"
#include "recompute/gap.h"
#include "recompute/repeats.h"

namespace berth::internal::recompute {

class GapItems {
 public:
  // `size`: of the gaps. `full`: the steps where not everything fits, in order; `room`: by step.
  GapItems(const std::vector<Gap>& gaps, const std::vector<Bytes>& size, const Repeats& repeats,
           const std::vector<std::size_t>& full, const std::vector<Bytes>& room);

  [[nodiscard]] const memories::Selection& selection() const { return selection_; }
  // All sections of all items.
  [[nodiscard]] std::size_t listed() const;
  // What no choice pays less than, if none is worth more than `profit` to the selection.
  [[nodiscard]] std::int64_t CostAt(std::int64_t profit) const;
  // By gap: whether `choice` keeps it.
  [[nodiscard]] std::vector<char> KeptBy(const memories::Choice& choice) const;

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  using Sections = std::pair<std::size_t, std::size_t>;  // First, and the one after the last.

  void SetUnit(const Repeats& repeats);
  void AddItem(std::vector<memories::Stay> stays, std::int64_t price, std::size_t gaps);
  void AddShared(const Repeat& repeat, const std::vector<Bytes>& size,
                 const std::vector<Sections>& sections, const std::vector<char>& alone);
  [[nodiscard]] std::vector<memories::Stay> StaysOf(const std::vector<std::size_t>& absorbed,
                                                    Sections hull, const std::vector<Bytes>& size,
                                                    const std::vector<Sections>& sections) const;

  // Of choices that cost the same, the one that drops the fewest: a price of 1 for each gap, in a unit
  // too small to matter.
  std::int64_t unit_ = 1;
  int shift_ = 0;  // Where the unit does not fit, prices are rounded down.
  std::int64_t ties_ = 0;
  memories::Selection selection_;
  std::vector<std::size_t> item_of_;  // By gap; kNone: it is never dropped.
};

}  // namespace berth::internal::recompute

#endif  // BERTH_RECOMPUTE_GAP_ITEMS_H_
