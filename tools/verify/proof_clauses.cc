#include "tools/verify/proof_clauses.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "tools/verify/proof_text.h"

namespace berth::verify {
namespace {

// 41 bytes each.
constexpr std::size_t kMostOrders = std::size_t{1} << 23;
// Buffers that are looked at in sections to find the orders.
constexpr std::uint64_t kMostMeetings = std::uint64_t{1} << 32;
// Orders and atoms that one clause may look at: a false one may go around a cycle of orders as often as
// the capacity has bytes.
constexpr std::size_t kMostWork = 10'000'000;
constexpr std::size_t kMostPasses = 16;  // Over all orders, if these are more.

Bytes RoundUp(Bytes value, Bytes unit) {
  const Bytes rest = value % unit;
  return rest == 0 ? value : value - rest + (rest > 0 ? unit : 0);
}
Bytes RoundDown(Bytes value, Bytes unit) {
  const Bytes rest = value % unit;
  return rest == 0 ? value : value - rest - (rest < 0 ? unit : 0);
}

// Whether a buffer is live in the section of a part and not in the one before.
bool Begins(const std::vector<LivePart>& parts, std::size_t k) {
  return k == 0 || parts[k].other != parts[k - 1].other + 1;
}

}  // namespace

Clauses::Clauses(const Problem& problem, const ProofState& state) : state_(state) {
  const std::size_t n = problem.buffers.size();
  low_.assign(n, 0);
  high_.assign(n, 0);
  low_noted_.assign(n, 0);
  high_noted_.assign(n, 0);
  queued_.assign(n, 0);
  FindOrders();
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
  if (!state.has_windows()) OrderTwins();
  Follow({});
  ForgetChanges();
}

// Buffers that meet do so first where one of them begins: at the start of its life, or after a gap.
void Clauses::FindOrders() {
  std::vector<std::vector<std::size_t>> beginning(state_.sections());
  for (std::size_t b = 0; b < low_.size(); ++b) {
    const std::vector<LivePart>& parts = state_.of_buffer(b);
    for (std::size_t k = 0; k < parts.size(); ++k) {
      if (Begins(parts, k)) beginning[parts[k].other].push_back(b);
    }
  }
  orders_of_.resize(low_.size());
  std::vector<std::size_t> met(low_.size(), low_.size());
  std::uint64_t meetings = 0;
  for (std::size_t a = 0; a < low_.size(); ++a) {
    const auto meet = [&](std::size_t b) {
      if (b <= a || std::exchange(met[b], a) == a) return;
      meetings +=
          state_.has_windows() ? state_.of_buffer(a).size() + state_.of_buffer(b).size() : 1;
      AddOrders(a, b);
    };
    const std::vector<LivePart>& parts = state_.of_buffer(a);
    for (std::size_t k = 0; k < parts.size(); ++k) {
      const std::vector<LivePart>& all = state_.of_section(parts[k].other);
      const std::vector<std::size_t>& some = beginning[parts[k].other];
      if (Begins(parts, k)) {
        for (const LivePart& there : all) meet(there.other);
      } else {
        for (const std::size_t b : some) meet(b);
      }
      meetings += 1 + (Begins(parts, k) ? all.size() : some.size());
      if (meetings > kMostMeetings || orders_.size() > kMostOrders) {
        throw FalseStep{"too many buffers meet"};
      }
    }
  }
  holds_.assign(orders_.size(), 0);
  for (std::vector<std::size_t>& orders : orders_of_) {
    std::sort(orders.begin(), orders.end(),
              [this](std::size_t x, std::size_t y) { return PlaceOf(x) < PlaceOf(y); });
  }
}

// The intervals of offset(b) - offset(a) that the two exclude, those that overlap as one.
void Clauses::AddOrders(std::size_t a, std::size_t b) {
  std::vector<Interval> intervals;
  const std::vector<LivePart>& of_a = state_.of_buffer(a);
  const std::vector<LivePart>& of_b = state_.of_buffer(b);
  if (!state_.has_windows()) intervals.push_back({-state_.size(b), state_.size(a)});
  for (std::size_t i = 0, j = 0; state_.has_windows() && i < of_a.size() && j < of_b.size();) {
    if (of_a[i].other == of_b[j].other) {
      intervals.push_back({of_a[i].lower - of_b[j].upper, of_a[i].upper - of_b[j].lower});
      ++i;
      ++j;
    } else {
      ++(of_a[i].other < of_b[j].other ? i : j);
    }
  }
  std::sort(intervals.begin(), intervals.end(),
            [](const Interval& x, const Interval& y) { return x.lower < y.lower; });
  std::size_t number = 0;
  for (std::size_t k = 0; k < intervals.size(); ++number) {
    Interval all = intervals[k++];
    for (; k < intervals.size() && intervals[k].lower < all.upper; ++k) {
      all.upper = std::max(all.upper, intervals[k].upper);
    }
    orders_of_[a].push_back(orders_.size());
    orders_.push_back({a, b, all.upper, number});
    orders_of_[b].push_back(orders_.size());
    orders_.push_back({b, a, -all.lower, number});
  }
}

// Of buffers that can take each other's place, the first lies lowest.
void Clauses::OrderTwins() {
  const std::size_t n = low_.size();
  std::vector<std::size_t> last(n, n);
  for (std::size_t b = 0; b < n; ++b) {
    std::size_t& before = last[state_.twin_class(b)];
    if (before != n) {
      if (const auto order = FindOrder(b, before, 0)) Decide(*order);
    }
    before = b;
  }
}

std::optional<std::size_t> Clauses::FindOrder(std::size_t above, std::size_t below,
                                              std::size_t interval) const {
  const std::vector<std::size_t>& orders = orders_of_[below];
  const std::pair wanted(above, interval);
  const auto found =
      std::lower_bound(orders.begin(), orders.end(), wanted,
                       [this](std::size_t x, const auto& y) { return PlaceOf(x) < y; });
  if (found == orders.end() || PlaceOf(*found) != wanted) return std::nullopt;
  return *found;
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
  if (holds_[atom.order] != 0) return Truth::kTrue;
  return holds_[atom.order ^ 1] != 0 ? Truth::kFalse : Truth::kOpen;
}

void Clauses::Assume(const Atom& atom) {
  switch (atom.kind) {
    case Atom::Kind::kAtLeast:
      return Raise(atom.buffer, atom.value);
    case Atom::Kind::kAtMost:
      return Lower(atom.buffer, atom.value);
    case Atom::Kind::kAbove:
      return Decide(atom.order);
  }
}

void Clauses::Refuse(const Atom& atom) {
  switch (atom.kind) {
    case Atom::Kind::kAtLeast:
      return Lower(atom.buffer, atom.value - 1);
    case Atom::Kind::kAtMost:
      return Raise(atom.buffer, atom.value + 1);
    case Atom::Kind::kAbove:
      return Decide(atom.order ^ 1);
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
  if (std::exchange(low_noted_[b], epoch_) != epoch_) journal_.push_back({Field::kLow, b, low_[b]});
  low_[b] = value;
  failed_ |= value > high_[b];
  Touch(b);
}

void Clauses::Lower(std::size_t b, Bytes value) {
  value = RoundDown(value, unit_[b]);
  if (value >= high_[b]) return;
  if (std::exchange(high_noted_[b], epoch_) != epoch_) {
    journal_.push_back({Field::kHigh, b, high_[b]});
  }
  high_[b] = value;
  failed_ |= value < low_[b];
  Touch(b);
}

void Clauses::Decide(std::size_t order) {
  if (holds_[order] != 0) return;
  failed_ |= holds_[order ^ 1] != 0;
  journal_.push_back({Field::kOrder, order, 0});
  holds_[order] = 1;
  Touch(orders_[order].below);
  Touch(orders_[order].above);
}

// What the bounds of `b` imply for all that it meets.
void Clauses::FollowOrders(std::size_t b) {
  Spend(orders_of_[b].size());
  for (const std::size_t up : orders_of_[b]) {
    const std::size_t down = up ^ 1;
    const std::size_t c = orders_[up].above;
    if (low_[c] + orders_[down].clearance > high_[b]) Decide(up);
    if (low_[b] + orders_[up].clearance > high_[c]) Decide(down);
    if (holds_[up] != 0) {
      Raise(c, low_[b] + orders_[up].clearance);
      Lower(b, high_[c] - orders_[up].clearance);
    }
    if (holds_[down] != 0) {
      Raise(b, low_[c] + orders_[down].clearance);
      Lower(c, high_[b] - orders_[down].clearance);
    }
    if (failed_) return;
  }
}

// What cannot lie below a level needs its bytes between there and the capacity.
void Clauses::CheckSection(std::size_t s) {
  members_.clear();
  for (const LivePart& part : state_.of_section(s)) {
    members_.emplace_back(low_[part.other] + part.lower, part.upper - part.lower);
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
  Spend(atoms.size());
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

// Counts what one clause looks at.
void Clauses::Spend(std::size_t work) {
  work_ += work + 1;
  if (work_ > std::max(kMostWork, kMostPasses * orders_.size())) {
    throw FalseStep{"the clause takes too long to check"};
  }
}

void Clauses::Undo() {
  for (const Change& change : journal_) {
    switch (change.field) {
      case Field::kLow:
        low_[change.index] = change.old;
        break;
      case Field::kHigh:
        high_[change.index] = change.old;
        break;
      case Field::kOrder:
        holds_[change.index] = 0;
        break;
    }
  }
  ForgetChanges();
}

void Clauses::ForgetChanges() {
  journal_.clear();
  ++epoch_;
}

bool Clauses::Add(const std::vector<Atom>& atoms, const std::vector<std::size_t>& used) {
  work_ = 0;
  if (!failed_) {
    for (const Atom& atom : atoms) Assume(atom);
    Follow(used);
    if (!failed_) return false;
    failed_ = false;
    Undo();
    if (atoms.size() == 1) {
      Refuse(atoms.front());
      Follow({});
      ForgetChanges();
    }
    failed_ |= atoms.empty();
  }
  clauses_.push_back(atoms);
  return true;
}

}  // namespace berth::verify
