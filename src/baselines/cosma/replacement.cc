// COSMA's baselines (section V-A2): operators in a given order, addresses from TensorFlow Lite's
// linear allocator, and a rule for which tensors to spill when there is no room.
//
// Only the next use of each tensor is known in advance. Operators run one by one. The absent
// tensors that they need, and their outputs, are allocated in the smallest gap that is large
// enough, as in TensorFlow Lite's arena. If there is no such gap, tensors that the operator does
// not need are spilled: by Belady's rule the one used last, repeatedly, until a gap is large
// enough; by the greedy rule those in the range of memory that costs the least traffic to clear.
// The latter is the locally best decision, which the paper finds by an integer program and this
// code by trying all ranges. So fragmentation costs additional spills. If tensors that the operator
// itself needs are in the way, all of them are spilled and retrieved side by side; those that were
// retrieved for this operator are retrieved to other addresses instead, not twice. Alignments may
// leave no room even then; that is an error, as a plan beyond the capacity is no baseline.

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "base/arithmetic.h"
#include "base/check.h"
#include "base/try.h"
#include "berth/cosma.h"
#include "graph/plan.h"
#include "spill/model.h"

namespace berth {

namespace {

using internal::OpIndex;
using internal::StorageIndex;
using internal::spill::Model;
using internal::spill::Stored;

class Arena {
 public:
  // `model` has the operators of `order` that take part, in this order.
  Arena(const Graph& graph, const Order& order, const Model& model, Bytes capacity,
        Replacement rule)
      : graph_(graph), model_(model), capacity_(capacity), rule_(rule) {
    plan_.order = order;
    std::vector<berth::Step> step_of(graph.operators.size(), 0);
    for (std::size_t i = 0; i < order.size(); ++i) {
      step_of[order[i]] = static_cast<berth::Step>(i);
    }
    for (const OperatorIndex v : model.operators) steps_.push_back(step_of[v]);
    states_.resize(model.storages.size());
    for (const StorageIndex s : model.storages.indices()) {
      State& state = states_[s.position()];
      state.copied = state.stored = model.storages[s].creator.value() < 0;
    }
  }

  Result<MemoryPlan> Run() {
    for (std::size_t i = 0; i < model_.num_operators; ++i) {
      Step(OpIndex(i));
      if (fits_) continue;
      return Fail(ErrorCode::kInvalidOptions,
                  "operator \"" + graph_.operators[model_.operators[i]].name +
                      "\" does not fit the capacity of " + std::to_string(capacity_) +
                      " bytes with its tensors side by side, because of their alignments");
    }
    for (const Stored& stored : model_.storages) {
      if (stored.creator.value() < 0) plan_.traffic.compulsory_in += stored.size;
      if (stored.result) plan_.traffic.compulsory_out += stored.size;
    }
    std::sort(plan_.residencies.begin(), plan_.residencies.end(),
              [](const Residency& a, const Residency& b) {
                return a.tensor != b.tensor ? a.tensor < b.tensor : a.start < b.start;
              });
    internal::StateUse(graph_, plan_);
    return std::move(plan_);
  }

 private:
  struct State {
    bool resident = false;
    bool copied = false;   // Off chip, with the latest value, or will be in any case: a result.
    bool stored = false;   // Off chip, with the latest value.
    bool brought = false;  // An input that was retrieved before.
    Bytes offset = 0;
    std::size_t since = 0;  // The operator for which it came.
    bool comes_in = false;  // It was retrieved for that.
  };
  static constexpr std::size_t kNever = std::numeric_limits<std::size_t>::max();

  [[nodiscard]] std::size_t NextUse(StorageIndex s, std::size_t from) const {
    for (const OpIndex u : model_.users[s]) {
      if (u.position() >= from) return u.position();
    }
    return kNever;
  }
  [[nodiscard]] Bytes SizeOf(StorageIndex s) const { return model_.storages[s].size; }
  [[nodiscard]] Bytes AlignmentOf(StorageIndex s) const {
    return graph_.tensors[model_.storages[s].tensor].alignment;
  }
  // The storages in memory, by offset.
  [[nodiscard]] std::vector<StorageIndex> Residents() const {
    std::vector<StorageIndex> residents;
    for (const StorageIndex s : model_.storages.indices()) {
      if (states_[s.position()].resident) residents.push_back(s);
    }
    std::sort(residents.begin(), residents.end(), [&](StorageIndex a, StorageIndex b) {
      return states_[a.position()].offset < states_[b.position()].offset;
    });
    return residents;
  }

