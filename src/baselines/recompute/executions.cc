#include "baselines/recompute/executions.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/try.h"
#include "graph/edges.h"
#include "graph/plan.h"

namespace berth::internal::baselines {

Work ReadWork(const Graph& graph, const Order& order) {
  Work work;
  work.order = order;
  const Versions versions = FindVersions(graph);
  const std::vector<bool> results = BasesOfOutputs(graph);
  const OperatorCosts costs = CostsOf(graph);
  std::vector<std::size_t> store_of(graph.tensors.size(), kNone);
  const auto find = [&](TensorIndex base) {
    if (store_of[base] != kNone) return store_of[base];
    store_of[base] = work.stores.size();
    Store& store = work.stores.emplace_back();
    const Tensor& tensor = graph.tensors[base];
    store.tensor = base;
    store.given = !IsMade(tensor.kind);
    store.size = store.given ? 0 : tensor.bytes;
    store.result = results[base];
    store.last = versions.last[base];
    if (store.given) store.writers.push_back(kNone);
    return store_of[base];
  };
  for (std::size_t p = 0; p < order.size(); ++p) {
    const OperatorIndex v = order[p];
    work.cost.push_back(costs.of[v]);
    work.may_repeat.push_back(MayRepeat(graph, v) ? 1 : 0);
    std::vector<Use>& uses = work.uses.emplace_back();
    for (const Touch& touch : versions.touches[v]) {
      const Use use = {find(touch.base), touch.finds, touch.leaves, touch.only_first};
      if (use.writes()) work.stores[use.store].writers.push_back(p);
      work.stores[use.store].users.push_back(p);
      uses.push_back(use);
    }
  }
  return work;
}

namespace {

// Sequences that cost more count as not valid: sums of costs must not overflow.
constexpr std::int64_t kMostCost = std::int64_t{1} << 61;

class Runner {
 public:
  Runner(const Work& work, bool linked) : work_(work), linked_(linked), state_(work.stores.size()) {
    for (std::size_t s = 0; s < state_.size(); ++s) {
      if (work.stores[s].given) state_[s].version = 0;
    }
  }

  Trace Of(const Sequence& sequence) {
    std::vector<char> ran(work_.size(), 0);
    std::size_t step = 0;
    for (std::size_t i = 0; i < sequence.size(); ++i) {
      const std::size_t action = sequence[i];
      const bool done = action < work_.size() ? Execute(action, ran[action] != 0, step)
                                              : Return(action - work_.size());
      if (!done) {
        trace_.failed = i;
        return std::move(trace_);
      }
      if (action >= work_.size()) continue;
      ran[action] = 1;
      ++step;
    }
    if (!Finish(step)) {
      trace_.failed = sequence.size();
      return std::move(trace_);
    }
    FindLoad(step);
    return std::move(trace_);
  }

 private:
  struct State {
    std::int32_t version = kMakes;  // In memory; kMakes: nothing.
    std::int32_t copy = kMakes;     // Off chip.
    bool returns = false;           // Before its next use.
    bool stored = false;            // The last version of a result was written.
    std::size_t since = 0;          // Of the stays, the first that may still be written out.
    std::vector<Stay> stays;
  };

  bool Execute(std::size_t p, bool again, std::size_t step) {
    if (again) {
      if (work_.may_repeat[p] == 0) return false;
      trace_.cost += work_.cost[p];
      if (trace_.cost > kMostCost) return false;
      ++trace_.repeats;
    }
    for (const Use& use : work_.uses[p]) {
      if (!Work::Happens(use, again)) continue;
      State& state = state_[use.store];
      if (state.returns) {
        if (use.finds == kMakes || !BringBack(use, step)) return false;
      } else if (use.finds == kMakes) {
        state.stays.push_back({use.store, step, step, 0, false, false});
      } else if (state.version != use.finds) {
        return false;
      }
      state.version = use.leaves;
      if (state.stays.empty()) continue;  // Given.
      state.stays.back().last = step;
      state.stays.back().version = use.leaves;
    }
    return true;
  }

  bool Return(std::size_t s) {
    State& state = state_[s];
    if (!linked_ || state.stays.empty() || state.returns) return false;
    state.returns = true;
    return true;
  }

  bool BringBack(const Use& use, std::size_t step) {
    State& state = state_[use.store];
    if (!WriteOut(state, use.finds)) return false;
    state.since = state.stays.size();
    state.returns = false;
    state.stays.push_back({use.store, step, step, use.finds, true, false});
    return true;
  }

  // False if no stay ended with that version since the store last got one.
  bool WriteOut(State& state, std::int32_t version) {
    if (state.copy == version) return true;
    std::size_t i = state.stays.size();
    while (i > state.since && state.stays[i - 1].version != version) --i;
    if (i == state.since) return false;
    state.stays[i - 1].written_out = true;
    state.since = i;
    state.copy = version;
    return true;
  }

  bool Finish(std::size_t steps) {
    for (std::size_t s = 0; s < state_.size(); ++s) {
      const Store& store = work_.stores[s];
      State& state = state_[s];
      if (state.returns) return false;
      if (store.result && !store.users.empty()) {
        if (store.given || !linked_) {
          if (state.version != store.last) return false;
        } else if (!WriteOut(state, store.last)) {
          return false;
        }
        if (!linked_ && !state.stays.empty()) state.stays.back().last = steps - 1;
      }
      if (store.size == 0) continue;
      trace_.stays.insert(trace_.stays.end(), state.stays.begin(), state.stays.end());
    }
    return true;
  }

