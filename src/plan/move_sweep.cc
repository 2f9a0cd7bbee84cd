#include "plan/move_sweep.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "base/wide.h"

namespace berth::internal::plan {
namespace {

constexpr std::int32_t kNoTrace = -1;
// Traces and slots that one sweep may make; widths become smaller where it would be more.
constexpr std::size_t kMostTraces = 4'000'000;
constexpr std::size_t kMostSlots = 3'000'000;

// What a sweep may remember, some 200 MB.
constexpr std::size_t kMostRemembered = 8'000'000;

std::uint64_t Mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return (x ^ (x >> 31)) + 0x9e3779b97f4a7c15U;
}

// A live item in a state.
struct Slot {
  std::uint32_t place = 0;  // Index into MoveItem::memories.
  Meter meter;
  Meter home;  // Of the original, if a copy is kept beside it for a while.
  friend bool operator==(const Slot&, const Slot&) = default;
};

// An item was put somewhere.
struct Trace {
  std::int32_t before;
  std::uint32_t item;
  std::uint32_t place;
  Step step;
};

struct Head {
  std::int64_t estimate = 0;  // Scaled: at most the cost of any plan that continues this one.
  std::int64_t cost = 0;      // So far, rounded up.
  std::int32_t trace = kNoTrace;
};

// States side by side, each with a slot for every live item, and bytes by memory.
struct Layer {
  std::vector<Head> heads;
  std::vector<Slot> slots;
  std::vector<Bytes> loads;  // During the step; see Sweeper::Load.
};

struct Child {
  std::uint32_t parent;
  std::uint32_t place;
  std::int64_t estimate;
};

class Sweeper {
 public:
  Sweeper(const MoveModel& model, const MovePrices& prices, std::int64_t upper,
          const SweepOptions& options, Budget& budget)
      : model_(model),
        prices_(prices),
        options_(options),
        budget_(budget),
        upper_(upper),
        least_dropped_(upper),
        width_(std::max<std::size_t>(
            1, std::min(options.width, kMostTraces / (model.items.size() + 1)))),
        next_use_(model.items.size(), 0) {}

  SweepAnswer Run() {
    SweepAnswer answer;
    answer.bound = std::min(upper_, model_.Whole(prices_.bound()));
    layer_.heads.push_back({prices_.bound(), 0, kNoTrace});
    for (Step s = 0; s < model_.steps && !layer_.heads.empty(); ++s) {
      if (budget_.TimeIsUp() || traces_.size() > kMostRemembered) return answer;
      Begin(s);
      Move(s);
      Enter(s);
      Pay(s);
    }
    if (options_.anywhere) answer.bound = std::max(answer.bound, LeastPossible());
    const Head* best = nullptr;
    for (const Head& head : layer_.heads) {
      if (best == nullptr || CostOf(head) < CostOf(*best)) best = &head;
    }
    if (best == nullptr || CostOf(*best) >= upper_) return answer;
    answer.cost = CostOf(*best);
    FindStays(best->trace, answer.stays);
    return answer;
  }

 private:
  // Bytes in a memory of a state: of all that cross into the step, with the targets of copies
  // (kBetween); during the step (kDuring); and of those, what may still move (kOpen).
  enum Load : std::size_t { kBetween, kDuring, kOpen, kLoads };

  [[nodiscard]] std::size_t memories() const { return model_.memories.size(); }
  [[nodiscard]] Bytes& LoadOf(Layer& layer, std::size_t state, Load load, std::size_t m) const {
    return layer.loads[(state * kLoads + load) * memories() + m];
  }
  [[nodiscard]] std::int64_t CostOf(const Head& head) const {
    return options_.rounded ? head.cost : model_.Whole(head.estimate);
  }
  [[nodiscard]] std::int64_t LeastPossible() const {
    std::int64_t least = std::min(upper_, least_dropped_);
    for (const Head& head : layer_.heads) least = std::min(least, CostOf(head));
    return least;
  }
  [[nodiscard]] static std::size_t At(Step step) { return static_cast<std::size_t>(step); }

