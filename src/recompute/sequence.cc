#include "recompute/sequence.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/check.h"
#include "graph/plan.h"

namespace berth::internal::recompute {

std::int64_t Copies::Write(const StorageInfo& info, std::int32_t version, bool* writes) {
  if (writes != nullptr) *writes = copy_ != version;
  if (std::exchange(copy_, version) == version) return 0;
  const bool final = info.result && version == info.last;
  if (final && !std::exchange(stored_, true)) return 0;
  return info.out_cost;
}

std::int64_t Copies::Retrieve(const StorageInfo& info, std::int32_t version, bool* writes) {
  const std::int64_t cost = info.in_cost + Write(info, version, writes);
  latest_ = kMakes;
  ended_ = 0;
  return cost;
}

std::int64_t Copies::Store(const StorageInfo& info, bool* writes) {
  return Write(info, info.last, writes);
}

Measurer::Measurer(const Model& model, Bytes capacity)
    : model_(model), capacity_(capacity), ran_(model.num_operators(), 0) {
  for (Storage s = 0; s < model.storages.size(); ++s) initial_.emplace_back(model, s, 0);
}

Measure Measurer::Of(const Sequence& sequence) {
  Measure measure;
  ++number_;
  tracks_ = initial_;
  load_.assign(sequence.size() + 1, 0);
  position_.clear();
  const auto ended = [&](Storage s) {
    return [&, s](std::uint32_t begin, std::uint32_t last) {
      load_[begin] += model_.storages[s].size;
      load_[last + 1] -= model_.storages[s].size;
      measure.stays = std::min(measure.stays + model_.storages[s].padded, kMostStays);
    };
  };
  for (std::size_t i = 0; i < sequence.size(); ++i) {
    const Op v = sequence[i];
    if (model_.IsReturn(v)) {
      const Storage s = model_.Returned(v);
      if (!tracks_[s].Return(ended(s))) return measure;
      continue;
    }
    const bool repeat = ran_[v] == number_;
    ran_[v] = number_;
    if (repeat) {
      if (model_.may_repeat[v] == 0) return measure;
      measure.cost += model_.cost[v];
      if (measure.cost > kMostCost) return measure;
    }
    const auto step = static_cast<std::uint32_t>(position_.size());
    position_.push_back(i);
    for (const Touch& touch : model_.TouchesOf(v)) {
      if (touch.only_first && repeat) continue;
      const Storage s = touch.storage;
      if (!tracks_[s].Touched(touch, step, measure.cost, ended(s))) return measure;
    }
  }
  load_.resize(position_.size() + 1);
  const auto end = static_cast<std::uint32_t>(std::max<std::size_t>(position_.size(), 1) - 1);
  for (Storage s = 0; s < tracks_.size(); ++s) {
    if (!tracks_[s].Finish(end, measure.cost, ended(s))) return measure;
  }
  measure.valid = measure.cost <= kMostCost;
  FindPeak(measure);
  return measure;
}

// From the changes of the load.
void Measurer::FindPeak(Measure& measure) {
  Bytes live = model_.always_live;
  measure.peak = live;
  if (load_.size() == 1 && live > capacity_) measure.excess = live - capacity_;
  for (std::size_t step = 0; step + 1 < load_.size(); ++step) {
    live += load_[step];
    load_[step] = live;
    if (live > measure.peak) {
      measure.peak = live;
      measure.peak_at = position_[step];
    }
    if (live > capacity_) {
      constexpr Bytes kMost = Bytes{1} << 62;
      measure.excess += std::min(live - capacity_, kMost - measure.excess);
    }
  }
  load_.pop_back();
}

namespace {

// The stays of all storages, in the order of a sequence.
class PlanMaker {
 public:
  explicit PlanMaker(const Model& model) : model_(model), held_(model.storages.size()) {
    for (Storage s = 0; s < model.storages.size(); ++s) {
      const StorageInfo& info = model.storages[s];
      held_[s].copies = Copies(info);
      if (info.given) held_[s].stays.push_back({0, 0, 0, model.MayCopy(s), false});
    }
  }

  MemoryPlan Make(const Sequence& sequence) {
    plan_.addressed = false;
    std::vector<char> ran(model_.num_operators(), 0);
    for (const Op v : sequence) {
      if (model_.IsReturn(v)) {
        Held& held = held_[model_.Returned(v)];
        held.returns = true;
        held.copies.End(held.stays.back().version);
        continue;
      }
      const bool repeat = std::exchange(ran[v], 1) != 0;
      if (repeat) {
        ++plan_.recomputed.operators;
        plan_.recomputed.cost += model_.cost[v];
      }
      for (const Touch& touch : model_.TouchesOf(v)) {
        if (!touch.only_first || !repeat) Touched(touch);
      }
      plan_.order.push_back(v);
    }
    for (Storage s = 0; s < held_.size(); ++s) Finish(s);
    for (const TensorIndex t : model_.throughout) Add(t, {0, StepsOf(plan_), 0, false, false});
    std::stable_sort(plan_.residencies.begin(), plan_.residencies.end(),
                     [](const Residency& a, const Residency& b) {
                       return std::pair(a.tensor, a.start) < std::pair(b.tensor, b.start);
                     });
    return std::move(plan_);
  }

