// berth/graph_memories.h -- the tensors of a graph in several memories.
//
//   berth::PlanOptions options;
//   options.memories.memories = {
//       {.name = "tcm", .capacity = 512 * 1024, .read = {1, 8}, .write = {1, 8}},
//       {.name = "dram", .read = {5, 1}, .write = {10, 1}}};
//   const auto answer = berth::Plan(graph, options, budget);
//   // Residency::memory, MemoryPlan::cost, PlanAnswer::cost_bound.
//
// Every tensor is in one memory throughout its lifetime, unless `may_move` is on. What it costs there
// follows from its uses, which are the same in every order:
//
//   * an operator that reads a tensor, or a view of it, reads all its bytes (those of the view), once;
//   * an operator that makes a tensor writes all its bytes; one that writes it in place writes the
//     bytes of the views of it that it makes or, where it makes none, all;
//   * an operator that makes nothing but views, and writes nothing in place, moves no bytes.
//
// Each of these is one access. What happens before and after the run costs nothing: that inputs and
// weights are written, and results read.
//
// With `may_move`, a tensor can be copied to another memory between two operators. It then has several
// residencies, in different memories, each of which begins at the step at which the one before it ends:
//
//   sram |  +--- x ---+ copy                 Before step 3, after the operator of step 2, x is read
//        |  0    1    2  :                   in SRAM and written to DRAM. Source and target both
//        +---------------:-----------> step  hold its bytes then. The operator of step 3 has the
//   dram |               : +--- x ---+       SRAM for others, and x is used where it is.
//        |                 3    4    5
//
//   * All copies between the same two operators happen together: no target shares a byte with any
//     source, or with a tensor that is in a memory both before and after.
//   * A copy reads all bytes of the tensor in one memory and writes them in the other: two accesses.
//   * A residency costs what its accesses cost in its memory, copies to and from it included. So what
//     operators cost depends on where a tensor is while they run.
//   * Parameters and constants never move, as the next run looks for them where they were.
//
// But copies of them can be kept in the memories of `stage_in` for a while. The original stays where it is,
// from the first step through the last, and nothing is copied back:
//
//   sram  |          +--- w ---+              Before step 2, w is read in flash and written to SRAM. The
//         |  0    1  : 2    3  :  4    5      operators of steps 2 and 3 read it there, and the bytes are
//         +----------:---------:------> step  free again afterwards.
//   flash |  +--- w -----------------------+
//         |
//
//   * Such a copy is a residency after the first one of its tensor. Operators use the copy where there is
//     one, and the original elsewhere. There is one copy of a tensor at a time, not in the memory of the
//     original, and some operator uses it.
//   * Only what no operator writes is copied in this way.
//
// With `prefetch`, copies are made by a DMA engine while operators run, and the cost is the time of the
// run. The residencies of the two ends of a copy then overlap:
//
//   sram |               : +--- x ---+       The copy begins when the operator of step 0 has ended, or
//        |  0    1    2  : : 3    4          later if the engine is busy, and has ended before the
//        +---------------:-:---------> step  operator of step 3 begins, which waits for it if need be.
//   dram |  +--- x ------:-+                 Operators 1 and 2 read x in DRAM, and none of them writes
//        |     [--copy---]                   it. Source and target have their bytes throughout, from
//        |                                   half step 2 to half step 6 (between steps 2 and 3).
//
//   * The target begins at the step `start` and the source ends at the step `before`, start <= before.
//     The copy begins after the operator of step start - 1, and ends before that of `before` begins.
//   * A copy beside an original (`stage_in`) begins after the operator of the step before its residency,
//     and ends before the first operator that uses it.
//   * The engine makes one copy at a time: by `start`, then by `before`, then by tensor, each as soon
//     as it can. So the residencies alone say when everything happens (RunOf()).
//   * A copy takes copy_latency + max(reading in one memory, writing in the other), an access each.
//   * An operator takes its Operator::cost, in nanoseconds, and what its accesses cost, each product
//     rounded up.
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
  // Tensors may be copied from one memory to another between operators. Not with PlanOptions::spill.
  bool may_move = false;
  // With `may_move`: copies are made while operators run, and PlanCost::cost is the time of the run.
  // All costs are nanoseconds then: those of the memories, and those that each operator needs, with
  // Graph::cost_unit "ns" (SetCosts() in berth/device.h gives them).
  bool prefetch = false;
  std::int64_t copy_latency = 0;  // With `prefetch`: of each copy, from 0 to 2^40.
  // With `may_move`: the memories in which copies of parameters and constants can be kept for a while, whatever
  // `allowed` says of the originals; without repetitions.
  std::vector<std::size_t> stage_in;
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
// largest costs of all counted tensors add up to at most 2^60; with `prefetch`, that every operator has
// a time. `graph` must be valid. Error: kInvalidOptions, naming the memory, tensor or operator and the
// value. Cost: O(n log n).
[[nodiscard]] Result<void> Validate(const Graph& graph, const Counting& counting,
                                    const GraphMemories& memories);

