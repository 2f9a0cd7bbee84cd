#include "tools/verify/proof_state.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "tools/verify/pieces.h"
#include "tools/verify/proof_text.h"

namespace berth::verify {
namespace {

// Buffers in sections, together: 24 bytes each, twice.
constexpr std::size_t kMostParts = std::size_t{1} << 27;

}  // namespace

ProofState::ProofState(const Problem& problem, const std::vector<Step>& steps, Bytes capacity)
    : problem_(problem), capacity_(capacity) {
  of_section_.resize(steps.size());
  of_buffer_.resize(problem.buffers.size());
  FindSections(steps);
  FindGrain();
  FindBlocked();
  FindTwins();
  active_.assign(sections(), 0);
  ground_.assign(sections(), 0);
  load_.assign(sections(), 0);
  open_.assign(buffers(), 0);
  lowest_.assign(buffers(), 0);
}

void ProofState::FindSections(const std::vector<Step>& steps) {
  std::size_t parts = 0;
  for (std::size_t b = 0; b < buffers(); ++b) {
    ForEachPiece(problem_.buffers[b], [&](Step start, Step end, Bytes lower, Bytes upper) {
      has_windows_ |= lower != 0 || upper != size(b);
      const auto first = std::lower_bound(steps.begin(), steps.end(), start);
      const auto last = std::lower_bound(first, steps.end(), end);
      parts += static_cast<std::size_t>(last - first);
      if (parts > kMostParts) throw FalseStep{"too many buffers in too many steps to check"};
      for (auto step = first; step != last; ++step) {
        const auto s = static_cast<std::size_t>(step - steps.begin());
        of_section_[s].push_back({b, lower, upper});
        of_buffer_[b].push_back({s, lower, upper});
      }
    });
  }
}

void ProofState::FindGrain() {
  Bytes grain = 0;
  for (const Buffer& buffer : problem_.buffers) {
    grain = std::gcd(grain, buffer.size);
    if (buffer.alignment != 1) grain = std::gcd(grain, buffer.alignment);
    if (buffer.offset) grain = std::gcd(grain, *buffer.offset);
    ForEachPiece(buffer, [&](Step, Step, Bytes lower, Bytes upper) {
      grain = std::gcd(std::gcd(grain, lower), upper);
    });
  }
  grain_ = std::max<Bytes>(grain, 1);
}

// Cost: the pieces of pinned buffers times all others.
void ProofState::FindBlocked() {
  struct Pinned {
    Step start, end;
    Bytes bottom, top;
  };
  std::vector<Pinned> pinned;
  for (const Buffer& buffer : problem_.buffers) {
    if (!buffer.offset) continue;
    ForEachPiece(buffer, [&](Step start, Step end, Bytes lower, Bytes upper) {
      pinned.push_back({start, end, *buffer.offset + lower, *buffer.offset + upper});
    });
  }
  blocked_.resize(buffers());
  if (pinned.empty()) return;
  for (std::size_t b = 0; b < buffers(); ++b) {
    if (problem_.buffers[b].offset) continue;
    ForEachPiece(problem_.buffers[b], [&](Step start, Step end, Bytes lower, Bytes upper) {
      for (const Pinned& pin : pinned) {
        if (pin.start >= end || pin.end <= start) continue;
        blocked_[b].push_back({pin.bottom - upper, pin.top - lower});
      }
    });
    std::sort(blocked_[b].begin(), blocked_[b].end(), [](const Blocked& x, const Blocked& y) {
      return std::pair(x.after, x.until) < std::pair(y.after, y.until);
    });
  }
}

// Buffers with the same bytes in the same sections and the same offsets to choose from.
void ProofState::FindTwins() {
  std::map<std::vector<Bytes>, std::size_t> known;
  for (std::size_t b = 0; b < buffers(); ++b) {
    const Buffer& buffer = problem_.buffers[b];
    twin_class_.push_back(b);
    if (buffer.offset) continue;
    std::vector<Bytes> key = {buffer.size, buffer.alignment,
                              static_cast<Bytes>(of_buffer_[b].size())};
    for (const LivePart& part : of_buffer_[b]) {
      key.insert(key.end(), {static_cast<Bytes>(part.other), part.lower, part.upper});
    }
    for (const Blocked& blocked : blocked_[b]) {
      key.insert(key.end(), {blocked.after, blocked.until});
    }
    twin_class_.back() = known.try_emplace(std::move(key), b).first->second;
  }
}

// The least offset, at least `offset`, where the buffer is aligned and clear of pinned ones.
Bytes ProofState::Lift(std::size_t b, Bytes offset) const {
  const Buffer& buffer = problem_.buffers[b];
  if (buffer.offset) return offset <= *buffer.offset ? *buffer.offset : kNowhere;
  const auto aligned = [&](Bytes value) {
    return (value + buffer.alignment - 1) / buffer.alignment * buffer.alignment;
  };
  offset = aligned(offset);
  for (const Blocked& blocked : blocked_[b]) {
    if (offset > blocked.after && offset < blocked.until) offset = aligned(blocked.until);
  }
  return offset;
}

Bytes ProofState::LowestOf(std::size_t b) const {
  Bytes offset = 0;
  for (const LivePart& part : of_buffer_[b]) {
    if (is_active(part.other)) offset = std::max(offset, ground(part.other) - part.lower);
  }
  return Lift(b, offset);
}

Bytes ProofState::Floor(std::size_t s) const {
  Bytes floor = kNowhere;
  for (const LivePart& part : of_section_[s]) {
    if (is_open(part.other)) floor = std::min(floor, lowest(part.other) + part.lower);
  }
  return floor;
}

bool ProofState::Meet(std::size_t a, std::size_t b) const {
  const std::vector<LivePart>& of_a = of_buffer_[a];
  const std::vector<LivePart>& of_b = of_buffer_[b];
  for (std::size_t i = 0, j = 0; i < of_a.size() && j < of_b.size();) {
    if (of_a[i].other == of_b[j].other) {
      if (is_active(of_a[i].other)) return true;
      ++i;
      ++j;
    } else {
      ++(of_a[i].other < of_b[j].other ? i : j);
    }
  }
  return false;
}

void ProofState::Begin() {
  std::vector<std::pair<std::size_t, Bytes>> grounds;
  for (std::size_t s = 0; s < sections(); ++s) grounds.emplace_back(s, 0);
  std::vector<Range> open;
  if (buffers() > 0) open.emplace_back(0, buffers() - 1);
  Begin(grounds, open);
}

void ProofState::Begin(const std::vector<std::pair<std::size_t, Bytes>>& grounds,
                       const std::vector<Range>& open) {
  journal_.clear();
  std::fill(active_.begin(), active_.end(), 0);
  std::fill(open_.begin(), open_.end(), 0);
  std::fill(load_.begin(), load_.end(), 0);
  for (const auto& [section, level] : grounds) {
    active_[section] = 1;
    ground_[section] = level;
  }
  for (const auto& [first, last] : open) {
    for (std::size_t b = first; b <= last; ++b) {
      open_[b] = 1;
      lowest_[b] = LowestOf(b);
      for (const LivePart& part : of_buffer_[b]) load_[part.other] += part.upper - part.lower;
    }
  }
}

void ProofState::Restrict(const std::vector<std::size_t>& sections) {
  std::vector<bool> kept(active_.size(), false);
  for (const std::size_t s : sections) kept[s] = true;
  for (std::size_t s = 0; s < active_.size(); ++s) {
    if (is_active(s) && !kept[s]) Set(Field::kActive, s, 0);
  }
  for (std::size_t b = 0; b < buffers(); ++b) {
    if (!is_open(b)) continue;
    const auto& parts = of_buffer_[b];
    if (std::none_of(parts.begin(), parts.end(),
                     [&](const LivePart& part) { return is_active(part.other); })) {
      Set(Field::kOpen, b, 0);
    } else {
      Set(Field::kLowest, b, LowestOf(b));
    }
  }
}

void ProofState::Place(std::size_t b) {
  const Bytes offset = lowest(b);
  std::vector<std::pair<std::size_t, Bytes>> raised;
  for (const LivePart& part : of_buffer_[b]) {
    if (!is_active(part.other)) continue;
    if (Floor(part.other) >= offset + part.lower) {
      raised.emplace_back(part.other, offset + part.upper);
    }
    Set(Field::kLoad, part.other, load(part.other) - (part.upper - part.lower));
  }
  Set(Field::kOpen, b, 0);
  for (const auto& [section, level] : raised) Raise(section, level);
}

void ProofState::Raise(std::size_t s, Bytes level) {
  if (level <= ground(s)) return;
  Set(Field::kGround, s, level);
  for (const LivePart& part : of_section_[s]) {
    const Bytes offset = level - part.lower;
    if (!is_open(part.other) || offset <= lowest(part.other)) continue;
    Set(Field::kLowest, part.other, Lift(part.other, offset));
  }
}

Bytes& ProofState::At(Field field, std::size_t index) {
  switch (field) {
    case Field::kActive:
      return active_[index];
    case Field::kOpen:
      return open_[index];
    case Field::kGround:
      return ground_[index];
    case Field::kLoad:
      return load_[index];
    case Field::kLowest:
      break;
  }
  return lowest_[index];
}

void ProofState::Set(Field field, std::size_t index, Bytes value) {
  Bytes& place = At(field, index);
  if (place == value) return;
  journal_.push_back({field, index, place});
  place = value;
}

void ProofState::UndoTo(std::size_t changes) {
  for (; journal_.size() > changes; journal_.pop_back()) {
    const Change& change = journal_.back();
    At(change.field, change.index) = change.old;
  }
}

}  // namespace berth::verify
