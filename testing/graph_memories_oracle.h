// testing/graph_memories_oracle.h -- the best plan of a tiny graph in several memories, by trying
// everything.
#ifndef BERTH_TESTING_GRAPH_MEMORIES_ORACLE_H_
#define BERTH_TESTING_GRAPH_MEMORIES_ORACLE_H_

#include <cstdint>
#include <optional>

#include "berth/graph.h"
#include "berth/graph_memories.h"
#include "berth/memories.h"

namespace berth::internal {

// The table of `graph` in `order`, by the definitions of berth/graph_memories.h alone. Shares only
// structs with the code under test.
[[nodiscard]] MemoryProblem OracleTable(const Graph& graph, const Order& order,
                                        const Counting& counting, const GraphMemories& memories);

// Unplaced tensors and cost of the best plan: all orders, all memories and all offsets are tried. For
// up to about six operators and five counted tensors of a few bytes.
[[nodiscard]] PlanCost OracleGraphMemories(const Graph& graph, const Counting& counting,
                                           const GraphMemories& memories);
// The same in one order.
[[nodiscard]] PlanCost OracleOfOrder(const Graph& graph, const Order& order,
                                     const Counting& counting, const GraphMemories& memories);

// The least cost in one order, or over all, where tensors may move (GraphMemories::may_move) and all are
// placed: every memory and offset at every step is tried. Nothing if not all can be placed. For up to
// about four operators and four counted tensors of a few bytes.
[[nodiscard]] std::optional<std::int64_t> OracleOfOrderWithMoves(const Graph& graph,
                                                                 const Order& order,
                                                                 const Counting& counting,
                                                                 const GraphMemories& memories);
[[nodiscard]] std::optional<std::int64_t> OracleWithMoves(const Graph& graph,
                                                          const Counting& counting,
                                                          const GraphMemories& memories);

// Two or three memories that are too small for some of the tensors, with every feature in some seeds.
[[nodiscard]] GraphMemories RandomGraphMemories(const Graph& graph, std::uint64_t seed);

}  // namespace berth::internal

#endif  // BERTH_TESTING_GRAPH_MEMORIES_ORACLE_H_
