// memories/improve.h -- a plan made better step by step (repack.cc says how).
#ifndef BERTH_MEMORIES_IMPROVE_H_
#define BERTH_MEMORIES_IMPROVE_H_

#include "berth/budget.h"
#include "berth/memories.h"
#include "berth/place.h"
#include "memories/fit.h"
#include "memories/model.h"

namespace berth::internal::memories {

// A plan that is no worse than `from`, which must be one, by holes, chains of moves, Place(), a new
// choice and exchanges. Ends after a fixed amount of work.
[[nodiscard]] Placed Improve(const MemoryProblem& problem, const PlaceOptions& place,
                             const Model& model, const Placed& from, Budget& budget);

}  // namespace berth::internal::memories

#endif  // BERTH_MEMORIES_IMPROVE_H_
