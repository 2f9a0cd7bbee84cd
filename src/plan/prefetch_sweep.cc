#include "plan/prefetch_sweep.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "base/wide.h"
#include "graph/run.h"

namespace berth::internal::plan {
namespace {

constexpr std::int32_t kNoTrace = -1;
constexpr std::size_t kMostTraces = 8'000'000;
// Places and bytes that the states of one step may have together.
constexpr std::size_t kMostSlots = 400'000;
// Rules of thumb: copies under way at once, and those tried next for each state.
constexpr std::size_t kMostUnderWay = 3;
constexpr std::size_t kMostTried = 8;

std::uint64_t Mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return (x ^ (x >> 31)) + 0x9e3779b97f4a7c15U;
}

// A copy that the engine has taken on and no operator has waited for.
struct Transfer {
  std::uint32_t item = 0;
  std::uint32_t to = 0;  // Index into MoveItem::memories.
  std::int64_t end = 0;
};

struct State {
  std::int64_t time = 0;   // The end of the last operator, or that of what the next one waits for.
  std::int64_t least = 0;  // At most the time of any run that continues this one.
  std::int64_t rank = 0;   // About the time of the best one.
  std::int32_t trace = kNoTrace;
  std::vector<std::uint32_t> places;  // Of the live items: indices into MoveItem::memories.
  std::vector<Transfer> transfers;    // In the order of the engine.
  std::vector<Bytes> loads;           // By memory, with the targets of copies.
};

struct Trace {
  enum class Kind : std::uint8_t { kEnter, kCopy, kWait, kDrop };
  std::int32_t before;
  Kind kind;
  std::uint32_t item;
  std::uint32_t place;
  Step step;
};

// Sums over what is left of the order, at some prices.
class Rest {
 public:
  Rest(const MoveModel& model, const MovePrices& prices) : prices_(prices), bits_(model.bits) {
    const auto steps = static_cast<std::size_t>(model.steps);
    sums_.assign(steps + 1, Wide(0));
    for (std::size_t s = steps; s-- > 0;) {
      sums_[s] = sums_[s + 1];
      for (std::size_t m = 0; m < model.memories.size(); ++m) {
        const std::int64_t price = prices.price(m, static_cast<Step>(s));
        if (price > 0) sums_[s] -= Wide(price) * Wide(model.room[m][s]);
      }
    }
    std::vector<Wide> begins(steps + 1, Wide(0));
    for (std::size_t i = 0; i < model.items.size(); ++i) {
      begins[static_cast<std::size_t>(model.items[i].start)] += Wide(prices.Whole(i));
    }
    Wide later = 0;
    for (std::size_t s = steps; s-- > 0;) {
      later += begins[s];
      sums_[s] += later;
    }
  }
  // Of the items that begin at `step` or later, less the price of all bytes from then on.
  [[nodiscard]] const Wide& Later(Step step) const { return sums_[static_cast<std::size_t>(step)]; }
  [[nodiscard]] const MovePrices& prices() const { return prices_; }
  // In whole nanoseconds, rounded up.
  [[nodiscard]] std::int64_t Units(const Wide& scaled) const {
    if (scaled <= Wide(0)) return 0;
    const Wide unit = Wide(1) << bits_;
    const Wide units = (scaled + unit - Wide(1)) / unit;
    return units < Wide(kTooMuch) ? static_cast<std::int64_t>(units) : kTooMuch;
  }

 private:
  const MovePrices& prices_;
  int bits_;
  std::vector<Wide> sums_;
};

class Sweeper {
 public:
  Sweeper(const TimedModel& model, const MovePrices& prices, const MovePrices& guide,
          std::int64_t upper, const PrefetchSweepOptions& options, Budget& budget)
      : timed_(model),
        model_(model.free),
        options_(options),
        budget_(budget),
        bound_(model.free, prices),
        guide_(model.free, guide),
        upper_(upper),
        least_dropped_(upper),
        next_use_(model.free.items.size(), 0) {
    const auto steps = static_cast<std::size_t>(model_.steps);
    computing_from_.assign(steps + 1, 0);
    for (std::size_t s = steps; s-- > 0;) {
      computing_from_[s] = AddTime(computing_from_[s + 1], timed_.computing[s]);
    }
  }