  // Items that have ended leave; states that are then alike become one; loads are counted.
  void Begin(Step s) {
    const std::size_t old = live_.size();
    std::vector<std::size_t> kept;
    for (std::size_t p = 0; p < old; ++p) {
      if (model_.items[live_[p]].end > s) kept.push_back(p);
    }
    Layer next;
    std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> known;
    for (std::size_t x = 0; x < layer_.heads.size(); ++x) {
      const std::size_t begin = next.slots.size();
      std::uint64_t hash = 0;
      for (const std::size_t p : kept) {
        const Slot& slot = layer_.slots[x * old + p];
        next.slots.push_back(slot);
        hash = Mix(hash ^ slot.place);
        hash = Mix(hash ^ static_cast<std::uint64_t>(slot.meter.read_rest));
        hash = Mix(hash ^ static_cast<std::uint64_t>(slot.meter.write_rest));
        hash = Mix(hash ^ static_cast<std::uint64_t>(slot.home.read_rest));
      }
      const auto slots = next.slots.begin();
      const auto at = [&](std::size_t state) {
        return slots + static_cast<std::ptrdiff_t>(state * kept.size());
      };
      const std::size_t mine = next.heads.size();
      bool alike = false;
      for (const std::uint32_t other : known[hash]) {
        if (!std::equal(at(mine), at(mine + 1), at(other))) continue;
        alike = true;
        if (CostOf(layer_.heads[x]) < CostOf(next.heads[other])) {
          next.heads[other] = layer_.heads[x];
        }
        break;
      }
      if (alike) {
        next.slots.resize(begin);
        continue;
      }
      known[hash].push_back(static_cast<std::uint32_t>(mine));
      next.heads.push_back(layer_.heads[x]);
    }
    std::vector<std::size_t> live;
    live.reserve(kept.size());
    for (const std::size_t p : kept) live.push_back(live_[p]);
    live_ = std::move(live);
    next.loads.assign(next.heads.size() * kLoads * memories(), 0);
    layer_ = std::move(next);
    CountLoads(s);
    entering_ = first_;
    while (entering_ < model_.items.size() && model_.items[entering_].start == s) ++entering_;
    forced_.assign(memories(), 0);
    for (std::size_t i = first_; i < entering_; ++i) {
      const MoveItem& item = model_.items[i];
      if (item.memories.size() == 1) forced_[item.memories.front()] += item.size;
    }
  }

  void CountLoads(Step s) {
    for (std::size_t x = 0; x < layer_.heads.size(); ++x) {
      for (std::size_t p = 0; p < live_.size(); ++p) {
        const MoveItem& item = model_.items[live_[p]];
        const std::size_t place = layer_.slots[x * live_.size() + p].place;
        item.ForEachMemory(place, [&](std::size_t m) {
          LoadOf(layer_, x, kBetween, m) += item.size;
          LoadOf(layer_, x, kDuring, m) += item.size;
        });
        if (!MayMoveBefore(live_[p], s) || (item.staged() && !item.Beside(place))) continue;
        const std::size_t m = item.memories[place];
        LoadOf(layer_, x, kOpen, m) += item.size;
        // A copy beside the original may be gone by then.
        if (item.staged()) LoadOf(layer_, x, kBetween, m) -= item.size;
      }
    }
  }

  [[nodiscard]] bool MayMoveBefore(std::size_t i, Step s) const {
    const MoveItem& item = model_.items[i];
    if (!item.may_move || s == 0) return false;
    if (options_.anywhere && !item.staged()) return true;
    const std::size_t next = next_use_[i];
    return (next > 0 && item.uses[next - 1].step == s - 1) ||
           (next < item.uses.size() && item.uses[next].step == s);
  }

