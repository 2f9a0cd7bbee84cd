#include "baselines/encoded/encoding.h"

#include <algorithm>
#include <deque>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

#include "base/arithmetic.h"
#include "base/check.h"

namespace berth::internal {
namespace {

// The bytes [lower, upper) from the buffer's offset, live at the steps [start, end).
struct Block {
  Step start;
  Step end;
  Bytes lower;
  Bytes upper;
};

std::vector<Block> BlocksOf(const Buffer& buffer) {
  std::vector<Block> blocks;
  const auto add = [&](Step start, Step end, Bytes lower, Bytes upper) {
    if (start < end && lower < upper) blocks.push_back({start, end, lower, upper});
  };
  Step from = buffer.start;
  for (const Gap& gap : buffer.gaps) {
    add(from, gap.start, 0, buffer.size);
    if (gap.window) add(gap.start, gap.end, gap.window->lower, gap.window->upper);
    from = gap.end;
  }
  add(from, buffer.end, 0, buffer.size);
  return blocks;
}

Bytes GrainOf(const Problem& problem) {
  Bytes grain = 0;
  for (const Buffer& buffer : problem.buffers) {
    grain = std::gcd(grain, buffer.size);
    if (buffer.alignment > 1) grain = std::gcd(grain, buffer.alignment);
    if (buffer.offset) grain = std::gcd(grain, *buffer.offset);
    for (const Gap& gap : buffer.gaps) {
      if (gap.window) grain = std::gcd(std::gcd(grain, gap.window->lower), gap.window->upper);
    }
  }
  return std::max<Bytes>(grain, 1);
}

// The differences at which blocks live at the same time would share a byte, merged where they
// overlap: at a difference where one interval ends and another begins the two just touch.
std::vector<Encoding::Interval> ForbiddenDifferences(const std::vector<Block>& i,
                                                     const std::vector<Block>& j, Bytes grain) {
  std::vector<Encoding::Interval> intervals;
  for (std::size_t a = 0, b = 0; a < i.size() && b < j.size();) {
    if (i[a].start < j[b].end && j[b].start < i[a].end) {
      intervals.push_back({(i[a].lower - j[b].upper) / grain, (i[a].upper - j[b].lower) / grain});
    }
    (i[a].end < j[b].end ? a : b)++;
  }
  std::sort(intervals.begin(), intervals.end(),
            [](const auto& x, const auto& y) { return x.lower < y.lower; });
  std::vector<Encoding::Interval> merged;
  for (const Encoding::Interval& interval : intervals) {
    if (!merged.empty() && interval.lower < merged.back().upper) {
      merged.back().upper = std::max(merged.back().upper, interval.upper);
    } else {
      merged.push_back(interval);
    }
  }
  return merged;
}

void FindTwins(const Problem& problem, Encoding& encoding) {
  std::map<std::tuple<Step, Step, Bytes, Bytes>, std::int32_t> last;
  for (std::size_t b = 0; b < problem.buffers.size(); ++b) {
    const Buffer& buffer = problem.buffers[b];
    if (buffer.offset || !buffer.gaps.empty()) continue;
    auto [at, is_new] = last.try_emplace({buffer.start, buffer.end, buffer.size, buffer.alignment},
                                         static_cast<std::int32_t>(b));
    if (!is_new) encoding.items[b].twin = std::exchange(at->second, static_cast<std::int32_t>(b));
  }
}

}  // namespace

Grains Encoding::HighestOffset(std::size_t x, Grains capacity) const {
  const Item& item = items[x];
  if (item.size > capacity) return -1;
  const Grains highest = RoundDown(capacity - item.size, item.alignment);
  if (!item.pin) return highest;
  return *item.pin <= highest ? *item.pin : -1;
}

bool IsPlan(const Encoding& encoding, Grains capacity, const std::vector<Grains>& offsets) {
  for (std::size_t x = 0; x < encoding.items.size(); ++x) {
    const Encoding::Item& item = encoding.items[x];
    if (offsets[x] < 0 || offsets[x] > encoding.HighestOffset(x, capacity) ||
        offsets[x] % item.alignment != 0 || offsets[x] != item.pin.value_or(offsets[x])) {
      return false;
    }
  }
  return std::none_of(encoding.pairs.begin(), encoding.pairs.end(), [&](const auto& pair) {
    const Grains difference =
        offsets[static_cast<std::size_t>(pair.j)] - offsets[static_cast<std::size_t>(pair.i)];
    return std::any_of(pair.forbidden.begin(), pair.forbidden.end(), [&](const auto& interval) {
      return difference > interval.lower && difference < interval.upper;
    });
  });
}

std::optional<Encoding> Encode(const Problem& problem, std::int64_t most, const Budget& budget) {
  Encoding encoding;
  encoding.grain = GrainOf(problem);
  const std::size_t n = problem.buffers.size();
  std::vector<std::vector<Block>> blocks(n);
  std::vector<std::int32_t> order(n);
  std::iota(order.begin(), order.end(), 0);
  const auto at = [](std::int32_t b) { return static_cast<std::size_t>(b); };
  for (std::size_t b = 0; b < n; ++b) {
    const Buffer& buffer = problem.buffers[b];
    blocks[b] = BlocksOf(buffer);
    Encoding::Item item{
        buffer.size / encoding.grain, std::max<Grains>(buffer.alignment / encoding.grain, 1),
        std::nullopt,
        static_cast<double>(buffer.size) * static_cast<double>(buffer.end - buffer.start), -1};
    if (buffer.offset) item.pin = *buffer.offset / encoding.grain;
    encoding.items.push_back(item);
  }
  std::stable_sort(order.begin(), order.end(), [&](std::int32_t x, std::int32_t y) {
    return problem.buffers[at(x)].start < problem.buffers[at(y)].start;
  });
  // Sweep: those that have begun, by their ends.
  std::set<std::pair<Step, std::int32_t>> live;
  std::int64_t looks = 0;
  for (const std::int32_t b : order) {
    const Buffer& buffer = problem.buffers[at(b)];
    while (!live.empty() && live.begin()->first <= buffer.start) live.erase(live.begin());
    for (const auto& [end, other] : live) {
      if (++looks % 4096 == 0 && budget.TimeIsUp()) return std::nullopt;
      const std::int32_t i = std::min(b, other);
      const std::int32_t j = std::max(b, other);
      auto forbidden = ForbiddenDifferences(blocks[at(i)], blocks[at(j)], encoding.grain);
      if (forbidden.empty()) continue;
      if (std::ssize(encoding.pairs) >= most) return std::nullopt;
      encoding.pairs.push_back({i, j, std::move(forbidden)});
    }
    live.emplace(buffer.end, b);
  }
  std::sort(encoding.pairs.begin(), encoding.pairs.end(),
            [](const auto& x, const auto& y) { return std::pair(x.i, x.j) < std::pair(y.i, y.j); });
  FindTwins(problem, encoding);
  return encoding;
}

std::vector<std::size_t> PairsByArea(const Encoding& encoding) {
  const std::size_t n = encoding.items.size();
  std::vector<std::size_t> by_area(n);
  std::iota(by_area.begin(), by_area.end(), std::size_t{0});
  std::stable_sort(by_area.begin(), by_area.end(), [&](std::size_t x, std::size_t y) {
    return encoding.items[x].area > encoding.items[y].area;
  });
  std::vector<std::size_t> rank(n);
  for (std::size_t k = 0; k < n; ++k) rank[by_area[k]] = k;
  const auto key = [&](std::size_t p) {
    const std::size_t i = rank[static_cast<std::size_t>(encoding.pairs[p].i)];
    const std::size_t j = rank[static_cast<std::size_t>(encoding.pairs[p].j)];
    return std::pair(std::max(i, j), std::min(i, j));
  };
  std::vector<std::size_t> order(encoding.pairs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t p, std::size_t q) { return key(p) < key(q); });
  return order;
}

