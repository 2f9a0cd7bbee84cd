// memories/sweep.h -- choices side by side, along time.
#ifndef BERTH_MEMORIES_SWEEP_H_
#define BERTH_MEMORIES_SWEEP_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "berth/budget.h"
#include "memories/prices.h"
#include "memories/selection.h"

namespace berth::internal::memories {

struct SweepAnswer {
  // The best choice found, of more than the profit asked for.
  std::optional<Choice> choice;
  std::int64_t profit = 0;
  // Proved: no choice other than those of `profit` or less has more than this (in units of profit).
  std::int64_t bound = 0;
  bool complete = false;  // No state was dropped for the width, and time was not up.
  std::int64_t states = 0;
  // By section: no choice worth looking for loses less up to there, in 1 / scale of a unit.
  std::vector<std::int64_t> least;
};

struct SweepQuestion {
  Allowed allowed;           // Choices that keep to it are looked for; the prices are for it.
  std::int64_t floor = 0;    // Only choices worth more are looked for.
  std::size_t width = 0;     // At most so many states are kept.
  bool charge_late = false;  // The loss of an item counts when it ends, instead of when it begins.
  // By section: no choice worth looking for loses less after it. Empty: 0.
  std::vector<std::int64_t> beyond = {};
};

[[nodiscard]] SweepAnswer Sweep(const Selection& selection, const Prices& prices,
                                const SweepQuestion& question, Budget& budget);

// The same with time reversed.
[[nodiscard]] Selection Mirror(const Selection& selection);
[[nodiscard]] Prices Mirror(const Prices& prices, std::size_t sections);

}  // namespace berth::internal::memories

#endif  // BERTH_MEMORIES_SWEEP_H_
