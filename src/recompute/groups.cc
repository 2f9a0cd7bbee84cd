#include "recompute/groups.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "base/disjoint_sets.h"

namespace berth::internal::recompute {
namespace {

constexpr std::size_t kMostMembers = 16;
constexpr int kMostRounds = 16;

// Whether this version of a storage is made by its chain, and by which operator.
[[nodiscard]] bool IsMadeByChain(const StorageInfo& info, std::int32_t version) {
  return version >= (info.given ? 1 : 0);
}
[[nodiscard]] Op MakerOf(const StorageInfo& info, std::int32_t version) {
  return info.chain[static_cast<std::size_t>(version - (info.given ? 1 : 0))];
}

class Grouper {
 public:
  Grouper(const Model& model, const std::vector<std::vector<Op>>& orders, Bytes capacity)
      : model_(model), orders_(orders), capacity_(capacity), alone_(model.num_operators(), 0) {}

  std::optional<Groups> Run() {
    for (Op v = 0; v < model_.num_operators(); ++v) {
      if (model_.may_repeat[v] == 0) alone_[v] = 1;
    }
    for (int round = 0; round < kMostRounds; ++round) {
      Join();
      if (groups_.members.size() == model_.num_operators()) return std::nullopt;
      if (!Separate()) {
        MakeModel();
        return std::move(groups_);
      }
    }
    return std::nullopt;
  }

 private:
  // Groups of all operators that are not to be alone.
  void Join() {
    const std::size_t n = model_.num_operators();
    DisjointSets joined(n);
    std::vector<char> chained(model_.storages.size(), 0);
    for (Storage s = 0; s < model_.storages.size(); ++s) {
      const StorageInfo& info = model_.storages[s];
      const bool may =
          std::none_of(info.chain.begin(), info.chain.end(), [&](Op v) { return alone_[v] != 0; });
      if (info.given || info.chain.size() < 2 || info.again < info.last || !may) continue;
      chained[s] = 1;
      for (const Op v : info.chain) joined.Join(v, info.chain.front());
    }
    for (Op v = 0; v < n; ++v) {
      for (const Touch& touch : model_.TouchesOf(v)) {
        const StorageInfo& info = model_.storages[touch.storage];
        if (chained[touch.storage] == 0 || touch.leaves == info.last || alone_[v] != 0) continue;
        joined.Join(v, info.chain.front());
      }
    }
    Number(joined);
  }

  // Groups are numbered by their first members in the first order.
  void Number(DisjointSets& joined) {
    constexpr Op kNone = static_cast<Op>(-1);
    groups_.members.clear();
    groups_.group_of.assign(model_.num_operators(), kNone);
    std::vector<Op> number(model_.num_operators(), kNone);
    for (const Op v : orders_.front()) {
      Op& group = number[joined.Find(v)];
      if (group == kNone) {
        group = static_cast<Op>(groups_.members.size());
        groups_.members.emplace_back();
      }
      groups_.group_of[v] = group;
      groups_.members[group].push_back(v);
    }
  }

  // Operators that may not be grouped as they are will be alone. False if there are none.
  bool Separate() {
    std::vector<char> bad(groups_.members.size(), 0);
    for (Op g = 0; g < groups_.members.size(); ++g) {
      const std::vector<Op>& members = groups_.members[g];
      if (members.size() > 1 && (members.size() > kMostMembers || !MayJoin(members))) bad[g] = 1;
    }
    FindLost(bad);
    groups_.orders.clear();
    for (const std::vector<Op>& order : orders_) groups_.orders.push_back(OrderOf(order, bad));
    bool any = false;
    for (Op g = 0; g < groups_.members.size(); ++g) {
      if (bad[g] == 0 || groups_.members[g].size() == 1) continue;
      any = true;
      for (const Op v : groups_.members[g]) alone_[v] = 1;
    }
    return any;
  }

  // By what they touch.
  [[nodiscard]] bool MayJoin(const std::vector<Op>& members) const {
    std::map<Storage, std::pair<std::size_t, bool>> touched;  // How often; by one that skips it.
    Bytes need = model_.always_live;
    for (const Op v : members) {
      for (const Touch& touch : model_.TouchesOf(v)) {
        auto& [times, skips] = touched[touch.storage];
        if (times++ == 0) need += model_.storages[touch.storage].size;
        skips = skips || touch.only_first;
        if (skips && times > 1) return false;
      }
    }
    return need <= capacity_;
  }

  // Groups of which others find a version that is written within the group.
  void FindLost(std::vector<char>& bad) const {
    for (Op v = 0; v < model_.num_operators(); ++v) {
      for (const Touch& touch : model_.TouchesOf(v)) {
        const StorageInfo& info = model_.storages[touch.storage];
        if (touch.finds == kMakes || touch.finds >= info.last) continue;
        if (!IsMadeByChain(info, touch.finds)) continue;
        const Op maker = groups_.group_of[MakerOf(info, touch.finds)];
        const Op writer = groups_.group_of[MakerOf(info, touch.finds + 1)];
        if (maker == writer && groups_.group_of[v] != maker) bad[maker] = 1;
      }
    }
  }

