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
    // Bytes: whether each operator has run, then the version of each storage plus 1, or 0; with a
    // link the same of what is off chip, the versions that stays ended with, and flags; at last whether
    // all is done.
    State first(model_.num_operators() + (model_.linked ? 4 : 1) * model_.storages.size() + 1,
                '\0');
    for (Storage s = 0; s < model_.storages.size(); ++s) {
      const StorageInfo& info = model_.storages[s];
      if (info.last > (model_.linked ? kMostLinked : kMostVersions)) return answer;
      if (info.given && !model_.MayCopy(s)) At(first, s) = 1;
      if (info.given && model_.MayCopy(s)) Byte(first, kCopy, s) = 1;
    }
    Reach(first, kNone, {}, 0);
    while (!queue_.empty()) {
      const Entry entry = queue_.top();
      queue_.pop();
      if (entry.cost > nodes_[entry.node].cost) continue;
      if (!budget_.SpendNode() || GivesUp()) return answer;
      const State state = *nodes_[entry.node].state;
      if (const auto rest = CostToEnd(state)) {
        if (*rest == 0) {
          answer.sequence = PathTo(entry.node);
          answer.cost = entry.cost;
          answer.complete = true;
          return answer;
        }
        State done = state;
        done.back() = 1;
        Reach(done, entry.node, {}, entry.cost + *rest);
      }
      if (state.back() != 0) continue;
      for (Op v = 0; v < model_.num_operators(); ++v) TryRunning(state, entry.node, v);
      if (GivesUp()) return answer;
    }
    answer.complete = true;
    return answer;
  }

 private:
  using State = std::string;
  static constexpr std::size_t kWaysPerState = 16;  // To drop storages, on average.
  static constexpr unsigned kMostWrites = 8;        // Of one operator; most have one.
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  struct Node {
    const State* state;
    std::int64_t cost;
    std::size_t from;
    std::vector<Op> actions;  // Returns, and an operator.
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

  // With a link: bytes of a storage besides its version in memory.
  static constexpr std::int32_t kMostVersions = 100;  // They are bytes,
  static constexpr std::int32_t kMostLinked = 6;      // and bits of one.
  static constexpr std::size_t kCopy = 1;
  static constexpr std::size_t kEnded = 2;
  static constexpr std::size_t kFlags = 3;
  static constexpr char kStored = 1;   // The last version of a result was written out.
  static constexpr char kTouched = 2;  // Of a given storage: it has come in.
  [[nodiscard]] char& Byte(State& state, std::size_t what, Storage s) const {
    return state[model_.num_operators() + what * model_.storages.size() + s];
  }
  [[nodiscard]] char Byte(const State& state, std::size_t what, Storage s) const {
    return state[model_.num_operators() + what * model_.storages.size() + s];
  }
  // The stay of `s` ends.
  void End(State& state, Storage s) const {
    const std::int32_t version = VersionIn(state, s);
    if (version < 0) return;
    At(state, s) = 0;
    if (!model_.MayCopy(s)) return;
    char& ended = Byte(state, kEnded, s);
    ended = static_cast<char>(ended | 1 << version);
  }
  [[nodiscard]] bool HasCopy(const State& state, Storage s, std::int32_t version) const {
    return Byte(state, kCopy, s) == version + 1 || (Byte(state, kEnded, s) >> version & 1) != 0;
  }
  // Copies `s` back in a version that it has. What that costs.
  std::int64_t Retrieve(State& state, Storage s, std::int32_t version) const {
    const StorageInfo& info = model_.storages[s];
    std::int64_t cost = info.in_cost;
    if (std::exchange(Byte(state, kCopy, s), static_cast<char>(version + 1)) != version + 1) {
      char& flags = Byte(state, kFlags, s);
      const bool final = info.result && version == info.last;
      if (!final || (flags & kStored) != 0) cost += info.out_cost;
      if (final) flags = static_cast<char>(flags | kStored);
    }
    Byte(state, kEnded, s) = 0;
    At(state, s) = static_cast<char>(version + 1);
    return cost;
  }

  void Reach(const State& state, std::size_t from, const std::vector<Op>& actions,
             std::int64_t cost) {
    const auto [it, is_new] = index_.try_emplace(state, nodes_.size());
    if (is_new) {
      nodes_.push_back({&it->first, cost, from, actions});
    } else {
      Node& node = nodes_[it->second];
      if (node.cost <= cost) return;
      node.cost = cost;
      node.from = from;
      node.actions = actions;
    }
    queue_.push({cost, it->second});
  }

  // What is left to pay if nothing else runs; nothing if the state is not complete.
  [[nodiscard]] std::optional<std::int64_t> CostToEnd(const State& state) const {
    if (state.back() != 0) return 0;
    for (Op v = 0; v < model_.num_operators(); ++v) {
      if (state[v] == 0) return std::nullopt;
    }
    std::int64_t cost = 0;
    for (Storage s = 0; s < model_.storages.size(); ++s) {
      const StorageInfo& info = model_.storages[s];
      if (!info.result || VersionIn(state, s) == info.last) continue;
      if (!model_.MayCopy(s) || !HasCopy(state, s, info.last)) return std::nullopt;
      const bool there = Byte(state, kCopy, s) == info.last + 1;
      if (!there && (Byte(state, kFlags, s) & kStored) != 0) cost += info.out_cost;
    }
    return cost;
  }

  void TryRunning(const State& state, std::size_t from, Op v) {
    if (state[v] != 0) {
      if (model_.may_repeat[v] == 0) return;
    } else {
      for (const Op u : model_.predecessors[v]) {
        if (state[u] == 0) return;
      }
      if (order_ != nullptr && position_[v] > 0 && state[(*order_)[position_[v] - 1]] == 0) return;
    }
    // What `v` writes in place can be copied out and back right before, so that the old version stays
    // off chip: every choice of such storages.
    unsigned writes = 0;
    for (const Touch& touch : model_.TouchesOf(v)) {
      const bool written = touch.finds != kMakes && touch.leaves != touch.finds;
      writes += written && model_.MayCopy(touch.storage) ? 1U : 0U;
    }
    if (writes > kMostWrites) ways_ = kWaysPerState * most_states_ + 1;
    for (unsigned choice = 0; choice < 1U << writes && !GivesUp(); ++choice) {
      Run(state, from, v, choice);
    }
  }

  // All that `v` touches is there, as `next` says then. Nothing if it cannot be.
  std::optional<std::int64_t> Prepare(State& next, Op v, bool repeat, unsigned choice,
                                      std::vector<Op>& actions) const {
    std::int64_t cost = 0;
    for (const Touch& touch : model_.TouchesOf(v)) {
      if (repeat && touch.only_first) continue;
      const Storage s = touch.storage;
      const bool may_copy = model_.MayCopy(s);
      const std::int32_t version = VersionIn(next, s);
      const bool written = touch.finds != kMakes && touch.leaves != touch.finds;
      bool again = false;
      if (written && may_copy) {
        again = (choice & 1U) != 0;
        choice >>= 1U;
      }
      if (touch.finds == kMakes) {
        End(next, s);
      } else if (may_copy && model_.storages[s].given && (Byte(next, kFlags, s) & kTouched) == 0) {
        if (touch.finds != 0 || again) return std::nullopt;
        Byte(next, kFlags, s) = static_cast<char>(Byte(next, kFlags, s) | kTouched);
      } else if (version != touch.finds || again) {
        End(next, s);
        if (!may_copy || !HasCopy(next, s, touch.finds)) return std::nullopt;
        cost += Retrieve(next, s, touch.finds);
        actions.push_back(model_.ReturnOf(s));
      }
      At(next, s) = static_cast<char>(touch.leaves + 1);
    }
    actions.push_back(v);
    return cost;
  }

  void Run(const State& state, std::size_t from, Op v, unsigned choice) {
    const bool repeat = state[v] != 0;
    State next = state;
    next[v] = 1;
    std::vector<Op> actions;
    const auto copies = Prepare(next, v, repeat, choice, actions);
    if (!copies) return;
    Bytes need = model_.always_live;
    std::vector<char> touched(model_.storages.size(), 0);
    for (const Touch& touch : model_.TouchesOf(v)) {
      if (repeat && touch.only_first) continue;
      touched[touch.storage] = 1;
      need += model_.storages[touch.storage].size;
    }
    if (need > capacity_) return;
    const std::int64_t cost = nodes_[from].cost + *copies + (repeat ? model_.cost[v] : 0);
    if (cost > kMostCost) return;
    // What may have to go.
    std::vector<Storage> others;
    Bytes bytes = need;
    for (Storage s = 0; s < model_.storages.size(); ++s) {
      if (touched[s] != 0 || VersionIn(next, s) < 0 || model_.storages[s].size == 0) continue;
      others.push_back(s);
      bytes += model_.storages[s].size;
    }
    Drop(next, others, 0, bytes, {from, actions, cost});
  }

  struct Way {
    std::size_t from;
    const std::vector<Op>& actions;
    std::int64_t cost;
  };
  [[nodiscard]] bool GivesUp() const {
    return nodes_.size() > most_states_ || ways_ > kWaysPerState * most_states_;
  }

  // Every way to leave out of `others`, from number `at` on, no more than has to go.
  void Drop(State& next, const std::vector<Storage>& others, std::size_t at, Bytes bytes,
            const Way& way) {
    ++ways_;
    if (GivesUp()) return;
    if (bytes <= capacity_) {
      Reach(next, way.from, way.actions, way.cost);
      return;
    }
    for (std::size_t i = at; i < others.size(); ++i) {
      const Storage s = others[i];
      const char version = At(next, s);
      const char ended = model_.linked ? Byte(next, kEnded, s) : char{0};
      End(next, s);
      Drop(next, others, i + 1, bytes - model_.storages[s].size, way);
      At(next, s) = version;
      if (model_.linked) Byte(next, kEnded, s) = ended;
    }
  }

  [[nodiscard]] Sequence PathTo(std::size_t node) const {
    Sequence sequence;
    for (; nodes_[node].from != kNone; node = nodes_[node].from) {
      const std::vector<Op>& actions = nodes_[node].actions;
      sequence.insert(sequence.end(), actions.rbegin(), actions.rend());
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
