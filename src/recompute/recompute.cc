// PlanWithRecomputation(): which searches run, in which order, and when they end.
//
// An order whose peak fits needs nothing. Small graphs are searched exactly (exact.h). Otherwise, with a free
// order, sequences are first changed at random for a while (improve.h). Then, for each known order: the best
// choice of gaps at the least that dropping can cost (gaps.h), which is a bound for that order; its sequence
// (realise.h), repaired where it exceeds the capacity and pruned; choices at what dropping has really cost,
// as long as that finds better sequences, and some at random; and sequences that make room step by step
// (evict.h). The best sequences are then changed at random until the budget ends. A first good sequence is
// placed early: where it has no addresses, all this is done with less memory. Sequences without addresses
// have their executions moved, so that the memory is full in fewer steps; then the search runs again with
// less memory still, or with more.
//
// Without a limit the searches end when a default effort is spent, which counts executions, not time:
// the answer is the same on every machine.

#include "berth/recompute.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/gap.h"
#include "base/random.h"
#include "base/text.h"
#include "base/try.h"
#include "base/wide.h"
#include "graph/plan.h"
#include "recompute/bound.h"
#include "recompute/entry.h"
#include "recompute/evict.h"
#include "recompute/exact.h"
#include "recompute/gaps.h"
#include "recompute/groups.h"
#include "recompute/improve.h"
#include "recompute/model.h"
#include "recompute/realise.h"
#include "recompute/sequence.h"

namespace berth {
namespace internal::recompute {
namespace {

constexpr std::int64_t kNoCost = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kDefaultWork = 3'000'000'000;
// With more gaps the choice is greedy.
constexpr std::size_t kMostChosen = 50'000;
constexpr std::size_t kMostChosenAtRandom = 5'000;
constexpr int kMostRounds = 100;
constexpr int kMostStale = 4;  // In a row without a better sequence; then at random.
constexpr int kMostStaleAtRandom = 25;
constexpr double kMostDisturbed = 0.5;  // Of a price.
// Without a limit: trials without a better sequence, at least, and for each operator.
constexpr std::int64_t kPatience = 20'000;
constexpr std::int64_t kPatienceForEach = 500;
constexpr std::size_t kMostExactOperators = 24;
constexpr std::size_t kMostExactStorages = 100;
constexpr std::size_t kMostExactStates = 200'000;
// Of a placement as it is, of one whose executions were moved for it (without a time limit, and with one),
// of one among many that is better than the only one so far, and of all of them.
constexpr std::int64_t kNodesOfPlacing = 30'000;
constexpr std::int64_t kNodesOfPlacingCalmed = 60'000;
constexpr std::int64_t kMostNodesOfPlacing = 1'000'000;
constexpr std::int64_t kNodesOfPlacingBetween = 4'000;
constexpr std::int64_t kNodesOfAllPlacing = 4'000'000;
// Ways of the first search, each with its share of the time that is left to it, and without a limit its part
// of the work: bounds by cuts, room made step by step, by so many rules, changes at random before the choice
// of gaps (more where the capacity has been reduced), all orders, and groups of operators.
constexpr double kShareOfCuts = 0.3;
constexpr std::int64_t kPartOfCuts = 32;
constexpr double kShareOfEviction = 0.1;
constexpr std::int64_t kPartOfEviction = 32;
constexpr std::size_t kMostRules = 200;
constexpr std::size_t kRulesWithoutLimit = 16;
constexpr double kShareOfExchange = 0.1;
constexpr double kShareOfExchangeWithLess = 0.4;
constexpr std::int64_t kPartOfExchange = 8;
constexpr double kShareOfOrders = 0.7;
constexpr double kShareOfGroups = 0.5;
// And to place its first good sequence, in so many attempts with a share of that each.
constexpr double kShareOfProbe = 0.6;
constexpr std::uint64_t kMostProbed = 2;
constexpr double kShareOfProbed = 0.55;
// Of all the time that is left: the first search, each one with less memory, and each of at most
// kMostRoundsOn that go on from a plan.
constexpr double kShareOfFirst = 0.4;
constexpr double kShareOfOthers = 0.2;
constexpr double kShareOfOn = 0.6;
constexpr int kMostRoundsOn = 6;
// The same to place what a search has found, of that to place one sequence as it is or moved, and what has
// failed once more: between searches, and at last so many times.
constexpr double kShareOfAllPlacing = 0.4;
constexpr double kShareOfPlacing = 0.9;
constexpr double kShareOfPlacingAgain = 0.2;
constexpr double kShareOfPlacingAtLast = 0.5;
constexpr int kMostPlacedAgain = 4;
// Sequences whose executions are moved for their addresses: tries for one, its part of the time for all,
// and the part of that for the moves.
constexpr std::uint64_t kMostCalmed = 2;
constexpr double kShareOfCalmed = 0.45;
constexpr double kShareOfCalming = 0.4;
constexpr std::size_t kMostPlaced = 2;
// Times the cost of the best: pruning does not make up the first, and a search whose sequences cost more
// than the second ends.
constexpr int kHopeless = 8;
constexpr int kFarFromBest = 2;
// Once the budget has ended, the best sequence still gets a first placement.
constexpr std::int64_t kNodesThatMustBe = 1000;
constexpr std::size_t kManyBuffers = 4096;
constexpr double kSecondsThatMustBe = 0.05;
constexpr EvictionRule kEvictionRules[] = {{1, true}, {1, false}, {0.5, true}, {2, true}};
// Less memory to search for, in ten-thousandths, where the best sequence has no addresses; and how near the
// most with which it has none and the least with which it has some come: by that, or by one part in
// kNearestPart of the latter.
constexpr int kTighter[] = {25, 50, 100, 200, 400, 700, 1000};
constexpr int kNearest = 5;
constexpr int kNearestPart = 4;
// The same for the first search, where the first good sequence has none: at least, and at most.
constexpr int kLeastReduced = 50;
constexpr int kMostReduced = 200;

struct Found {
  Sequence sequence;
  std::int64_t cost = 0;
  int tries = 0;  // To place it again.
};

class Planner {
 public:
  Planner(const Graph& graph, const RecomputeOptions& options, std::int64_t known_bound,
          Budget& budget)
      : graph_(graph),
        options_(options),
        budget_(budget),
        model_(Compile(graph, options.counting, options.link)),
        orders_(options.orders),
        bound_(known_bound) {
    if (orders_.empty()) orders_.push_back(ProgramOrder(graph));
    if (options.fixed_order) orders_.resize(1);
    limited_ = budget.has_time_limit();
    work_.left = limited_ ? std::numeric_limits<std::int64_t>::max() / 2 : kDefaultWork;
  }