  void Step(OpIndex v) {
    needed_.assign(model_.storages.size(), 0);
    for (const StorageIndex s : model_.used[v]) needed_[s.position()] = 1;
    for (const StorageIndex s : model_.made[v]) needed_[s.position()] = 1;
    bool placed = true;
    for (const StorageIndex s : model_.used[v]) placed = placed && BringIn(s, v);
    for (const StorageIndex s : model_.made[v]) placed = placed && Allocate(s, v);
    if (!placed) PlaceSideBySide(v);
    for (const StorageIndex s : model_.used[v]) {
      const State& state = states_[s.position()];
      if (state.comes_in && state.since == v.position()) CountRetrieval(s);
    }
    for (const auto& list : {model_.made[v], model_.written[v]}) {
      for (const StorageIndex s : list) {
        states_[s.position()].copied = states_[s.position()].stored = false;
      }
    }
    for (const auto& list : {model_.used[v], model_.made[v]}) {
      for (const StorageIndex s : list) {
        const bool result = model_.storages[s].result;
        if (NextUse(s, v.position() + 1) == kNever) {
          Leave(s, steps_[v.position()] + 1, result);
        } else if (result && !WrittenLater(s, v)) {
          states_[s.position()].copied = true;  // Written in any case.
        }
      }
    }
  }
  // `s` leaves memory before `step`; `needed` again, or as a result.
  void Leave(StorageIndex s, berth::Step step, bool needed) {
    State& state = states_[s.position()];
    state.resident = false;
    Residency residency;
    residency.tensor = model_.storages[s].tensor;
    residency.start = steps_[state.since];
    residency.end = step;
    residency.offset = state.offset;
    residency.comes_in = state.comes_in;
    residency.written_out = needed && !state.stored;
    state.stored = state.stored || needed;
    plan_.residencies.push_back(residency);
  }
  [[nodiscard]] bool WrittenLater(StorageIndex s, OpIndex v) const {
    for (const OpIndex u : model_.users[s]) {
      const auto written = model_.written[u];
      if (v < u && std::binary_search(written.begin(), written.end(), s)) return true;
    }
    return false;
  }

  bool BringIn(StorageIndex s, OpIndex v) {
    return states_[s.position()].resident || Allocate(s, v);
  }
  void CountRetrieval(StorageIndex s) {
    State& state = states_[s.position()];
    const bool first = model_.storages[s].creator.value() < 0 && !state.brought;
    state.brought = true;
    if (!first) plan_.traffic.retrieved += SizeOf(s);
  }
  void Place(StorageIndex s, OpIndex v, Bytes offset) {
    State& state = states_[s.position()];
    state.resident = true;
    state.offset = offset;
    state.since = v.position();
    state.comes_in = model_.storages[s].creator != v;
  }

  bool Allocate(StorageIndex s, OpIndex v) {
    for (;;) {
      if (const auto offset = SmallestGap(s)) {
        Place(s, v, *offset);
        return true;
      }
      const bool cleared = rule_ == Replacement::kBelady ? EvictLast(v) : ClearCheapest(s, v);
      if (!cleared) return false;
    }
  }

  [[nodiscard]] std::optional<Bytes> SmallestGap(StorageIndex s) const {
    std::optional<Bytes> best;
    Bytes best_gap = 0;
    Bytes end = 0;
    const auto look = [&](Bytes until) {
      const Bytes offset = internal::RoundUp(end, AlignmentOf(s));
      if (offset + SizeOf(s) > until) return;
      if (!best || until - end < best_gap) {
        best = offset;
        best_gap = until - end;
      }
    };
    for (const StorageIndex other : Residents()) {
      const State& state = states_[other.position()];
      look(state.offset);
      end = std::max(end, state.offset + SizeOf(other));
    }
    look(capacity_);
    return best;
  }

  [[nodiscard]] Bytes PriceOf(StorageIndex s) const {
    return states_[s.position()].copied ? SizeOf(s) : 2 * SizeOf(s);
  }
  // Before operator `v`, for which it has not come.
  void Evict(StorageIndex s, OpIndex v) {
    State& state = states_[s.position()];
    BERTH_CHECK(state.resident && state.since < v.position());
    if (!state.copied) plan_.traffic.spilled += SizeOf(s);
    state.copied = true;
    Leave(s, steps_[v.position()], /*needed=*/true);
  }
  bool EvictLast(OpIndex v) {
    std::optional<StorageIndex> last;
    std::size_t last_use = 0;
    for (const StorageIndex s : model_.storages.indices()) {
      if (!states_[s.position()].resident || needed_[s.position()] != 0) continue;
      const std::size_t next = NextUse(s, v.position());
      if (!last || next > last_use) {
        last = s;
        last_use = next;
      }
    }
    if (last) Evict(*last, v);
    return last.has_value();
  }

