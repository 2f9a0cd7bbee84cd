// The plan of a graph in several memories: a run of it, and a table of its residencies.
#include "tools/verify/graph_memories.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <utility>

#include "berth/memories.h"
#include "tools/verify/memories.h"
#include "tools/verify/touches.h"
#include "tools/verify/verify.h"

namespace berth::verify {
namespace {

// What operators read and write of each base, as berth/graph_memories.h defines it.
std::vector<Placing> UsesOfBases(const Graph& graph) {
  std::vector<Placing> uses(graph.tensors.size());
  for (const Operator& op : graph.operators) {
    const bool views = std::all_of(op.outputs.begin(), op.outputs.end(), [&](TensorIndex t) {
      return graph.tensors[t].alias_of.has_value();
    });
    if (views && !op.outputs.empty() && op.mutates.empty()) continue;
    for (const TensorIndex t : std::set<TensorIndex>(op.inputs.begin(), op.inputs.end())) {
      uses[BaseIn(graph, t)].bytes_read += graph.tensors[t].bytes;
      ++uses[BaseIn(graph, t)].accesses;
    }
    for (const TensorIndex t : op.outputs) {
      if (graph.tensors[t].alias_of) continue;
      uses[t].bytes_written += graph.tensors[t].bytes;
      ++uses[t].accesses;
    }
    for (const TensorIndex base : op.mutates) {
      Bytes made = 0;
      for (const TensorIndex t : op.outputs) {
        if (graph.tensors[t].alias_of == base) made += graph.tensors[t].bytes;
      }
      const Bytes all = graph.tensors[base].bytes;
      uses[base].bytes_written += made > 0 && made < all ? made : all;
      ++uses[base].accesses;
    }
  }
  return uses;
}

// A name for each residency.
std::string NameOf(const Graph& graph, const MemoryPlan& plan, std::size_t i,
                   const std::set<std::string>& taken) {
  const Residency& r = plan.residencies[i];
  std::string name = graph.tensors[r.tensor].name;
  if (i == 0 || plan.residencies[i - 1].tensor != r.tensor) return name;
  name += " from step " + std::to_string(r.start);
  while (taken.contains(name)) name += "'";
  return name;
}

bool IsFigure(FaultKind kind) {
  return kind == FaultKind::kOverlap || kind == FaultKind::kWrongHeight ||
         kind == FaultKind::kWrongPeak;
}

// The residencies of `plan` as a table of buffers and its plan. Adds what no table shows to `faults`.
void TableOf(const Graph& graph, const GraphMemories& memories, const MemoryPlan& plan,
             const std::set<TensorIndex>& used, MemoryProblem& problem, MemoryPlan& table,
             std::vector<std::string>& faults) {
  const std::vector<Placing> uses = UsesOfBases(graph);
  problem.memories = memories.memories;
  std::set<std::string> names;
  for (const Tensor& tensor : graph.tensors) names.insert(tensor.name);
  table.memories = plan.memories;
  table.cost = plan.cost;
  for (std::size_t i = 0; i < plan.residencies.size(); ++i) {
    const Residency& r = plan.residencies[i];
    const Tensor& tensor = graph.tensors[r.tensor];
    const bool first = i == 0 || plan.residencies[i - 1].tensor != r.tensor;
    if (!first && plan.residencies[i - 1].memory != r.memory) {
      faults.push_back("tensor \"" + tensor.name + "\" is in two memories");
    }
    const auto* const allowed = memories.allowed.empty() ? nullptr : &memories.allowed[r.tensor];
    const auto m = static_cast<std::size_t>(r.memory);
    if (allowed != nullptr && !allowed->empty() &&
        std::find(allowed->begin(), allowed->end(), m) == allowed->end()) {
      faults.push_back("tensor \"" + tensor.name + "\" may not be in memory \"" +
                       memories.memories[m].name + "\"");
    }
    problem.table.buffers.push_back(
        {NameOf(graph, plan, i, names), r.start, r.end, tensor.bytes, tensor.alignment});
    // A tensor costs once, however often it comes.
    problem.placing.push_back(first && used.contains(r.tensor) ? uses[r.tensor] : Placing{});
    Residency& copy = table.residencies.emplace_back(r);
    copy.tensor = i;
  }
}

}  // namespace

std::optional<MemoryPlan> Stacked(const Graph& graph, const MemoryPlan& plan) {
  std::vector<Bytes> heights;
  for (const Residency& r : plan.residencies) {
    if (r.memory < 0 || r.tensor >= graph.tensors.size() || r.offset < 0 || r.offset > kMaxBytes) {
      return std::nullopt;
    }
    const auto m = static_cast<std::size_t>(r.memory);
    if (m >= plan.memories.size()) return std::nullopt;
    heights.resize(plan.memories.size(), 0);
    heights[m] = std::max(heights[m], r.offset + graph.tensors[r.tensor].bytes);
  }
  MemoryPlan stacked = plan;
  std::vector<Bytes> base(heights.size(), 0);
  Bytes height = 0;
  for (std::size_t m = 0; m < heights.size(); ++m) {
    base[m] = height;
    if (heights[m] > kMaxBytes - height) return std::nullopt;
    height += heights[m];
  }
  for (Residency& r : stacked.residencies) {
    r.offset += base[static_cast<std::size_t>(r.memory)];
    r.memory = 0;
  }
  stacked.memories.assign(1, {height, 0});
  return stacked;
}

std::vector<std::string> VerifyMemories(const Graph& graph, const Counting& counting,
                                        const GraphMemories& memories, const MemoryPlan& plan) {
  std::vector<std::string> faults;
  const std::size_t count = memories.memories.size();
  if (plan.memories.size() != count) {
    faults.push_back("the plan states " + std::to_string(plan.memories.size()) + " memories of " +
                     std::to_string(count));
    return faults;
  }
  for (const Residency& r : plan.residencies) {
    if (r.memory >= 0 && static_cast<std::size_t>(r.memory) < count) continue;
    faults.push_back("a residency is in the memory number " + std::to_string(r.memory) + " of " +
                     std::to_string(count));
    return faults;
  }
  const std::optional<MemoryPlan> stacked = Stacked(graph, plan);
  if (!stacked) return {"an offset or a tensor is none"};

  // Offsets are judged below, with the alignments of their memories.
  Graph loose = graph;
  for (Tensor& tensor : loose.tensors) tensor.alignment = 1;
  const PlanReport run = VerifyPlan(loose, counting, std::nullopt, *stacked);
  std::vector<bool> placed(graph.tensors.size(), false);
  for (const Residency& r : plan.residencies) placed[r.tensor] = true;
  std::set<TensorIndex> used;
  for (const Touches& touches : AllTouches(graph)) {
    used.insert(touches.needs.begin(), touches.needs.end());
    used.insert(touches.makes.begin(), touches.makes.end());
  }
  std::size_t unplaced = 0;
  for (const TensorIndex t : used) {
    if (Counts(graph.tensors[t], counting) && !placed[t]) ++unplaced;
  }
  bool steps_are_good = true;
  for (const Fault& fault : run.faults) {
    steps_are_good = steps_are_good && fault.kind != FaultKind::kBadResidency;
    if (IsFigure(fault.kind)) continue;
    const bool known = fault.tensor != kNone && !placed[fault.tensor];
    const bool absent = fault.kind == FaultKind::kAbsent || fault.kind == FaultKind::kLostResult;
    if (absent && known && plan.cost.unplaced == unplaced) continue;
    faults.push_back(Describe(fault, loose, *stacked));
  }
  if (!steps_are_good) return faults;

  MemoryProblem problem;
  MemoryPlan table;
  TableOf(graph, memories, plan, used, problem, table, faults);
  if (table.cost.unplaced == unplaced) table.cost.unplaced = 0;
  for (std::string& fault : VerifyMemories(problem, table)) faults.push_back(std::move(fault));
  return faults;
}

}  // namespace berth::verify
