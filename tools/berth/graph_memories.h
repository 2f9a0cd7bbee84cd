// tools/berth/graph_memories.h -- models in several memories: flags, summary, check and sweep.
#ifndef BERTH_TOOLS_BERTH_GRAPH_MEMORIES_H_
#define BERTH_TOOLS_BERTH_GRAPH_MEMORIES_H_

#include <optional>
#include <string>
#include <vector>

#include "berth/graph_memories.h"
#include "berth/plan.h"
#include "berth/plan_io.h"
#include "tools/berth/command.h"
#include "tools/berth/memories.h"
#include "tools/berth/model.h"
#include "tools/berth/output.h"
#include "tools/berth/watched_search.h"

namespace berth::cli {

struct GraphMemoryArguments {
  MemoryArguments board;
  std::vector<std::string> activations;  // Names of memories; none: any.
  std::vector<std::string> weights;
  bool spill = false;
  bool may_move = false;
  bool prefetch = false;
  std::optional<double> copy_latency = {};  // Seconds.
  [[nodiscard]] bool given() const {
    return board.given() || !activations.empty() || !weights.empty() || spill || may_move ||
           prefetch || copy_latency;
  }
};
// --memory, --memories, --activations-in and --weights-in; with `spill`, also that, --may-move,
// --prefetch and --copy-latency.
void AddGraphMemories(CLI::App& app, GraphMemoryArguments& arguments, bool spill);

// The memories that were given, and which tensors may be in which.
struct Board {
  GraphMemories memories;
  std::string cost_unit = "ns";
};
// Where weights have memories of their own, `counting` then counts them. Errors: kInvalidOptions for a
// memory that is not there; those of reading a board.
[[nodiscard]] Result<Board> LoadBoardFor(const Graph& graph, const GraphMemoryArguments& arguments,
                                         Counting& counting);

// What berth plan was asked for.
struct GraphMemoryPlan {
  const Model& model;
  const ModelArguments& reading;
  const GraphMemoryArguments& arguments;
  const SearchArguments& search;
  const PlanOutputs& outputs;
  PlanOptions options;  // But for the memories.
  bool tensors = false;
  bool moves = false;
};
// Plans the model, writes what was asked for, and sums it up.
[[nodiscard]] Result<ExitCode> PlanInMemories(GraphMemoryPlan request);

// What berth check was asked for: a plan of `model` that names memories, with its own or those that
// were given.
[[nodiscard]] Result<ExitCode> CheckInMemories(const Model& model, const PlanSettings& settings,
                                               GraphPlanFile plan,
                                               const GraphMemoryArguments& arguments, bool execute,
                                               bool json);

// What berth sweep was asked for: the capacity of one memory.
struct MemorySweepArguments {
  const ModelArguments& reading;
  const std::string& path;
  const GraphMemoryArguments& arguments;  // One --memory is a name alone: that memory.
  int points = 20;
  std::vector<Bytes> capacities = {};
  bool fixed_order = false;
  std::optional<double> time_limit = {};
  const std::string& output;
  const std::string& svg;
};
[[nodiscard]] Result<ExitCode> SweepOneMemory(const MemorySweepArguments& arguments);

}  // namespace berth::cli

#endif  // BERTH_TOOLS_BERTH_GRAPH_MEMORIES_H_