  // Tries ranges that begin at the bottom or at the end of a resident storage; one of these is
  // best.
  bool ClearCheapest(StorageIndex s, OpIndex v) {
    const std::vector<StorageIndex> residents = Residents();
    std::vector<Bytes> starts = {0};
    for (const StorageIndex r : residents) {
      starts.push_back(states_[r.position()].offset + SizeOf(r));
    }
    std::optional<Bytes> best;
    Bytes best_price = 0;
    for (const Bytes start : starts) {
      const Bytes offset = internal::RoundUp(start, AlignmentOf(s));
      if (offset + SizeOf(s) > capacity_) continue;
      Bytes price = 0;
      bool blocked = false;
      for (const StorageIndex r : residents) {
        if (!Meets(r, offset, SizeOf(s))) continue;
        blocked = blocked || needed_[r.position()] != 0;
        price += PriceOf(r);
      }
      if (!blocked && (!best || price < best_price)) {
        best = offset;
        best_price = price;
      }
    }
    if (!best) return false;
    bool any = false;
    for (const StorageIndex r : residents) {
      if (!Meets(r, *best, SizeOf(s))) continue;
      Evict(r, v);
      any = true;
    }
    return any;
  }
  [[nodiscard]] bool Meets(StorageIndex r, Bytes offset, Bytes size) const {
    const State& state = states_[r.position()];
    return state.offset < offset + size && offset < state.offset + SizeOf(r);
  }

  // Spills everything, then retrieves what the operator needs from the bottom up: first as listed,
  // then the largest alignments first.
  void PlaceSideBySide(OpIndex v) {
    for (const StorageIndex s : Residents()) {
      State& state = states_[s.position()];
      if (state.since == v.position()) {
        state.resident = false;  // Placed for this operator, which has not run yet.
      } else {
        Evict(s, v);
      }
    }
    std::vector<StorageIndex> needs(model_.used[v].begin(), model_.used[v].end());
    needs.insert(needs.end(), model_.made[v].begin(), model_.made[v].end());
    fits_ = Stack(needs, v);
    if (!fits_) {
      std::stable_sort(needs.begin(), needs.end(), [&](StorageIndex a, StorageIndex b) {
        return AlignmentOf(a) > AlignmentOf(b);
      });
      fits_ = Stack(needs, v);
    }
  }

  // Whether all of them fit the capacity, one above the other.
  bool Stack(const std::vector<StorageIndex>& storages, OpIndex v) {
    Bytes end = 0;
    for (const StorageIndex s : storages) {
      const Bytes offset = internal::RoundUp(end, AlignmentOf(s));
      Place(s, v, offset);
      end = offset + SizeOf(s);
    }
    return end <= capacity_;
  }

  const Graph& graph_;
  const Model& model_;
  Bytes capacity_;
  Replacement rule_;
  bool fits_ = true;
  std::vector<State> states_;
  std::vector<char> needed_;        // Needed by the current operator.
  std::vector<berth::Step> steps_;  // By operator of the model.
  MemoryPlan plan_;
};

}  // namespace

Result<MemoryPlan> ReplaceOneByOne(const Graph& graph, const Order& order, const Counting& counting,
                                   Bytes capacity, Replacement rule) {
  BERTH_TRY(ValidateOrder(graph, order));
  BERTH_TRY(ValidateTraffic(graph, counting));
  const LeastMemory least = FindLeastMemory(graph, counting);
  if (least.bytes > capacity) {
    return Fail(ErrorCode::kInvalidOptions, "operator \"" + graph.operators[least.op].name +
                                                "\" needs " + std::to_string(least.bytes) +
                                                " bytes, more than the capacity of " +
                                                std::to_string(capacity));
  }
  const Model model = internal::spill::CompileModel(graph, counting, /*with_ancestors=*/false);
  const Model chain = internal::spill::WithOrder(model, internal::spill::ReduceOrder(model, order));
  return Arena(graph, order, chain, capacity, rule).Run();
}

}  // namespace berth
