#include "schedule/exact.h"

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>

#include "base/check.h"
#include "base/side_by_side.h"
#include "schedule/anneal.h"
#include "schedule/beam.h"
#include "schedule/bisect.h"
#include "schedule/cut.h"
#include "schedule/list.h"
#include "schedule/question.h"
#include "schedule/window.h"

namespace berth::internal::schedule {
namespace {

constexpr std::int64_t kFirstWork = 500'000;  // Of the first turn, in units of a few nanoseconds.

// From turns of this much work on, both questions are asked together.
constexpr std::int64_t kWorkOfTogether = 4'000'000;

// The chains of a run of annealing. Where cool ones do not leave a local minimum, hot ones do, but they lower the
// peak of most graphs later. On irregular graphs of 400 operators and width 32 the peak after 60,000 nodes is
// 4 % above the best bound known with these chains, 5 % with four of heat 1, and 7 % with a single one of the
// same work in all.
constexpr std::array kHeats = {1.0, 2.0, 4.0, 8.0};
constexpr std::size_t kChains = kHeats.size();
// Work of each run of annealing, in multiples of the work of a turn.
constexpr std::int64_t kAnnealingShare = 16;
// And at most this for each pair of operators: few operators have few orders.
constexpr std::int64_t kAnnealingOfPair = 500;
// Work on bisection, in multiples of the work of a turn.
constexpr std::int64_t kBisectingShare = 8;
// Of a large instance, the work of the first turn that refutes limits: orders come first.
constexpr std::int64_t kWorkBeforeRefuting = 8'000'000;
// In each of these turns it does so for this many windows.
constexpr std::size_t kRefutedWindows = 4;
// Two questions and that of bisection have a set of operators for each operator three times: those before, those
// after, and the least that witnesses take (schedule/probe.h). Bisection keeps those before and after for two more
// limits (schedule/bisect.h).
constexpr std::size_t kMatrices = 3 * 3 + 2 * 2;
// For the cuts of a large instance: of thousands that are close to the peak, mostly none or one of
// the first proves it.
constexpr std::int64_t kWorkOfCuts = 200'000'000;

// The pivots, in sequence: operators that every other one precedes or follows; the last operator
// always counts. Position p is a pivot if each earlier operator has a direct successor at p or
// before (so there is a path to p), and each later one a direct predecessor at p or after.
std::vector<Op> Pivots(const Instance& instance) {
  const std::size_t n = instance.num_ops;
  std::vector<bool> is_pivot(n, true);
  Op latest = 0;  // The largest first successor of the operators before.
  for (Op v = 0; v < n; ++v) {
    if (v > 0 && latest > v) is_pivot[v] = false;
    Op first = static_cast<Op>(n);
    for (const Op s : instance.successors[v]) first = std::min(first, s);
    latest = std::max(latest, first);
  }
  Op earliest = static_cast<Op>(n);
  for (std::size_t v = n; v-- > 0;) {
    if (earliest < v) is_pivot[v] = false;
    // An operator without predecessors depends on no earlier one.
    Op last = 0;
    bool any = false;
    for (const Op p : instance.predecessors[v]) {
      last = std::max(last, p);
      any = true;
    }
    if (!any && v > 0) {
      // So it follows no pivot.
      for (Op u = 0; u < v; ++u) is_pivot[u] = false;
      break;
    }
    if (any) earliest = std::min(earliest, last);
  }
  std::vector<Op> pivots;
  for (Op v = 0; v < n; ++v) {
    if (is_pivot[v] || v + 1 == n) pivots.push_back(v);
  }
  return pivots;
}

struct Cuts {
  Bytes bound = 0;
  std::vector<Op> largest_first;  // The operators whose cuts were made.
};

// Raises `bound` by the cuts of the operators whose step exceeds it in all orders known, largest
// first: a cut is never larger than a step. `steps` are the least steps known, by operator.
Cuts CutBound(const Instance& instance, const std::vector<Bytes>& steps, Bytes bound,
              std::int64_t most_work, SearchStats& stats, Budget& budget) {
  std::vector<Op> by_step;
  for (Op v = 0; v < instance.num_ops; ++v) {
    if (steps[v] > bound) by_step.push_back(v);
  }
  std::stable_sort(by_step.begin(), by_step.end(), [&](Op a, Op b) { return steps[a] > steps[b]; });
  Cut cut(instance);
  cut.SetBudget(budget);
  std::vector<std::pair<Bytes, Op>> cuts;
  for (const Op v : by_step) {
    if (steps[v] <= bound || cut.work() > most_work || !budget.SpendNode()) break;
    ++stats.cuts;
    cuts.emplace_back(cut.Solve(v, steps[v]), v);
    bound = std::max(bound, cuts.back().first);
  }
  std::stable_sort(cuts.begin(), cuts.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  Cuts result{bound, {}};
  for (const auto& [bytes, v] : cuts) result.largest_first.push_back(v);
  return result;
}

// A set of operators that every order runs contiguously.
class Segment {
 public:
  Segment(const Instance& whole, Op begin, Op end, Bytes peak, const ExactOptions& options,
          const ExactLimits& limits)
      : options_(options), limits_(limits), begin_(begin), peak_(peak), order_(end - begin) {
    std::iota(order_.begin(), order_.end(), Op{0});
    if (end - begin == whole.num_ops) {
      whole_ = &whole;
    } else {
      end_ = end;
    }
  }

  [[nodiscard]] Bytes peak() const { return peak_; }
  [[nodiscard]] Bytes bound() const { return bound_; }
  [[nodiscard]] bool exhausted() const { return exhausted_; }
  // Of the latest turn.
  [[nodiscard]] std::int64_t spent() const { return spent_; }
  void AppendTo(std::vector<Op>& order) const {
    for (const Op v : order_) order.push_back(begin_ + v);
  }

  // One turn of the search. No order of the whole instance has a peak below `floor`.
  void Advance(const Instance& whole, Bytes floor, SearchStats& stats, Budget& budget) {
    spent_ = work_;
    if (!started_) {
      Start(whole, floor, stats, budget);
      started_ = true;
      return;
    }
    if (IsLarge() && !looked_at_windows_) {
      LookAtWindows(floor, stats, budget);
      if (Bound(floor) >= peak_ || budget.Exhausted()) return;
      work_ *= 2;
      if (!looked_at_windows_) return;
      windows_.reset();
      exhausted_ = BytesOfMatrices() > limits_.most_bytes / 2;
      work_ = kFirstWork;
      return;
    }
    // Backwards only if the first questions did not settle it: it takes longer than they do.
    if (lower_ && options_.beam && options_.backwards && !looked_back_) {
      looked_back_ = true;
      const Bytes peak = peak_;
      RunBeam(Reversed(*whole_), true, floor, work_, stats, budget);
      if (peak_ < peak) RaiseBound(floor, stats, budget);
      if (Bound(floor) >= peak_) return;
    }
    // Annealing helps where graphs are wide, and bisection gets no further.
    bool moved = false;
    if (lower_ && options_.refuting) {
      moved = Bisect(floor, stats, budget);
      if (Bound(floor) >= peak_ || budget.Exhausted()) return;
    }
    if (lower_ && options_.annealing && !moved) {
      Anneal(floor, stats, budget);
      if (Bound(floor) >= peak_ || budget.Exhausted()) return;
    }
    PrepareLower(floor);
    // Few turns are that long; before, the answer to one question spares work on the other.
    if (work_ >= kWorkOfTogether) {
      PrepareHalf(floor);
      AskTogether(floor, stats, budget);
    } else {
      Ask({{&*lower_, work_, BytesOfLower()}}, floor, stats, budget);
      if (Bound(floor) < peak_ && !budget.Exhausted()) {
        PrepareHalf(floor);
        if (half_) Ask({{&*half_, work_ / 2, BytesOfHalf()}}, floor, stats, budget);
      }
    }
    exhausted_ = lower_->exhausted();
    work_ *= 2;
  }

 private:
  [[nodiscard]] Bytes Bound(Bytes floor) const { return std::max(floor, bound_); }

  void Start(const Instance& whole, Bytes floor, SearchStats& stats, Budget& budget) {
    if (whole_ == nullptr) {
      std::vector<Op> ops(order_.size());
      std::iota(ops.begin(), ops.end(), begin_);
      std::vector<Word> before(whole.words(), 0);
      for (Op v = 0; v < begin_; ++v) SetBit(before.data(), v);
      part_ = Restricted(whole, ops, before.data());
      whole_ = &part_;
    }
    (void)PeakOf(*whole_, order_, &least_steps_);
    if (options_.beam) {
      RunBeam(*whole_, false, floor, std::numeric_limits<std::int64_t>::max(), stats, budget);
      if (IsLarge()) RunBeam(Reversed(*whole_), true, floor, 0, stats, budget);
      looked_back_ = IsLarge();
    }
    RaiseBound(floor, stats, budget);
  }

  [[nodiscard]] bool IsLarge() const { return order_.size() > limits_.many_ops; }

  // Each run that lowers the peak is followed by one for less. A run is several chains from the best order;
  // the first one, in their sequence, that reaches the target ends those after it.
  void Anneal(Bytes floor, SearchStats& stats, Budget& budget) {
    if (chains_.empty()) chains_ = std::vector<Annealer>(kChains, Annealer(*whole_));
    const auto n = static_cast<std::int64_t>(order_.size());
    const std::int64_t work = std::min(kAnnealingShare * work_, kAnnealingOfPair * n * n);
    const int threads = work < kLeastWorkForThreads ? 1 : limits_.threads;
    std::vector<Op> best = order_;
    Bytes peak = peak_;
    for (bool better = true; std::exchange(better, false) && peak > Bound(floor);) {
      const Bytes step = std::max<Bytes>(1, std::min(peak / 64, (peak - Bound(floor)) / 4));
      SideBySide chains(kChains, kChains, budget);
      chains.Run(threads, [&](std::size_t i, Budget& own) {
        Annealer& chain = chains_[i];
        const Annealer::Cooling cooling{work / static_cast<std::int64_t>(kChains), runs_ + i,
                                        kHeats[i]};
        chain.Run(best, peak - step, cooling, own);
        return chain.peak() <= peak - step ? AfterTask::kEnd : AfterTask::kGoOn;
      });
      runs_ += kChains;
      spent_ += work;
      for (std::size_t i = 0; i < kChains; ++i) {
        if (!chains.counts(i) || chains_[i].peak() >= peak) continue;
        best = chains_[i].order();
        peak = chains_[i].peak();
        better = true;
      }
    }
    if (peak >= peak_) return;
    Offer(best);
    lower_->AddOrder(order_);
    RaiseBound(floor, stats, budget);
  }

  // True if that moved the best order or the bound.
  bool Bisect(Bytes floor, SearchStats& stats, Budget& budget) {
    if (!bisector_) bisector_.emplace(*whole_, options_);
    const std::int64_t before = bisector_->work();
    const Bytes lowest = Bound(floor);
    const Bytes bound = bisector_->Advance(
        {lowest, peak_, known_}, {kBisectingShare * work_, BytesOfHalf(), limits_.threads}, stats,
        budget);
    spent_ += bisector_->work() - before;
    if (bound > lowest) bound_ = bound;
    const bool found = !bisector_->order().empty();
    if (found) {
      Offer(bisector_->order());
      lower_->AddOrder(order_);
      RaiseBound(floor, stats, budget);
    }
    return found || bound > lowest;
  }

  // Searches the windows around the highest steps for a turn.
  void LookAtWindows(Bytes floor, SearchStats& stats, Budget& budget) {
    if (!windows_) windows_.emplace(*whole_, options_, order_, limits_.first_window);
    // Where the largest cuts are, the bound is often higher still. The first windows settle most.
    std::size_t left = work_ < kWorkBeforeRefuting ? 0 : kRefutedWindows;
    while (left > 0 && next_tight_ < tight_.size() && !budget.Exhausted()) {
      if (windows_->RaiseBoundAround(tight_[next_tight_++], Bound(floor), stats, budget)) --left;
    }
    looked_at_windows_ =
        !windows_->Advance(Bound(floor), work_, limits_.most_bytes, limits_.threads, stats, budget);
    bound_ = std::max(bound_, windows_->bound());
    if (windows_->peak() >= peak_) return;
    Offer(windows_->order());
    if (looked_at_windows_) RaiseBound(floor, stats, budget);
  }

  void RunBeam(const Instance& instance, bool reversed, Bytes floor, std::int64_t work,
               SearchStats& stats, Budget& budget) {
    const std::int64_t nodes = budget.nodes_spent();
    auto order =
        IsLarge()
            ? ListSchedule(instance, Bound(floor), budget)
            : Beam(instance, {1, Bound(floor), peak_ - 1, options_.dominance, false, work}, budget)
                  .order;
    stats.states += budget.nodes_spent() - nodes;
    if (!order) return;
    if (reversed) std::reverse(order->begin(), order->end());
    Offer(*order);
    if (lower_) lower_->AddOrder(*order);
  }

  void RaiseBound(Bytes floor, SearchStats& stats, Budget& budget) {
    if (!options_.cut_bound || Bound(floor) >= peak_) return;
    Cuts cuts =
        CutBound(*whole_, least_steps_, Bound(floor),
                 IsLarge() ? kWorkOfCuts : std::numeric_limits<std::int64_t>::max(), stats, budget);
    bound_ = cuts.bound;
    if (IsLarge() && tight_.empty()) tight_ = std::move(cuts.largest_first);
  }

  void Offer(const std::vector<Op>& order) {
    std::vector<Bytes> steps;
    const Bytes peak = PeakOf(*whole_, order, &steps);
    for (std::size_t v = 0; v < steps.size(); ++v) {
      least_steps_[v] = std::min(least_steps_[v], steps[v]);
    }
    if (!IsLarge()) known_.push_back(order);
    if (peak >= peak_) return;
    peak_ = peak;
    order_ = order;
  }

  void AddOrders(Question& question) const {
    question.AddOrder(order_);
    for (const auto& order : known_) {
      if (order != order_) question.AddOrder(order);
    }
  }

  // Is any lower peak possible?
  void PrepareLower(Bytes floor) {
    if (lower_) {
      lower_->LowerLimit(peak_ - 1);
    } else {
      lower_.emplace(*whole_, options_, floor, peak_ - 1);
      AddOrders(*lower_);
    }
  }
  // Is a peak half-way down to the bound possible?
  void PrepareHalf(Bytes floor) {
    if (!options_.bisection) return;
    const Bytes lowest = Bound(floor);
    if (half_ && (half_->limit() < lowest || half_->limit() + 1 >= peak_)) half_.reset();
    if (!grid_) grid_.emplace(*whole_);
    if (half_ || peak_ - lowest < 4 * grid_->unit()) return;
    half_.emplace(*whole_, options_, floor, grid_->LargestLike(lowest + (peak_ - lowest) / 2));
    AddOrders(*half_);
  }
  // Of the sets of operators for each operator.
  [[nodiscard]] std::size_t BytesOfMatrices() const {
    return kMatrices * whole_->num_ops * whole_->words() * sizeof(Word);
  }
  // Two searches of each question, and of bisection, have states at the same time.
  [[nodiscard]] std::size_t BytesOfLower() const {
    return (limits_.most_bytes - std::min(limits_.most_bytes / 2, BytesOfMatrices())) / 4;
  }
  [[nodiscard]] std::size_t BytesOfHalf() const { return BytesOfLower() / 2; }

  void AskTogether(Bytes floor, SearchStats& stats, Budget& budget) {
    std::vector<Asked> asked{{&*lower_, work_, BytesOfLower()}};
    if (half_) asked.push_back({&*half_, work_ / 2, BytesOfHalf()});
    Ask(asked, floor, stats, budget);
  }

  void Ask(const std::vector<Asked>& asked, Bytes floor, SearchStats& stats, Budget& budget) {
    const std::vector<Question::Answer> answers =
        AdvanceTogether(asked, limits_.threads, stats, budget);
    for (std::size_t k = 0; k < asked.size(); ++k) {
      bound_ = std::max(bound_, asked[k].question->lower_bound());
      if (answers[k] != Question::Answer::kFound) continue;
      Offer(asked[k].question->order());
      RaiseBound(floor, stats, budget);
      if (half_ && asked[k].question == &*half_) half_.reset();
    }
  }

  const ExactOptions& options_;
  const ExactLimits& limits_;
  Op begin_;
  Op end_ = 0;
  Bytes peak_;
  Bytes bound_ = 0;
  std::vector<Op> order_;               // Positions relative to begin_.
  std::vector<std::vector<Op>> known_;  // Orders found so far.
  std::vector<Bytes> least_steps_;      // By operator: the least in any of them.
  const Instance* whole_ = nullptr;
  Instance part_;
  bool started_ = false;
  bool looked_back_ = false;
  bool exhausted_ = false;
  std::int64_t work_ = kFirstWork;
  std::int64_t spent_ = 0;
  std::vector<Annealer> chains_;
  std::uint64_t runs_ = 1;  // Of chains so far: the seed of the next.
  std::optional<WindowSearch> windows_;
  std::vector<Op> tight_;  // Of a large instance: operators, those of the largest cuts first.
  std::size_t next_tight_ = 0;
  bool looked_at_windows_ = false;
  std::optional<PeakGrid> grid_;
  std::optional<Bisector> bisector_;
  std::optional<Question> lower_;  // About a peak one byte lower than the best,
  std::optional<Question> half_;   // and one half-way down to the bound.
};

}  // namespace

ExactResult SearchExactly(const Instance& instance, const ExactOptions& options,
                          const ExactLimits& limits,
                          const std::function<void(Bytes peak, Bytes bound)>& report,
                          SearchStats& stats, Budget& budget) {
  ExactResult result;
  const std::size_t n = instance.num_ops;
  std::vector<Op> program(n);
  std::iota(program.begin(), program.end(), Op{0});
  std::vector<Bytes> steps;
  const Bytes program_peak = PeakOf(instance, program, &steps);
  // The bytes live before and after all operators are the same in every order.
  Bytes floor = std::max({limits.floor, LiveAtStart(instance), LiveAtEnd(instance)});
  if (n == 0) {
    result.peak = result.lower_bound = program_peak;
    return result;
  }
  std::vector<std::unique_ptr<Segment>> segments;
  Op begin = 0;
  const std::vector<Op> pivots =
      options.segments ? Pivots(instance) : std::vector<Op>{static_cast<Op>(n - 1)};
  for (const Op pivot : pivots) {
    const Op end = pivot + 1;
    const Bytes peak = *std::max_element(steps.data() + begin, steps.data() + end);
    if (end - begin == 1) floor = std::max(floor, peak);
    segments.push_back(std::make_unique<Segment>(instance, begin, end, peak, options, limits));
    begin = end;
  }
  stats.segments = static_cast<std::int64_t>(segments.size());

  std::int64_t work = 0;
  Bytes reported_peak = 0;
  Bytes reported_bound = -1;
  for (;;) {
    Segment* worst = segments.front().get();
    for (const auto& segment : segments) {
      floor = std::max(floor, segment->bound());
      if (segment->peak() > worst->peak()) worst = segment.get();
    }
    result.peak = std::max(worst->peak(), LiveAtStart(instance));
    result.lower_bound = std::min(floor, result.peak);
    if (report && (result.peak != reported_peak || result.lower_bound != reported_bound)) {
      report(result.peak, result.lower_bound);
      reported_peak = result.peak;
      reported_bound = result.lower_bound;
    }
    if (result.peak <= floor || budget.Exhausted()) break;
    if (work >= limits.most_work || worst->exhausted()) {
      result.out_of_work = true;
      break;
    }
    worst->Advance(instance, floor, stats, budget);
    work += worst->spent();
  }
  for (const auto& segment : segments) segment->AppendTo(result.order);
  return result;
}

}  // namespace berth::internal::schedule
