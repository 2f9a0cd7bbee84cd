#include "memories/layout.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "base/arithmetic.h"
#include "base/check.h"
#include "memories/timeline.h"

namespace berth::internal::memories {
namespace {

// Meetings kept at most, give or take one unit's: some hundred megabytes.
constexpr std::size_t kMostMeetings = std::size_t{1} << 24;

// Units of all sections together from which SumBound() adds up.
constexpr std::size_t kMostLive = std::size_t{1} << 22;

bool Meet(const LivePiece& a, const LivePiece& b) { return a.start < b.end && b.start < a.end; }

struct LiveUnit {  // In one section.
  std::size_t unit;
  Bytes bytes;
};

// By section, the load of `items`, and those live where it is more than `room`: in one section of so
// many, where very much is live. Any of the sections give a bound.
std::pair<std::vector<Wide>, std::vector<std::vector<LiveUnit>>> Overfull(
    const std::vector<std::size_t>& items, const std::vector<std::vector<Stay>>& stays,
    const std::vector<Wide>& room) {
  const std::size_t sections = room.size();
  std::vector<Wide> load(sections + 1, Wide(0));
  std::size_t length = 0;
  for (const std::size_t u : items) {
    for (const Stay& stay : stays[u]) {
      load[stay.first] += Wide(stay.bytes);
      load[stay.last] -= Wide(stay.bytes);
      length += stay.last - stay.first;
    }
  }
  for (std::size_t s = 1; s < sections; ++s) load[s] += load[s - 1];
  const std::size_t stride = length / kMostLive + 1;
  std::vector<std::vector<LiveUnit>> live(sections);
  for (const std::size_t u : items) {
    for (const Stay& stay : stays[u]) {
      for (std::size_t s = (stay.first + stride - 1) / stride * stride; s < stay.last;
           s += stride) {
        if (load[s] > room[s]) live[s].push_back({u, stay.bytes});
      }
    }
  }
  return {std::move(load), std::move(live)};
}

// The least profit that is lost if `excess` bytes go; of units with the least for each byte first.
Wide LeastLoss(const std::vector<LiveUnit>& live, const std::vector<Wide>& profit, Wide excess) {
  Wide loss = 0;
  for (const LiveUnit& each : live) {
    if (Wide(each.bytes) >= excess) {
      // Rounded up: losses are whole numbers.
      loss += (profit[each.unit] * excess + Wide(each.bytes - 1)) / Wide(each.bytes);
      break;
    }
    loss += profit[each.unit];
    excess -= Wide(each.bytes);
  }
  return loss;
}

// By offset. The parts of `places` that end at `lists` are in order, the rest is short.
void MergeLists(const std::vector<std::size_t>& lists, std::vector<Candidacy>& places) {
  const auto by_offset = [](const Candidacy& a, const Candidacy& b) {
    return a.spot.offset < b.spot.offset;
  };
  const auto at = [&](std::size_t place) {
    return places.begin() + static_cast<std::ptrdiff_t>(place);
  };
  const std::size_t sorted = lists.empty() ? 0 : lists.back();
  std::sort(at(sorted), places.end(), by_offset);
  if (lists.empty()) return;
  std::inplace_merge(places.begin(), at(lists.front()), at(sorted), by_offset);
  std::inplace_merge(places.begin(), at(sorted), places.end(), by_offset);
}

// The first `count` by weight, in order.
void KeepLightest(std::vector<Candidacy>& places, std::size_t count) {
  const auto by_weight = [](const Candidacy& a, const Candidacy& b) {
    return a.weight != b.weight ? a.weight < b.weight : a.spot.offset < b.spot.offset;
  };
  if (places.size() > count) {
    std::partial_sort(places.begin(), places.begin() + static_cast<std::ptrdiff_t>(count),
                      places.end(), by_weight);
    places.resize(count);
  } else {
    std::sort(places.begin(), places.end(), by_weight);
  }
}

}  // namespace

Layout::Layout(const MemoryProblem& problem, const Model& model)
    : problem_(problem),
      model_(model),
      kept_(model.tables.size()),
      ways_(model.units.size()),
      banks_(model.units.size()),
      meetings_(model.units.size()),
      met_(model.units.size()),
      before_(model.units.size()),
      bytes_before_(model.units.size()),
      spots_(model.units.size()) {
  const std::size_t units = model.units.size();
  const std::vector<Buffer>& buffers = model.tables.front().problem.buffers;
  for (std::size_t u = 0; u < units; ++u) {
    std::vector<LivePiece>& pieces = pieces_.emplace_back();
    ForEachLivePiece(buffers[u], [&](const LivePiece& piece) { pieces.push_back(piece); });
  }
  for (std::size_t m = 0; m < model.tables.size(); ++m) {
    const std::vector<Buffer>& table = model.tables[m].problem.buffers;
    for (std::size_t r = units; r < table.size(); ++r) {
      kept_[m].push_back(
          {table[r].start, table[r].end, *table[r].offset, *table[r].offset + table[r].size});
    }
  }
  for (const Apart& apart : problem.apart) {
    if (!apart.different_memories) continue;
    const std::size_t a = model.tables.front().places[apart.first].buffer;
    const std::size_t b = model.tables.front().places[apart.second].buffer;
    banks_[a].push_back(b);
    banks_[b].push_back(a);
  }
  for (const Unit& unit : model.units) {
    std::int64_t most = unit.cost_left_out;
    for (const Mode& mode : unit.modes) most = std::max(most, mode.cost);
    unplaced_ += Wide(most);
  }
  unplaced_ += Wide(1);
  for (std::size_t u = 0; u < units; ++u) AddUnit(u);
  IndexLifetimes();
  Timeline timeline = TimelineOf(problem, model, 2 * kMaxBytes);
  sections_ = timeline.sections;
  stays_ = std::move(timeline.stays);
  room_ = std::move(timeline.room);
  all_room_ = room_;
}

// The ways of a unit, where it was, and its scores.
void Layout::AddUnit(std::size_t u) {
  const Unit& unit = model_.units[u];
  Wide out = Wide(unit.cost_left_out);
  for (const std::size_t b : unit.buffers) {
    if (problem_.placing.empty() || !problem_.placing[b].cost_left_out) out += unplaced_;
    if (problem_.placing.empty() || !problem_.placing[b].previous) continue;
    bytes_before_[u] += problem_.table.buffers[b].size;
    if (before_[u]) continue;
    const Previous& previous = *problem_.placing[b].previous;
    before_[u] = Spot{static_cast<int>(previous.memory),
                      previous.offset - model_.tables[previous.memory].places[b].distance};
  }
  Wide least = out;
  Wide base = out;
  for (const Mode& mode : unit.modes) {
    const auto m = static_cast<int>(mode.memory);
    if (ways_[u].empty() || ways_[u].back().memory != m) ways_[u].push_back({m, mode.cost, {}, {}});
    Way& way = ways_[u].back();
    way.least = std::min(way.least, mode.cost);
    if (mode.pin) {
      way.pins.emplace_back(*mode.pin, mode.cost);
    } else {
      way.free = mode.cost;
    }
    least = std::min(least, Wide(mode.cost));
    if (!problem_.memories[mode.memory].capacity) base = std::min(base, Wide(mode.cost));
  }
  std::stable_sort(ways_[u].begin(), ways_[u].end(),
                   [](const Way& a, const Way& b) { return a.least < b.least; });
  score_out_.push_back(out);
  least_score_.push_back(least);
  base_score_.push_back(base);
  score_ += out;
}

Wide Layout::ScoreAt(std::size_t u, const Spot& spot) const {
  if (spot.memory == kOut) return score_out_[u];
  for (const Way& way : ways_[u]) {
    if (way.memory != spot.memory) continue;
    std::optional<std::int64_t> cost = way.free;
    for (const auto& [pin, price] : way.pins) {
      if (pin == spot.offset && (!cost || price < *cost)) cost = price;
    }
    BERTH_CHECK(cost.has_value());
    return Wide(*cost);
  }
  BERTH_CHECK(false);
  return 0;
}

PlanCost Layout::CostOfScore(Wide score) const {
  const Wide unplaced = score / unplaced_;
  return {static_cast<std::size_t>(unplaced),
          static_cast<std::int64_t>(score - unplaced * unplaced_), 0};
}

Bytes Layout::MovedAt(std::size_t u, const Spot& spot) const {
  if (spot.memory == kOut || bytes_before_[u] == 0) return 0;
  const std::vector<std::size_t>& buffers = model_.units[u].buffers;
  if (buffers.size() == 1) return spot == *before_[u] ? 0 : bytes_before_[u];
  Bytes moved = bytes_before_[u];
  for (const std::size_t b : buffers) {
    const std::optional<Previous>& previous = problem_.placing[b].previous;
    if (!previous || static_cast<int>(previous->memory) != spot.memory) continue;
    const Bytes distance = model_.tables[previous->memory].places[b].distance;
    if (spot.offset + distance == previous->offset) moved -= problem_.table.buffers[b].size;
  }
  return moved;
}

Bytes Layout::Highest(std::size_t u, int memory) const {
  return problem_.memories[static_cast<std::size_t>(memory)].capacity.value_or(2 * kMaxBytes) -
         BufferIn(u, memory).size;
}

// The intervals of offsets that reserved ranges exclude.
void Layout::FindReserved(std::size_t u, int memory,
                          std::vector<std::pair<Bytes, Bytes>>& taken) const {
  for (const LivePiece& other : kept_[static_cast<std::size_t>(memory)]) {
    for (const LivePiece& piece : pieces_[u]) {
      if (Meet(piece, other))
        taken.emplace_back(other.lower - piece.upper, other.upper - piece.lower);
    }
  }
}

bool Layout::Allows(std::size_t u, const Spot& spot) const {
  const auto way = std::find_if(ways_[u].begin(), ways_[u].end(),
                                [&](const Way& each) { return each.memory == spot.memory; });
  if (way == ways_[u].end()) return false;
  const bool pinned = std::any_of(way->pins.begin(), way->pins.end(),
                                  [&](const auto& pin) { return pin.first == spot.offset; });
  if (pinned) return true;
  if (!way->free || spot.offset < 0 || spot.offset > Highest(u, spot.memory) ||
      spot.offset % BufferIn(u, spot.memory).alignment != 0) {
    return false;
  }
  std::vector<std::pair<Bytes, Bytes>> taken;
  FindReserved(u, spot.memory, taken);
  return std::none_of(taken.begin(), taken.end(), [&](const auto& each) {
    return each.first < spot.offset && spot.offset < each.second;
  });
}

const std::vector<Layout::Meeting>& Layout::MeetingsOf(std::size_t u) {
  std::vector<Meeting>& meetings = meetings_[u];
  if (met_[u]) return meetings;
  if (all_met_ > kMostMeetings) {
    // Where everything is live together they are too many to keep.
    for (std::vector<Meeting>& each : meetings_) std::vector<Meeting>().swap(each);
    met_.assign(met_.size(), false);
    all_met_ = 0;
  }
  met_[u] = true;
  FindLiveWith(u, live_);
  for (const std::size_t v : live_) {
    const auto begin = static_cast<std::ptrdiff_t>(meetings.size());
    for (const LivePiece& piece : pieces_[u]) {
      for (const LivePiece& other : pieces_[v]) {
        if (!Meet(piece, other)) continue;
        meetings.push_back({v, other.lower - piece.upper, other.upper - piece.lower});
      }
    }
    // Of each unit, disjoint intervals: none counts twice.
    std::sort(meetings.begin() + begin, meetings.end(),
              [](const Meeting& a, const Meeting& b) { return a.lower < b.lower; });
    auto kept = static_cast<std::size_t>(begin);
    for (auto k = static_cast<std::size_t>(begin); k < meetings.size(); ++k) {
      if (k > kept && meetings[k].lower < meetings[kept].upper) {
        meetings[kept].upper = std::max(meetings[kept].upper, meetings[k].upper);
      } else if (k > kept) {
        meetings[++kept] = meetings[k];
      }
    }
    if (meetings.size() > static_cast<std::size_t>(begin)) meetings.resize(kept + 1);
  }
  all_met_ += meetings.size();
  work_ += static_cast<std::int64_t>(8 * live_.size());
  return meetings;
}

void Layout::IndexLifetimes() {
  for (std::size_t u = 0; u < pieces_.size(); ++u) {
    if (!pieces_[u].empty()) by_start_.push_back(u);
  }
  std::stable_sort(by_start_.begin(), by_start_.end(), [&](std::size_t a, std::size_t b) {
    return pieces_[a].front().start < pieces_[b].front().start;
  });
  const std::size_t size = std::bit_ceil(std::max<std::size_t>(by_start_.size(), 1));
  latest_.assign(2 * size, std::numeric_limits<Step>::min());
  for (std::size_t i = 0; i < by_start_.size(); ++i) {
    latest_[size + i] = pieces_[by_start_[i]].back().end;
  }
  for (std::size_t i = size; i-- > 1;) latest_[i] = std::max(latest_[2 * i], latest_[2 * i + 1]);
}

// The other units between whose first and last step one of this unit's lies, in order.
void Layout::FindLiveWith(std::size_t u, std::vector<std::size_t>& found) {
  found.clear();
  if (pieces_[u].empty()) return;
  const Step start = pieces_[u].front().start;
  const Step end = pieces_[u].back().end;
  const std::size_t leaves = latest_.size() / 2;
  // A walk over the tree without a stack: past a node whose units all end too early.
  for (std::size_t i = 1;;) {
    if (latest_[i] > start && i < leaves) {
      i *= 2;
      continue;
    }
    if (latest_[i] > start) {
      const std::size_t v = by_start_[i - leaves];
      if (pieces_[v].front().start >= end) break;
      if (v != u) found.push_back(v);
    }
    while ((i & 1) != 0) i /= 2;
    if (i == 0) break;
    ++i;
  }
  std::sort(found.begin(), found.end());
}

void Layout::FindBlockers(std::size_t u, const Spot& spot, std::vector<std::size_t>& blockers) {
  blockers.clear();
  for (const Meeting& meeting : MeetingsOf(u)) {
    const Spot& other = spots_[meeting.other];
    if (other.memory != spot.memory) continue;
    const Bytes distance = spot.offset - other.offset;
    if (meeting.lower < distance && distance < meeting.upper) blockers.push_back(meeting.other);
  }
  for (const std::size_t v : banks_[u]) {
    if (spots_[v].memory == spot.memory) blockers.push_back(v);
  }
  std::sort(blockers.begin(), blockers.end());
  blockers.erase(std::unique(blockers.begin(), blockers.end()), blockers.end());
  work_ += static_cast<std::int64_t>(meetings_[u].size());
}

bool Layout::IsFree(std::size_t u, const Spot& spot) {
  if (HasBank(u, spot.memory)) return false;
  const std::vector<Meeting>& meetings = MeetingsOf(u);
  work_ += static_cast<std::int64_t>(meetings.size());
  return std::none_of(meetings.begin(), meetings.end(), [&](const Meeting& meeting) {
    const Spot& other = spots_[meeting.other];
    const Bytes distance = spot.offset - other.offset;
    return other.memory == spot.memory && meeting.lower < distance && distance < meeting.upper;
  });
}

bool Layout::HasBank(std::size_t u, int memory) const {
  return std::any_of(banks_[u].begin(), banks_[u].end(),
                     [&](std::size_t v) { return spots_[v].memory == memory; });
}

std::optional<Spot> Layout::FindHole(std::size_t u, const Way& way, Wide most) {
  if (Wide(way.least) > most) return std::nullopt;
  if (way.memory != spots_[u].memory && !FitsBySum(u, way.memory)) return std::nullopt;
  const std::optional<Spot>& before = before_[u];
  if (before && before->memory == way.memory && Allows(u, *before) && ScoreAt(u, *before) <= most &&
      IsFree(u, *before)) {
    return before;
  }
  for (const auto& [pin, cost] : way.pins) {
    const Spot spot{way.memory, pin};
    if (Wide(cost) <= most && (!way.free || cost < *way.free) && IsFree(u, spot)) return spot;
  }
  if (!way.free || Wide(*way.free) > most) return std::nullopt;
  if (HasBank(u, way.memory)) return std::nullopt;
  const std::vector<Meeting>& meetings = MeetingsOf(u);
  work_ += static_cast<std::int64_t>(2 * meetings.size());
  taken_.clear();
  FindReserved(u, way.memory, taken_);
  for (const Meeting& meeting : meetings) {
    const Spot& other = spots_[meeting.other];
    if (other.memory != way.memory) continue;
    taken_.emplace_back(other.offset + meeting.lower, other.offset + meeting.upper);
  }
  std::sort(taken_.begin(), taken_.end());
  const Bytes alignment = BufferIn(u, way.memory).alignment;
  const Bytes highest = Highest(u, way.memory);
  std::optional<Spot> best;
  Bytes least = std::numeric_limits<Bytes>::max();
  Bytes from = 0;
  const auto offer = [&](Bytes until) {  // Offsets [from, until] are free.
    const Bytes offset = RoundUp(from, alignment);
    if (offset > until || until - from >= least) return;
    least = until - from;
    best = Spot{way.memory, offset};
  };
  for (const auto& [lower, upper] : taken_) {
    offer(std::min(lower, highest));
    from = std::max(from, upper);
  }
  offer(highest);
  return best;
}

// The ends of the intervals that reserved ranges and other units exclude, in order.
void Layout::FindEdges(std::size_t u, int memory, const std::vector<double>& weight) {
  const std::vector<Meeting>& meetings = MeetingsOf(u);
  work_ += static_cast<std::int64_t>(6 * meetings.size());
  begins_.clear();
  ends_.clear();
  const auto add = [&](Bytes lower, Bytes upper, double by) {
    const bool hard = std::isinf(by);
    begins_.push_back({lower, hard ? 0 : by, hard ? 1 : 0});
    ends_.push_back({upper, hard ? 0 : by, hard ? 1 : 0});
  };
  taken_.clear();
  FindReserved(u, memory, taken_);
  for (const auto& [lower, upper] : taken_) {
    add(lower, upper, std::numeric_limits<double>::infinity());
  }
  for (const Meeting& meeting : meetings) {
    const Spot& other = spots_[meeting.other];
    if (other.memory != memory) continue;
    add(other.offset + meeting.lower, other.offset + meeting.upper, weight[meeting.other]);
  }
  const auto by_place = [](const Edge& a, const Edge& b) { return a.at < b.at; };
  std::sort(begins_.begin(), begins_.end(), by_place);
  std::sort(ends_.begin(), ends_.end(), by_place);
}

// What is in the way of each place, by the edges. `everywhere`: what is in the way of all.
void Layout::WeighPlaces(double everywhere, std::vector<Candidacy>& places) {
  std::size_t begun = 0;
  std::size_t ended = 0;
  double sum = everywhere;
  int hard = 0;
  for (Candidacy& place : places) {
    for (; begun < begins_.size() && begins_[begun].at < place.spot.offset; ++begun) {
      sum += begins_[begun].weight;
      hard += begins_[begun].hard;
    }
    for (; ended < ends_.size() && ends_[ended].at <= place.spot.offset; ++ended) {
      sum -= ends_[ended].weight;
      hard -= ends_[ended].hard;
    }
    place.weight = hard > 0 ? std::numeric_limits<double>::infinity() : sum;
  }
}

void Layout::FindPlaces(std::size_t u, const Way& way, Wide most, const std::vector<double>& weight,
                        std::size_t count, std::vector<Candidacy>& places) {
  places.clear();
  double everywhere = 0;
  for (const std::size_t v : banks_[u]) {
    if (spots_[v].memory == way.memory) everywhere += weight[v];
  }
  if (std::isinf(everywhere)) return;
  FindEdges(u, way.memory, weight);
  const Bytes alignment = BufferIn(u, way.memory).alignment;
  const Bytes highest = Highest(u, way.memory);
  std::vector<std::size_t> lists;  // Where parts of `places` end that are in order.
  if (way.free && Wide(*way.free) <= most) {
    const auto offer = [&](Bytes offset) {
      if (offset >= 0 && offset <= highest) places.push_back({{way.memory, offset}, 0});
    };
    // Both lists of edges are in order, and stay so when they are rounded.
    for (const Edge& edge : begins_) {
      if (edge.at >= 0) offer(edge.at / alignment * alignment);
    }
    lists.push_back(places.size());
    for (const Edge& edge : ends_) offer(RoundUp(std::max<Bytes>(edge.at, 0), alignment));
    lists.push_back(places.size());
    offer(0);
    offer(highest / alignment * alignment);
    const std::optional<Spot>& before = before_[u];
    if (before && before->memory == way.memory && Allows(u, *before)) offer(before->offset);
  }
  for (const auto& [pin, cost] : way.pins) {
    if (Wide(cost) <= most) places.push_back({{way.memory, pin}, 0});
  }
  MergeLists(lists, places);
  places.erase(std::unique(places.begin(), places.end(),
                           [](const Candidacy& a, const Candidacy& b) { return a.spot == b.spot; }),
               places.end());
  WeighPlaces(everywhere, places);
  std::erase_if(places, [](const Candidacy& place) { return std::isinf(place.weight); });
  KeepLightest(places, count);
}

bool Layout::FitsBySum(std::size_t u, int memory) const {
  const std::vector<Bytes>& room = room_[static_cast<std::size_t>(memory)];
  for (const Stay& stay : stays_[u]) {
    for (std::size_t s = stay.first; s < stay.last; ++s) {
      if (room[s] < stay.bytes) return false;
    }
  }
  return true;
}

void Layout::AddLoad(std::size_t u, int memory, Bytes sign) {
  if (memory == kOut) return;
  std::vector<Bytes>& room = room_[static_cast<std::size_t>(memory)];
  for (const Stay& stay : stays_[u]) {
    for (std::size_t s = stay.first; s < stay.last; ++s) room[s] -= sign * stay.bytes;
  }
}

void Layout::Move(std::size_t u, const Spot& to) {
  const Spot from = spots_[u];
  trail_.push_back({u, from});
  score_ += ScoreAt(u, to) - ScoreAt(u, from);
  moved_ += MovedAt(u, to) - MovedAt(u, from);
  if (from.memory != to.memory) {
    AddLoad(u, from.memory, -1);
    AddLoad(u, to.memory, 1);
  }
  spots_[u] = to;
}

void Layout::UndoTo(std::size_t mark) {
  while (trail_.size() > mark) {
    const Change change = trail_.back();
    Move(change.unit, change.from);
    trail_.pop_back();
    trail_.pop_back();
  }
}

void Layout::Restore(const std::vector<Spot>& spots) {
  for (std::size_t u = 0; u < units(); ++u) {
    if (At(u) != spots[u]) Move(u, spots[u]);
  }
  Commit();
}

void Layout::MoveBack(const std::function<bool()>& goes_on) {
  std::vector<std::size_t> away;
  for (std::size_t u = 0; u < units(); ++u) {
    const std::optional<Spot>& before = Before(u);
    if (before && MovedAt(u, At(u)) > 0 && Allows(u, *before) &&
        ScoreAt(u, *before) <= ScoreAt(u, At(u)) && MovedAt(u, *before) < MovedAt(u, At(u))) {
      away.push_back(u);
    }
  }
  std::stable_sort(away.begin(), away.end(),
                   [&](std::size_t a, std::size_t b) { return BytesBefore(a) > BytesBefore(b); });
  for (bool changed = true; changed;) {
    changed = false;
    std::vector<std::size_t> still;
    for (const std::size_t u : away) {
      if (goes_on() && IsFree(u, *Before(u))) {
        Move(u, *Before(u));
        changed = true;
      } else {
        still.push_back(u);
      }
    }
    away = std::move(still);
  }
}

std::vector<std::pair<std::size_t, Spot>> Layout::ChangesSince(std::size_t mark) const {
  std::vector<std::pair<std::size_t, Spot>> changes;
  for (std::size_t k = mark; k < trail_.size(); ++k) changes.emplace_back(trail_[k].unit, Spot());
  std::sort(changes.begin(), changes.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  changes.erase(std::unique(changes.begin(), changes.end(),
                            [](const auto& a, const auto& b) { return a.first == b.first; }),
                changes.end());
  for (auto& [u, spot] : changes) spot = spots_[u];
  return changes;
}

// By section, the bytes of all memories that have a capacity.
std::vector<Wide> Layout::RoomWithCapacity() const {
  std::vector<Wide> room(sections_, Wide(0));
  for (std::size_t m = 0; m < all_room_.size(); ++m) {
    if (!problem_.memories[m].capacity) continue;
    for (std::size_t s = 0; s < sections_; ++s) room[s] += Wide(all_room_[m][s]);
  }
  return room;
}

Wide Layout::SumBound() const {
  Wide bound = 0;
  std::vector<std::size_t> items;
  for (std::size_t u = 0; u < spots_.size(); ++u) {
    bound += least_score_[u];
    if (least_score_[u] < base_score_[u] && !stays_[u].empty()) items.push_back(u);
  }
  if (items.empty() || sections_ == 0) return bound;
  // A part of a profit that is beyond computing with bounds no less.
  const Wide most = Wide(1) << 66;
  std::vector<Wide> profit(spots_.size(), Wide(0));
  std::vector<Bytes> widest(spots_.size());
  for (const std::size_t u : items) {
    profit[u] = std::min(base_score_[u] - least_score_[u], most);
    for (const Stay& stay : stays_[u]) widest[u] = std::max(widest[u], stay.bytes);
  }
  // Profit for each byte, the least first: of units that are as large at all times, in every section.
  const auto less = [&](std::size_t a, Bytes a_bytes, std::size_t b, Bytes b_bytes) {
    const Wide left = profit[a] * Wide(b_bytes);
    const Wide right = profit[b] * Wide(a_bytes);
    return left != right ? left < right : a < b;
  };
  std::sort(items.begin(), items.end(),
            [&](std::size_t a, std::size_t b) { return less(a, widest[a], b, widest[b]); });
  const std::vector<Wide> room = RoomWithCapacity();
  auto over = Overfull(items, stays_, room);
  const std::vector<Wide>& load = over.first;
  std::vector<std::vector<LiveUnit>>& live = over.second;
  std::vector<Wide> best(sections_ + 1, Wide(0));
  for (std::size_t s = sections_; s-- > 0;) {
    best[s] = best[s + 1];
    if (live[s].empty()) continue;
    const auto cheaper = [&](const LiveUnit& a, const LiveUnit& b) {
      return less(a.unit, a.bytes, b.unit, b.bytes);
    };
    if (!std::is_sorted(live[s].begin(), live[s].end(), cheaper)) {
      std::sort(live[s].begin(), live[s].end(), cheaper);
    }
    std::size_t next = s + 1;
    for (const LiveUnit& each : live[s]) next = std::max(next, stays_[each.unit].back().last);
    const Wide loss = LeastLoss(live[s], profit, load[s] - room[s]);
    best[s] = std::max(best[s], loss + best[next]);
  }
  return bound + best[0];
}

}  // namespace berth::internal::memories
