// The smallest capacity, by asking an exact search about capacities between the bound and the
// plan.
//
// Which capacity to ask about is a gamble. The bound itself settles everything if it works, and it
// often does: on real tables the load is usually the optimum. Just below the plan is the easiest
// improvement to find, and the only question whose "no" proves the plan optimal. The middle halves
// what is open, whichever way it comes out. No search knows beforehand which of them is easy. The other
// two get the same number of nodes, and the bound four times as many: where it is the optimum, all else
// is in vain, and where it is not, the others lose little. The numbers double when one of them gave up
// and the others left most of the interval open. Nothing is ever concluded from giving up.
//
// A plan just below the present one is easy to find and gains little. From the second round on the
// steps below the plan double as long as plans are found, and are halved when not. Where a round
// left questions open, repair has its turn, for as long as one of them may take; after each turn in
// vain the next is half as long.
//
// Where capacities just above the bound are refuted with few nodes, the steps upwards double, and
// capacities that no plan can have (model/heights.h) are left out: the number of questions does not
// depend on how many bytes lie between bound and plan.

#include "place/minimize.h"

#include <algorithm>
#include <optional>

#include "base/check.h"

namespace berth::internal {
namespace {

using Verdict = SearchAnswer::Verdict;

constexpr std::int64_t kFirstRoundNodes = 2000;
constexpr std::int64_t kMostRoundNodes = std::int64_t{1} << 60;
constexpr std::int64_t kTimesForBound = 4;  // 2 * kMostRoundNodes times this fits into 64 bits.

// An eighth of the interval between bound and plan has to be closed for a price to stay.
constexpr Bytes kLeastShare = 8;

// Steps below the plan are at least this part of that interval.
constexpr Bytes kLeastStep = 256;

constexpr int kMostInVain = 60;

class Minimizer {
 public:
  Minimizer(const Decider& decider, Incumbent& incumbent, std::int64_t node_limit, Budget& budget)
      : decider_(decider), incumbent_(incumbent), budget_(budget), left_(node_limit) {}

  // True if more nodes might have helped.
  bool Run() {
    RaiseBound(incumbent_.lower_bound());
    const std::int64_t first_price = std::max(kFirstRoundNodes, decider_.dive_nodes);
    price_ = first_price;
    while (!incumbent_.is_optimal()) {
      const Bytes open = Open();
      answered_ = false;
      gave_up_ = false;
      AskFromBelow();
      if (!Ended()) AskTheMiddle();
      if (!Ended() && AskBelowThePlan() && price_ > first_price) StepDown();
      if (!Ended() && gave_up_ && decider_.repair) Repair();
      if (incumbent_.is_optimal()) return false;
      if (ended_) return true;
      if (!gave_up_) {
        if (!answered_) return false;  // More nodes would not help.
        continue;
      }
      if (Open() > open - open / kLeastShare && price_ < kMostRoundNodes) price_ *= 2;
    }
    return false;
  }

 private:
  [[nodiscard]] Bytes Open() const { return incumbent_.height() - incumbent_.lower_bound(); }
  [[nodiscard]] bool Ended() const { return ended_ || incumbent_.is_optimal(); }

  // No plan is lower than `bound`, and so none than the next height that plans can have.
  void RaiseBound(Bytes bound) {
    incumbent_.RaiseBound(std::min(decider_.heights.AtLeast(bound), incumbent_.height()));
  }
  // The highest capacity that is still a question, if there is any.
  [[nodiscard]] std::optional<Bytes> Highest() {
    const Bytes highest = decider_.heights.AtMost(incumbent_.height() - 1);
    if (highest >= incumbent_.lower_bound()) return highest;
    incumbent_.RaiseBound(incumbent_.height());
    return std::nullopt;
  }
  [[nodiscard]] Bytes Middle(Bytes highest) const {
    const Bytes lowest = incumbent_.lower_bound();
    return std::max(lowest, decider_.heights.AtMost(lowest + (highest - lowest) / 2));
  }

