#include "tools/berth/graph_memories_check.h"

#include <algorithm>
#include <utility>

#include "berth/memory_io.h"
#include "src/base/try.h"
#include "src/io/plan_head.h"
#include "tools/berth/flags.h"
#include "tools/berth/memory_summary.h"
#include "tools/berth/terminal.h"
#include "tools/verify/execute.h"
#include "tools/verify/graph_memories.h"

namespace berth::cli {
namespace {

std::int64_t Count(std::size_t number) { return static_cast<std::int64_t>(number); }

std::string Memories(std::size_t count) {
  return FormatCount(Count(count)) + (count == 1 ? " memory" : " memories");
}

// The memories of a plan; where some are given as well, these, which must have the same names.
Result<GraphMemories> MemoriesToCheck(const Graph& graph, const GraphMemories& memories,
                                      const GraphMemoryArguments& arguments, Counting& counting) {
  if (!arguments.given()) return memories;
  Board board = BERTH_TRY(LoadBoardFor(graph, arguments, counting));
  // The plan names the memories; those that were given are held against it in the same order.
  if (board.memories.memories.size() != memories.memories.size()) {
    return Fail(ErrorCode::kInvalidOptions,
                "the plan has " + Memories(memories.memories.size()) + ", but " +
                    std::to_string(board.memories.memories.size()) + " are given");
  }
  for (std::size_t m = 0; m < memories.memories.size(); ++m) {
    if (board.memories.memories[m].name == memories.memories[m].name) continue;
    return Fail(ErrorCode::kInvalidOptions,
                "memory number " + std::to_string(m) + " of the plan is " +
                    Quoted(memories.memories[m].name) + ", but the one given is " +
                    Quoted(board.memories.memories[m].name));
  }
  if (board.memories.allowed.empty()) board.memories.allowed = memories.allowed;
  board.memories.may_move = memories.may_move;
  board.memories.prefetch = memories.prefetch;
  board.memories.copy_latency = memories.copy_latency;
  return std::move(board.memories);
}

// A plan that was checked.
struct Checked {
  const GraphPlanFile& file;
  const GraphMemories& memories;
  std::vector<std::string> faults;

  [[nodiscard]] const MemoryPlan& plan() const { return file.plan; }
};

// Runs the operators on random numbers, each memory an arena of its own.
void Execute(const Graph& graph, Checked& checked) {
  const auto stacked = verify::Stacked(graph, checked.plan());
  std::vector<verify::PlacedTensor> placed;
  for (const Residency& r : stacked->residencies) placed.push_back({r.tensor, r.offset});
  const verify::ExecutionReport run = verify::Execute(graph, checked.plan().order, placed);
  for (const verify::Clobber& clobber : run.clobbers) {
    checked.faults.push_back(verify::Describe(clobber, graph));
  }
}

Json CheckedJson(const Checked& checked) {
  const MemoryPlan& plan = checked.plan();
  Json result;
  result["valid"] = checked.faults.empty();
  result["memories"] = Json::array();
  for (std::size_t m = 0; m < checked.memories.memories.size(); ++m) {
    Json memory = internal::MemoryJson(checked.memories.memories[m]);
    memory["height"] = plan.memories[m].height;
    memory["peak"] = plan.memories[m].peak;
    result["memories"].push_back(std::move(memory));
  }
  result["cost"] = plan.cost.cost;
  result["cost_unit"] = checked.file.cost_unit;
  result["unplaced"] = plan.cost.unplaced;
  result["residencies"] = plan.residencies.size();
  if (checked.file.spills) result["traffic"] = internal::TrafficJson(plan.traffic);
  result["faults"] = Json::array();
  for (const std::string& fault : checked.faults) {
    result["faults"].push_back({{"message", fault}});
  }
  result["berth_version"] = BERTH_VERSION;
  return result;
}

std::string HoldsText(const Checked& checked) {
  const MemoryPlan& plan = checked.plan();
  const std::string cost = OneLine(FormatCostExactly(plan.cost.cost, checked.file.cost_unit));
  const std::string worth =
      checked.file.spills ? FormatBytesExactly(plan.traffic.avoidable()) + " of avoidable traffic"
      : checked.memories.prefetch ? "a run of " + cost
                                  : "cost " + cost;
  return Paint(Tone::kGood, "The plan holds:") + " " + FormatCount(Count(plan.residencies.size())) +
         (plan.residencies.size() == 1 ? " residency" : " residencies") + " in " +
         Memories(checked.memories.memories.size()) + ", run with an arena for each; " + worth +
         ".\n";
}

}  // namespace

Result<ExitCode> CheckInMemories(const Model& model, const PlanSettings& settings,
                                 GraphPlanFile plan, const GraphMemoryArguments& arguments,
                                 bool execute, bool json) {
  Counting counting = settings.counting;
  const GraphMemories memories =
      BERTH_TRY(MemoriesToCheck(model.graph, plan.memories, arguments, counting));
  BERTH_TRY(Validate(model.graph, counting, memories));
  Checked checked{plan, memories,
                  verify::VerifyMemories(model.graph, counting, memories, plan.plan)};
  const std::size_t unplaced = plan.plan.cost.unplaced;
  if (unplaced > 0) {
    checked.faults.push_back(Plural(Count(unplaced), "tensor") +
                             (unplaced == 1 ? " has" : " have") + " no place");
  }
  if (execute && !plan.spills && !memories.may_move && checked.faults.empty()) {
    Execute(model.graph, checked);
  }
  if (json) {
    PrintJson(CheckedJson(checked));
  } else {
    Print(checked.faults.empty() ? HoldsText(checked) : FaultsText(checked.faults));
  }
  return checked.faults.empty() ? kDone : kDoesNotFit;
}

}  // namespace berth::cli
