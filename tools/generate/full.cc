// Every step exactly full.
//
// Random buffers are added as long as they keep the load at or below the peak, and cut down where
// they would not. Then the remaining profile is filled up to the peak with as few rectangles as one
// pass over time finds: where the free space grows a filler opens, where it shrinks the youngest
// fillers close, split if necessary.
//
// The random buffers are sized so that together they would cover four fifths of the rectangle.
#include <algorithm>
#include <cmath>

#include "tools/generate/families.h"

namespace berth::internal {
namespace {

constexpr double kRandomShare = 0.8;

// The load of every interval between breakpoints: add to a range, maximum of a range.
class LoadTree {
 public:
  explicit LoadTree(std::size_t intervals) : intervals_(intervals), nodes_(4 * intervals) {}

  void Add(std::size_t first, std::size_t last, Bytes units) {
    Add(1, 0, intervals_, first, last, units);
  }
  // The range must not be empty.
  [[nodiscard]] Bytes Most(std::size_t first, std::size_t last) const {
    return Most(1, 0, intervals_, first, last);
  }

 private:
  // Below every load, even after gaps have removed units; far from overflow.
  static constexpr Bytes kNothing = -kMaxBytes;

  struct Node {
    Bytes most = 0;   // Within this node, without what is added to its ancestors.
    Bytes added = 0;  // To the whole node; part of `most`.
  };

  void Add(std::size_t node, std::size_t from, std::size_t to, std::size_t first, std::size_t last,
           Bytes units) {
    if (last <= from || to <= first) return;
    if (first <= from && to <= last) {
      nodes_[node].most += units;
      nodes_[node].added += units;
      return;
    }
    const std::size_t middle = (from + to) / 2;
    Add(2 * node, from, middle, first, last, units);
    Add(2 * node + 1, middle, to, first, last, units);
    nodes_[node].most =
        std::max(nodes_[2 * node].most, nodes_[2 * node + 1].most) + nodes_[node].added;
  }
  [[nodiscard]] Bytes Most(std::size_t node, std::size_t from, std::size_t to, std::size_t first,
                           std::size_t last) const {
    if (last <= from || to <= first) return kNothing;
    if (first <= from && to <= last) return nodes_[node].most;
    const std::size_t middle = (from + to) / 2;
    return nodes_[node].added + std::max(Most(2 * node, from, middle, first, last),
                                         Most(2 * node + 1, middle, to, first, last));
  }

  std::size_t intervals_;
  std::vector<Node> nodes_;
};

std::vector<Buffer> DrawLifetimes(const Setting& setting, Step longest, Random& random) {
  std::vector<Buffer> buffers(static_cast<std::size_t>(setting.buffers));
  for (Buffer& buffer : buffers) {
    const Step length = random.Uniform(1, longest);
    buffer.start = random.Uniform(0, setting.steps - length);
    buffer.end = buffer.start + length;
    if (length >= 3 && random.Chance(setting.gaps_percent / 100.0)) {
      buffer.gaps.push_back(DrawGapSteps(buffer.start, buffer.end, random));
    }
  }
  return buffers;
}

std::vector<Step> Breakpoints(const std::vector<Buffer>& buffers, Step steps) {
  std::vector<Step> breakpoints = {0, steps};
  for (const Buffer& buffer : buffers) {
    breakpoints.insert(breakpoints.end(), {buffer.start, buffer.end});
    for (const Gap& gap : buffer.gaps) {
      breakpoints.insert(breakpoints.end(), {gap.start, gap.end});
    }
  }
  std::sort(breakpoints.begin(), breakpoints.end());
  breakpoints.erase(std::unique(breakpoints.begin(), breakpoints.end()), breakpoints.end());
  return breakpoints;
}

class Filler {
 public:
  explicit Filler(std::vector<Buffer>& buffers) : buffers_(buffers) {}

  // From step `now` on, `room` units must be filled.
  void SetRoom(Step now, Bytes room) {
    while (filled_ > room) {
      Open& youngest = open_.back();
      const Bytes closing = std::min(youngest.units, filled_ - room);
      Buffer filler;
      filler.id = "filler" + std::to_string(++count_);
      filler.start = youngest.start;
      filler.end = now;
      filler.size = closing;
      buffers_.push_back(std::move(filler));
      filled_ -= closing;
      youngest.units -= closing;
      if (youngest.units == 0) open_.pop_back();
    }
    if (filled_ < room) open_.push_back({now, room - filled_});
    filled_ = room;
  }

 private:
  struct Open {
    Step start;
    Bytes units;
  };
  std::vector<Buffer>& buffers_;
  std::vector<Open> open_;
  Bytes filled_ = 0;
  std::int64_t count_ = 0;
};

}  // namespace

Result<GeneratedProblem> GenerateFull(const Setting& setting, Random& random) {
  // Lengths are uniform up to `longest` and sizes up to `largest`, which are twice their means. The
  // means have the same ratio to all steps and to all units.
  const double share = std::sqrt(kRandomShare / static_cast<double>(setting.buffers));
  const auto twice_mean = [&](std::int64_t whole) {
    const double twice = 2 * share * static_cast<double>(whole);
    return std::clamp<std::int64_t>(static_cast<std::int64_t>(twice), 1, whole);
  };
  const Step longest = twice_mean(setting.steps);
  const Bytes largest = twice_mean(setting.peak_units);

  std::vector<Buffer> drawn = DrawLifetimes(setting, longest, random);
  const std::vector<Step> breakpoints = Breakpoints(drawn, setting.steps);
  const auto interval = [&](Step step) {
    return static_cast<std::size_t>(std::lower_bound(breakpoints.begin(), breakpoints.end(), step) -
                                    breakpoints.begin());
  };
  const std::size_t intervals = breakpoints.size() - 1;
  LoadTree load(intervals);
  GeneratedProblem generated;
  std::vector<Buffer>& buffers = generated.problem.buffers;
  for (Buffer& buffer : drawn) {
    const std::size_t first = interval(buffer.start);
    const std::size_t last = interval(buffer.end);
    const Bytes room = setting.peak_units - load.Most(first, last);
    if (room == 0) continue;
    buffer.id = "b" + std::to_string(buffers.size() + 1);
    buffer.size = std::min(room, random.Uniform(1, largest));
    load.Add(first, last, buffer.size);
    for (Gap& gap : buffer.gaps) {
      Bytes live = 0;
      if (buffer.size > 1 && random.Chance(0.5)) {
        live = random.Uniform(1, buffer.size - 1);
        const Bytes lower = random.Uniform(0, buffer.size - live);
        gap.window = Window{lower, lower + live};
      }
      load.Add(interval(gap.start), interval(gap.end), live - buffer.size);
    }
    buffers.push_back(std::move(buffer));
  }
  Filler filler(buffers);
  for (std::size_t i = 0; i < intervals; ++i) {
    filler.SetRoom(breakpoints[i], setting.peak_units - load.Most(i, i + 1));
  }
  filler.SetRoom(setting.steps, 0);

  for (Buffer& buffer : buffers) {
    buffer.size *= setting.alignment;
    for (Gap& gap : buffer.gaps) {
      if (!gap.window) continue;
      gap.window->lower *= setting.alignment;
      gap.window->upper *= setting.alignment;
    }
  }
  return generated;
}

}  // namespace berth::internal
