// tools/verify/memories.h -- checks plans for several memories.
#ifndef BERTH_TOOLS_VERIFY_MEMORIES_H_
#define BERTH_TOOLS_VERIFY_MEMORIES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "berth/memories.h"

namespace berth::verify {

// Every fault of `plan`, one sentence each, in the order of the rules of berth/memories.h: places,
// bytes shared, groups, buffers apart, then wrong figures. The problem must be valid; the plan may be
// arbitrary. Cost: O(n log n) and the pairs that are live at once.
[[nodiscard]] std::vector<std::string> VerifyMemories(const MemoryProblem& problem,
                                                      const MemoryPlan& plan);

// What these accesses cost in a memory, each product rounded up. The sum must be at most 2^61.
[[nodiscard]] std::int64_t CostOfAccesses(const Placing& accesses, const Memory& memory);

}  // namespace berth::verify

#endif  // BERTH_TOOLS_VERIFY_MEMORIES_H_
