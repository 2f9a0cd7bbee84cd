// Exact search over the relations between buffers.
//
// The idea. For two buffers i and j that meet, the difference o_j - o_i must stay out of some open
// intervals (ForbiddenDifferences); what is left are regions: j below i, j above i and, with
// windows, places in between where each lies in the other's holes. A plan picks one region for each
// pair, and a region is at most two difference constraints o_u >= o_v + c. For a set of such
// constraints the least offsets that satisfy them, alignment included, are found by raising what is
// too low until nothing is: rounding up is monotone, so the least fixpoint exists, and every plan
// that obeys the constraints lies above it.
//
// So: keep the least fixpoint of the constraints chosen so far. If no pair is in a forbidden
// interval, it is a plan, and a low one. Otherwise take such a pair and try each of its regions.
// Every plan is in one of them, so nothing is missed; each level settles a pair for good, so it
// ends. This is branching on disjunctions as in job-shop scheduling (Carlier and Pinson, Management
// Science 35(2), 1989) and in the meta-CSP of rectangle packing (Moffitt and Pollack, ICAPS 2006).
//
// What prunes it: a region is impossible if it would raise a buffer past the capacity; a pair with
// one region left is settled at once; in each section, the bytes of the buffers whose lower bound
// is at least x must fit between x and the capacity, for every x.
//
// A buffer that is raised again because it was raised may be on a cycle of constraints whose
// differences add up to more than zero, which nothing satisfies: the chain of raises is followed
// back, and such a cycle is a contradiction at once instead of a climb to the capacity. A cycle
// that rounding alone keeps going ends within the least common multiple of its alignments.

#include "place/disjunctive/disjunctive.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "base/arithmetic.h"
#include "base/check.h"
#include "base/lists.h"
#include "base/truncate.h"
#include "model/section_lists.h"

namespace berth::internal::disjunctive {
namespace {

// Propagation that does not come to rest within this many raises counts as a node, so that the
// budget can end it.
constexpr std::int64_t kRaisesPerNode = 4096;

constexpr std::size_t kManyPairs = 10'000;

class Engine final : public Search {
 public:
  Engine(const Instance& instance, const Overlaps& overlaps);
  SearchAnswer Decide(const Question& question, Budget& budget) override;

 private:
  enum class Verdict { kFound, kImpossible, kGaveUp };
  enum class Step { kConsistent, kContradiction, kGaveUp };

  struct Pair {
    BufferIndex i;
    BufferIndex j;
    std::int64_t first_interval;  // intervals_[first_interval ..] are forbidden for o_j - o_i.
    std::int32_t num_intervals;
    // Region r lies between interval r - 1 and interval r; there is one more region than intervals.
    [[nodiscard]] std::int32_t num_regions() const { return num_intervals + 1; }
  };
  // o_to >= o_from + least.
  struct Constraint {
    BufferIndex to;
    Bytes least;
  };
  struct Change {
    BufferIndex buffer;
    Bytes old;
  };
  struct Choice {
    std::size_t pair;
    std::size_t regions_end;  // regions_[regions_next .. regions_end) are still to be tried.
    std::size_t regions_next;
    std::size_t regions_begin;
    std::size_t change_mark;
    std::size_t constraint_mark;
  };

  [[nodiscard]] const Interval& interval(const Pair& pair, std::int32_t k) const {
    return intervals_[static_cast<std::size_t>(pair.first_interval + k)];
  }
  // The interval that holds o_j - o_i at the current lower bounds; -1 if none does.
  [[nodiscard]] std::int32_t ViolatedInterval(const Pair& pair);
  // By how much a region raises one of the two at least; negative if it is impossible.
  [[nodiscard]] Bytes PushOf(const Pair& pair, std::int32_t region);
  [[nodiscard]] Step Enforce(const Pair& pair, std::int32_t region);
  [[nodiscard]] Step Add(BufferIndex from, BufferIndex to, Bytes least);
  [[nodiscard]] bool Raise(BufferIndex b, Bytes to);
  [[nodiscard]] bool RaiseBecause(BufferIndex from, BufferIndex to, Bytes least);
  [[nodiscard]] bool SectionsHold();
  // Settles every pair that has one region left. Then `branch` is the pair to branch on, or the
  // number of pairs if none is violated.
  [[nodiscard]] Step Propagate(std::size_t& branch);
  void Undo(std::size_t change_mark, std::size_t constraint_mark);
  [[nodiscard]] bool MakePairs();
  [[nodiscard]] Verdict Run();
  [[nodiscard]] bool SpendNode();

