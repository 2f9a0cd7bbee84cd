// tools/berth/moves.h -- what a plan with spills copies between the memory and the store behind it.
#ifndef BERTH_TOOLS_BERTH_MOVES_H_
#define BERTH_TOOLS_BERTH_MOVES_H_

#include <cstddef>
#include <string>
#include <vector>

#include "berth/answer.h"
#include "berth/graph.h"
#include "berth/memories.h"
#include "tools/berth/output.h"

namespace berth::cli {

// A copy that a larger memory would avoid: what is compulsory is none.
struct Move {
  Step step = 0;           // It happens before this step.
  std::size_t tensor = 0;  // Index into Graph::tensors.
  Bytes bytes = 0;
  bool out = false;  // Spilled; else retrieved.
  int memory = 0;    // The memory that it leaves, or comes back to.
};
// In the order in which they happen. Cost: O(n log n).
[[nodiscard]] std::vector<Move> MovesOf(const Graph& graph, const MemoryPlan& plan);

// "3 tensors, in 5 copies".
[[nodiscard]] std::string DescribeMoves(const std::vector<Move>& moves);
// A row for each of them; with the memory, where there are several.
[[nodiscard]] std::string MovesTable(const Graph& graph, const MemoryPlan& plan,
                                     const std::vector<Memory>& memories = {});
[[nodiscard]] Json MovesJson(const Graph& graph, const MemoryPlan& plan,
                             const std::vector<Memory>& memories = {});

}  // namespace berth::cli

#endif  // BERTH_TOOLS_BERTH_MOVES_H_
