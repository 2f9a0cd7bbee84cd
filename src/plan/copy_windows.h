// plan/copy_windows.h -- copies that begin earlier and are waited for later, in a plan with offsets.
//
// Offsets stay, so the target of a copy can begin earlier only while its bytes are free, and the source
// can end later only while nobody else has its bytes. Windows are widened one after another where that
// makes the run shorter. So the result is never worse, and needs no search for offsets.
#ifndef BERTH_PLAN_COPY_WINDOWS_H_
#define BERTH_PLAN_COPY_WINDOWS_H_

#include "berth/budget.h"
#include "berth/graph.h"
#include "berth/graph_memories.h"

namespace berth::internal::plan {

// Changes a valid plan with addresses, its cost, and what it takes of the memories. `memories` has
// `prefetch`. Cost: a few runs for each copy, at most some thousands.
void WidenCopies(const Graph& graph, const Counting& counting, const GraphMemories& memories,
                 MemoryPlan& plan, Budget& budget);

}  // namespace berth::internal::plan

#endif  // BERTH_PLAN_COPY_WINDOWS_H_
