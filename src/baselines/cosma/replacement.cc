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
// itself needs are in the way, all of them are spilled and retrieved side by side. Alignments may
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
#include "spill/model.h"

namespace berth {

namespace {

using internal::OpIndex;
using internal::StorageIndex;
using internal::spill::Model;
using internal::spill::Stored;

class Arena {
 public:
  Arena(const Graph& graph, const Model& model, Bytes capacity, Replacement rule)
      : graph_(graph), model_(model), capacity_(capacity), rule_(rule) {
    states_.resize(model.storages.size());
    for (const StorageIndex s : model.storages.indices()) {
      states_[s.position()].copied = model.storages[s].creator.value() < 0;
    }
  }

  Result<Traffic> Run() {
    for (std::size_t i = 0; i < model_.num_operators; ++i) {
      Step(OpIndex(i));
      if (fits_) continue;
      return Fail(ErrorCode::kInvalidOptions,
                  "operator \"" + graph_.operators[model_.operators[i]].name +
                      "\" does not fit the capacity of " + std::to_string(capacity_) +
                      " bytes with its tensors side by side, because of their alignments");
    }
    for (const Stored& stored : model_.storages) {
      if (stored.creator.value() < 0) traffic_.compulsory_in += stored.size;
      if (stored.result) traffic_.compulsory_out += stored.size;
    }
    return traffic_;
  }

 private:
  struct State {
    bool resident = false;
    bool copied = false;   // Off chip, with the latest value.
    bool brought = false;  // An input that was retrieved before.
    Bytes offset = 0;
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
    for (const StorageIndex s : model_.made[v]) states_[s.position()].copied = false;
    for (const StorageIndex s : model_.written[v]) states_[s.position()].copied = false;
    for (const auto& list : {model_.used[v], model_.made[v]}) {
      for (const StorageIndex s : list) {
        State& state = states_[s.position()];
        if (NextUse(s, v.position() + 1) == kNever) {
          state.resident = false;
        } else if (model_.storages[s].result && !WrittenLater(s, v)) {
          state.copied = true;  // Written in any case.
        }
      }
    }
  }
  [[nodiscard]] bool WrittenLater(StorageIndex s, OpIndex v) const {
    for (const OpIndex u : model_.users[s]) {
      const auto written = model_.written[u];
      if (v < u && std::binary_search(written.begin(), written.end(), s)) return true;
    }
    return false;
  }

  bool BringIn(StorageIndex s, OpIndex v) {
    State& state = states_[s.position()];
    if (state.resident) return true;
    if (!Allocate(s, v)) return false;
    Count(s);
    return true;
  }
  void Count(StorageIndex s) {
    State& state = states_[s.position()];
    const bool first = model_.storages[s].creator.value() < 0 && !state.brought;
    state.brought = true;
    if (!first) traffic_.retrieved += SizeOf(s);
  }

  bool Allocate(StorageIndex s, OpIndex v) {
    for (;;) {
      if (const auto offset = SmallestGap(s)) {
        states_[s.position()].resident = true;
        states_[s.position()].offset = *offset;
        return true;
      }
      const bool cleared = rule_ == Replacement::kBelady ? EvictLast(v) : ClearCheapest(s);
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
  void Evict(StorageIndex s) {
    State& state = states_[s.position()];
    BERTH_CHECK(state.resident);
    state.resident = false;
    if (!state.copied) traffic_.spilled += SizeOf(s);
    state.copied = true;
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
    if (last) Evict(*last);
    return last.has_value();
  }

  // Tries ranges that begin at the bottom or at the end of a resident storage; one of these is
  // best.
  bool ClearCheapest(StorageIndex s) {
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
      Evict(r);
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
      const auto made = model_.made[v];
      if (std::binary_search(made.begin(), made.end(), s)) {
        states_[s.position()].resident = false;  // Not created yet.
      } else {
        Evict(s);
      }
    }
    std::vector<StorageIndex> needs(model_.used[v].begin(), model_.used[v].end());
    needs.insert(needs.end(), model_.made[v].begin(), model_.made[v].end());
    fits_ = Stack(needs);
    if (!fits_) {
      std::stable_sort(needs.begin(), needs.end(), [&](StorageIndex a, StorageIndex b) {
        return AlignmentOf(a) > AlignmentOf(b);
      });
      fits_ = Stack(needs);
    }
    for (const StorageIndex s : model_.used[v]) Count(s);
  }

  // Whether all of them fit the capacity, one above the other.
  bool Stack(const std::vector<StorageIndex>& storages) {
    Bytes end = 0;
    for (const StorageIndex s : storages) {
      State& state = states_[s.position()];
      state.resident = true;
      state.offset = internal::RoundUp(end, AlignmentOf(s));
      end = state.offset + SizeOf(s);
    }
    return end <= capacity_;
  }

  const Graph& graph_;
  const Model& model_;
  Bytes capacity_;
  Replacement rule_;
  bool fits_ = true;
  std::vector<State> states_;
  std::vector<char> needed_;  // Needed by the current operator.
  Traffic traffic_;
};

}  // namespace

Result<Traffic> ReplaceOneByOne(const Graph& graph, const Order& order, const Counting& counting,
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
  return Arena(graph, chain, capacity, rule).Run();
}

}  // namespace berth
