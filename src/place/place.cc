// The door: chooses among the strategies and combines what they find. The only file that sees them
// all.
//
// kAuto tries cheap methods first and stops as soon as the question is answered: bounds; the plan
// that the hints make; one greedy algorithm and a brief exact search, where a capacity is given and
// the table is small; the greedy portfolio, and repair of its plan where that is large; exact
// search, in turns with repair where it takes long. Small tables are decided in milliseconds; on
// very large ones the exact search is left out, as one dive through it would cost more than it
// finds.

#include "berth/place.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "base/check.h"
#include "berth/prove.h"
#include "model/answer.h"
#include "model/heights.h"
#include "model/instance.h"
#include "place/engines.h"
#include "place/exact.h"
#include "place/greedy/greedy.h"
#include "place/greedy/improve.h"
#include "place/greedy/shelves.h"
#include "place/incumbent.h"
#include "place/minimize.h"
#include "place/options.h"

namespace berth {
namespace internal {
namespace {

// Without any limit from the caller, minimising stops after this many elementary steps of exact
// search: some tenths of a second.
constexpr std::int64_t kDefaultEffort = 200'000'000;
constexpr std::int64_t kNoNodeLimit = std::numeric_limits<std::int64_t>::max();

// With a capacity and at most kFewBuffers buffers, kAuto begins with kBriefEffort elementary steps
// of exact search: about 20 milliseconds, which often settle it.
constexpr std::size_t kFewBuffers = 1000;
constexpr std::int64_t kBriefEffort = 20'000'000;

// kAuto leaves tables with more meeting pairs than this (counted twice) to the greedy algorithms.
constexpr std::int64_t kMaxOverlaps = 10'000'000;

// Smaller tables are left to exact search at once: it finds lower plans in less time.
constexpr std::size_t kMinImproved = 1000;
constexpr std::int64_t kNoEffortLimit = std::numeric_limits<std::int64_t>::max();

// Exact search is alone for so many elementary steps, some 40 ms. Then repair takes turns with it.
constexpr std::int64_t kEffortBeforeRepair = 40'000'000;
// A look at a neighbour by repair takes as long as so many elementary steps.
constexpr std::int64_t kStepsOfLook = 25;
// Where a capacity is asked for, repair has this part of the effort of the search before it.
constexpr std::int64_t kSearchForRepair = 4;

// What follows a search, a first plan at need and the check of the answer, takes at most this many
// times as long as to check and to compile the problem.
constexpr int kChecksAfterSearch = 3;

// The hints as a plan, if every buffer without a pin has one and together they work.
void OfferHints(const Problem& problem, Incumbent& incumbent) {
  Placement plan;
  for (const Buffer& buffer : problem.buffers) {
    const auto& wanted = buffer.offset ? buffer.offset : buffer.hint;
    if (!wanted) return;
    plan.offsets.push_back(*wanted);
  }
  plan.height = Height(problem, plan.offsets);
  if (ValidateOffsets(problem, plan)) incumbent.Offer(std::move(plan.offsets), "hints");
}

class Placer {
 public:
  Placer(const Problem& problem, Instance instance, const LoadBound& load,
         const PlaceOptions& options, bool wants_core, Budget& budget)
      : problem_(problem),
        options_(options),
        engines_(EngineOptionsOf(options)),
        budget_(budget),
        instance_(std::move(instance)),
        load_(load),
        incumbent_(problem, load_.lower_bound, options.progress, budget),
        minimize_(options.minimize || !problem.capacity),
        enough_(minimize_ ? 0 : *problem.capacity),
        wants_core_(wants_core) {}

  void Run() {
    if (budget_.cancelled()) return;
    switch (options_.algorithm) {
      case Algorithm::kAuto:
        return RunAuto();
      case Algorithm::kGreedy:
        RunGreedyPortfolio();
        return Improve(budget_.has_time_limit() ? kNoEffortLimit : BriefEffort());
      default:
        if (FindEngine(options_.algorithm) == nullptr) return OfferGreedy(options_.algorithm);
        RunExact();
    }
  }

  [[nodiscard]] StopReason stopped() {
    if (Answered()) return StopReason::kAnswered;
    if (stopped_ == StopReason::kAnswered && budget_.Exhausted()) return StopReason::kBudget;
    return stopped_ == StopReason::kAnswered ? StopReason::kAlgorithm : stopped_;
  }

