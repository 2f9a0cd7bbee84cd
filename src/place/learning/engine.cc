#include "place/learning/engine.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/check.h"
#include "base/truncate.h"
#include "model/twins.h"

namespace berth::internal::learning {
namespace {

constexpr std::uint8_t kLowMoved = 1;
constexpr std::uint8_t kHighMoved = 2;
constexpr std::size_t kWordBits = 64;

}  // namespace

// ---- The tables.

Engine::Engine(const Instance& instance, const Overlaps& overlaps, const EngineRules& rules)
    : instance_(instance), rules_(rules) {
  const std::size_t n = instance.num_buffers();
  size_ = instance.size.items();
  alignment_.resize(n);
  for (const BufferIndex b : instance.buffers()) {
    alignment_[b.position()] =
        instance.pin[b] != kNone ? 1 : std::max(instance.alignment[b], rules.grain);
  }
  end_.reserve(overlaps.neighbour.size());
  for (const BufferIndex i : instance.buffers()) {
    const auto from = static_cast<std::size_t>(overlaps.row_begin[i.position()]);
    const auto to = static_cast<std::size_t>(overlaps.row_begin[i.position() + 1]);
    for (std::size_t k = from; k < to; ++k) {
      const BufferIndex j = overlaps.neighbour[k];
      if (j < i) continue;
      if (!instance.has_windows) {
        end_.push_back(i.value());
        end_.push_back(j.value());
        continue;
      }
      for (const Interval& interval : ForbiddenDifferences(instance, i, j)) AddPair(i, j, interval);
    }
  }
  MakeRows();
  if (rules_.section_load) MakeSections();
  if (rules_.identical_order) FindIdentical();
  low_.resize(n);
  high_.resize(n);
  limit_.resize(n);
  above_.resize(n);
  below_.resize(n);
  placed_level_.resize(n);
  placed_offset_.resize(n);
  blamed_in_.resize(n + 1, 0);
  queued_.resize(n);
  lows_.resize(n);
  highs_.resize(n);
  order_.resize(end_.size() / 2);
  decided_.resize(end_.size() / 2);
}

// o_j - o_i must not lie within the interval: at least its upper end, j above i; or at most its
// lower end, i above j.
void Engine::AddPair(BufferIndex i, BufferIndex j, const Interval& interval) {
  end_.push_back(i.value());
  end_.push_back(j.value());
  clearance_.push_back(interval.upper);
  clearance_.push_back(-interval.lower);
}

void Engine::MakeRows() {
  const std::size_t n = size_.size();
  row_begin_.assign(n + 1, 0);
  for (const Buffer b : end_) ++row_begin_[At(b) + 1];
  for (std::size_t b = 0; b < n; ++b) row_begin_[b + 1] += row_begin_[b];
  row_.resize(end_.size());
  slot_.resize(end_.size());
  FillRows();
}

// All pairs open, in the order of their numbers.
void Engine::FillRows() {
  open_end_.assign(row_begin_.begin(), row_begin_.end() - 1);
  for (std::size_t p = 0; p < end_.size(); ++p) {
    const auto pair = static_cast<OrderedPair>(p);
    const std::int64_t slot = open_end_[At(bottom(pair))]++;
    row_[static_cast<std::size_t>(slot)] = {top(pair), pair};
    slot_[p] = slot;
  }
}

void Engine::MakeSections() {
  const std::size_t sections = instance_.num_sections();
  section_begin_.assign(sections + 1, 0);
  for (const Piece& piece : instance_.pieces) {
    for (std::size_t s = piece.first.position(); s < piece.last.position(); ++s) {
      ++section_begin_[s + 1];
    }
  }
  for (std::size_t s = 0; s < sections; ++s) section_begin_[s + 1] += section_begin_[s];
  member_.resize(static_cast<std::size_t>(section_begin_.back()));
  std::vector<std::int64_t> next(section_begin_.begin(), section_begin_.end() - 1);
  for (const BufferIndex b : instance_.buffers()) {
    for (const Piece& piece : instance_.pieces_of(b)) {
      for (std::size_t s = piece.first.position(); s < piece.last.position(); ++s) {
        member_[static_cast<std::size_t>(next[s]++)] = {b.value(), piece.lower,
                                                        piece.upper - piece.lower};
      }
    }
  }
  is_dirty_.assign(sections, 0);
}

// Twins, the first of them at the bottom.
void Engine::FindIdentical() {
  if (instance_.has_windows) return;
  const std::vector<BufferIndex> order = ByShape(instance_);
  for (std::size_t k = 1; k < order.size(); ++k) {
    if (!AreTwins(instance_, order[k - 1], order[k])) continue;
    const std::size_t lower = order[k - 1].position();
    for (std::int64_t at = row_begin_[lower]; at < row_begin_[lower + 1]; ++at) {
      const Neighbour& neighbour = row_[static_cast<std::size_t>(at)];
      if (neighbour.other == order[k].value()) identical_.push_back(neighbour.pair);
    }
  }
}

Bytes Engine::RoundUp(Buffer b, Bytes value) const {
  const Bytes alignment = alignment_[At(b)];
  if (alignment == 1) return value;
  const Bytes rest = value % alignment;
  return rest == 0 ? value : value - rest + (rest > 0 ? alignment : 0);
}

Bytes Engine::RoundDown(Buffer b, Bytes value) const {
  const Bytes alignment = alignment_[At(b)];
  if (alignment == 1) return value;
  const Bytes rest = value % alignment;
  return rest == 0 ? value : value - rest - (rest < 0 ? alignment : 0);
}

// ---- Decisions.

bool Engine::Start(Bytes capacity, bool cores) {
  const std::size_t n = size_.size();
  capacity_ = capacity;
  notes_cores_ = cores;
  core_.assign(cores ? (n + kWordBits - 1) / kWordBits : 0, 0);
  low_core_.assign(cores ? n : 0, {});
  high_core_.assign(cores ? n : 0, {});
  order_core_.assign(cores ? order_.size() : 0, {});
  ClearQueues();
  trail_.clear();
  nogood_head_ = 0;
  starts_.clear();
  placed_at_.clear();
  strays_ = 0;
  nogoods_.clear();
  for (auto* lists : {&watch_low_, &watch_high_, &watch_order_}) {
    for (auto& list : *lists) list.clear();
  }
  // Propagation follows the order of the rows, which deciding pairs has changed: as they were, the
  // next search takes the steps that one with an engine of its own would.
  if (std::exchange(has_started_, true)) FillRows();
  std::fill(order_.begin(), order_.end(), 0);
  std::fill(decided_.begin(), decided_.end(), kNoEvent);
  failure_ = Failure::kNothing;
  for (std::size_t b = 0; b < n; ++b) {
    above_[b].clear();
    below_[b].clear();
    lows_[b].clear();
    highs_[b].clear();
    const Bytes pin = instance_.pin.items()[b];
    const auto buffer = static_cast<Buffer>(b);
    placed_level_[b] = pin != kNone ? 0 : kNever;
    limit_[b] = std::numeric_limits<Bytes>::min();  // Look at all pairs once.
    if (size_[b] > capacity || pin > capacity - size_[b]) {
      AddToCore(buffer);
      return false;
    }
    low_[b] = std::max<Bytes>(pin, 0);
    high_[b] = pin != kNone ? pin : RoundDown(buffer, capacity - size_[b]);
    Enqueue(buffer, kLowMoved);
    MarkSections(buffer);
  }
  for (const OrderedPair pair : identical_) {
    if (failure_ != Failure::kNothing) break;
    std::fill(core_.begin(), core_.end(), 0);
    Decide(pair, Cause::kPlaced, 0);
  }
  return Propagate();
}

bool Engine::Place(Buffer b, Bytes offset) {
  BERTH_DCHECK(failure_ == Failure::kNothing);
  starts_.push_back(static_cast<EventIndex>(trail_.size()));
  placed_at_.push_back(b);
  const std::int32_t before = std::exchange(placed_level_[At(b)], level());
  placed_offset_[At(b)] = offset;
  BERTH_DCHECK(before <= 0);
  (void)before;
  if (!plan_.empty() && plan_[At(b)] != offset) ++strays_;
  Lower(b, offset, Cause::kPlaced, 0);
  if (failure_ == Failure::kNothing) Raise(b, offset, Cause::kPlaced, 0);
  return Propagate();
}

void Engine::UndoTo(std::int32_t level) {
  while (this->level() > level) {
    const auto mark = static_cast<std::size_t>(starts_.back());
    for (; trail_.size() > mark; trail_.pop_back()) {
      const Event& event = trail_.back();
      const std::size_t id = At(event.id);
      switch (event.change) {
        case Change::kLow:
          low_[id] = event.old;
          lows_[id].pop_back();
          break;
        case Change::kHigh:
          high_[id] = event.old;
          highs_[id].pop_back();
          break;
        case Change::kLimit:
          limit_[id] = event.old;
          break;
        case Change::kOrder:
          order_[id >> 1] = 0;
          decided_[id >> 1] = kNoEvent;
          ++open_end_[At(bottom(event.id))];
          ++open_end_[At(top(event.id))];
          if (event.listed) {
            above_[At(bottom(event.id))].pop_back();
            below_[At(top(event.id))].pop_back();
          }
          break;
      }
    }
    const Buffer b = placed_at_.back();
    placed_level_[At(b)] = instance_.pin.items()[At(b)] != kNone ? 0 : kNever;
    starts_.pop_back();
    placed_at_.pop_back();
    if (!plan_.empty()) {
      // Rare: only tests watch a plan.
      strays_ = 0;
      for (const Buffer other : placed_at_) strays_ += low_[At(other)] != plan_[At(other)];
    }
  }
  failure_ = Failure::kNothing;
  ClearQueues();
  nogood_head_ = std::min(nogood_head_, trail_.size());
}

Engine::Rest Engine::Skyline(Buffer b) const {
  Rest rest{0, -1};
  const auto from = static_cast<std::size_t>(row_begin_[At(b)]);
  const auto to = static_cast<std::size_t>(row_begin_[At(b) + 1]);
  for (std::size_t k = from; k < to; ++k) {
    const Neighbour& neighbour = row_[k];
    if (placed_level_[At(neighbour.other)] == kNever) continue;
    const Bytes top =
        low_[At(neighbour.other)] + ClearanceOf(neighbour.other, Reverse(neighbour.pair));
    if (top > rest.offset) rest = {top, neighbour.other};
  }
  rest.offset = RoundUp(b, rest.offset);
  return rest;
}

// ---- Changes.

void Engine::Enqueue(Buffer b, std::uint8_t what) {
  if (queued_[At(b)] == 0) queue_.push_back(b);
  queued_[At(b)] |= what;
}

void Engine::ClearQueues() {
  for (std::size_t k = queue_head_; k < queue_.size(); ++k) queued_[At(queue_[k])] = 0;
  queue_.clear();
  queue_head_ = 0;
  for (const std::int32_t s : dirty_) is_dirty_[At(s)] = 0;
  dirty_.clear();
}

void Engine::MarkSections(Buffer b) {
  if (!rules_.section_load) return;
  for (const Piece& piece : instance_.pieces_of(BufferIndex(b))) {
    for (std::int32_t s = piece.first.value(); s < piece.last.value(); ++s) {
      if (is_dirty_[At(s)] != 0) continue;
      is_dirty_[At(s)] = 1;
      dirty_.push_back(s);
    }
  }
}

void Engine::CheckPlan(Buffer b, bool is_low) {
  if (plan_.empty() || strays_ > 0) return;
  plan_excluded_ |= is_low ? low_[At(b)] > plan_[At(b)] : high_[At(b)] < plan_[At(b)];
}

void Engine::Raise(Buffer b, Bytes value, Cause cause, std::int32_t because) {
  const std::size_t at = At(b);
  if (value <= low_[at]) return;
  value = RoundUp(b, value);
  lows_[at].push_back({value, static_cast<EventIndex>(trail_.size())});
  trail_.push_back({low_[at], b, because, level(), Change::kLow, cause, false});
  NoteFact(trail_.back());
  if (log_ != nullptr) LogFact({Atom::Kind::kAtMost, b, value - 1}, cause, because);
  low_[at] = value;
  if (value > high_[at] && failure_ == Failure::kNothing) {
    failure_ = Failure::kBounds;
    failed_event_ = static_cast<EventIndex>(trail_.size()) - 1;
  }
  Enqueue(b, kLowMoved);
  MarkSections(b);
  CheckPlan(b, true);
}

void Engine::Lower(Buffer b, Bytes value, Cause cause, std::int32_t because) {
  const std::size_t at = At(b);
  if (value >= high_[at]) return;
  value = RoundDown(b, value);
  highs_[at].push_back({value, static_cast<EventIndex>(trail_.size())});
  trail_.push_back({high_[at], b, because, level(), Change::kHigh, cause, false});
  NoteFact(trail_.back());
  if (log_ != nullptr) LogFact({Atom::Kind::kAtLeast, b, value + 1}, cause, because);
  high_[at] = value;
  if (value < low_[at] && failure_ == Failure::kNothing) {
    failure_ = Failure::kBounds;
    failed_event_ = static_cast<EventIndex>(trail_.size()) - 1;
  }
  Enqueue(b, kHighMoved);
  CheckPlan(b, false);
}

// In the row of the lower one, the last open pair takes its slot.
void Engine::SwapOut(OrderedPair pair) {
  const std::int64_t slot = slot_[At(pair)];
  const std::int64_t last = --open_end_[At(bottom(pair))];
  Neighbour& here = row_[static_cast<std::size_t>(slot)];
  Neighbour& there = row_[static_cast<std::size_t>(last)];
  std::swap(here, there);
  slot_[At(here.pair)] = slot;
  slot_[At(there.pair)] = last;
}

void Engine::Decide(OrderedPair pair, Cause cause, std::int32_t because) {
  const Buffer lower = bottom(pair);
  const Buffer upper = top(pair);
  BERTH_DCHECK(order_[At(pair >> 1)] == 0);
  order_[At(pair >> 1)] = static_cast<std::uint8_t>(1 + (pair & 1));
  decided_[At(pair >> 1)] = static_cast<EventIndex>(trail_.size());
  SwapOut(pair);
  SwapOut(Reverse(pair));
  // Where one of them cannot move any more, the bound it gives the other now is its last.
  const bool listed = !is_fixed(lower) && !is_fixed(upper);
  trail_.push_back({0, pair, because, level(), Change::kOrder, cause, listed});
  NoteFact(trail_.back());
  if (log_ != nullptr) LogFact({Atom::Kind::kAbove, Reverse(pair), 0}, cause, because);
  if (listed) {
    above_[At(lower)].push_back({upper, pair});
    below_[At(upper)].push_back({lower, pair});
  }
  if (!plan_.empty() && strays_ == 0) {
    plan_excluded_ |= plan_[At(upper)] < plan_[At(lower)] + ClearanceOf(lower, pair);
  }
  const Bytes clearance = ClearanceOf(lower, pair);
  Raise(upper, low_[At(lower)] + clearance, Cause::kOrder, pair);
  Lower(lower, high_[At(upper)] - clearance, Cause::kOrder, pair);
}

// ---- Propagation.

bool Engine::Propagate() {
  while (failure_ == Failure::kNothing) {
    if (queue_head_ < queue_.size()) {
      const Buffer b = queue_[queue_head_++];
      const std::uint8_t what = std::exchange(queued_[At(b)], std::uint8_t{0});
      if ((what & kLowMoved) != 0) RaisedLow(b);
      if ((what & kHighMoved) != 0 && failure_ == Failure::kNothing) LoweredHigh(b);
      continue;
    }
    queue_.clear();
    queue_head_ = 0;
    if (nogoods_.empty()) nogood_head_ = trail_.size();
    if (nogood_head_ < trail_.size()) {
      ApplyNogoods(trail_[nogood_head_++]);
      continue;
    }
    if (dirty_.empty()) break;
    const std::int32_t section = dirty_.back();
    dirty_.pop_back();
    is_dirty_[At(section)] = 0;
    CheckSection(section);
  }
  if (!plan_.empty() && strays_ == 0) plan_excluded_ |= failure_ != Failure::kNothing;
  return failure_ == Failure::kNothing;
}

void Engine::RaisedLow(Buffer b) {
  const std::size_t at = At(b);
  for (const Neighbour& up : above_[at]) {
    Raise(up.other, low_[at] + ClearanceOf(b, up.pair), Cause::kOrder, up.pair);
    if (failure_ != Failure::kNothing) return;
  }
  if (low_[at] <= limit_[at]) return;
  // b lies above whatever it cannot lie below any more. Deciding a pair swaps it behind the open
  // ones, and one that was looked at takes its place.
  Bytes limit = std::numeric_limits<Bytes>::max();
  for (std::int64_t k = open_end_[at] - 1; k >= row_begin_[at]; --k) {
    const Neighbour neighbour = row_[static_cast<std::size_t>(k)];
    const Bytes room = high_[At(neighbour.other)] - ClearanceOf(b, neighbour.pair);
    if (low_[at] > room) {
      Decide(Reverse(neighbour.pair), Cause::kBounds, 0);
      if (failure_ != Failure::kNothing) return;
    } else {
      limit = std::min(limit, room);
    }
  }
  trail_.push_back({limit_[at], b, 0, level(), Change::kLimit, Cause::kBounds, false});
  limit_[at] = limit;
}

void Engine::LoweredHigh(Buffer b) {
  const std::size_t at = At(b);
  for (const Neighbour& down : below_[at]) {
    Lower(down.other, high_[at] - ClearanceOf(down.other, down.pair), Cause::kOrder, down.pair);
    if (failure_ != Failure::kNothing) return;
  }
  for (std::int64_t k = open_end_[at] - 1; k >= row_begin_[at]; --k) {
    const Neighbour neighbour = row_[static_cast<std::size_t>(k)];
    const Bytes room = high_[at] - ClearanceOf(neighbour.other, Reverse(neighbour.pair));
    if (low_[At(neighbour.other)] > room) {
      Decide(neighbour.pair, Cause::kBounds, 0);
      if (failure_ != Failure::kNothing) return;
    } else {
      // A limit that is too low costs a look, so this need not be undone.
      limit_[At(neighbour.other)] = std::min(limit_[At(neighbour.other)], room);
    }
  }
}

// What cannot lie below a level needs its bytes above it. The members of a section stay in the
// order of the last look, the highest first, so that sorting them again is cheap.
void Engine::CheckSection(std::int32_t section) {
  const auto from = static_cast<std::size_t>(section_begin_[At(section)]);
  const auto to = static_cast<std::size_t>(section_begin_[At(section) + 1]);
  const auto low = [&](const Member& member) { return low_[At(member.buffer)] + member.lower; };
  for (std::size_t k = from + 1; k < to; ++k) {
    const Member member = member_[k];
    const Bytes level = low(member);
    std::size_t at = k;
    for (; at > from && low(member_[at - 1]) < level; --at) member_[at] = member_[at - 1];
    member_[at] = member;
  }
  Bytes load = 0;
  for (std::size_t k = from; k < to; ++k) {
    load += member_[k].bytes;
    if (low(member_[k]) + load > capacity_) {
      FailSection(from, k + 1, low(member_[k]) + load - capacity_ - 1);
      return;
    }
  }
}

// The members [from, to) exceed the capacity by `excess` bytes and one.
void Engine::FailSection(std::size_t from, std::size_t to, Bytes excess) {
  failure_ = Failure::kAtoms;
  failed_nogood_ = -1;
  failed_atoms_.clear();
  const Bytes level = low_[At(member_[to - 1].buffer)] + member_[to - 1].lower;
  // One byte too many is enough: not all of them need be there, or so high.
  for (std::size_t k = from; k < to; ++k) {
    const Member& member = member_[k];
    const auto& moves = lows_[At(member.buffer)];
    if (member.bytes <= excess && !moves.empty() && trail_[At(moves.back().event)].level > 0) {
      excess -= member.bytes;
      continue;
    }
    failed_atoms_.push_back({Atom::Kind::kAtLeast, member.buffer, level - member.lower});
  }
  for (Atom& atom : failed_atoms_) atom.value -= excess;
}

// ---- What was learned.

bool Engine::IsTrue(const Atom& atom) const {
  switch (atom.kind) {
    case Atom::Kind::kAtLeast:
      return low_[At(atom.id)] >= atom.value;
    case Atom::Kind::kAtMost:
      return high_[At(atom.id)] <= atom.value;
    case Atom::Kind::kAbove:
      break;
  }
  return IsTrue(atom.id);
}

void Engine::Forbid(const Atom& atom, Cause cause, std::int32_t because) {
  switch (atom.kind) {
    case Atom::Kind::kAtLeast:
      Lower(atom.id, atom.value - 1, cause, because);
      return;
    case Atom::Kind::kAtMost:
      Raise(atom.id, atom.value + 1, cause, because);
      return;
    case Atom::Kind::kAbove:
      if (order_[At(atom.id >> 1)] == 0) Decide(Reverse(atom.id), cause, because);
      return;
  }
}

std::vector<Engine::Watcher>& Engine::WatchersOf(const Atom& atom) {
  switch (atom.kind) {
    case Atom::Kind::kAtLeast:
      return watch_low_[At(atom.id)];
    case Atom::Kind::kAtMost:
      return watch_high_[At(atom.id)];
    case Atom::Kind::kAbove:
      break;
  }
  return watch_order_[At(atom.id)];
}

void Engine::ApplyNogoods(const Event& event) {
  if (event.change == Change::kLimit) return;
  const Atom::Kind kind = event.change == Change::kLow    ? Atom::Kind::kAtLeast
                          : event.change == Change::kHigh ? Atom::Kind::kAtMost
                                                          : Atom::Kind::kAbove;
  const std::int32_t id = event.id;  // The trail may move.
  auto& watchers = WatchersOf({kind, id, 0});
  std::size_t kept = 0;
  for (std::size_t w = 0; w < watchers.size(); ++w) {
    const Watcher watcher = watchers[w];
    if (failure_ != Failure::kNothing || !IsTrue(Atom{kind, id, watcher.value})) {
      watchers[kept++] = watcher;
      continue;
    }
    auto& atoms = nogoods_[At(watcher.nogood)].atoms;
    if (atoms[0].kind == kind && atoms[0].id == id) std::swap(atoms[0], atoms[1]);
    bool moved = false;
    for (std::size_t k = 2; k < atoms.size() && !moved; ++k) {
      if (IsTrue(atoms[k])) continue;
      std::swap(atoms[1], atoms[k]);
      WatchersOf(atoms[1]).push_back({atoms[1].value, watcher.nogood});
      moved = true;
    }
    if (moved) continue;
    watchers[kept++] = watcher;
    if (IsTrue(atoms[0])) {
      failure_ = Failure::kAtoms;
      failed_atoms_ = atoms;
      failed_nogood_ = watcher.nogood;
    } else {
      Forbid(atoms[0], Cause::kNogood, watcher.nogood);
    }
  }
  Truncate(watchers, kept);
}

bool Engine::Learn() {
  BeginExplaining(false);
  NeedFailure();
  learned_.clear();
  if (heap_.empty()) {
    (void)LogLearned();
    UndoTo(0);
    return false;
  }
  const std::int32_t last_level = trail_[At(heap_.front())].level;
  while (true) {
    const EventIndex event = heap_.front();
    std::pop_heap(heap_.begin(), heap_.end());
    heap_.pop_back();
    // Events of the last level are later than all others.
    if (heap_.empty() || trail_[At(heap_.front())].level != last_level) {
      heap_.push_back(event);
      break;
    }
    NeedCauses(event);
  }
  // What is left cannot all be true: the point itself first, then the others, the latest first.
  std::sort(heap_.begin(), heap_.end());
  std::reverse(heap_.begin(), heap_.end());
  std::int32_t levels = 1;
  std::int32_t back = 0;
  for (std::size_t k = 0; k < heap_.size(); ++k) {
    const Atom atom = AtomOf(heap_[k]);
    if (k > 0 && trail_[At(heap_[k])].level != trail_[At(heap_[k - 1])].level) ++levels;
    // Of two bounds on one side the later one implies the earlier.
    const bool implied = std::any_of(learned_.begin(), learned_.end(), [&](const Atom& other) {
      return other.kind == atom.kind && other.id == atom.id;
    });
    if (implied) continue;
    learned_.push_back(atom);
    if (learned_.size() == 2) back = trail_[At(heap_[k])].level;
  }
  // Where the second one became true all but the first are.
  UndoTo(back);
  AddNogood(levels);
  return Propagate();
}

void Engine::AddNogood(std::int32_t levels) {
  const std::int32_t logged = LogLearned();
  if (learned_.size() == 1) {
    Forbid(learned_.front(), Cause::kPlaced, 0);
    return;
  }
  if (watch_order_.empty()) {
    watch_low_.resize(size_.size());
    watch_high_.resize(size_.size());
    watch_order_.resize(end_.size());
  }
  const auto index = static_cast<std::int32_t>(nogoods_.size());
  nogoods_.push_back({learned_, levels, core_, logged});
  for (const std::size_t k : {std::size_t{0}, std::size_t{1}}) {
    WatchersOf(learned_[k]).push_back({learned_[k].value, index});
  }
  Forbid(learned_.front(), Cause::kNogood, index);
}

void Engine::Forget() {
  BERTH_CHECK(level() == 0 && failure_ == Failure::kNothing);
  std::vector<std::int32_t> levels;
  for (const Nogood& nogood : nogoods_) {
    if (!nogood.atoms.empty()) levels.push_back(nogood.levels);
  }
  if (levels.empty()) return;
  const auto middle = levels.begin() + static_cast<std::ptrdiff_t>(levels.size() / 2);
  std::nth_element(levels.begin(), middle, levels.end());
  const std::int32_t most = std::max(*middle, 3);
  for (auto* lists : {&watch_low_, &watch_high_, &watch_order_}) {
    for (auto& list : *lists) list.clear();
  }
  std::size_t kept = 0;
  for (Nogood& nogood : nogoods_) {
    if (nogood.levels >= most) continue;
    // Before any placement at least two of them are open, or one of them is false for ever.
    std::size_t open = 0;
    for (std::size_t k = 0; k < nogood.atoms.size() && open < 2; ++k) {
      if (!IsTrue(nogood.atoms[k])) std::swap(nogood.atoms[open++], nogood.atoms[k]);
    }
    if (open < 2) continue;
    if (&nogoods_[kept] != &nogood) nogoods_[kept] = std::move(nogood);
    for (const std::size_t k : {std::size_t{0}, std::size_t{1}}) {
      const Atom& atom = nogoods_[kept].atoms[k];
      WatchersOf(atom).push_back({atom.value, static_cast<std::int32_t>(kept)});
    }
    ++kept;
  }
  Truncate(nogoods_, kept);
}

// ---- Explanations.

void Engine::BeginExplaining(bool stop_at_placements) {
  heap_.clear();
  placements_.clear();
  used_.clear();
  std::fill(core_.begin(), core_.end(), 0);
  stop_at_placements_ = stop_at_placements;
  if (needed_in_.size() < trail_.size()) {
    needed_in_.resize(2 * trail_.size(), 0);
    need_.resize(2 * trail_.size());
  }
  ++explanation_;
}

void Engine::NeedFailure() {
  const auto now = static_cast<EventIndex>(trail_.size());
  BERTH_DCHECK(failure_ != Failure::kNothing);
  if (failure_ == Failure::kBounds) {
    // The causes of the bound that crossed the other; the bound itself is impossible.
    const Event& event = trail_[At(failed_event_)];
    const Buffer b = event.id;
    AddToCore(b);
    Atom crossed{Atom::Kind::kAtLeast, b, high_[At(b)] + 1};
    Atom other{Atom::Kind::kAtMost, b, high_[At(b)]};
    if (event.change == Change::kHigh) {
      crossed = {Atom::Kind::kAtMost, b, low_[At(b)] - 1};
      other = {Atom::Kind::kAtLeast, b, low_[At(b)]};
    }
    Need(other, now);
    if (event.cause == Cause::kPlaced) {
      Need(crossed, now);
    } else {
      need_[At(failed_event_)] = crossed.value;
      NeedCauses(failed_event_);
    }
    return;
  }
  if (failed_nogood_ >= 0) NeedNogood(failed_nogood_);
  for (const Atom& atom : failed_atoms_) {
    if (atom.kind != Atom::Kind::kAbove) AddToCore(atom.id);
    Need(atom, now);
  }
}

// The earliest event that made the atom true joins the heap, unless it has always been true.
void Engine::Need(const Atom& atom, EventIndex before) {
  const bool is_low = atom.kind == Atom::Kind::kAtLeast;
  EventIndex event = kNoEvent;
  if (atom.kind == Atom::Kind::kAbove) {
    event = decided_[At(atom.id >> 1)];
    BERTH_DCHECK(event != kNoEvent && IsTrue(atom.id));
  } else {
    if (stop_at_placements_ && NeedPlacement(atom, before)) return;
    const auto& moves = is_low ? lows_[At(atom.id)] : highs_[At(atom.id)];
    const auto first = std::partition_point(moves.begin(), moves.end(), [&](const Moved& moved) {
      return is_low ? moved.to < atom.value : moved.to > atom.value;
    });
    BERTH_DCHECK(first != moves.end() || IsTrue(atom));
    if (first != moves.end() && (is_low ? trail_[At(moves.front().event)].old < atom.value
                                        : trail_[At(moves.front().event)].old > atom.value)) {
      event = first->event;
    }
  }
  BERTH_DCHECK(event < before);
  (void)before;
  if (event == kNoEvent) return;
  if (trail_[At(event)].level == 0) return AddFactToCore(atom);
  if (needed_in_[At(event)] != explanation_) {
    needed_in_[At(event)] = explanation_;
    need_[At(event)] = atom.value;
    heap_.push_back(event);
    std::push_heap(heap_.begin(), heap_.end());
  } else if (is_low) {
    need_[At(event)] = std::max(need_[At(event)], atom.value);
  } else {
    need_[At(event)] = std::min(need_[At(event)], atom.value);
  }
}

Atom Engine::AtomOf(EventIndex index) const {
  const Event& event = trail_[At(index)];
  switch (event.change) {
    case Change::kLow:
      return {Atom::Kind::kAtLeast, event.id, need_[At(index)]};
    case Change::kHigh:
      return {Atom::Kind::kAtMost, event.id, need_[At(index)]};
    default:
      return {Atom::Kind::kAbove, event.id, 0};
  }
}

void Engine::NeedCauses(EventIndex index) {
  const Event& event = trail_[At(index)];
  const Bytes need = need_[At(index)];
  switch (event.cause) {
    case Cause::kPlaced:
      return;
    case Cause::kOrder: {
      const OrderedPair pair = event.because;
      AddPairToCore(pair);
      const Bytes clearance = ClearanceOf(bottom(pair), pair);
      Need({Atom::Kind::kAbove, pair, 0}, index);
      // What is rounded to `need` suffices.
      if (event.change == Change::kLow) {
        const Bytes more_than = RoundDown(event.id, need - 1);
        Need({Atom::Kind::kAtLeast, bottom(pair), more_than + 1 - clearance}, index);
      } else {
        const Bytes less_than = RoundUp(event.id, need + 1);
        Need({Atom::Kind::kAtMost, top(pair), less_than - 1 + clearance}, index);
      }
      return;
    }
    case Cause::kBounds: {
      // The reverse order: its lower one already lay too high, its upper one too low.
      const OrderedPair reverse = Reverse(event.id);
      AddPairToCore(reverse);
      const Buffer lower = bottom(reverse);
      // Where that was then.
      const auto& moves = lows_[At(lower)];
      const auto later = std::partition_point(
          moves.begin(), moves.end(), [&](const Moved& moved) { return moved.event < index; });
      const Bytes low = later == moves.end() ? low_[At(lower)] : trail_[At(later->event)].old;
      Need({Atom::Kind::kAtLeast, lower, low}, index);
      Need({Atom::Kind::kAtMost, top(reverse), low + ClearanceOf(lower, reverse) - 1}, index);
      return;
    }
    case Cause::kNogood: {
      const Atom::Kind negated = event.change == Change::kLow    ? Atom::Kind::kAtMost
                                 : event.change == Change::kHigh ? Atom::Kind::kAtLeast
                                                                 : Atom::Kind::kAbove;
      const std::int32_t id = event.change == Change::kOrder ? Reverse(event.id) : event.id;
      NeedNogood(event.because);
      for (const Atom& atom : nogoods_[At(event.because)].atoms) {
        if (atom.kind != negated || atom.id != id) Need(atom, index);
      }
      return;
    }
  }
}

void Engine::NeedNogood(std::int32_t nogood) {
  AddToCore(nogoods_[At(nogood)].core);
  if (log_ != nullptr) used_.push_back(nogoods_[At(nogood)].logged);
}

// ---- The log.

LoggedAtom Engine::LoggedOf(const Atom& atom) const {
  if (atom.kind == Atom::Kind::kAbove) {
    // Which of the intervals that the two buffers exclude: their pairs follow each other.
    const std::int32_t first = atom.id & ~1;
    std::int32_t before = first;
    while (before >= 2 && end_[At(before - 2)] == end_[At(first)] &&
           end_[At(before - 1)] == end_[At(first + 1)]) {
      before -= 2;
    }
    return {'^', top(atom.id), bottom(atom.id), (first - before) / 2};
  }
  return {atom.kind == Atom::Kind::kAtLeast ? '>' : '<', atom.id, 0, atom.value};
}

std::int32_t Engine::LogLearned() {
  if (log_ == nullptr) return 0;
  std::vector<LoggedAtom> atoms;
  for (const Atom& atom : learned_) atoms.push_back(LoggedOf(atom));
  return log_->Add(std::move(atoms), used_);
}

// Before any placement, what follows from a nogood counts from now on; the checker finds by itself
// what follows without one. Only with a log.
void Engine::LogFact(const Atom& impossible, Cause cause, std::int32_t because) {
  if (level() > 0 || cause != Cause::kNogood) return;
  const std::int32_t used = nogoods_[At(because)].logged;
  (void)log_->Add({LoggedOf(impossible)}, {&used, 1});
}

void Engine::LogEnd() {
  if (log_ == nullptr || log_->is_complete()) return;
  BeginExplaining(false);
  if (failure_ != Failure::kNothing) NeedFailure();
  learned_.clear();
  (void)LogLearned();
}

// ---- Cores.

void Engine::AddToCore(Buffer b) {
  if (!notes_cores_) return;
  core_[At(b) / kWordBits] |= std::uint64_t{1} << (At(b) % kWordBits);
}

void Engine::AddToCore(const BufferSet& set) {
  for (std::size_t word = 0; word < set.size(); ++word) core_[word] |= set[word];
}

void Engine::AddPairToCore(OrderedPair pair) {
  AddToCore(bottom(pair));
  AddToCore(top(pair));
}

// What makes it true at level 0.
void Engine::AddFactToCore(const Atom& atom) {
  if (!notes_cores_) return;
  switch (atom.kind) {
    case Atom::Kind::kAtLeast:
      return AddToCore(low_core_[At(atom.id)]);
    case Atom::Kind::kAtMost:
      return AddToCore(high_core_[At(atom.id)]);
    case Atom::Kind::kAbove:
      return AddToCore(order_core_[At(atom.id >> 1)]);
  }
}

// At level 0, where nothing is undone: the core of a change, from those of its causes as they are now.
void Engine::NoteFact(const Event& event) {
  if (!notes_cores_ || level() > 0) return;
  // What was learned just now, of one atom, has the core of its explanation.
  if (event.cause != Cause::kPlaced) std::fill(core_.begin(), core_.end(), 0);
  if (event.change == Change::kOrder) {
    AddPairToCore(event.id);
  } else {
    AddToCore(event.id);
  }
  switch (event.cause) {
    case Cause::kPlaced:
      break;
    case Cause::kOrder:
      AddPairToCore(event.because);
      AddFactToCore({Atom::Kind::kAbove, event.because, 0});
      if (event.change == Change::kLow) {
        AddFactToCore({Atom::Kind::kAtLeast, bottom(event.because), 0});
      } else {
        AddFactToCore({Atom::Kind::kAtMost, top(event.because), 0});
      }
      break;
    case Cause::kBounds:
      AddFactToCore({Atom::Kind::kAtLeast, top(event.id), 0});
      AddFactToCore({Atom::Kind::kAtMost, bottom(event.id), 0});
      break;
    case Cause::kNogood:
      AddToCore(nogoods_[At(event.because)].core);
      for (const Atom& atom : nogoods_[At(event.because)].atoms) {
        if (IsTrue(atom)) AddFactToCore(atom);
      }
      break;
  }
  BufferSet& fact = event.change == Change::kLow    ? low_core_[At(event.id)]
                    : event.change == Change::kHigh ? high_core_[At(event.id)]
                                                    : order_core_[At(event.id >> 1)];
  fact = core_;
}

std::vector<Engine::Buffer> Engine::Core() {
  BERTH_CHECK(notes_cores_ && level() == 0);
  if (failure_ != Failure::kNothing) {
    BeginExplaining(false);
    NeedFailure();
  }
  std::vector<Buffer> buffers;
  for (std::size_t b = 0; b < size_.size(); ++b) {
    if ((core_[b / kWordBits] >> (b % kWordBits) & 1) != 0) {
      buffers.push_back(static_cast<Buffer>(b));
    }
  }
  return buffers;
}

std::span<const std::int32_t> Engine::Placements() {
  BeginExplaining(true);
  NeedFailure();
  while (!heap_.empty()) {
    const EventIndex event = heap_.front();
    std::pop_heap(heap_.begin(), heap_.end());
    heap_.pop_back();
    NeedCauses(event);
  }
  std::sort(placements_.begin(), placements_.end());
  return placements_;
}

// Once it is placed, a buffer is where it is because of that; where it was moved on from there, in
// vain, is another matter.
bool Engine::NeedPlacement(const Atom& atom, EventIndex before) {
  const std::int32_t level = placed_level_[At(atom.id)];
  if (level <= 0 || before <= starts_[At(level - 1)]) return false;
  const Bytes offset = placed_offset_[At(atom.id)];
  if (atom.kind == Atom::Kind::kAtLeast ? offset < atom.value : offset > atom.value) return false;
  if (blamed_in_[At(level)] != explanation_) {
    blamed_in_[At(level)] = explanation_;
    placements_.push_back(level);
  }
  return true;
}

void Engine::Watch(std::vector<Bytes> plan) {
  BERTH_CHECK(level() == 0);
  plan_ = std::move(plan);
  plan_excluded_ = false;
}

}  // namespace berth::internal::learning
