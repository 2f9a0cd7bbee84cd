#include "baselines/encoded/csp.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "base/arithmetic.h"

namespace berth::internal {

CspSearch::CspSearch(const Problem& problem, const Encoding& encoding)
    : encoding_(encoding), neighbours_(encoding.items.size()), next_twin_(encoding.items.size()) {
  const std::size_t n = encoding.items.size();
  order_.resize(n);
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  std::stable_sort(order_.begin(), order_.end(), [&](std::size_t x, std::size_t y) {
    return encoding.items[x].area > encoding.items[y].area;
  });
  for (std::size_t p = 0; p < encoding.pairs.size(); ++p) {
    const auto i = static_cast<std::size_t>(encoding.pairs[p].i);
    const auto j = static_cast<std::size_t>(encoding.pairs[p].j);
    neighbours_[i].push_back({j, p, true});
    neighbours_[j].push_back({i, p, false});
  }
  bool has_windows = false;
  for (std::size_t x = 0; x < n; ++x) {
    const Buffer& buffer = problem.buffers[x];
    for (const Gap& gap : buffer.gaps) has_windows = has_windows || gap.window;
    can_turn_ = can_turn_ && encoding.items[x].alignment == 1 && !encoding.items[x].pin;
    next_twin_[x] = x;
    if (encoding.items[x].twin >= 0) {
      next_twin_[static_cast<std::size_t>(encoding.items[x].twin)] = x;
    }
  }
  can_turn_ = can_turn_ && !has_windows;
  sections_of_.resize(n);
  if (has_windows) return;
  for (const Section& section : Sections(problem)) {
    for (const std::size_t x : section.buffers) sections_of_[x].push_back(sections_.size());
    sections_.push_back(section.buffers);
  }
}

Decision CspSearch::Decide(Grains capacity, std::int64_t node_limit, Budget& budget) {
  using Verdict = Decision::Verdict;
  if (!Start(capacity)) return {Verdict::kImpossible, {}};
  std::vector<Level> levels = {{0, 0}};
  std::int64_t nodes = 0;
  while (levels.size() <= order_.size()) {
    Level& level = levels.back();
    const std::size_t item = order_[levels.size() - 1];
    Undo(level.mark);
    offsets_[item] = -1;
    Grains offset = NextOffset(item, level.next);
    // Upside down, the first one's upper half has been seen.
    const bool turned = can_turn_ && levels.size() == 1 && next_twin_[item] == item &&
                        2 * offset > capacity - encoding_.items[item].size;
    if (turned) offset = -1;
    if (offset < 0) {
      levels.pop_back();
      if (levels.empty()) return {Verdict::kImpossible, {}};
      continue;
    }
    if (nodes >= node_limit || !budget.SpendNode()) return {Verdict::kGaveUp, {}};
    ++nodes;
    level.next = offset + 1;
    if (Place(item, offset)) levels.push_back({saved_.size(), 0});
  }
  return {Verdict::kFound, offsets_};
}

bool CspSearch::Start(Grains capacity) {
  capacity_ = capacity;
  saved_.clear();
  offsets_.assign(encoding_.items.size(), -1);
  domains_.clear();
  for (std::size_t x = 0; x < encoding_.items.size(); ++x) {
    const Grains highest = encoding_.HighestOffset(x, capacity);
    if (highest < 0) return false;
    domains_.push_back({{encoding_.items[x].pin.value_or(0), highest}});
  }
  return true;
}

Grains CspSearch::NextOffset(std::size_t item, Grains from) const {
  for (const Range& range : domains_[item]) {
    if (range.last < from) continue;
    const Grains offset = RoundUp(std::max(range.first, from), encoding_.items[item].alignment);
    if (offset <= range.last) return offset;
  }
  return -1;
}

bool CspSearch::Place(std::size_t item, Grains offset) {
  offsets_[item] = offset;
  for (const Neighbour& neighbour : neighbours_[item]) {
    if (offsets_[neighbour.item] >= 0) continue;
    for (const Encoding::Interval& interval : encoding_.pairs[neighbour.pair].forbidden) {
      // o_other - o_item, or the negative of it, stays out of the interval.
      const bool fits =
          neighbour.above
              ? Remove(neighbour.item, offset + interval.lower + 1, offset + interval.upper - 1)
              : Remove(neighbour.item, offset - interval.upper + 1, offset - interval.lower - 1);
      if (!fits) return false;
    }
  }
  const std::size_t twin = next_twin_[item];
  if (twin != item && offsets_[twin] < 0 && !Remove(twin, 0, offset)) return false;
  return SectionsHold(item);
}

bool CspSearch::Remove(std::size_t item, Grains first, Grains last) {
  Domain& domain = domains_[item];
  const bool meets = std::any_of(domain.begin(), domain.end(), [&](const Range& range) {
    return range.first <= last && first <= range.last;
  });
  if (!meets) return true;
  Domain rest;
  const Grains alignment = encoding_.items[item].alignment;
  const auto keep = [&](Grains from, Grains to) {
    if (from <= to && RoundUp(from, alignment) <= to) rest.push_back({from, to});
  };
  for (const Range& range : domain) {
    keep(range.first, std::min(range.last, first - 1));
    keep(std::max(range.first, last + 1), range.last);
  }
  saved_.push_back({item, std::move(domain)});
  domain = std::move(rest);
  return !domain.empty();
}

bool CspSearch::SectionsHold(std::size_t item) {
  for (const std::size_t s : sections_of_[item]) {
    Grains smallest = std::numeric_limits<Grains>::max();
    Grains unplaced = 0;
    taken_.clear();
    for (const std::size_t x : sections_[s]) {
      const Grains size = encoding_.items[x].size;
      if (offsets_[x] < 0) {
        smallest = std::min(smallest, size);
        unplaced += size;
      } else {
        taken_.push_back({offsets_[x], offsets_[x] + size});
      }
    }
    std::sort(taken_.begin(), taken_.end(),
              [](const Range& x, const Range& y) { return x.first < y.first; });
    taken_.push_back({capacity_, capacity_});
    Grains room = 0;
    Grains top = 0;
    for (const Range& range : taken_) {
      if (range.first - top >= smallest) room += range.first - top;
      top = range.last;
    }
    if (room < unplaced) return false;
  }
  return true;
}

void CspSearch::Undo(std::size_t mark) {
  for (; saved_.size() > mark; saved_.pop_back()) {
    domains_[saved_.back().item] = std::move(saved_.back().domain);
  }
}

}  // namespace berth::internal