  Result<PlanAnswer> Run() {
    const auto begin = Budget::Clock::now();
    const std::int64_t nodes_before = budget_.nodes_spent();
    PlanAnswer answer;
    answer.capacity = options_.capacity;
    answer.recomputes = true;
    answer.spills = model_.linked;
    answer.fixed_order = options_.fixed_order;
    answer.least = {0, model_.always_live};
    for (Op v = 0; v < model_.num_operators(); ++v) {
      const Bytes need = model_.NeedOf(v);
      if (need > answer.least.bytes) answer.least = {v, need};
    }
    infeasible_ = answer.least.bytes > options_.capacity;
    if (!infeasible_) {
      Begin(answer);
      BERTH_TRY(Search(answer));
    }
    Conclude(answer);
    answer.nodes = budget_.nodes_spent() - nodes_before;
    answer.seconds = std::chrono::duration<double>(Budget::Clock::now() - begin).count();
    answer.spilling = {answer.outcome, answer.stopped, "recompute",
                       answer.nodes,   answer.seconds, {}};
    AdmitUnsized(graph_, options_.counting, answer);
    return answer;
  }

 private:
  // All operators, or groups of them.
  [[nodiscard]] const Model& searched() const {
    return groups_ != nullptr ? groups_->model : model_;
  }
  [[nodiscard]] Improver MakeImprover(Bytes capacity, std::uint64_t seed, Budget& budget) {
    return {searched(), capacity, options_.fixed_order, seed, work_, budget};
  }
  [[nodiscard]] std::int64_t best_cost() const { return best_ ? best_->cost : kNoCost; }
  [[nodiscard]] bool Ended() { return work_.spent() || search_->Exhausted(); }
  [[nodiscard]] std::int64_t Patience() const {
    if (limited_) return kNoCost;
    return std::max(kPatience,
                    kPatienceForEach * static_cast<std::int64_t>(model_.num_operators()));
  }
  // The most that a plan may cost to be as near to the bound as was asked for.
  [[nodiscard]] std::int64_t Enough() const { return MostWithin(bound_, options_.gap); }
  [[nodiscard]] std::int64_t BestSearched() const {
    const std::optional<Found>& best = groups_ != nullptr ? best_grouped_ : best_;
    return best ? best->cost : kNoCost;
  }
  // Other ways find much cheaper sequences than one of this cost.
  [[nodiscard]] bool IsFar(std::int64_t cost) const { return cost / kFarFromBest > BestSearched(); }
  // A sequence that costs more than this before it fits is not worth completing.
  [[nodiscard]] std::int64_t Hopeless() const {
    return best_cost() < kMostCost / kHopeless ? best_cost() * kHopeless : kMostCost;
  }
  [[nodiscard]] bool IsEnough() const { return best_cost() <= Enough(); }

  void Report() const {
    if (!options_.progress) return;
    const auto best = best_ ? std::optional<Bytes>(best_->cost) : std::nullopt;
    options_.progress({best, std::min(bound_, best_cost()), budget_.nodes_spent()});
  }
  void Prove(std::int64_t bound) {
    if (bound <= bound_) return;
    bound_ = bound;
    Report();
  }
  // `sequence` is one of the model that is searched. What it costs; kNoCost if it does not fit.
  std::int64_t Offer(const Sequence& sequence, Bytes capacity) {
    const Measure measure = Measurer(searched(), capacity).Of(sequence);
    if (!measure.fits()) return kNoCost;
    if (groups_ != nullptr) {
      if (!best_grouped_ || measure.cost < best_grouped_->cost) {
        best_grouped_ = Found{sequence, measure.cost};
      }
      OfferUngrouped(sequence, capacity);
    } else if (measure.cost < best_cost()) {
      best_ = Found{sequence, measure.cost};
      found_.push_back(*best_);
      Report();
    }
    return measure.cost;
  }
  // Members of groups that need not run again are taken out.
  void OfferUngrouped(const Sequence& sequence, Bytes capacity) {
    const std::vector<Op> order(orders_.front().begin(), orders_.front().end());
    Sequence all = Ungroup(model_, *groups_, sequence, options_.fixed_order ? &order : nullptr);
    const Groups* const groups = std::exchange(groups_, nullptr);
    Improver improver = MakeImprover(capacity, options_.seed, *search_);
    if (!options_.fixed_order || improver.Repair(all)) {
      improver.Prune(all);
      Offer(all, capacity);
    }
    groups_ = groups;
  }

