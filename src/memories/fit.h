// memories/fit.h -- one unit after another, each into the tightest hole of the best memory.
#ifndef BERTH_MEMORIES_FIT_H_
#define BERTH_MEMORIES_FIT_H_

#include <optional>
#include <vector>

#include "berth/budget.h"
#include "memories/assign.h"
#include "memories/model.h"

namespace berth::internal::memories {

// A plan of units: their modes and offsets.
struct Placed {
  Assignment assignment;
  std::vector<Bytes> offsets;  // By unit; 0 for one that is out.
};

// Tries the units in `order`, each in its modes from the cheapest on, as long as the mode is better
// than being left out. With `only`, each unit in that mode alone. Fast, and without search.
[[nodiscard]] Placed FitInOrder(const MemoryProblem& problem, const Model& model,
                                const std::vector<std::size_t>& order, const Assignment* only,
                                Budget& budget);

}  // namespace berth::internal::memories

#endif  // BERTH_MEMORIES_FIT_H_
