// berth/graph_memories.h -- the tensors of a graph in several memories.
//
//   berth::PlanOptions options;
//   options.memories.memories = {
//       {.name = "tcm", .capacity = 512 * 1024, .read = {1, 8}, .write = {1, 8}},
//       {.name = "dram", .read = {5, 1}, .write = {10, 1}}};
//   const auto answer = berth::Plan(graph, options, budget);
//   // Residency::memory, MemoryPlan::cost, PlanAnswer::cost_bound.
//
// Every tensor is in one memory throughout its lifetime. What it costs there follows from its uses,
// which are the same in every order:
//
//   * an operator that reads a tensor, or a view of it, reads all its bytes (those of the view), once;
//   * an operator that makes a tensor writes all its bytes; one that writes it in place writes the
//     bytes of the views of it that it makes or, where it makes none, all;
//   * an operator that makes nothing but views, and writes nothing in place, moves no bytes.
//
// Each of these is one access. What happens before and after the run costs nothing: that inputs and
// weights are written, and results read.
#ifndef BERTH_GRAPH_MEMORIES_H_
#define BERTH_GRAPH_MEMORIES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "berth/answer.h"
#include "berth/graph.h"
#include "berth/memories.h"
#include "berth/result.h"

namespace [[gnu::visibility("default")]] berth {

// The memories, and which tensors may be in which.
struct GraphMemories {
  std::vector<Memory> memories;  // None: there is nothing to choose.
  // Parallel to Graph::tensors, or empty. The memories (indices) that a tensor may be in, without
  // repetitions; none: any. Not used for a view, which is where its base is.
  std::vector<std::vector<std::size_t>> allowed;
  friend bool operator==(const GraphMemories&, const GraphMemories&) = default;
};

// The rule that most systems need: `activations` for tensors that operators make and for inputs,
// `weights` for parameters and constants; either empty: any. Cost: linear.
[[nodiscard]] std::vector<std::vector<std::size_t>> AllowedByKind(
    const Graph& graph, const std::vector<std::size_t>& activations,
    const std::vector<std::size_t>& weights);

// How often operators use a base.
struct TensorUse {
  Bytes bytes_read = 0;
  Bytes bytes_written = 0;
  std::int64_t accesses = 0;
  friend bool operator==(const TensorUse&, const TensorUse&) = default;
};
// By tensor; nothing for a view. `graph` must be valid. Sums above 2^60 bytes are 2^60 + 1. Cost:
// O(n log n).
[[nodiscard]] std::vector<TensorUse> UsesOf(const Graph& graph);

// Checks the memories (berth/memories.h), that `allowed` has only memories that exist, and that the
// largest costs of all counted tensors add up to at most 2^60. `graph` must be valid. Error:
// kInvalidOptions, naming the memory or tensor and the value. Cost: O(n log n).
[[nodiscard]] Result<void> Validate(const Graph& graph, const Counting& counting,
                                    const GraphMemories& memories);

// `graph` with the tensors that may be in memory `m` alone: all others have no bytes, and alignments are
// those that offsets in that memory need. The orders are the same. Both must be valid. Cost: linear.
[[nodiscard]] Graph PartOf(const Graph& graph, const GraphMemories& memories, std::size_t m);

// The cost of the tensors where the residencies of `plan` are, and the number of tensors that operators
// use and that are nowhere. Residencies must be of tensors and in memories that exist. Cost: O(n log n).
[[nodiscard]] PlanCost CostOf(const Graph& graph, const Counting& counting,
                              const GraphMemories& memories, const MemoryPlan& plan);

// The tensors as a table, when the operators run in `order`: as in Live(), but without given tensors
// that no operator uses. `tensors` is parallel to its buffers. All arguments must be valid.
struct TensorTable {
  MemoryProblem problem;
  std::vector<TensorIndex> tensors;
};
[[nodiscard]] TensorTable TableOf(const Graph& graph, const Order& order, const Counting& counting,
                                  const GraphMemories& memories);
// The plan of a graph as one of its table, which is TableOf() for the plan's order. Each tensor has one
// residency at most: plans with spills are not those of tables. Cost: O(n log n).
[[nodiscard]] MemoryPlan PlanOf(const TensorTable& table, const MemoryPlan& plan);

// As ValidatePlan() of berth/graph.h, for several memories: besides, all residencies of a tensor are in
// one memory, which it may be in; offsets keep the alignment, the capacity and the reserved ranges of
// that memory; and the cost is as stated. Tensors without residencies, which are used, are those that
// the cost says are unplaced. `memories` must be valid and have at least one.
[[nodiscard]] Result<void> ValidatePlan(const Graph& graph, const Counting& counting,
                                        const GraphMemories& memories, const MemoryPlan& plan);

}  // namespace berth

#endif  // BERTH_GRAPH_MEMORIES_H_