  // Every live item stays where it is or is copied.
  void Move(Step s) {
    for (std::size_t p = 0; p < live_.size(); ++p) {
      if (!MayMoveBefore(live_[p], s)) continue;
      const std::size_t i = live_[p];
      const MoveItem& item = model_.items[i];
      const std::size_t count = item.memories.size();
      std::vector<Child> children;
      for (std::size_t x = 0; x < layer_.heads.size(); ++x) {
        const std::size_t from = layer_.slots[x * live_.size() + p].place;
        const std::int64_t before = prices_.After(i, s - 1, from);
        for (std::size_t to = 0; to < count; ++to) {
          const std::int64_t after = Sum(item.copy[from * count + to], prices_.From(i, s, to));
          if (after >= kTooMuch || IsCopyForNothing(i, from, to, s)) continue;
          if (!CanMove(x, item, from, to, s)) continue;
          Offer(x, to, layer_.heads[x].estimate - before + after, children);
        }
      }
      Choose(children);
      Take(children, live_.size(),
           [&](Layer& layer, std::size_t x, std::size_t to) { Relocate(layer, x, p, to, s); });
    }
  }

  // A copy beside the original that the next operator does not use.
  [[nodiscard]] bool IsCopyForNothing(std::size_t i, std::size_t from, std::size_t to,
                                      Step s) const {
    const MoveItem& item = model_.items[i];
    if (from == to || !item.Beside(to)) return false;
    const std::size_t next = next_use_[i];
    return next >= item.uses.size() || item.uses[next].step != s;
  }

  // Whether the bytes fit if item goes `from` to `to`, however those that are not decided yet go.
  [[nodiscard]] bool CanMove(std::size_t x, const MoveItem& item, std::size_t from, std::size_t to,
                             Step s) {
    if (item.staged() && !item.Beside(to)) return true;
    const std::size_t m = item.memories[to];
    // A copy beside the original that stays was not counted.
    if ((from != to || item.staged()) && model_.copies_need_room &&
        LoadOf(layer_, x, kBetween, m) > model_.room_between[m][At(s)] - item.size) {
      return false;
    }
    Bytes least = LoadOf(layer_, x, kDuring, m) - LoadOf(layer_, x, kOpen, m) + forced_[m];
    return least <= model_.room[m][At(s)] - item.size;
  }

  void Relocate(Layer& layer, std::size_t x, std::size_t p, std::size_t to, Step s) {
    Slot& slot = layer.slots[x * live_.size() + p];
    const std::size_t i = live_[p];
    const MoveItem& item = model_.items[i];
    const std::size_t from = slot.place;
    if (item.staged()) return Restage(layer, x, i, slot, to, s);
    LoadOf(layer, x, kOpen, item.memories[from]) -= item.size;
    if (from == to) return;
    LoadOf(layer, x, kDuring, item.memories[from]) -= item.size;
    LoadOf(layer, x, kDuring, item.memories[to]) += item.size;
    LoadOf(layer, x, kBetween, item.memories[to]) += item.size;
    Spend(layer.heads[x], item.memories[from], {item.size, 0, 1}, slot.meter);
    slot = {static_cast<std::uint32_t>(to), {}, {}};
    Spend(layer.heads[x], item.memories[to], {0, item.size, 1}, slot.meter);
    AddTrace(layer.heads[x], i, to, s);
  }

  // The same of an item whose original stays.
  void Restage(Layer& layer, std::size_t x, std::size_t i, Slot& slot, std::size_t to, Step s) {
    const MoveItem& item = model_.items[i];
    const std::size_t from = slot.place;
    if (item.Beside(from)) {
      LoadOf(layer, x, kOpen, item.memories[from]) -= item.size;
      LoadOf(layer, x, kDuring, item.memories[from]) -= item.size;
    }
    if (item.Beside(to)) {
      LoadOf(layer, x, kDuring, item.memories[to]) += item.size;
      LoadOf(layer, x, kBetween, item.memories[to]) += item.size;
    }
    if (from == to) return;
    slot.place = static_cast<std::uint32_t>(to);
    slot.meter = {};
    AddTrace(layer.heads[x], i, to, s);
    if (!item.Beside(to)) return;
    Spend(layer.heads[x], item.homes[to], {item.size, 0, 1}, slot.home);
    Spend(layer.heads[x], item.memories[to], {0, item.size, 1}, slot.meter);
  }

