#include "spill/whole_bound.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/arithmetic.h"
#include "memories/gap_selection.h"
#include "memories/subset_sums.h"

namespace berth::internal::spill {
namespace {

// Operators times accesses: beyond this nothing is looked at.
constexpr std::size_t kMostPairs = 50'000'000;
// Operators that are looked at by themselves.
constexpr std::size_t kMostAlone = 64;
constexpr std::int64_t kWorkOfSums = 2'000'000;
// Of the choice: states of sweeps, about half a microsecond each.
constexpr std::int64_t kMostNodes = 8'000'000;
constexpr std::int64_t kWorkOfNode = 300;

class Bounder {
 public:
  Bounder(const Model& model, Bytes capacity, Effort& effort, Budget& budget)
      : model_(model),
        capacity_(capacity),
        effort_(effort),
        budget_(budget),
        divisor_(DivisorOf(model)),
        live_(model.num_operators),
        excess_(model.num_operators, 0) {}

  Bytes Run(Bytes upper) {
    if (!FindLive()) return 0;
    for (const OpIndex v : FullestFirst()) {
      if (bound_ >= upper || Ended()) return bound_;
      Raise(AtOne(v));
    }
    if (bound_ < upper && !Ended()) AlongChain(upper);
    return bound_;
  }

 private:
  [[nodiscard]] bool Ended() const { return effort_.spent() || budget_.TimeIsUp(); }
  void Raise(Bytes bound) { bound_ = std::max(bound_, RoundUp(bound, divisor_)); }

  // In every order `s` is made, or retrieved, before `v`, and used after it.
  [[nodiscard]] bool IsLiveAt(OpIndex v, StorageIndex s) const {
    const auto users = model_.users[s];
    const OpIndex creator = model_.storages[s].creator;
    const bool made = creator.value() >= 0
                          ? model_.Precedes(creator, v)
                          : std::any_of(users.begin(), users.end(),
                                        [&](OpIndex u) { return model_.Precedes(u, v); });
    return made && !model_.Touches(v, s) && std::any_of(users.begin(), users.end(), [&](OpIndex u) {
             return model_.Precedes(v, u);
           });
  }

  // False: there are too many, or time is up.
  [[nodiscard]] bool FindLive() {
    const std::size_t uses = model_.users.num_items() + model_.storages.size();
    if (uses > kMostPairs / std::max<std::size_t>(model_.num_operators, 1)) return false;
    for (std::size_t i = 0; i < model_.num_operators; ++i) {
      if (Ended()) return false;
      const OpIndex v(i);
      Bytes bytes = model_.needs[v];
      for (const StorageIndex s : model_.storages.indices()) {
        if (!IsLiveAt(v, s)) continue;
        live_[v].push_back(s);
        bytes += model_.storages[s].size;
      }
      excess_[v] = bytes - capacity_;
      effort_.work -= static_cast<std::int64_t>(uses);
    }
    return true;
  }

  // The operators with bytes in excess.
  [[nodiscard]] std::vector<OpIndex> FullestFirst() const {
    std::vector<OpIndex> full;
    for (std::size_t i = 0; i < model_.num_operators; ++i) {
      if (excess_[OpIndex(i)] > 0) full.emplace_back(i);
    }
    std::stable_sort(full.begin(), full.end(),
                     [&](OpIndex a, OpIndex b) { return excess_[a] > excess_[b]; });
    if (full.size() > kMostAlone) full.resize(kMostAlone);
    return full;
  }

  // What leaves while `v` runs: all of it costs its size, and what is not there once in any case twice.
  [[nodiscard]] Bytes AtOne(OpIndex v) {
    std::vector<Bytes> all;
    std::vector<Bytes> twice;
    Bytes once = 0;
    for (const StorageIndex s : live_[v]) {
      const Bytes size = model_.storages[s].size;
      all.push_back(size);
      if (model_.storages[s].moves_once()) {
        once += size;
      } else {
        twice.push_back(size);
      }
    }
    const Bytes excess = excess_[v];
    if (once == 0) return 2 * memories::LeastSubsetSum(std::move(all), excess, work_of_sums_);
    Bytes least = memories::LeastSubsetSum(std::move(all), excess, work_of_sums_);
    if (excess > once) least = std::max(least, 2 * excess - once);
    return least;
  }

