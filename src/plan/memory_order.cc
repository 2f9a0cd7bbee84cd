#include "plan/memory_order.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "base/random.h"
#include "berth/memories.h"
#include "graph/edges.h"

namespace berth::internal::plan {
namespace {

// Operators that are moved together, and estimates in all.
constexpr std::size_t kMostTogether = 6;
constexpr std::int64_t kMostEstimates = 50'000;
constexpr std::int64_t kMostTries = 2'000'000;  // Moves looked at, possible or not.
constexpr int kKicks = 4;                       // Moves between two climbs.
constexpr std::size_t kMostOperators = 4096;
constexpr double kUnplaced = 1e18;

struct Item {
  Bytes size = 0;
  std::vector<std::pair<double, std::size_t>> places;  // Cost and memory, the cheapest first.
  std::optional<OperatorIndex> creator;
  std::vector<OperatorIndex> users;
  bool to_end = false;
};

class Climber {
 public:
  Climber(const Graph& graph, const Counting& counting, const GraphMemories& memories,
          const Order& start, Budget& budget)
      : budget_(budget),
        order_(start),
        position_(start.size()),
        before_(start.size()),
        after_(start.size()) {
    const std::vector<OperatorIndex> makers = Makers(graph);
    for (OperatorIndex v = 0; v < start.size(); ++v) {
      ForEachPredecessor(graph, makers, v, [&](OperatorIndex u) {
        before_[v].push_back(u);
        after_[u].push_back(v);
      });
    }
    FindItems(graph, TableOf(graph, start, counting, memories), makers);
    for (const Memory& memory : memories.memories) {
      rooms_.push_back(memory.capacity.value_or(kMaxBytes));
    }
    loads_.assign(rooms_.size(), std::vector<Bytes>(std::max<std::size_t>(1, start.size())));
  }

  // Climbs, and climbs again from a few moves away from the best order, as long as there is time.
  Order Run() {
    best_ = Estimate();
    Climb();
    Order best_order = order_;
    double least = best_;
    Random random(1);
    while (!Ended() && order_.size() > 2) {
      order_ = best_order;
      best_ = Kick(random);
      Climb();
      if (best_ >= least) continue;
      least = best_;
      best_order = order_;
    }
    return best_order;
  }

 private:
  [[nodiscard]] bool Ended() {
    return estimates_ >= kMostEstimates || ++tries_ >= kMostTries || budget_.TimeIsUp();
  }

  void Climb() {
    for (bool improved = true; improved;) {
      improved = false;
      for (std::size_t length = 1; length <= kMostTogether; ++length) {
        for (std::size_t i = 0; i + length <= order_.size(); ++i) {
          for (const bool forwards : {false, true}) {
            if (Ended()) return;
            improved = TryMove(i, length, forwards) || improved;
          }
        }
      }
    }
  }

  // A few moves that need not help. The estimate after them.
  double Kick(Random& random) {
    for (std::size_t s = 0; s < order_.size(); ++s) position_[order_[s]] = s;
    for (int k = 0; k < kKicks; ++k) {
      const auto last = static_cast<std::int64_t>(order_.size()) - 1;
      const auto i = static_cast<std::size_t>(random.Uniform(0, last));
      const auto most = static_cast<std::int64_t>(std::min(kMostTogether, order_.size() - i));
      best_ = std::numeric_limits<double>::infinity();
      static_cast<void>(
          TryMove(i, static_cast<std::size_t>(random.Uniform(1, most)), random.Chance(0.5)));
    }
    return Estimate();
  }

  void FindItems(const Graph& graph, const TensorTable& table,
                 const std::vector<OperatorIndex>& makers) {
    const std::vector<bool> results = BasesOfOutputs(graph);
    std::vector<std::size_t> item_of(graph.tensors.size(), table.tensors.size());
    for (std::size_t i = 0; i < table.tensors.size(); ++i) {
      const TensorIndex t = table.tensors[i];
      const Tensor& tensor = graph.tensors[t];
      item_of[t] = i;
      Item& item = items_.emplace_back();
      item.size = tensor.bytes;
      if (makers[t] != kNoOperator) item.creator = makers[t];
      item.to_end = results[t] || tensor.kind == TensorKind::kParameter ||
                    tensor.kind == TensorKind::kConstant;
      const Placing& placing = table.problem.placing[i];
      for (const Candidate& candidate : placing.candidates) {
        item.places.emplace_back(static_cast<double>(candidate.cost), candidate.memory);
      }
      for (std::size_t m = 0; m < table.problem.memories.size() && placing.candidates.empty();
           ++m) {
        const auto cost = CostOfUses(placing, table.problem.memories[m]);
        item.places.emplace_back(static_cast<double>(cost.value_or(kMaxCost)), m);
      }
      std::sort(item.places.begin(), item.places.end());
    }
    std::vector<TensorIndex> bases;
    for (OperatorIndex v = 0; v < graph.operators.size(); ++v) {
      BasesUsed(graph, makers, v, bases);
      for (const TensorIndex base : bases) {
        if (item_of[base] < items_.size()) items_[item_of[base]].users.push_back(v);
      }
    }
  }

