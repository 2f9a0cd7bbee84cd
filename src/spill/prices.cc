#include "spill/prices.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <limits>
#include <vector>

namespace berth::internal::spill {
namespace {

constexpr double kMemory = 0.8;  // Share of the previous direction kept in the next step.
constexpr int kShift = 16;
constexpr std::int64_t kScale = std::int64_t{1} << kShift;

}  // namespace

PriceBound::PriceBound(const Model& model, Bytes capacity)
    : model_(model), steps_(model.num_operators) {
  for (const OpIndex v : model.needs.indices()) free_.push_back(capacity - model.needs[v]);
  for (const StorageIndex s : model.storages.indices()) {
    const Stored& stored = model.storages[s];
    Line line;
    line.size = stored.size;
    line.given = stored.creator.value() < 0;
    line.begin = uses_.size();
    if (!line.given) uses_.push_back({stored.creator.position(), true, false, 0, 0});
    for (const OpIndex u : model.users[s]) {
      const auto written = model.written[u];
      uses_.push_back(
          {u.position(), std::binary_search(written.begin(), written.end(), s), false, 0, 0});
    }
    line.end = uses_.size();
    if (stored.result) {
      std::size_t last_write = line.begin;
      for (std::size_t i = line.begin; i < line.end; ++i) {
        if (uses_[i].writes) last_write = i;
      }
      for (std::size_t i = last_write; i < line.end; ++i) uses_[i].settles = true;
    }
    lines_.push_back(line);
  }
  SetPrices(std::vector<std::int64_t>(steps_, 0));
}

void PriceBound::SetPrices(const std::vector<std::int64_t>& prices) {
  rent_before_.assign(steps_ + 1, 0);
  for (std::size_t t = 0; t < steps_; ++t) rent_before_[t + 1] = rent_before_[t] + prices[t];
  if_absent_.assign(steps_ + 1, 0);
  // First as changes from one step to the next.
  for (const Line& line : lines_) {
    if (line.begin == line.end) continue;
    for (std::size_t i = line.end; i-- > line.begin;) {
      Use& use = uses_[i];
      use.clean = 0;
      use.dirty = 0;
      if (i + 1 == line.end) continue;
      const std::int64_t rent = rent_before_[uses_[i + 1].step] - rent_before_[use.step + 1];
      const Wide keep = Wide{line.size} * rent;
      const Wide leave = Wide{line.size} * kScale;
      const Wide after_leaving = From(i + 1, true);
      use.clean = keep + after_leaving;
      use.dirty = keep + From(i + 1, false);
      if (uses_[i + 1].step > use.step + 1) {
        use.clean = std::min(use.clean, leave + after_leaving);
        use.dirty = std::min(use.dirty, 2 * leave + after_leaving);
      }
    }
    // Before its first use, from the start; then, if absent, until the next use.
    if_absent_[0] += From(line.begin, line.given);
    for (std::size_t i = line.begin; i < line.end; ++i) {
      if_absent_[uses_[i].step + 1] -= From(i, i > line.begin || line.given);
      if (i + 1 < line.end) if_absent_[uses_[i].step + 1] += From(i + 1, true);
    }
  }
  Wide unused = 0;
  for (std::size_t t = 0; t <= steps_; ++t) {
    if (t > 0) if_absent_[t] += if_absent_[t - 1];
  }
  for (std::size_t t = steps_; t-- > 0;) {
    unused += Wide{free_[t]} * prices[t];
    if_absent_[t] -= unused;
  }
}

// Costs are integers. No cost exceeds 2^60 (berth/spill.h), nor does the sum of the prices of all
// storages, so a value below -2^62 stays negative whatever is added to it.
Bytes PriceBound::RoundedUp(Wide scaled) {
  constexpr Wide kLeast = -(Wide{1} << 62);
  return static_cast<Bytes>(std::max(-(-scaled >> kShift), kLeast));
}

Bytes PriceBound::value() const { return std::max<Bytes>(RoundedUp(if_absent_[0]), 0); }

std::size_t PriceBound::NextUse(const Line& line, std::size_t step) const {
  const auto first = uses_.begin() + static_cast<std::ptrdiff_t>(line.begin);
  const auto last = uses_.begin() + static_cast<std::ptrdiff_t>(line.end);
  return static_cast<std::size_t>(
      std::lower_bound(first, last, step,
                       [](const Use& use, std::size_t at) { return use.step < at; }) -
      uses_.begin());
}

void PriceBound::Ways(const Line& line, std::size_t step, bool clean, Wide& best, Wide& leave,
                      Wide& absent) const {
  const std::size_t next = NextUse(line, step);
  absent = From(next, true);
  leave = Wide{line.size} * (clean ? kScale : 2 * kScale) + absent;
  const Wide keep =
      Wide{line.size} * (rent_before_[uses_[next].step] - rent_before_[step]) + From(next, clean);
  best = std::min(keep, leave);
}

Bytes PriceBound::Remaining(const StateView& state) const {
  Wide sum = if_absent_[state.num_executed];
  if (state.num_executed == steps_) return 0;
  for (std::size_t w = 0; w < model_.storage_words(); ++w) {
    for (Word rest = state.resident[w]; rest != 0; rest &= rest - 1) {
      const std::size_t s = w * kWordBits + static_cast<std::size_t>(std::countr_zero(rest));
      Wide best = 0;
      Wide leave = 0;
      Wide absent = 0;
      Ways(lines_[s], state.num_executed, TestBit(state.clean, s), best, leave, absent);
      sum += best - absent;
    }
  }
  return RoundedUp(sum);
}

bool PriceBound::Prices(const StateView& state, const std::vector<StorageIndex>& storages,
                        std::vector<Bytes>& prices) const {
  prices.clear();
  for (const StorageIndex s : storages) {
    Wide best = 0;
    Wide leave = 0;
    Wide absent = 0;
    Ways(lines_[s.position()], state.num_executed, TestBit(state.clean, s.position()), best, leave,
         absent);
    prices.push_back(static_cast<Bytes>((leave - best) >> kShift));
  }
  return true;
}

double PriceBound::Relax(const std::vector<double>& prices, Relaxation& r) const {
  const auto from = [&](std::size_t use, bool is_clean) {
    return CleanAfter(uses_[use], is_clean) ? r.clean[use] : r.dirty[use];
  };
  for (std::size_t t = 0; t < steps_; ++t) r.before[t + 1] = r.before[t] + prices[t];
  std::fill(r.load.begin(), r.load.end(), 0.0);
  double value = 0;
  for (std::size_t t = 0; t < steps_; ++t) value -= prices[t] * static_cast<double>(free_[t]);
  for (const Line& line : lines_) {
    if (line.begin == line.end) continue;
    const auto size = static_cast<double>(line.size);
    for (std::size_t i = line.end; i-- > line.begin;) {
      r.clean[i] = 0;
      r.dirty[i] = 0;
      if (i + 1 == line.end) continue;
      const double keep = size * (r.before[uses_[i + 1].step] - r.before[uses_[i].step + 1]);
      r.clean[i] = keep + from(i + 1, true);
      r.dirty[i] = keep + from(i + 1, false);
      if (uses_[i + 1].step > uses_[i].step + 1) {
        r.clean[i] = std::min(r.clean[i], size + from(i + 1, true));
        r.dirty[i] = std::min(r.dirty[i], 2 * size + from(i + 1, true));
      }
    }
    value += from(line.begin, line.given);
    bool is_clean = CleanAfter(uses_[line.begin], line.given);
    for (std::size_t i = line.begin; i + 1 < line.end; ++i) {
      const double keep = size * (r.before[uses_[i + 1].step] - r.before[uses_[i].step + 1]) +
                          from(i + 1, is_clean);
      const double leave = (is_clean ? size : 2 * size) + from(i + 1, true);
      if (keep <= leave || uses_[i + 1].step == uses_[i].step + 1) {
        r.load[uses_[i].step + 1] += size;
        r.load[uses_[i + 1].step] -= size;
        is_clean = CleanAfter(uses_[i + 1], is_clean);
      } else {
        is_clean = CleanAfter(uses_[i + 1], true);
      }
    }
  }
  return value;
}

void PriceBound::Improve(Bytes upper, int iterations, Effort& effort, Budget& budget) {
  if (steps_ == 0) return;
  std::vector<double> y(steps_, 0.0);
  std::vector<double> best_y = y;
  std::vector<double> direction(steps_, 0.0);
  Relaxation relaxation(steps_, uses_.size());
  double best = 0;
  double pace = 1.0;
  int stale = 0;
  constexpr std::int64_t kWork = 10;  // Work per access or step, about a nanosecond per unit.
  const auto work = kWork * static_cast<std::int64_t>(uses_.size() + steps_);
  for (int iteration = 0; iteration < iterations; ++iteration) {
    effort.work -= work;
    if (effort.spent() || budget.TimeIsUp()) break;
    const double value = Relax(y, relaxation);
    if (value > best) {
      // Progress too small to matter does not count.
      if (value > best + 1e-4 * (static_cast<double>(upper) - best)) stale = 0;
      best = value;
      best_y = y;
    }
    if (++stale > 60) {
      pace /= 1.5;
      stale = 0;
      y = best_y;
      std::fill(direction.begin(), direction.end(), 0.0);
      if (pace < 1e-6) break;
      continue;
    }
    // The direction includes the previous ones, which damps the zigzag of plain subgradients.
    double norm = 0;
    double running = 0;
    for (std::size_t t = 0; t < steps_; ++t) {
      running += relaxation.load[t];
      const double slope = running - static_cast<double>(free_[t]);
      direction[t] = kMemory * direction[t] + (slope > 0 || y[t] > 0 ? slope : 0.0);
      norm += direction[t] * direction[t];
    }
    if (norm <= 0) break;
    const double step = pace * (static_cast<double>(upper) - value) / norm;
    if (!(step > 0)) break;
    for (std::size_t t = 0; t < steps_; ++t) y[t] = std::max(0.0, y[t] + step * direction[t]);
  }
  std::vector<std::int64_t> prices(steps_, 0);
  for (std::size_t t = 0; t < steps_; ++t) {
    prices[t] = static_cast<std::int64_t>(std::min(best_y[t], 2.0) * static_cast<double>(kScale));
  }
  SetPrices(prices);
}

}  // namespace berth::internal::spill