  [[nodiscard]] const Incumbent& incumbent() const { return incumbent_; }
  [[nodiscard]] Bytes load() const { return load_.load; }
  [[nodiscard]] const SearchStats& stats() const { return stats_; }
  [[nodiscard]] const std::vector<std::size_t>& core() const { return core_; }

 private:
  // True once the question is answered: there is a plan that fits and, if asked for, no lower one;
  // or none can fit.
  [[nodiscard]] bool Answered() const {
    return IsLowEnough() || (Impossible() && !options_.minimize_if_infeasible);
  }
  // Proved: no plan fits.
  [[nodiscard]] bool Impossible() const {
    return problem_.capacity && incumbent_.lower_bound() > *problem_.capacity;
  }
  // What is asked for is the lowest plan.
  [[nodiscard]] bool Minimizing() const {
    return minimize_ || (Impossible() && options_.minimize_if_infeasible);
  }

  [[nodiscard]] bool IsLowEnough() const {
    return incumbent_.is_optimal() || incumbent_.height() <= enough_;
  }
  [[nodiscard]] bool Done() { return Answered() || budget_.Exhausted(); }

  void RunAuto() {
    OfferHints(problem_, incumbent_);
    if (IsLowEnough()) return;
    std::optional<ExactSearch> search;
    if (problem_.capacity && instance_.num_buffers() <= kFewBuffers && !Done()) {
      // One look each by the cheapest and by the strongest, before all of them get their turn.
      OfferGreedy(Algorithm::kContention);
      if (IsLowEnough()) return;
      search.emplace(instance_, Algorithm::kAuto, engines_, options_.seed, budget_);
      if (!search->too_large()) (void)Decide(*search, kBriefEffort / search->node_cost(), false);
      if (IsLowEnough()) return;
    }
    // Also where nothing can fit: what would is good to know.
    RunGreedyPortfolio();
    if (Done()) return;
    const bool too_large = CountOverlaps(instance_) > kMaxOverlaps;
    if (instance_.num_buffers() >= kMinImproved || too_large) {
      Improve(too_large && budget_.has_time_limit() ? kNoEffortLimit : BriefEffort());
      if (Done()) return;
    }
    if (too_large) {
      stopped_ = StopReason::kSize;
      return;
    }
    if (!search) search.emplace(instance_, Algorithm::kAuto, engines_, options_.seed, budget_);
    if (search->too_large()) {
      stopped_ = StopReason::kSize;
      return;
    }
    const bool unlimited = !budget_.has_time_limit() && !budget_.has_node_limit();
    if (problem_.capacity) DecideByTurns(*search);
    if (!Minimizing() || Answered()) return;
    const bool more_might_help =
        Minimize(QuestionsAndRepair(*search), incumbent_,
                 unlimited ? kDefaultEffort / search->node_cost() : kNoNodeLimit, budget_);
    if (more_might_help && unlimited && !budget_.cancelled()) stopped_ = StopReason::kEffort;
  }

  // One of the exact searches alone; only minimising needs a plan to begin with.
  void RunExact() {
    if (options_.algorithm == Algorithm::kGuided && engines_.guided.heuristic_first) {
      OfferGreedy(Algorithm::kContention);
    }
    ExactSearch search(instance_, options_.algorithm, engines_, options_.seed, budget_);
    if (search.too_large()) stopped_ = StopReason::kSize;
    if (problem_.capacity) (void)Decide(search, kNoNodeLimit, true);
    if (!incumbent_.has_plan()) RunGreedyPortfolio();
    if (Minimizing() && !search.too_large() && !Done()) {
      (void)Minimize(Questions(search, false), incumbent_, kNoNodeLimit, budget_);
    }
    stats_ = search.stats();
  }

