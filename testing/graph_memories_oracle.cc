#include "testing/graph_memories_oracle.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <map>
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

// For each operator those that run before it.
std::vector<std::set<OperatorIndex>> MustPrecede(const Graph& graph) {
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
  return before;
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
  const std::vector<std::set<OperatorIndex>> before = MustPrecede(graph);
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

namespace {

// Where a tensor is, and what it has been used for since it is there.
struct Place {
  std::size_t memory = 0;
  Bytes offset = 0;  // -1 in a memory without a capacity: there is room for everything.
  Bytes read = 0;
  Bytes written = 0;
  std::int64_t accesses = 0;
  friend auto operator<=>(const Place&, const Place&) = default;
};

class MovesOracle {
 public:
  MovesOracle(const Graph& graph, const Order& order, const Counting& counting,
              const GraphMemories& memories)
      : graph_(graph),
        order_(order),
        memories_(memories),
        buffers_(OracleTable(graph, order, counting, memories).table.buffers) {
    for (const Buffer& buffer : buffers_) {
      TensorIndex t = 0;
      while (graph.tensors[t].name != buffer.id) ++t;
      tensors_.push_back(t);
    }
  }

  std::optional<std::int64_t> Least() {
    std::map<State, std::int64_t> states = {{State(2 * buffers_.size()), 0}};
    const auto steps = static_cast<Step>(std::max<std::size_t>(1, order_.size()));
    for (Step s = 0; s < steps; ++s) {
      next_.clear();
      for (const auto& [state, cost] : states) Advance(state, state, cost, s, 0);
      states = std::move(next_);
    }
    std::optional<std::int64_t> least;
    for (const auto& [state, cost] : states) {
      std::int64_t sum = cost;
      for (const auto& place : state) sum += place ? CostOf(*place) : 0;
      if (!least || sum < *least) least = sum;
    }
    return least;
  }

 private:
  // By buffer; then the copies beside them, of weights that are copied for a while.
  using State = std::vector<std::optional<Place>>;

  [[nodiscard]] std::int64_t CostOf(const Place& place) const {
    Placing use;
    use.bytes_read = place.read;
    use.bytes_written = place.written;
    use.accesses = place.accesses;
    return PriceIn(use, memories_.memories[place.memory]);
  }
  [[nodiscard]] bool IsLive(std::size_t b, Step s) const {
    return buffers_[b].start <= s && s < buffers_[b].end;
  }
  [[nodiscard]] bool Clash(std::size_t a, const Place& x, std::size_t b, const Place& y) const {
    return x.memory == y.memory && x.offset >= 0 && x.offset < y.offset + buffers_[b].size &&
           y.offset < x.offset + buffers_[a].size;
  }
  // Calls visit(place) for every place that the buffer may have.
  template <typename Visit>
  void ForEachPlace(std::size_t b, Visit visit) const {
    const TensorIndex t = tensors_[b];
    for (std::size_t m = 0; m < memories_.memories.size(); ++m) {
      if (!memories_.allowed.empty() && !memories_.allowed[t].empty()) {
        const auto& allowed = memories_.allowed[t];
        if (std::find(allowed.begin(), allowed.end(), m) == allowed.end()) continue;
      }
      const Memory& memory = memories_.memories[m];
      if (!memory.capacity) {
        visit(Place{m, -1});
        continue;
      }
      for (Bytes o = 0; o + buffers_[b].size <= *memory.capacity; ++o) {
        if (o % memory.alignment == 0 && o % buffers_[b].alignment == 0) visit(Place{m, o});
      }
    }
  }

  // Decides for buffer b and those after it where they are at step s. `before` is the state of the
  // step before, `state` what is decided so far.
  void Advance(const State& before, State state, std::int64_t cost, Step s, std::size_t b) {
    if (b == buffers_.size()) return Stage(before, std::move(state), cost, s, b);
    const auto& from = before[b];
    if (!IsLive(b, s)) {
      if (from) cost += CostOf(*from);
      state[b].reset();
      return Advance(before, std::move(state), cost, s, b + 1);
    }
    if (!from) {
      ForEachPlace(b, [&](const Place& place) {
        state[b] = place;
        Advance(before, state, cost, s, b + 1);
      });
      return;
    }
    state[b] = from;
    Advance(before, state, cost, s, b + 1);
    const TensorKind kind = graph_.tensors[tensors_[b]].kind;
    if (kind == TensorKind::kParameter || kind == TensorKind::kConstant) return;
    Place left = *from;
    left.read += buffers_[b].size;
    ++left.accesses;
    ForEachPlace(b, [&](Place place) {
      if (place.memory == from->memory) return;
      // No target shares a byte with what is there before and after, nor with another target.
      for (std::size_t other = 0; other < buffers_.size(); ++other) {
        if (other == b || !before[other] || !IsLive(other, s)) continue;
        if (Clash(b, place, other, *before[other])) return;
        if (other < b && Clash(b, place, other, *state[other])) return;
      }
      place.written += buffers_[b].size;
      ++place.accesses;
      state[b] = place;
      Advance(before, state, cost + CostOf(left), s, b + 1);
    });
  }

  [[nodiscard]] std::size_t BufferOf(std::size_t entry) const { return entry % buffers_.size(); }

  [[nodiscard]] bool MayBeStaged(std::size_t b) const {
    const TensorKind kind = graph_.tensors[tensors_[b]].kind;
    for (const Operator& op : graph_.operators) {
      for (const TensorIndex t : op.mutates) {
        if (Base(graph_, t) == tensors_[b]) return false;
      }
    }
    return kind == TensorKind::kParameter || kind == TensorKind::kConstant;
  }

  // Decides for entry e and those after it whether there is a copy beside the original.
  void Stage(const State& before, State state, std::int64_t cost, Step s, std::size_t e) {
    if (e == state.size()) {
      if (CopiesAreSound(before, state, s)) Finish(std::move(state), cost, s);
      return;
    }
    const std::size_t b = BufferOf(e);
    const auto& there = before[e];
    if (there) {
      state[e] = there;
      Stage(before, state, cost, s, e + 1);
      cost += CostOf(*there);
      state[e].reset();
    }
    Stage(before, state, cost, s, e + 1);
    if (memories_.stage_in.empty() || s == 0 || !state[b] || !MayBeStaged(b)) return;
    State with = state;
    with[b]->read += buffers_[b].size;
    ++with[b]->accesses;
    for (const std::size_t m : memories_.stage_in) {
      if (m == state[b]->memory) continue;
      const Memory& memory = memories_.memories[m];
      const Bytes last = memory.capacity ? *memory.capacity - buffers_[b].size : -1;
      for (Bytes o = memory.capacity ? 0 : -1; o <= last; ++o) {
        if (o > 0 && (o % memory.alignment != 0 || o % buffers_[b].alignment != 0)) continue;
        with[e] = Place{m, o, 0, buffers_[b].size, 1};
        Stage(before, with, cost, s, e + 1);
      }
    }
  }

  // Targets of copies beside originals share no byte with what is there before and after, nor with what is
  // copied; nor do other targets with copies that stay.
  [[nodiscard]] bool CopiesAreSound(const State& before, const State& state, Step s) const {
    const auto same = [&](std::size_t i) {
      return state[i] && before[i] && state[i]->memory == before[i]->memory &&
             state[i]->offset == before[i]->offset;
    };
    for (std::size_t i = 0; i < state.size(); ++i) {
      const bool staged = i >= buffers_.size();
      const bool is_target = state[i] && !same(i) && (staged || before[i]);
      if (!is_target) continue;
      for (std::size_t j = 0; j < state.size(); ++j) {
        if (j == i || !before[j]) continue;
        const bool is_there = j >= buffers_.size() ? same(j) : IsLive(j, s);
        if (is_there && Clash(BufferOf(i), *state[i], BufferOf(j), *before[j])) return false;
      }
    }
    return true;
  }

  void Finish(State state, std::int64_t cost, Step s) {
    for (std::size_t a = 0; a < state.size(); ++a) {
      if (!state[a]) continue;
      for (std::size_t b = 0; b < a; ++b) {
        if (state[b] && Clash(BufferOf(a), *state[a], BufferOf(b), *state[b])) return;
      }
      for (const Reserved& reserved : memories_.memories[state[a]->memory].reserved) {
        if (s < reserved.start || s >= reserved.end || state[a]->offset < 0) continue;
        if (state[a]->offset < reserved.upper &&
            reserved.lower < state[a]->offset + buffers_[BufferOf(a)].size) {
          return;
        }
      }
    }
    if (static_cast<std::size_t>(s) < order_.size()) {
      std::vector<Placing> uses(graph_.tensors.size());
      FindMoves(graph_, graph_.operators[order_[static_cast<std::size_t>(s)]], uses);
      for (std::size_t b = 0; b < buffers_.size(); ++b) {
        const Placing& use = uses[tensors_[b]];
        if (!state[b]) continue;
        Place& place = *state[state[b + buffers_.size()] ? b + buffers_.size() : b];
        place.read += use.bytes_read;
        place.written += use.bytes_written;
        place.accesses += use.accesses;
      }
    }
    const auto [at, added] = next_.emplace(std::move(state), cost);
    if (!added) at->second = std::min(at->second, cost);
  }

  const Graph& graph_;
  const Order& order_;
  const GraphMemories& memories_;
  std::vector<Buffer> buffers_;
  std::vector<TensorIndex> tensors_;
  std::map<State, std::int64_t> next_;
};

}  // namespace

std::optional<std::int64_t> OracleOfOrderWithMoves(const Graph& graph, const Order& order,
                                                   const Counting& counting,
                                                   const GraphMemories& memories) {
  return MovesOracle(graph, order, counting, memories).Least();
}

std::optional<std::int64_t> OracleWithMoves(const Graph& graph, const Counting& counting,
                                            const GraphMemories& memories) {
  std::optional<std::int64_t> best;
  Order order;
  std::vector<bool> done(graph.operators.size(), false);
  ForEachOrder(MustPrecede(graph), order, done, [&](const Order& each) {
    const auto least = OracleOfOrderWithMoves(graph, each, counting, memories);
    if (least && (!best || *least < *best)) best = least;
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
