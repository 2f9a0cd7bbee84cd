#include "recompute/realise.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "base/check.h"

namespace berth::internal::recompute {
namespace {

constexpr std::size_t kNone = static_cast<std::size_t>(-1);
constexpr std::size_t kMostTimes = 8;  // As long as the order.

class Realiser {
 public:
  Realiser(const Model& model, const std::vector<Op>& order, const Gaps& gaps,
           const std::vector<char>& kept, Budget& budget)
      : model_(model),
        order_(order),
        gaps_(gaps),
        kept_(kept),
        budget_(budget),
        free_(gaps.room()),
        states_(model.storages.size()),
        gap_begin_(model.storages.size() + 1, gaps.all().size()),
        made_(model.num_operators(), 0) {
    for (std::size_t g = gaps.all().size(); g-- > 0;) gap_begin_[gaps.all()[g].storage] = g;
    for (std::size_t s = model.storages.size(); s-- > 0;) {
      gap_begin_[s] = std::min(gap_begin_[s], gap_begin_[s + 1]);
      states_[s].gap = gap_begin_[s];
    }
    for (std::size_t g = 0; g < kept.size(); ++g) {
      if (kept[g] != 0) Take(gaps.all()[g].storage, gaps.all()[g].from + 1, gaps.all()[g].to);
    }
  }

  std::optional<Realised> Run() {
    for (Storage s = 0; s < model_.storages.size(); ++s) {
      if (!model_.storages[s].given) continue;
      states_[s].version = 0;
      states_[s].covered = order_.size();  // Room is taken for it as long as it is used.
      states_[s].untouched = true;
    }
    for (std::size_t step = 0; step < order_.size(); ++step) {
      constexpr std::size_t kStepsPerLook = 256;
      if (step % kStepsPerLook == 0 && budget_.TimeIsUp()) return std::nullopt;
      if (!Prepare(order_[step], step)) return std::nullopt;
      if (result_.sequence.size() > kMostTimes * order_.size()) return std::nullopt;
      result_.sequence.push_back(order_[step]);
      Execute(order_[step], step);
    }
    for (Storage s = 0; s < model_.storages.size(); ++s) {
      const StorageInfo& info = model_.storages[s];
      if (!info.result || info.given || model_.MayCopy(s)) continue;
      if (!Bring(s, info.last, order_.size())) return std::nullopt;
    }
    return std::move(result_);
  }

 private:
  struct State {
    std::int32_t version = kMakes;  // Of the latest time that it was made.
    std::size_t covered = 0;        // There is room for it through this step.
    std::size_t gap = 0;            // Its first gap that ends later than now.
    bool untouched = false;         // Given, without a use so far.
    std::int32_t copy = kMakes;     // With a link: the version that was copied out last.
  };

  // Whether `s` fits beside what is kept in the steps [first, last).
  [[nodiscard]] bool HasRoom(Storage s, std::size_t first, std::size_t last) const {
    const Bytes size = model_.storages[s].size;
    for (std::size_t t = first; t < std::min(last, free_.size()); ++t) {
      if (free_[t] < size) return false;
    }
    return true;
  }
  void Take(Storage s, std::size_t first, std::size_t last, int times = 1) {
    for (std::size_t t = first; t < std::min(last, free_.size()); ++t) {
      free_[t] -= times * model_.storages[s].size;
    }
  }

  // The gap of `s` around `step`, if it has one.
  [[nodiscard]] std::size_t GapAt(Storage s, std::size_t step) {
    State& state = states_[s];
    const auto& all = gaps_.all();
    while (state.gap < gap_begin_[s + 1] && all[state.gap].to < step) ++state.gap;
    const bool inside = state.gap < gap_begin_[s + 1] && all[state.gap].from < step;
    return inside ? state.gap : kNone;
  }

  // All that `v` needs at `step`.
  bool Prepare(Op v, std::size_t step) {
    for (const Touch& touch : model_.TouchesOf(v)) {
      if (touch.finds == kMakes) continue;
      if (!Bring(touch.storage, touch.finds, step)) return false;
    }
    return true;
  }

  bool Bring(Storage s, std::int32_t version, std::size_t step) {
    const StorageInfo& info = model_.storages[s];
    State& state = states_[s];
    if (state.version == version && (info.size == 0 || state.covered >= step)) return true;
    ++round_;
    batch_.clear();
    std::int64_t cost = 0;
    const bool loads = model_.MayCopy(s) && state.version == version;
    undo_.clear();
    if (!Collect(s, version, step)) {
      if (loads) return Load(s, step);
      // It has to stay, whether or not there is room.
      if (state.version != version) return false;
      Take(s, state.covered + 1, step);
      state.covered = step;
      return true;
    }
    for (const Op u : batch_) cost += model_.cost[u];
    if (loads && CopiesOf(s) <= cost) {
      for (; !undo_.empty(); undo_.pop_back()) {
        states_[undo_.back().storage].covered = undo_.back().covered;
        Take(undo_.back().storage, undo_.back().covered + 1, step + 1, -1);
      }
      return Load(s, step);
    }
    for (const Op u : batch_) {
      result_.sequence.push_back(u);
      if (!model_.IsReturn(u)) {
        Execute(u, step, /*again=*/true);
      } else {
        states_[model_.Returned(u)].copy = states_[model_.Returned(u)].version;
      }
    }
    PayForBatch(s, step, cost);
    return true;
  }