  // The operators of a path on which the most bytes are in excess, those without any left out.
  [[nodiscard]] std::vector<OpIndex> Chain() const {
    IndexedVector<OpIndex, Bytes> sum(model_.num_operators, 0);
    IndexedVector<OpIndex, OpIndex> before(model_.num_operators, OpIndex(-1));
    OpIndex last(-1);
    for (std::size_t i = 0; i < model_.num_operators; ++i) {
      const OpIndex v(i);
      for (const OpIndex u : model_.predecessors[v]) {
        if (sum[u] > sum[v]) {
          sum[v] = sum[u];
          before[v] = u;
        }
      }
      // As the bytes of all sections together may be many, sums are in the unit of sizes.
      sum[v] += std::max<Bytes>(excess_[v], 0) / divisor_;
      if (last.value() < 0 || sum[v] > sum[last]) last = v;
    }
    std::vector<OpIndex> chain;
    for (OpIndex v = last; v.value() >= 0; v = before[v]) {
      if (excess_[v] > 0) chain.push_back(v);
    }
    std::reverse(chain.begin(), chain.end());
    return chain;
  }

  void AlongChain(Bytes upper) {
    const std::vector<OpIndex> chain = Chain();
    if (chain.size() < 2) return;
    FindGaps(chain);
    std::vector<Bytes> room;
    room.reserve(chain.size());
    for (const OpIndex v : chain) room.push_back(capacity_ - model_.needs[v]);
    const memories::GapSelection selection(std::move(gaps_), shared_, std::move(room),
                                           /*tight=*/true);
    if (selection.empty() || selection.IsTooLarge()) return;
    Budget part(budget_, 1.0);
    part.SetNodeLimit(std::min({kMostNodes, part.node_limit(), effort_.work / kWorkOfNode}));
    const std::int64_t before = part.nodes_spent();
    memories::ChooseLimits limits;
    limits.most_bytes = effort_.most_bytes;
    Raise(selection.Choose(limits, upper, part).bound);
    effort_.work -= (part.nodes_spent() - before) * kWorkOfNode;
  }

  // `chain`: its operators are the sections.
  void FindGaps(const std::vector<OpIndex>& chain) {
    // By storage: whether a section has it, and its gaps so far.
    std::vector<std::vector<std::size_t>> of(model_.storages.size());
    for (std::size_t i = 0; i < chain.size(); ++i) {
      for (const StorageIndex s : live_[chain[i]]) {
        std::vector<std::size_t>& mine = of[s.position()];
        const bool goes_on = !mine.empty() && gaps_[mine.back()].last == i &&
                             !model_.IsUsedBetween(chain[i - 1], chain[i], s);
        if (goes_on) {
          ++gaps_[mine.back()].last;
          continue;
        }
        mine.push_back(gaps_.size());
        gaps_.push_back({i, i + 1, model_.storages[s].size, model_.storages[s].size});
      }
    }
    for (const StorageIndex s : model_.storages.indices()) {
      std::vector<std::size_t>& mine = of[s.position()];
      if (mine.empty() || model_.storages[s].moves_once()) continue;
      if (mine.size() == 1) {
        gaps_[mine.front()].price *= 2;
      } else {
        shared_.push_back({std::move(mine), model_.storages[s].size});
      }
    }
  }

  const Model& model_;
  const Bytes capacity_;
  Effort& effort_;
  Budget& budget_;
  const Bytes divisor_;
  IndexedVector<OpIndex, std::vector<StorageIndex>> live_;  // Those that are not touched there.
  IndexedVector<OpIndex, Bytes>
      excess_;  // What these and the operator's needs exceed the capacity by.
  std::vector<memories::PricedGap> gaps_;
  std::vector<memories::SharedPrice> shared_;
  std::int64_t work_of_sums_ = kWorkOfSums;
  Bytes bound_ = 0;
};

}  // namespace

Bytes WholeBound(const Model& model, Bytes capacity, Bytes upper, Effort& effort, Budget& budget) {
  return Bounder(model, capacity, effort, budget).Run(upper);
}

}  // namespace berth::internal::spill