  // The plan of a sequence, without addresses.
  [[nodiscard]] MemoryPlan MakePlan(const Sequence& sequence) const {
    MemoryPlan plan = PlanOf(model_, sequence);
    const Traffic compulsory = CompulsoryTraffic(graph_, options_.counting);
    plan.traffic.compulsory_in = compulsory.compulsory_in;
    plan.traffic.compulsory_out = compulsory.compulsory_out;
    StateUse(graph_, plan);
    return plan;
  }

  // The cheapest of the plans to start from, where it has addresses.
  void Begin(PlanAnswer& answer) const {
    if (!model_.linked) return;
    for (const MemoryPlan& known : options_.plans) {
      const Sequence sequence = SequenceOf(model_, known);
      MemoryPlan plan = MakePlan(sequence);
      if (!Measurer(model_, options_.capacity).Of(sequence).fits()) continue;
      if (!known.addressed || known.height() > options_.capacity) continue;
      if (answer.best && answer.best->overhead() <= plan.overhead()) continue;
      if (!TakeOffsets(known, plan)) continue;
      plan.addressed = true;
      StateUse(graph_, plan);
      answer.best = std::move(plan);
    }
  }

  // Each residency of `plan` gets the offset of the one of `known` that it is part of.
  static bool TakeOffsets(const MemoryPlan& known, MemoryPlan& plan) {
    std::size_t k = 0;
    for (Residency& residency : plan.residencies) {
      const auto before = [&](const Residency& other) {
        return other.tensor < residency.tensor ||
               (other.tensor == residency.tensor && other.end < residency.end);
      };
      while (k < known.residencies.size() && before(known.residencies[k])) ++k;
      if (k == known.residencies.size()) return false;
      const Residency& other = known.residencies[k];
      if (other.tensor != residency.tensor || other.start > residency.start) return false;
      residency.offset = other.offset;
    }
    return true;
  }

  Result<void> Search(PlanAnswer& answer) {
    {
      Budget part(budget_, kShareOfFirst);
      search_ = &part;
      BERTH_TRY(FindSequences(answer));
      out_of_budget_ = out_of_budget_ || part.Exhausted();
      search_ = nullptr;
    }
    if (!best_ && !unplaced_.empty()) {  // With less memory nothing was found.
      best_ = unplaced_.front();
      found_ = {*first_, *best_};
      less_ = 0;
      unplaced_.clear();
    }
    if (!best_ && !infeasible_ && MayChangeFurther()) {
      ChangeFurther(Lowest(KnownOrders(), options_.capacity), kNoCost);  // Until something fits.
    }
    if (!best_) return {};
    if (!BERTH_TRY(PlaceBest(answer))) return SearchWithLess(answer);
    return less_ > 0 ? Approach(0, less_, answer) : GoOn(answer);
  }

  // Offsets for the best sequence, or for one that costs more. True if the plan of `answer` then costs no
  // more than the best.
  Result<bool> PlaceBest(PlanAnswer& answer) {
    const std::int64_t cost = best_->cost;
    lowest_ = kMaxBytes;
    Budget part(budget_, kShareOfAllPlacing);
    Found best = *best_;
    BERTH_TRY(PlaceFound(part, answer));
    if (answer.best && answer.best->overhead() <= cost) {
      placed_ = std::move(best);
      return true;
    }
    unplaced_.push_back(std::move(best));
    return false;
  }

  // What the lowest offsets exceed the capacity by; 0 if there are none.
  [[nodiscard]] Bytes LowestExcess() const {
    return lowest_ == kMaxBytes ? 0 : std::max<Bytes>(lowest_ - options_.capacity, 0);
  }

  // The best sequence has no offsets: the least reduction with which there are some.
  Result<void> SearchWithLess(PlanAnswer& answer) {
    int without = less_;
    for (const int less : kTighter) {
      if (budget_.Exhausted()) return {};
      if (less <= without) continue;
      // Without a plan, four fifths of what the lowest offsets exceed the capacity by is the least to take
      // away further.
      const Wide further = Wide{LowestExcess()} * 8'000;
      if (!answer.best && less < kTighter[std::size(kTighter) - 1] &&
          Wide{less - without} * options_.capacity < further) {
        continue;
      }
      const std::optional<bool> placed = BERTH_TRY(PlaceWithLess(less, answer));
      if (!placed) break;
      if (*placed) return Approach(without, less, answer);
      without = less;
    }
    return PlaceAgainAtLast(answer);
  }

  // With a reduction of `with` there are offsets, with one of `without` there are none.
  Result<void> Approach(int without, int with, PlanAnswer& answer) {
    while (with - without > std::max(kNearest, with / kNearestPart) &&
           answer.best->overhead() > Enough() && MayChangeFurther()) {
      BERTH_TRY(PlaceAgain(kShareOfPlacingAgain, answer));
      const int middle = without + (with - without) / 2;
      const std::optional<bool> placed = BERTH_TRY(PlaceWithLess(middle, answer));
      if (!placed) break;
      (*placed ? with : without) = middle;
    }
    return PlaceAgainAtLast(answer);
  }

  Result<void> PlaceAgainAtLast(PlanAnswer& answer) {
    for (int k = 0; k < kMostPlacedAgain; ++k) BERTH_TRY(PlaceAgain(kShareOfPlacingAtLast, answer));
    return {};
  }

  // In part of the time: a sequence that has no offsets and costs less than the plan, with its executions
  // moved differently. The one that was tried least often; of several the dearest, which has the most room.
  Result<void> PlaceAgain(double share, PlanAnswer& answer) {
    if (!MayChangeFurther()) return {};
    if (answer.best) {
      std::erase_if(unplaced_,
                    [&](const Found& found) { return found.cost >= answer.best->overhead(); });
    }
    if (unplaced_.empty()) return {};
    Found& found =
        *std::min_element(unplaced_.begin(), unplaced_.end(), [](const Found& a, const Found& b) {
          return a.tries < b.tries || (a.tries == b.tries && a.cost > b.cost);
        });
    ++found.tries;
    Budget part(budget_, share);
    const std::uint64_t seed = options_.seed + kMostCalmed + placed_again_++;
    static_cast<void>(BERTH_TRY(PlaceCalmed(found.sequence, seed, part, answer)));
    return {};
  }

