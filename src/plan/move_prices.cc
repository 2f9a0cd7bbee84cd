#include "plan/move_prices.h"

#include <algorithm>
#include <cmath>

#include "base/wide.h"

namespace berth::internal::plan {
namespace {

constexpr int kRounds = 400;
constexpr int kPatience = 12;  // Rounds without a better bound before steps get shorter.
constexpr double kShortest = 1e-4;
constexpr std::size_t kMostWork = 150'000'000;  // Cells visited.

std::int64_t Rent(std::int64_t price, Bytes bytes) {
  const Wide rent = Wide(price) * Wide(bytes);
  return rent < Wide(kTooMuch) ? static_cast<std::int64_t>(rent) : kTooMuch;
}

}  // namespace

MovePrices::MovePrices(const MoveModel& model, std::int64_t upper, Budget& budget) : model_(model) {
  std::size_t cells = 0;
  for (const MoveItem& item : model.items) {
    first_.push_back(cells);
    cells += static_cast<std::size_t>(item.end - item.start) * item.memories.size();
  }
  values_.resize(cells);
  const auto steps = static_cast<std::size_t>(model.steps);
  prices_.assign(model.memories.size(), std::vector<std::int64_t>(steps, 0));
  bound_ = Evaluate();
  Prices best = prices_;
  std::vector<std::vector<double>> exact(prices_.size(), std::vector<double>(steps, 0));
  std::vector<std::vector<double>> excess = exact;
  double length = 1;
  int failed = 0;
  std::int64_t value = bound_;
  for (int round = 0; round < kRounds && bound_ < upper && length > kShortest; ++round) {
    if (budget.TimeIsUp() || static_cast<std::size_t>(round) * cells > kMostWork) break;
    FindExcess(excess);
    double norm = 0;
    for (std::size_t m = 0; m < excess.size(); ++m) {
      for (std::size_t s = 0; s < steps; ++s) {
        if (excess[m][s] < 0 && exact[m][s] <= 0) excess[m][s] = 0;
        norm += excess[m][s] * excess[m][s];
      }
    }
    if (norm <= 0) break;
    const double step = length * static_cast<double>(upper - value) / norm;
    for (std::size_t m = 0; m < excess.size(); ++m) {
      for (std::size_t s = 0; s < steps; ++s) {
        exact[m][s] = std::clamp(exact[m][s] + step * excess[m][s], 0.0, 1e15);
        prices_[m][s] = static_cast<std::int64_t>(exact[m][s]);
      }
    }
    value = Evaluate();
    if (value > bound_) {
      bound_ = value;
      best = prices_;
      failed = 0;
    } else if (++failed == kPatience) {
      failed = 0;
      length /= 2;
    }
  }
  prices_ = std::move(best);
  bound_ = Evaluate();
}

std::int64_t MovePrices::After(std::size_t i, Step step, std::size_t k) const {
  const MoveItem& item = model_.items[i];
  if (step + 1 >= item.end) return 0;
  if (!item.MayChangeBefore(step + 1)) return From(i, step + 1, k);
  const std::size_t count = item.memories.size();
  std::int64_t least = kTooMuch;
  for (std::size_t l = 0; l < count; ++l) {
    least = std::min(least, Sum(item.copy[k * count + l], From(i, step + 1, l)));
  }
  return least;
}

std::int64_t MovePrices::Whole(std::size_t i) const {
  const MoveItem& item = model_.items[i];
  std::int64_t least = kTooMuch;
  for (std::size_t k = 0; k < item.memories.size(); ++k) {
    if (item.Beside(k)) continue;  // It begins as it is at home.
    least = std::min(least, From(i, item.start, k));
  }
  return least;
}

void MovePrices::FindPaths(std::size_t i) {
  const MoveItem& item = model_.items[i];
  const std::size_t count = item.memories.size();
  std::size_t next = item.uses.size();
  for (Step s = item.end; s-- > item.start;) {
    const bool used = next > 0 && item.uses[next - 1].step == s;
    if (used) --next;
    for (std::size_t k = 0; k < count; ++k) {
      const std::size_t m = item.memories[k];
      std::int64_t value = After(i, s, k);
      if (used) value = Sum(value, model_.Scaled(m, item.uses[next].use));
      item.ForEachMemory(k, [&](std::size_t in) {
        if (price(in, s) != 0) value = Sum(value, Rent(price(in, s), item.size));
      });
      values_[first_[i] + static_cast<std::size_t>(s - item.start) * count + k] = value;
    }
  }
}

std::int64_t MovePrices::Evaluate() {
  Wide sum = model_.elsewhere;
  for (std::size_t i = 0; i < model_.items.size(); ++i) {
    FindPaths(i);
    sum += Wide(Whole(i));
  }
  for (std::size_t m = 0; m < prices_.size(); ++m) {
    for (std::size_t s = 0; s < prices_[m].size(); ++s) {
      if (prices_[m][s] > 0) sum -= Wide(prices_[m][s]) * Wide(model_.room[m][s]);
    }
  }
  if (sum <= Wide(0)) return 0;
  return sum < Wide(kTooMuch) ? static_cast<std::int64_t>(sum) : kTooMuch;
}

void MovePrices::FindExcess(std::vector<std::vector<double>>& excess) const {
  for (std::size_t m = 0; m < excess.size(); ++m) {
    for (std::size_t s = 0; s < excess[m].size(); ++s) {
      const Bytes room = model_.room[m][s];
      excess[m][s] = room == kAnyRoom ? 0 : -static_cast<double>(room);
    }
  }
  for (std::size_t i = 0; i < model_.items.size(); ++i) {
    const MoveItem& item = model_.items[i];
    const std::size_t count = item.memories.size();
    std::size_t at = count;
    for (Step s = item.start; s < item.end; ++s) {
      std::size_t best = 0;
      std::int64_t least = 2 * (kTooMuch - 1);
      const bool stays = at != count && !item.MayChangeBefore(s);
      for (std::size_t k = 0; k < count; ++k) {
        if (stays ? k != at : at == count && item.Beside(k)) continue;
        const std::int64_t copy = at == count ? 0 : item.copy[at * count + k];
        // Of equal paths, the one that does not move.
        const std::int64_t value = Sum(copy, From(i, s, k));
        if (value > least || (value == least && k != at)) continue;
        best = k;
        least = value;
      }
      at = best;
      item.ForEachMemory(at, [&](std::size_t m) {
        if (model_.room[m][static_cast<std::size_t>(s)] != kAnyRoom) {
          excess[m][static_cast<std::size_t>(s)] += static_cast<double>(item.size);
        }
      });
    }
  }
}

}  // namespace berth::internal::plan
