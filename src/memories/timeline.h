// memories/timeline.h -- when units take bytes, and how many each memory has, by sections of time.
#ifndef BERTH_MEMORIES_TIMELINE_H_
#define BERTH_MEMORIES_TIMELINE_H_

#include <cstddef>
#include <vector>

#include "memories/model.h"
#include "memories/selection.h"

namespace berth::internal::memories {

struct Timeline {
  std::size_t sections = 0;
  std::vector<std::vector<Stay>> stays;  // By unit, in order of time.
  std::vector<std::vector<Bytes>> room;  // By memory, then section: without reserved ranges.
};

// Memories without a capacity have `unlimited` bytes. Cost: O(n log n), and sections times memories.
[[nodiscard]] Timeline TimelineOf(const MemoryProblem& problem, const Model& model,
                                  Bytes unlimited);

}  // namespace berth::internal::memories

#endif  // BERTH_MEMORIES_TIMELINE_H_
