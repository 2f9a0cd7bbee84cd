#include "recompute/timeline.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace berth::internal::recompute {

namespace {

constexpr int kCalm = 10;  // Per cent of the capacity beside pressure.

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
  from_begin_ = repeat_cost_ = copy_cost_ = 0;
  stays_ = 0;
  invalid_ = 0;
  Keep();
  for (const Op v : sequence) {
    const auto e = static_cast<Execution>(op_of_.size());
    op_of_.push_back(v);
    position_.push_back(e);
    executions_.push_back(e);
    if (!model_.IsReturn(v)) {
      if (!of_op_[v].empty()) repeat_cost_ += model_.cost[v];
      of_op_[v].push_back(e);
    }
  }
  load_.assign(size(), model_.always_live);
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
  for (Storage s = 0; s < lines_.size(); ++s) Lay(s);
  SumExcess();
}

Sequence Timeline::Get() const {
  Sequence sequence;
  sequence.reserve(size());
  for (const Execution e : executions_) sequence.push_back(op_of_[e]);
  return sequence;
}

std::size_t Timeline::Peak() const {
  return static_cast<std::size_t>(std::max_element(load_.begin(), load_.end()) - load_.begin());
}

void Timeline::SumExcess() {
  excess_ = 0;
  pressure_ = 0;
  for (const Bytes load : load_) {
    excess_ += static_cast<double>(std::max<Bytes>(load - capacity_, 0));
    pressure_ += static_cast<double>(std::max<Bytes>(load - calm_, 0));
  }
  work_ += static_cast<std::int64_t>(size());
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

void Timeline::Change(const std::vector<Edit>& edits) {
  groups_.push_back(log_.size());
  LiftAndLay(edits, /*backwards=*/false);
  log_.insert(log_.end(), edits.begin(), edits.end());
}

void Timeline::UndoTo(std::size_t changes) {
  while (groups_.size() > changes) {
    const auto first = log_.begin() + static_cast<std::ptrdiff_t>(groups_.back());
    LiftAndLay({first, log_.end()}, /*backwards=*/true);
    log_.erase(first, log_.end());
    groups_.pop_back();
  }
}

void Timeline::Keep() {
  log_.clear();
  groups_.clear();
}

void Timeline::LiftAndLay(const std::vector<Edit>& edits, bool backwards) {
  ++change_;
  lifted_.clear();
  for (const Edit& edit : edits) {
    ForEachTouched(edit.op, [&](Storage s) {
      if (std::exchange(lifted_in_[s], change_) == change_) return;
      lifted_.push_back(s);
      Lift(s);
    });
  }
  if (backwards) {
    for (std::size_t k = edits.size(); k-- > 0;) Do({edits[k].to, edits[k].from, edits[k].op});
  } else {
    for (const Edit& edit : edits) Do(edit);
  }
  for (const Storage s : lifted_) Lay(s);
  SumExcess();
}

void Timeline::Do(const Edit& edit) {
  if (edit.from == Edit::kNowhere) {
    Insert(edit.to, edit.op);
  } else if (edit.to == Edit::kNowhere) {
    Remove(edit.from);
  } else {
    Move(edit.from, edit.to);
  }
}

void Timeline::AddStay(Storage s, const Stay& stay, Bytes bytes) {
  if (size() == 0) return;
  const std::size_t begin = Begin(stay);
  const std::size_t last = Last(stay);
  for (std::size_t p = begin; p <= last; ++p) load_[p] += bytes;
  if (stay.last != kEnd) ending_[last] += bytes;
  if (stay.begin == kBegin) from_begin_ += bytes;
  work_ += static_cast<std::int64_t>(last - begin);
  stays_ += bytes < 0 ? -model_.storages[s].padded : model_.storages[s].padded;
}

void Timeline::Lift(Storage s) {
  Line& line = lines_[s];
  const Bytes size = model_.storages[s].size;
  for (const Stay& stay : line.stays) AddStay(s, stay, -size);
  line.stays.clear();
  copy_cost_ -= std::exchange(line.cost, 0);
  if (std::exchange(line.invalid, false)) --invalid_;
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
    ++invalid_;
  }
  if (!valid || size == 0) line.stays.clear();
  copy_cost_ += line.cost;
  for (const Stay& stay : line.stays) AddStay(s, stay, size);
}

// The bytes of what stays from before `position` until after it.
Bytes Timeline::Through(std::size_t position) const {
  return position == 0 ? model_.always_live + from_begin_
                       : load_[position - 1] - ending_[position - 1];
}

void Timeline::AddEvents(Execution e) {
  const auto add = [&](Storage s, const Touch* touch) {
    auto& events = lines_[s].events;
    const std::size_t at = EventAt(lines_[s], position_[e]);
    events.insert(events.begin() + static_cast<std::ptrdiff_t>(at), {e, touch});
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
    events.erase(events.begin() + static_cast<std::ptrdiff_t>(EventAt(lines_[s], position_[e])));
  });
}

void Timeline::Insert(std::size_t position, Op op) {
  Execution e = 0;
  if (free_.empty()) {
    e = static_cast<Execution>(op_of_.size());
    op_of_.push_back(op);
    position_.push_back(0);
  } else {
    e = free_.back();
    free_.pop_back();
    op_of_[e] = op;
  }
  const Bytes through = Through(position);
  const auto at = static_cast<std::ptrdiff_t>(position);
  executions_.insert(executions_.begin() + at, e);
  load_.insert(load_.begin() + at, through);
  ending_.insert(ending_.begin() + at, 0);
  for (std::size_t p = position; p < size(); ++p) {
    position_[executions_[p]] = static_cast<std::uint32_t>(p);
  }
  work_ += static_cast<std::int64_t>(size() - position);
  AddEvents(e);
  if (model_.IsReturn(op)) return;
  if (!of_op_[op].empty()) repeat_cost_ += model_.cost[op];
  of_op_[op].push_back(e);
}

void Timeline::Remove(std::size_t position) {
  const Execution e = executions_[position];
  const Op op = op_of_[e];
  RemoveEvents(e);
  const auto at = static_cast<std::ptrdiff_t>(position);
  executions_.erase(executions_.begin() + at);
  load_.erase(load_.begin() + at);
  ending_.erase(ending_.begin() + at);
  for (std::size_t p = position; p < size(); ++p) {
    position_[executions_[p]] = static_cast<std::uint32_t>(p);
  }
  work_ += static_cast<std::int64_t>(size() - position);
  free_.push_back(e);
  if (model_.IsReturn(op)) return;
  auto& all = of_op_[op];
  all.erase(std::find(all.begin(), all.end(), e));
  if (!all.empty()) repeat_cost_ -= model_.cost[op];
}

void Timeline::Move(std::size_t from, std::size_t to) {
  const Execution e = executions_[from];
  RemoveEvents(e);
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
  load_[to] = Through(to);
  ending_[to] = 0;
  const std::size_t last = std::max(from, to);
  for (std::size_t p = std::min(from, to); p <= last; ++p) {
    position_[executions_[p]] = static_cast<std::uint32_t>(p);
  }
  work_ += static_cast<std::int64_t>(last - std::min(from, to));
  AddEvents(e);
}

}  // namespace berth::internal::recompute
