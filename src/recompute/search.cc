#include "recompute/search.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>

#include "base/gap.h"
#include "recompute/bound.h"
#include "recompute/branches.h"
#include "recompute/evict.h"
#include "recompute/exact.h"

namespace berth::internal::recompute {
namespace {

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
// Each way has its share of the time that is left, and without a limit its part of the work: bounds by cuts,
// room made step by step, by so many rules, changes at random before the choice of gaps (more where the
// capacity has been reduced), all orders, and groups of operators.
constexpr double kShareOfCuts = 0.3;
constexpr std::int64_t kPartOfCuts = 32;
constexpr double kShareOfBranches = 0.25;
constexpr std::int64_t kNodesOfBranches = 16'000'000;
constexpr double kShareOfEviction = 0.1;
constexpr std::int64_t kPartOfEviction = 32;
constexpr std::size_t kMostRules = 200;
constexpr std::size_t kRulesWithoutLimit = 16;
constexpr double kShareOfExchange = 0.1;
constexpr double kShareOfExchangeWithLess = 0.4;
constexpr std::int64_t kPartOfExchange = 8;
constexpr double kShareOfOrders = 0.7;
constexpr double kShareOfGroups = 0.5;
constexpr std::int64_t kPartOfLess = 8;  // Of the default work, for less memory.
// Times the cost of the best: pruning does not make up the first, and a search whose sequences cost more
// than the second ends.
constexpr int kHopeless = 8;
constexpr int kFarFromBest = 2;
constexpr EvictionRule kEvictionRules[] = {{1, true}, {1, false}, {0.5, true}, {2, true}};

// `extra`, and up to a part of what gaps must cost at random besides: in some rounds a large one, in others
// a small one. Choices that cost nearly the same take turns.
std::vector<std::int64_t> Disturbed(const Gaps& gaps, std::vector<std::int64_t> extra,
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
// earlier rounds; else of the gap itself. What was kept may have become cheaper. False if nothing changes.
bool Reprice(const std::vector<char>& kept, const std::vector<Realised::Extra>& paid,
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

std::vector<std::vector<Op>> OperatorsOf(const std::vector<Order>& orders) {
  std::vector<std::vector<Op>> known;
  known.reserve(orders.size());
  for (const Order& order : orders) known.emplace_back(order.begin(), order.end());
  return known;
}

}  // namespace

SequenceSearch::SequenceSearch(const Model& model, const RecomputeOptions& options,
                               const std::vector<Order>& orders, std::int64_t known_bound,
                               const Budget& whole)
    : model_(model),
      options_(options),
      whole_(whole),
      limited_(whole.has_time_limit()),
      orders_(OperatorsOf(orders)),
      capacity_(options.capacity),
      bound_(known_bound) {
  work_.left = limited_ ? std::numeric_limits<std::int64_t>::max() / 2 : kDefaultWork;
}

std::int64_t SequenceSearch::Enough() const { return MostWithin(bound_, options_.gap); }

std::int64_t SequenceSearch::Patience() const {
  if (limited_) return kNoCost;
  return std::max(kPatience, kPatienceForEach * static_cast<std::int64_t>(model_.num_operators()));
}

// Other ways find much cheaper sequences than one of this cost.
bool SequenceSearch::IsFar(std::int64_t cost) const {
  const std::optional<Found>& best = BestSearched();
  return best && cost / kFarFromBest > best->cost;
}

// A sequence that costs more than this before it fits is not worth completing.
std::int64_t SequenceSearch::Hopeless() const {
  return best_cost() < kMostCost / kHopeless ? best_cost() * kHopeless : kMostCost;
}

bool SequenceSearch::AnyMayRepeat() const {
  return std::any_of(model_.may_repeat.begin(), model_.may_repeat.end(),
                     [](char may) { return may != 0; });
}

// The order that exceeds the capacity least.
Sequence SequenceSearch::Lowest() const {
  Measurer measurer(searched(), capacity_);
  const Orders& orders = SearchedOrders();
  std::size_t best = 0;
  std::optional<Bytes> least;
  for (std::size_t k = 0; k < orders.size(); ++k) {
    const Measure measure = measurer.Of(orders[k]);
    if (least && measure.excess >= *least) continue;
    least = measure.excess;
    best = k;
  }
  return orders[best];
}

template <typename Run>
void SequenceSearch::Within(Budget& part, std::int64_t work, Run search) {
  Budget* const budget = std::exchange(budget_, &part);
  live_.push_back(&part);
  const std::int64_t rest = std::exchange(work_.left, work) - work;
  search();
  work_.left += rest;
  live_.pop_back();
  budget_ = budget;
}

void SequenceSearch::Report() const {
  if (!options_.progress) return;
  const auto best = best_ ? std::optional<Bytes>(best_->cost) : std::nullopt;
  std::int64_t nodes = whole_.nodes_spent();
  for (const Budget* const part : live_) nodes += part->nodes_spent();
  options_.progress({best, std::min(bound_, best_cost()), nodes});
}

void SequenceSearch::Prove(std::int64_t bound) {
  if (bound <= bound_) return;
  bound_ = bound;
  Report();
}

std::int64_t SequenceSearch::Offer(const Sequence& sequence) {
  const Measure measure = Measurer(searched(), capacity_).Of(sequence);
  if (!measure.fits()) return kNoCost;
  if (groups_ != nullptr) {
    if (!best_grouped_ || measure.cost < best_grouped_->cost) {
      best_grouped_ = Found{sequence, measure.cost};
    }
    OfferUngrouped(sequence);
  } else if (measure.cost < best_cost()) {
    best_ = Found{sequence, measure.cost};
    found_.push_back(*best_);
    Report();
  }
  return measure.cost;
}

// Members of groups that need not run again are taken out.
void SequenceSearch::OfferUngrouped(const Sequence& sequence) {
  Sequence all =
      Ungroup(model_, *groups_, sequence, options_.fixed_order ? &orders_.front() : nullptr);
  const Groups* const groups = std::exchange(groups_, nullptr);
  Improver improver = MakeImprover(options_.seed);
  if (!options_.fixed_order || improver.Repair(all)) {
    improver.Prune(all);
    Offer(all);
  }
  groups_ = groups;
}

void SequenceSearch::RepairOrder(Sequence sequence) {
  Improver improver = MakeImprover(options_.seed);
  if (!improver.Repair(sequence)) return;
  improver.Prune(sequence);
  Offer(sequence);
}

bool SequenceSearch::FindFirst(Budget& part) {
  bool more = true;
  Within(part, [&] {
    for (const std::vector<Op>& order : orders_) Offer(order);
    for (const MemoryPlan& plan : options_.plans) {
      if (model_.linked) Offer(SequenceOf(model_, plan));
    }
    more = best_cost() > 0;
    if (!more) return;
    RepairOrder(Lowest());  // A first plan, whatever the budget.
    BoundByCuts();
    more = !infeasible_ && !SearchSmall();
    if (!more) return;
    if (options_.fixed_order) {
      SearchOrdersInPart();  // In one order, what may be proved comes first.
    } else {
      ExchangeInPart();
    }
    more = !infeasible_ && !IsEnough();
  });
  return more;
}

void SequenceSearch::FindMore(Budget& part) {
  Within(part, [&] {
    if (capacity_ < options_.capacity) ExchangeInPart();
    if (options_.rules.group && AnyMayRepeat() && !Ended()) SearchGroups();
    if (!options_.fixed_order) SearchOrdersInPart();
    ExchangeBest();
  });
}

void SequenceSearch::Reduce(Bytes capacity, Sequence start, Budget& part) {
  capacity_ = capacity;
  best_.reset();
  found_.clear();
  effort_ = Effort::WithoutRepeats();
  Within(part, [&] { RepairOrder(start); });
  start_ = std::move(start);
}

void SequenceSearch::FindWithLess(Bytes capacity, Sequence start, const Sequence* other,
                                  std::uint64_t seed, bool any, Budget& part) {
  out_of_work_ = OutOfWork();
  if (!limited_) work_.left = std::max(work_.left, kDefaultWork / kPartOfLess);
  capacity_ = capacity;
  best_.reset();
  found_.clear();
  Within(part, [&] {
    RepairOrder(start);
    if (other != nullptr) Offer(*other);
    if (best_) start = best_->sequence;
    Effort effort = Effort::WithoutRepeats();
    Exchange(std::move(start), seed, any ? kNoCost : Enough(), Patience(), effort);
  });
}

void SequenceSearch::Restore(std::vector<Found> found) {
  capacity_ = options_.capacity;
  found_ = std::move(found);
  best_ = found_.back();
}

void SequenceSearch::Improve(Budget& part) {
  const std::int64_t bound = best_ ? Enough() : kNoCost;
  const std::uint64_t seed = options_.seed + ++improved_;
  // Half of the time goes to groups, if there are any.
  if (best_ && grouped_ && best_grouped_) {
    Budget half(part, kShareOfGroups);
    groups_ = &*grouped_;
    Within(half,
           [&] { Exchange(best_grouped_->sequence, seed, bound, kNoCost, effort_of_groups_); });
    groups_ = nullptr;
  }
  Within(part,
         [&] { Exchange(best_ ? best_->sequence : Lowest(), seed, bound, kNoCost, effort_); });
}

void SequenceSearch::Calm(Sequence& sequence, std::uint64_t seed, Budget& part) {
  Improver(model_, options_.capacity, options_.fixed_order, seed, work_, part).Calm(sequence);
}

void SequenceSearch::BoundByCuts() {
  if (options_.fixed_order || !options_.rules.cuts || Ended()) return;
  Budget part(*budget_, kShareOfCuts);
  Within(part, work_.left / kPartOfCuts, [&] {
    const CutAnswer cuts =
        CutBound(model_, capacity_, orders_.back(), best_cost(), work_, *budget_);
    infeasible_ = cuts.infeasible;
    if (!infeasible_) Prove(cuts.bound);
  });
}

// All states of a small graph. True if that is the answer.
bool SequenceSearch::SearchSmall() {
  if (!options_.rules.exact || model_.num_operators() > kMostExactOperators ||
      model_.storages.size() > kMostExactStorages) {
    return false;
  }
  const ExactAnswer exact =
      SearchExactly(model_, capacity_, options_.fixed_order ? &orders_.front() : nullptr,
                    kMostExactStates, *budget_);
  if (exact.sequence) Offer(*exact.sequence);
  if (!exact.complete) return false;
  infeasible_ = !exact.sequence;
  if (exact.sequence) Prove(exact.cost);
  return true;
}

// First with groups of operators as one.
void SequenceSearch::SearchGroups() {
  grouped_ = FindGroups(model_, orders_, capacity_);
  if (!grouped_) return;
  groups_ = &*grouped_;
  Budget part(*budget_, kShareOfGroups);
  Within(part, work_.left - work_.left / 2, [&] {
    SearchOrders();
    ExchangeBest();
  });
  groups_ = nullptr;
}

// In part of the time: changes at random get the rest.
void SequenceSearch::SearchOrdersInPart() {
  Budget part(*budget_, kShareOfOrders);
  Within(part, [&] { SearchOrders(); });
}

void SequenceSearch::SearchOrders() {
  // The last one first: it is the one of the least peak, if there are several.
  const Orders& orders = SearchedOrders();
  for (std::size_t k = orders.size(); k-- > 0 && !Ended() && !IsEnough();) {
    SearchOrder(orders[k]);
    if (infeasible_) return;
    if (options_.rules.evict && !IsEnough()) EvictFrom(orders[k]);
  }
}

// Sequences with first executions in `order`.
void SequenceSearch::SearchOrder(const std::vector<Op>& order) {
  const bool proves = options_.fixed_order && groups_ == nullptr;
  RepairOrder(order);
  const Gaps gaps(searched(), order, capacity_, options_.most_bytes);
  if (!gaps.fits_at_all()) {
    infeasible_ = infeasible_ || proves;
    return;
  }
  std::optional<Gaps::Answer> whole;
  SearchGaps(order, gaps, proves ? &whole : nullptr);
  if (whole) BoundByBranchesOf(gaps, *whole);
}

// What the choice of gaps leaves open.
void SequenceSearch::BoundByBranchesOf(const Gaps& gaps, const Gaps::Answer& whole) {
  if (!options_.rules.branches || IsEnough() || Ended()) return;
  Budget part(*budget_, kShareOfBranches);
  part.SetNodeLimit(std::min(kNodesOfBranches, part.node_limit()));
  Within(part, [&] {
    const auto bound = BoundByBranches(gaps, searched(), whole, best_cost(), *budget_);
    infeasible_ = !bound;
    if (bound) Prove(*bound);
  });
}

// Sequences that make room step by step, by rules that are known to be good and then by random ones.
void SequenceSearch::EvictFrom(const std::vector<Op>& order) {
  Budget part(*budget_, kShareOfEviction);
  Within(part, work_.left / kPartOfEviction, [&] { EvictByRules(order); });
}

void SequenceSearch::EvictByRules(const std::vector<Op>& order) {
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
    std::optional<Sequence> sequence =
        Evict(searched(), order, capacity_, rule, Hopeless(), work_, *budget_);
    if (budget_->TimeIsUp() || work_.spent()) return;
    if (!sequence) continue;
    Offer(*sequence);
    MakeImprover(options_.seed).Prune(*sequence);
    least = std::min(least, Offer(*sequence));
  }
}

// Choices of gaps, each at what the ones before have cost besides what they must. With `whole` the first
// one proves what any choice costs, and is given back.
void SequenceSearch::SearchGaps(const std::vector<Op>& order, const Gaps& gaps,
                                std::optional<Gaps::Answer>* whole) {
  using Count = Gaps::Count;
  Improver improver = MakeImprover(options_.seed);
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
      const bool proof = whole != nullptr && round == 0;
      const auto depth = proof       ? Gaps::Depth::kProof
                         : at_random ? Gaps::Depth::kQuick
                                     : Gaps::Depth::kUsual;
      if (at_random) count = random.Chance(0.5) ? Count::kWhenPaid : Count::kAlways;
      const bool disturbed = at_random && random.Chance(0.5);
      Gaps::Answer chosen =
          gaps.Choose(disturbed ? Disturbed(gaps, extra, random) : extra, depth, count, *budget_);
      if (proof) {
        Prove(chosen.bound);
        *whole = chosen;
      }
      kept = std::move(chosen.kept);
    } else {
      kept = gaps.ChooseGreedily(extra, budget_);
    }
    std::optional<Realised> realised = Realise(searched(), order, gaps, kept, *budget_);
    if (!realised) return;
    const std::int64_t before = best_cost();
    Sequence sequence = realised->sequence;
    if (improver.Repair(sequence, Hopeless())) {
      improver.Prune(sequence);
      least = std::min(least, Offer(sequence));
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

// Changes at random, from `start`.
void SequenceSearch::Exchange(Sequence start, std::uint64_t seed, std::int64_t bound,
                              std::int64_t patience, Effort& effort) {
  if (!options_.rules.exchange) return;
  MakeImprover(seed).Exchange(start, SearchedOrders(), bound, patience, effort,
                              [&](const Sequence& better) { Offer(better); });
}

void SequenceSearch::ExchangeBest() {
  if (infeasible_ || IsEnough()) return;
  const std::optional<Found>& best = BestSearched();
  Sequence start = best ? best->sequence : groups_ == nullptr && start_ ? *start_ : Lowest();
  Exchange(std::move(start), options_.seed, Enough(), Patience(),
           groups_ != nullptr ? effort_of_groups_ : effort_);
}

// Where the order matters more than what runs again, changes at random find the most from the start.
void SequenceSearch::ExchangeInPart() {
  Budget part(*budget_,
              capacity_ < options_.capacity ? kShareOfExchangeWithLess : kShareOfExchange);
  Within(part, work_.left / kPartOfExchange, [&] { ExchangeBest(); });
}

}  // namespace berth::internal::recompute
