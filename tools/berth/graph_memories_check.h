// tools/berth/graph_memories_check.h -- plans of models in several memories, checked.
#ifndef BERTH_TOOLS_BERTH_GRAPH_MEMORIES_CHECK_H_
#define BERTH_TOOLS_BERTH_GRAPH_MEMORIES_CHECK_H_

#include "berth/plan_io.h"
#include "tools/berth/command.h"
#include "tools/berth/graph_memories.h"
#include "tools/berth/model.h"

namespace berth::cli {

// What berth check was asked for: a plan of `model` that names memories, with its own or those that
// were given.
[[nodiscard]] Result<ExitCode> CheckInMemories(const Model& model, const PlanSettings& settings,
                                               GraphPlanFile plan,
                                               const GraphMemoryArguments& arguments, bool execute,
                                               bool json);

}  // namespace berth::cli

#endif  // BERTH_TOOLS_BERTH_GRAPH_MEMORIES_CHECK_H_