// `graph` with the tensors that may be in memory `m` alone: all others have no bytes, and alignments are
// those that offsets in that memory need. The orders are the same. Both must be valid. Cost: linear.
[[nodiscard]] Graph PartOf(const Graph& graph, const GraphMemories& memories, std::size_t m);

// The cost of the tensors where the residencies of `plan` are (with `prefetch`, the time of RunOf()),
// and the number of tensors that operators
// use and that are nowhere. Residencies must be of tensors and in memories that exist; where tensors are
// copied, they must be in order, and the order of the plan valid. Sums above 2^60 are 2^60 + 1. Cost:
// O(n log n).
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
// The same with a buffer for each residency of `plan`, and one for each tensor that operators use and
// that has none. A tensor with several residencies has one for each, "x#1", "x#2", which may be in the
// memory where it is alone: where it would be without its copies is another plan. They cost what their
// accesses cost, copies included unless these are made while operators run (`prefetch`). Cost: O(n log n).
[[nodiscard]] TensorTable TableOf(const Graph& graph, const Counting& counting,
                                  const GraphMemories& memories, const MemoryPlan& plan);
// The plan of a graph as one of its table: TableOf() for the plan or, where each tensor has one residency
// at most, for the plan's order. Cost: O(n log n).
[[nodiscard]] MemoryPlan PlanOf(const TensorTable& table, const MemoryPlan& plan);

// A copy from one memory to another.
struct MemoryCopy {
  TensorIndex tensor = 0;
  std::size_t from = 0;  // Memories.
  std::size_t to = 0;
  Step before = 0;  // It happens between the operators of the steps before - 1 and `before`.
  Bytes bytes = 0;
  // Of reading here and writing there; a part of PlanCost::cost. With `prefetch`, the time it takes.
  std::int64_t cost = 0;
  Step start = 0;  // As `before`; with `prefetch`, it may begin after the operator of start - 1.
  friend bool operator==(const MemoryCopy&, const MemoryCopy&) = default;
};
// Those of `plan`, by `start`, then by `before`, then by tensor. Residencies must be in order. Cost: O(n log n).
[[nodiscard]] std::vector<MemoryCopy> CopiesOf(const Graph& graph, const GraphMemories& memories,
                                               const MemoryPlan& plan);

// What happens when, in nanoseconds from the beginning of the run, if copies are made while operators
// run. Sums above 2^60 are 2^60 + 1.
struct TimedRun {
  struct Interval {
    std::int64_t begin = 0;
    std::int64_t end = 0;
    friend bool operator==(const Interval&, const Interval&) = default;
  };
  std::vector<Interval> operators;      // By step.
  std::vector<MemoryCopy> copies;       // CopiesOf(), in the order in which they are made.
  std::vector<Interval> transfers;      // Parallel to `copies`.
  std::int64_t computing = 0;           // The sum of the times of the operators, without accesses.
  std::vector<std::int64_t> accessing;  // By memory: of operators to what is there.
  std::int64_t stalled = 0;             // In which operators wait for copies.
  std::int64_t time = 0;                // The end of the last operator: the sum of these.
};
// `memories` must be valid, with `prefetch`; residencies must be in order and of tensors and in memories
// that exist, and the order of the plan valid. Cost: O(n log n).
[[nodiscard]] TimedRun RunOf(const Graph& graph, const GraphMemories& memories,
                             const MemoryPlan& plan);

// As ValidatePlan() of berth/graph.h, for several memories: besides, all residencies of a tensor are in
// one memory, or with `may_move` each begins when one in another memory ends, or with `prefetch` no
// later, and no operator writes the tensor while both are there, or are copies beside an original (`stage_in`);
// it may be in that memory; offsets keep
// the alignment, the capacity and the reserved ranges of that memory; and the cost is as stated. Tensors without residencies, which are used, are those that
// the cost says are unplaced. `memories` must be valid and have at least one.
[[nodiscard]] Result<void> ValidatePlan(const Graph& graph, const Counting& counting,
                                        const GraphMemories& memories, const MemoryPlan& plan);

}  // namespace berth

#endif  // BERTH_GRAPH_MEMORIES_H_
