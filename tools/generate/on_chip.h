// tools/generate/on_chip.h -- the buffers of a table that a compiler keeps in a small fast memory.
//
// An accelerator's allocator is not asked to place a whole network, but what earlier stages have
// chosen for the memory beside the cores (TelaMalloc, section 2.3). They choose by benefit and by
// sums of bytes, before there are addresses, and fill the memory as far as it goes:
//
//     load |    ____               capacity |____________    The most useful ones first, as long as
//          |  _|    |__                     | |    |_|  |    no step exceeds the capacity: nearly
//          |_|         |_                   |_|_________|_   full at most steps, not at one alone.
//
// What is left is a problem like those of the paper, whose own tables are not public.
#ifndef BERTH_TOOLS_GENERATE_ON_CHIP_H_
#define BERTH_TOOLS_GENERATE_ON_CHIP_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "berth/problem.h"

namespace berth::internal {

// What each buffer is worth in a fast memory.
struct Worth {
  std::vector<std::int64_t> benefit;  // Parallel to the buffers: size x 2 to 8 accesses, drawn.
  std::vector<std::size_t> order;     // XLA's: benefit by the root of the size, the greatest first.
};
// The same seed gives the same worth on every platform. Cost: O(n log n).
[[nodiscard]] Worth DrawWorth(const Problem& problem, std::uint64_t seed);

// The buffers of `problem` that stay in a fast memory of `capacity` bytes, in their order and with that
// capacity: in the order of DrawWorth() each for which the bytes suffice at all of its steps. A gap
// counts as live, and pins are kept as they are. Whether there is a plan within the capacity is open.
// May be empty. Cost: O(n x sections).
[[nodiscard]] Problem KeepOnChip(const Problem& problem, Bytes capacity, std::uint64_t seed);

}  // namespace berth::internal

#endif  // BERTH_TOOLS_GENERATE_ON_CHIP_H_