  // What it costs to copy `s` out, if it is not there, and back.
  [[nodiscard]] std::int64_t CopiesOf(Storage s) const {
    const StorageInfo& info = model_.storages[s];
    const State& state = states_[s];
    return info.in_cost + (state.copy == state.version ? 0 : info.OutCost(state.version));
  }
  // Copies `s` back, in the version that it had last.
  bool Load(Storage s, std::size_t step) {
    Pay(s, step, CopiesOf(s));
    result_.sequence.push_back(model_.ReturnOf(s));
    states_[s].copy = states_[s].version;
    states_[s].covered = step;
    return true;
  }
  void Charge(std::size_t gap, std::size_t input, std::int64_t cost) {
    if (cost > 0) result_.extra.push_back({gap, input, std::min(cost, kMostCost)});
  }
  void Pay(Storage s, std::size_t step, std::int64_t cost) {
    const std::size_t gap = GapAt(s, step);
    if (gap == kNone || gaps_.IsOnlyCopied(gap)) return;
    Charge(gap, gap, cost - gaps_.LeastOf(gap));
  }
  // `cost`: of the whole batch. An operator is not charged if this gap must pay for it anyway, or if it
  // brings back something else that was dropped until the end of that gap.
  void PayForBatch(Storage s, std::size_t step, std::int64_t cost) {
    if (gaps_.SharesNoOperator()) return Pay(s, step, cost);
    const std::size_t gap = GapAt(s, step);
    if (gap == kNone) return;
    for (const Op u : batch_) {
      if (!gaps_.Covers(gap, u) && !EndsGap(u, step)) {
        Charge(gap, DroppedGapOf(u, step).value_or(gap), model_.cost[u]);
      }
    }
  }
  // The gap that a storage is in at `step`, if it was dropped and `u` makes what it needs.
  [[nodiscard]] std::optional<std::size_t> DroppedGapOf(const Touch& touch, Op u,
                                                        std::size_t step) {
    if (touch.finds == touch.leaves) return {};
    const std::size_t gap = GapAt(touch.storage, step);
    if (gap == kNone || kept_[gap] != 0 || !gaps_.Covers(gap, u)) return {};
    return gap;
  }
  // The first such gap of what `u` touches.
  [[nodiscard]] std::optional<std::size_t> DroppedGapOf(Op u, std::size_t step) {
    for (const Touch& touch : model_.TouchesOf(u)) {
      if (const auto gap = DroppedGapOf(touch, u, step)) return gap;
    }
    return {};
  }
  // Whether something that `u` makes stays until the end of the gap it is in.
  [[nodiscard]] bool EndsGap(Op u, std::size_t step) {
    const auto touches = model_.TouchesOf(u);
    return std::any_of(touches.begin(), touches.end(), [&](const Touch& touch) {
      const auto gap = DroppedGapOf(touch, u, step);
      return gap && states_[touch.storage].covered >= gaps_.all()[*gap].to;
    });
  }
  // `s` stays through `step`, as far as the choice at hand is taken.
  void Extend(Storage s, std::size_t step) {
    undo_.push_back({s, states_[s].covered});
    Take(s, states_[s].covered + 1, step + 1);
    states_[s].covered = step;
  }

  // Lists what has to run at `step` so that `s` is there in this version. Inputs that can stay longer
  // do. A stack instead of recursion: chains may be as long as the graph.
  bool Collect(Storage s, std::int32_t version, std::size_t step) {
    struct Frame {
      Storage storage;
      std::int32_t version;
      std::int32_t next;
    };
    if (version > model_.storages[s].again) return false;
    std::vector<Frame> stack = {{s, version, 0}};
    while (!stack.empty()) {
      Frame& frame = stack.back();
      if (frame.next > frame.version) {
        stack.pop_back();
        continue;
      }
      const Op u = model_.storages[frame.storage].chain[static_cast<std::size_t>(frame.next)];
      if (made_[u] == round_) {
        ++frame.next;
        continue;
      }
      std::optional<Frame> missing;
      for (const Touch& touch : model_.TouchesOf(u)) {
        if (touch.only_first || touch.storage == frame.storage) continue;
        const Source source = Provide(touch, step);
        if (source == Source::kNowhere) return false;
        if (source == Source::kThere) continue;
        missing = Frame{touch.storage, touch.finds, 0};
        break;
      }
      if (missing) {
        stack.push_back(*missing);
        continue;
      }
      made_[u] = round_;
      batch_.push_back(u);
      ++stack.back().next;
    }
    return true;
  }

