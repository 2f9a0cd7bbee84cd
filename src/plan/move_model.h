// plan/move_model.h -- one order of a graph whose tensors may move: what each costs where, and when.
//
// The life of a tensor is cut at every step. While the operator of a step runs, the tensor is in one
// memory, where it pays for what that operator does with it; from one step to the next it either stays
// or is copied, and pays for the copy. So the life of a tensor is a path through a grid of steps and
// memories, and a plan without offsets is a path for each tensor such that the bytes in every memory
// fit, during each step and between any two.
//
//            step 0    step 1    step 2    step 3
//   sram      write --- (gap) -. (gap)      (gap)
//                               \ copy
//   dram     (write)    (gap)     gap  ----  read
//
// A weight of which copies can be kept for a while (GraphMemories::stage_in) has a path through places: a
// home, and with it the home or another memory where operators use it. Its bytes are in both. Only next to
// operators that use it does it get a copy, or lose one: at any other time that takes room for nothing.
//
// Costs have two forms. Scaled ones are rounded down and add up; bounds and shortest paths use them.
// True ones are rounded up once for each residency, as CostOf() does (Meter).
#ifndef BERTH_PLAN_MOVE_MODEL_H_
#define BERTH_PLAN_MOVE_MODEL_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "berth/graph.h"
#include "berth/graph_memories.h"

namespace berth::internal::plan {

// More than any cost, and small enough that two of them can be added.
inline constexpr std::int64_t kTooMuch = std::int64_t{1} << 61;
inline constexpr Bytes kAnyRoom = std::numeric_limits<Bytes>::max();

[[nodiscard]] inline std::int64_t Sum(std::int64_t a, std::int64_t b) {
  return a + b < kTooMuch ? a + b : kTooMuch;
}

// A cost with so many bits after the point.
[[nodiscard]] inline std::int64_t Shifted(std::int64_t cost, int bits) {
  return cost < (kTooMuch >> bits) ? cost << bits : kTooMuch;
}

// What a residency has cost so far, rounded up, and what is left of the last units.
struct Meter {
  std::int64_t read_rest = 0;
  std::int64_t write_rest = 0;
  friend bool operator==(const Meter&, const Meter&) = default;
};
// What more it costs; changes the meter.
[[nodiscard]] std::int64_t Charge(const Memory& memory, const TensorUse& use, Meter& meter);

struct MoveItem {
  TensorIndex tensor = 0;
  Bytes size = 0;
  Step start = 0;
  Step end = 0;
  bool may_move = true;
  // By place: the memory where operators use it. Those that it may be in, and that have room for it.
  std::vector<std::size_t> memories;
  // By place: where the original is. Empty: there is none but what operators use.
  std::vector<std::size_t> homes;
  struct Use {
    Step step;
    TensorUse use;
  };
  std::vector<Use> uses;  // Increasing, one for each step.
  // copy[k * memories.size() + l]: from place k to place l, scaled.
  std::vector<std::int64_t> copy;

  [[nodiscard]] bool staged() const { return !homes.empty(); }
  // Place k is a copy beside the original.
  [[nodiscard]] bool Beside(std::size_t k) const { return staged() && homes[k] != memories[k]; }
  // The place with the same home and no copy.
  [[nodiscard]] std::size_t HomeOf(std::size_t k) const;
  // Whether the operator of this step or of the next one uses it.
  [[nodiscard]] bool IsUsedAround(Step step) const;
  // Whether it may be in another place at `step` than one step before.
  [[nodiscard]] bool MayChangeBefore(Step step) const {
    return may_move && (!staged() || IsUsedAround(step - 1));
  }
  template <typename Visit>
  void ForEachMemory(std::size_t k, Visit visit) const {
    visit(memories[k]);
    if (Beside(k)) visit(homes[k]);
  }
};

struct MoveModel {
  std::vector<Memory> memories;
  Step steps = 0;
  std::vector<MoveItem> items;           // By start.
  std::vector<std::vector<Bytes>> room;  // By memory and step; kAnyRoom.
  // By memory and step: between the step and the one before it.
  std::vector<std::vector<Bytes>> room_between;
  bool copies_need_room = true;  // False: both ends of a copy need not be there at once.
  std::int64_t elsewhere = 0;    // Scaled: what is paid whatever the paths are.
  // Of a chain: the part of it that each operator of the graph pays.
  std::vector<std::int64_t> elsewhere_of;
  int bits = 0;                 // Of scaled costs: after the point.
  std::size_t unplaceable = 0;  // Tensors that no memory has room for; they are no items.

  // Scaled: what `use` costs in a memory.
  [[nodiscard]] std::int64_t Scaled(std::size_t memory, const TensorUse& use) const;
  // A scaled cost as whole units, rounded up.
  [[nodiscard]] std::int64_t Whole(std::int64_t scaled) const {
    const std::int64_t unit = std::int64_t{1} << bits;
    return scaled / unit + (scaled % unit > 0 ? 1 : 0);
  }
};

// Steps times memories of all lives together that a model may have.
inline constexpr std::size_t kMostMoveCells = 10'000'000;

// cost(from, to), of memories, for each two places of an item, as MoveItem::copy: what is copied beside an
// original comes from there, and is dropped for nothing.
template <typename Cost>
[[nodiscard]] std::vector<std::int64_t> CopyTable(const MoveItem& item, Cost cost) {
  std::vector<std::int64_t> table;
  const std::size_t count = item.memories.size();
  for (std::size_t k = 0; k < count; ++k) {
    for (std::size_t l = 0; l < count; ++l) {
      const bool other_home = item.staged() && item.homes[k] != item.homes[l];
      const bool stays = k == l || (item.staged() && !item.Beside(l));
      const std::size_t from = item.staged() ? item.homes[k] : item.memories[k];
      table.push_back(k != l && (other_home || !item.may_move) ? kTooMuch
                      : stays                                  ? 0
                                                               : cost(from, item.memories[l]));
    }
  }
  return table;
}

// The order as a model. Nothing if it has more cells than that. All arguments must be valid.
[[nodiscard]] std::optional<MoveModel> ModelOfOrder(const Graph& graph, const Order& order,
                                                    const Counting& counting,
                                                    const GraphMemories& memories);

// What every order has in common: the steps are those of a chain of operators that wait for one
// another, tensors live while they must, and what other operators do costs the least that it can.
// `lives` has for each tensor of the table of the graph (TableOf()) the steps of the chain.
struct ChainOfOrders {
  std::vector<OperatorIndex> chain;
  struct Life {
    TensorIndex tensor;
    Step start;
    Step end;  // No later than `start`: at no step of the chain for certain.
  };
  std::vector<Life> lives;
};
[[nodiscard]] std::optional<MoveModel> ModelOfChain(const Graph& graph, const ChainOfOrders& chain,
                                                    Step steps, const GraphMemories& memories);

// A stay of item `item` in a memory, from a step until before another.
struct Stay {
  std::size_t item = 0;
  std::size_t memory = 0;
  Step start = 0;
  Step end = 0;
};

}  // namespace berth::internal::plan

#endif  // BERTH_PLAN_MOVE_MODEL_H_
