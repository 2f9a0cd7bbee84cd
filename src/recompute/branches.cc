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

struct Leaf {
  Gaps::Branch branch;
  Gaps::Answer answer;
};

// A gap that shares executions with gaps that end before it, and the step at which the last of these ends.
struct Division {
  std::size_t gap = 0;
  std::uint32_t step = 0;
};

class Brancher {
 public:
  Brancher(const Gaps& gaps, const Model& model) : gaps_(gaps), model_(model) {
    for (const Need& need : gaps.needs()) {
      // One that may have been met before the gap cannot be told apart.
      if (!need.since && model.cost[need.op] > 0) needs_.push_back(need);
    }
    std::sort(needs_.begin(), needs_.end(), [&](const Need& a, const Need& b) {
      if (a.op != b.op) return a.op < b.op;
      if (EndOf(a) != EndOf(b)) return EndOf(a) < EndOf(b);
      return a.gap < b.gap;
    });
  }

  // The one that tells apart executions of the highest cost.
  [[nodiscard]] std::optional<Division> BestOf(const Leaf& leaf) const {
    std::map<std::pair<std::size_t, std::uint32_t>, std::int64_t> costs;
    for (std::size_t first = 0; first < needs_.size();) {
      std::size_t last = first;
      while (last < needs_.size() && needs_[last].op == needs_[first].op) ++last;
      AddShared(leaf, first, last, costs);
      first = last;
    }
    std::optional<Division> best;
    std::int64_t most = 0;
    for (const auto& [division, cost] : costs) {
      if (cost <= most) continue;
      most = cost;
      best = Division{division.first, division.second};
    }
    return best;
  }

 private:
  [[nodiscard]] std::uint32_t EndOf(const Need& need) const { return gaps_.all()[need.gap].to; }

  // Of one operator.
  void AddShared(const Leaf& leaf, std::size_t first, std::size_t last,
                 std::map<std::pair<std::size_t, std::uint32_t>, std::int64_t>& costs) const {
    std::vector<std::size_t> dropped;
    for (std::size_t k = first; k < last; ++k) {
      if (leaf.answer.kept[needs_[k].gap] == 0) dropped.push_back(needs_[k].gap);
    }
    const std::vector<Gap>& all = gaps_.all();
    for (std::size_t k = 1; k < dropped.size(); ++k) {
      const std::size_t later = dropped[k];
      const auto& missing = leaf.branch.missing_after[later];
      for (std::size_t j = k; j-- > 0 && all[dropped[j]].to > all[later].from;) {
        const std::uint32_t step = all[dropped[j]].to;
        if (step + 1 >= leaf.branch.ends[later] || (missing && *missing >= step)) continue;
        costs[{later, step}] += model_.cost[needs_[first].op];
        break;
      }
    }
  }

  const Gaps& gaps_;
  const Model& model_;
  std::vector<Need> needs_;  // By operator, then end of the gap.
};

}  // namespace

std::optional<std::int64_t> BoundByBranches(const Gaps& gaps, const Model& model,
                                            Gaps::Answer whole, std::int64_t enough,
                                            Budget& budget) {
  const Brancher brancher(gaps, model);
  std::vector<Leaf> leaves;
  const auto is_higher = [](const Leaf& a, const Leaf& b) {
    return a.answer.bound > b.answer.bound;
  };
  std::int64_t bound = whole.bound;
  leaves.push_back({gaps.WholeBranch(), std::move(whole)});
  for (int choices = 0; !leaves.empty() && choices < kMostChoices && !budget.Exhausted();) {
    bound = leaves.front().answer.bound;
    if (bound >= enough) break;
    const std::optional<Division> division = brancher.BestOf(leaves.front());
    if (!division) break;
    std::pop_heap(leaves.begin(), leaves.end(), is_higher);
    const Leaf leaf = std::move(leaves.back());
    leaves.pop_back();
    for (const bool missing : {true, false}) {
      Leaf child{leaf.branch, {}};
      if (missing) {
        child.branch.missing_after[division->gap] = division->step;
      } else {
        child.branch.ends[division->gap] = division->step + 1;
      }
      std::optional<Gaps::Answer> answer = gaps.ProveIn(child.branch, model, budget);
      ++choices;
      if (!answer) continue;
      child.answer = std::move(*answer);
      child.answer.bound = std::max(child.answer.bound, leaf.answer.bound);
      leaves.push_back(std::move(child));
      std::push_heap(leaves.begin(), leaves.end(), is_higher);
    }
  }
  if (leaves.empty()) return std::nullopt;
  return std::max(bound, leaves.front().answer.bound);
}

}  // namespace berth::internal::recompute