  // Where an operator of the batch for `step` has what it touches from. What can stay longer does, and
  // what may be copied back is listed where that is cheaper.
  enum class Source { kThere, kOperators, kNowhere };
  Source Provide(const Touch& touch, std::size_t step) {
    State& other = states_[touch.storage];
    const StorageInfo& info = model_.storages[touch.storage];
    if (touch.finds == kMakes) {
      // It would lose a later version that is still needed.
      return other.version > 0 && other.covered >= step ? Source::kNowhere : Source::kThere;
    }
    if (IsListed(touch)) return Source::kThere;
    if (other.version == touch.finds) {
      if (info.size == 0 || other.covered >= step) return Source::kThere;
      if (HasRoom(touch.storage, other.covered + 1, step + 1)) {
        Extend(touch.storage, step);
        return Source::kThere;
      }
      const bool made = touch.finds <= info.again;
      if (model_.MayCopy(touch.storage) &&
          (!made || CopiesOf(touch.storage) <= info.price[static_cast<std::size_t>(touch.finds)])) {
        batch_.push_back(model_.ReturnOf(touch.storage));
        undo_.push_back({touch.storage, other.covered});
        other.covered = step;
        return Source::kThere;
      }
    } else if (other.version > touch.finds && other.covered >= step) {
      return Source::kNowhere;
    }
    if (touch.finds <= info.again && info.size > 0) return Source::kOperators;
    if (other.version != touch.finds) return Source::kNowhere;
    Extend(touch.storage, step);
    return Source::kThere;
  }

  // Whether the batch makes what this touch finds.
  [[nodiscard]] bool IsListed(const Touch& touch) const {
    const StorageInfo& info = model_.storages[touch.storage];
    if (info.given || touch.finds < 0) return false;
    return made_[info.chain[static_cast<std::size_t>(touch.finds)]] == round_;
  }

  void Execute(Op v, std::size_t step, bool again = false) {
    for (const Touch& touch : model_.TouchesOf(v)) {
      if (again && touch.only_first) continue;
      State& state = states_[touch.storage];
      const StorageInfo& info = model_.storages[touch.storage];
      state.version = touch.leaves;
      if (info.given && !model_.MayCopy(touch.storage)) continue;
      if (std::exchange(state.untouched, false)) state.covered = step;
      state.covered = std::max(state.covered, step);
      if (touch.finds == kMakes) state.covered = step;
      // Until its next use, if it was to stay anyway, or there is room now.
      const std::size_t gap = GapAt(touch.storage, again ? step : step + 1);
      if (gap == kNone) {
        // Its next use is at the next step, or what cannot be dropped keeps its room.
        if (!again) state.covered = NextCovered(touch.storage, step);
        continue;
      }
      const Gap& entry = gaps_.all()[gap];
      if (state.version != entry.version || state.covered >= entry.to) continue;
      if (!again && kept_[gap] != 0) {
        state.covered = entry.to;
      } else if (again && HasRoom(touch.storage, state.covered + 1, entry.to)) {
        Take(touch.storage, state.covered + 1, entry.to);
        state.covered = entry.to;
      }
    }
  }

  // Without a gap after `step`: a storage stays through its next use, which is at once or must be in
  // memory until then.
  [[nodiscard]] std::size_t NextCovered(Storage s, std::size_t step) const {
    return model_.MayDrop(s, states_[s].version) ? step + 1 : order_.size();
  }

  const Model& model_;
  const std::vector<Op>& order_;
  const Gaps& gaps_;
  const std::vector<char>& kept_;
  Budget& budget_;
  std::vector<Bytes> free_;
  std::vector<State> states_;
  std::vector<std::size_t> gap_begin_;  // By storage.
  std::vector<std::uint32_t> made_;     // By operator: the latest round that lists it.
  std::uint32_t round_ = 0;
  std::vector<Op> batch_;
  struct Undo {
    Storage storage;
    std::size_t covered;
  };
  std::vector<Undo> undo_;  // What the latest Collect() has changed.
  Realised result_;
};

}  // namespace

std::optional<Realised> Realise(const Model& model, const std::vector<Op>& order, const Gaps& gaps,
                                const std::vector<char>& kept, Budget& budget) {
  return Realiser(model, order, gaps, kept, budget).Run();
}

}  // namespace berth::internal::recompute