void AppendRegion(const Encoding::Pair& pair, std::size_t region, std::vector<Difference>& out) {
  BERTH_DCHECK(region < pair.num_regions());
  // o_j - o_i >= the upper end of the interval before, and <= the lower end of the one after.
  if (region > 0) out.push_back({pair.i, pair.j, pair.forbidden[region - 1].upper});
  if (region < pair.forbidden.size()) {
    out.push_back({pair.j, pair.i, -pair.forbidden[region].lower});
  }
}

namespace {

constexpr std::size_t kNothing = static_cast<std::size_t>(-1);

// The constraints that push `x` to where it is, by way of those that raised each; all of them where
// rounding alone keeps a cycle going, as then the first push may be forgotten.
std::vector<std::size_t> Blame(std::size_t x, const std::vector<std::size_t>& raised_by,
                               const std::vector<Difference>& constraints) {
  std::vector<std::size_t> chain;
  std::set<std::size_t> met;
  for (; raised_by[x] != kNothing && met.insert(raised_by[x]).second;
       x = static_cast<std::size_t>(constraints[raised_by[x]].from)) {
    chain.push_back(raised_by[x]);
  }
  if (raised_by[x] != kNothing) {
    // The cycle is what comes from raised_by[x] on, and enough by itself if it climbs.
    chain.erase(chain.begin(), std::find(chain.begin(), chain.end(), raised_by[x]));
    Grains climb = 0;
    for (const std::size_t c : chain) climb += constraints[c].least;
    if (climb <= 0) {
      chain.resize(constraints.size());
      std::iota(chain.begin(), chain.end(), std::size_t{0});
    }
  }
  std::sort(chain.begin(), chain.end());
  return chain;
}

// Whether the raises that led to `x` form a cycle of positive total.
bool ClimbsForEver(std::size_t x, const std::vector<std::size_t>& raised_by,
                   const std::vector<Difference>& constraints) {
  // After one step per item the walk is on the cycle, if there is one.
  for (std::size_t steps = 0; steps < raised_by.size(); ++steps) {
    if (raised_by[x] == kNothing) return false;
    x = static_cast<std::size_t>(constraints[raised_by[x]].from);
  }
  Grains climb = 0;
  std::size_t y = x;
  do {
    const Difference& constraint = constraints[raised_by[y]];
    climb += constraint.least;
    y = static_cast<std::size_t>(constraint.from);
  } while (y != x);
  return climb > 0;
}

}  // namespace

