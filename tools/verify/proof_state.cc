#include "tools/verify/proof_state.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "tools/verify/pieces.h"
#include "tools/verify/proof_text.h"

namespace berth::verify {
namespace {

// Buffers in sections, together: 24 bytes each, twice.
constexpr std::size_t kMostParts = std::size_t{1} << 24;
// Intervals that pinned buffers leave to the others: 16 bytes each.
constexpr std::size_t kMostBlocked = std::size_t{1} << 22;
// Pieces of pinned buffers times pieces of others, as far as they are looked at.
constexpr std::size_t kMostMeetings = std::size_t{1} << 26;
// What can be undone: 24 bytes each.
constexpr std::size_t kMostChanges = std::size_t{1} << 24;

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
  const auto index = [&](Step step) {
    return static_cast<std::size_t>(std::lower_bound(steps.begin(), steps.end(), step) -
                                    steps.begin());
  };
  std::size_t parts = 0;
  for (const Buffer& buffer : problem_.buffers) {
    ForEachPiece(buffer, [&](Step start, Step end, Bytes lower, Bytes upper) {
      has_windows_ |= lower != 0 || upper != buffer.size;
      parts += index(end) - index(start);
      if (parts > kMostParts) throw FalseStep{"too many buffers in too many steps to check"};
    });
  }
  for (std::size_t b = 0; b < buffers(); ++b) {
    ForEachPiece(problem_.buffers[b], [&](Step start, Step end, Bytes lower, Bytes upper) {
      const std::size_t last = index(end);
      for (std::size_t s = index(start); s < last; ++s) {
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

// For a piece of a buffer only the pinned pieces that begin before it ends are looked at, the last ones
// first, until all that are left have ended.
void ProofState::FindBlocked() {
  struct Pinned {
    Step start, end;
    Bytes bottom, top;
    Step last_end;  // Of this one and all before it.
  };
  std::vector<Pinned> pinned;
  for (const Buffer& buffer : problem_.buffers) {
    if (!buffer.offset) continue;
    ForEachPiece(buffer, [&](Step start, Step end, Bytes lower, Bytes upper) {
      pinned.push_back({start, end, *buffer.offset + lower, *buffer.offset + upper, end});
    });
  }
  blocked_.resize(buffers());
  std::sort(pinned.begin(), pinned.end(),
            [](const Pinned& x, const Pinned& y) { return x.start < y.start; });
  for (std::size_t k = 1; k < pinned.size(); ++k) {
    pinned[k].last_end = std::max(pinned[k].last_end, pinned[k - 1].last_end);
  }
  std::size_t kept = 0;
  std::size_t meetings = 0;
  for (std::size_t b = 0; b < buffers(); ++b) {
    if (problem_.buffers[b].offset) continue;
    std::vector<Blocked> found;
    ForEachPiece(problem_.buffers[b], [&](Step start, Step end, Bytes lower, Bytes upper) {
      auto pin = std::lower_bound(pinned.begin(), pinned.end(), end,
                                  [](const Pinned& x, Step step) { return x.start < step; });
      while (pin != pinned.begin() && (--pin)->last_end > start) {
        ++meetings;
        if (pin->end > start) found.push_back({pin->bottom - upper, pin->top - lower});
      }
      if (found.size() > kMostBlocked || meetings > kMostMeetings) {
        throw FalseStep{"too many pinned buffers to check"};
      }
    });
    blocked_[b] = Merged(std::move(found));
    kept += blocked_[b].size();
    if (kept > kMostBlocked) throw FalseStep{"too many pinned buffers to check"};
  }
}

// In increasing order, those that overlap as one.
std::vector<ProofState::Blocked> ProofState::Merged(std::vector<Blocked> all) {
  std::sort(all.begin(), all.end(),
            [](const Blocked& x, const Blocked& y) { return x.after < y.after; });
  std::vector<Blocked> merged;
  for (const Blocked& each : all) {
    if (!merged.empty() && each.after < merged.back().until) {
      merged.back().until = std::max(merged.back().until, each.until);
    } else {
      merged.push_back(each);
    }
  }
  merged.shrink_to_fit();
  return merged;
}

// Less than, equal to or greater than 0: by all that decides where a buffer may lie.
int ProofState::CompareTwins(std::size_t a, std::size_t b) const {
  const Buffer& x = problem_.buffers[a];
  const Buffer& y = problem_.buffers[b];
  const auto sizes = [&](const Buffer& buffer, std::size_t k) {
    return std::tuple(buffer.offset.value_or(-1), buffer.size, buffer.alignment,
                      of_buffer_[k].size(), blocked_[k].size());
  };
  if (sizes(x, a) != sizes(y, b)) return sizes(x, a) < sizes(y, b) ? -1 : 1;
  for (std::size_t k = 0; k < of_buffer_[a].size(); ++k) {
    const auto of = [k](const std::vector<LivePart>& parts) {
      return std::tuple(parts[k].other, parts[k].lower, parts[k].upper);
    };
    if (of(of_buffer_[a]) != of(of_buffer_[b]))
      return of(of_buffer_[a]) < of(of_buffer_[b]) ? -1 : 1;
  }
  for (std::size_t k = 0; k < blocked_[a].size(); ++k) {
    const auto of = [k](const std::vector<Blocked>& all) {
      return std::pair(all[k].after, all[k].until);
    };
    if (of(blocked_[a]) != of(blocked_[b])) return of(blocked_[a]) < of(blocked_[b]) ? -1 : 1;
  }
  return 0;
}

// Buffers with the same bytes in the same sections and the same offsets to choose from.
void ProofState::FindTwins() {
  std::vector<std::size_t> order(buffers());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [this](std::size_t a, std::size_t b) {
    const int compared = CompareTwins(a, b);
    return compared != 0 ? compared < 0 : a < b;
  });
  twin_class_.resize(buffers());
  for (std::size_t k = 0; k < order.size(); ++k) {
    const bool is_twin =
        k > 0 && !problem_.buffers[order[k]].offset && CompareTwins(order[k - 1], order[k]) == 0;
    twin_class_[order[k]] = is_twin ? twin_class_[order[k - 1]] : order[k];
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
  const std::vector<Blocked>& all = blocked_[b];
  auto next = std::upper_bound(all.begin(), all.end(), offset,
                               [](Bytes value, const Blocked& x) { return value < x.until; });
  for (; next != all.end() && offset > next->after; ++next) {
    if (offset < next->until) offset = aligned(next->until);
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
  if (journal_.size() >= kMostChanges) throw FalseStep{"the branches are too deep to check"};
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
