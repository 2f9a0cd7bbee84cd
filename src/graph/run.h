// graph/run.h -- how long operators and copies take, where copies are made while operators run
// (GraphMemories::prefetch).
#ifndef BERTH_GRAPH_RUN_H_
#define BERTH_GRAPH_RUN_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "berth/graph.h"
#include "berth/graph_memories.h"
#include "berth/memories.h"
#include "berth/result.h"

namespace berth::internal {

// Times stay at the first that is not valid.
[[nodiscard]] inline std::int64_t AddTime(std::int64_t a, std::int64_t b) {
  return std::min(a + b, kMaxCost + 1);
}

// Of the accesses of one operator to one tensor.
[[nodiscard]] std::int64_t AccessTime(const Memory& memory, const TensorUse& use);
// Of a copy, latency included.
[[nodiscard]] std::int64_t TransferTime(const GraphMemories& memories, std::size_t from,
                                        std::size_t to, Bytes bytes);

// Each operator has a time in nanoseconds. Error: kInvalidOptions, naming the first without one; `who` needs it.
[[nodiscard]] Result<void> CheckOperatorTimes(const Graph& graph, std::string_view who);

// `prefetch` comes with `may_move`, the latency is valid, and each operator has a time in nanoseconds.
// Error: kInvalidOptions, naming the first operator without one.
[[nodiscard]] Result<void> CheckTimes(const Graph& graph, const GraphMemories& memories);

}  // namespace berth::internal

#endif  // BERTH_GRAPH_RUN_H_