// Raises offsets that are too low until none is. Rounding up is monotone, so the first fixpoint
// from below is the least. Each raise remembers its constraint. Those met on the way back from an
// offset imply it, so when one is too high they are to blame; and where they form a cycle whose
// constraints add up to more than zero, no offsets satisfy it.
std::optional<std::vector<Grains>> LeastOffsets(const Encoding& encoding, Grains capacity,
                                                const std::vector<Difference>& constraints,
                                                std::vector<std::size_t>* conflict) {
  const std::size_t n = encoding.items.size();
  if (conflict != nullptr) conflict->clear();
  std::vector<Grains> offsets(n, 0);
  std::vector<Grains> highest(n);
  for (std::size_t x = 0; x < n; ++x) {
    highest[x] = encoding.HighestOffset(x, capacity);
    if (highest[x] < 0) return std::nullopt;
    offsets[x] = encoding.items[x].pin.value_or(0);
  }
  std::vector<std::size_t> raised_by(n, kNothing);
  std::vector<std::size_t> raises(n, 0);
  std::vector<std::vector<std::size_t>> leaving(n);
  for (std::size_t c = 0; c < constraints.size(); ++c) {
    leaving[static_cast<std::size_t>(constraints[c].from)].push_back(c);
  }
  std::deque<std::size_t> queue(n);
  std::iota(queue.begin(), queue.end(), std::size_t{0});
  std::vector<bool> queued(n, true);
  for (; !queue.empty(); queue.pop_front()) {
    const std::size_t from = queue.front();
    queued[from] = false;
    for (const std::size_t c : leaving[from]) {
      const auto to = static_cast<std::size_t>(constraints[c].to);
      const Grains least =
          RoundUp(offsets[from] + constraints[c].least, encoding.items[to].alignment);
      if (least <= offsets[to]) continue;
      offsets[to] = least;
      raised_by[to] = c;
      const bool often = ++raises[to] % (n + 1) == 0;
      if (least > highest[to] || (often && ClimbsForEver(to, raised_by, constraints))) {
        if (conflict != nullptr) *conflict = Blame(to, raised_by, constraints);
        return std::nullopt;
      }
      if (queued[to]) continue;
      queued[to] = true;
      queue.push_back(to);
    }
  }
  return offsets;
}

}  // namespace berth::internal
