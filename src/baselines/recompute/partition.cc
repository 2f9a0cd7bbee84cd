// PyTorch's partition of a training graph into a forward and a backward pass within a budget for what is
// saved in between (torch/_functorch/partitioners.py: min_cut_rematerialization_partition, with
// activation_memory_budget; its knapsack by dynamic programming).
//
// A knapsack picks what to save of the stores that the backward pass uses: the dearest within a share of
// their bytes. From what is left a minimum cut saves the fewest bytes that suffice to compute the others. A
// store is a node whose capacity is its bytes; flow comes from what must not be computed again, goes
// from what is found to what is made of it, and ends where the backward pass uses something. So every
// path that brings a use its value meets something saved.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "base/wide.h"
#include "baselines/recompute/methods.h"

namespace berth::internal::baselines {
namespace {

constexpr int kBins = 10'000;  // Of the knapsack's memory, as in PyTorch.
constexpr int kStep = 5;       // Between two budgets, in per cent.

// Saving `bytes` makes it needless to run operators of `cost` again.
struct Item {
  std::size_t store = 0;
  Bytes bytes = 0;
  std::int64_t cost = 0;
};

std::vector<Item> ItemsOf(const Work& work, const Passes& passes) {
  std::vector<Item> items;
  for (std::size_t s = 0; s < work.stores.size(); ++s) {
    if (passes.may_drop[s] == 0 || passes.needed[s] == 0) continue;
    Item item = {s, work.stores[s].size, 0};
    for (const std::size_t p : work.stores[s].writers) item.cost += work.cost[p];
    items.push_back(item);
  }
  return items;
}

// The choice of the greatest cost for each number of bins of memory, each item rounded up to whole bins.
class Knapsack {
 public:
  explicit Knapsack(const std::vector<Item>& items) : items_(items) {
    Wide total = 0;
    for (const Item& item : items) total += item.bytes;
    std::vector<std::int64_t> best(kBins + 1, 0);
    for (const Item& item : items) {
      const Wide bins = total == 0 ? Wide{0} : (Wide{item.bytes} * kBins + total - 1) / total;
      bins_.push_back(static_cast<int>(bins));
      std::vector<char>& takes = takes_.emplace_back(kBins + 1, 0);
      for (int room = kBins; room >= bins_.back(); --room) {
        const std::int64_t with = best[static_cast<std::size_t>(room - bins_.back())] + item.cost;
        if (with <= best[static_cast<std::size_t>(room)]) continue;
        best[static_cast<std::size_t>(room)] = with;
        takes[static_cast<std::size_t>(room)] = 1;
      }
    }
  }

  // By item, within `percent` of all their bytes.
  [[nodiscard]] std::vector<char> Choose(int percent) const {
    std::vector<char> chosen(items_.size(), percent == 100 ? 1 : 0);
    if (percent == 100) return chosen;
    int room = kBins / 100 * percent;
    for (std::size_t i = items_.size(); i-- > 0;) {
      chosen[i] = takes_[i][static_cast<std::size_t>(room)];
      if (chosen[i] != 0) room -= bins_[i];
    }
    return chosen;
  }

 private:
  const std::vector<Item>& items_;
  std::vector<int> bins_;
  std::vector<std::vector<char>> takes_;  // By item, then by room.
};

// A minimum cut by augmenting paths, shortest first (Edmonds and Karp).
class Network {
 public:
  static constexpr Bytes kUnlimited = std::numeric_limits<Bytes>::max() / 4;
  explicit Network(std::size_t nodes) : edges_from_(nodes) {}

  void Connect(std::size_t from, std::size_t to, Bytes capacity) {
    edges_from_[from].push_back(edges_.size());
    edges_.push_back({to, capacity});
    edges_from_[to].push_back(edges_.size());
    edges_.push_back({from, 0});
  }