  const Instance& instance_;
  const Overlaps& overlaps_;
  bool has_pairs_ = false;
  std::vector<Pair> pairs_;
  std::vector<Interval> intervals_;
  struct Member {
    BufferIndex buffer;
    Bytes bytes;
  };
  Lists<SectionIndex, Member> sections_;

  Bytes capacity_ = 0;
  IndexedVector<BufferIndex, Bytes> max_offset_;
  IndexedVector<BufferIndex, Bytes> lower_;
  IndexedVector<BufferIndex, std::vector<Constraint>> constraints_;  // By Constraint's `from`.
  std::vector<BufferIndex> constraint_order_;  // `from` of each constraint, oldest first.
  std::vector<Change> changes_;
  std::vector<Choice> choices_;
  std::vector<std::int32_t> regions_;
  std::int64_t level_ = 0;  // Grows with every region tried.
  // The level whose changes_ hold a buffer's old value.
  IndexedVector<BufferIndex, std::int64_t> kept_at_;
  std::int64_t chain_ = 0;                              // Grows with every call of Add().
  IndexedVector<BufferIndex, std::int64_t> raised_in_;  // The last chain that raised a buffer,
  IndexedVector<BufferIndex, Constraint> raised_by_;    // and because of which (`to` is the cause).
  std::vector<BufferIndex> queue_;                      // Scratch.
  std::vector<std::pair<Bytes, Bytes>> load_;           // Scratch: lower bound and bytes.
  Budget* budget_ = nullptr;
  std::int64_t nodes_left_ = 0;
  std::int64_t nodes_ = 0;
};

Engine::Engine(const Instance& instance, const Overlaps& overlaps)
    : instance_(instance),
      overlaps_(overlaps),
      sections_(SectionLists<Member>(instance, [](BufferIndex b, const Piece& piece) {
        return Member{b, piece.upper - piece.lower};
      })) {
  max_offset_.resize(instance.num_buffers());
  lower_.resize(instance.num_buffers());
  constraints_.resize(instance.num_buffers());
  kept_at_.assign(instance.num_buffers(), -1);
  raised_in_.assign(instance.num_buffers(), -1);
  raised_by_.resize(instance.num_buffers());
}

bool Engine::SpendNode() {
  if (nodes_left_ <= 0 || !budget_->SpendNode()) return false;
  // A node looks at all pairs: with many of them the budget looks at the clock too rarely.
  if (pairs_.size() > kManyPairs && budget_->TimeIsUp()) return false;
  --nodes_left_;
  ++nodes_;
  return true;
}

// False if time is up before all pairs are there.
bool Engine::MakePairs() {
  pairs_.clear();
  intervals_.clear();
  for (const BufferIndex i : instance_.buffers()) {
    if (budget_->TimeIsUp()) return false;
    const auto [from, to] = overlaps_.row(i);
    for (std::size_t k = from; k < to; ++k) {
      const BufferIndex j = overlaps_.neighbour[k];
      if (j < i) continue;
      const auto forbidden = ForbiddenDifferences(instance_, i, j);
      pairs_.push_back({i, j, static_cast<std::int64_t>(intervals_.size()),
                        static_cast<std::int32_t>(forbidden.size())});
      intervals_.insert(intervals_.end(), forbidden.begin(), forbidden.end());
    }
  }
  has_pairs_ = true;
  return true;
}

SearchAnswer Engine::Decide(const Question& question, Budget& budget) {
  const Bytes capacity = question.capacity;
  SearchAnswer answer;
  capacity_ = capacity;
  budget_ = &budget;
  nodes_left_ = question.node_limit;
  nodes_ = 0;
  ++level_;
  changes_.clear();
  choices_.clear();
  regions_.clear();
  constraint_order_.clear();
  for (auto& constraints : constraints_) constraints.clear();
  for (const BufferIndex b : instance_.buffers()) {
    const Bytes size = instance_.size[b];
    const Bytes pin = instance_.pin[b];
    if (size > capacity || pin > capacity - size) {
      answer.verdict = SearchAnswer::Verdict::kImpossible;
      return answer;
    }
    max_offset_[b] = pin != kNone ? pin : RoundDown(capacity - size, instance_.alignment[b]);
    lower_[b] = std::max<Bytes>(pin, 0);
  }
  if (!has_pairs_ && !MakePairs()) return answer;
  switch (Run()) {
    case Verdict::kFound:
      answer.verdict = SearchAnswer::Verdict::kFound;
      answer.offsets = lower_.items();
      break;
    case Verdict::kImpossible:
      answer.verdict = SearchAnswer::Verdict::kImpossible;
      break;
    case Verdict::kGaveUp:
      answer.verdict = SearchAnswer::Verdict::kGaveUp;
      break;
  }
  answer.nodes = nodes_;
  return answer;
}

Engine::Verdict Engine::Run() {
  while (true) {
    std::size_t branch = 0;
    Step step = Propagate(branch);
    if (step == Step::kConsistent) {
      if (branch == pairs_.size()) return Verdict::kFound;
      const Pair& pair = pairs_[branch];
      Choice choice{branch, 0, 0, regions_.size(), changes_.size(), constraint_order_.size()};
      // The region that raises least first: it keeps the plan low.
      for (std::int32_t region = 0; region < pair.num_regions(); ++region) {
        const Bytes push = PushOf(pair, region);
        if (push < 0) continue;
        std::size_t at = regions_.size();
        while (at > choice.regions_begin && PushOf(pair, regions_[at - 1]) > push) --at;
        regions_.insert(regions_.begin() + static_cast<std::ptrdiff_t>(at), region);
      }
      choice.regions_next = choice.regions_begin;
      choice.regions_end = regions_.size();
      choices_.push_back(choice);
      step = Step::kContradiction;  // Nothing is settled yet: take the first region below.
    }
    // Go on with the next region of the deepest choice that has one.
    while (step == Step::kContradiction) {
      if (choices_.empty()) return Verdict::kImpossible;
      Choice& choice = choices_.back();
      Undo(choice.change_mark, choice.constraint_mark);
      if (choice.regions_next == choice.regions_end) {
        Truncate(regions_, choice.regions_begin);
        choices_.pop_back();
        continue;
      }
      ++level_;
      step = Enforce(pairs_[choice.pair], regions_[choice.regions_next++]);
    }
    if (step == Step::kGaveUp) return Verdict::kGaveUp;
  }
}

Engine::Step Engine::Propagate(std::size_t& branch) {
  bool settled = true;
  while (settled) {
    settled = false;
    if (!SpendNode()) return Step::kGaveUp;
    if (!SectionsHold()) return Step::kContradiction;
    branch = pairs_.size();
    Bytes hardest = -1;
    for (std::size_t p = 0; p < pairs_.size(); ++p) {
      const Pair& pair = pairs_[p];
      if (ViolatedInterval(pair) < 0) continue;
      std::int32_t possible = 0;
      std::int32_t last_possible = 0;
      Bytes least_push = std::numeric_limits<Bytes>::max();
      for (std::int32_t region = 0; region < pair.num_regions(); ++region) {
        const Bytes push = PushOf(pair, region);
        if (push < 0) continue;
        ++possible;
        last_possible = region;
        least_push = std::min(least_push, push);
      }
      if (possible == 0) return Step::kContradiction;
      if (possible == 1) {
        const Step step = Enforce(pair, last_possible);
        if (step != Step::kConsistent) return step;
        settled = true;
      } else if (least_push > hardest) {
        hardest = least_push;
        branch = p;
      }
    }
  }
  return Step::kConsistent;
}

std::int32_t Engine::ViolatedInterval(const Pair& pair) {
  const Bytes difference = lower_[pair.j] - lower_[pair.i];
  for (std::int32_t k = 0; k < pair.num_intervals; ++k) {
    if (difference > interval(pair, k).lower && difference < interval(pair, k).upper) return k;
  }
  return -1;
}

// In region r: o_j - o_i >= upper end of interval r - 1, and <= lower end of interval r. At most
// one of the two is broken, and the push is what repairs it.
Bytes Engine::PushOf(const Pair& pair, std::int32_t region) {
  const Bytes difference = lower_[pair.j] - lower_[pair.i];
  if (region > 0) {
    const Bytes push = interval(pair, region - 1).upper - difference;
    if (push > 0) {
      return lower_[pair.j] + push <= max_offset_[pair.j] ? push : -1;
    }
  }
  if (region < pair.num_intervals) {
    const Bytes push = difference - interval(pair, region).lower;
    if (push > 0) {
      return lower_[pair.i] + push <= max_offset_[pair.i] ? push : -1;
    }
  }
  return 0;
}

Engine::Step Engine::Enforce(const Pair& pair, std::int32_t region) {
  if (region > 0) {
    const Step step = Add(pair.i, pair.j, interval(pair, region - 1).upper);
    if (step != Step::kConsistent) return step;
  }
  if (region < pair.num_intervals) return Add(pair.j, pair.i, -interval(pair, region).lower);
  return Step::kConsistent;
}

// Adds o_to >= o_from + least and restores the least fixpoint.
Engine::Step Engine::Add(BufferIndex from, BufferIndex to, Bytes least) {
  constraints_[from].push_back({to, least});
  constraint_order_.push_back(from);
  if (lower_[from] + least <= lower_[to]) return Step::kConsistent;
  ++chain_;
  if (!RaiseBecause(from, to, least)) return Step::kContradiction;
  queue_.assign(1, to);
  std::int64_t raises = 0;
  for (std::size_t next = 0; next < queue_.size(); ++next) {
    const BufferIndex raised = queue_[next];
    for (const Constraint& constraint : constraints_[raised]) {
      if (lower_[raised] + constraint.least <= lower_[constraint.to]) continue;
      if (!RaiseBecause(raised, constraint.to, constraint.least)) return Step::kContradiction;
      queue_.push_back(constraint.to);
      if (++raises % kRaisesPerNode == 0) {
        if (!SpendNode()) return Step::kGaveUp;
        queue_.erase(queue_.begin(), queue_.begin() + static_cast<std::ptrdiff_t>(next));
        next = 0;
      }
    }
  }
  return Step::kConsistent;
}

// Raises `to` to its bound from `from`. False if it cannot lie so high, or lies on a cycle that
// nothing satisfies.
bool Engine::RaiseBecause(BufferIndex from, BufferIndex to, Bytes least) {
  // Does the chain of raises lead from `to` back here?
  Bytes sum = least;
  BufferIndex back = from;
  for (std::size_t steps = 0; steps <= lower_.size() && back != to; ++steps) {
    if (raised_in_[back] != chain_) break;
    sum += raised_by_[back].least;
    back = raised_by_[back].to;
  }
  if (back == to && sum > 0) return false;
  raised_in_[to] = chain_;
  raised_by_[to] = {from, least};
  return Raise(to, lower_[from] + least);
}

// The old value is kept once for each level of the search.
bool Engine::Raise(BufferIndex b, Bytes to) {
  const Bytes raised = RoundUp(to, instance_.alignment[b]);
  if (raised > max_offset_[b]) return false;
  if (kept_at_[b] != level_) {
    kept_at_[b] = level_;
    changes_.push_back({b, lower_[b]});
  }
  lower_[b] = raised;
  return true;
}

// The buffers of a section that cannot lie below x need their bytes between x and the capacity. A
// window lies at least as high as its buffer's offset.
bool Engine::SectionsHold() {
  for (const SectionIndex s : instance_.sections()) {
    load_.clear();
    for (const Member& member : sections_[s])
      load_.emplace_back(lower_[member.buffer], member.bytes);
    std::sort(load_.begin(), load_.end());
    std::reverse(load_.begin(), load_.end());
    Bytes above = 0;
    for (const auto& [least, bytes] : load_) {
      above += bytes;
      if (least + above > capacity_) return false;
    }
  }
  return true;
}

void Engine::Undo(std::size_t change_mark, std::size_t constraint_mark) {
  for (; changes_.size() > change_mark; changes_.pop_back()) {
    lower_[changes_.back().buffer] = changes_.back().old;
  }
  for (; constraint_order_.size() > constraint_mark; constraint_order_.pop_back()) {
    constraints_[constraint_order_.back()].pop_back();
  }
}

}  // namespace

std::unique_ptr<Search> MakeSearch(const Instance& instance, const Overlaps& overlaps) {
  return std::make_unique<Engine>(instance, overlaps);
}

}  // namespace berth::internal::disjunctive
