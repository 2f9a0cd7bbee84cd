// tools/berth/checked.h -- no plan of Berth's own is shown or written unless the verifier agrees.
#ifndef BERTH_TOOLS_BERTH_CHECKED_H_
#define BERTH_TOOLS_BERTH_CHECKED_H_

#include <optional>

#include "berth/answer.h"
#include "berth/graph.h"
#include "berth/graph_memories.h"
#include "berth/plan_io.h"

namespace berth::cli {

// Ends the process, with a message, unless the independent verifier agrees that `plan` is one of
// `subject` within `capacity` (none: of any height; a capacity of the table itself does not count)
// and has the height, peak and traffic that it states. `counting` is not used for a table.
void VerifyOrDie(const PlanSubject& subject, const Counting& counting,
                 std::optional<Bytes> capacity, const MemoryPlan& plan);
// The same of the best plan of `answer`, if there is one: within the capacity if it is said to fit,
// otherwise of any height.
void VerifyOrDie(const PlanSubject& subject, const Counting& counting, const PlanAnswer& answer);
// The same of a graph's plan for several memories.
void VerifyOrDie(const Graph& graph, const Counting& counting, const GraphMemories& memories,
                 const MemoryPlan& plan);

}  // namespace berth::cli

#endif  // BERTH_TOOLS_BERTH_CHECKED_H_
