#include "testing/graph_memories_oracle.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/random.h"
#include "testing/memories_oracle.h"

namespace berth::internal {
namespace {

TensorIndex Base(const Graph& graph, TensorIndex t) {
  return graph.tensors[t].alias_of ? *graph.tensors[t].alias_of : t;
}

bool Counts(const Tensor& tensor, const Counting& counting) {
  if (tensor.alias_of || tensor.bytes == 0) return false;
  if (tensor.kind == TensorKind::kInput) return counting.inputs;
  const bool weight = tensor.kind == TensorKind::kParameter || tensor.kind == TensorKind::kConstant;
  return !weight || counting.parameters;
}

// Reads and writes of one operator, as {base, bytes} each.
void FindMoves(const Graph& graph, const Operator& op, std::vector<Placing>& uses) {
  bool only_views = !op.outputs.empty() && op.mutates.empty();
  for (const TensorIndex t : op.outputs) only_views = only_views && graph.tensors[t].alias_of;
  if (only_views) return;
  for (const TensorIndex t : std::set<TensorIndex>(op.inputs.begin(), op.inputs.end())) {
    Placing& use = uses[Base(graph, t)];
    use.bytes_read += graph.tensors[t].bytes;
    ++use.accesses;
  }
  for (const TensorIndex t : op.outputs) {
    if (graph.tensors[t].alias_of) continue;
    uses[t].bytes_written += graph.tensors[t].bytes;
    ++uses[t].accesses;
  }
  for (const TensorIndex base : op.mutates) {
    Bytes views = 0;
    for (const TensorIndex t : op.outputs) {
      if (graph.tensors[t].alias_of && *graph.tensors[t].alias_of == base) {
        views += graph.tensors[t].bytes;
      }
    }
    const Bytes all = graph.tensors[base].bytes;
    uses[base].bytes_written += views == 0 ? all : std::min(all, views);
    ++uses[base].accesses;
  }
}

std::int64_t PriceIn(const Placing& use, const Memory& memory) {
  const auto up = [](std::int64_t count, const Rate& rate) {
    return (count * rate.cost + rate.bytes - 1) / rate.bytes;
  };
  return up(use.bytes_read, memory.read) + up(use.bytes_written, memory.write) +
         use.accesses * memory.access;
}

// Every order of the operators that are left, after those of `order`.
template <typename Visit>
void ForEachOrder(const std::vector<std::set<OperatorIndex>>& before, Order& order,
                  std::vector<bool>& done, Visit visit) {
  if (order.size() == before.size()) return visit(order);
  for (OperatorIndex v = 0; v < before.size(); ++v) {
    const bool ready = !done[v] && std::all_of(before[v].begin(), before[v].end(),
                                               [&](OperatorIndex u) { return done[u]; });
    if (!ready) continue;
    done[v] = true;
    order.push_back(v);
    ForEachOrder(before, order, done, visit);
    order.pop_back();
    done[v] = false;
  }
}

Bytes Highest(const MemoryProblem& problem) {
  Bytes sum = 0;
  for (const Buffer& buffer : problem.table.buffers) sum += buffer.size + buffer.alignment;
  for (const Memory& memory : problem.memories) {
    sum += memory.alignment;
    for (const Reserved& reserved : memory.reserved) sum = std::max(sum, sum + reserved.upper);
  }
  return sum;
}

}  // namespace

MemoryProblem OracleTable(const Graph& graph, const Order& order, const Counting& counting,
                          const GraphMemories& memories) {
  const std::size_t count = graph.tensors.size();
  const auto steps = static_cast<Step>(std::max<std::size_t>(1, order.size()));
  std::vector<std::optional<Step>> first(count);
  std::vector<Step> end(count, 0);
  std::vector<Placing> uses(count);
  std::vector<bool> made(count, false);
  for (std::size_t s = 0; s < order.size(); ++s) {
    const Operator& op = graph.operators[order[s]];
    FindMoves(graph, op, uses);
    const auto touch = [&](TensorIndex t) {
      const TensorIndex base = Base(graph, t);
      if (!first[base]) first[base] = static_cast<Step>(s);
      end[base] = static_cast<Step>(s) + 1;
    };
    for (const TensorIndex t : op.inputs) touch(t);
    for (const TensorIndex t : op.mutates) touch(t);
    for (const TensorIndex t : op.outputs) {
      touch(t);
      made[t] = true;
    }
  }
  MemoryProblem problem;
  problem.memories = memories.memories;
  for (TensorIndex t = 0; t < count; ++t) {
    const Tensor& tensor = graph.tensors[t];
    if (!Counts(tensor, counting) || !first[t]) continue;
    bool stays = tensor.kind == TensorKind::kParameter || tensor.kind == TensorKind::kConstant;
    for (TensorIndex other = 0; other < count; ++other) {
      stays = stays || (graph.tensors[other].output && Base(graph, other) == t);
    }
    problem.table.buffers.push_back({tensor.name, made[t] ? *first[t] : 0, stays ? steps : end[t],
                                     tensor.bytes, tensor.alignment});
    Placing& placing = problem.placing.emplace_back(uses[t]);
    if (memories.allowed.empty()) continue;
    for (const std::size_t m : memories.allowed[t]) {
      placing.candidates.push_back({m, PriceIn(uses[t], memories.memories[m])});
    }
  }
  return problem;
}

PlanCost OracleOfOrder(const Graph& graph, const Order& order, const Counting& counting,
                       const GraphMemories& memories) {
  const MemoryProblem problem = OracleTable(graph, order, counting, memories);
  return OracleMemories(problem, Highest(problem));
}

PlanCost OracleGraphMemories(const Graph& graph, const Counting& counting,
                             const GraphMemories& memories) {
  std::vector<std::set<OperatorIndex>> before(graph.operators.size());
  std::vector<std::optional<OperatorIndex>> maker(graph.tensors.size());
  for (OperatorIndex v = 0; v < graph.operators.size(); ++v) {
    for (const TensorIndex t : graph.operators[v].outputs) maker[t] = v;
  }
  for (OperatorIndex v = 0; v < graph.operators.size(); ++v) {
    const Operator& op = graph.operators[v];
    for (const TensorIndex t : op.inputs) {
      if (maker[t]) before[v].insert(*maker[t]);
    }
    for (const TensorIndex t : op.mutates) {
      if (maker[t]) before[v].insert(*maker[t]);
    }
    before[v].insert(op.after.begin(), op.after.end());
  }
  PlanCost best;
  best.unplaced = std::numeric_limits<std::size_t>::max();
  const bool by_step =
      std::any_of(memories.memories.begin(), memories.memories.end(), [](const Memory& memory) {
        return std::any_of(
            memory.reserved.begin(), memory.reserved.end(),
            [](const Reserved& each) { return each.start > -kMaxStep || each.end < kMaxStep; });
      });
  std::set<std::vector<std::vector<bool>>> known;  // Which tensors are live together.
  Order order;
  std::vector<bool> done(graph.operators.size(), false);
  ForEachOrder(before, order, done, [&](const Order& each) {
    const MemoryProblem problem = OracleTable(graph, each, counting, memories);
    const auto& buffers = problem.table.buffers;
    std::vector<std::vector<bool>> together(buffers.size());
    for (std::size_t a = 0; a < buffers.size(); ++a) {
      for (std::size_t b = 0; b < a; ++b) {
        together[a].push_back(buffers[a].start < buffers[b].end &&
                              buffers[b].start < buffers[a].end);
      }
    }
    if (!by_step && !known.insert(together).second) return;
    best = std::min(best, OracleMemories(problem, Highest(problem)));
  });
  return best;
}

GraphMemories RandomGraphMemories(const Graph& graph, std::uint64_t seed) {
  Random random(seed * 7919 + 17);
  Bytes most = 1;
  for (const Tensor& tensor : graph.tensors) most = std::max(most, tensor.bytes);
  GraphMemories memories;
  const std::int64_t count = random.Uniform(2, 3);
  for (std::int64_t m = 0; m < count; ++m) {
    Memory memory;
    memory.name = "m" + std::to_string(m);
    if (random.Chance(m + 1 < count ? 0.95 : 0.4)) {
      memory.capacity = random.Uniform(most, 2 * most + 2);
    }
    if (random.Chance(0.15)) memory.alignment = 2;
    // Mostly the later, the slower.
    memory.read = {random.Uniform(0, 2) + 2 * m, random.Uniform(1, 2)};
    memory.write = {random.Uniform(0, 2) + 2 * m, random.Uniform(1, 2)};
    memory.access = random.Uniform(0, 2);
    if (random.Chance(0.2) && memory.capacity) {
      const Bytes lower = random.Uniform(0, *memory.capacity - 1);
      Reserved reserved{lower, lower + 1};
      if (random.Chance(0.5)) {
        reserved.start = random.Uniform(0, 3);
        reserved.end = reserved.start + random.Uniform(1, 3);
      }
      memory.reserved.push_back(reserved);
    }
    memories.memories.push_back(std::move(memory));
  }
  if (random.Chance(0.4)) {
    memories.allowed.resize(graph.tensors.size());
    for (std::vector<std::size_t>& allowed : memories.allowed) {
      if (random.Chance(0.6)) continue;
      for (std::size_t m = 0; m < memories.memories.size(); ++m) {
        if (random.Chance(0.6)) allowed.push_back(m);
      }
    }
  }
  return memories;
}

}  // namespace berth::internal