  [[nodiscard]] Bytes CapacityWith(int less) const {
    return options_.capacity - static_cast<Bytes>(Wide{options_.capacity} * less / 10'000);
  }
  // With a capacity reduced by so many ten-thousandths. Nothing if one operator needs more, or if nothing
  // is found.
  Result<std::optional<bool>> PlaceWithLess(int less, PlanAnswer& answer) {
    const Bytes capacity = CapacityWith(less);
    if (capacity < answer.least.bytes) return std::nullopt;
    const Sequence start = std::exchange(best_, std::nullopt)->sequence;
    std::uint64_t seed = options_.seed;
    FindLower(start, capacity, kShareOfOthers, seed);
    // Without any plan, one with so much less is worth the rest of the time.
    while (!best_ && !answer.best && MayChangeFurther()) {
      FindLower(start, capacity, kShareOfOn, ++seed);
    }
    if (!best_) return std::nullopt;
    return BERTH_TRY(PlaceBest(answer));
  }

  // Searches with `part` of the budget and so much of the work that is left.
  template <typename Run>
  void Within(Budget& part, std::int64_t work, Run search) {
    Budget* const whole = std::exchange(search_, &part);
    const std::int64_t rest = std::exchange(work_.left, work) - work;
    search();
    work_.left += rest;
    search_ = whole;
  }

  // Time is left: changes `sequence` further, until it costs at most `bound`. Half of the time goes to
  // groups, if there are any.
  void ChangeFurther(Sequence sequence, std::int64_t bound) {
    Budget part(budget_, kShareOfOn);
    search_ = &part;
    if (grouped_ && best_grouped_) {
      Budget half(part, kShareOfGroups);
      groups_ = &*grouped_;
      Change(best_grouped_->sequence, bound, effort_of_groups_, half);
      groups_ = nullptr;
      if (best_) sequence = best_->sequence;
    }
    Change(std::move(sequence), bound, effort_, part);
    out_of_budget_ = out_of_budget_ || part.Exhausted();
    search_ = nullptr;
  }
  void Change(Sequence sequence, std::int64_t bound, Effort& effort, Budget& budget) {
    Within(budget, work_.left, [&] {
      Improver improver = MakeImprover(options_.capacity, options_.seed + 1, budget);
      improver.Exchange(sequence, SearchedOrders(), bound, kNoCost, effort,
                        [&](const Sequence& better) { Offer(better, options_.capacity); });
    });
  }
  [[nodiscard]] bool MayChangeFurther() {
    return limited_ && options_.rules.exchange && !budget_.Exhausted();
  }

  // The best sequence has its offsets: goes on while better ones have some, too.
  Result<void> GoOn(PlanAnswer& answer) {
    for (int round = 0; round < kMostRoundsOn && !IsEnough() && MayChangeFurther(); ++round) {
      ChangeFurther(best_->sequence, Enough());
      if (!BERTH_TRY(PlaceBest(answer))) return SearchWithLess(answer);
    }
    return {};
  }

  // Offsets for one of the sequences found, if it costs less than the plan of `answer`. Tries the last two,
  // of which the last is the cheapest; dearer ones are easier to place. Forgets them all.
  Result<void> PlaceFound(Budget& budget, PlanAnswer& answer) {
    std::vector<Found> found = std::exchange(found_, {});
    if (answer.best) {
      std::erase_if(
          found, [&](const Found& candidate) { return candidate.cost >= answer.best->overhead(); });
    }
    std::size_t without = found.size();  // From here on none has offsets.
    while (without > 0 && found.size() - without < kMostPlaced && !budget.Exhausted()) {
      if (BERTH_TRY(TryPlacingCalmed(found[without - 1].sequence, budget, answer))) return {};
      --without;
    }
    if (found.empty()) return {};
    if (answer.best) return PlaceBetween(found, without, budget, answer);
    // Whatever the budget: the first one has the most room.
    if (!BERTH_TRY(TryPlacing(found.front().sequence, kNodesOfPlacing, budget, answer))) {
      if (first_) {
        static_cast<void>(BERTH_TRY(TryPlacing(first_->sequence, kNodesOfPlacing, budget, answer)));
      }
      return {};
    }
    // It costs the most, too: one between it and those that have failed.
    for (std::size_t with = 0, failed = found.size() - 1;
         failed - with > 1 && !budget_.Exhausted();) {
      const std::size_t middle = with + (failed - with) / 2;
      const bool placed =
          BERTH_TRY(TryPlacing(found[middle].sequence, kNodesOfPlacingBetween, budget_, answer));
      (placed ? with : failed) = middle;
    }
    return {};
  }

  // There is a plan that costs more than all that were found: one between it and those that have failed,
  // from found[without] on.
  Result<void> PlaceBetween(const std::vector<Found>& found, std::size_t without, Budget& budget,
                            PlanAnswer& answer) {
    if (!options_.rules.exchange) return {};
    for (std::size_t with = 0; with < without && !budget.Exhausted();) {
      const std::size_t middle = with + (without - with) / 2;
      Budget part(budget, kShareOfCalmed);
      const bool placed =
          BERTH_TRY(PlaceCalmed(found[middle].sequence, options_.seed, part, answer));
      if (placed) {
        with = middle + 1;
      } else {
        without = middle;
      }
    }
    return {};
  }

  // As it is, or with its executions moved for it.
  Result<bool> TryPlacingCalmed(const Sequence& sequence, Budget& budget, PlanAnswer& answer) {
    // Where one has no offsets as it is, no other one needs to be tried so.
    if (!calms_ || !options_.rules.exchange) {
      if (BERTH_TRY(TryPlacing(sequence, kNodesOfPlacing, budget, answer))) return true;
      calms_ = true;
    }
    if (!options_.rules.exchange) return false;
    for (std::uint64_t k = 0; k < kMostCalmed && !budget.Exhausted(); ++k) {
      Budget part(budget, kShareOfCalmed);
      if (BERTH_TRY(PlaceCalmed(sequence, options_.seed + k, part, answer))) return true;
    }
    return false;
  }
  Result<bool> PlaceCalmed(Sequence sequence, std::uint64_t seed, Budget& budget,
                           PlanAnswer& answer) {
    {
      Budget part(budget, kShareOfCalming);
      MakeImprover(options_.capacity, seed, part).Calm(sequence);
    }
    const std::int64_t nodes = limited_ ? kMostNodesOfPlacing : kNodesOfPlacingCalmed;
    return TryPlacing(sequence, nodes, budget, answer);
  }

  // True if the offsets fit; the plan is then that of `answer`.
  Result<bool> TryPlacing(const Sequence& sequence, std::int64_t nodes, Budget& budget,
                          PlanAnswer& answer) {
    MemoryPlan plan = MakePlan(sequence);
    if (!options_.placer) {
      answer.best = std::move(plan);
      return true;
    }
    Problem problem = ProblemOf(graph_, plan);
    problem.capacity = options_.capacity;
    const PlanAnswer placed = BERTH_TRY(Place(problem, nodes, budget));
    if (placed.best) lowest_ = std::min(lowest_, placed.best->height());
    if (!placed.best || placed.best->height() > options_.capacity) return false;
    for (std::size_t i = 0; i < plan.residencies.size(); ++i) {
      plan.residencies[i].offset = placed.best->residencies[i].offset;
    }
    plan.addressed = true;
    StateUse(graph_, plan);
    answer.placement_bound = placed.height_bound;
    answer.placing = placed.placing;
    answer.best = std::move(plan);
    return true;
  }

  Result<PlanAnswer> Place(const Problem& problem, std::int64_t nodes, Budget& budget) {
    if (budget.Exhausted()) {
      Budget none;
      none.SetNodeLimit(kNodesThatMustBe);
      if (problem.buffers.size() > kManyBuffers) none.SetTimeLimit(kSecondsThatMustBe);
      return options_.placer(problem, none);
    }
    Budget mine(budget, kShareOfPlacing);
    nodes = std::min(nodes, std::max(placing_left_, kNodesThatMustBe));
    mine.SetNodeLimit(std::min(nodes, mine.node_limit()));
    auto placed = options_.placer(problem, mine);
    if (!limited_) placing_left_ -= mine.nodes_spent();
    return placed;
  }

  // As `sequence`, but with less memory, in part of the time.
  void FindLower(Sequence sequence, Bytes capacity, double share, std::uint64_t seed) {
    Budget part(budget_, share);
    search_ = &part;
    if (!limited_) work_.left = std::max(work_.left, kDefaultWork / 8);
    RepairOrder(sequence, capacity);
    if (placed_) Offer(placed_->sequence, capacity);
    if (best_) sequence = best_->sequence;
    if (options_.rules.exchange) {
      Effort effort = Effort::WithoutRepeats();
      Improver improver = MakeImprover(capacity, seed, part);
      improver.Exchange(sequence, SearchedOrders(), Enough(), Patience(), effort,
                        [&](const Sequence& better) { Offer(better, capacity); });
    }
    out_of_budget_ = out_of_budget_ || part.Exhausted();
    search_ = nullptr;
  }

  Result<void> FindSequences(PlanAnswer& answer) {
    Bytes capacity = options_.capacity;
    const std::vector<std::vector<Op>> known = KnownOrders();
    for (const std::vector<Op>& order : known) Offer(order, capacity);
    for (const MemoryPlan& plan : options_.plans) {
      if (model_.linked) Offer(SequenceOf(model_, plan), capacity);
    }
    if (best_cost() == 0) return {};
    RepairOrder(Lowest(known, capacity), capacity);  // A first plan, whatever the budget.
    if (!options_.fixed_order && options_.rules.cuts && !Ended()) {
      Budget part(*search_, kShareOfCuts);
      Work work{work_.left / kPartOfCuts};
      const CutAnswer cuts = CutBound(model_, capacity, known.back(), best_cost(), work, part);
      infeasible_ = cuts.infeasible;
      if (infeasible_) return {};
      Prove(cuts.bound);
    }
    if (options_.rules.exact && model_.num_operators() <= kMostExactOperators &&
        model_.storages.size() <= kMostExactStorages) {
      const ExactAnswer exact =
          SearchExactly(model_, capacity, options_.fixed_order ? &known.front() : nullptr,
                        kMostExactStates, *search_);
      if (exact.sequence) Offer(*exact.sequence, capacity);
      if (exact.complete) {
        infeasible_ = !exact.sequence;
        if (exact.sequence) Prove(exact.cost);
        return {};
      }
    }
    // In one order, what may be proved comes first.
    if (options_.fixed_order) SearchEachInPart(known, capacity);
    if (infeasible_ || IsEnough()) return {};
    if (!options_.fixed_order) {
      ExchangeInPart(known, capacity);
      if (!IsEnough()) BERTH_TRY(ReduceForPlacing(answer));
      capacity = CapacityWith(less_);
      if (less_ > 0) ExchangeInPart(known, capacity);
    }
    if (options_.rules.group && AnyMayRepeat() && !Ended()) SearchGroups(known, capacity);
    if (!options_.fixed_order) SearchEachInPart(known, capacity);
    Exchange(known, capacity);
    return {};
  }

  // Where there are no offsets for the first good sequence, the search goes on with as much less memory as
  // they exceed the capacity by: from there it is not far to the sequences that have some.
  Result<void> ReduceForPlacing(PlanAnswer& answer) {
    if (!best_ || !options_.rules.exchange) return {};
    const Sequence sequence = best_->sequence;
    Bytes excess = 0;
    {
      Budget part(*search_, kShareOfProbe);
      if (BERTH_TRY(TryPlacing(sequence, kNodesOfPlacing, part, answer))) return {};
      calms_ = true;
      for (std::uint64_t k = 0; k < kMostProbed && !part.Exhausted(); ++k) {
        Budget some(part, kShareOfProbed);
        if (BERTH_TRY(PlaceCalmed(sequence, options_.seed + k, some, answer))) return {};
      }
      if (lowest_ == kMaxBytes) return {};
      excess = LowestExcess();
      if (found_.size() > 1 && !part.Exhausted()) {  // The one before, for a plan.
        const Sequence& before = found_[found_.size() - 2].sequence;
        static_cast<void>(BERTH_TRY(PlaceCalmed(before, options_.seed, part, answer)));
      }
    }
    const Wide part_of_capacity = Wide{excess} * 10'000 / std::max<Bytes>(options_.capacity, 1);
    const int less =
        static_cast<int>(std::clamp<Wide>(part_of_capacity, kLeastReduced, kMostReduced));
    if (CapacityWith(less) < answer.least.bytes) return {};
    less_ = less;
    first_ = found_.front();
    found_.clear();
    unplaced_.push_back(*std::exchange(best_, std::nullopt));
    RepairOrder(sequence, CapacityWith(less));
    effort_ = Effort::WithoutRepeats();
    return {};
  }

  [[nodiscard]] bool AnyMayRepeat() const {
    return std::any_of(model_.may_repeat.begin(), model_.may_repeat.end(),
                       [](char may) { return may != 0; });
  }

  // First with groups of operators as one.
  void SearchGroups(const std::vector<std::vector<Op>>& known, Bytes capacity) {
    grouped_ = FindGroups(model_, known, capacity);
    if (!grouped_) return;
    groups_ = &*grouped_;
    Budget part(*search_, kShareOfGroups);
    Within(part, work_.left - work_.left / 2, [&] {
      SearchEach(grouped_->orders, capacity);
      Exchange(grouped_->orders, capacity);
    });
    groups_ = nullptr;
  }

  // In part of the time: changes at random get the rest.
  void SearchEachInPart(const std::vector<std::vector<Op>>& orders, Bytes capacity) {
    Budget part(*search_, kShareOfOrders);
    Within(part, work_.left, [&] { SearchEach(orders, capacity); });
  }
  void SearchEach(const std::vector<std::vector<Op>>& orders, Bytes capacity) {
    // The last one first: it is the one of the least peak, if there are several.
    for (std::size_t k = orders.size(); k-- > 0 && !Ended() && !IsEnough();) {
      SearchOrder(orders[k], capacity);
      if (infeasible_) return;
      if (options_.rules.evict && !IsEnough()) EvictFrom(orders[k], capacity);
    }
  }

  // Where the order matters more than what runs again, changes at random find the most from the start.
  void ExchangeInPart(const std::vector<std::vector<Op>>& orders, Bytes capacity) {
    Budget part(*search_, less_ > 0 ? kShareOfExchangeWithLess : kShareOfExchange);
    Within(part, work_.left / kPartOfExchange, [&] { Exchange(orders, capacity); });
  }
  // The best sequence, changed at random.
  void Exchange(const std::vector<std::vector<Op>>& orders, Bytes capacity) {
    if (infeasible_ || IsEnough() || !options_.rules.exchange) return;
    const std::optional<Found>& best = groups_ != nullptr ? best_grouped_ : best_;
    Sequence sequence = best                                       ? best->sequence
                        : groups_ == nullptr && !unplaced_.empty() ? unplaced_.back().sequence
                                                                   : Lowest(orders, capacity);
    Improver improver = MakeImprover(capacity, options_.seed, *search_);
    Effort& effort = groups_ != nullptr ? effort_of_groups_ : effort_;
    improver.Exchange(sequence, SearchedOrders(), Enough(), Patience(), effort,
                      [&](const Sequence& better) { Offer(better, capacity); });
  }

  [[nodiscard]] std::vector<std::vector<Op>> KnownOrders() const {
    std::vector<std::vector<Op>> known;
    for (const Order& order : orders_) known.emplace_back(order.begin(), order.end());
    return known;
  }

  [[nodiscard]] std::vector<std::vector<Op>> SearchedOrders() const {
    return groups_ != nullptr ? groups_->orders : KnownOrders();
  }

  // The order that exceeds the capacity least.
  [[nodiscard]] Sequence Lowest(const std::vector<std::vector<Op>>& known, Bytes capacity) const {
    Measurer measurer(searched(), capacity);
    std::size_t best = 0;
    std::optional<Bytes> least;
    for (std::size_t k = 0; k < known.size(); ++k) {
      const Measure measure = measurer.Of(known[k]);
      if (least && measure.excess >= *least) continue;
      least = measure.excess;
      best = k;
    }
    return known[best];
  }

  // Sequences that make room step by step, by rules that are known to be good and then by random ones.
  void EvictFrom(const std::vector<Op>& order, Bytes capacity) {
    Budget part(*search_, kShareOfEviction);
    Work work{work_.left / kPartOfEviction};
    Random random(options_.seed);
    std::int64_t least = kNoCost;
    for (std::size_t k = 0; k < (limited_ ? kMostRules : kRulesWithoutLimit); ++k) {
      EvictionRule rule;
      if (k == std::size(kEvictionRules) && IsFar(least)) return;
      if (k < std::size(kEvictionRules)) {
        rule = kEvictionRules[k];
      } else {
        rule.exponent = std::exp2(random.Real() * 4 - 2);
        rule.closure = random.Chance(0.5);
        rule.noise = 1 + 2 * random.Real();
        rule.seed = options_.seed + k;
      }
      std::optional<Sequence> sequence = Evict(searched(), order, capacity, rule, work, part);
      if (part.TimeIsUp() || work.spent()) return;
      if (!sequence) continue;
      Offer(*sequence, capacity);
      Improver(searched(), capacity, options_.fixed_order, options_.seed, work, part)
          .Prune(*sequence);
      least = std::min(least, Offer(*sequence, capacity));
    }
  }

  void RepairOrder(Sequence sequence, Bytes capacity) {
    Improver improver = MakeImprover(capacity, options_.seed, *search_);
    if (!improver.Repair(sequence)) return;
    improver.Prune(sequence);
    Offer(sequence, capacity);
  }

  // Sequences with first executions in `order`.
  void SearchOrder(const std::vector<Op>& order, Bytes capacity) {
    const bool proves = options_.fixed_order && groups_ == nullptr;
    RepairOrder(order, capacity);
    const Gaps gaps(searched(), order, capacity);
    if (!gaps.fits_at_all()) {
      infeasible_ = infeasible_ || proves;
      return;
    }
    SearchGaps(order, gaps, proves, capacity);
  }

  // Choices of gaps, each at what the ones before have cost besides what they must. The first one
  // `proves` what any choice costs.
  void SearchGaps(const std::vector<Op>& order, const Gaps& gaps, bool proves, Bytes capacity) {
    using Count = Gaps::Count;
    Improver improver = MakeImprover(capacity, options_.seed, *search_);
    Random random(options_.seed);
    std::vector<std::int64_t> extra(gaps.all().size(), 0);
    int stale = 0;
    bool at_random = false;
    std::int64_t least = kNoCost;
    Count count = Count::kWhenPaid;
    for (int round = 0; round < kMostRounds && stale < kMostStaleAtRandom; ++round) {
      if (Ended() && round > 0) return;
      std::vector<char> kept;
      if (options_.rules.selection &&
          extra.size() <= (at_random ? kMostChosenAtRandom : kMostChosen)) {
        const bool proof = proves && round == 0;
        const auto depth = proof       ? Gaps::Depth::kProof
                           : at_random ? Gaps::Depth::kQuick
                                       : Gaps::Depth::kUsual;
        if (at_random) count = random.Chance(0.5) ? Count::kWhenPaid : Count::kAlways;
        const bool disturbed = at_random && random.Chance(0.5);
        Gaps::Answer chosen =
            gaps.Choose(disturbed ? Disturbed(gaps, extra, random) : extra, depth, count, *search_);
        if (proof) Prove(chosen.bound);
        kept = std::move(chosen.kept);
      } else {
        kept = gaps.ChooseGreedily(extra, search_);
      }
      std::optional<Realised> realised = Realise(searched(), order, gaps, kept, *search_);
      if (!realised) return;
      const std::int64_t before = best_cost();
      Sequence sequence = realised->sequence;
      if (improver.Repair(sequence, Hopeless())) {
        improver.Prune(sequence);
        least = std::min(least, Offer(sequence, capacity));
      }
      if (IsEnough() || !options_.rules.reprice) return;
      if (round > 0 && IsFar(least)) return;
      stale = best_cost() < before ? 0 : stale + 1;
      const bool changed = Reprice(kept, realised->extra, at_random ? &random : nullptr, extra);
      if (!at_random && (!changed || stale == kMostStale)) {
        stale = 0;
        if (count == Count::kWhenPaid && gaps.IsAnyLate()) {
          count = Count::kAlways;
          extra.assign(extra.size(), 0);
        } else {
          if (!changed && realised->extra.empty()) return;
          at_random = true;
        }
      }
    }
  }

  // `extra`, and up to a part of what gaps must cost at random besides: in some rounds a large one, in others
  // a small one. Choices that cost nearly the same take turns.
  static std::vector<std::int64_t> Disturbed(const Gaps& gaps, std::vector<std::int64_t> extra,
                                             Random& random) {
    const double most = kMostDisturbed * std::exp2(-5 * random.Real());
    for (std::size_t g = 0; g < extra.size(); ++g) {
      const double price = static_cast<double>(gaps.LeastOf(g));
      const double more = std::min(price * most * random.Real(), 1e15);
      extra[g] = std::min(extra[g] + static_cast<std::int64_t>(more), kMostCost);
    }
    return extra;
  }

  // What a gap that was dropped has cost besides what it must is its price, or that of the input that had
  // left, which could have stayed as well: with `random` of either, and half of it, so that prices remember
  // earlier rounds; else of the gap itself. What was kept may have become cheaper. False if
  // nothing changes.
  static bool Reprice(const std::vector<char>& kept, const std::vector<Realised::Extra>& paid,
                      Random* random, std::vector<std::int64_t>& extra) {
    std::vector<std::int64_t> charged(extra.size(), 0);
    for (const Realised::Extra& each : paid) {
      std::int64_t& at = charged[random == nullptr || random->Chance(0.5) ? each.gap : each.input];
      at = std::min(at + each.cost, kMostCost);
    }
    bool changed = false;
    for (std::size_t g = 0; g < extra.size(); ++g) {
      const std::int64_t now = kept[g] != 0        ? extra[g] - extra[g] / 8
                               : random == nullptr ? charged[g]
                                                   : (extra[g] + charged[g]) / 2;
      changed = changed || now != extra[g];
      extra[g] = now;
    }
    return changed;
  }

  void Conclude(PlanAnswer& answer) {
    answer.height_bound = answer.least.bytes;
    if (infeasible_) {
      answer.best.reset();
      answer.outcome = Outcome::kInfeasible;
      answer.stopped = StopReason::kAnswered;
      return;
    }
    answer.recompute_bound = bound_;
    if (answer.best) {
      const auto valid = ValidatePlan(graph_, options_.counting, options_.capacity, *answer.best,
                                      options_.link ? &*options_.link : nullptr);
      if (!valid) CheckFailed(valid.error().message.c_str(), __FILE__, __LINE__);
      const std::int64_t cost = answer.best->overhead();
      answer.recompute_bound = std::min(bound_, cost);
      answer.outcome = cost <= bound_ ? Outcome::kOptimal : Outcome::kFeasible;
    }
    if (answer.outcome == Outcome::kOptimal) {
      answer.stopped = StopReason::kAnswered;
    } else {
      const bool near = answer.best && answer.best->overhead() <= Enough();
      answer.stopped = options_.gap > 0 && near                ? StopReason::kGap
                       : out_of_budget_ || budget_.Exhausted() ? StopReason::kBudget
                       : work_.spent()                         ? StopReason::kEffort
                                                               : StopReason::kAlgorithm;
    }
  }

  const Graph& graph_;
  const RecomputeOptions& options_;
  Budget& budget_;
  Budget* search_ = nullptr;  // The part of it for sequences.
  const Model model_;
  std::vector<Order> orders_;
  // While groups are searched: these. Sequences are then those of their model.
  const Groups* groups_ = nullptr;
  std::optional<Groups> grouped_;
  std::optional<Found> best_grouped_;
  Work work_;
  Effort effort_;
  Effort effort_of_groups_;
  std::int64_t placing_left_ = kNodesOfAllPlacing;
  int less_ = 0;              // The first search reduced the capacity by so many ten-thousandths.
  Bytes lowest_ = kMaxBytes;  // The height of the lowest offsets at one capacity.
  bool limited_ = false;
  bool calms_ = false;  // Some sequence has had no offsets as it was.
  bool out_of_budget_ = false;
  bool infeasible_ = false;
  std::optional<Found> best_;   // By bytes alone, for the capacity searched last.
  std::optional<Found> first_;  // The one found first, if the first search reduced the capacity.
  std::optional<Found>
      placed_;  // The last that did not need a dearer plan, before its executions moved.
  std::vector<Found> unplaced_;  // Those without offsets.
  std::uint64_t placed_again_ = 0;
  std::vector<Found> found_;  // Each cheaper than the one before; none has been placed.
  std::int64_t bound_;
};

}  // namespace

Result<void> CheckLink(const Graph& graph, const Counting& counting, const Link& link) {
  BERTH_TRY(Validate(link));
  const OperatorCosts costs = CostsOf(graph);
  if (costs.unit != "ns") {
    return Fail(ErrorCode::kInvalidOptions,
                "copies over a link take nanoseconds, but operators cost " +
                    (costs.unit.empty()      ? "numbers without a unit"
                     : costs.unit == "bytes" ? "the bytes that they read and write"
                                             : Quoted(costs.unit)) +
                    ": to add them up the graph must have costs in \"ns\"");
  }
  BERTH_TRY(ValidateTraffic(graph, counting));
  Wide total = 0;
  for (const Tensor& tensor : graph.tensors) {
    total += Wide{link.Out(tensor.bytes)} + link.In(tensor.bytes);
  }
  if (total > kMaxBytes) {
    return Fail(ErrorCode::kInvalidOptions,
                "copying every tensor out and back over the link takes more than 2^60 ns together");
  }
  return {};
}

Result<PlanAnswer> PlanValid(const Graph& graph, const RecomputeOptions& options,
                             std::int64_t known_bound, Budget& budget) {
  for (const Order& order : options.orders) BERTH_TRY(ValidateOrder(graph, order));
  const OperatorCosts costs = CostsOf(graph);
  if (options.link) BERTH_TRY(CheckLink(graph, options.counting, *options.link));
  for (const MemoryPlan& plan : options.plans) {
    BERTH_TRY(ValidatePlan(graph, options.counting, std::nullopt, plan));
  }
  Wide total = 0;
  for (const std::int64_t cost : costs.of) total += cost;
  if (total > kMaxBytes) {
    return Fail(ErrorCode::kInvalidGraph,
                "what the operators read and write adds up to more than 2^60 bytes: recomputation "
                "needs costs that add up to less");
  }
  BERTH_TRY(ValidateGap(options.gap));
  if (options.capacity < 0 || options.capacity > kMaxBytes) {
    return Fail(ErrorCode::kInvalidOptions, "the capacity is " + std::to_string(options.capacity) +
                                                " bytes but must be from 0 to 2^60");
  }
  return Planner(graph, options, known_bound, budget).Run();
}

}  // namespace internal::recompute

Result<PlanAnswer> PlanWithRecomputation(const Graph& graph, const RecomputeOptions& options,
                                         Budget& budget) {
  BERTH_TRY(Validate(graph));
  return internal::recompute::PlanValid(graph, options, 0, budget);
}

}  // namespace berth
