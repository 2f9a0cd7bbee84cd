#include "recompute/timeline.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/avx2.h"

namespace berth::internal::recompute {

namespace {

constexpr int kCalm = 15;  // Per cent of the capacity beside pressure.

[[gnu::always_inline]] inline Bytes Above(Bytes load, Bytes limit) {
  return std::max<Bytes>(load - limit, 0);
}

// Loops over loads, for some instruction set.
struct LoadKernels {
  // By how much what `count` loads have above `limit` together grows if each grows by `bytes`.
  std::int64_t (*growth)(const Bytes* loads, std::size_t count, Bytes bytes, Bytes limit);
  // The same, and adds `bytes` to each.
  std::int64_t (*add)(Bytes* loads, std::size_t count, Bytes bytes, Bytes limit);
  // The most of any of `count`, at least 0.
  Bytes (*most)(const Bytes* loads, std::size_t count);
};

[[gnu::always_inline]] inline std::int64_t Growth(Bytes load, Bytes bytes, Bytes limit) {
  return Above(load + bytes, limit) - Above(load, limit);
}

// SSE2 has no comparison of numbers of 64 bits; AVX2 has.
// NOLINTBEGIN(bugprone-macro-parentheses): an attribute takes none.
#define BERTH_LOAD_KERNELS(Set, ATTRIBUTE)                                                         \
  struct Set {                                                                                     \
    ATTRIBUTE static std::int64_t GrowthOf(const Bytes* loads, std::size_t count, Bytes bytes,     \
                                           Bytes limit) {                                          \
      std::int64_t sum = 0;                                                                        \
      for (std::size_t k = 0; k < count; ++k) sum += Growth(loads[k], bytes, limit);               \
      return sum;                                                                                  \
    }                                                                                              \
    ATTRIBUTE static std::int64_t Add(Bytes* loads, std::size_t count, Bytes bytes, Bytes limit) { \
      std::int64_t sum = 0;                                                                        \
      for (std::size_t k = 0; k < count; ++k) {                                                    \
        sum += Growth(loads[k], bytes, limit);                                                     \
        loads[k] += bytes;                                                                         \
      }                                                                                            \
      return sum;                                                                                  \
    }                                                                                              \
    ATTRIBUTE static Bytes Most(const Bytes* loads, std::size_t count) {                           \
      Bytes most = 0;                                                                              \
      for (std::size_t k = 0; k < count; ++k) most = loads[k] > most ? loads[k] : most;            \
      return most;                                                                                 \
    }                                                                                              \
    static constexpr LoadKernels kAll = {GrowthOf, Add, Most};                                     \
  };

BERTH_LOAD_KERNELS(Anywhere, )
#ifdef BERTH_AVX2
BERTH_LOAD_KERNELS(Avx2, BERTH_AVX2)
#endif
#undef BERTH_LOAD_KERNELS
// NOLINTEND(bugprone-macro-parentheses)

const LoadKernels& Kernels() {
#ifdef BERTH_AVX2
  static const LoadKernels& best = HasAvx2() ? Avx2::kAll : Anywhere::kAll;
  return best;
#else
  return Anywhere::kAll;
#endif
}

// Not every Wide converts to floating point.
double Real(Wide sum) {
  constexpr int kBits = 62;
  const auto high = static_cast<std::int64_t>(sum >> kBits);
  const auto low = static_cast<std::int64_t>(sum - (Wide{high} << kBits));
  return std::ldexp(static_cast<double>(high), kBits) + static_cast<double>(low);
}

}  // namespace

Timeline::Timeline(const Model& model, Bytes capacity)
    : model_(model),
      capacity_(capacity),
      calm_(capacity - capacity / 100 * kCalm),
      lines_(model.storages.size()),
      of_op_(model.num_operators()),
      lifted_in_(model.storages.size(), 0) {
  for (Storage s = 0; s < lines_.size(); ++s) {
    const StorageInfo& info = model.storages[s];
    lines_[s].matters = info.size > 0 || info.last > 0;
  }
}

void Timeline::Set(const Sequence& sequence) {
  for (Line& line : lines_) {
    line.events.clear();
    line.stays.clear();
    line.invalid = false;
    line.cost = 0;
  }
  for (auto& executions : of_op_) executions.clear();
  executions_.clear();
  op_of_.clear();
  position_.clear();
  free_.clear();
  sums_ = {};
  sums_.state = ++states_;
  counts_pressure_ = false;
  spans_.clear();
  for (const Op v : sequence) {
    const auto e = static_cast<Execution>(op_of_.size());
    op_of_.push_back(v);
    position_.push_back(e);
    executions_.push_back(e);
    if (!model_.IsReturn(v)) {
      if (!of_op_[v].empty()) sums_.repeat_cost += model_.cost[v];
      of_op_[v].push_back(e);
    }
  }
  load_.assign(size(), model_.always_live);
  CountLoad(model_.always_live, static_cast<std::int64_t>(size()));
  ending_.assign(size(), 0);
  for (Execution e = 0; e < size(); ++e) {
    if (model_.IsReturn(op_of_[e])) {
      lines_[model_.Returned(op_of_[e])].events.push_back({e, nullptr});
      continue;
    }
    for (const Touch& touch : model_.TouchesOf(op_of_[e])) {
      if (lines_[touch.storage].matters) lines_[touch.storage].events.push_back({e, &touch});
    }
  }
  for (Storage s = 0; s < lines_.size(); ++s) {
    Lay(s);
    Patch(0, 0, s);
  }
  Keep();
}

Sequence Timeline::Get() const {
  Sequence sequence;
  sequence.reserve(size());
  for (const Execution e : executions_) sequence.push_back(op_of_[e]);
  return sequence;
}

std::size_t Timeline::Peak() const {
  if (peak_of_ != sums_.state) {
    const Bytes most = Kernels().most(load_.data(), load_.size());
    peak_ = static_cast<std::size_t>(std::find(load_.begin(), load_.end(), most) - load_.begin());
    peak_of_ = sums_.state;
  }
  return peak_;
}

double Timeline::excess() const { return Real(sums_.excess); }
double Timeline::pressure() const { return Real(sums_.pressure); }

void Timeline::CountPressure() {
  Keep();  // Earlier changes did not count it.
  counts_pressure_ = true;
  sums_.pressure = 0;
  for (const Bytes load : load_) sums_.pressure += Above(load, calm_);
}

void Timeline::CountLoad(Bytes load, std::int64_t count) {
  sums_.excess += Wide{Above(load, capacity_)} * count;
  if (counts_pressure_) sums_.pressure += Wide{Above(load, calm_)} * count;
}

bool Timeline::IsFirst(Execution e) const {
  const auto& all = of_op_[op_of_[e]];
  return std::all_of(all.begin(), all.end(),
                     [&](Execution other) { return position_[e] <= position_[other]; });
}

bool Timeline::IsRepeat(std::size_t position) const {
  return model_.IsReturn(at(position)) || !IsFirst(executions_[position]);
}

std::size_t Timeline::FirstOf(Op v) const {
  std::size_t first = size();
  for (const Execution e : of_op_[v]) first = std::min<std::size_t>(first, position_[e]);
  return first;
}

std::vector<std::size_t> Timeline::Repeats() const {
  std::vector<std::size_t> repeats;
  for (std::size_t i = 0; i < size(); ++i) {
    const Op v = at(i);
    if (model_.IsReturn(v) || (of_op_[v].size() > 1 && IsRepeat(i))) repeats.push_back(i);
  }
  return repeats;
}

// The first event of `line` at `position` or later.
std::size_t Timeline::EventAt(const Line& line, std::size_t position) const {
  const auto found = std::partition_point(
      line.events.begin(), line.events.end(),
      [&](const Event& event) { return position_[event.execution] < position; });
  return static_cast<std::size_t>(found - line.events.begin());
}

bool Timeline::StaysToEnd(Storage s) const {
  return model_.storages[s].result && !model_.MayCopy(s);
}

std::optional<Pause> Timeline::PauseAt(Storage s, std::size_t position) const {
  const Line& line = lines_[s];
  const StorageInfo& info = model_.storages[s];
  if (info.size == 0) return std::nullopt;
  std::size_t next = EventAt(line, position);
  Pause pause{s, 0, size(), kMakes};
  bool returned = false;
  for (std::size_t k = next; k-- > 0;) {
    const Event& event = line.events[k];
    if (!Counts(event)) continue;
    if (!returned) pause.from = position_[event.execution];
    if (event.touch != nullptr) {
      pause.version = event.touch->leaves;
      break;
    }
    returned = true;
  }
  while (next < line.events.size() && !Counts(line.events[next])) ++next;
  if (next < line.events.size()) {
    const Event& event = line.events[next];
    pause.to = position_[event.execution];
    if (event.touch == nullptr || pause.to == position || event.touch->finds == kMakes) {
      return std::nullopt;
    }
    if (returned) pause.version = event.touch->finds;
  } else if (!StaysToEnd(s) || pause.version > info.again) {
    return std::nullopt;
  }
  if (pause.version == kMakes || !model_.MayDrop(s, pause.version)) return std::nullopt;
  return pause;
}

Held Timeline::HeldAt(Storage s, std::size_t position) const {
  const Line& line = lines_[s];
  Held held;
  held.version = model_.storages[s].given ? 0 : kMakes;
  std::size_t next = EventAt(line, position);
  bool returned = false;
  for (std::size_t k = next; k-- > 0;) {
    const Event& event = line.events[k];
    if (!Counts(event)) continue;
    if (event.touch != nullptr) {
      held.version = event.touch->leaves;
      held.last = position_[event.execution];
      break;
    }
    returned = true;
  }
  while (next < line.events.size() && !Counts(line.events[next])) ++next;
  if (next == line.events.size()) {
    held.stays = StaysToEnd(s);
    return held;
  }
  const Touch* const touch = line.events[next].touch;
  if (touch == nullptr) return held;
  held.stays = touch->finds != kMakes;
  if (returned) {  // It has been back since before.
    held.version = touch->finds;
    held.last = position;
  }
  return held;
}

template <typename Visit>
void Timeline::ForEachTouched(Op op, Visit visit) const {
  if (model_.IsReturn(op)) {
    visit(model_.Returned(op));
    return;
  }
  for (const Touch& touch : model_.TouchesOf(op)) {
    if (lines_[touch.storage].matters) visit(touch.storage);
  }
}

// Edits, and the bytes of all that they touch.
void Timeline::Change(const std::vector<Edit>& edits) {
  groups_.push_back({trail_.size(), sums_});
  sums_.state = ++states_;
  ++change_;
  lifted_.clear();
  spans_.clear();
  span_begin_.clear();
  for (const Edit& edit : edits) {
    ForEachTouched(edit.op, [&](Storage s) {
      if (std::exchange(lifted_in_[s], change_) == change_) return;
      lifted_.push_back(s);
      Lift(s);
    });
  }
  span_begin_.push_back(spans_.size());
  Do(edits);
  for (std::size_t k = 0; k < lifted_.size(); ++k) {
    Lay(lifted_[k]);
    Patch(span_begin_[k], span_begin_[k + 1], lifted_[k]);
  }
}

void Timeline::UndoTo(std::size_t changes) {
  while (groups_.size() > changes) {
    for (; trail_.size() > groups_.back().first; trail_.pop_back()) TakeBack(trail_.back());
    sums_ = groups_.back().sums;
    groups_.pop_back();
  }
}

void Timeline::TakeBack(const Record& record) {
  const std::size_t at = record.at;
  const std::size_t to = record.to;
  switch (record.what) {
    case Happened::kAdded:
      for (std::size_t p = at; p < to; ++p) load_[p] -= record.bytes;
      work_ += static_cast<std::int64_t>(to - at);
      return;
    case Happened::kEnded:
      ending_[at] -= record.bytes;
      return;
    case Happened::kInserted:
      TakeOut(at, to);
      return;
    case Happened::kRemoved:
      PutBack(at, to);
      return;
    case Happened::kMoved:
      Shift(to, at);
      load_[at] = taken_.back().load;
      ending_[at] = taken_.back().ending;
      taken_.pop_back();
      return;
    default:
      TakeBack(record, lines_[record.storage]);
  }
}

// Executions that were put in.
void Timeline::TakeOut(std::size_t position, std::size_t count) {
  for (std::size_t p = position + count; p-- > position;) {
    const Execution e = executions_[p];
    free_.push_back(e);
    if (!model_.IsReturn(op_of_[e])) Forget(e);
  }
  EraseAt(position, count);
}

// Executions that were taken out.
void Timeline::PutBack(std::size_t position, std::size_t count) {
  MakeGap(position, count, 0);
  for (std::size_t p = position + count; p-- > position; taken_.pop_back()) {
    const auto& [e, op, load, ending] = taken_.back();
    executions_[p] = e;
    op_of_[e] = op;
    load_[p] = load;
    ending_[p] = ending;
    free_.pop_back();
    if (!model_.IsReturn(op)) of_op_[op].push_back(e);
  }
  Renumber(position, size());
}

// What happened to the storage of `line`.
void Timeline::TakeBack(const Record& record, Line& line) {
  const auto event = [&] { return line.events.begin() + static_cast<std::ptrdiff_t>(record.at); };
  if (record.what == Happened::kEventIn) {
    line.events.erase(event());
  } else if (record.what == Happened::kEventOut) {
    line.events.insert(event(), events_out_.back());
    events_out_.pop_back();
  } else if (record.what == Happened::kEventMoved) {
    MoveEvent(line, record.to, record.at);
  } else {
    const std::size_t rest = stays_lifted_.size() - record.at;
    line.stays.assign(stays_lifted_.begin() + static_cast<std::ptrdiff_t>(rest),
                      stays_lifted_.end());
    stays_lifted_.resize(rest);
    line.cost = record.bytes;
    line.invalid = record.to != 0;
    work_ += static_cast<std::int64_t>(line.events.size());
  }
}

void Timeline::Keep() {
  trail_.clear();
  groups_.clear();
  taken_.clear();
  events_out_.clear();
  stays_lifted_.clear();
}

// All of `edits`. What is put in or taken out side by side is so at once.
void Timeline::Do(const std::vector<Edit>& edits) {
  for (std::size_t k = 0; k < edits.size();) {
    const Edit& edit = edits[k];
    const bool added = edit.from == Edit::kNowhere;
    const bool gone = edit.to == Edit::kNowhere;
    std::size_t end = k + 1;
    while (added && end < edits.size() && edits[end].from == Edit::kNowhere &&
           edits[end].to == edits[end - 1].to + 1) {
      ++end;
    }
    while (gone && end < edits.size() && edits[end].to == Edit::kNowhere &&
           edits[end].from + 1 == edits[end - 1].from) {
      ++end;
    }
    if (added) {
      Insert(edit.to, std::span(edits).subspan(k, end - k));
    } else if (gone) {
      Remove(edits[end - 1].from, end - k);
    } else {
      Move(edit.from, edit.to);
    }
    k = end;
  }
}

Timeline::Span Timeline::SpanOf(const Stay& stay, Bytes size) const {
  return {Begin(stay), Last(stay) + 1, size, stay.begin == kBegin, stay.last == kEnd};
}

// Forgets the stays of `s`, whose bytes stay where they are until Patch().
void Timeline::Lift(Storage s) {
  Line& line = lines_[s];
  const StorageInfo& info = model_.storages[s];
  span_begin_.push_back(spans_.size());
  for (const Stay& stay : line.stays) spans_.push_back(SpanOf(stay, info.size));
  stays_lifted_.insert(stays_lifted_.end(), line.stays.begin(), line.stays.end());
  Note(Happened::kLifted, s, line.stays.size(), line.invalid ? 1 : 0, line.cost);
  sums_.stays -= Wide{info.padded} * static_cast<Wide>(line.stays.size());
  line.stays.clear();
  sums_.copy_cost -= std::exchange(line.cost, 0);
  if (std::exchange(line.invalid, false)) --sums_.invalid;
}

void Timeline::Lay(Storage s) {
  Line& line = lines_[s];
  if (!line.matters && line.events.empty())
    return;  // Else something that cannot be copied returns.
  Track track(model_, s, kBegin);
  const auto ended = [&](std::uint32_t begin, std::uint32_t last) {
    line.stays.push_back({begin, last});
  };
  bool valid = true;
  Execution last = kBegin;
  for (const Event& event : line.events) {
    if (!Counts(event)) continue;
    last = event.execution;
    valid = event.touch == nullptr ? track.Return(ended)
                                   : track.Touched(*event.touch, last, line.cost, ended);
    if (!valid) break;
  }
  work_ += static_cast<std::int64_t>(line.events.size());
  valid = valid && track.Finish(kEnd, line.cost, ended);
  const Bytes size = model_.storages[s].size;
  if (!valid) {
    line.invalid = true;
    line.cost = 0;
    ++sums_.invalid;
  }
  if (!valid || size == 0) line.stays.clear();
  sums_.copy_cost += line.cost;
  sums_.stays += Wide{model_.storages[s].padded} * static_cast<Wide>(line.stays.size());
}

void Timeline::Add(std::size_t begin, std::size_t end, Bytes bytes) {
  Note(Happened::kAdded, 0, begin, end, bytes);
  const auto count = static_cast<std::int64_t>(end - begin);
  work_ += count;
  // At a position excess and pressure change by no more than `bytes`.
  const bool small = Wide{bytes < 0 ? -bytes : bytes} * count <= kMaxBytes;
  const std::span<Bytes> loads = std::span(load_).subspan(begin, end - begin);
  if (!small) {
    for (Bytes& load : loads) {
      sums_.excess += Growth(load, bytes, capacity_);
      if (counts_pressure_) sums_.pressure += Growth(load, bytes, calm_);
      load += bytes;
    }
    return;
  }
  const LoadKernels& kernels = Kernels();
  if (counts_pressure_) {
    sums_.pressure += kernels.growth(loads.data(), loads.size(), bytes, calm_);
  }
  sums_.excess += kernels.add(loads.data(), loads.size(), bytes, capacity_);
}

void Timeline::AddEnding(std::size_t position, Bytes bytes) {
  Note(Happened::kEnded, 0, position, position, bytes);
  ending_[position] += bytes;
}

void Timeline::CountEnds(const Span& span, Bytes bytes) {
  if (span.from_begin) sums_.from_begin += bytes;
  if (!span.to_end) AddEnding(span.end - 1, bytes);
}

// The bytes of `s` move from the spans, which are sorted and disjoint, to its stays: where only one of them
// is, they are added or subtracted.
void Timeline::Patch(std::size_t first_span, std::size_t end_span, Storage s) {
  const Line& line = lines_[s];
  const Bytes size = model_.storages[s].size;
  if (load_.empty()) return;
  for (std::size_t k = first_span; k < end_span; ++k) {
    if (spans_[k].begin < spans_[k].end) CountEnds(spans_[k], -size);
  }
  for (const Stay& stay : line.stays) CountEnds(SpanOf(stay, size), size);
  // The ends of both, merged: from one to the next either both are there, or one, or none.
  constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  const auto old_edge = [&](std::size_t k) {
    if (first_span + k / 2 >= end_span) return kNone;
    const Span& span = spans_[first_span + k / 2];
    return k % 2 == 0 ? span.begin : span.end;
  };
  const auto new_edge = [&](std::size_t k) {
    if (k / 2 >= line.stays.size()) return kNone;
    const Stay& stay = line.stays[k / 2];
    return k % 2 == 0 ? Begin(stay) : Last(stay) + 1;
  };
  std::size_t before = 0;
  std::size_t after = 0;
  std::size_t from = 0;
  for (std::size_t old_at = old_edge(0), new_at = new_edge(0);
       old_at != kNone || new_at != kNone;) {
    const std::size_t to = std::min(old_at, new_at);
    if (before % 2 != after % 2) Add(from, to, after % 2 == 1 ? size : -size);
    from = to;
    if (old_at <= new_at) {
      old_at = old_edge(++before);
    } else {
      new_at = new_edge(++after);
    }
  }
}

// `count` executions from `gone` on are taken out: what ends with them ends before them, what begins with
// them begins after them.
void Timeline::ShrinkSpans(std::size_t gone, std::size_t count) {
  const auto shift = [&](std::size_t p) {
    return p <= gone ? p : std::max(p - std::min(p, count), gone);
  };
  for (Span& span : spans_) {
    const bool empty = span.begin == span.end;
    const bool ended = span.end > gone && span.end <= gone + count;
    span.begin = shift(span.begin);
    span.end = shift(span.end);
    if (empty || !ended) continue;
    if (span.begin == span.end) {  // Nothing is left of it.
      if (span.from_begin) sums_.from_begin -= span.size;
    } else if (!span.to_end) {
      AddEnding(gone - 1, span.size);
    }
  }
}

// `count` are put in at `added`: what stays through that position is there, too.
void Timeline::GrowSpans(std::size_t added, std::size_t count) {
  for (Span& span : spans_) {
    const bool empty = span.begin == span.end;
    if (span.begin > added || (span.begin == added && (empty || !span.from_begin))) {
      span.begin += count;
      span.end += count;
    } else if (!empty && (span.end > added || (span.end == added && span.to_end))) {
      span.end += count;
    }
  }
}

// The bytes of what stays from before `position` until after it.
Bytes Timeline::Through(std::size_t position) const {
  return position == 0 ? model_.always_live + sums_.from_begin
                       : load_[position - 1] - ending_[position - 1];
}

void Timeline::AddEvents(Execution e) {
  const auto add = [&](Storage s, const Touch* touch) {
    auto& events = lines_[s].events;
    const std::size_t at = EventAt(lines_[s], position_[e]);
    events.insert(events.begin() + static_cast<std::ptrdiff_t>(at), {e, touch});
    Note(Happened::kEventIn, s, at, at, 0);
  };
  const Op op = op_of_[e];
  if (model_.IsReturn(op)) return add(model_.Returned(op), nullptr);
  for (const Touch& touch : model_.TouchesOf(op)) {
    if (lines_[touch.storage].matters) add(touch.storage, &touch);
  }
}

void Timeline::RemoveEvents(Execution e) {
  ForEachTouched(op_of_[e], [&](Storage s) {
    auto& events = lines_[s].events;
    const std::size_t at = EventAt(lines_[s], position_[e]);
    events_out_.push_back(events[at]);
    events.erase(events.begin() + static_cast<std::ptrdiff_t>(at));
    Note(Happened::kEventOut, s, at, at, 0);
  });
}

// The events of `e`, which is about to move to position `to`.
void Timeline::MoveEvents(Execution e, std::size_t to) {
  const std::size_t from = position_[e];
  ForEachTouched(op_of_[e], [&](Storage s) {
    Line& line = lines_[s];
    const std::size_t at = EventAt(line, from);
    // Executions in between are still where they were.
    std::size_t now = at;
    const auto position = [&](std::size_t k) { return position_[line.events[k].execution]; };
    if (to > from) {
      while (now + 1 < line.events.size() && position(now + 1) <= to) ++now;
    } else {
      while (now > 0 && position(now - 1) >= to) --now;
    }
    if (now == at) return;
    MoveEvent(line, at, now);
    Note(Happened::kEventMoved, s, at, now, 0);
  });
}

void Timeline::MoveEvent(Line& line, std::size_t from, std::size_t to) {
  const auto event = [&](std::size_t k) {
    return line.events.begin() + static_cast<std::ptrdiff_t>(k);
  };
  if (to > from) {
    std::rotate(event(from), event(from + 1), event(to + 1));
  } else {
    std::rotate(event(to), event(from), event(from + 1));
  }
}

// Room for `count` executions at `position`.
void Timeline::MakeGap(std::size_t position, std::size_t count, Bytes load) {
  const auto at = static_cast<std::ptrdiff_t>(position);
  executions_.insert(executions_.begin() + at, count, 0);
  load_.insert(load_.begin() + at, count, load);
  ending_.insert(ending_.begin() + at, count, 0);
}

void Timeline::EraseAt(std::size_t position, std::size_t count) {
  const auto erase = [&](auto& list) {
    const auto at = list.begin() + static_cast<std::ptrdiff_t>(position);
    list.erase(at, at + static_cast<std::ptrdiff_t>(count));
  };
  erase(executions_);
  erase(load_);
  erase(ending_);
  Renumber(position, size());
}

void Timeline::Insert(std::size_t position, std::span<const Edit> added) {
  const Bytes through = Through(position);
  CountLoad(through, static_cast<std::int64_t>(added.size()));
  GrowSpans(position, added.size());
  MakeGap(position, added.size(), through);
  Note(Happened::kInserted, 0, position, added.size(), 0);
  for (std::size_t k = 0; k < added.size(); ++k) {
    executions_[position + k] = NewExecution(added[k].op);
  }
  Renumber(position, size());
  for (std::size_t k = 0; k < added.size(); ++k) {
    const Op op = added[k].op;
    const Execution e = executions_[position + k];
    AddEvents(e);
    if (model_.IsReturn(op)) continue;
    if (!of_op_[op].empty()) sums_.repeat_cost += model_.cost[op];
    of_op_[op].push_back(e);
  }
}

Timeline::Execution Timeline::NewExecution(Op op) {
  if (free_.empty()) {
    op_of_.push_back(op);
    position_.push_back(0);
    return static_cast<Execution>(op_of_.size() - 1);
  }
  const Execution e = free_.back();
  free_.pop_back();
  op_of_[e] = op;
  return e;
}

// Its operator no longer has it.
void Timeline::Forget(Execution e) {
  auto& all = of_op_[op_of_[e]];
  *std::find(all.begin(), all.end(), e) = all.back();
  all.pop_back();
}

void Timeline::Remove(std::size_t position, std::size_t count) {
  for (std::size_t p = position; p < position + count; ++p) {
    const Execution e = executions_[p];
    const Op op = op_of_[e];
    RemoveEvents(e);
    CountLoad(load_[p], -1);
    free_.push_back(e);
    if (model_.IsReturn(op)) continue;
    Forget(e);
    if (!of_op_[op].empty()) sums_.repeat_cost -= model_.cost[op];
  }
  ShrinkSpans(position, count);
  for (std::size_t p = position; p < position + count; ++p) {
    taken_.push_back({executions_[p], at(p), load_[p], ending_[p]});
  }
  Note(Happened::kRemoved, 0, position, count, 0);
  EraseAt(position, count);
}

void Timeline::Renumber(std::size_t begin, std::size_t end) {
  for (std::size_t p = begin; p < end; ++p) {
    position_[executions_[p]] = static_cast<std::uint32_t>(p);
  }
  work_ += static_cast<std::int64_t>(end - begin);
}

// The execution at `from` to `to`, and with it what else is by position; new ones for both are missing.
void Timeline::Shift(std::size_t from, std::size_t to) {
  const Execution e = executions_[from];
  const auto shift = [&](auto& list) {
    const auto at = [&](std::size_t p) { return list.begin() + static_cast<std::ptrdiff_t>(p); };
    if (to > from) {
      std::copy(at(from + 1), at(to + 1), at(from));
    } else {
      std::copy_backward(at(to), at(from), at(from + 1));
    }
  };
  shift(executions_);
  shift(load_);
  shift(ending_);
  executions_[to] = e;
  Renumber(std::min(from, to), std::max(from, to) + 1);
}

void Timeline::Move(std::size_t from, std::size_t to) {
  const Execution e = executions_[from];
  MoveEvents(e, to);
  ShrinkSpans(from, 1);
  CountLoad(load_[from], -1);
  taken_.push_back({e, op_of_[e], load_[from], ending_[from]});
  Note(Happened::kMoved, 0, from, to, 0);
  Shift(from, to);
  load_[to] = Through(to);
  CountLoad(load_[to], 1);
  ending_[to] = 0;
  GrowSpans(to, 1);
}

}  // namespace berth::internal::recompute