  // By node, whether it is on the source's side. Every path has to have a limit.
  [[nodiscard]] std::vector<char> Cut(std::size_t source, std::size_t sink) {
    for (;;) {
      std::vector<std::size_t> came(edges_from_.size(), kNone);
      std::vector<char> reached(edges_from_.size(), 0);
      std::vector<std::size_t> queue = {source};
      reached[source] = 1;
      for (std::size_t k = 0; k < queue.size() && reached[sink] == 0; ++k) {
        for (const std::size_t e : edges_from_[queue[k]]) {
          if (edges_[e].left == 0 || reached[edges_[e].to] != 0) continue;
          reached[edges_[e].to] = 1;
          came[edges_[e].to] = e;
          queue.push_back(edges_[e].to);
        }
      }
      if (reached[sink] == 0) return reached;
      Bytes flow = kUnlimited;
      for (std::size_t v = sink; v != source; v = edges_[came[v] ^ 1].to) {
        flow = std::min(flow, edges_[came[v]].left);
      }
      for (std::size_t v = sink; v != source; v = edges_[came[v] ^ 1].to) {
        edges_[came[v]].left -= flow;
        edges_[came[v] ^ 1].left += flow;
      }
    }
  }

 private:
  struct Edge {
    std::size_t to = 0;
    Bytes left = 0;
  };
  std::vector<Edge> edges_;
  std::vector<std::vector<std::size_t>> edges_from_;
};

// By store, whether it is dropped when what is `banned` is not computed again.
std::vector<char> DropByCut(const Work& work, const Passes& passes,
                            const std::vector<char>& banned) {
  const std::size_t n = work.stores.size();
  const auto in = [](std::size_t s) { return 2 * s; };
  const auto out = [](std::size_t s) { return 2 * s + 1; };
  const std::size_t source = 2 * n;
  const std::size_t sink = 2 * n + 1;
  Network network(2 * n + 2);
  const auto is_forward = [&](std::size_t s) {
    return !work.stores[s].given && work.stores[s].writers.front() < passes.backward;
  };
  for (std::size_t s = 0; s < n; ++s) {
    if (!is_forward(s)) continue;
    network.Connect(in(s), out(s), work.stores[s].size);
    if (passes.needed[s] != 0) network.Connect(out(s), sink, Network::kUnlimited);
    if (passes.may_drop[s] == 0 || banned[s] != 0) {
      network.Connect(source, in(s), Network::kUnlimited);
      continue;
    }
    for (const std::size_t p : work.stores[s].writers) {
      for (const Use& use : work.uses[p]) {
        if (use.finds == kMakes || use.store == s || !is_forward(use.store)) continue;
        network.Connect(out(use.store), in(s), Network::kUnlimited);
      }
    }
  }
  const std::vector<char> side = network.Cut(source, sink);
  std::vector<char> dropped(n, 0);
  for (std::size_t s = 0; s < n; ++s) {
    const bool saved = side[in(s)] != 0 && side[out(s)] == 0;
    dropped[s] = is_forward(s) && passes.may_drop[s] != 0 && !saved ? 1 : 0;
  }
  return dropped;
}

}  // namespace

Found PartitionByBudget(const Work& work, const Passes& passes, Bytes capacity, Budget& budget) {
  const std::vector<Item> items = ItemsOf(work, passes);
  const Knapsack knapsack(items);
  Found best;
  std::int64_t best_cost = 0;
  for (int percent = 100; percent >= 0 && budget.SpendNode(); percent -= kStep) {
    const std::vector<char> chosen = knapsack.Choose(percent);
    std::vector<char> banned(work.stores.size(), 0);
    for (std::size_t i = 0; i < items.size(); ++i) banned[items[i].store] = chosen[i];
    Found sequence = MakeAgain(work, passes, DropByCut(work, passes, banned), {});
    if (!sequence) continue;
    const Trace trace = Run(work, *sequence, /*linked=*/false);
    if (trace.peak > capacity || (best && trace.cost >= best_cost)) continue;
    best = std::move(sequence);
    best_cost = trace.cost;
  }
  return best;
}

}  // namespace berth::internal::baselines
