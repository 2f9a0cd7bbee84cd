// tools/berth/graph_memories_plan.h -- models planned in several memories: search, files and summary.
#ifndef BERTH_TOOLS_BERTH_GRAPH_MEMORIES_PLAN_H_
#define BERTH_TOOLS_BERTH_GRAPH_MEMORIES_PLAN_H_

#include "berth/plan.h"
#include "tools/berth/command.h"
#include "tools/berth/graph_memories.h"
#include "tools/berth/model.h"
#include "tools/berth/output.h"
#include "tools/berth/watched_search.h"

namespace berth::cli {

// What berth plan or explain was asked for.
struct GraphMemoryPlan {
  const Model& model;
  const ModelArguments& reading;
  const GraphMemoryArguments& arguments;
  const SearchArguments& search;
  const PlanOutputs& outputs;
  PlanOptions options;  // But for the memories.
  bool tensors = false;
  bool moves = false;
  bool explain = false;  // The summary says why tensors are not where they would cost the least.
};
// Plans the model, writes what was asked for, and sums it up.
[[nodiscard]] Result<ExitCode> PlanInMemories(GraphMemoryPlan request);

}  // namespace berth::cli

#endif  // BERTH_TOOLS_BERTH_GRAPH_MEMORIES_PLAN_H_
