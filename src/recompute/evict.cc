#include "recompute/evict.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "base/random.h"

namespace berth::internal::recompute {
namespace {

constexpr std::size_t kNever = std::numeric_limits<std::size_t>::max();
constexpr std::size_t kMostTimes = 8;  // As long as the order.
constexpr int kMostDepth = 2000;       // Of chains of what is made again: each level is a call.
constexpr int kMostRestarts = 40;
constexpr int kMostRounds = 6;
// Of the storages that would have to be made again for one, so many are counted.
constexpr std::size_t kMostClosure = 64;

class Walk {
 public:
  Walk(const Model& model, const std::vector<Op>& order, Bytes capacity, const EvictionRule& rule,
       std::int64_t most, Work& work, Budget& budget)
      : model_(model),
        order_(order),
        capacity_(capacity),
        most_(most),
        rule_(rule),
        work_(work),
        budget_(budget),
        uses_(model.storages.size()),
        stays_(model.storages.size(), kMayLeave),
        seen_(model.storages.size(), 0),
        factor_(model.storages.size(), 1) {
    Random random(rule.seed);
    for (double& factor : factor_) {
      factor = std::exp((2 * random.Real() - 1) * std::log(rule.noise));
    }
    for (std::size_t step = 0; step < order.size(); ++step) {
      for (const Touch& touch : model.TouchesOf(order[step])) {
        uses_[touch.storage].push_back({step, touch.finds});
      }
    }
  }

  std::optional<Sequence> Run() {
    for (int restarts = 0; restarts < kMostRestarts; ++restarts) {
      culprit_.reset();
      if (RunOnce()) return std::move(sequence_);
      if (ended_ || !KeepsMore()) break;
    }
    return std::nullopt;
  }

 private:
  struct Use {
    std::size_t step = 0;
    std::int32_t finds = 0;
  };
  struct State {
    std::int32_t version = kMakes;  // In memory, or when it left.
    bool there = false;
    bool untouched = false;  // Given, with a link: off chip until its first use.
    int holds = 0;           // It may not leave.
    std::size_t next = 0;    // Into its uses: the first at the present step or later.
  };

  bool RunOnce() {
    sequence_.clear();
    cost_ = 0;
    used_ = model_.always_live;
    states_.assign(model_.storages.size(), {});
    there_.clear();
    for (Storage s = 0; s < model_.storages.size(); ++s) {
      const StorageInfo& info = model_.storages[s];
      if (!info.given) continue;
      states_[s].version = 0;
      states_[s].untouched = model_.MayCopy(s);
      if (!states_[s].untouched) Enter(s);
    }
    for (step_ = 0; step_ < order_.size(); ++step_) {
      if (!Execute(order_[step_], /*again=*/false, 0)) return false;
    }
    for (Storage s = 0; s < model_.storages.size(); ++s) {
      const StorageInfo& info = model_.storages[s];
      if (!info.result || model_.MayCopy(s)) continue;
      if (!Ensure(s, info.last, 0)) return false;
      ++states_[s].holds;
    }
    return true;
  }

  // After a failure: what left and could not come back stays the next time, or what needed it does.
  bool KeepsMore() {
    if (!culprit_) return false;
    const bool culprit = stays_[*culprit_] != kAlways;
    const bool wanted = wanted_ != *culprit_ && stays_[wanted_] == kMayLeave;
    if (!culprit && !wanted) return false;
    const bool smaller = model_.storages[*culprit_].size <= model_.storages[wanted_].size;
    if (culprit && (smaller || !wanted)) {
      stays_[*culprit_] = kAlways;
    } else {
      stays_[wanted_] = kWhileNeeded;
    }
    return true;
  }

  // False once the search has to end.
  bool Spend(std::size_t elements) {
    work_.left -= static_cast<std::int64_t>(elements);
    ended_ = ended_ || work_.spent() || !budget_.SpendNode() ||
             !budget_.SpendWork(8 * static_cast<std::int64_t>(elements));
    return !ended_;
  }

  // False once the sequence costs more than it may.
  bool Pay(std::int64_t cost) {
    cost_ += cost;
    ended_ = ended_ || cost_ > most_;
    return !ended_;
  }

  void Enter(Storage s) {
    if (std::exchange(states_[s].there, true)) return;
    used_ += model_.storages[s].size;
    there_.push_back(s);
  }
  void Leave(std::size_t index) {
    const Storage s = there_[index];
    states_[s].there = false;
    used_ -= model_.storages[s].size;
    there_[index] = there_.back();
    there_.pop_back();
  }