  void FindLoad(std::size_t steps) {
    trace_.load.assign(steps + 1, 0);
    for (const Stay& stay : trace_.stays) {
      trace_.load[stay.begin] += work_.stores[stay.store].size;
      trace_.load[stay.last + 1] -= work_.stores[stay.store].size;
    }
    Bytes live = 0;
    for (Bytes& load : trace_.load) {
      live += load;
      load = live;
      trace_.peak = std::max(trace_.peak, live);
    }
    trace_.load.pop_back();
  }

  const Work& work_;
  const bool linked_;
  std::vector<State> state_;
  Trace trace_;
};

// What of the copies costs: their bytes, and their time over the link.
Traffic CopiesOf(const Work& work, const Trace& trace, const Link& link) {
  Traffic traffic;
  std::vector<char> stored(work.stores.size(), 0);
  for (const Stay& stay : trace.stays) {
    const Store& store = work.stores[stay.store];
    if (stay.comes_in) {
      traffic.retrieved += store.size;
      traffic.cost += link.In(store.size);
    }
    if (!stay.written_out) continue;
    const bool final = store.result && stay.version == store.last;
    if (final && std::exchange(stored[stay.store], 1) == 0) continue;
    traffic.spilled += store.size;
    traffic.cost += link.Out(store.size);
  }
  return traffic;
}

// The rule that every plan obeys, of which no graph promises anything where operators run again.
Result<void> CheckSum(const Graph& graph, const MemoryPlan& plan) {
  Bytes total = 0;
  for (const Residency& residency : plan.residencies) {
    const Tensor& tensor = graph.tensors[residency.tensor];
    total += tensor.bytes + (tensor.alignment - 1);
    if (total > kMaxBytes) {
      return Fail(
          ErrorCode::kUnsupported,
          "the bytes (and alignments) of all residencies of the plan add up to more than 2^60");
    }
  }
  return {};
}

}  // namespace

Trace Run(const Work& work, const Sequence& sequence, bool linked) {
  return Runner(work, linked).Of(sequence);
}

Sequence Pruned(const Work& work, const Sequence& sequence, bool linked) {
  std::vector<char> first(sequence.size(), 0);
  std::vector<char> ran(work.size(), 0);
  for (std::size_t i = 0; i < sequence.size(); ++i) {
    if (sequence[i] < work.size()) first[i] = std::exchange(ran[sequence[i]], 1) == 0 ? 1 : 0;
  }
  std::vector<std::int32_t> wanted(work.stores.size(), kMakes);
  for (std::size_t s = 0; s < wanted.size(); ++s) {
    if (work.stores[s].result && !linked) wanted[s] = work.stores[s].last;
  }
  Sequence kept;
  for (std::size_t i = sequence.size(); i-- > 0;) {
    if (sequence[i] >= work.size()) {
      std::int32_t& version = wanted[sequence[i] - work.size()];
      if (version == kMakes) continue;
      version = kMakes;
      kept.push_back(sequence[i]);
      continue;
    }
    const std::vector<Use>& uses = work.uses[sequence[i]];
    const bool again = first[i] == 0;
    const bool needed = !again || std::any_of(uses.begin(), uses.end(), [&](const Use& use) {
      return Work::Happens(use, again) && use.writes() && wanted[use.store] == use.leaves;
    });
    if (!needed) continue;
    for (const Use& use : uses) {
      if (Work::Happens(use, again)) wanted[use.store] = use.finds;
    }
    kept.push_back(sequence[i]);
  }
  std::reverse(kept.begin(), kept.end());
  return Run(work, kept, linked).valid() ? kept : sequence;
}

Result<MemoryPlan> MakePlan(const Graph& graph, const Work& work, const Sequence& sequence,
                            const Trace& trace, const Link* link, Bytes capacity,
                            const Placer& placer, Budget& budget) {
  MemoryPlan plan;
  for (const std::size_t action : sequence) {
    if (action < work.size()) plan.order.push_back(work.order[action]);
  }
  plan.traffic = CompulsoryTraffic(graph, {});
  if (link != nullptr) {
    const Traffic copies = CopiesOf(work, trace, *link);
    plan.traffic.spilled = copies.spilled;
    plan.traffic.retrieved = copies.retrieved;
    plan.traffic.cost = copies.cost;
  }
  plan.recomputed = {trace.repeats, trace.cost};
  for (const Stay& stay : trace.stays) {
    Residency residency;
    residency.tensor = work.stores[stay.store].tensor;
    residency.start = static_cast<Step>(stay.begin);
    residency.end = static_cast<Step>(stay.last) + 1;
    residency.comes_in = stay.comes_in;
    residency.written_out = stay.written_out;
    plan.residencies.push_back(residency);
  }
  std::sort(plan.residencies.begin(), plan.residencies.end(),
            [](const Residency& a, const Residency& b) {
              return std::pair(a.tensor, a.start) < std::pair(b.tensor, b.start);
            });
  BERTH_TRY(CheckSum(graph, plan));
  plan.addressed = false;
  StateUse(graph, plan);
  BERTH_CHECK(ValidatePlan(graph, {}, capacity, plan, link).has_value());
  BERTH_CHECK(plan.peak() <= capacity);
  if (!placer) return plan;
  Problem problem = ProblemOf(graph, plan);
  problem.capacity = capacity;
  const PlanAnswer placed = BERTH_TRY(placer(problem, budget));
  if (!placed.fits() || !placed.best) return plan;
  const Placement placement = PlacementOf(*placed.best);
  for (std::size_t i = 0; i < plan.residencies.size(); ++i) {
    plan.residencies[i].offset = placement.offsets[i];
  }
  plan.addressed = true;
  StateUse(graph, plan);
  BERTH_CHECK(ValidatePlan(graph, {}, capacity, plan, link).has_value());
  return plan;
}

}  // namespace berth::internal::baselines