  // The cost if the items that are worth the most for their bytes and steps take what room there is, by
  // sums alone.
  double Estimate() {
    ++estimates_;
    for (std::size_t s = 0; s < order_.size(); ++s) position_[order_[s]] = s;
    for (std::vector<Bytes>& load : loads_) std::fill(load.begin(), load.end(), 0);
    ranks_.clear();
    for (std::size_t i = 0; i < items_.size(); ++i) {
      const Item& item = items_[i];
      std::size_t first = item.creator ? position_[*item.creator] : 0;
      std::size_t last = item.to_end ? order_.size() - 1 : first;
      for (const OperatorIndex u : item.users) last = std::max(last, position_[u]);
      const double most = item.places.back().first - item.places.front().first;
      const auto steps = static_cast<double>(last - first + 1);
      ranks_.push_back({most / (static_cast<double>(item.size) * steps), i, first, last});
    }
    std::sort(ranks_.begin(), ranks_.end(), [](const Rank& a, const Rank& b) {
      return a.worth != b.worth ? a.worth > b.worth : a.item < b.item;
    });
    double sum = 0;
    for (const Rank& rank : ranks_) sum += PlaceItem(rank);
    return sum;
  }

  struct Rank {
    double worth;
    std::size_t item;
    std::size_t first;
    std::size_t last;
  };

  // The cost of the cheapest memory that has room for the item, which takes it.
  double PlaceItem(const Rank& rank) {
    const Item& item = items_[rank.item];
    for (const auto& [cost, m] : item.places) {
      std::vector<Bytes>& load = loads_[m];
      const auto begin = load.begin() + static_cast<std::ptrdiff_t>(rank.first);
      const auto end = load.begin() + static_cast<std::ptrdiff_t>(rank.last) + 1;
      const Bytes room = rooms_[m] - item.size;
      if (std::any_of(begin, end, [room](Bytes bytes) { return bytes > room; })) continue;
      for (auto bytes = begin; bytes != end; ++bytes) *bytes += item.size;
      return cost;
    }
    return kUnplaced;
  }

  // Moves the operators from position i on as far as they can go together, if that helps.
  bool TryMove(std::size_t i, std::size_t length, bool forwards) {
    const std::size_t end = i + length;
    std::size_t to = i;
    if (forwards) {
      std::size_t limit = order_.size();
      for (std::size_t s = i; s < end; ++s) {
        for (const OperatorIndex u : after_[order_[s]]) {
          if (position_[u] >= end) limit = std::min(limit, position_[u]);
        }
      }
      to = limit;
      if (to == end) return false;
    } else {
      std::size_t limit = 0;
      for (std::size_t s = i; s < end; ++s) {
        for (const OperatorIndex u : before_[order_[s]]) {
          if (position_[u] < i) limit = std::max(limit, position_[u] + 1);
        }
      }
      to = limit;
      if (to == i) return false;
    }
    saved_ = order_;
    const auto at = [&](std::size_t s) { return order_.begin() + static_cast<std::ptrdiff_t>(s); };
    if (forwards) {
      std::rotate(at(i), at(end), at(to));
    } else {
      std::rotate(at(to), at(i), at(end));
    }
    const double cost = Estimate();
    if (cost < best_) {
      best_ = cost;
      return true;
    }
    order_ = saved_;
    for (std::size_t s = 0; s < order_.size(); ++s) position_[order_[s]] = s;
    return false;
  }

  Budget& budget_;
  Order order_;
  Order saved_;
  std::vector<std::size_t> position_;
  std::vector<std::vector<OperatorIndex>> before_;
  std::vector<std::vector<OperatorIndex>> after_;
  std::vector<Item> items_;
  std::vector<Bytes> rooms_;
  std::vector<std::vector<Bytes>> loads_;  // By memory and step.
  std::vector<Rank> ranks_;
  double best_ = std::numeric_limits<double>::infinity();
  std::int64_t estimates_ = 0;
  std::int64_t tries_ = 0;
};

}  // namespace

Order ImprovedOrder(const Graph& graph, const Counting& counting, const GraphMemories& memories,
                    const Order& start, Budget& budget) {
  if (start.empty() || start.size() > kMostOperators) return start;
  return Climber(graph, counting, memories, start, budget).Run();
}

}  // namespace berth::internal::plan
