// memories/choose.h -- the best choice of a Selection, with a proved bound.
#ifndef BERTH_MEMORIES_CHOOSE_H_
#define BERTH_MEMORIES_CHOOSE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "berth/budget.h"
#include "memories/prices.h"
#include "memories/selection.h"

namespace berth::internal::memories {

struct ChooseLimits {
  bool covers = true;
  std::size_t width = 1 << 16;  // States of a sweep at most.
  // Memory for the relaxation, roughly: with less there are fewer rows, so that the bound is weaker.
  std::size_t most_bytes = std::size_t{2} << 30;
};

struct Chosen {
  std::optional<Choice> choice;  // The best one found, if it is worth more than `floor`.
  std::int64_t profit = 0;       // Of it; `floor` without one.
  std::int64_t bound = 0;        // Proved: no choice is worth more. At least `profit`.
  bool stopped = false;          // By the limits or the budget, before bound and profit met.
};

// A search that can be stopped and gone on with. `selection` must outlive it. A search that `keeps`
// goes on as well once `selection` has more nogoods, which may exclude the best choice known. Of any other search the selection must not
// change. One that keeps, but is not `wary`, takes it that its best choice will not be excluded: that
// rules out far more, and if it is excluded all the same, the search begins again, and is wary.
class ChoiceSearch {
 public:
  ChoiceSearch(const Selection& selection, bool keeps, bool wary = false);
  ~ChoiceSearch();
  ChoiceSearch(const ChoiceSearch&) = delete;
  ChoiceSearch& operator=(const ChoiceSearch&) = delete;

  // The best choice worth more than `floor` (at least -1, and no less than in any call before).
  // A state of a sweep is a node of the budget.
  [[nodiscard]] Chosen Run(std::int64_t floor, const ChooseLimits& limits, Budget& budget);

  // No choice that does not take this option is worth more than this and the floor; by prices.
  [[nodiscard]] std::int64_t BoundWithout(const Literal& literal) const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// The same at once.
[[nodiscard]] Chosen Choose(const Selection& selection, std::int64_t floor,
                            const ChooseLimits& limits, Budget& budget);

}  // namespace berth::internal::memories

#endif  // BERTH_MEMORIES_CHOOSE_H_