  // The next step that finds `version` of `s` as it is now in memory; kNever if there is none.
  std::size_t NextUse(Storage s, std::int32_t version) {
    State& state = states_[s];
    const std::vector<Use>& uses = uses_[s];
    while (state.next < uses.size() && uses[state.next].step < step_) ++state.next;
    // The operator of this step may have run.
    for (std::size_t k = state.next; k < uses.size(); ++k) {
      if (uses[k].step == step_ && ran_) continue;
      return uses[k].finds == version ? uses[k].step : kNever;
    }
    const StorageInfo& info = model_.storages[s];
    return info.result && !model_.MayCopy(s) && version == info.last ? order_.size() : kNever;
  }

  // The cost of having `s` again, with what has left and would have to be made again for it.
  double CostOf(Storage s, std::int32_t version) {
    const StorageInfo& info = model_.storages[s];
    double cost = static_cast<double>(info.Price(version, model_.linked));
    if (!rule_.closure || version > info.again) return cost;
    ++mark_;
    seen_[s] = mark_;
    closure_.assign(1, s);
    for (std::size_t k = 0; k < closure_.size() && closure_.size() < kMostClosure; ++k) {
      const std::vector<Op>& chain = model_.storages[closure_[k]].chain;
      work_.left -= static_cast<std::int64_t>(chain.size());
      for (const Op u : chain) {
        for (const Touch& touch : model_.TouchesOf(u)) {
          const State& other = states_[touch.storage];
          if (touch.finds == kMakes || touch.only_first || other.there) continue;
          if (std::exchange(seen_[touch.storage], mark_) == mark_) continue;
          if (touch.finds > model_.storages[touch.storage].again) continue;
          closure_.push_back(touch.storage);
          cost +=
              static_cast<double>(model_.storages[touch.storage].Price(touch.finds, model_.linked));
        }
      }
    }
    return cost;
  }

  // The less, the sooner it leaves. `next`: its next use.
  double ValueOf(Storage s, std::size_t next) {
    const StorageInfo& info = model_.storages[s];
    const std::int32_t version = states_[s].version;
    const double cost =
        1 + (version <= info.again || model_.MayCopy(s) ? CostOf(s, version)
                                                        : std::numeric_limits<float>::max());
    const std::size_t until = next == kNever ? 2 * order_.size() : next;
    const auto distance = static_cast<double>(until - step_ + 1);
    return factor_[s] * cost /
           (static_cast<double>(info.size) * std::pow(distance, rule_.exponent));
  }

  // Room for `bytes` more.
  bool MakeRoom(Bytes bytes) {
    while (used_ + bytes > capacity_) {
      if (!Spend(there_.size())) return false;
      std::optional<std::size_t> chosen;
      double least = 0;
      for (std::size_t k = 0; k < there_.size(); ++k) {
        const Storage s = there_[k];
        const State& state = states_[s];
        if (state.holds > 0 || model_.storages[s].size == 0 || stays_[s] == kAlways) continue;
        const std::size_t next = NextUse(s, state.version);
        if (next != kNever && (stays_[s] != kMayLeave || !model_.MayDrop(s, state.version)))
          continue;
        const double value = ValueOf(s, next);
        if (chosen && value >= least) continue;
        chosen = k;
        least = value;
      }
      if (!chosen) return false;
      Leave(*chosen);
    }
    return true;
  }

  // Puts `version` of `s` into memory.
  bool Ensure(Storage s, std::int32_t version, int depth) {
    State& state = states_[s];
    const StorageInfo& info = model_.storages[s];
    if (depth == 0) wanted_ = s;
    if (state.version == version && (state.there || state.untouched || info.size == 0)) {
      if (state.there) return true;
      if (!MakeRoom(info.size)) return false;
      state.untouched = false;
      Enter(s);
      return true;
    }
    const bool made = version <= info.again;
    const bool copied = model_.MayCopy(s) && state.version == version && !state.there;
    if (copied && (!made || info.in_cost + info.OutCost(version) <=
                                static_cast<std::int64_t>(std::min(
                                    CostOf(s, version), static_cast<double>(kMostCost))))) {
      if (!MakeRoom(info.size)) return false;
      sequence_.push_back(model_.ReturnOf(s));
      Enter(s);
      return Pay(info.in_cost);
    }
    if (!made || depth >= kMostDepth || Loses(s)) {
      if (!culprit_) culprit_ = s;
      return false;
    }
    const int holds = std::exchange(state.holds, 0);
    if (holds > 0) return false;  // Another one needs it as it is.
    for (std::int32_t k = 0; k <= version; ++k) {
      if (!Execute(info.chain[static_cast<std::size_t>(k)], /*again=*/true, depth + 1))
        return false;
      if (k == 0) ++states_[s].holds;
    }
    --states_[s].holds;
    return states_[s].there && states_[s].version == version;
  }

