// How overlaps are found.
//
// What a buffer keeps live is cut into rectangles: steps [start, end) by bytes [lower, upper). Two
// rectangles of different buffers that share a point are a fault. The rectangles enter in the order
// of their starts, and those that have ended leave first; so every overlap is seen once, when the
// later of the two enters while the other is live.
//
// Entering, a rectangle must know how many live ones it meets: all, less those that end at or below
// its lower side and those that begin at or above its upper side (nobody is both, as no rectangle
// is empty). Two Fenwick trees over the sorted sides count that in O(log n), so a plan with
// billions of overlaps is judged as fast as a good one. Only where the answer is not zero and the
// list still has room are they looked up, in a tree over the rectangles sorted by their lower side
// that knows the highest upper side below each node: O(log n) for each one found.
#include "tools/verify/verify.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "src/base/wide.h"

namespace berth::internal {
namespace {

// An offset may be any 64-bit number, and the top of a buffer then need not be one: it is Wide.
Bytes Clamp(Wide value) {
  return static_cast<Bytes>(std::clamp<Wide>(value, std::numeric_limits<Bytes>::min(),
                                             std::numeric_limits<Bytes>::max()));
}

struct Rectangle {
  std::size_t buffer;
  Step start;
  Step end;
  Wide lower;
  Wide upper;
};

void AppendRectangles(const Buffer& buffer, std::size_t index, Wide offset,
                      std::vector<Rectangle>& rectangles) {
  const auto append = [&](Step start, Step end, Bytes lower, Bytes upper) {
    if (start < end && lower < upper) {
      rectangles.push_back({index, start, end, offset + lower, offset + upper});
    }
  };
  Step whole_since = buffer.start;
  for (const Gap& gap : buffer.gaps) {
    append(whole_since, gap.start, 0, buffer.size);
    if (gap.window) append(gap.start, gap.end, gap.window->lower, gap.window->upper);
    whole_since = gap.end;
  }
  append(whole_since, buffer.end, 0, buffer.size);
}

// How many of the live rectangles have their side at one of the first positions of a sorted list.
class Counter {
 public:
  explicit Counter(std::size_t positions) : sums_(positions + 1, 0) {}

  void Add(std::size_t position, std::int64_t change) {
    for (std::size_t i = position + 1; i < sums_.size(); i += i & (~i + 1)) sums_[i] += change;
  }
  [[nodiscard]] std::int64_t CountBefore(std::size_t position) const {
    std::int64_t count = 0;
    for (std::size_t i = position; i > 0; i -= i & (~i + 1)) count += sums_[i];
    return count;
  }

 private:
  std::vector<std::int64_t> sums_;
};

// The upper sides of the live rectangles, over the positions of all rectangles in the order of
// their lower sides.
class HighestUpper {
 public:
  explicit HighestUpper(std::size_t positions)
      : leaves_(std::bit_ceil(std::max<std::size_t>(positions, 1))), highest_(2 * leaves_, kDead) {}

  void Set(std::size_t position, Wide upper) {
    std::size_t node = leaves_ + position;
    highest_[node] = upper;
    for (node /= 2; node > 0; node /= 2) {
      highest_[node] = std::max(highest_[2 * node], highest_[2 * node + 1]);
    }
  }
  void Kill(std::size_t position) { Set(position, kDead); }

  // Appends the first `most` positions below `end` whose upper side lies above `lower`.
  void Find(std::size_t end, Wide lower, std::size_t most, std::vector<std::size_t>& found) const {
    Descend(1, 0, leaves_, end, lower, most, found);
  }

 private:
  // Below every side of a rectangle: those are at least -2^63.
  static constexpr Wide kDead = Wide{std::numeric_limits<std::int64_t>::min()} * 2;

  void Descend(std::size_t node, std::size_t first, std::size_t count, std::size_t end, Wide lower,
               std::size_t most, std::vector<std::size_t>& found) const {
    if (first >= end || highest_[node] <= lower || found.size() >= most) return;
    if (count == 1) {
      found.push_back(first);
      return;
    }
    Descend(2 * node, first, count / 2, end, lower, most, found);
    Descend(2 * node + 1, first + count / 2, count / 2, end, lower, most, found);
  }