 private:
  struct Stay {
    Step begin = 0;
    Step end = 0;
    std::int32_t version = 0;  // At its end.
    bool comes_in = false;
    bool written_out = false;
  };
  struct Held {
    std::vector<Stay> stays;
    std::size_t since = 0;  // The first stay that ended after the latest return.
    bool returns = false;
    Copies copies;
  };

  void Touched(const Touch& touch) {
    const auto step = static_cast<Step>(plan_.order.size());
    Held& held = held_[touch.storage];
    const StorageInfo& info = model_.storages[touch.storage];
    if (held.returns) {
      bool writes = false;
      const bool stored = held.copies.stored();
      CountCost(held.copies.Retrieve(info, touch.finds, &writes));
      plan_.traffic.retrieved += info.size;
      if (writes) WriteOut(touch.storage, touch.finds, stored);
      held.since = held.stays.size();
      held.returns = false;
      held.stays.push_back({step, step, touch.finds, true, false});
    } else if (touch.finds == kMakes) {
      if (!held.stays.empty()) held.copies.End(held.stays.back().version);
      held.stays.push_back({step, step, 0, false, false});
    }
    BERTH_CHECK(!held.stays.empty());
    Stay& stay = held.stays.back();
    if (stay.end == 0 && stay.comes_in) stay.begin = step;  // Given: its first use.
    stay.end = step + 1;
    stay.version = touch.leaves;
  }

  void CountCost(std::int64_t cost) { plan_.traffic.cost += cost; }

  // The latest stay since the return before that ended with `version`.
  void WriteOut(Storage s, std::int32_t version, bool stored) {
    Held& held = held_[s];
    const StorageInfo& info = model_.storages[s];
    std::size_t i = held.stays.size();
    while (i > held.since && held.stays[i - 1].version != version) --i;
    BERTH_CHECK(i > held.since);
    held.stays[i - 1].written_out = true;
    const bool final = info.result && version == info.last;
    if (!final || stored) plan_.traffic.spilled += info.size;
  }

  void Finish(Storage s) {
    const StorageInfo& info = model_.storages[s];
    Held& held = held_[s];
    if (info.size == 0 || held.stays.empty()) return;
    if (info.result && !model_.MayCopy(s)) held.stays.back().end = StepsOf(plan_);
    if (info.result && model_.MayCopy(s) && held.stays.back().end > 0) {
      held.copies.End(held.stays.back().version);
      bool writes = false;
      const bool stored = held.copies.stored();
      CountCost(held.copies.Store(info, &writes));
      if (writes) WriteOut(s, info.last, stored);
    }
    for (const Stay& stay : held.stays) {
      if (stay.end > 0) Add(info.tensor, stay);
    }
  }

  void Add(TensorIndex tensor, const Stay& stay) {
    Residency& residency = plan_.residencies.emplace_back();
    residency.tensor = tensor;
    residency.start = stay.begin;
    residency.end = stay.end;
    residency.comes_in = stay.comes_in;
    residency.written_out = stay.written_out;
  }

  const Model& model_;
  std::vector<Held> held_;
  MemoryPlan plan_;
};

}  // namespace

MemoryPlan PlanOf(const Model& model, const Sequence& sequence) {
  return PlanMaker(model).Make(sequence);
}

Sequence SequenceOf(const Model& model, const MemoryPlan& plan) {
  constexpr Storage kNone = static_cast<Storage>(-1);
  std::vector<Storage> storage_of;
  for (Storage s = 0; s < model.storages.size(); ++s) {
    const TensorIndex t = model.storages[s].tensor;
    if (t >= storage_of.size()) storage_of.resize(t + 1, kNone);
    storage_of[t] = s;
  }
  std::vector<std::vector<Op>> returns(plan.order.size());
  for (std::size_t i = 0; i < plan.residencies.size(); ++i) {
    const Residency& residency = plan.residencies[i];
    const bool first = i == 0 || plan.residencies[i - 1].tensor != residency.tensor;
    if (!residency.comes_in || first) continue;
    returns[static_cast<std::size_t>(residency.start)].push_back(
        model.ReturnOf(storage_of[residency.tensor]));
  }
  Sequence sequence;
  for (std::size_t step = 0; step < plan.order.size(); ++step) {
    sequence.insert(sequence.end(), returns[step].begin(), returns[step].end());
    sequence.push_back(static_cast<Op>(plan.order[step]));
  }
  return sequence;
}

}  // namespace berth::internal::recompute
