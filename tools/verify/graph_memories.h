// tools/verify/graph_memories.h -- checks the plans of graphs for several memories.
#ifndef BERTH_TOOLS_VERIFY_GRAPH_MEMORIES_H_
#define BERTH_TOOLS_VERIFY_GRAPH_MEMORIES_H_

#include <optional>
#include <string>
#include <vector>

#include "berth/graph.h"
#include "berth/graph_memories.h"

namespace berth::verify {

// Every fault of `plan`, one sentence each: first of the order and of a run, in which every memory is
// an arena of its own, then of places, bytes shared, and wrong figures. Tensors that the plan says are
// unplaced may be missing. The graph and the memories must be valid; the plan may be arbitrary. Cost:
// O(n log n) and the pairs that are live at once.
[[nodiscard]] std::vector<std::string> VerifyMemories(const Graph& graph, const Counting& counting,
                                                      const GraphMemories& memories,
                                                      const MemoryPlan& plan);

// The same residencies in one memory, each memory above the one before it: for Execute(), which then
// has an arena for each. Nothing if an offset is negative or they do not fit within 2^60 bytes.
[[nodiscard]] std::optional<MemoryPlan> Stacked(const Graph& graph, const MemoryPlan& plan);

}  // namespace berth::verify

#endif  // BERTH_TOOLS_VERIFY_GRAPH_MEMORIES_H_
