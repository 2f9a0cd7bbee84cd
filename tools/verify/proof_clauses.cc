#include "tools/verify/proof_clauses.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "tools/verify/proof_text.h"

namespace berth::verify {
namespace {

constexpr std::size_t kMostBuffers = 8192;  // Two bytes for each pair.

Bytes RoundUp(Bytes value, Bytes unit) {
  const Bytes rest = value % unit;
  return rest == 0 ? value : value - rest + (rest > 0 ? unit : 0);
}
Bytes RoundDown(Bytes value, Bytes unit) {
  const Bytes rest = value % unit;
  return rest == 0 ? value : value - rest - (rest < 0 ? unit : 0);
}

}  // namespace

Clauses::Clauses(const Problem& problem, const ProofState& state) : state_(state) {
  const std::size_t n = problem.buffers.size();
  if (state.has_windows()) throw FalseStep{"clauses know nothing of windows"};
  if (n > kMostBuffers) throw FalseStep{"too many buffers for clauses"};
  low_.assign(n, 0);
  high_.assign(n, 0);
  queued_.assign(n, 0);
  meets_.assign(n * n, 0);
  above_.assign(n * n, 0);
  neighbours_.resize(n);
  for (std::size_t s = 0; s < state.sections(); ++s) {
    for (const LivePart& a : state.of_section(s)) {
      for (const LivePart& b : state.of_section(s)) {
        std::uint8_t& meets = meets_[Pair(a.other, b.other)];
        if (a.other == b.other || meets != 0) continue;
        meets = 1;
        neighbours_[a.other].push_back(b.other);
      }
    }
  }
  for (std::size_t b = 0; b < n; ++b) {
    const Buffer& buffer = problem.buffers[b];
    size_.push_back(buffer.size);
    unit_.push_back(buffer.offset ? 1 : buffer.alignment == 1 ? state.grain() : buffer.alignment);
    const Bytes room = state.capacity() - buffer.size;
    low_[b] = buffer.offset.value_or(0);
    high_[b] = buffer.offset ? std::min(*buffer.offset, room) : RoundDown(room, unit_[b]);
    failed_ |= high_[b] < low_[b];
    Touch(b);
  }
  // Of buffers that can take each other's place, the first lies lowest.
  std::vector<std::size_t> last(n, n);
  for (std::size_t b = 0; b < n; ++b) {
    std::size_t& before = last[state.twin_class(b)];
    if (before != n && Meet(before, b)) PutAbove(before, b);
    before = b;
  }
  Follow({});
  journal_.clear();
}

Clauses::Truth Clauses::TruthOf(const Atom& atom) const {
  switch (atom.kind) {
    case Atom::Kind::kAtLeast:
      if (low_[atom.buffer] >= atom.value) return Truth::kTrue;
      return high_[atom.buffer] < atom.value ? Truth::kFalse : Truth::kOpen;
    case Atom::Kind::kAtMost:
      if (high_[atom.buffer] <= atom.value) return Truth::kTrue;
      return low_[atom.buffer] > atom.value ? Truth::kFalse : Truth::kOpen;
    case Atom::Kind::kAbove:
      break;
  }
  if (above_[Pair(atom.other, atom.buffer)] != 0) return Truth::kTrue;
  return above_[Pair(atom.buffer, atom.other)] != 0 ? Truth::kFalse : Truth::kOpen;
}

void Clauses::Assume(const Atom& atom) {
  switch (atom.kind) {
    case Atom::Kind::kAtLeast:
      return Raise(atom.buffer, atom.value);
    case Atom::Kind::kAtMost:
      return Lower(atom.buffer, atom.value);
    case Atom::Kind::kAbove:
      return PutAbove(atom.other, atom.buffer);
  }
}

void Clauses::Refuse(const Atom& atom) {
  switch (atom.kind) {
    case Atom::Kind::kAtLeast:
      return Lower(atom.buffer, atom.value - 1);
    case Atom::Kind::kAtMost:
      return Raise(atom.buffer, atom.value + 1);
    case Atom::Kind::kAbove:
      return PutAbove(atom.buffer, atom.other);
  }
}

void Clauses::Touch(std::size_t b) {
  if (queued_[b] != 0) return;
  queued_[b] = 1;
  queue_.push_back(b);
}

void Clauses::Raise(std::size_t b, Bytes value) {
  value = RoundUp(value, unit_[b]);
  if (value <= low_[b]) return;
  journal_.push_back({Field::kLow, b, low_[b]});
  low_[b] = value;
  failed_ |= value > high_[b];
  Touch(b);
}

void Clauses::Lower(std::size_t b, Bytes value) {
  value = RoundDown(value, unit_[b]);
  if (value >= high_[b]) return;
  journal_.push_back({Field::kHigh, b, high_[b]});
  high_[b] = value;
  failed_ |= value < low_[b];
  Touch(b);
}

void Clauses::PutAbove(std::size_t below, std::size_t above) {
  if (above_[Pair(below, above)] != 0) return;
  failed_ |= above_[Pair(above, below)] != 0;
  journal_.push_back({Field::kAbove, Pair(below, above), 0});
  above_[Pair(below, above)] = 1;
  Touch(below);
  Touch(above);
}

// What the bounds of `b` imply for all that it meets.
void Clauses::FollowOrders(std::size_t b) {
  for (const std::size_t c : neighbours_[b]) {
    if (above_[Pair(b, c)] == 0 && low_[c] + size_[c] > high_[b]) PutAbove(b, c);
    if (above_[Pair(c, b)] == 0 && low_[b] + size_[b] > high_[c]) PutAbove(c, b);
    if (above_[Pair(b, c)] != 0) {
      Raise(c, low_[b] + size_[b]);
      Lower(b, high_[c] - size_[b]);
    }
    if (above_[Pair(c, b)] != 0) {
      Raise(b, low_[c] + size_[c]);
      Lower(c, high_[b] - size_[c]);
    }
    if (failed_) return;
  }
}

// What cannot lie below a level needs its bytes between there and the capacity.
void Clauses::CheckSection(std::size_t s) {
  members_.clear();
  for (const LivePart& part : state_.of_section(s)) {
    members_.emplace_back(low_[part.other], size_[part.other]);
  }
  std::sort(members_.begin(), members_.end(), std::greater<>());
  Bytes load = 0;
  for (const auto& [low, size] : members_) {
    load += size;
    failed_ |= low + load > state_.capacity();
  }
}

// Follows from a clause what it implies. True if something does.
bool Clauses::ApplyClause(const std::vector<Atom>& atoms) {
  const Atom* open = nullptr;
  for (const Atom& atom : atoms) {
    const Truth truth = TruthOf(atom);
    if (truth == Truth::kFalse || (truth == Truth::kOpen && open != nullptr)) return false;
    if (truth == Truth::kOpen) open = &atom;
  }
  if (open == nullptr) {
    failed_ = true;
  } else {
    Refuse(*open);
  }
  return true;
}

void Clauses::Follow(const std::vector<std::size_t>& used) {
  bool more = true;
  while (more && !failed_) {
    while (!queue_.empty() && !failed_) {
      const std::size_t b = queue_.back();
      queue_.pop_back();
      queued_[b] = 0;
      FollowOrders(b);
    }
    more = false;
    for (std::size_t k = 0; k < used.size() && !failed_; ++k)
      more |= ApplyClause(clauses_[used[k]]);
    if (more || failed_) continue;
    for (std::size_t s = 0; s < state_.sections() && !failed_; ++s) CheckSection(s);
  }
  for (const std::size_t b : queue_) queued_[b] = 0;
  queue_.clear();
}

void Clauses::UndoTo(std::size_t changes) {
  for (; journal_.size() > changes; journal_.pop_back()) {
    const Change& change = journal_.back();
    switch (change.field) {
      case Field::kLow:
        low_[change.index] = change.old;
        break;
      case Field::kHigh:
        high_[change.index] = change.old;
        break;
      case Field::kAbove:
        above_[change.index] = 0;
        break;
    }
  }
}

bool Clauses::Add(const std::vector<Atom>& atoms, const std::vector<std::size_t>& used) {
  if (!failed_) {
    for (const Atom& atom : atoms) Assume(atom);
    Follow(used);
    if (!failed_) return false;
    failed_ = false;
    UndoTo(0);
    if (atoms.size() == 1) {
      Refuse(atoms.front());
      Follow({});
      journal_.clear();
    }
    failed_ |= atoms.empty();
  }
  clauses_.push_back(atoms);
  return true;
}

}  // namespace berth::verify