  PrefetchSweepAnswer Run() {
    PrefetchSweepAnswer answer;
    State first;
    first.least = Sum(timed_.all_computing, bound_.Units(bound_.Later(0)));
    first.rank = Sum(timed_.all_computing, guide_.Units(guide_.Later(0)));
    answer.bound = std::min(upper_, first.least);
    states_.push_back(std::move(first));
    for (Step s = 0; s < model_.steps && !states_.empty(); ++s) {
      if (budget_.TimeIsUp() || traces_.size() > kMostTraces) return answer;
      Begin(s);
      if (s > 0) Drop(s);
      if (s > 0) Copy(s);
      Wait(s);
      Enter(s);
      Operate(s);
      Merge();
      answer.nodes += static_cast<std::int64_t>(states_.size());
    }
    if (options_.everything) answer.bound = std::max(answer.bound, LeastPossible());
    const State* best = nullptr;
    for (const State& state : states_) {
      if (best == nullptr || state.time < best->time) best = &state;
    }
    if (best == nullptr || best->time >= upper_) return answer;
    answer.time = best->time;
    FindStays(best->trace, answer.stays);
    return answer;
  }

 private:
  [[nodiscard]] static std::size_t At(Step step) { return static_cast<std::size_t>(step); }
  [[nodiscard]] std::int64_t LeastPossible() const {
    std::int64_t least = std::min(upper_, least_dropped_);
    for (const State& state : states_) least = std::min(least, state.time);
    return least;
  }
  // The place that item `i` of a state is copied to, or none.
  [[nodiscard]] static const Transfer* TransferOf(const State& state, std::size_t i) {
    for (const Transfer& transfer : state.transfers) {
      if (transfer.item == i) return &transfer;
    }
    return nullptr;
  }

  // Items that have ended leave; loads are those between this step and the one before.
  void Begin(Step s) {
    std::vector<std::size_t> kept;
    std::vector<std::size_t> live;
    for (std::size_t p = 0; p < live_.size(); ++p) {
      if (model_.items[live_[p]].end <= s) continue;
      kept.push_back(p);
      live.push_back(live_[p]);
    }
    live_ = std::move(live);
    for (State& state : states_) {
      state.loads.assign(model_.memories.size(), 0);
      for (std::size_t p = 0; p < kept.size(); ++p) {
        state.places[p] = state.places[kept[p]];
        const MoveItem& item = model_.items[live_[p]];
        item.ForEachMemory(state.places[p], [&](std::size_t m) { state.loads[m] += item.size; });
      }
      state.places.resize(kept.size());
      for (const Transfer& transfer : state.transfers) {
        const MoveItem& item = model_.items[transfer.item];
        state.loads[item.memories[transfer.to]] += item.size;
      }
    }
  }

  // A copy beside an original, which the operator before has used, is kept or dropped.
  void Drop(Step s) {
    for (std::size_t p = 0; p < live_.size(); ++p) {
      const std::size_t i = live_[p];
      const MoveItem& item = model_.items[i];
      const std::size_t next = next_use_[i];
      if (!item.staged() || next == 0 || item.uses[next - 1].step != s - 1) continue;
      std::vector<State> all;
      for (State& state : states_) {
        const std::size_t place = state.places[p];
        if (!item.Beside(place)) {
          all.push_back(std::move(state));
          continue;
        }
        State child = state;
        child.loads[item.memories[place]] -= item.size;
        child.places[p] = static_cast<std::uint32_t>(item.HomeOf(place));
        const Wide more = Wide(guide_.prices().From(i, s, child.places[p])) -
                          Wide(guide_.prices().After(i, s - 1, place));
        child.rank = Sum(child.rank, guide_.Units(more));
        AddTrace(child, Trace::Kind::kDrop, i, child.places[p], s);
        all.push_back(std::move(child));
        if (next < item.uses.size()) all.push_back(std::move(state));
      }
      states_ = std::move(all);
      Choose(states_);
    }
  }

