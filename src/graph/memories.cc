// The tensors of a graph in several memories: what they cost there, and as a table.

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/arithmetic.h"
#include "base/check.h"
#include "base/text.h"
#include "base/try.h"
#include "berth/graph_memories.h"
#include "graph/edges.h"
#include "graph/plan.h"

namespace berth {
namespace {

// Adds bytes, up to the first sum that is not valid.
void Add(Bytes& sum, Bytes bytes) { sum = std::min(sum + bytes, kMaxBytes + 1); }

bool MakesOnlyViews(const Graph& graph, const Operator& op) {
  if (op.outputs.empty() || !op.mutates.empty()) return false;
  return std::all_of(op.outputs.begin(), op.outputs.end(),
                     [&](TensorIndex t) { return graph.tensors[t].alias_of.has_value(); });
}

// The bytes of `base` that an operator writes in place.
Bytes WrittenInPlace(const Graph& graph, const Operator& op, TensorIndex base) {
  Bytes views = 0;
  for (const TensorIndex t : op.outputs) {
    if (graph.tensors[t].alias_of == base) Add(views, graph.tensors[t].bytes);
  }
  const Bytes all = graph.tensors[base].bytes;
  return views == 0 ? all : std::min(views, all);
}

Placing PlacingOf(const GraphMemories& memories, TensorIndex t, const TensorUse& use) {
  Placing placing;
  placing.bytes_read = use.bytes_read;
  placing.bytes_written = use.bytes_written;
  placing.accesses = use.accesses;
  if (memories.allowed.empty()) return placing;
  for (const std::size_t m : memories.allowed[t]) {
    // Validate() refuses a cost that is too large.
    placing.candidates.push_back(
        {m, CostOfUses(placing, memories.memories[m]).value_or(kMaxCost + 1)});
  }
  return placing;
}

// Of each base, whether an operator makes or uses it.
std::vector<bool> BasesTouched(const Graph& graph) {
  const std::vector<OperatorIndex> makers = internal::Makers(graph);
  std::vector<bool> touched(graph.tensors.size(), false);
  std::vector<TensorIndex> bases;
  for (OperatorIndex v = 0; v < graph.operators.size(); ++v) {
    for (const TensorIndex t : graph.operators[v].outputs) touched[BaseOf(graph, t)] = true;
    internal::BasesUsed(graph, makers, v, bases);
    for (const TensorIndex base : bases) touched[base] = true;
  }
  return touched;
}

Result<void> CheckAllowed(const Graph& graph, const GraphMemories& memories) {
  if (memories.allowed.empty()) return {};
  if (memories.allowed.size() != graph.tensors.size()) {
    return Fail(ErrorCode::kInvalidOptions, "the memories allowed are given for " +
                                                std::to_string(memories.allowed.size()) + " of " +
                                                std::to_string(graph.tensors.size()) + " tensors");
  }
  for (TensorIndex t = 0; t < graph.tensors.size(); ++t) {
    const auto& allowed = memories.allowed[t];
    const std::string named = "tensor " + internal::Quoted(graph.tensors[t].name) + ": memory ";
    for (std::size_t i = 0; i < allowed.size(); ++i) {
      const std::string number = std::to_string(allowed[i]);
      if (allowed[i] >= memories.memories.size()) {
        return Fail(ErrorCode::kInvalidOptions,
                    named + number + " is allowed but does not exist: there are " +
                        std::to_string(memories.memories.size()),
                    Subject::OfTensor(t));
      }
      if (std::find(allowed.begin(), allowed.begin() + static_cast<std::ptrdiff_t>(i),
                    allowed[i]) != allowed.begin() + static_cast<std::ptrdiff_t>(i)) {
        return Fail(ErrorCode::kInvalidOptions, named + number + " is allowed twice",
                    Subject::OfTensor(t));
      }
    }
  }
  return {};
}

}  // namespace

std::vector<std::vector<std::size_t>> AllowedByKind(const Graph& graph,
                                                    const std::vector<std::size_t>& activations,
                                                    const std::vector<std::size_t>& weights) {
  std::vector<std::vector<std::size_t>> allowed;
  allowed.reserve(graph.tensors.size());
  for (const Tensor& tensor : graph.tensors) {
    const bool weight =
        tensor.kind == TensorKind::kParameter || tensor.kind == TensorKind::kConstant;
    allowed.push_back(weight ? weights : activations);
  }
  return allowed;
}

std::vector<TensorUse> UsesOf(const Graph& graph) {
  std::vector<TensorUse> uses(graph.tensors.size());
  std::vector<TensorIndex> read;
  for (const Operator& op : graph.operators) {
    if (MakesOnlyViews(graph, op)) continue;
    read = op.inputs;
    std::sort(read.begin(), read.end());
    read.erase(std::unique(read.begin(), read.end()), read.end());
    for (const TensorIndex t : read) {
      TensorUse& use = uses[BaseOf(graph, t)];
      Add(use.bytes_read, graph.tensors[t].bytes);
      ++use.accesses;
    }
    const auto write = [&uses](TensorIndex base, Bytes bytes) {
      Add(uses[base].bytes_written, bytes);
      ++uses[base].accesses;
    };
    for (const TensorIndex t : op.outputs) {
      if (!graph.tensors[t].alias_of) write(t, graph.tensors[t].bytes);
    }
    for (const TensorIndex base : op.mutates) write(base, WrittenInPlace(graph, op, base));
  }
  return uses;
}

Result<void> Validate(const Graph& graph, const Counting& counting, const GraphMemories& memories) {
  BERTH_TRY(CheckAllowed(graph, memories));
  const TensorTable table = TableOf(graph, ProgramOrder(graph), counting, memories);
  const Result<void> valid = Validate(table.problem);
  if (valid) return {};
  Error error = valid.error();
  error.code = ErrorCode::kInvalidOptions;
  if (error.subject.kind == Subject::Kind::kBuffer) {
    error.subject = Subject::OfTensor(table.tensors[error.subject.index]);
    constexpr std::string_view kBuffer = "buffer ";
    if (error.message.starts_with(kBuffer)) error.message.replace(0, kBuffer.size(), "tensor ");
  }
  return tl::unexpected(std::move(error));
}

Graph PartOf(const Graph& graph, const GraphMemories& memories, std::size_t m) {
  Graph part = graph;
  const Bytes alignment = memories.memories[m].alignment;
  const auto may = [&](TensorIndex base) {
    if (memories.allowed.empty() || memories.allowed[base].empty()) return true;
    const auto& allowed = memories.allowed[base];
    return std::find(allowed.begin(), allowed.end(), m) != allowed.end();
  };
  for (Tensor& tensor : part.tensors) {
    const auto t = static_cast<TensorIndex>(&tensor - part.tensors.data());
    if (!may(BaseOf(graph, t))) {
      tensor.bytes = 0;
      tensor.unplanned.clear();
      continue;
    }
    if (tensor.alias_of) continue;
    // Valid memories have a common multiple with every tensor that may be there.
    tensor.alignment = tensor.alignment / std::gcd(tensor.alignment, alignment) * alignment;
  }
  return part;
}

PlanCost CostOf(const Graph& graph, const Counting& counting, const GraphMemories& memories,
                const MemoryPlan& plan) {
  const std::vector<TensorUse> uses = UsesOf(graph);
  const std::vector<bool> touched = BasesTouched(graph);
  std::vector<bool> placed(graph.tensors.size(), false);
  PlanCost cost;
  for (const Residency& residency : plan.residencies) {
    const TensorIndex t = residency.tensor;
    if (placed[t] || !touched[t]) continue;
    placed[t] = true;
    Placing placing;
    placing.bytes_read = uses[t].bytes_read;
    placing.bytes_written = uses[t].bytes_written;
    placing.accesses = uses[t].accesses;
    // Valid memories have a cost for every tensor that may be there, and a sum.
    const Memory& memory = memories.memories[static_cast<std::size_t>(residency.memory)];
    cost.cost += CostOfUses(placing, memory).value_or(0);
  }
  for (TensorIndex t = 0; t < graph.tensors.size(); ++t) {
    const bool wanted = touched[t] && internal::IsCounted(graph.tensors[t], counting);
    cost.unplaced += wanted && !placed[t] ? 1 : 0;
  }
  return cost;
}

TensorTable TableOf(const Graph& graph, const Order& order, const Counting& counting,
                    const GraphMemories& memories) {
  const std::vector<bool> touched = BasesTouched(graph);
  const std::vector<TensorUse> uses = UsesOf(graph);
  TensorTable table;
  table.problem.memories = memories.memories;
  for (const Residency& lifetime : internal::Lifetimes(graph, order, counting)) {
    const TensorIndex t = lifetime.tensor;
    if (!touched[t]) continue;
    const Tensor& tensor = graph.tensors[t];
    table.problem.table.buffers.push_back(
        {tensor.name, lifetime.start, lifetime.end, tensor.bytes, tensor.alignment});
    table.problem.placing.push_back(PlacingOf(memories, t, uses[t]));
    table.tensors.push_back(t);
  }
  return table;
}

MemoryPlan PlanOf(const TensorTable& table, const MemoryPlan& plan) {
  // Both lists are in the order of the tensors.
  std::vector<Residency> residencies = plan.residencies;
  std::size_t b = 0;
  for (Residency& r : residencies) {
    while (b < table.tensors.size() && table.tensors[b] < r.tensor) ++b;
    BERTH_CHECK(b < table.tensors.size() && table.tensors[b] == r.tensor);
    r.tensor = b;
  }
  return PlanOf(table.problem, std::move(residencies));
}

}  // namespace berth
