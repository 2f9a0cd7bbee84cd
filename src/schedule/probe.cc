#include "schedule/probe.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

namespace berth::internal::schedule {
namespace {

// An order of more operators costs more memory than it saves work.
constexpr std::size_t kMostBytesOfOrder = std::size_t{64} << 20;

}  // namespace

Prober::Prober(const Instance& instance, Precedence precedence, Bytes limit)
    : instance_(instance),
      precedence_(std::move(precedence)),
      limit_(limit),
      cut_(instance_, precedence_),
      witnesses_(instance.num_ops),
      step_(instance.num_ops, std::numeric_limits<Bytes>::max()),
      is_least_(instance.num_ops, false),
      sequence_(instance.num_ops),
      inside_(instance.words()),
      outside_(instance.words()),
      set_(instance.words()) {
  std::iota(sequence_.begin(), sequence_.end(), Op{0});
  for (Witnesses& known : witnesses_) known.seen = precedence_.added().size();
}

void Prober::LowerLimit(Bytes limit) {
  if (limit >= limit_) return;
  limit_ = limit;
  const std::size_t words = precedence_.words();
  for (Witnesses& known : witnesses_) {
    std::size_t kept = 0;
    for (std::size_t w = 0; w < known.steps.size(); ++w) {
      if (known.steps[w] > limit_) continue;
      if (kept != w) {
        std::copy_n(known.sets.data() + w * words, words, known.sets.data() + kept * words);
        known.steps[kept] = known.steps[w];
      }
      ++kept;
    }
    if (kept == known.steps.size()) continue;
    known.steps.resize(kept);
    known.sets.resize(kept * words);
    known.settled = false;
  }
}

void Prober::AddOrder(std::span<const Op> order) {
  // One set for each operator.
  if (order.size() * instance_.words() * sizeof(Word) > kMostBytesOfOrder) return;
  std::vector<Bytes> steps;
  (void)PeakOf(instance_, order, &steps);
  std::fill(set_.begin(), set_.end(), Word{0});
  for (const Op v : order) {
    if (!is_least_[v] && steps[v] < step_[v]) {
      step_[v] = steps[v];
      sorted_ = false;
    }
    if (steps[v] <= limit_) {
      // Kept even if it breaks a constraint; Refresh() drops it then.
      Witnesses& known = witnesses_[v];
      known.sets.insert(known.sets.end(), set_.begin(), set_.end());
      known.steps.push_back(steps[v]);
      known.seen = 0;
    }
    SetBit(set_.data(), v);
  }
}

// Drops witnesses that newer constraints have broken. True if all operators are still settled.
bool Prober::Refresh(Op v) {
  Witnesses& known = witnesses_[v];
  const auto& added = precedence_.added();
  if (known.seen == added.size()) return known.settled;
  const std::size_t words = precedence_.words();
  const Word* const before = precedence_.Before(v);
  const Word* const after = precedence_.After(v);
  std::size_t kept = 0;
  for (std::size_t w = 0; w < known.steps.size(); ++w) {
    const Word* const set = known.sets.data() + w * words;
    bool broken = false;
    for (std::size_t k = 0; k < words && !broken; ++k) {
      broken = (before[k] & ~set[k]) != 0 || (after[k] & set[k]) != 0;
    }
    for (std::size_t k = known.seen; k < added.size() && !broken; ++k) {
      broken = TestBit(set, added[k].second) && !TestBit(set, added[k].first);
    }
    work_ += static_cast<std::int64_t>(words + added.size() - known.seen);
    if (broken) continue;
    if (kept != w) {
      std::copy_n(set, words, known.sets.data() + kept * words);
      known.steps[kept] = known.steps[w];
    }
    ++kept;
  }
  known.seen = added.size();
  if (kept != known.steps.size()) {
    known.steps.resize(kept);
    known.sets.resize(kept * words);
    known.settled = false;
  }
  return known.settled;
}

void Prober::Keep(Op v, const Word* set, Bytes step) {
  Witnesses& known = witnesses_[v];
  const std::size_t words = precedence_.words();
  bool news = false;
  for (std::size_t k = 0; k < words; ++k) {
    news = news || (set[k] & ~inside_[k]) != 0 || (~set[k] & ~outside_[k]) != 0;
    inside_[k] |= set[k];
    outside_[k] |= ~set[k];
  }
  if (!news) return;
  known.sets.insert(known.sets.end(), set, set + words);
  known.steps.push_back(step);
}

// Adds to (or removes from) set_ single operators that no witness has inside (or outside), while
// the step of v stays within the limit.
void Prober::Stretch(Op v, Bytes step, bool grow) {
  bool changed = false;
  const auto& undecided = cut_.undecided();
  for (bool again = true; again;) {
    again = false;
    for (std::size_t k = 0; k < undecided.size(); ++k) {
      const Op u = undecided[grow ? k : undecided.size() - 1 - k];
      if (TestBit(set_.data(), u) == grow) continue;
      ++work_;
      if (!budget_->SpendWork(static_cast<std::int64_t>(20 + precedence_.words()))) return;
      bool allowed = true;
      if (grow) {
        for (const Op p : precedence_.predecessors(u)) {
          allowed = allowed && TestBit(set_.data(), p);
        }
      } else {
        const Word* const after = precedence_.After(u);
        for (std::size_t w = 0; w < precedence_.words() && allowed; ++w) {
          allowed = (after[w] & set_[w]) == 0;
        }
      }
      if (!allowed) continue;
      // step(S, v) = f(S) + created: the change of f by u, and of the bytes that v then creates.
      Bytes next = step - CreatedBytes(instance_, set_.data(), v);
      if (grow) {
        next += CreatedBytes(instance_, set_.data(), u) - FreedBytes(instance_, set_.data(), u);
        SetBit(set_.data(), u);
      } else {
        ClearBit(set_.data(), u);
        next -= CreatedBytes(instance_, set_.data(), u) - FreedBytes(instance_, set_.data(), u);
      }
      next += CreatedBytes(instance_, set_.data(), v);
      work_ += 20;
      if (next > limit_) {
        if (grow) {
          ClearBit(set_.data(), u);
        } else {
          SetBit(set_.data(), u);
        }
        continue;
      }
      step = next;
      changed = true;
      again = true;
    }
  }
  if (changed) Keep(v, set_.data(), step);
}

void Prober::KeepCut(Op v, Bytes step, bool largest) {
  cut_.Witness(set_.data(), largest);
  Keep(v, set_.data(), step);
  Stretch(v, step, largest);
}

// Notes the least step of v. True if that is the first one known and others now come before v.
bool Prober::SetStep(Op v, Bytes least) {
  const bool is_first = !is_least_[v] && least < step_[v];
  sorted_ = sorted_ && step_[v] == least;
  step_[v] = least;
  is_least_[v] = true;
  return is_first;
}

Prober::Verdict Prober::Probe(Op v, std::int64_t work_end, Budget& budget) {
  const std::size_t words = precedence_.words();
  refuted_ = v;
  for (;;) {
    if (work() >= work_end || !budget.SpendNode()) return Verdict::kOpen;
    ++cuts_;
    const Bytes least = cut_.Solve(v, limit_);
    if (least > limit_) return Verdict::kContradiction;
    if (budget.TimeIsUp()) return Verdict::kOpen;
    if (SetStep(v, least)) return Verdict::kStable;
    std::fill(inside_.begin(), inside_.end(), Word{0});
    std::fill(outside_.begin(), outside_.end(), Word{0});
    const Witnesses& known = witnesses_[v];
    for (std::size_t w = 0; w < known.steps.size(); ++w) {
      for (std::size_t k = 0; k < words; ++k) {
        inside_[k] |= known.sets[w * words + k];
        outside_[k] |= ~known.sets[w * words + k];
      }
    }
    KeepCut(v, least, false);
    KeepCut(v, least, true);
    std::vector<std::pair<Op, Op>> found;
    for (const Op u : cut_.undecided()) {
      for (const bool inside : {true, false}) {
        if (TestBit(inside ? inside_.data() : outside_.data(), u)) continue;
        if (work() >= work_end || !budget.SpendNode()) return Verdict::kOpen;
        ++cuts_;
        const Bytes step = cut_.SolveWith(u, inside, limit_);
        if (step > limit_) {
          found.emplace_back(inside ? v : u, inside ? u : v);
        } else {
          KeepCut(v, step, !inside);
        }
      }
    }
    witnesses_[v].settled = true;
    if (found.empty()) return Verdict::kStable;
    for (const auto& [before, after] : found) {
      if (!Add(before, after)) return Verdict::kContradiction;
    }
    if (Refresh(v)) return Verdict::kStable;
  }
}

// The operator of the highest step among those not settled; num_ops if there is none.
Op Prober::Next() {
  if (!sorted_) {
    std::stable_sort(sequence_.begin(), sequence_.end(),
                     [&](Op a, Op b) { return step_[a] > step_[b]; });
    sorted_ = true;
  }
  for (const Op v : sequence_) {
    if (!Refresh(v)) return v;
  }
  return static_cast<Op>(instance_.num_ops);
}

Prober::Verdict Prober::Run(std::int64_t work, Budget& budget) {
  const std::int64_t work_end = this->work() + work;
  budget_ = &budget;
  cut_.SetBudget(budget);
  for (;;) {
    const std::int64_t before = work_;
    const Op v = Next();
    work_ += static_cast<std::int64_t>(instance_.num_ops);
    if (!budget.SpendWork(work_ - before)) return Verdict::kOpen;
    if (v == instance_.num_ops) return Verdict::kStable;
    const Verdict verdict = Probe(v, work_end, budget);
    if (verdict != Verdict::kStable) return verdict;
  }
}

}  // namespace berth::internal::schedule