  std::size_t leaves_;
  std::vector<Wide> highest_;
};

// The positions of 0 .. n-1 when sorted by `key`, and the keys in that order.
struct Ranking {
  std::vector<std::size_t> order;  // order[position] = item.
  std::vector<std::size_t> position;
  std::vector<Wide> keys;  // keys[position], increasing.
};

template <typename Key>
Ranking Rank(std::size_t count, Key key) {
  Ranking ranking;
  ranking.order.resize(count);
  for (std::size_t i = 0; i < count; ++i) ranking.order[i] = i;
  std::sort(ranking.order.begin(), ranking.order.end(), [&](std::size_t a, std::size_t b) {
    return key(a) != key(b) ? key(a) < key(b) : a < b;
  });
  ranking.position.resize(count);
  ranking.keys.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    ranking.position[ranking.order[i]] = i;
    ranking.keys[i] = key(ranking.order[i]);
  }
  return ranking;
}

class Collector {
 public:
  Collector(std::size_t max_faults, Report& report) : max_faults_(max_faults), report_(report) {}

  [[nodiscard]] std::size_t room() const { return max_faults_ - report_.faults.size(); }
  void Add(const Fault& fault) {
    if (room() > 0) {
      report_.faults.push_back(fault);
    } else {
      ++report_.more;
    }
  }
  void AddUnlisted(std::int64_t count) { report_.more += count; }

 private:
  std::size_t max_faults_;
  Report& report_;
};

void CheckEachBuffer(const Problem& problem, const std::vector<Bytes>& offsets,
                     Collector& collector) {
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    const Buffer& buffer = problem.buffers[i];
    const auto add = [&](FaultKind kind) {
      Fault fault;
      fault.kind = kind;
      fault.buffer = i;
      collector.Add(fault);
    };
    if (offsets[i] < 0) add(FaultKind::kNegative);
    if (buffer.alignment > 1 && offsets[i] % buffer.alignment != 0) add(FaultKind::kMisaligned);
    if (buffer.offset && offsets[i] != *buffer.offset) add(FaultKind::kPinBroken);
    if (problem.capacity && Wide{offsets[i]} + buffer.size > *problem.capacity) {
      add(FaultKind::kBeyondCapacity);
    }
  }
}

void CheckOverlaps(const Problem& problem, const std::vector<Bytes>& offsets,
                   Collector& collector) {
  std::vector<Rectangle> rectangles;
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    AppendRectangles(problem.buffers[i], i, offsets[i], rectangles);
  }
  std::stable_sort(rectangles.begin(), rectangles.end(),
                   [](const Rectangle& a, const Rectangle& b) { return a.start < b.start; });
  const std::size_t count = rectangles.size();
  const Ranking by_end = Rank(count, [&](std::size_t i) { return Wide{rectangles[i].end}; });
  const Ranking by_lower = Rank(count, [&](std::size_t i) { return rectangles[i].lower; });
  const Ranking by_upper = Rank(count, [&](std::size_t i) { return rectangles[i].upper; });

  Counter lowers(count);
  Counter uppers(count);
  HighestUpper highest_upper(count);
  std::size_t ended = 0;
  std::vector<std::size_t> met;
  for (std::size_t i = 0; i < count; ++i) {
    const Rectangle& entering = rectangles[i];
    for (; by_end.keys[ended] <= entering.start; ++ended) {
      const std::size_t leaving = by_end.order[ended];
      lowers.Add(by_lower.position[leaving], -1);
      uppers.Add(by_upper.position[leaving], -1);
      highest_upper.Kill(by_lower.position[leaving]);
    }

    // Live rectangles that begin below `entering`'s top, and those that end by its bottom.
    const auto first_above = static_cast<std::size_t>(
        std::lower_bound(by_lower.keys.begin(), by_lower.keys.end(), entering.upper) -
        by_lower.keys.begin());
    const auto first_not_below = static_cast<std::size_t>(
        std::upper_bound(by_upper.keys.begin(), by_upper.keys.end(), entering.lower) -
        by_upper.keys.begin());
    const std::int64_t meeting =
        lowers.CountBefore(first_above) - uppers.CountBefore(first_not_below);
    if (meeting > 0) {
      met.clear();
      highest_upper.Find(first_above, entering.lower, collector.room(), met);
      for (const std::size_t position : met) {
        const Rectangle& other = rectangles[by_lower.order[position]];
        Fault fault;
        fault.kind = FaultKind::kOverlap;
        fault.buffer = std::min(entering.buffer, other.buffer);
        fault.other = std::max(entering.buffer, other.buffer);
        fault.start = entering.start;
        fault.end = std::min(entering.end, other.end);
        fault.lower = Clamp(std::max(entering.lower, other.lower));
        fault.upper = Clamp(std::min(entering.upper, other.upper));
        collector.Add(fault);
      }
      collector.AddUnlisted(meeting - static_cast<std::int64_t>(met.size()));
    }

    lowers.Add(by_lower.position[i], 1);
    uppers.Add(by_upper.position[i], 1);
    highest_upper.Set(by_lower.position[i], entering.upper);
  }
}

