#include "recompute/sequence.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/check.h"
#include "graph/plan.h"

namespace berth::internal::recompute {

Measurer::Measurer(const Model& model, Bytes capacity)
    : model_(model), capacity_(capacity), ran_(model.num_operators(), 0) {
  for (const StorageInfo& info : model.storages) {
    initial_.push_back({info.given ? 0 : kMakes, 0, 0});
  }
}

Measure Measurer::Of(const Sequence& sequence) {
  Measure measure;
  ++number_;
  state_ = initial_;
  load_.assign(sequence.size() + 1, 0);
  const auto close = [&](Storage s, const State& state) {
    load_[state.begin] += model_.storages[s].size;
    load_[state.last + 1] -= model_.storages[s].size;
    constexpr Bytes kMost = Bytes{1} << 61;
    measure.stays = std::min(measure.stays + model_.storages[s].padded, kMost);
  };
  for (std::uint32_t step = 0; step < sequence.size(); ++step) {
    const Op v = sequence[step];
    const bool repeat = ran_[v] == number_;
    ran_[v] = number_;
    if (repeat) {
      if (model_.may_repeat[v] == 0) return measure;
      measure.cost += model_.cost[v];
      if (measure.cost > kMostCost) return measure;
    }
    for (const Touch& touch : model_.TouchesOf(v)) {
      if (touch.only_first && repeat) continue;
      State& state = state_[touch.storage];
      if (touch.finds == kMakes) {
        if (state.version != kMakes) close(touch.storage, state);
        state.begin = step;
      } else if (state.version != touch.finds) {
        return measure;
      }
      state.version = touch.leaves;
      state.last = step;
    }
  }
  const auto end = static_cast<std::uint32_t>(std::max<std::size_t>(sequence.size(), 1)) - 1;
  for (Storage s = 0; s < state_.size(); ++s) {
    State& state = state_[s];
    if (state.version == kMakes) continue;
    if (model_.storages[s].result) {
      if (state.version != model_.storages[s].last) return measure;
      state.last = end;
    }
    close(s, state);
  }
  measure.valid = true;
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
      measure.peak_step = step;
    }
    if (live > capacity_) {
      constexpr Bytes kMost = Bytes{1} << 62;
      measure.excess += std::min(live - capacity_, kMost - measure.excess);
    }
  }
  load_.pop_back();
}

MemoryPlan PlanOf(const Model& model, const Sequence& sequence) {
  MemoryPlan plan;
  plan.addressed = false;
  plan.order.assign(sequence.begin(), sequence.end());
  std::vector<char> ran(model.num_operators(), 0);
  const auto steps = static_cast<Step>(sequence.size());
  struct Stay {
    Step begin = 0;
    Step end = 0;
  };
  std::vector<std::vector<Stay>> stays(model.storages.size());
  for (Storage s = 0; s < model.storages.size(); ++s) {
    if (model.storages[s].given) stays[s].push_back({0, 0});
  }
  for (Step step = 0; step < steps; ++step) {
    const Op v = sequence[static_cast<std::size_t>(step)];
    const bool repeat = std::exchange(ran[v], 1) != 0;
    if (repeat) {
      ++plan.recomputed.operators;
      plan.recomputed.cost += model.cost[v];
    }
    for (const Touch& touch : model.TouchesOf(v)) {
      if (touch.only_first && repeat) continue;
      if (touch.finds == kMakes) stays[touch.storage].push_back({step, step});
      BERTH_CHECK(!stays[touch.storage].empty());
      stays[touch.storage].back().end = step + 1;
    }
  }
  const auto add = [&](TensorIndex tensor, const Stay& stay) {
    Residency& residency = plan.residencies.emplace_back();
    residency.tensor = tensor;
    residency.start = stay.begin;
    residency.end = stay.end;
  };
  for (Storage s = 0; s < model.storages.size(); ++s) {
    const StorageInfo& info = model.storages[s];
    if (info.size == 0) continue;
    if (info.result && !stays[s].empty()) stays[s].back().end = steps;
    for (const Stay& stay : stays[s]) add(info.tensor, stay);
  }
  for (const TensorIndex t : model.throughout) add(t, {0, StepsOf(plan)});
  std::stable_sort(plan.residencies.begin(), plan.residencies.end(),
                   [](const Residency& a, const Residency& b) {
                     return std::pair(a.tensor, a.start) < std::pair(b.tensor, b.start);
                   });
  return plan;
}

}  // namespace berth::internal::recompute
