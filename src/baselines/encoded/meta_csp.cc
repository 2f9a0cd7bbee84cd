#include "baselines/encoded/meta_csp.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "base/arithmetic.h"
#include "base/check.h"

namespace berth::internal {
namespace {

// Pairs examined between two looks at the clock.
constexpr std::size_t kLooksPerPoll = 64;

}  // namespace

MetaCspSearch::MetaCspSearch(const Encoding& encoding)
    : encoding_(encoding), nodes_(encoding.items.size() + 1) {
  BERTH_CHECK(encoding.items.size() <= kMostItems);
  pair_of_.assign(nodes_ * nodes_, -1);
  for (std::size_t p = 0; p < encoding.pairs.size(); ++p) {
    const auto i = static_cast<std::size_t>(encoding.pairs[p].i);
    const auto j = static_cast<std::size_t>(encoding.pairs[p].j);
    pair_of_[(i + 1) * nodes_ + j + 1] = static_cast<std::int32_t>(p);
    pair_of_[(j + 1) * nodes_ + i + 1] = static_cast<std::int32_t>(p);
  }
  for (const Encoding::Item& item : encoding.items) aligned_ = aligned_ || item.alignment != 1;
  order_ = PairsByArea(encoding);
}

Decision MetaCspSearch::Decide(Grains capacity, std::int64_t node_limit, Budget& budget) {
  using Verdict = Decision::Verdict;
  Decision decision;
  if (budget.Exhausted()) return decision;
  if (!Start(capacity)) return {Verdict::kImpossible, {}};
  std::int64_t nodes = 0;
  Step step = Propagate(budget);
  while (true) {
    if (step == Step::kGaveUp) return decision;
    if (step == Step::kConsistent) {
      const std::size_t pair = Select();
      if (pair == encoding_.pairs.size()) {
        if (Leaf(capacity, decision.offsets)) {
          decision.verdict = Verdict::kFound;
          return decision;
        }
      } else {
        PushLevel(pair);
      }
      step = Step::kContradiction;  // Take the first region below.
    }
    while (step == Step::kContradiction) {
      if (levels_.empty()) return {Verdict::kImpossible, {}};
      const Level& level = levels_.back();
      Undo(level);
      if (regions_.size() == level.regions_begin) {
        levels_.pop_back();
        continue;
      }
      if (nodes >= node_limit || !budget.SpendNode()) return decision;
      ++nodes;
      const std::size_t region = regions_.back();
      regions_.pop_back();
      step = Choose(level.pair, region);
      if (step == Step::kConsistent) step = Propagate(budget);
    }
  }
}

bool MetaCspSearch::Start(Grains capacity) {
  const std::size_t n = encoding_.items.size();
  bounds_.assign(nodes_ * nodes_, 0);
  std::vector<Grains> lowest(nodes_, 0);
  std::vector<Grains> highest(nodes_, 0);
  for (std::size_t x = 0; x < n; ++x) {
    lowest[x + 1] = encoding_.items[x].pin.value_or(0);
    highest[x + 1] = encoding_.HighestOffset(x, capacity);
    if (highest[x + 1] < 0) return false;
  }
  // By way of the ground, everything is bounded by everything.
  for (Node u = 0; u < nodes_; ++u) {
    for (Node v = 0; v < nodes_; ++v) {
      if (u != v) bound(u, v) = lowest[v] - highest[u];
    }
  }
  settled_.assign(encoding_.pairs.size(), false);
  queued_.assign(encoding_.pairs.size(), true);
  queue_.resize(encoding_.pairs.size());
  std::iota(queue_.begin(), queue_.end(), std::size_t{0});
  settling_.clear();
  changes_.clear();
  posted_.clear();
  first_open_ = 0;
  levels_.clear();
  regions_.clear();
  // Of twins the first lies lowest.
  for (std::size_t x = 0; x < n; ++x) {
    const std::int32_t twin = encoding_.items[x].twin;
    if (twin < 0) continue;
    posted_.push_back({twin, static_cast<std::int32_t>(x), 0});
    if (Add(posted_.back()) != Step::kConsistent) return false;
  }
  return true;
}

// The bounds from everything `before` the new constraint to everything `after` it.
MetaCspSearch::Step MetaCspSearch::Add(const Difference& difference) {
  const Node u = static_cast<Node>(difference.from) + 1;
  const Node v = static_cast<Node>(difference.to) + 1;
  if (difference.least <= bound(u, v)) return Step::kConsistent;
  before_.clear();
  after_.clear();
  for (Node a = 0; a < nodes_; ++a) {
    const Grains to_u = a == u ? 0 : bound(a, u);
    if (a != v && to_u + difference.least > bound(a, v)) before_.emplace_back(a, to_u);
    const Grains from_v = a == v ? 0 : bound(v, a);
    if (a != u && difference.least + from_v > bound(u, a)) after_.emplace_back(a, from_v);
  }
  // Neither end's own cycle is among them.
  if (difference.least + bound(v, u) > 0) return Step::kContradiction;
  const auto alignment = [this](Node x) { return x == 0 ? 0 : encoding_.items[x - 1].alignment; };
  for (const auto& [a, to_u] : before_) {
    for (const auto& [b, from_v] : after_) {
      if (a == b) continue;
      Grains least = to_u + difference.least + from_v;
      if (aligned_) least = RoundUp(least, std::gcd(alignment(a), alignment(b)));
      Grains& now = bound(a, b);
      if (least <= now) continue;
      if (least + bound(b, a) > 0) return Step::kContradiction;
      changes_.push_back({a * nodes_ + b, now});
      now = least;
      const std::int32_t pair = pair_of_[a * nodes_ + b];
      if (pair < 0) continue;
      const auto p = static_cast<std::size_t>(pair);
      if (settled_[p] || queued_[p]) continue;
      queued_[p] = true;
      queue_.push_back(p);
    }
  }
  return Step::kConsistent;
}

MetaCspSearch::Step MetaCspSearch::Choose(std::size_t pair, std::size_t region) {
  settled_[pair] = true;
  settling_.push_back(pair);
  const std::size_t first = posted_.size();
  AppendRegion(encoding_.pairs[pair], region, posted_);
  for (std::size_t c = first; c < posted_.size(); ++c) {
    const Step step = Add(posted_[c]);
    if (step != Step::kConsistent) return step;
  }
  return Step::kConsistent;
}

MetaCspSearch::Step MetaCspSearch::Propagate(Budget& budget) {
  std::size_t looks = 0;
  for (std::size_t next = 0; next < queue_.size();) {  // It grows during the loop.
    if (++looks % kLooksPerPoll == 0 && budget.TimeIsUp()) return Step::kGaveUp;
    const std::size_t p = queue_[next++];
    queued_[p] = false;
    if (settled_[p]) continue;
    const Encoding::Pair& pair = encoding_.pairs[p];
    std::size_t possible = 0;
    std::size_t last = 0;
    for (std::size_t region = 0; region < pair.num_regions(); ++region) {
      const Room room = RoomIn(pair, region);
      if (room.first > room.last) continue;
      ++possible;
      last = region;
    }
    if (possible == 0) return Step::kContradiction;
    if (possible > 1) continue;
    // Forced, or subsumed: then this adds nothing to the bounds.
    if (Choose(p, last) != Step::kConsistent) return Step::kContradiction;
  }
  queue_.clear();
  return Step::kConsistent;
}

MetaCspSearch::Room MetaCspSearch::RoomIn(const Encoding::Pair& pair, std::size_t region) {
  const Node i = static_cast<Node>(pair.i) + 1;
  const Node j = static_cast<Node>(pair.j) + 1;
  Room room{bound(i, j), -bound(j, i)};
  if (region > 0) room.first = std::max(room.first, pair.forbidden[region - 1].upper);
  if (region < pair.forbidden.size()) {
    room.last = std::min(room.last, pair.forbidden[region].lower);
  }
  return room;
}

// A settled pair stays so until it is undone, which restores its place in the order.
std::size_t MetaCspSearch::Select() {
  while (first_open_ < order_.size() && settled_[order_[first_open_]]) ++first_open_;
  return first_open_ < order_.size() ? order_[first_open_] : encoding_.pairs.size();
}

void MetaCspSearch::PushLevel(std::size_t pair) {
  levels_.push_back(
      {pair, regions_.size(), changes_.size(), settling_.size(), posted_.size(), first_open_});
  const Encoding::Pair& of = encoding_.pairs[pair];
  for (std::size_t region = 0; region < of.num_regions(); ++region) {
    const Room room = RoomIn(of, region);
    if (room.first <= room.last) regions_.push_back(region);
  }
  // The last one is tried first.
  std::stable_sort(
      regions_.begin() + static_cast<std::ptrdiff_t>(levels_.back().regions_begin), regions_.end(),
      [&](std::size_t x, std::size_t y) { return RoomIn(of, x).size() < RoomIn(of, y).size(); });
}

void MetaCspSearch::Undo(const Level& level) {
  for (; changes_.size() > level.changes; changes_.pop_back()) {
    bounds_[changes_.back().cell] = changes_.back().old;
  }
  for (; settling_.size() > level.settled; settling_.pop_back()) {
    settled_[settling_.back()] = false;
  }
  posted_.resize(level.posted);
  first_open_ = level.first_open;
  for (const std::size_t p : queue_) queued_[p] = false;
  queue_.clear();
}

bool MetaCspSearch::Leaf(Grains capacity, std::vector<Grains>& offsets) {
  if (!aligned_) {
    // The bounds from the ground are a solution, and the lowest.
    offsets.resize(encoding_.items.size());
    for (std::size_t x = 0; x < offsets.size(); ++x) offsets[x] = bound(0, x + 1);
    return true;
  }
  auto least = LeastOffsets(encoding_, capacity, posted_, nullptr);
  if (!least) return false;
  offsets = std::move(*least);
  return true;
}

}  // namespace berth::internal