// A plan may come with any id: none may break the line or drive the terminal.
std::string Quoted(const std::string& id) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text = "\"";
  for (const char c : id) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      text += '\\';
      text += c;
    } else if (c == '\n') {
      text += "\\n";
    } else if (c == '\t') {
      text += "\\t";
    } else if (byte < 0x20 || byte == 0x7f) {
      text += "\\x";
      text += kDigits[byte / 16];
      text += kDigits[byte % 16];
    } else {
      text += c;
    }
  }
  return text + "\"";
}

std::string Range(Bytes lower, Bytes upper) {
  return "[" + std::to_string(lower) + ", " + std::to_string(upper) + ")";
}

}  // namespace

Report Verify(const Problem& problem, const std::vector<Bytes>& offsets, std::size_t max_faults) {
  Report report;
  Collector collector(max_faults, report);
  if (offsets.size() != problem.buffers.size()) {
    collector.Add(Fault{});
    return report;
  }
  if (!offsets.empty()) {
    Wide height = std::numeric_limits<Bytes>::min();
    for (std::size_t i = 0; i < offsets.size(); ++i) {
      height = std::max(height, Wide{offsets[i]} + problem.buffers[i].size);
    }
    report.height = Clamp(height);
  }
  CheckEachBuffer(problem, offsets, collector);
  CheckOverlaps(problem, offsets, collector);
  return report;
}

std::string Describe(const Fault& fault, const Problem& problem,
                     const std::vector<Bytes>& offsets) {
  if (fault.kind == FaultKind::kWrongCount) {
    return "wrong count: " + std::to_string(problem.buffers.size()) + " buffers, but " +
           std::to_string(offsets.size()) + " offsets";
  }
  const Buffer& buffer = problem.buffers[fault.buffer];
  const Bytes offset = offsets[fault.buffer];
  const std::string at = Quoted(buffer.id) + " lies at offset " + std::to_string(offset);
  switch (fault.kind) {
    case FaultKind::kWrongCount:
      break;
    case FaultKind::kNegative:
      return "negative: " + at;
    case FaultKind::kMisaligned:
      return "misaligned: " + at + ", not a multiple of " + std::to_string(buffer.alignment);
    case FaultKind::kPinBroken:
      return "pin broken: " + at + ", but is pinned to " + std::to_string(*buffer.offset);
    case FaultKind::kBeyondCapacity:
      return "beyond capacity: " + Quoted(buffer.id) + " ends at byte " +
             std::to_string(Clamp(Wide{offset} + buffer.size)) + ", but the capacity is " +
             std::to_string(*problem.capacity);
    case FaultKind::kOverlap:
      return "overlap: " + Quoted(buffer.id) + " and " + Quoted(problem.buffers[fault.other].id) +
             " share bytes " + Range(fault.lower, fault.upper) + " at steps " +
             Range(fault.start, fault.end);
  }
  return {};
}

std::string Describe(const Report& report, const Problem& problem,
                     const std::vector<Bytes>& offsets) {
  if (report.ok()) return "no faults; height " + std::to_string(report.height) + " bytes\n";
  std::string text;
  for (const Fault& fault : report.faults) text += Describe(fault, problem, offsets) + "\n";
  if (report.more > 0) {
    text += "and " + std::to_string(report.more) + " more " +
            (report.more == 1 ? "fault" : "faults") + "\n";
  }
  return text;
}

}  // namespace berth::internal