  // Each group at its last member. What depends on a group and comes before makes that group bad.
  [[nodiscard]] std::vector<Op> OrderOf(const std::vector<Op>& order,
                                        std::vector<char>& bad) const {
    std::vector<std::size_t> left(groups_.members.size());
    for (Op g = 0; g < left.size(); ++g) left[g] = groups_.members[g].size();
    std::vector<Op> result;
    std::vector<char> ran(left.size(), 0);
    for (const Op v : order) {
      const Op g = groups_.group_of[v];
      if (--left[g] > 0) continue;
      result.push_back(g);
      ran[g] = 1;
      for (const Op member : groups_.members[g]) {
        for (const Op u : model_.predecessors[member]) {
          if (ran[groups_.group_of[u]] == 0) bad[groups_.group_of[u]] = 1;
        }
      }
    }
    return result;
  }

  void MakeModel() {
    Model& model = groups_.model;
    model.storages = model_.storages;
    model.linked = model_.linked;
    model.throughout = model_.throughout;
    model.always_live = model_.always_live;
    NumberVersions();
    model.touches_begin.push_back(0);
    for (const std::vector<Op>& members : groups_.members) AddOperator(members);
    FindPrices(model);
    for (Storage s = 0; model.linked && s < model.storages.size(); ++s) {
      model.cost.push_back(model_.cost[model_.ReturnOf(s)]);
      model.touches_begin.push_back(model.all_touches.size());
    }
    AddNeighbours();
  }

  // Chains of groups instead of operators.
  void NumberVersions() {
    version_.resize(model_.storages.size());
    for (Storage s = 0; s < model_.storages.size(); ++s) {
      StorageInfo& info = groups_.model.storages[s];
      info.again = -1;
      info.price.clear();
      info.chain.clear();
      std::int32_t version = info.given ? 0 : -1;
      if (info.given) version_[s].push_back(0);
      for (const Op v : model_.storages[s].chain) {
        const Op g = groups_.group_of[v];
        if (info.chain.empty() || info.chain.back() != g) {
          info.chain.push_back(g);
          ++version;
        }
        version_[s].push_back(version);
      }
      info.last = std::max(version, std::int32_t{0});
    }
  }

  void AddOperator(const std::vector<Op>& members) {
    Model& model = groups_.model;
    std::map<Storage, Touch> touches;
    std::int64_t cost = 0;
    for (const Op v : members) {
      cost += model_.cost[v];
      for (const Touch& touch : model_.TouchesOf(v)) {
        const auto [found, added] = touches.try_emplace(touch.storage, touch);
        found->second.leaves = touch.leaves;
      }
    }
    for (auto& [s, touch] : touches) {
      if (touch.finds != kMakes) touch.finds = version_[s][static_cast<std::size_t>(touch.finds)];
      touch.leaves = version_[s][static_cast<std::size_t>(touch.leaves)];
      model.all_touches.push_back(touch);
    }
    model.touches_begin.push_back(model.all_touches.size());
    model.cost.push_back(cost);
    model.may_repeat.push_back(model_.may_repeat[members.front()]);
  }

  void AddNeighbours() {
    const std::size_t n = groups_.members.size();
    const auto add = [&](const std::vector<std::vector<Op>>& of,
                         std::vector<std::vector<Op>>& result) {
      result.resize(n);
      for (Op g = 0; g < n; ++g) {
        for (const Op v : groups_.members[g]) {
          for (const Op u : of[v]) {
            if (groups_.group_of[u] != g) result[g].push_back(groups_.group_of[u]);
          }
        }
        std::sort(result[g].begin(), result[g].end());
        result[g].erase(std::unique(result[g].begin(), result[g].end()), result[g].end());
      }
    };
    add(model_.predecessors, groups_.model.predecessors);
    add(model_.successors, groups_.model.successors);
  }

  const Model& model_;
  const std::vector<std::vector<Op>>& orders_;
  const Bytes capacity_;
  std::vector<char> alone_;                         // By operator.
  std::vector<std::vector<std::int32_t>> version_;  // By storage and version: that in the groups.
  Groups groups_;
};

}  // namespace

std::optional<Groups> FindGroups(const Model& model, const std::vector<std::vector<Op>>& orders,
                                 Bytes capacity) {
  return Grouper(model, orders, capacity).Run();
}

Sequence Ungroup(const Model& model, const Groups& groups, const Sequence& sequence,
                 const std::vector<Op>* order) {
  Sequence result;
  std::vector<char> ran(model.num_operators(), 0);
  std::size_t next = 0;  // In `order`.
  const auto run = [&](Op v) {
    ran[v] = 1;
    result.push_back(v);
  };
  for (const Op g : sequence) {
    if (groups.model.IsReturn(g)) {
      result.push_back(model.ReturnOf(groups.model.Returned(g)));
      continue;
    }
    const std::vector<Op>& members = groups.members[g];
    const auto done = [&] {
      return std::all_of(members.begin(), members.end(), [&](Op v) { return ran[v] != 0; });
    };
    if (order == nullptr || done()) {
      for (const Op v : members) run(v);
      continue;
    }
    while (!done()) run((*order)[next++]);
  }
  return result;
}

}  // namespace berth::internal::recompute
