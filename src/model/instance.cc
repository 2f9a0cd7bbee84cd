#include "model/instance.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/radix_sort.h"
#include "base/truncate.h"

namespace berth::internal {
namespace {

// A piece that starts or ends, for a sort: ends come before starts, as lifetimes are half-open.
KeyAndItem Event(Step step, bool starts, std::size_t piece) {
  return {2 * step + (starts ? 1 : 0), static_cast<std::int64_t>(piece)};
}
Step StepOf(const KeyAndItem& event) { return event.key >> 1; }
bool IsStart(const KeyAndItem& event) { return (event.key & 1) != 0; }

void CompileBuffers(const Problem& problem, Instance& instance, std::vector<KeyAndItem>& events) {
  const std::size_t n = problem.buffers.size();
  for (auto* const values : {&instance.size, &instance.alignment, &instance.pin, &instance.hint,
                             &instance.start, &instance.end}) {
    *values = IndexedVector<BufferIndex, std::int64_t>(n);
  }
  instance.piece_begin = std::vector<std::int32_t>(n + 1, 0);
  events.reserve(2 * n);
  for (const BufferIndex b : instance.buffers()) {
    const Buffer& buffer = problem.buffers[b.position()];
    instance.size[b] = buffer.size;
    instance.alignment[b] = buffer.alignment;
    instance.pin[b] = buffer.offset.value_or(kNone);
    instance.hint[b] = buffer.hint.value_or(kNone);
    instance.start[b] = buffer.start;
    instance.end[b] = buffer.end;
    instance.has_pins |= buffer.offset.has_value();
    instance.has_alignment |= buffer.alignment != 1;
    instance.has_gaps |= !buffer.gaps.empty();
    ForEachLivePiece(buffer, [&](const LivePiece& piece) {
      events.push_back(Event(piece.start, true, instance.pieces.size()));
      events.push_back(Event(piece.end, false, instance.pieces.size()));
      instance.has_windows |= piece.upper - piece.lower != buffer.size;
      instance.pieces.push_back({{}, {}, piece.lower, piece.upper});
    });
    instance.piece_begin[b.position() + 1] = static_cast<std::int32_t>(instance.pieces.size());
  }
}

}  // namespace

std::vector<LivePiece> LivePieces(const Buffer& buffer) {
  std::vector<LivePiece> pieces;
  const auto add = [&](Step start, Step end, Bytes lower, Bytes upper) {
    if (start >= end) return;
    if (!pieces.empty() && pieces.back().end == start && pieces.back().lower == lower &&
        pieces.back().upper == upper) {
      pieces.back().end = end;
    } else {
      pieces.push_back({start, end, lower, upper});
    }
  };
  Step from = buffer.start;
  for (const Gap& gap : buffer.gaps) {
    add(from, gap.start, 0, buffer.size);
    if (gap.window) add(gap.start, gap.end, gap.window->lower, gap.window->upper);
    from = gap.end;
  }
  add(from, buffer.end, 0, buffer.size);
  return pieces;
}

namespace {

// A set of live pieces is maximal when the next event that changes it is an end.
bool EndsSection(const std::vector<KeyAndItem>& events, std::size_t k) {
  return !IsStart(events[k]) && k > 0 && IsStart(events[k - 1]);
}

// The sections, and those of the pieces.
void CompileSections(const std::vector<KeyAndItem>& events, Instance& instance) {
  std::size_t num_sections = 0;
  for (std::size_t k = 0; k < events.size(); ++k) num_sections += EndsSection(events, k) ? 1 : 0;
  for (auto* const values :
       {&instance.section_start, &instance.section_end, &instance.section_load}) {
    *values = IndexedVector<SectionIndex, std::int64_t>(num_sections);
  }
  Bytes load = 0;
  SectionIndex section;
  for (std::size_t k = 0; k < events.size(); ++k) {
    Piece& piece = instance.pieces[events[k].position()];
    if (IsStart(events[k])) {
      piece.first = section;
      load += piece.upper - piece.lower;
      continue;
    }
    if (EndsSection(events, k)) {
      instance.section_start[section] = StepOf(events[k - 1]);
      instance.section_end[section] = StepOf(events[k]);
      instance.section_load[section] = load;
      ++section;
    }
    piece.last = section;
    load -= piece.upper - piece.lower;
  }
}

}  // namespace

Instance Compile(const Problem& problem) {
  Instance instance;
  std::vector<KeyAndItem> events;
  CompileBuffers(problem, instance, events);
  SortByKey(events);
  CompileSections(events, instance);
  instance.first = IndexedVector<BufferIndex, SectionIndex>(instance.num_buffers());
  instance.last = IndexedVector<BufferIndex, SectionIndex>(instance.num_buffers());
  for (const BufferIndex b : instance.buffers()) {
    const auto pieces = instance.pieces_of(b);
    if (pieces.empty()) continue;
    instance.first[b] = pieces.front().first;
    instance.last[b] = pieces.back().last;
  }
  return instance;
}

Bytes Grain(const Instance& instance) {
  Bytes grain = 0;
  for (const BufferIndex b : instance.buffers()) {
    grain = std::gcd(grain, instance.size[b]);
    if (instance.alignment[b] != 1) grain = std::gcd(grain, instance.alignment[b]);
    if (instance.pin[b] != kNone) grain = std::gcd(grain, instance.pin[b]);
  }
  for (const Piece& piece : instance.pieces) {
    grain = std::gcd(std::gcd(grain, piece.lower), piece.upper);
  }
  return std::max<Bytes>(grain, 1);
}

namespace {

// By their lower ends.
void Sort(std::vector<Interval>& intervals) {
  std::vector<KeyAndItem> order(intervals.size());
  for (std::size_t k = 0; k < order.size(); ++k)
    order[k] = {intervals[k].lower, intervals[k].upper};
  SortByKey(order);
  for (std::size_t k = 0; k < order.size(); ++k) intervals[k] = {order[k].key, order[k].item};
}

}  // namespace

std::vector<Interval> ForbiddenDifferences(const Instance& instance, BufferIndex i, BufferIndex j) {
  std::vector<Interval> forbidden;
  const auto of_i = instance.pieces_of(i);
  const auto of_j = instance.pieces_of(j);
  // Both lists are in order of time: walk them together.
  for (std::size_t p = 0, q = 0; p < of_i.size() && q < of_j.size();) {
    const Piece& x = of_i[p];
    const Piece& y = of_j[q];
    if (x.first < y.last && y.first < x.last) {
      forbidden.push_back({x.lower - y.upper, x.upper - y.lower});
    }
    (x.last < y.last ? p : q) += 1;
  }
  if (forbidden.size() <= 1) return forbidden;
  Sort(forbidden);
  std::size_t merged = 0;
  for (std::size_t k = 1; k < forbidden.size(); ++k) {
    if (forbidden[k].lower < forbidden[merged].upper) {
      forbidden[merged].upper = std::max(forbidden[merged].upper, forbidden[k].upper);
    } else {
      forbidden[++merged] = forbidden[k];
    }
  }
  Truncate(forbidden, merged + 1);
  return forbidden;
}

std::vector<BufferIndex> ByFirstSection(const Instance& instance) {
  std::vector<KeyAndItem> order(instance.num_buffers());
  std::size_t num_live = 0;
  for (const BufferIndex b : instance.buffers()) {
    if (instance.pieces_of(b).empty()) continue;
    order[num_live++] = {instance.first[b].value(), b.value()};
  }
  Truncate(order, num_live);
  SortByKey(order);
  return ItemsOf<BufferIndex>(order);
}

namespace {

// Calls meet(i, j) once for every two buffers of `order` (see ByFirstSection()) whose spans of
// sections meet. False if the time of `budget`, which may be null, ended it.
template <typename Meet>
bool ForEachMeeting(const Instance& instance, const std::vector<BufferIndex>& order,
                    const Budget* budget, Meet meet) {
  std::vector<BufferIndex> active;
  for (const BufferIndex j : order) {
    if (budget != nullptr && budget->TimeIsUp()) return false;
    std::erase_if(active, [&](BufferIndex i) { return instance.last[i] <= instance.first[j]; });
    for (const BufferIndex i : active) meet(i, j);
    active.push_back(j);
  }
  return true;
}

// The clearances between two buffers that meet; nothing if their live bytes never meet.
struct Clearances {
  Bytes above_i;  // j above i: o_j >= o_i + above_i.
  Bytes above_j;
  bool stackable;
};
std::optional<Clearances> ClearancesOf(const Instance& instance, BufferIndex i, BufferIndex j) {
  if (!instance.has_gaps) return Clearances{instance.size[i], instance.size[j], true};
  const auto forbidden = ForbiddenDifferences(instance, i, j);
  if (forbidden.empty()) return std::nullopt;
  return Clearances{
      forbidden.back().upper, -forbidden.front().lower,
      forbidden.size() == 1 && forbidden.front().lower < 0 && forbidden.front().upper > 0};
}

// False if the time of `budget`, which may be null, ended it. Once to count and once to fill: the
// pairs of a large table are too many to hold twice.
bool FillOverlaps(const Instance& instance, const Budget* budget, Overlaps& overlaps) {
  const std::vector<BufferIndex> order = ByFirstSection(instance);
  // While counting, entry b + 1 is the length of row b; while filling, where its next entry goes.
  std::vector<std::int64_t>& row_begin = overlaps.row_begin;
  row_begin = std::vector<std::int64_t>(instance.num_buffers() + 1, 0);
  for (const bool fills : {false, true}) {
    const auto put = [&](BufferIndex from, BufferIndex to, Bytes clearance) {
      const auto at = static_cast<std::size_t>(row_begin[from.position() + 1]++);
      if (!fills) return;
      overlaps.neighbour[at] = to;
      overlaps.clearance[at] = clearance;
    };
    const auto meet = [&](BufferIndex i, BufferIndex j) {
      const auto clearances = ClearancesOf(instance, i, j);
      if (!clearances) return;
      overlaps.stackable &= clearances->stackable;
      put(i, j, clearances->above_i);
      put(j, i, clearances->above_j);
    };
    if (!ForEachMeeting(instance, order, budget, meet)) return false;
    if (fills) break;
    std::int64_t sum = 0;
    for (std::size_t b = 1; b < row_begin.size(); ++b) sum += std::exchange(row_begin[b], sum);
    overlaps.neighbour = std::vector<BufferIndex>(static_cast<std::size_t>(sum), BufferIndex());
    overlaps.clearance = std::vector<Bytes>(static_cast<std::size_t>(sum), 0);
  }
  return true;
}

}  // namespace

Overlaps FindOverlaps(const Instance& instance) {
  Overlaps overlaps;
  (void)FillOverlaps(instance, nullptr, overlaps);
  return overlaps;
}

std::optional<Overlaps> FindOverlaps(const Instance& instance, const Budget& budget) {
  std::optional<Overlaps> overlaps(std::in_place);
  if (!FillOverlaps(instance, &budget, *overlaps)) overlaps.reset();
  return overlaps;
}

std::int64_t CountOverlaps(const Instance& instance) {
  // Two spans [f, l) meet unless one ends before the other starts: subtract those from all pairs.
  // A buffer that starts at section f follows all buffers that have ended by then.
  std::vector<std::int64_t> ended(instance.num_sections() + 2, 0);
  std::int64_t live_buffers = 0;
  for (const BufferIndex b : instance.buffers()) {
    if (instance.pieces_of(b).empty()) continue;
    ++live_buffers;
    ++ended[instance.last[b].position() + 1];
  }
  for (std::size_t s = 1; s < ended.size(); ++s) ended[s] += ended[s - 1];
  std::int64_t apart = 0;
  for (const BufferIndex b : instance.buffers()) {
    if (!instance.pieces_of(b).empty()) apart += ended[instance.first[b].position() + 1];
  }
  return live_buffers * (live_buffers - 1) - 2 * apart;
}

}  // namespace berth::internal