  // Each question at another capacity starts a search anew. Where `keeps_bound`, a second search is
  // for the bound alone, which is asked about again and again, often with the answer that settles
  // everything: it goes on where it left off.
  [[nodiscard]] Decider Questions(ExactSearch& search, bool keeps_bound) {
    return {Heights(instance_, incumbent_.height()), search.dive_nodes(),
            [&search, keeps_bound, this](Bytes capacity, std::int64_t node_limit) {
              asked_ = &search;
              if (keeps_bound && capacity == incumbent_.lower_bound()) {
                if (!bound_search_) {
                  bound_search_.emplace(instance_, Algorithm::kAuto, engines_, options_.seed,
                                        budget_);
                }
                asked_ = &*bound_search_;
              }
              return asked_->Decide({capacity, node_limit, incumbent_.offsets()}, budget_);
            },
            [this] { return Info(asked_->last()).name; }};
  }
  [[nodiscard]] Decider QuestionsAndRepair(ExactSearch& search) {
    Decider questions = Questions(search, instance_.num_buffers() <= kFewBuffers);
    const std::int64_t alone = budget_.nodes_spent() + kEffortBeforeRepair / search.node_cost();
    questions.repair = [this, alone, cost = search.node_cost()](std::int64_t nodes) {
      if (budget_.nodes_spent() >= alone) Improve(LooksFor(nodes, cost));
    };
    return questions;
  }

  // Is there a plan within the capacity? Asked with more and more nodes, and repair in between.
  void DecideByTurns(ExactSearch& search) {
    std::int64_t nodes = std::max<std::int64_t>(1, kEffortBeforeRepair / search.node_cost());
    while (Decide(search, nodes, true) && !Done()) {
      Improve(LooksFor(nodes / kSearchForRepair, search.node_cost()));
      nodes = nodes < kNoNodeLimit / 2 ? 2 * nodes : kNoNodeLimit;
    }
  }

  // Is there a plan within the capacity? Asked `exactly`: no higher than plans can be. True if the
  // search gave up for want of nodes.
  bool Decide(ExactSearch& search, std::int64_t node_limit, bool exactly) {
    if (Answered() || Impossible() || incumbent_.height() <= *problem_.capacity) return false;
    Bytes capacity = *problem_.capacity;
    // All sums of sizes take longer than many a search: no more of them than are needed.
    if (exactly && capacity > incumbent_.lower_bound()) {
      capacity = std::max(Heights::UntilPossible(instance_, capacity).AtMost(capacity),
                          incumbent_.lower_bound());
    }
    SearchAnswer answer =
        search.Decide({capacity, node_limit, incumbent_.offsets(), wants_core_}, budget_);
    if (answer.verdict == SearchAnswer::Verdict::kFound) {
      incumbent_.Offer(std::move(answer.offsets), Info(search.last()).name);
    } else if (answer.verdict == SearchAnswer::Verdict::kImpossible) {
      Bytes refuted = *problem_.capacity + 1;
      if (exactly) refuted = Heights::UntilPossible(instance_, refuted).AtLeast(refuted);
      incumbent_.RaiseBound(std::min(refuted, incumbent_.height()));
      core_ = std::move(answer.core);
    }
    return answer.verdict == SearchAnswer::Verdict::kGaveUp && answer.nodes >= node_limit / 2;
  }

  void RunGreedyPortfolio() {
    std::optional<greedy::GreedyAnswer> answer = greedy::PlaceGreedyPortfolio(
        problem_, instance_, std::max(incumbent_.lower_bound(), enough_), options_.threads,
        budget_);
    if (answer) incumbent_.Offer(std::move(answer->offsets), Info(answer->algorithm).name);
  }

  // What repairing a plan may cost by default, in looks at neighbours of some 30 ns: 10 ms for 150
  // buffers, 0.2 s for 100,000, 1 s for a million.
  [[nodiscard]] std::int64_t BriefEffort() const {
    const auto n = static_cast<std::int64_t>(instance_.num_buffers());
    return std::min(2000 * n, 3'000'000 + 30 * n);
  }

  // What repair may cost to take as long as `nodes` of exact search.
  [[nodiscard]] static std::int64_t LooksFor(std::int64_t nodes, std::int64_t node_cost) {
    if (nodes > kNoEffortLimit / node_cost) return kNoEffortLimit;
    return std::max<std::int64_t>(1, nodes * node_cost / kStepsOfLook);
  }

  // Repairs the best plan until it is low enough, or the effort or the time is spent.
  void Improve(std::int64_t effort) {
    if (!incumbent_.has_plan() || Answered() || budget_.TimeIsUp()) return;
    std::vector<Bytes> offsets = *incumbent_.offsets();
    greedy::ImprovePlan(
        instance_, std::max(incumbent_.lower_bound(), enough_), effort, options_.seed + repairs_++,
        options_.threads, [this] { return budget_.TimeIsUp(); }, offsets);
    incumbent_.Offer(std::move(offsets), Info(Algorithm::kGreedy).name);
  }

