#include "schedule/probe.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "base/side_by_side.h"

namespace berth::internal::schedule {
namespace {

// An order of more operators costs more memory than it saves work.
constexpr std::size_t kMostBytesOfOrder = std::size_t{64} << 20;

// Looks side by side, at most: as many as several threads take without waiting long for the last.
constexpr std::size_t kMostLooks = 16;
constexpr std::int64_t kLeastWorkOfLook = 100'000;
// Looks that take less in all, in units of a few nanoseconds, are over before threads have begun. The last
// ones tell how long the next will take.
constexpr std::int64_t kWorkOfThreads = 50'000;

}  // namespace

Prober::Prober(const Instance& instance, Precedence precedence, Bytes limit)
    : instance_(instance),
      precedence_(std::move(precedence)),
      limit_(limit),
      witnesses_(instance.num_ops),
      steps_(instance.num_ops, {std::numeric_limits<Bytes>::max(), false}),
      sequence_(instance.num_ops) {
  std::iota(sequence_.begin(), sequence_.end(), Op{0});
  for (Witnesses& known : witnesses_) known.seen = precedence_.added().size();
  looks_.reserve(kMostLooks);  // To give one back must not fail.
}

Prober::~Prober() = default;

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
  std::vector<Word> set(instance_.words(), 0);
  for (const Op v : order) {
    if (!steps_[v].is_least && steps[v] < steps_[v].bytes) {
      steps_[v].bytes = steps[v];
      sorted_ = false;
    }
    if (steps[v] <= limit_) {
      // Kept even if it breaks a constraint; Refresh() drops it then.
      Witnesses& known = witnesses_[v];
      known.sets.insert(known.sets.end(), set.begin(), set.end());
      known.steps.push_back(steps[v]);
      known.seen = 0;
    }
    SetBit(set.data(), v);
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

// Looks at one operator at a time; `precedence` does not change meanwhile.
class Prober::Look {
 public:
  Look(const Instance& instance, const Precedence& precedence)
      : instance_(instance),
        precedence_(precedence),
        cut_(instance, precedence),
        inside_(instance.words()),
        outside_(instance.words()),
        set_(instance.words()) {}

  // Continues until it has done `work`, with the witnesses of v, which must be up to date.
  Looked At(Op v, Bytes limit, const Step& step, Witnesses& known, std::int64_t work,
            Budget& budget) {
    known_ = &known;
    limit_ = limit;
    budget_ = &budget;
    cut_.SetBudget(budget);
    const std::int64_t before = this->work();
    Looked looked;
    looked.step = step;
    Probe(v, before + work, looked);
    looked.work = this->work() - before;
    return looked;
  }

 private:
  [[nodiscard]] std::int64_t work() const { return cut_.work() + work_; }
  [[nodiscard]] bool MayCut(std::int64_t work_end) {
    return work() < work_end && budget_->SpendNode();
  }
  void Probe(Op v, std::int64_t work_end, Looked& looked);
  void CollectWitnesses();
  void Keep(const Word* set, Bytes step);
  void KeepCut(Op v, Bytes step, bool largest);
  void Stretch(Op v, Bytes step, bool grow);

  const Instance& instance_;
  const Precedence& precedence_;
  Witnesses* known_ = nullptr;
  Bytes limit_ = 0;
  Budget* budget_ = nullptr;
  Cut cut_;
  std::int64_t work_ = 0;
  // Of the operator: union of its witnesses, and union of their complements.
  std::vector<Word> inside_, outside_;
  std::vector<Word> set_;
};

class Prober::Lent {
 public:
  explicit Lent(Prober& prober) : prober_(prober) {
    const std::lock_guard<std::mutex> lock(prober_.mutex_);
    if (prober_.looks_.empty()) return;
    look_ = std::move(prober_.looks_.back());
    prober_.looks_.pop_back();
  }
  ~Lent() {
    if (!look_) return;
    const std::lock_guard<std::mutex> lock(prober_.mutex_);
    prober_.looks_.push_back(std::move(look_));
  }
  Lent(const Lent&) = delete;
  Lent& operator=(const Lent&) = delete;
  [[nodiscard]] Look& look() {
    if (!look_) look_ = std::make_unique<Look>(prober_.instance_, prober_.precedence_);
    return *look_;
  }

 private:
  Prober& prober_;
  std::unique_ptr<Look> look_;
};

void Prober::Look::Keep(const Word* set, Bytes step) {
  const std::size_t words = precedence_.words();
  bool news = false;
  for (std::size_t k = 0; k < words; ++k) {
    news = news || (set[k] & ~inside_[k]) != 0 || (~set[k] & ~outside_[k]) != 0;
    inside_[k] |= set[k];
    outside_[k] |= ~set[k];
  }
  if (!news) return;
  known_->sets.insert(known_->sets.end(), set, set + words);
  known_->steps.push_back(step);
}

// Adds to (or removes from) set_ single operators that no witness has inside (or outside), while
// the step of v stays within the limit.
void Prober::Look::Stretch(Op v, Bytes step, bool grow) {
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
  if (changed) Keep(set_.data(), step);
}

void Prober::Look::KeepCut(Op v, Bytes step, bool largest) {
  cut_.Witness(set_.data(), largest);
  Keep(set_.data(), step);
  Stretch(v, step, largest);
}

void Prober::Look::CollectWitnesses() {
  const std::size_t words = precedence_.words();
  std::fill(inside_.begin(), inside_.end(), Word{0});
  std::fill(outside_.begin(), outside_.end(), Word{0});
  for (std::size_t w = 0; w < known_->steps.size(); ++w) {
    for (std::size_t k = 0; k < words; ++k) {
      inside_[k] |= known_->sets[w * words + k];
      outside_[k] |= ~known_->sets[w * words + k];
    }
  }
}

void Prober::Look::Probe(Op v, std::int64_t work_end, Looked& looked) {
  looked.verdict = Verdict::kOpen;
  if (!MayCut(work_end)) return;
  ++looked.cuts;
  const Bytes least = cut_.Solve(v, limit_);
  if (least > limit_) {
    looked.verdict = Verdict::kContradiction;
    return;
  }
  if (budget_->TimeIsUp()) return;
  // Others may come before v now.
  const bool is_lower = !looked.step.is_least && least < looked.step.bytes;
  looked.step = {least, true};
  if (is_lower) return;
  CollectWitnesses();
  KeepCut(v, least, false);
  KeepCut(v, least, true);
  for (const Op u : cut_.undecided()) {
    for (const bool inside : {true, false}) {
      if (TestBit(inside ? inside_.data() : outside_.data(), u)) continue;
      if (!MayCut(work_end)) return;
      ++looked.cuts;
      const Bytes step = cut_.SolveWith(u, inside, limit_);
      if (step > limit_) {
        looked.constraints.emplace_back(inside ? v : u, inside ? u : v);
      } else {
        KeepCut(v, step, !inside);
      }
    }
  }
  known_->settled = true;
  looked.verdict = Verdict::kStable;
}

bool Prober::Take(Op v, const Looked& looked) {
  sorted_ = sorted_ && steps_[v].bytes == looked.step.bytes;
  steps_[v] = looked.step;
  cuts_ += looked.cuts;
  work_ += looked.work;
  refuted_ = v;
  if (looked.verdict == Verdict::kContradiction) return false;
  return std::all_of(looked.constraints.begin(), looked.constraints.end(),
                     [&](const auto& each) { return Add(each.first, each.second); });
}

std::vector<Op> Prober::Next(std::size_t most) {
  if (!sorted_) {
    std::stable_sort(sequence_.begin(), sequence_.end(),
                     [&](Op a, Op b) { return steps_[a].bytes > steps_[b].bytes; });
    sorted_ = true;
  }
  std::vector<Op> next;
  for (auto v = sequence_.begin(); v != sequence_.end() && next.size() < most; ++v) {
    if (!Refresh(*v)) next.push_back(*v);
  }
  return next;
}

// The more work is left, the more looks share it: it takes longer than what threads cost, and a look that ends
// for want of work has to make its first cut again.
std::size_t Prober::NumLooks(std::int64_t work) {
  return std::clamp(static_cast<std::size_t>(std::max<std::int64_t>(work, 0) / kLeastWorkOfLook),
                    std::size_t{1}, kMostLooks);
}

Prober::Verdict Prober::Run(std::int64_t work, int threads, Budget& budget) {
  const Verdict verdict = RunLooks(work, threads, budget);
  // Threads are shared with other questions, so the memory of their looks is, too.
  if (looks_.size() > 1) looks_.resize(1);
  return verdict;
}

Prober::Verdict Prober::RunLooks(std::int64_t work, int threads, Budget& budget) {
  const std::int64_t work_end = work_ + work;
  for (bool is_long = true;;) {
    const std::int64_t before = work_;
    const std::vector<Op> next = Next(NumLooks(work));
    work_ += static_cast<std::int64_t>(instance_.num_ops);
    if (!budget.SpendWork(work_ - before)) return Verdict::kOpen;
    if (next.empty()) return Verdict::kStable;
    work = work_end - work_;
    if (work <= 0 || budget.Exhausted()) return Verdict::kOpen;
    const std::int64_t of_each =
        std::max<std::int64_t>(1, work / static_cast<std::int64_t>(next.size()));
    std::vector<Looked> looked(next.size());
    SideBySide looks(next.size(), next.size(), budget);
    looks.Run(is_long ? threads : 1, [&](std::size_t i, Budget& own) {
      const Op v = next[i];
      Lent lent(*this);
      looked[i] = lent.look().At(v, limit_, steps_[v], witnesses_[v], of_each, own);
      return looked[i].verdict == Verdict::kContradiction ? AfterTask::kEnd : AfterTask::kGoOn;
    });
    const std::int64_t looked_from = work_;
    for (std::size_t i = 0; i < next.size() && looks.counts(i); ++i) {
      if (!Take(next[i], looked[i])) return Verdict::kContradiction;
    }
    work = work_end - work_;
    is_long = work_ - looked_from > kWorkOfThreads;
  }
}

}  // namespace berth::internal::schedule
