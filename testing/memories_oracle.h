// testing/memories_oracle.h -- the best plan for several memories, by trying everything.
#ifndef BERTH_TESTING_MEMORIES_ORACLE_H_
#define BERTH_TESTING_MEMORIES_ORACLE_H_

#include <cstdint>
#include <optional>
#include <string>

#include "berth/memories.h"

namespace berth::internal {

// Unplaced buffers and cost of the best plan: every way to leave buffers out, every memory, every
// offset up to `highest` is tried, and each plan is judged by the definitions alone. For up to about
// five buffers of a few bytes. Bytes between two members of a group that are live at once count as
// used, as berth/colocate.h says. `problem` must be valid.
[[nodiscard]] PlanCost OracleMemories(const MemoryProblem& problem, Bytes highest);
// The same of the plans that move at most `most_moved` bytes; of equal costs, with the fewest moved.
[[nodiscard]] PlanCost OracleRepack(const MemoryProblem& problem, Bytes highest,
                                    std::optional<Bytes> most_moved);

// Small, valid, with every feature in some seeds.
[[nodiscard]] MemoryProblem RandomMemoryProblem(std::uint64_t seed);

// Statements that make the problem, to paste into a test.
[[nodiscard]] std::string ToCpp(const MemoryProblem& problem);

}  // namespace berth::internal

#endif  // BERTH_TESTING_MEMORIES_ORACLE_H_
