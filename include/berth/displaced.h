// berth/displaced.h -- why buffers are not in the memory where they would cost the least.
//
//   const auto answer = berth::PlaceInMemories(problem, {}, budget);
//   for (const berth::Displaced& each : *berth::FindDisplaced(problem, *answer->best, 10)) {
//     Print(each.buffers, each.cheaper, each.reason, each.in_the_way);
//   }
//
// A graph's plan is that of a table, too: TableOf() and PlanOf() of berth/graph_memories.h.
// Thread-safety: may be called from several threads.
#ifndef BERTH_DISPLACED_H_
#define BERTH_DISPLACED_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "berth/memories.h"
#include "berth/result.h"

namespace [[gnu::visibility("default")]] berth {

enum class DisplacedBy {
  kMemory,   // The memory has no place for the buffer even if it has nothing else.
  kBytes,    // At one of its steps, fewer bytes are free than it needs.
  kPlaces,   // Enough bytes are free at each of its steps, but nowhere the same ones.
  kNothing,  // Nothing is in the way: the plan is not the best.
};
[[nodiscard]] std::string_view ToString(DisplacedBy reason);  // "memory", "bytes", ...

// A buffer that would cost less in another memory, or that is left out of it. Buffers that are
// together count as one.
struct Displaced {
  std::vector<std::size_t> buffers;   // Indices into the table.
  std::optional<std::size_t> memory;  // Where it is; none: left out.
  std::size_t cheaper = 0;            // The memory where it would cost less.
  // What it costs, and would cost there. Of a buffer that must be placed and is not, `cost` is 0.
  std::int64_t cost = 0;
  std::int64_t least = 0;
  bool must = false;  // It must be placed and is not.
  DisplacedBy reason = DisplacedBy::kBytes;
  // The step of its lifetime at which the least is left of the cheaper memory, as that is now: how
  // much, and how much it needs. Not with kMemory, nor in a memory without a capacity.
  std::optional<Step> step;
  Bytes free = 0;
  Bytes needed = 0;
  // Where in the cheaper memory it meets the buffers that save the least there; none with kMemory.
  std::optional<Bytes> offset;
  std::vector<std::size_t> in_the_way;
  // What these save where they are, against the cheapest other memory that each may be in, were there
  // room; none if one of them must be placed and may be in no other.
  std::optional<std::int64_t> saved;
};

// An entry for each buffer and each memory where it would cost less; those that must be placed first,
// then those that would save the most; at most `most`. `plan` must be valid for `problem`. Errors:
// those of Validate(). Cost: O(n log n), and for each entry O(k log k) if k buffers are live at one of
// the buffer's steps.
[[nodiscard]] Result<std::vector<Displaced>> FindDisplaced(const MemoryProblem& problem,
                                                           const MemoryPlan& plan,
                                                           std::size_t most);

}  // namespace berth

#endif  // BERTH_DISPLACED_H_
