#include "recompute/repeats.h"

#include <algorithm>
#include <limits>
#include <map>
#include <span>

namespace berth::internal::recompute {
namespace {

[[nodiscard]] std::optional<std::uint32_t> MissingAfterOf(const MissingAfter& missing_after,
                                                          std::size_t gap) {
  return missing_after.empty() ? std::nullopt : missing_after[gap];
}

class Finder {
 public:
  Finder(const Model& model, const std::vector<Gap>& gaps, const MissingAfter& missing_after)
      : model_(model), gaps_(gaps), missing_after_(missing_after) {
    for (const Gap& gap : gaps) repeats_.after.push_back(gap.from);
    repeats_.price.assign(gaps.size(), 0);
  }

  // `needs`: of one operator, by end of the gap.
  void Add(std::span<const Need> needs) {
    // The last step that all needs from here on may be cut off at.
    std::vector<std::uint32_t> latest(needs.size());
    std::uint32_t least = std::numeric_limits<std::uint32_t>::max();
    for (std::size_t k = needs.size(); k-- > 0;) {
      latest[k] = least = std::min(least, LatestCut(needs[k]));
    }
    std::uint32_t cut = 0;
    for (std::size_t first = 0, k = 0; k < needs.size(); ++k) {
      Delay(needs[k].gap, std::max(needs[k].after, cut));
      const std::uint32_t end = gaps_[needs[k].gap].to;
      const bool last = k + 1 == needs.size();
      if (!last && (gaps_[needs[k + 1].gap].to == end || end > latest[k + 1])) continue;
      Pay(needs.subspan(first, k + 1 - first));
      first = k + 1;
      cut = end;
    }
  }
  [[nodiscard]] Repeats Take() { return std::move(repeats_); }

 private:
  [[nodiscard]] std::uint32_t LatestCut(const Need& need) const {
    if (need.since) return *need.since;
    if (const auto missing = MissingAfterOf(missing_after_, need.gap)) return *missing;
    return gaps_[need.gap].Latest();
  }
  void Delay(std::size_t gap, std::uint32_t step) {
    if (MissingAfterOf(missing_after_, gap)) return;
    repeats_.after[gap] = std::max(repeats_.after[gap], step);
  }

  // All gaps of a period. An execution brings a storage back for one of its gaps only: where a storage
  // that the operator makes has several of them, the gaps share the cost by size.
  void Pay(std::span<const Need> needs) {
    const std::int64_t cost = model_.cost[needs.front().op];
    if (cost == 0) return;
    if (needs.size() == 1) {
      repeats_.price[needs.front().gap] += cost;
      return;
    }
    std::vector<Storage> made;
    for (const Need& need : needs) {
      if (need.makes) made.push_back(gaps_[need.gap].storage);
    }
    std::sort(made.begin(), made.end());
    const bool apart = std::adjacent_find(made.begin(), made.end()) == made.end();
    if (!apart) {
      Share(needs, std::move(made), cost);
      return;
    }
    memories::SharedPrice& repeat = repeats_.shared.emplace_back();
    repeat.price = cost;
    for (const Need& need : needs) repeat.gaps.push_back(need.gap);
    std::sort(repeat.gaps.begin(), repeat.gaps.end());
  }

  void Share(std::span<const Need> needs, std::vector<Storage> made, std::int64_t cost) {
    made.erase(std::unique(made.begin(), made.end()), made.end());
    Wide total = 0;
    for (const Storage s : made) total += model_.storages[s].size;
    for (const Need& need : needs) {
      if (!need.makes) total += SizeOf(need);
    }
    for (const Need& need : needs) {
      repeats_.price[need.gap] += static_cast<std::int64_t>(Wide{cost} * SizeOf(need) / total);
    }
  }

  [[nodiscard]] Bytes SizeOf(const Need& need) const {
    return model_.storages[gaps_[need.gap].storage].size;
  }

  const Model& model_;
  const std::vector<Gap>& gaps_;
  const MissingAfter& missing_after_;
  Repeats repeats_;
};

// Prices for the same gaps are one price.
void MergeShared(std::vector<memories::SharedPrice>& shared) {
  std::map<std::vector<std::size_t>, std::int64_t> prices;
  for (memories::SharedPrice& repeat : shared) prices[std::move(repeat.gaps)] += repeat.price;
  shared.clear();
  for (const auto& [gaps, price] : prices) shared.push_back({gaps, price});
}

}  // namespace

void SortByOperator(const std::vector<Gap>& gaps, std::vector<Need>& needs) {
  std::sort(needs.begin(), needs.end(), [&](const Need& a, const Need& b) {
    if (a.op != b.op) return a.op < b.op;
    if (gaps[a.gap].to != gaps[b.gap].to) return gaps[a.gap].to < gaps[b.gap].to;
    return a.gap < b.gap;
  });
}

Repeats FindRepeats(const Model& model, const std::vector<Gap>& gaps, std::vector<Need> needs,
                    const MissingAfter& missing_after) {
  std::erase_if(needs, [&](const Need& need) {
    const auto missing = MissingAfterOf(missing_after, need.gap);
    return missing && need.after > *missing;
  });
  SortByOperator(gaps, needs);
  Finder finder(model, gaps, missing_after);
  for (std::size_t first = 0; first < needs.size();) {
    std::size_t last = first;
    while (last < needs.size() && needs[last].op == needs[first].op) ++last;
    finder.Add(std::span(needs).subspan(first, last - first));
    first = last;
  }
  Repeats repeats = finder.Take();
  MergeShared(repeats.shared);
  return repeats;
}

}  // namespace berth::internal::recompute