  // The items that begin at this step get their memories.
  void Enter(Step s) {
    for (; first_ < entering_; ++first_) {
      const MoveItem& item = model_.items[first_];
      const bool forced = item.memories.size() == 1;
      if (forced) forced_[item.memories.front()] -= item.size;
      const std::int64_t before = prices_.Whole(first_);
      std::vector<Child> children;
      for (std::size_t x = 0; x < layer_.heads.size(); ++x) {
        for (std::size_t k = 0; k < item.memories.size(); ++k) {
          if (item.Beside(k)) continue;
          const std::size_t m = item.memories[k];
          const std::int64_t after = prices_.From(first_, s, k);
          const Bytes load = LoadOf(layer_, x, kDuring, m) + forced_[m];
          if (after >= kTooMuch || load > model_.room[m][At(s)] - item.size) continue;
          Offer(x, k, layer_.heads[x].estimate - before + after, children);
        }
      }
      Choose(children);
      const std::size_t stride = live_.size();
      Take(children, stride + 1, [&](Layer& layer, std::size_t x, std::size_t k) {
        layer.slots[x * (stride + 1) + stride] = {static_cast<std::uint32_t>(k), {}, {}};
        LoadOf(layer, x, kDuring, item.memories[k]) += item.size;
        AddTrace(layer.heads[x], first_, k, s);
      });
      live_.push_back(first_);
    }
  }

  // Operators use what is live, and bytes that stay free have been paid for in vain.
  void Pay(Step s) {
    std::size_t kept = 0;
    const std::size_t stride = live_.size();
    for (std::size_t x = 0; x < layer_.heads.size(); ++x) {
      Wide lost = 0;
      bool fits = true;
      for (std::size_t m = 0; m < memories(); ++m) {
        const Bytes room = model_.room[m][At(s)];
        const Bytes load = LoadOf(layer_, x, kDuring, m);
        fits = fits && load <= room;
        if (prices_.price(m, s) > 0) lost += Wide(prices_.price(m, s)) * Wide(room - load);
      }
      if (!fits) continue;
      Head head = layer_.heads[x];
      const Wide estimate = Wide(head.estimate) + lost;
      head.estimate = estimate < Wide(kTooMuch) ? static_cast<std::int64_t>(estimate) : kTooMuch;
      if (model_.Whole(head.estimate) >= upper_) continue;
      for (std::size_t p = 0; p < stride; ++p)
        layer_.slots[kept * stride + p] = layer_.slots[x * stride + p];
      layer_.heads[kept++] = head;
    }
    layer_.heads.resize(kept);
    layer_.slots.resize(kept * stride);
    for (std::size_t p = 0; p < stride; ++p) {
      const MoveItem& item = model_.items[live_[p]];
      std::size_t& next = next_use_[live_[p]];
      if (next >= item.uses.size() || item.uses[next].step != s) continue;
      for (std::size_t x = 0; x < kept; ++x) {
        Slot& slot = layer_.slots[x * stride + p];
        const bool at_home = item.staged() && !item.Beside(slot.place);
        Spend(layer_.heads[x], item.memories[slot.place], item.uses[next].use,
              at_home ? slot.home : slot.meter);
      }
      ++next;
    }
  }

  void Spend(Head& head, std::size_t memory, const TensorUse& use, Meter& meter) const {
    if (options_.rounded) {
      head.cost = Sum(head.cost, Charge(model_.memories[memory], use, meter));
    }
  }

  void AddTrace(Head& head, std::size_t item, std::size_t place, Step step) {
    traces_.push_back(
        {head.trace, static_cast<std::uint32_t>(item), static_cast<std::uint32_t>(place), step});
    head.trace = static_cast<std::int32_t>(traces_.size() - 1);
  }

  void Offer(std::size_t x, std::size_t place, std::int64_t estimate,
             std::vector<Child>& children) const {
    if (model_.Whole(estimate) >= upper_) return;
    children.push_back(
        {static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(place), estimate});
  }

