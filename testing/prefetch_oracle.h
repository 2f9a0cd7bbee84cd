// testing/prefetch_oracle.h -- the shortest run of a tiny graph in several memories, with copies that are
// made while operators run, by trying everything.
#ifndef BERTH_TESTING_PREFETCH_ORACLE_H_
#define BERTH_TESTING_PREFETCH_ORACLE_H_

#include <cstdint>
#include <optional>

#include "berth/graph.h"
#include "berth/graph_memories.h"

namespace berth::internal {

// The least time in one order (GraphMemories::prefetch) with all tensors placed, or none if not all can
// be: every way of each tensor through the memories, with every step at which a copy may begin and must
// have ended, every order in which the engine makes the copies (of up to four, whatever their steps), and
// every offset. Shares only structs with the code under test. For up to about five operators and four
// counted tensors of a few bytes, in two memories.
[[nodiscard]] std::optional<std::int64_t> OracleOfPrefetch(const Graph& graph, const Order& order,
                                                           const Counting& counting,
                                                           const GraphMemories& memories);

}  // namespace berth::internal

#endif  // BERTH_TESTING_PREFETCH_ORACLE_H_
