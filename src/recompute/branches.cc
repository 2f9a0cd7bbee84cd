#include "recompute/branches.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace berth::internal::recompute {
namespace {

constexpr int kMostChoices = 128;
// With more, one choice takes too long.
constexpr std::size_t kMostNeeds = 200'000;

struct Leaf {
  std::vector<Gaps::Decision> decisions;
  std::int64_t bound = 0;
  std::vector<std::size_t> dropped;  // Gaps, in the cheapest choice.
};

class Brancher {
 public:
  Brancher(const Gaps& gaps, const Model& model, Budget& budget)
      : gaps_(gaps), model_(model), budget_(budget) {
    for (const Need& need : gaps.needs()) {
      // One that may have been met before the gap cannot be told apart.
      if (!need.since && model.cost[need.op] > 0) needs_.push_back(need);
    }
    SortByOperator(gaps.all(), needs_);
  }

  std::optional<std::int64_t> Bound(const Gaps::Answer& whole, std::int64_t enough) {
    Add({}, whole, 0);
    std::int64_t bound = whole.bound;
    for (int choices = 0; !leaves_.empty(); choices += 2) {
      bound = std::max(bound, leaves_.front().bound);
      if (bound >= enough || choices >= kMostChoices || budget_.Exhausted()) return bound;
      const std::optional<Gaps::Decision> division = BestOf(leaves_.front());
      if (!division) return bound;
      std::pop_heap(leaves_.begin(), leaves_.end(), IsHigher);
      Leaf leaf = std::move(leaves_.back());
      leaves_.pop_back();
      leaf.decisions.push_back(*division);
      for (const bool missing : {true, false}) {
        leaf.decisions.back().missing = missing;
        const auto answer = gaps_.ProveIn(gaps_.BranchOf(leaf.decisions), model_, budget_);
        if (answer) Add(leaf.decisions, *answer, leaf.bound);
      }
    }
    return std::nullopt;
  }

 private:
  // Of gaps and steps: what executions cost that one decision tells apart.
  using Costs = std::map<std::pair<std::size_t, std::uint32_t>, std::int64_t>;

  [[nodiscard]] static bool IsHigher(const Leaf& a, const Leaf& b) { return a.bound > b.bound; }

  void Add(std::vector<Gaps::Decision> decisions, const Gaps::Answer& answer, std::int64_t least) {
    Leaf& leaf = leaves_.emplace_back();
    leaf.decisions = std::move(decisions);
    leaf.bound = std::max(least, answer.bound);
    for (std::size_t g = 0; g < answer.kept.size(); ++g) {
      if (answer.kept[g] == 0) leaf.dropped.push_back(g);
    }
    std::push_heap(leaves_.begin(), leaves_.end(), IsHigher);
  }

  // The one that tells apart executions of the highest cost.
  [[nodiscard]] std::optional<Gaps::Decision> BestOf(const Leaf& leaf) const {
    const Gaps::Branch branch = gaps_.BranchOf(leaf.decisions);
    Costs costs;
    std::vector<std::size_t> dropped;  // Of one operator, by end.
    for (std::size_t k = 0; k < needs_.size(); ++k) {
      if (std::binary_search(leaf.dropped.begin(), leaf.dropped.end(), needs_[k].gap)) {
        dropped.push_back(needs_[k].gap);
      }
      if (k + 1 < needs_.size() && needs_[k + 1].op == needs_[k].op) continue;
      AddShared(branch, dropped, model_.cost[needs_[k].op], costs);
      dropped.clear();
    }
    std::optional<Gaps::Decision> best;
    std::int64_t most = 0;
    for (const auto& [division, cost] : costs) {
      if (cost <= most) continue;
      most = cost;
      best = Gaps::Decision{division.first, division.second, false};
    }
    return best;
  }

  // Each gap after the nearest one that ends within it.
  void AddShared(const Gaps::Branch& branch, const std::vector<std::size_t>& dropped,
                 std::int64_t cost, Costs& costs) const {
    const std::vector<Gap>& all = gaps_.all();
    for (std::size_t k = 1; k < dropped.size(); ++k) {
      const std::size_t later = dropped[k];
      const auto& missing = branch.missing_after[later];
      for (std::size_t j = k; j-- > 0 && all[dropped[j]].to > all[later].from;) {
        const std::uint32_t step = all[dropped[j]].to;
        if (step + 1 >= branch.ends[later] || (missing && *missing >= step)) continue;
        costs[{later, step}] += cost;
        break;
      }
    }
  }

  const Gaps& gaps_;
  const Model& model_;
  Budget& budget_;
  std::vector<Need> needs_;   // By operator, then end of the gap.
  std::vector<Leaf> leaves_;  // A heap, the one of the least bound first.
};

}  // namespace

std::optional<std::int64_t> BoundByBranches(const Gaps& gaps, const Model& model,
                                            const Gaps::Answer& whole, std::int64_t enough,
                                            Budget& budget) {
  if (gaps.needs().size() > kMostNeeds) return whole.bound;
  return Brancher(gaps, model, budget).Bound(whole, enough);
}

}  // namespace berth::internal::recompute
