#include "plan/move_prices.h"

#include <algorithm>

#include "base/wide.h"

namespace berth::internal::plan {
Wide RentOfAll(const MoveModel& model, const std::vector<Multiplier>& prices) {
  const auto steps = static_cast<std::size_t>(model.steps);
  Wide sum(0);
  for (std::size_t m = 0; m < model.memories.size(); ++m) {
    for (std::size_t s = 0; s < steps; ++s) {
      const std::int64_t price = prices[m * steps + s].value;
      if (price > 0) sum += Wide(price) * Wide(model.room[m][s]);
    }
  }
  return sum;
}

void BytesOver::Clear() {
  std::size_t at = 0;
  for (const std::vector<Bytes>& rooms : model_.room) {
    for (const Bytes room : rooms) {
      excess_[at++] = room == kAnyRoom ? 0 : -static_cast<double>(room);
    }
  }
}

MovePrices::MovePrices(const MoveModel& model, std::int64_t upper, Budget& budget) : model_(model) {
  std::size_t cells = 0;
  for (const MoveItem& item : model.items) {
    first_.push_back(cells);
    cells += static_cast<std::size_t>(item.end - item.start) * item.memories.size();
  }
  values_.resize(cells);
  prices_.resize(model.memories.size() * static_cast<std::size_t>(model.steps));
  std::vector<Multiplier> prices = prices_;
  bound_ = Ascend(*this, prices, upper, cells, budget);
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

std::int64_t MovePrices::Set(const std::vector<Multiplier>& prices) {
  prices_ = prices;
  Wide sum = model_.elsewhere;
  for (std::size_t i = 0; i < model_.items.size(); ++i) {
    FindPaths(i);
    sum += Wide(Whole(i));
  }
  sum -= RentOfAll(model_, prices_);
  if (sum <= Wide(0)) return 0;
  return sum < Wide(kTooMuch) ? static_cast<std::int64_t>(sum) : kTooMuch;
}

void MovePrices::FindExcess(std::vector<double>& excess) const {
  BytesOver over(model_, excess);
  over.Clear();
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
      item.ForEachMemory(at, [&](std::size_t m) { over.Add(m, s, item.size); });
    }
  }
}

}  // namespace berth::internal::plan
