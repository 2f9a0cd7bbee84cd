#include "testing/spill_oracle.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/check.h"

namespace berth::internal {
namespace {

// A counted tensor with bytes of its own.
struct Item {
  Bytes bytes = 0;
  bool given = false;
  bool result = false;
  std::uint32_t users = 0;    // Operators, as bits; without its creator.
  std::uint32_t writers = 0;  // All operators that give it a value.
};

struct Work {
  std::uint32_t needs = 0;  // Items that must be in memory, as bits.
  std::uint32_t makes = 0;
  std::uint32_t writes = 0;  // Subset of `needs`.
  std::uint32_t after = 0;   // Operators.
};

struct World {
  std::vector<Item> items;
  std::vector<Work> work;
};

// The items that `op` needs, makes and writes, and the operators that run before it.
Work WorkOf(const Graph& graph, const Operator& op, const std::vector<int>& item,
            const std::vector<std::size_t>& maker) {
  const std::size_t n = graph.operators.size();
  Work work;
  const auto bit = [&](TensorIndex t) {
    return item[t] < 0 ? 0U : 1U << static_cast<unsigned>(item[t]);
  };
  for (const TensorIndex t : op.outputs) {
    if (t == BaseOf(graph, t)) work.makes |= bit(t);
  }
  for (const TensorIndex t : op.outputs) work.needs |= bit(BaseOf(graph, t));
  for (const TensorIndex t : op.inputs) work.needs |= bit(BaseOf(graph, t));
  for (const TensorIndex t : op.mutates) {
    work.needs |= bit(t);
    work.writes |= bit(t);
  }
  work.needs &= ~work.makes;
  work.writes &= work.needs;
  for (const TensorIndex t : op.inputs) {
    if (maker[t] != n) work.after |= 1U << maker[t];
  }
  for (const TensorIndex t : op.mutates) {
    if (maker[t] != n) work.after |= 1U << maker[t];
  }
  for (const OperatorIndex u : op.after) work.after |= 1U << u;
  return work;
}

World Read(const Graph& graph, const Counting& counting) {
  World world;
  const std::size_t n = graph.operators.size();
  std::vector<std::size_t> maker(graph.tensors.size(), n);
  for (std::size_t v = 0; v < n; ++v) {
    for (const TensorIndex t : graph.operators[v].outputs) maker[t] = v;
  }
  std::vector<int> item(graph.tensors.size(), -1);
  for (TensorIndex t = 0; t < graph.tensors.size(); ++t) {
    const Tensor& tensor = graph.tensors[t];
    if (tensor.alias_of || tensor.bytes == 0) continue;
    const bool weight =
        tensor.kind == TensorKind::kParameter || tensor.kind == TensorKind::kConstant;
    if (weight && !counting.parameters) continue;
    if (tensor.kind == TensorKind::kInput && !counting.inputs) continue;
    item[t] = static_cast<int>(world.items.size());
    Item made;
    made.bytes = tensor.bytes;
    made.given = maker[t] == n;
    world.items.push_back(made);
  }
  BERTH_CHECK(world.items.size() <= 30 && n <= 16);
  for (TensorIndex t = 0; t < graph.tensors.size(); ++t) {
    const int i = item[BaseOf(graph, t)];
    if (graph.tensors[t].output && i >= 0) world.items[static_cast<std::size_t>(i)].result = true;
  }
  for (std::size_t v = 0; v < n; ++v) {
    const Work work = WorkOf(graph, graph.operators[v], item, maker);
    for (std::size_t i = 0; i < world.items.size(); ++i) {
      if ((work.needs >> i & 1) != 0) world.items[i].users |= 1U << v;
      if (((work.makes | work.writes) >> i & 1) != 0) world.items[i].writers |= 1U << v;
      if ((work.writes >> i & 1) != 0 && world.items[i].given) world.items[i].result = true;
    }
    world.work.push_back(work);
  }
  return world;
}

// The executed operators; per item: whether it is in memory, whether its copy off chip has the
// latest value, and whether an input has been retrieved before.
struct State {
  std::uint32_t run = 0;
  std::uint32_t resident = 0;
  std::uint32_t copied = 0;
  std::uint32_t brought = 0;
  friend bool operator==(const State&, const State&) = default;
};

struct Hash {
  std::size_t operator()(const State& s) const {
    std::uint64_t h = 0;
    for (const std::uint32_t part : {s.run, s.resident, s.copied, s.brought}) {
      h = (h ^ part) * 0x9e3779b97f4a7c15u;
      h ^= h >> 32;
    }
    return static_cast<std::size_t>(h);
  }
};

}  // namespace

Bytes OracleLeastMemory(const Graph& graph, const Counting& counting) {
  const World world = Read(graph, counting);
  Bytes least = 0;
  for (const Work& work : world.work) {
    Bytes sum = 0;
    for (std::size_t i = 0; i < world.items.size(); ++i) {
      if (((work.needs | work.makes) >> i & 1) != 0) sum += world.items[i].bytes;
    }
    least = std::max(least, sum);
  }
  return least;
}

std::optional<Bytes> OracleTraffic(const Graph& graph, Bytes capacity, const Counting& counting,
                                   const Order* order) {
  const World world = Read(graph, counting);
  const std::size_t n = world.work.size();
  const std::size_t items = world.items.size();
  const auto bytes_of = [&](std::uint32_t set) {
    Bytes sum = 0;
    for (std::size_t i = 0; i < items; ++i) {
      if ((set >> i & 1) != 0) sum += world.items[i].bytes;
    }
    return sum;
  };

  State start;
  for (std::size_t i = 0; i < items; ++i) {
    if (world.items[i].given) start.copied |= 1U << i;
  }
  using Entry = std::pair<Bytes, std::size_t>;
  std::unordered_map<State, std::size_t, Hash> number;
  std::vector<State> states;
  std::vector<Bytes> cost;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
  const auto reach = [&](const State& state, Bytes at) {
    const auto [found, is_new] = number.emplace(state, states.size());
    if (is_new) {
      states.push_back(state);
      cost.push_back(at);
    } else if (cost[found->second] <= at) {
      return;
    }
    cost[found->second] = at;
    queue.emplace(at, found->second);
  };
  reach(start, 0);
  const std::uint32_t all = n == 0 ? 0 : (1U << n) - 1;
  while (!queue.empty()) {
    const auto [at, index] = queue.top();
    queue.pop();
    if (at > cost[index]) continue;
    const State state = states[index];
    if (state.run == all) return at;
    const Bytes used = bytes_of(state.resident);
    for (std::size_t i = 0; i < items; ++i) {
      const Item& item = world.items[i];
      const std::uint32_t bit = 1U << i;
      if ((state.resident & bit) != 0) {
        State next = state;
        if ((state.copied & bit) != 0) {
          next.resident &= ~bit;  // Drop.
          reach(next, at);
        } else {
          next.copied |= bit;  // Write; free for a result with its last value.
          const bool free = item.result && (item.writers & ~state.run) == 0;
          reach(next, free ? at : at + item.bytes);
        }
      } else if ((state.copied & bit) != 0 && (item.users & ~state.run) != 0 &&
                 used + item.bytes <= capacity) {
        State next = state;
        next.resident |= bit;  // Retrieve.
        const bool first = item.given && (state.brought & bit) == 0;
        if (item.given) next.brought |= bit;
        reach(next, first ? at : at + item.bytes);
      }
    }
    for (std::size_t v = 0; v < n; ++v) {
      const Work& work = world.work[v];
      if ((state.run >> v & 1) != 0 || (work.after & ~state.run) != 0 ||
          (work.needs & ~state.resident) != 0 || used + bytes_of(work.makes) > capacity) {
        continue;
      }
      if (order != nullptr) {
        bool next_in_order = true;
        for (const OperatorIndex u : *order) {
          if (u == v) break;
          if ((state.run >> u & 1) == 0) next_in_order = false;
        }
        if (!next_in_order) continue;
      }
      State next = state;
      next.run |= 1U << v;
      next.resident |= work.makes;
      next.copied &= ~(work.makes | work.writes);
      for (std::size_t i = 0; i < items; ++i) {
        if ((world.items[i].users & ~next.run) == 0) {
          // Dead, or a result whose write is paid: one state for all cases that are equal from here
          // on.
          const std::uint32_t bit = 1U << i;
          const bool made = (world.items[i].writers & next.run) != 0 || world.items[i].given;
          if (made) {
            next.resident &= ~bit;
            next.copied &= ~bit;
            next.brought &= ~bit;
          }
        }
      }
      reach(next, at);
    }
  }
  return std::nullopt;
}

}  // namespace berth::internal
