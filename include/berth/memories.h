// berth/memories.h -- which buffer goes into which memory, and at which offset.
//
//   berth::MemoryProblem problem;
//   problem.table.buffers = {{"a", 0, 3, 4096}, {"b", 1, 5, 4096}, {"c", 2, 4, 2048}};
//   problem.memories = {{.name = "tcm", .capacity = 6144, .read = {1, 8}, .write = {1, 8}},
//                       {.name = "dram", .read = {10, 1}, .write = {10, 1}}};  // No capacity.
//   problem.placing = {{.bytes_read = 65536}, {.bytes_read = 4096}, {.bytes_read = 32768}};
//   berth::Budget budget(1.0);
//   const auto answer = berth::PlaceInMemories(problem, {}, budget);
//   if (answer && answer->fits()) {
//     for (const berth::Residency& r : answer->best->residencies) Use(r.tensor, r.memory, r.offset);
//   }
//
// Every memory has an address space of its own, and costs; every buffer is in one memory throughout
// its lifetime, or left out, if that is allowed:
//
//    tcm  |  +---------+          dram |
//         |  |    a    +--+            |     +------------+
//         +--+---------+c-+-->         +-----+-----b------+-->
//
// Costs are integers in a unit that the caller chooses once, such as nanoseconds. The plan with the
// fewest buffers unplaced that must be placed, and then of the least cost, is looked for, with a
// proved bound for both.
//
// For a compiler's inner loop, in milliseconds and from a plan that is there: berth/repack.h.
#ifndef BERTH_MEMORIES_H_
#define BERTH_MEMORIES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "berth/answer.h"
#include "berth/budget.h"
#include "berth/colocate.h"
#include "berth/place.h"
#include "berth/problem.h"
#include "berth/result.h"

