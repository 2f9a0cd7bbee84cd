#include "recompute/exact.h"

#include <algorithm>
#include <cstdint>
#include <queue>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace berth::internal::recompute {
namespace {

class Searcher {
 public:
  Searcher(const Model& model, Bytes capacity, const std::vector<Op>* order,
           std::size_t most_states, Budget& budget)
      : model_(model),
        capacity_(capacity),
        order_(order),
        most_states_(most_states),
        budget_(budget),
        position_(model.num_operators(), 0) {
    for (std::size_t i = 0; order != nullptr && i < order->size(); ++i) position_[(*order)[i]] = i;
  }

  ExactAnswer Run() {
    ExactAnswer answer;
    // Bytes: whether each operator has run, then the version of each storage plus 1, or 0.
    State first(model_.num_operators() + model_.storages.size(), '\0');
    for (Storage s = 0; s < model_.storages.size(); ++s) {
      if (model_.storages[s].last > 100) return answer;  // Versions are bytes.
      if (model_.storages[s].given) At(first, s) = 1;
    }
    Reach(first, kNone, 0, 0);
    while (!queue_.empty()) {
      const Entry entry = queue_.top();
      queue_.pop();
      if (entry.cost > nodes_[entry.node].cost) continue;
      if (!budget_.SpendNode() || GivesUp()) return answer;
      const State state = *nodes_[entry.node].state;
      if (IsComplete(state)) {
        answer.sequence = PathTo(entry.node);
        answer.complete = true;
        return answer;
      }
      for (Op v = 0; v < model_.num_operators(); ++v) TryRunning(state, entry.node, v);
      if (GivesUp()) return answer;
    }
    answer.complete = true;
    return answer;
  }

 private:
  using State = std::string;
  static constexpr std::size_t kWaysPerState = 16;  // To drop storages, on average.
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  struct Node {
    const State* state;
    std::int64_t cost;
    std::size_t from;
    Op op;
  };
  struct Entry {
    std::int64_t cost;
    std::size_t node;
    bool operator>(const Entry& other) const {
      return cost != other.cost ? cost > other.cost : node < other.node;
    }
  };

  [[nodiscard]] char& At(State& state, Storage s) const {
    return state[model_.num_operators() + s];
  }
  [[nodiscard]] std::int32_t VersionIn(const State& state, Storage s) const {
    return static_cast<std::int32_t>(state[model_.num_operators() + s]) - 1;
  }

  void Reach(const State& state, std::size_t from, Op op, std::int64_t cost) {
    const auto [it, is_new] = index_.try_emplace(state, nodes_.size());
    if (is_new) {
      nodes_.push_back({&it->first, cost, from, op});
    } else {
      Node& node = nodes_[it->second];
      if (node.cost <= cost) return;
      node.cost = cost;
      node.from = from;
      node.op = op;
    }
    queue_.push({cost, it->second});
  }

  [[nodiscard]] bool IsComplete(const State& state) const {
    for (Op v = 0; v < model_.num_operators(); ++v) {
      if (state[v] == 0) return false;
    }
    for (Storage s = 0; s < model_.storages.size(); ++s) {
      const StorageInfo& info = model_.storages[s];
      if (info.result && VersionIn(state, s) != info.last) return false;
    }
    return true;
  }

  void TryRunning(const State& state, std::size_t from, Op v) {
    const bool repeat = state[v] != 0;
    if (repeat && model_.may_repeat[v] == 0) return;
    if (!repeat) {
      for (const Op u : model_.predecessors[v]) {
        if (state[u] == 0) return;
      }
      if (order_ != nullptr && position_[v] > 0 && state[(*order_)[position_[v] - 1]] == 0) return;
    }
    State next = state;
    next[v] = 1;
    Bytes need = model_.always_live;
    std::vector<char> touched(model_.storages.size(), 0);
    for (const Touch& touch : model_.TouchesOf(v)) {
      if (repeat && touch.only_first) continue;
      if (touch.finds != kMakes && VersionIn(state, touch.storage) != touch.finds) return;
      touched[touch.storage] = 1;
      At(next, touch.storage) = static_cast<char>(touch.leaves + 1);
      need += model_.storages[touch.storage].size;
    }
    if (need > capacity_) return;
    const std::int64_t cost = nodes_[from].cost + (repeat ? model_.cost[v] : 0);
    if (cost > kMostCost) return;
    // What may have to go.
    std::vector<Storage> others;
    Bytes bytes = need;
    for (Storage s = 0; s < model_.storages.size(); ++s) {
      if (touched[s] != 0 || VersionIn(next, s) < 0 || model_.storages[s].size == 0) continue;
      others.push_back(s);
      bytes += model_.storages[s].size;
    }
    Drop(next, others, 0, bytes, from, v, cost);
  }

  [[nodiscard]] bool GivesUp() const {
    return nodes_.size() > most_states_ || ways_ > kWaysPerState * most_states_;
  }

  // Every way to leave out of `others`, from number `at` on, no more than has to go.
  void Drop(State& next, const std::vector<Storage>& others, std::size_t at, Bytes bytes,
            std::size_t from, Op v, std::int64_t cost) {
    ++ways_;
    if (GivesUp()) return;
    if (bytes <= capacity_) {
      Reach(next, from, v, cost);
      return;
    }
    for (std::size_t i = at; i < others.size(); ++i) {
      char& version = At(next, others[i]);
      const char old = std::exchange(version, '\0');
      Drop(next, others, i + 1, bytes - model_.storages[others[i]].size, from, v, cost);
      version = old;
    }
  }

  [[nodiscard]] Sequence PathTo(std::size_t node) const {
    Sequence sequence;
    for (; nodes_[node].from != kNone; node = nodes_[node].from) {
      sequence.push_back(nodes_[node].op);
    }
    std::reverse(sequence.begin(), sequence.end());
    return sequence;
  }

  const Model& model_;
  const Bytes capacity_;
  const std::vector<Op>* const order_;
  const std::size_t most_states_;
  Budget& budget_;
  std::vector<std::size_t> position_;
  std::unordered_map<State, std::size_t> index_;
  std::vector<Node> nodes_;
  std::size_t ways_ = 0;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue_;
};

}  // namespace

ExactAnswer SearchExactly(const Model& model, Bytes capacity, const std::vector<Op>* order,
                          std::size_t most_states, Budget& budget) {
  return Searcher(model, capacity, order, most_states, budget).Run();
}

}  // namespace berth::internal::recompute