  // Any tensors are given to the engine, one after another.
  void Copy(Step s) {
    std::vector<State> all;
    while (!states_.empty()) {
      std::vector<State> next;
      for (const State& state : states_) {
        if (options_.everything || state.transfers.size() < kMostUnderWay) {
          CopyNext(state, s, next);
        }
      }
      std::move(states_.begin(), states_.end(), std::back_inserter(all));
      Choose(next);
      states_ = std::move(next);
    }
    states_ = std::move(all);
    Choose(states_);
  }

  void CopyNext(const State& state, Step s, std::vector<State>& next) {
    const std::size_t first = next.size();
    const std::int64_t engine = std::max(state.time, EngineOf(state));
    for (std::size_t p = 0; p < live_.size(); ++p) {
      const std::size_t i = live_[p];
      const MoveItem& item = model_.items[i];
      if (!item.may_move || TransferOf(state, i) != nullptr) continue;
      const std::size_t count = item.memories.size();
      const std::size_t from = state.places[p];
      const bool is_of_use = next_use_[i] < item.uses.size() && !item.Beside(from);
      if (item.staged() && !is_of_use) continue;
      for (std::size_t to = 0; to < count; ++to) {
        const std::size_t m = item.memories[to];
        if (timed_.copying[i][from * count + to] >= kTooMuch) continue;
        if (to == from || state.loads[m] > model_.room_between[m][At(s)] - item.size) continue;
        State child = state;
        const std::int64_t end = AddTime(engine, timed_.copying[i][from * count + to]);
        child.transfers.push_back(
            {static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(to), end});
        child.loads[m] += item.size;
        const Wide more =
            Wide(guide_.prices().From(i, s, to)) - Wide(guide_.prices().After(i, s - 1, from));
        child.rank = Sum(child.rank, Sum(guide_.Units(more), Share(end - engine)));
        AddTrace(child, Trace::Kind::kCopy, i, to, s);
        next.push_back(std::move(child));
      }
    }
    if (options_.everything || next.size() - first <= kMostTried) return;
    const auto begin = next.begin() + static_cast<std::ptrdiff_t>(first);
    std::stable_sort(begin, next.end(),
                     [](const State& a, const State& b) { return a.rank < b.rank; });
    next.resize(first + kMostTried);
  }

  [[nodiscard]] static std::int64_t EngineOf(const State& state) {
    return state.transfers.empty() ? 0 : state.transfers.back().end;
  }
  // Of a time, what copies are taken to cost.
  [[nodiscard]] std::int64_t Share(std::int64_t time) const {
    return time / 16 * options_.sixteenths + time % 16 * options_.sixteenths / 16;
  }

  // The operator waits for some of the copies, from the first on.
  void Wait(Step s) {
    std::vector<State> next;
    for (State& state : states_) {
      std::size_t forced = 0;
      for (std::size_t c = 0; c < state.transfers.size(); ++c) {
        if (MustEnd(state.transfers[c].item, s)) forced = c + 1;
      }
      for (std::size_t count = forced; count <= state.transfers.size(); ++count) {
        State child = state;
        for (std::size_t c = 0; c < count; ++c) Arrive(child, state.transfers[c], s);
        child.transfers.erase(child.transfers.begin(),
                              child.transfers.begin() + static_cast<std::ptrdiff_t>(count));
        Wide rest = guide_.Later(s);
        for (std::size_t p = 0; p < live_.size(); ++p) {
          const Transfer* const transfer = TransferOf(child, live_[p]);
          rest += Wide(guide_.prices().From(live_[p], s,
                                            transfer == nullptr ? child.places[p] : transfer->to));
        }
        child.rank = RankOf(child, s, rest);
        next.push_back(std::move(child));
      }
    }
    Choose(next);
    states_ = std::move(next);
  }

  // Item `i` is written at step `s`, or used beside its original, or has no other step to be anywhere.
  [[nodiscard]] bool MustEnd(std::size_t i, Step s) const {
    const MoveItem& item = model_.items[i];
    const std::size_t next = next_use_[i];
    return item.end == s + 1 || (next < item.uses.size() && item.uses[next].step == s &&
                                 (item.staged() || item.uses[next].use.bytes_written > 0));
  }