  Verdict Ask(Bytes capacity, std::int64_t nodes) {
    const SearchAnswer answer = decider_.decide(capacity, std::min(nodes, left_));
    left_ -= answer.nodes;
    spent_ = answer.nodes;
    if (answer.verdict == Verdict::kFound) {
      incumbent_.Offer(answer.offsets, decider_.finder());
      answered_ = true;
    } else if (answer.verdict == Verdict::kImpossible) {
      RaiseBound(capacity + 1);
      answered_ = true;
    } else {
      gave_up_ |= answer.verdict == Verdict::kGaveUp;
    }
    ended_ = left_ <= 0 || budget_.Exhausted();
    return answer.verdict;
  }

  // The bound first; as long as that is refuted and costs little, further above it.
  void AskFromBelow() {
    std::int64_t spent = 0;
    for (Bytes step = 0; spent < price_ && !Ended(); step = std::max<Bytes>(1, 2 * step)) {
      const std::int64_t price = step == 0 ? kTimesForBound * price_ : price_;
      const std::optional<Bytes> highest = Highest();
      if (!highest) return;
      const Bytes lowest = incumbent_.lower_bound();
      const Bytes above = decider_.heights.AtMost(lowest + std::min(step, *highest - lowest));
      if (Ask(std::max(lowest, above), price) != Verdict::kImpossible) return;
      spent += spent_;
    }
  }
  void AskTheMiddle() {
    const std::optional<Bytes> highest = Highest();
    if (!highest) return;
    const Bytes middle = Middle(*highest);
    if (middle != incumbent_.lower_bound()) (void)Ask(middle, price_);
  }
  // True if that found a plan.
  bool AskBelowThePlan() {
    const std::optional<Bytes> highest = Highest();
    return highest && *highest != incumbent_.lower_bound() &&
           Ask(*highest, price_) == Verdict::kFound;
  }
  // Further below the plan, by larger steps as long as they succeed. The middle has been asked.
  void StepDown() {
    step_ = std::max(step_, Open() / kLeastStep);
    while (!Ended()) {
      const std::optional<Bytes> highest = Highest();
      if (!highest) return;
      const Bytes middle = Middle(*highest);
      step_ = std::max<Bytes>(1, std::min(step_, (*highest - middle) / 2));
      const Bytes capacity = decider_.heights.AtMost(*highest - step_);
      if (capacity <= middle || capacity == *highest) return;
      if (Ask(capacity, price_) != Verdict::kFound) {
        step_ /= 2;
        return;
      }
      step_ *= 2;
    }
  }
  void Repair() {
    const Bytes before = incumbent_.height();
    decider_.repair(price_ >> in_vain_);
    const bool lower = incumbent_.height() < before;
    in_vain_ = lower ? 0 : std::min(in_vain_ + 1, kMostInVain);
    answered_ |= lower;
    ended_ = budget_.Exhausted();
  }

  const Decider& decider_;
  Incumbent& incumbent_;
  Budget& budget_;
  std::int64_t left_;       // Nodes.
  std::int64_t price_ = 0;  // Nodes for one question; for the bound, kTimesForBound of these.
  std::int64_t spent_ = 0;  // For the last one.
  Bytes step_ = 0;          // Below the plan, for the next question there.
  int in_vain_ = 0;         // Repairs since the last that lowered the plan.
  bool answered_ = false;   // This round: some question was.
  bool gave_up_ = false;    // This round: with more nodes some question might have been.
  bool ended_ = false;      // Nodes or budget are spent.
};

}  // namespace

bool Minimize(const Decider& decider, Incumbent& incumbent, std::int64_t node_limit,
              Budget& budget) {
  BERTH_CHECK(incumbent.has_plan());
  return Minimizer(decider, incumbent, node_limit, budget).Run();
}

}  // namespace berth::internal