  // Whether a version of `s` would be lost that is needed and cannot come back.
  bool Loses(Storage s) {
    const State& state = states_[s];
    if (!state.there || state.version <= model_.storages[s].again) return false;
    return NextUse(s, state.version) != kNever;
  }

  bool IsThere(const Touch& touch) const {
    const State& state = states_[touch.storage];
    return state.version == touch.finds && state.there;
  }

  // Runs `v` once its inputs are there.
  bool Execute(Op v, bool again, int depth) {
    if (!again) ran_ = false;
    if (sequence_.size() > kMostTimes * order_.size()) ended_ = true;
    if (!Spend(model_.TouchesOf(v).size())) return false;
    const std::size_t first_held = held_.size();
    const bool ready = Prepare(v, again, depth) && (!again || Pay(model_.cost[v]));
    if (ready) {
      sequence_.push_back(v);
      if (!again) ran_ = true;
      for (const Touch& touch : model_.TouchesOf(v)) {
        if (again && touch.only_first) continue;
        State& state = states_[touch.storage];
        state.version = touch.leaves;
        state.untouched = false;
        Enter(touch.storage);
      }
    }
    ReleaseTo(first_held);
    return ready;
  }

  bool Prepare(Op v, bool again, int depth) {
    const auto touches = model_.TouchesOf(v);
    const auto counts = [&](const Touch& touch) { return !again || !touch.only_first; };
    const std::size_t first_held = held_.size();
    for (int round = 0;; ++round) {
      ReleaseTo(first_held);
      bool complete = true;
      for (const Touch& touch : touches) {
        if (touch.finds == kMakes || !counts(touch)) continue;
        const bool there = IsThere(touch);
        complete = complete && there;
        if (there) Hold(touch.storage);
      }
      if (complete) break;
      if (round == kMostRounds) return false;
      for (const Touch& touch : touches) {
        if (touch.finds == kMakes || !counts(touch) || IsThere(touch)) continue;
        if (!Ensure(touch.storage, touch.finds, depth)) return false;
        Hold(touch.storage);
      }
    }
    Bytes more = 0;
    for (const Touch& touch : touches) {
      if (touch.finds != kMakes || !counts(touch)) continue;
      if (again && (Loses(touch.storage) || states_[touch.storage].holds > 0)) {
        if (!culprit_) culprit_ = touch.storage;
        return false;
      }
      if (!states_[touch.storage].there) more += model_.storages[touch.storage].size;
      Hold(touch.storage);
    }
    return MakeRoom(more);
  }
  void Hold(Storage s) {
    ++states_[s].holds;
    held_.push_back(s);
  }
  void ReleaseTo(std::size_t first) {
    for (; held_.size() > first; held_.pop_back()) --states_[held_.back()].holds;
  }

  const Model& model_;
  const std::vector<Op>& order_;
  const Bytes capacity_;
  const std::int64_t most_;  // Of cost.
  const EvictionRule& rule_;
  Work& work_;
  Budget& budget_;
  std::vector<std::vector<Use>> uses_;  // By storage, in the order.
  enum Stays : char { kMayLeave, kWhileNeeded, kAlways };
  std::vector<Stays> stays_;  // By storage.
  std::vector<std::uint32_t> seen_;
  std::vector<double> factor_;  // By storage.
  std::uint32_t mark_ = 0;
  std::vector<Storage> closure_;
  std::vector<State> states_;
  std::vector<Storage> there_;  // In memory.
  std::vector<Storage> held_;
  Bytes used_ = 0;
  std::size_t step_ = 0;
  bool ran_ = false;  // The operator of this step.
  bool ended_ = false;
  std::optional<Storage> culprit_;  // What was missing and could not come back,
  Storage wanted_ = 0;              // and what an operator of the order needed it for.
  Sequence sequence_;
  std::int64_t cost_ = 0;  // Of its repeats and returns, without what is written for those.
};

}  // namespace

std::optional<Sequence> Evict(const Model& model, const std::vector<Op>& order, Bytes capacity,
                              const EvictionRule& rule, std::int64_t most, Work& work,
                              Budget& budget) {
  return Walk(model, order, capacity, rule, most, work, budget).Run();
}

}  // namespace berth::internal::recompute