  void Arrive(State& state, const Transfer& transfer, Step s) {
    const auto p = static_cast<std::size_t>(std::find(live_.begin(), live_.end(), transfer.item) -
                                            live_.begin());
    const MoveItem& item = model_.items[transfer.item];
    state.time = std::max(state.time, transfer.end);
    if (!item.staged()) state.loads[item.memories[state.places[p]]] -= item.size;
    state.places[p] = transfer.to;
    AddTrace(state, Trace::Kind::kWait, transfer.item, transfer.to, s);
  }

  [[nodiscard]] std::int64_t RankOf(const State& state, Step s, const Wide& rest) const {
    const std::int64_t backlog = std::max<std::int64_t>(0, EngineOf(state) - state.time);
    return Sum(Sum(state.time, computing_from_[At(s)]), Sum(guide_.Units(rest), Share(backlog)));
  }

  // The items that begin at this step get their memories.
  void Enter(Step s) {
    for (; first_ < model_.items.size() && model_.items[first_].start == s; ++first_) {
      const MoveItem& item = model_.items[first_];
      std::vector<State> next;
      for (const State& state : states_) {
        for (std::size_t k = 0; k < item.memories.size(); ++k) {
          const std::size_t m = item.memories[k];
          if (item.Beside(k) || state.loads[m] > model_.room[m][At(s)] - item.size) continue;
          State child = state;
          child.places.push_back(static_cast<std::uint32_t>(k));
          child.loads[m] += item.size;
          const Wide more =
              Wide(guide_.prices().From(first_, s, k)) - Wide(guide_.prices().Whole(first_));
          child.rank = Sum(child.rank, guide_.Units(more));
          AddTrace(child, Trace::Kind::kEnter, first_, k, s);
          next.push_back(std::move(child));
        }
      }
      live_.push_back(first_);
      Choose(next);
      states_ = std::move(next);
    }
  }

  // The operator runs, if all that is live then fits.
  void Operate(Step s) {
    std::vector<State> kept;
    for (State& state : states_) {
      bool fits = true;
      for (std::size_t m = 0; m < state.loads.size(); ++m) {
        fits = fits && state.loads[m] <= model_.room[m][At(s)];
      }
      if (!fits) continue;
      state.time = AddTime(state.time, timed_.computing[At(s)]);
      Wide least = bound_.Later(s + 1);
      Wide rest = guide_.Later(s + 1);
      for (std::size_t p = 0; p < live_.size(); ++p) {
        const std::size_t i = live_[p];
        const MoveItem& item = model_.items[i];
        const std::size_t place = state.places[p];
        const std::size_t next = next_use_[i];
        if (next < item.uses.size() && item.uses[next].step == s) {
          const Memory& memory = model_.memories[item.memories[place]];
          state.time = AddTime(state.time, AccessTime(memory, item.uses[next].use));
        }
        if (item.end <= s + 1) continue;
        least += Wide(bound_.prices().After(i, s, place));
        const Transfer* const transfer = TransferOf(state, i);
        rest += Wide(transfer == nullptr ? guide_.prices().After(i, s, place)
                                         : guide_.prices().From(i, s + 1, transfer->to));
      }
      state.least = std::max(state.least,
                             Sum(state.time, Sum(computing_from_[At(s) + 1], bound_.Units(least))));
      if (state.least >= upper_) continue;
      state.rank = RankOf(state, s + 1, rest);
      kept.push_back(std::move(state));
    }
    states_ = std::move(kept);
    for (const std::size_t i : live_) {
      const MoveItem& item = model_.items[i];
      if (next_use_[i] < item.uses.size() && item.uses[next_use_[i]].step == s) ++next_use_[i];
    }
  }

