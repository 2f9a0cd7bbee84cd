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
#include "graph/run.h"
#include "graph/uses.h"

namespace berth {
namespace {

Placing PlacingOf(const TensorUse& use) {
  Placing placing;
  placing.bytes_read = use.bytes_read;
  placing.bytes_written = use.bytes_written;
  placing.accesses = use.accesses;
  return placing;
}

Placing PlacingOf(const GraphMemories& memories, TensorIndex t, const TensorUse& use) {
  Placing placing = PlacingOf(use);
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

// Of each residency that is a copy beside an original: the step of the first operator that uses it, or its
// start if none does.
std::vector<Step> FirstUsesOfStaged(const Graph& graph, const MemoryPlan& plan) {
  std::vector<Step> first(plan.residencies.size());
  std::vector<bool> found(first.size(), true);
  bool any = false;
  for (std::size_t i = 0; i < first.size(); ++i) {
    first[i] = plan.residencies[i].start;
    found[i] = !internal::IsStaged(plan, i);
    any = any || !found[i];
  }
  if (!any) return first;
  internal::Whereabouts whereabouts(graph, plan);
  for (std::size_t s = 0; s < plan.order.size(); ++s) {
    internal::ForEachUse(graph, plan.order[s], [&](TensorIndex base, Bytes, Bytes) {
      const std::size_t i = whereabouts.At(base, static_cast<Step>(s));
      if (i == first.size() || found[i]) return;
      first[i] = static_cast<Step>(s);
      found[i] = true;
    });
  }
  return first;
}

// What operators do in each residency, and copies if `with_copies`. What is not copied counts as a whole,
// in the first residency of its tensor.
std::vector<TensorUse> UsesOfResidencies(const Graph& graph, const MemoryPlan& plan,
                                         bool with_copies = true) {
  const std::size_t count = plan.residencies.size();
  std::vector<TensorUse> uses(count);
  std::vector<std::size_t> at(graph.tensors.size(), count);  // The first residency of each tensor.
  std::vector<bool> moves(graph.tensors.size(), false);
  for (std::size_t i = count; i-- > 0;) {
    const TensorIndex t = plan.residencies[i].tensor;
    at[t] = i;
    const bool staged = internal::IsStaged(plan, i);
    if (!staged && !internal::IsCopied(plan, i)) continue;
    moves[t] = true;
    if (!with_copies) continue;
    internal::AddUse(0, graph.tensors[t].bytes, uses[i]);
    internal::AddUse(graph.tensors[t].bytes, 0, uses[staged ? internal::FirstOf(plan, i) : i - 1]);
  }
  const std::vector<TensorUse> whole = UsesOf(graph);
  for (TensorIndex t = 0; t < at.size(); ++t) {
    if (at[t] < count && !moves[t]) uses[at[t]] = whole[t];
  }
  if (std::find(moves.begin(), moves.end(), true) == moves.end()) return uses;
  internal::Whereabouts whereabouts(graph, plan);
  for (std::size_t s = 0; s < plan.order.size(); ++s) {
    internal::ForEachUse(graph, plan.order[s], [&](TensorIndex base, Bytes read, Bytes written) {
      if (!moves[base]) return;
      internal::AddUse(read, written, uses[whereabouts.At(base, static_cast<Step>(s))]);
    });
  }
  return uses;
}

Result<void> CheckStaging(const GraphMemories& memories) {
  const auto& staging = memories.stage_in;
  if (!staging.empty() && !memories.may_move) {
    return Fail(ErrorCode::kInvalidOptions,
                "there are memories for copies of weights, but nothing is copied: may_move is off");
  }
  for (std::size_t i = 0; i < staging.size(); ++i) {
    const std::string number = std::to_string(staging[i]);
    if (staging[i] >= memories.memories.size()) {
      return Fail(ErrorCode::kInvalidOptions,
                  "memory " + number + " is for copies of weights but does not exist: there are " +
                      std::to_string(memories.memories.size()));
    }
    const auto here = staging.begin() + static_cast<std::ptrdiff_t>(i);
    if (std::find(staging.begin(), here, staging[i]) != here) {
      return Fail(ErrorCode::kInvalidOptions,
                  "memory " + internal::Quoted(memories.memories[staging[i]].name) +
                      " is given twice for copies of weights");
    }
  }
  return {};
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
  for (OperatorIndex v = 0; v < graph.operators.size(); ++v) {
    internal::ForEachUse(graph, v, [&](TensorIndex base, Bytes read, Bytes written) {
      internal::AddUse(read, written, uses[base]);
    });
  }
  return uses;
}

Result<void> Validate(const Graph& graph, const Counting& counting, const GraphMemories& memories) {
  BERTH_TRY(CheckAllowed(graph, memories));
  BERTH_TRY(CheckStaging(memories));
  if (memories.prefetch) BERTH_TRY(internal::CheckTimes(graph, memories));
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
  const std::vector<bool> touched = BasesTouched(graph);
  std::vector<bool> placed(graph.tensors.size(), false);
  for (const Residency& residency : plan.residencies) placed[residency.tensor] = true;
  PlanCost cost;
  for (TensorIndex t = 0; t < graph.tensors.size(); ++t) {
    const bool wanted = touched[t] && internal::IsCounted(graph.tensors[t], counting);
    cost.unplaced += wanted && !placed[t] ? 1 : 0;
  }
  if (memories.prefetch) {
    cost.cost = RunOf(graph, memories, plan).time;
    return cost;
  }
  const std::vector<TensorUse> uses = UsesOfResidencies(graph, plan);
  for (std::size_t i = 0; i < plan.residencies.size(); ++i) {
    const Residency& residency = plan.residencies[i];
    if (!touched[residency.tensor]) continue;
    const Memory& memory = memories.memories[static_cast<std::size_t>(residency.memory)];
    // Valid memories have a cost for every tensor that may be there, and a sum; copies may exceed it.
    const std::int64_t each = CostOfUses(PlacingOf(uses[i]), memory).value_or(kMaxCost + 1);
    cost.cost = std::min(cost.cost + each, kMaxCost + 1);
  }
  return cost;
}

std::vector<MemoryCopy> CopiesOf(const Graph& graph, const GraphMemories& memories,
                                 const MemoryPlan& plan) {
  std::vector<MemoryCopy> copies;
  const std::vector<Step> first_uses = FirstUsesOfStaged(graph, plan);
  for (std::size_t i = 1; i < plan.residencies.size(); ++i) {
    const bool staged = internal::IsStaged(plan, i);
    if (!staged && !internal::IsCopied(plan, i)) continue;
    const Residency& from = plan.residencies[staged ? internal::FirstOf(plan, i) : i - 1];
    const Residency& to = plan.residencies[i];
    MemoryCopy copy;
    copy.tensor = to.tensor;
    copy.from = static_cast<std::size_t>(from.memory);
    copy.to = static_cast<std::size_t>(to.memory);
    copy.before = !staged ? from.end : memories.prefetch ? first_uses[i] : to.start;
    copy.start = to.start;
    copy.bytes = graph.tensors[to.tensor].bytes;
    if (memories.prefetch) {
      copy.cost = internal::TransferTime(memories, copy.from, copy.to, copy.bytes);
    } else {
      const auto read = CostOfUses(PlacingOf({copy.bytes, 0, 1}), memories.memories[copy.from]);
      const auto write = CostOfUses(PlacingOf({0, copy.bytes, 1}), memories.memories[copy.to]);
      copy.cost = std::min(read.value_or(kMaxCost) + write.value_or(kMaxCost), kMaxCost + 1);
    }
    copies.push_back(copy);
  }
  std::stable_sort(copies.begin(), copies.end(), [](const MemoryCopy& a, const MemoryCopy& b) {
    return std::pair(a.start, a.before) < std::pair(b.start, b.before);
  });
  return copies;
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

TensorTable TableOf(const Graph& graph, const Counting& counting, const GraphMemories& memories,
                    const MemoryPlan& plan) {
  TensorTable table;
  table.problem.memories = memories.memories;
  Problem stays = ProblemOf(graph, plan);
  const std::vector<TensorUse> uses = UsesOfResidencies(graph, plan, !memories.prefetch);
  const TensorTable whole = TableOf(graph, plan.order, counting, memories);
  const auto& all = plan.residencies;
  const auto has_several = [&](std::size_t i) {
    return (i > 0 && all[i - 1].tensor == all[i].tensor) ||
           (i + 1 < all.size() && all[i + 1].tensor == all[i].tensor);
  };
  std::size_t next = 0;  // Of `whole`: both lists are in the order of the tensors.
  const auto add_left_out = [&](TensorIndex before) {
    for (; next < whole.tensors.size() && whole.tensors[next] < before; ++next) {
      table.tensors.push_back(whole.tensors[next]);
      table.problem.table.buffers.push_back(whole.problem.table.buffers[next]);
      table.problem.placing.push_back(whole.problem.placing[next]);
    }
  };
  for (std::size_t i = 0; i < all.size(); ++i) {
    const TensorIndex t = all[i].tensor;
    add_left_out(t);
    if (next < whole.tensors.size() && whole.tensors[next] == t) ++next;
    Placing placing = PlacingOf(memories, t, uses[i]);
    if (has_several(i)) {
      const auto m = static_cast<std::size_t>(all[i].memory);
      const auto cost = CostOfUses(placing, memories.memories[m]);
      placing.candidates = {{m, cost.value_or(kMaxCost), {}}};
    }
    table.tensors.push_back(t);
    table.problem.table.buffers.push_back(std::move(stays.buffers[i]));
    table.problem.placing.push_back(std::move(placing));
  }
  add_left_out(graph.tensors.size());
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
    if (b + 1 < table.tensors.size() && table.tensors[b + 1] == table.tensors[b]) ++b;
  }
  return PlanOf(table.problem, std::move(residencies));
}

}  // namespace berth
