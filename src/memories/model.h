// memories/model.h -- a MemoryProblem compiled: groups as single units, and what each may do.
//
// A unit is a buffer, or the buffers of a `together` group. Its modes are the memories that it may be
// in, each either anywhere there, or at one offset only: pins, and previous offsets that save the cost
// of a move. The tables of the memories have one buffer for each unit.
#ifndef BERTH_MEMORIES_MODEL_H_
#define BERTH_MEMORIES_MODEL_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "berth/memories.h"
#include "berth/result.h"

namespace berth::internal::memories {

struct Mode {
  std::size_t memory = 0;
  std::optional<Bytes> pin;  // The only offset of the unit, in the table of that memory.
  std::int64_t cost = 0;
};

struct Unit {
  std::vector<std::size_t> buffers;
  std::vector<Mode> modes;  // By memory, then pin.
  bool must = false;
  std::int64_t cost_left_out = 0;  // Of all its buffers, if it need not be placed.
};

struct Model {
  // By memory: a buffer for each unit, aligned as the memory needs it, with extra steps at the end
  // for pairs that are apart; then one pinned buffer for each reserved range.
  std::vector<Colocated> tables;
  std::vector<Unit> units;
};

// What the costs of `buffer` in `memory` add up to: at `offset` or, without one, wherever a candidate
// allows any offset. The cost of a move is included: without an offset, of a move. Nothing where no
// candidate allows it.
[[nodiscard]] std::optional<std::int64_t> CostIn(const MemoryProblem& problem, std::size_t buffer,
                                                 std::size_t memory, std::optional<Bytes> offset);
// Of a use of memory, as Placing says; nothing if it is more than kMaxCost.
[[nodiscard]] std::optional<std::int64_t> DerivedCost(const Placing& placing, const Memory& memory);

// Checks the problem on the way. Errors: those of Validate().
[[nodiscard]] Result<Model> Compile(const MemoryProblem& problem);

// What is wrong with the problem apart from the tables of its memories.
[[nodiscard]] Result<void> CheckParts(const MemoryProblem& problem);

// The costs of a plan, from where its buffers are.
[[nodiscard]] PlanCost CostOf(const MemoryProblem& problem, const MemoryPlan& plan);
// Heights, peaks and costs of `plan`, which has only its residencies.
void Complete(const MemoryProblem& problem, MemoryPlan& plan);

}  // namespace berth::internal::memories

#endif  // BERTH_MEMORIES_MODEL_H_