  // Of states that are alike, those of which no time is earlier leave.
  void Merge() {
    std::stable_sort(states_.begin(), states_.end(),
                     [](const State& a, const State& b) { return a.time < b.time; });
    std::vector<State> kept;
    std::unordered_map<std::uint64_t, std::vector<std::size_t>> known;
    for (State& state : states_) {
      std::uint64_t hash = 0;
      for (const std::uint32_t place : state.places) hash = Mix(hash ^ place);
      for (const Transfer& transfer : state.transfers) {
        hash = Mix(hash ^ transfer.item);
        hash = Mix(hash ^ transfer.to);
      }
      std::vector<std::size_t>& alike = known[hash];
      const bool dominated = std::any_of(alike.begin(), alike.end(), [&](std::size_t other) {
        return Dominates(kept[other], state);
      });
      if (dominated) continue;
      alike.push_back(kept.size());
      kept.push_back(std::move(state));
    }
    states_ = std::move(kept);
  }

  [[nodiscard]] static bool Dominates(const State& a, const State& b) {
    if (a.time > b.time || a.places != b.places || a.transfers.size() != b.transfers.size()) {
      return false;
    }
    for (std::size_t c = 0; c < a.transfers.size(); ++c) {
      const Transfer& x = a.transfers[c];
      const Transfer& y = b.transfers[c];
      if (x.item != y.item || x.to != y.to || x.end > y.end) return false;
    }
    return true;
  }

  // No more than the width, those of the lowest ranks; ties by age.
  void Choose(std::vector<State>& states) {
    const std::size_t slots = live_.size() + model_.memories.size() + 8;
    const std::size_t width =
        std::max<std::size_t>(1, std::min(options_.width, kMostSlots / slots));
    if (states.size() <= width) return;
    std::stable_sort(states.begin(), states.end(),
                     [](const State& a, const State& b) { return a.rank < b.rank; });
    for (std::size_t x = width; x < states.size(); ++x) {
      least_dropped_ = std::min(least_dropped_, states[x].least);
    }
    states.resize(width);
  }

  void AddTrace(State& state, Trace::Kind kind, std::size_t item, std::size_t place, Step step) {
    traces_.push_back({state.trace, kind, static_cast<std::uint32_t>(item),
                       static_cast<std::uint32_t>(place), step});
    state.trace = static_cast<std::int32_t>(traces_.size() - 1);
  }

  void FindStays(std::int32_t trace, std::vector<Stay>& stays) const {
    std::vector<Step> end;
    for (const MoveItem& item : model_.items) end.push_back(item.end);
    std::vector<Step> wait = end;
    for (; trace != kNoTrace; trace = traces_[static_cast<std::size_t>(trace)].before) {
      const Trace& at = traces_[static_cast<std::size_t>(trace)];
      const MoveItem& item = model_.items[at.item];
      if (at.kind == Trace::Kind::kDrop) end[at.item] = at.step;
      if (at.kind == Trace::Kind::kWait) wait[at.item] = at.step;
      if (at.kind == Trace::Kind::kDrop || at.kind == Trace::Kind::kWait) continue;
      const bool home = item.staged() && at.kind == Trace::Kind::kEnter;
      stays.push_back({at.item, item.memories[at.place], at.step, home ? item.end : end[at.item]});
      end[at.item] = wait[at.item];
    }
    std::sort(stays.begin(), stays.end(), [](const Stay& a, const Stay& b) {
      return std::pair(a.item, a.start) < std::pair(b.item, b.start);
    });
  }

  const TimedModel& timed_;
  const MoveModel& model_;
  const PrefetchSweepOptions& options_;
  Budget& budget_;
  const Rest bound_;
  const Rest guide_;
  const std::int64_t upper_;
  std::int64_t least_dropped_;
  std::vector<std::int64_t> computing_from_;  // By step: of it and all later ones.
  std::vector<State> states_;
  std::vector<std::size_t> live_;      // Items, parallel to the places of each state.
  std::vector<std::size_t> next_use_;  // By item.
  std::size_t first_ = 0;              // The first item that has not begun.
  std::vector<Trace> traces_;
};

}  // namespace

PrefetchSweepAnswer PrefetchSweep(const TimedModel& model, const MovePrices& prices,
                                  const MovePrices& guide, std::int64_t upper,
                                  const PrefetchSweepOptions& options, Budget& budget) {
  return Sweeper(model, prices, guide, upper, options, budget).Run();
}

}  // namespace berth::internal::plan