  // No more than the width, those of the least estimates.
  void Choose(std::vector<Child>& children) {
    const std::size_t width =
        std::max<std::size_t>(1, std::min(width_, kMostSlots / (live_.size() + 1)));
    if (children.size() <= width) return;
    const auto middle = children.begin() + static_cast<std::ptrdiff_t>(width);
    // Ties by age, so that the choice depends on the arguments alone.
    std::nth_element(children.begin(), middle, children.end(), [](const Child& a, const Child& b) {
      return std::tuple(a.estimate, a.parent, a.place) < std::tuple(b.estimate, b.parent, b.place);
    });
    for (auto child = middle; child != children.end(); ++child) {
      least_dropped_ = std::min(least_dropped_, model_.Whole(child->estimate));
    }
    children.erase(middle, children.end());
    std::sort(children.begin(), children.end(), [](const Child& a, const Child& b) {
      return std::pair(a.parent, a.place) < std::pair(b.parent, b.place);
    });
  }

  // The next layer, with `stride` slots for each state; `apply` changes a state as decided.
  template <typename Apply>
  void Take(const std::vector<Child>& children, std::size_t stride, Apply apply) {
    const std::size_t old = live_.size();
    const std::size_t loads = kLoads * memories();
    Layer next;
    next.heads.resize(children.size());
    next.slots.resize(children.size() * stride);
    next.loads.resize(children.size() * loads);
    for (std::size_t c = 0; c < children.size(); ++c) {
      const std::size_t x = children[c].parent;
      next.heads[c] = layer_.heads[x];
      next.heads[c].estimate = children[c].estimate;
      std::copy_n(layer_.slots.begin() + static_cast<std::ptrdiff_t>(x * old), old,
                  next.slots.begin() + static_cast<std::ptrdiff_t>(c * stride));
      std::copy_n(layer_.loads.begin() + static_cast<std::ptrdiff_t>(x * loads), loads,
                  next.loads.begin() + static_cast<std::ptrdiff_t>(c * loads));
      apply(next, c, children[c].place);
    }
    layer_ = std::move(next);
  }

  void FindStays(std::int32_t trace, std::vector<Stay>& stays) const {
    std::vector<Step> end;
    for (const MoveItem& item : model_.items) end.push_back(item.end);
    for (; trace != kNoTrace; trace = traces_[static_cast<std::size_t>(trace)].before) {
      const Trace& at = traces_[static_cast<std::size_t>(trace)];
      const MoveItem& item = model_.items[at.item];
      const bool home = item.staged() && at.step == item.start;
      if (!item.staged() || item.Beside(at.place) || home) {
        const Step until = home ? item.end : end[at.item];
        stays.push_back({at.item, item.memories[at.place], at.step, until});
      }
      end[at.item] = at.step;
    }
    std::sort(stays.begin(), stays.end(), [](const Stay& a, const Stay& b) {
      return std::pair(a.item, a.start) < std::pair(b.item, b.start);
    });
  }

  const MoveModel& model_;
  const MovePrices& prices_;
  const SweepOptions& options_;
  Budget& budget_;
  const std::int64_t upper_;
  std::int64_t least_dropped_;
  const std::size_t width_;
  Layer layer_;
  std::vector<std::size_t> live_;      // Items, parallel to the slots of each state.
  std::vector<std::size_t> next_use_;  // By item.
  std::size_t first_ = 0;              // The first item that has not begun.
  std::size_t entering_ = 0;           // The first that does not begin at this step.
  std::vector<Bytes> forced_;          // By memory: of entering items that can be nowhere else.
  std::vector<Trace> traces_;
};

}  // namespace

SweepAnswer Sweep(const MoveModel& model, const MovePrices& prices, std::int64_t upper,
                  const SweepOptions& options, Budget& budget) {
  return Sweeper(model, prices, upper, options, budget).Run();
}

}  // namespace berth::internal::plan
