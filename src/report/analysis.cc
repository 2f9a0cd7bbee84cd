#include "report/analysis.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/arithmetic.h"
#include "base/check.h"

namespace berth::internal::report {
namespace {

Bytes BytesOf(const Piece& piece) { return piece.window.upper - piece.window.lower; }

// The largest of any stretch of a list, in constant time after O(n log n).
class RangeMaximum {
 public:
  explicit RangeMaximum(const std::vector<Bytes>& values) : levels_{values} {
    for (std::size_t width = 2; width <= values.size(); width *= 2) {
      const std::vector<Bytes>& half = levels_.back();
      std::vector<Bytes> level(values.size() - width + 1);
      for (std::size_t i = 0; i < level.size(); ++i) {
        level[i] = std::max(half[i], half[i + width / 2]);
      }
      levels_.push_back(std::move(level));
    }
  }
  // Of [first, last); 0 where that is empty: no load is less.
  [[nodiscard]] Bytes Of(std::size_t first, std::size_t last) const {
    if (first >= last) return 0;
    const auto level = static_cast<std::size_t>(std::bit_width(last - first) - 1);
    return std::max(levels_[level][first], levels_[level][last - (std::size_t{1} << level)]);
  }

 private:
  std::vector<std::vector<Bytes>> levels_;
};

// Where `step` is among the curve's.
std::size_t IndexOf(const Curve& curve, Step step) {
  const auto found = std::lower_bound(curve.steps.begin(), curve.steps.end(), step);
  return static_cast<std::size_t>(found - curve.steps.begin());
}

// The bytes [lower, upper) that a live piece has in the arena.
struct Interval {
  Bytes lower;
  Bytes upper;
  std::size_t buffer;
};

std::vector<Hole> HolesBetween(const Problem& problem, std::vector<Interval> live, Bytes height) {
  std::sort(live.begin(), live.end(), [](const Interval& x, const Interval& y) {
    return std::pair(x.lower, x.buffer) < std::pair(y.lower, y.buffer);
  });
  std::vector<Hole> holes;
  Bytes top = 0;
  for (const Interval& interval : live) {
    if (interval.lower > top) {
      const Buffer& buffer = problem.buffers[interval.buffer];
      // A pinned buffer, or one of which a window alone is live, is not there for its alignment.
      const bool whole = interval.upper - interval.lower == buffer.size;
      const Bytes lowest = RoundUp(top, buffer.alignment);
      const bool padded = whole && !buffer.offset && lowest <= interval.lower;
      holes.push_back({top, interval.lower, padded ? lowest - top : 0, interval.buffer});
    }
    top = std::max(top, interval.upper);
  }
  if (height > top) holes.push_back({top, height, 0, std::nullopt});
  return holes;
}

}  // namespace

std::vector<Piece> PiecesOf(const Problem& problem) {
  std::vector<Piece> pieces;
  pieces.reserve(problem.buffers.size());
  for (std::size_t b = 0; b < problem.buffers.size(); ++b) {
    const Buffer& buffer = problem.buffers[b];
    Step from = buffer.start;
    const auto add = [&](Step start, Step end, const Window& window) {
      if (start < end) pieces.push_back({b, start, end, window});
    };
    for (const Gap& gap : buffer.gaps) {
      add(from, gap.start, {0, buffer.size});
      if (gap.window) add(gap.start, gap.end, *gap.window);
      from = gap.end;
    }
    add(from, buffer.end, {0, buffer.size});
  }
  return pieces;
}

Curve CurveOf(const Problem& problem) {
  std::vector<std::pair<Step, Bytes>> changes;
  for (const Piece& piece : PiecesOf(problem)) {
    changes.emplace_back(piece.start, BytesOf(piece));
    changes.emplace_back(piece.end, -BytesOf(piece));
  }
  std::sort(changes.begin(), changes.end());
  Curve curve;
  Bytes live = 0;
  for (std::size_t i = 0; i < changes.size();) {
    const Step step = changes[i].first;
    for (; i < changes.size() && changes[i].first == step; ++i) live += changes[i].second;
    curve.steps.push_back(step);
    curve.live.push_back(live);
  }
  return curve;
}

PeakFacts FactsOfPeak(const Problem& problem, const Placement* placement, const Curve& curve) {
  PeakFacts peak;
  if (curve.steps.empty()) return peak;
  const auto most = std::max_element(curve.live.begin(), curve.live.end());
  const auto at = static_cast<std::size_t>(most - curve.live.begin());
  peak.start = curve.steps[at];
  peak.end = at + 1 < curve.steps.size() ? curve.steps[at + 1] : peak.start + 1;
  peak.load = *most;
  for (const Piece& piece : PiecesOf(problem)) {
    if (piece.start <= peak.start && peak.start < piece.end) peak.live.push_back(piece);
  }
  std::stable_sort(peak.live.begin(), peak.live.end(),
                   [](const Piece& x, const Piece& y) { return BytesOf(x) > BytesOf(y); });
  if (placement == nullptr) return peak;
  std::vector<Interval> live;
  for (const Piece& piece : peak.live) {
    const Bytes offset = placement->offsets[piece.buffer];
    live.push_back({offset + piece.window.lower, offset + piece.window.upper, piece.buffer});
  }
  peak.holes = HolesBetween(problem, std::move(live), placement->height);
  for (const Hole& hole : peak.holes) {
    peak.padding += hole.padding;
    peak.fragmentation += hole.upper - hole.lower - hole.padding;
  }
  return peak;
}

std::vector<Relief> FindRelief(const Problem& problem, const Curve& curve, std::size_t most) {
  std::vector<Relief> relief;
  if (curve.steps.empty()) return relief;
  const RangeMaximum loads(curve.live);
  const Bytes load = loads.Of(0, curve.live.size());
  const std::vector<Piece> pieces = PiecesOf(problem);
  for (std::size_t first = 0; first < pieces.size();) {
    const std::size_t b = pieces[first].buffer;
    const Bytes size = problem.buffers[b].size;
    Bytes without = 0;  // The peak load without the buffer.
    Bytes beside = 0;   // The most where it is not live as a whole: shrinking it changes nothing.
    std::size_t done = 0;
    std::size_t last = first;
    for (; last < pieces.size() && pieces[last].buffer == b; ++last) {
      const std::size_t from = IndexOf(curve, pieces[last].start);
      const std::size_t to = IndexOf(curve, pieces[last].end);
      const Bytes outside = loads.Of(done, from);
      const Bytes inside = loads.Of(from, to);
      const Bytes bytes = BytesOf(pieces[last]);
      without = std::max({without, outside, inside - bytes});
      beside = std::max({beside, outside, bytes == size ? 0 : inside});
      done = to;
    }
    const Bytes outside = loads.Of(done, curve.live.size());
    without = std::max(without, outside);
    beside = std::max(beside, outside);
    if (without < load) {
      const Bytes capacity = problem.capacity.value_or(load);
      const Bytes missing = load - capacity;
      const bool helps = missing > 0 && beside <= capacity && missing < size;
      relief.push_back({b, without, helps ? std::optional(missing) : std::nullopt});
    }
    first = last;
  }
  std::stable_sort(relief.begin(), relief.end(),
                   [](const Relief& x, const Relief& y) { return x.peak < y.peak; });
  if (relief.size() > most) relief.resize(most);
  return relief;
}

}  // namespace berth::internal::report
