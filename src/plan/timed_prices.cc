#include "plan/timed_prices.h"

#include <algorithm>

#include "base/wide.h"

namespace berth::internal::plan {
namespace {

constexpr int kShareBits = 10;  // Of parts of TimedPrices::kWhole.

// So many parts of it, rounded down.
std::int64_t Part(std::int64_t time, std::int64_t parts) {
  constexpr std::int64_t kSmall = std::int64_t{1} << (62 - kShareBits);
  return time < kSmall ? (time * parts) >> kShareBits : (time >> kShareBits) * parts;
}

}  // namespace

TimedPrices::TimedPrices(const TimedModel& model, const MovePrices& free, std::int64_t upper,
                         Budget& budget)
    : model_(model),
      one_order_(model.free.copies_need_room),
      rooms_(model.free.memories.size() * static_cast<std::size_t>(model.free.steps)) {
  std::size_t cells = 0;
  for (const MoveItem& item : model.free.items) {
    first_.push_back(cells);
    const std::size_t count = item.memories.size();
    cells += static_cast<std::size_t>(item.end - item.start) * count * (item.may_move ? count : 1);
  }
  bound_ = BoundOfTime(model, free);
  if (cells > kMostMoveCells) return;
  values_.resize(cells);
  std::vector<Multiplier> prices = FirstPrices(free);
  const std::int64_t scaled = Shifted(upper, model.free.bits);
  bound_ = std::max(bound_, model.free.Whole(Ascend(*this, prices, scaled, 2 * cells, budget)));
}

// For the engine as if nothing else ran between the steps, and with one price at all of them, the best of a few.
std::vector<Multiplier> TimedPrices::FirstPrices(const MovePrices& free) {
  const Step steps = model_.free.steps;
  std::vector<Multiplier> prices(BeforeAt(steps + 1));
  double sum = 0;
  double positive = 0;
  for (std::size_t i = 0; i < rooms_; ++i) {
    const auto count = static_cast<std::size_t>(steps);
    prices[i].value = free.price(i / count, static_cast<Step>(i % count));
    sum += static_cast<double>(prices[i].value);
    positive += prices[i].value > 0 ? 1 : 0;
  }
  const double unit = positive > 0 ? std::max(1.0, sum / positive) : 1;
  for (std::size_t i = 0; i < prices.size(); ++i) {
    const bool of_engine = i >= rooms_;
    prices[i].unit = of_engine ? static_cast<double>(kWhole) : unit;
    if (of_engine) prices[i].most = static_cast<double>(kWhole);
  }
  for (Step s = 0; s <= steps; ++s) prices[BeforeAt(s)].value = kWhole;
  std::vector<Multiplier> first = prices;
  std::int64_t most = Set(prices);
  for (const std::int64_t parts :
       {kWhole / 16, kWhole / 8, kWhole / 4, kWhole / 2, kWhole * 3 / 4}) {
    for (Step s = 0; s < steps; ++s) prices[DuringAt(s)].value = parts;
    const std::int64_t value = Set(prices);
    if (value <= most) continue;
    most = value;
    first = prices;
  }
  return first;
}

bool TimedPrices::MayCopy(std::size_t i, std::size_t k, std::size_t l) const {
  const std::size_t at = k * model_.free.items[i].memories.size() + l;
  return model_.copying[i][at] > 0 && model_.copying[i][at] < kTooMuch;
}

TimedPrices::Choice TimedPrices::Start(std::size_t i, Step step, std::size_t k) const {
  const MoveItem& item = model_.free.items[i];
  Choice best = {From(i, step, k, k), k};
  if (!item.may_move) return best;
  const std::size_t count = item.memories.size();
  const std::int64_t price = std::min(During(step), Before(step));
  for (std::size_t l = 0; l < count; ++l) {
    if (l == k || !MayCopy(i, k, l)) continue;
    const std::int64_t copy = Part(model_.scaled_copying[i][k * count + l], price);
    const std::int64_t value = Sum(copy, From(i, step, k, l));
    if (value < best.value) best = {value, l};
  }
  return best;
}

TimedPrices::Choice TimedPrices::Change(std::size_t i, Step step, std::size_t k) const {
  const MoveItem& item = model_.free.items[i];
  Choice best = {Start(i, step, k).value, k};
  if (!item.MayChangeBefore(step)) return best;
  const std::size_t count = item.memories.size();
  for (std::size_t l = 0; l < count; ++l) {
    const std::int64_t copying = model_.scaled_copying[i][k * count + l];
    if (l == k || copying >= kTooMuch) continue;
    const std::int64_t value = Sum(Part(copying, Before(step)), Start(i, step, l).value);
    if (value < best.value) best = {value, l};
  }
  return best;
}

// In one order what an operator makes cannot be copied before that. Of a chain, the copy may have been made
// before the steps for which the tensor lives for certain.
TimedPrices::Beginning TimedPrices::Begin(std::size_t i) const {
  const MoveItem& item = model_.free.items[i];
  Beginning best = {kTooMuch, 0, 0};
  for (std::size_t k = 0; k < item.memories.size(); ++k) {
    if (item.Beside(k)) continue;  // It begins as it is at home.
    if (const std::int64_t value = From(i, item.start, k, k); value < best.value) {
      best = {value, k, k};
    }
    if (!item.may_move || (one_order_ && item.start > 0)) continue;
    if (one_order_) {
      const Choice copied = Start(i, item.start, k);
      if (copied.value < best.value) best = {copied.value, k, copied.place};
      continue;
    }
    for (std::size_t l = 0; l < item.memories.size(); ++l) {
      if (l == k || !MayCopy(i, k, l)) continue;
      const std::int64_t value = From(i, item.start, k, l);
      if (value < best.value) best = {value, k, l};
    }
  }
  return best;
}

template <typename Visit>
void TimedPrices::ForEachMemory(std::size_t i, std::size_t k, std::size_t l, Visit visit) const {
  const MoveItem& item = model_.free.items[i];
  item.ForEachMemory(l, visit);
  // Where the original stays, an earlier copy may be gone by then.
  if (k != l && !item.staged()) visit(item.memories[k]);
}

std::int64_t TimedPrices::RentOf(std::size_t i, Step step, std::size_t k, std::size_t l) const {
  std::int64_t sum = 0;
  ForEachMemory(i, k, l, [&](std::size_t m) {
    const std::int64_t price =
        prices_[m * static_cast<std::size_t>(model_.free.steps) + static_cast<std::size_t>(step)]
            .value;
    if (price != 0) sum = Sum(sum, Rent(price, model_.free.items[i].size));
  });
  return sum;
}

std::int64_t TimedPrices::UseOf(std::size_t i, std::size_t use, std::size_t k) const {
  const MoveItem& item = model_.free.items[i];
  return model_.free.Scaled(item.memories[k], item.uses[use].use);
}

void TimedPrices::FindPaths(std::size_t i) {
  const MoveItem& item = model_.free.items[i];
  const std::size_t count = item.memories.size();
  std::size_t next = item.uses.size();
  for (Step s = item.end; s-- > item.start;) {
    const bool used = next > 0 && item.uses[next - 1].step == s;
    if (used) --next;
    for (std::size_t k = 0; k < count; ++k) {
      const std::int64_t use = used ? Part(UseOf(i, next, k), kWhole - During(s)) : 0;
      values_[CellOf(i, s, k, k)] = Sum(Sum(use, RentOf(i, s, k, k)), After(i, s, k));
    }
    if (!item.may_move) continue;
    for (std::size_t k = 0; k < count; ++k) {
      const std::int64_t use = used ? Part(UseOf(i, next, k), kWhole - During(s)) : 0;
      for (std::size_t l = 0; l < count; ++l) {
        if (l == k || !MayCopy(i, k, l)) continue;
        std::int64_t later = After(i, s, l);
        if (s + 1 < item.end) later = std::min(later, From(i, s + 1, k, l));
        values_[CellOf(i, s, k, l)] = Sum(Sum(use, RentOf(i, s, k, l)), later);
      }
    }
  }
}

Step TimedPrices::DearestOf(const TimedModel::Other& other) const {
  Step dearest = other.first;
  for (Step s = other.first + 1; s <= other.last; ++s) {
    if (Before(s) > Before(dearest)) dearest = s;
  }
  return dearest;
}

std::int64_t TimedPrices::Set(const std::vector<Multiplier>& prices) {
  prices_ = prices;
  Wide sum(0);
  for (Step s = 0; s < model_.free.steps; ++s) {
    sum += Wide(Part(model_.fixed[static_cast<std::size_t>(s)], kWhole - During(s)));
  }
  for (const TimedModel::Other& other : model_.others) {
    sum += Wide(Part(other.time, kWhole - Before(DearestOf(other))));
  }
  for (std::size_t i = 0; i < model_.free.items.size(); ++i) {
    FindPaths(i);
    sum += Wide(Begin(i).value);
  }
  sum -= RentOfAll(model_.free, prices_);
  if (sum <= Wide(0)) return 0;
  return sum < Wide(kTooMuch) ? static_cast<std::int64_t>(sum) : kTooMuch;
}

// A price of the engine is in parts of kWhole, so what it uses is, too.
void TimedPrices::FindExcess(std::vector<double>& excess) const {
  BytesOver(model_.free, excess).Clear();
  std::fill(excess.begin() + static_cast<std::ptrdiff_t>(rooms_), excess.end(), 0);
  for (Step s = 0; s < model_.free.steps; ++s) {
    excess[DuringAt(s)] -= static_cast<double>(model_.fixed[static_cast<std::size_t>(s)]) / kWhole;
  }
  for (const TimedModel::Other& other : model_.others) {
    excess[BeforeAt(DearestOf(other))] -= static_cast<double>(other.time) / kWhole;
  }
  for (std::size_t i = 0; i < model_.free.items.size(); ++i) AddPath(i, excess);
}

void TimedPrices::AddPath(std::size_t i, std::vector<double>& excess) const {
  const MoveItem& item = model_.free.items[i];
  const std::size_t count = item.memories.size();
  const auto work = [&](std::size_t at, std::size_t k, std::size_t l) {
    excess[at] += static_cast<double>(model_.scaled_copying[i][k * count + l]) / kWhole;
  };
  const auto begin = [&](Step s, std::size_t k, std::size_t l) {
    if (k != l) work(During(s) <= Before(s) ? DuringAt(s) : BeforeAt(s), k, l);
  };
  const Beginning first = Begin(i);
  if (first.value >= kTooMuch) return;
  std::size_t k = first.place;
  std::size_t l = first.target;
  if (one_order_) begin(item.start, k, l);
  std::size_t next = 0;
  BytesOver over(model_.free, excess);
  for (Step s = item.start; s < item.end; ++s) {
    ForEachMemory(i, k, l, [&](std::size_t m) { over.Add(m, s, item.size); });
    if (next < item.uses.size() && item.uses[next].step == s) {
      excess[DuringAt(s)] -= static_cast<double>(UseOf(i, next++, k)) / kWhole;
    }
    if (s + 1 == item.end) break;
    if (k != l && From(i, s + 1, k, l) <= After(i, s, l)) continue;  // It is used there still.
    const std::size_t from = l;
    k = Change(i, s + 1, from).place;
    if (k != from) work(BeforeAt(s + 1), from, k);
    l = Start(i, s + 1, k).place;
    begin(s + 1, k, l);
  }
}

}  // namespace berth::internal::plan