namespace [[gnu::visibility("default")]] berth {

// No cost, and no sum of the largest costs of all buffers, may exceed this (2^60).
inline constexpr std::int64_t kMaxCost = std::int64_t{1} << 60;

// `cost` units for every `bytes` bytes: {1, 8} is 8 bytes in a unit of time.
struct Rate {
  std::int64_t cost = 0;
  Bytes bytes = 1;
  // Of a bandwidth. By default a unit is a nanosecond.
  [[nodiscard]] static Rate OfBandwidth(Bytes bytes_per_second,
                                        std::int64_t units_per_second = 1'000'000'000) {
    return {units_per_second, bytes_per_second};
  }
  friend bool operator==(const Rate&, const Rate&) = default;
};

// The bytes [lower, upper) of a memory that no buffer may use at the steps [start, end).
struct Reserved {
  Bytes lower = 0;
  Bytes upper = 0;
  Step start = -kMaxStep;
  Step end = kMaxStep;
  friend bool operator==(const Reserved&, const Reserved&) = default;
};

struct Memory {
  std::string name;                     // Unique, not empty.
  std::optional<Bytes> capacity = {};   // None: as large as necessary.
  Bytes alignment = 1;                  // Every offset is a multiple of it.
  std::vector<Reserved> reserved = {};  // Within the capacity; none overlaps another.
  Rate read = {};                       // For Placing without candidates.
  Rate write = {};
  std::int64_t access = 0;  // Units for each access, whatever its bytes.
  // The address of its first byte, from which offsets count. A multiple of its alignment and of those
  // of the buffers that may be in it, so that an aligned offset is an aligned address.
  Bytes base = 0;
  friend bool operator==(const Memory&, const Memory&) = default;
};

// A memory that a buffer may be in.
struct Candidate {
  std::size_t memory = 0;            // Index into MemoryProblem::memories.
  std::int64_t cost = 0;             // Of the buffer in this memory; at least 0.
  std::optional<Bytes> offset = {};  // Only there.
  friend bool operator==(const Candidate&, const Candidate&) = default;
};

// Where a buffer was in an earlier plan.
struct Previous {
  std::size_t memory = 0;
  Bytes offset = 0;
  std::int64_t move_cost = 0;  // Of being anywhere else. Being left out is no move.
  friend bool operator==(const Previous&, const Previous&) = default;
};

// Where one buffer may be, and what that costs.
struct Placing {
  // Empty: in every memory, at
  //   bytes_read * read + bytes_written * write + accesses * access, each product rounded up.
  std::vector<Candidate> candidates = {};
  Bytes bytes_read = 0;
  Bytes bytes_written = 0;
  std::int64_t accesses = 0;
  // The buffer need not be placed: it then costs this. None: it must be placed.
  std::optional<std::int64_t> cost_left_out = {};
  std::optional<Previous> previous = {};
  friend bool operator==(const Placing&, const Placing&) = default;
};

// Two buffers that never share a byte, even if they are live at different times.
struct Apart {
  std::size_t first = 0;
  std::size_t second = 0;
  bool different_memories = false;  // They may not even be in the same memory.
  friend bool operator==(const Apart&, const Apart&) = default;
};

struct MemoryProblem {
  Problem table;  // Without a capacity: the memories have theirs. Pins are for every memory.
  std::vector<Memory> memories;  // At least one.
  std::vector<Placing> placing;  // Parallel to the buffers, or empty: any memory, all at cost 0.
  // Buffers in one memory, at one offset or at fixed distances (berth/colocate.h). A group with a
  // buffer that must be placed must be placed; otherwise it is left out as a whole.
  std::vector<std::vector<Member>> together;
  std::vector<Apart> apart;
  friend bool operator==(const MemoryProblem&, const MemoryProblem&) = default;
};

// Checks every rule above: first the table, then memories, placing, together and apart, each in order.
// Error: kInvalidProblem, naming the first buffer or memory that breaks a rule, and the rule. A buffer
// is the error's subject. Cost: O(n log n) and the number of candidates.
[[nodiscard]] Result<void> Validate(const MemoryProblem& problem);

// Checks that `plan` is a plan for `problem`, which must be valid: every rule kept, and heights, peaks
// and costs as stated. Error: kInvalidPlan, naming the first fault; the subject is the buffer.
[[nodiscard]] Result<void> ValidatePlan(const MemoryProblem& problem, const MemoryPlan& plan);

// What a buffer costs in a memory by its uses: bytes_read * read + bytes_written * write + accesses *
// access, each product rounded up. Nothing if that is more than kMaxCost. Both must be valid.
[[nodiscard]] std::optional<std::int64_t> CostOfUses(const Placing& placing, const Memory& memory);
// What a buffer costs where it is. Nothing if it may not be there. `problem` must be valid, and the
// residency one of its buffers in one of its memories. Cost: O(candidates).
[[nodiscard]] std::optional<std::int64_t> CostOf(const MemoryProblem& problem,
                                                 const Residency& residency);
// The plan that has these residencies, with its heights, peaks and costs. Residencies are of buffers
// and in memories of `problem`, which must be valid, at most one for each buffer, in their order; whether
// they break rules is for ValidatePlan() to say. Cost: O(n log n) and the number of candidates.
[[nodiscard]] MemoryPlan PlanOf(const MemoryProblem& problem, std::vector<Residency> residencies);

struct MemoriesOptions {
  // For the offsets of each memory. `minimize` does not count; `progress` is told of costs.
  PlaceOptions place;
  // Rules that make the search faster and change no proved answer. Off for tests.
  bool covers = true;     // Cuts in the relaxation.
  bool dominance = true;  // Of two that could take each other's place, the better one has it.
  bool conflicts = true;  // What does not fit is reduced to few buffers before it is excluded.
  // The states that the sweep keeps at most, 1 to 2^20.
  std::int64_t width = 1 << 16;
};

// Chooses a memory for every buffer and places each memory's buffers.
//
// The answer's plan has a residency for each buffer that is placed, and MemoryPlan::cost;
// PlanAnswer::cost_bound is proved. kOptimal: everything that must be placed is, at the least cost.
// kInfeasible: proved that some buffer that must be placed cannot be; the plan then has the fewest
// unplaced that were found. Without any limit in `budget` the search ends after a fixed amount of
// work. The answer depends on the arguments alone unless the budget ends by time or cancellation.
// Errors: kInvalidProblem, kInvalidOptions; of Place(): kUnsupported.
[[nodiscard]] Result<PlanAnswer> PlaceInMemories(const MemoryProblem& problem,
                                                 const MemoriesOptions& options, Budget& budget);

}  // namespace berth

#endif  // BERTH_MEMORIES_H_