  // By one algorithm; where time ends before it has a plan, a plan that takes no time.
  void OfferGreedy(Algorithm algorithm) {
    auto offsets = greedy::PlaceGreedy(instance_, algorithm, [this] {
      return instance_.num_buffers() > kFewBuffers && budget_.TimeIsUp();
    });
    if (offsets) {
      incumbent_.Offer(std::move(*offsets), Info(algorithm).name);
    } else {
      incumbent_.Offer(greedy::PlaceOnShelves(instance_), Info(Algorithm::kGreedy).name);
    }
  }

  const Problem& problem_;
  const PlaceOptions& options_;
  const EngineOptions engines_;
  Budget& budget_;
  const Instance instance_;
  const LoadBound load_;
  Incumbent incumbent_;
  SearchStats stats_;
  StopReason stopped_ = StopReason::kAnswered;  // Until some other reason is known.
  const bool minimize_;
  const Bytes enough_;  // A plan of this height ends the search.
  const bool wants_core_;
  std::vector<std::size_t> core_;  // See SearchAnswer::core.
  std::uint64_t repairs_ = 0;      // Each draws other numbers.
  std::optional<ExactSearch> bound_search_;
  ExactSearch* asked_ = nullptr;  // The last question while minimising.
};

using Core = std::optional<std::vector<std::size_t>>;

// Searches, and leaves in `answer` what is known. `begin`: of all that precedes the search. `core`:
// nullptr where it is not wanted.
void SearchPlan(const Problem& problem, const PlaceOptions& options,
                Budget::Clock::time_point begin, Budget& budget, PlanAnswer& answer, Core* core) {
  const auto gives_up = [&] {
    return budget.cancelled() && problem.buffers.size() > kMostAfterCancel;
  };
  answer.stopped = StopReason::kBudget;
  if (gives_up()) return;
  Instance instance = Compile(problem);
  const std::chrono::duration<double> compiled = Budget::Clock::now() - begin;
  if (gives_up()) return;
  const LoadBound load = MaxLiveLoad(problem, instance);
  Placer placer(problem, std::move(instance), load, options, core != nullptr, budget);
  {
    const TimeKept kept(budget, kChecksAfterSearch * compiled.count());
    placer.Run();
  }
  const Incumbent& incumbent = placer.incumbent();
  answer.outcome = incumbent.outcome();
  answer.height_bound = incumbent.lower_bound();
  answer.stopped = placer.stopped();
  answer.placing.stats = placer.stats();
  if (core != nullptr && !placer.core().empty()) *core = placer.core();
  if (!incumbent.has_plan()) return;
  const Placement placement{*incumbent.offsets(), incumbent.height()};
  BERTH_CHECK(ValidateOffsets(problem, placement).has_value());
  BERTH_CHECK(answer.height_bound <= placement.height);
  answer.best = PlanOf(problem, placement.offsets, placer.load());
  answer.placing.algorithm = incumbent.finder();
}

Result<PlanAnswer> PlaceProblem(const Problem& problem, const PlaceOptions& options, Budget& budget,
                                Core* core) {
  const auto begin = Budget::Clock::now();
  if (auto valid = ValidateOptions(options); !valid) return tl::unexpected(valid.error());
  if (auto valid = Validate(problem); !valid) return tl::unexpected(valid.error());
  const std::int64_t nodes_before = budget.nodes_spent();
  PlanAnswer answer;
  answer.capacity = problem.capacity;
  if (!CollidingPins(problem)) {
    SearchPlan(problem, options, begin, budget, answer, core);
  } else {
    answer.outcome = Outcome::kInfeasible;
    answer.height_bound = MaxLiveLoad(problem).lower_bound;
  }
  FinishPlacing(budget.nodes_spent() - nodes_before, begin, answer);
  return answer;
}

}  // namespace

}  // namespace internal

Result<PlanAnswer> Place(const Problem& problem, const PlaceOptions& options, Budget& budget) {
  return internal::PlaceProblem(problem, options, budget, nullptr);
}

Result<PlanAnswer> PlaceWithCore(const Problem& problem, const PlaceOptions& options,
                                 Budget& budget, std::optional<std::vector<std::size_t>>& core) {
  core.reset();
  return internal::PlaceProblem(problem, options, budget, &core);
}

}  // namespace berth
