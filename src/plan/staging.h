// plan/staging.h -- copies of weights beside the originals, added to a plan with offsets.
//
// Offsets stay, so a copy goes where its bytes are free. One use of a weight after another, in order of
// steps, gets a copy in a faster memory if the plan is then better: the copy begins one step before the use,
// or two, four, ..., and ends after that use or the last one. So the result is never worse, and needs no
// search for offsets.
#ifndef BERTH_PLAN_STAGING_H_
#define BERTH_PLAN_STAGING_H_

#include "berth/budget.h"
#include "berth/graph.h"
#include "berth/graph_memories.h"

namespace berth::internal::plan {

// Changes a valid plan with addresses, its cost, and what it takes of the memories. Without
// GraphMemories::stage_in it does nothing. Cost: some costs of plans for each use of a weight, at most some
// thousands.
void StageWeights(const Graph& graph, const Counting& counting, const GraphMemories& memories,
                  MemoryPlan& plan, Budget& budget);

}  // namespace berth::internal::plan

#endif  // BERTH_PLAN_STAGING_H_
