// recompute/search.h -- the cheapest sequences within a capacity: which ways to find them are tried, in which
// order, and for how long.
//
// First comes what may prove something: cuts, and an exact search of small graphs. With a free order,
// sequences are then changed at random for a while (improve.h). For each known order: the best choice of gaps
// at the least that dropping can cost (gaps.h), which is a bound for that order; its sequence (realise.h),
// repaired where it exceeds the capacity and pruned; choices at what dropping has really cost, as long as that
// finds better sequences, and some at random; and sequences that make room step by step (evict.h). The bound
// of a fixed order that is still open is raised by branches (branches.h). The best sequences are changed at
// random until the budget ends.
#ifndef BERTH_RECOMPUTE_SEARCH_H_
#define BERTH_RECOMPUTE_SEARCH_H_

#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "base/random.h"
#include "berth/answer.h"
#include "berth/budget.h"
#include "berth/recompute.h"
#include "recompute/gaps.h"
#include "recompute/groups.h"
#include "recompute/improve.h"
#include "recompute/model.h"
#include "recompute/realise.h"
#include "recompute/sequence.h"
#include "recompute/work.h"

namespace berth::internal::recompute {

// No sequence is known.
inline constexpr std::int64_t kNoCost = std::numeric_limits<std::int64_t>::max();

struct Found {
  Sequence sequence;
  std::int64_t cost = 0;
};

class SequenceSearch {
 public:
  // No plan costs less than `known_bound`. Each call below gets a part of `whole`; progress counts the nodes
  // of all. Without a time limit there, the searches end when a default effort is spent.
  SequenceSearch(const Model& model, const RecomputeOptions& options,
                 const std::vector<Order>& orders, std::int64_t known_bound, const Budget& whole);

  // Within the capacity of the options: what is known, what may prove something, and with a free order a first
  // good sequence. False if nothing is left to be found.
  [[nodiscard]] bool FindFirst(Budget& part);
  // Goes on in all other ways.
  void FindMore(Budget& part);
  // Forgets what was found, for less memory. `start` is repaired for it, and what else is changed at random
  // starts from it.
  void Reduce(Bytes capacity, Sequence start, Budget& part);
  // The same by changes at random alone, from `start`, or from `other` if that fits and costs less; `any`:
  // until a sequence fits.
  void FindWithLess(Bytes capacity, Sequence start, const Sequence* other, std::uint64_t seed,
                    bool any, Budget& part);
  // Within the capacity of the options again, with these, one or more, the best last, as all that was found.
  void Restore(std::vector<Found> found);
  // Changes the best, or without any the order that exceeds the capacity least, until that costs no more
  // than was asked for; without any, until something fits.
  void Improve(Budget& part);
  // Moves executions of a sequence that fits the capacity of the options, at no cost, for offsets.
  void Calm(Sequence& sequence, std::uint64_t seed, Budget& part);

  [[nodiscard]] const std::optional<Found>& best() const { return best_; }
  [[nodiscard]] std::int64_t best_cost() const { return best_ ? best_->cost : kNoCost; }
  // Each cheaper than the one before.
  [[nodiscard]] const std::vector<Found>& found() const { return found_; }
  [[nodiscard]] std::vector<Found> TakeFound() { return std::exchange(found_, {}); }
  [[nodiscard]] std::int64_t bound() const { return bound_; }
  // No sequence fits.
  [[nodiscard]] bool infeasible() const { return infeasible_; }
  // The most that a plan may cost to be as near to the bound as was asked for.
  [[nodiscard]] std::int64_t Enough() const;
  [[nodiscard]] bool IsEnough() const { return best_cost() <= Enough(); }
  // A search has ended for lack of work.
  [[nodiscard]] bool OutOfWork() const { return out_of_work_ || work_.spent(); }

 private:
  using Orders = std::vector<std::vector<Op>>;

  // All operators, or groups of them.
  [[nodiscard]] const Model& searched() const {
    return groups_ != nullptr ? groups_->model : model_;
  }
  [[nodiscard]] const Orders& SearchedOrders() const {
    return groups_ != nullptr ? groups_->orders : orders_;
  }
  [[nodiscard]] const std::optional<Found>& BestSearched() const {
    return groups_ != nullptr ? best_grouped_ : best_;
  }
  [[nodiscard]] Improver MakeImprover(std::uint64_t seed) {
    return {searched(), capacity_, options_.fixed_order, seed, work_, *budget_};
  }
  [[nodiscard]] bool Ended() { return work_.spent() || budget_->Exhausted(); }
  [[nodiscard]] std::int64_t Patience() const;
  [[nodiscard]] bool IsFar(std::int64_t cost) const;
  [[nodiscard]] std::int64_t Hopeless() const;
  [[nodiscard]] bool AnyMayRepeat() const;
  [[nodiscard]] Sequence Lowest() const;
  // Runs `search` with `part` of the budget, and with so much of the work that is left.
  template <typename Run>
  void Within(Budget& part, std::int64_t work, Run search);
  template <typename Run>
  void Within(Budget& part, Run search) {
    Within(part, work_.left, search);
  }

  void Report() const;
  void Prove(std::int64_t bound);
  // `sequence` is one of the model that is searched. What it costs; kNoCost if it does not fit.
  std::int64_t Offer(const Sequence& sequence);
  void OfferUngrouped(const Sequence& sequence);
  void RepairOrder(Sequence sequence);

  void BoundByCuts();
  [[nodiscard]] bool SearchSmall();
  void SearchGroups();
  void SearchOrders();
  void SearchOrdersInPart();
  void SearchOrder(const std::vector<Op>& order);
  void EvictFrom(const std::vector<Op>& order);
  void EvictByRules(const std::vector<Op>& order);
  void SearchGaps(const std::vector<Op>& order, const Gaps& gaps,
                  std::optional<Gaps::Answer>* whole);
  void BoundByBranchesOf(const Gaps& gaps, const Gaps::Answer& whole);
  void Exchange(Sequence start, std::uint64_t seed, std::int64_t bound, std::int64_t patience,
                Effort& effort);
  void ExchangeBest();
  void ExchangeInPart();

  const Model& model_;
  const RecomputeOptions& options_;
  const Budget& whole_;
  const bool limited_;
  const Orders orders_;
  Bytes capacity_;                   // That is searched for now.
  Budget* budget_ = nullptr;         // Of the call that runs, or a part of it,
  std::vector<const Budget*> live_;  // which is the last of these.
  // While groups are searched: these. Sequences are then those of their model.
  const Groups* groups_ = nullptr;
  std::optional<Groups> grouped_;
  std::optional<Found> best_grouped_;
  Work work_;
  Effort effort_;
  Effort effort_of_groups_;
  std::uint64_t improved_ = 0;  // Calls of Improve().
  std::optional<Found> best_;   // By bytes alone, for this capacity.
  std::vector<Found> found_;
  std::optional<Sequence> start_;  // For changes at random, as long as nothing fits.
  std::int64_t bound_;
  bool infeasible_ = false;
  bool out_of_work_ = false;
};

}  // namespace berth::internal::recompute

#endif  // BERTH_RECOMPUTE_SEARCH_H_
