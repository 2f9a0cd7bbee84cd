// PlanWithRecomputation(): searches for sequences and placements of what they find take turns.
//
// An order whose peak fits needs nothing. Otherwise a first good sequence is placed early: where it has no
// offsets, the rest of the first search is made with less memory. Where the best sequence in the end has none,
// the search runs again with less memory still; with more, once it has some; and sequences without offsets are
// placed again in what time is left.
//
// Without a limit the searches end when a default effort is spent, which counts executions, not time:
// the answer is the same on every machine.

#include "berth/recompute.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/gap.h"
#include "base/text.h"
#include "base/try.h"
#include "base/wide.h"
#include "base/within_memory.h"
#include "graph/plan.h"
#include "recompute/entry.h"
#include "recompute/model.h"
#include "recompute/placing.h"
#include "recompute/search.h"
#include "recompute/sequence.h"

namespace berth {
namespace internal::recompute {
namespace {

// Of all the time that is left: the first search, each one with less memory, one without any plan yet, and
// each of at most kMostRoundsOn that go on from a plan.
constexpr double kShareOfFirst = 0.4;
constexpr double kShareOfOthers = 0.2;
constexpr double kShareWithoutPlan = 0.6;
constexpr double kShareOfOn = 0.25;
constexpr int kMostRoundsOn = 20;
// Less memory to search for, in ten-thousandths, where the best sequence has no addresses. From the least with
// which it has some, one part in kPartOfStep of the way to the most with which it has none at a time, until
// there are none or the two are as near as kNearest, or as one part in kNearestPart of the former: a
// search and its placements take as long where they fail, and half of the way they mostly do.
constexpr int kTighter[] = {25, 50, 100, 200, 300, 400, 700, 1000};
constexpr int kNearest = 5;
constexpr int kNearestPart = 4;
constexpr int kPartOfStep = 4;
// The same for the first search, where the first good sequence has none: at least, and at most.
constexpr int kLeastReduced = 50;
constexpr int kMostReduced = 200;

// Each once, where it stands last: the last one is searched first.
std::vector<Order> OrdersOf(const Graph& graph, const RecomputeOptions& options) {
  std::vector<Order> orders = options.orders;
  if (orders.empty()) orders.push_back(ProgramOrder(graph));
  if (options.fixed_order) orders.resize(1);
  for (auto at = orders.begin(); at != orders.end();) {
    at = std::find(at + 1, orders.end(), *at) != orders.end() ? orders.erase(at) : at + 1;
  }
  return orders;
}

class Planner {
 public:
  Planner(const Graph& graph, const RecomputeOptions& options, std::int64_t known_bound,
          Budget& budget)
      : graph_(graph),
        options_(options),
        budget_(budget),
        model_(Compile(graph, options.counting, options.link)),
        search_(model_, options, OrdersOf(graph, options), known_bound, budget),
        placer_(graph, model_, options, search_, budget, answer_) {}

  Result<PlanAnswer> Run() {
    const auto begin = Budget::Clock::now();
    const std::int64_t nodes_before = budget_.nodes_spent();
    answer_.capacity = options_.capacity;
    answer_.recomputes = true;
    answer_.spills = model_.linked;
    answer_.fixed_order = options_.fixed_order;
    answer_.least = {0, model_.always_live};
    for (Op v = 0; v < model_.num_operators(); ++v) {
      const Bytes need = model_.NeedOf(v);
      if (need > answer_.least.bytes) answer_.least = {v, need};
    }
    if (answer_.least.bytes <= options_.capacity) {
      placer_.Begin();
      std::optional<Result<void>> ended = WithinMemory([&] { return Search(); });
      if (ended) {
        BERTH_TRY(*std::move(ended));
      } else {
        out_of_memory_ = true;  // What is proved holds, and so do plans with addresses.
      }
    }
    Conclude();
    answer_.nodes = budget_.nodes_spent() - nodes_before;
    answer_.seconds = std::chrono::duration<double>(Budget::Clock::now() - begin).count();
    answer_.spilling = {answer_.outcome, answer_.stopped, "recompute",
                        answer_.nodes,   answer_.seconds, {}};
    AdmitUnsized(graph_, options_.counting, answer_);
    return std::move(answer_);
  }

 private:
  // A part of the time that is left, for a search.
  template <typename Run>
  void InPart(double share, Run run) {
    Budget part(budget_, share);
    run(part);
    out_of_budget_ = out_of_budget_ || part.Exhausted();
  }

  Result<void> Search() {
    BERTH_TRY(FindSequences());
    if (!search_.best() && !search_.infeasible() && placer_.MayGoOn()) {
      InPart(kShareWithoutPlan, [&](Budget& part) { search_.Improve(part); });
    }
    if (!search_.best() || placer_.HasPlanWithin(search_.Enough())) return {};
    if (!BERTH_TRY(placer_.PlaceBest())) return SearchWithLess();
    return less_ > 0 ? Approach(0, less_) : GoOn();
  }

  Result<void> FindSequences() {
    Budget part(budget_, kShareOfFirst);
    if (search_.FindFirst(part)) {
      if (!options_.fixed_order) BERTH_TRY(ReduceForPlacing(part));
      search_.FindMore(part);
    }
    out_of_budget_ = out_of_budget_ || part.Exhausted();
    if (less_ > 0 && !search_.best()) {  // With less memory nothing was found.
      search_.Restore(placer_.TakeKept());
      less_ = 0;
      first_is_far_ = false;
    }
    return {};
  }

  // Where there are no offsets for the first good sequence, the search goes on with as much less memory as
  // they exceed the capacity by: from there it is not far to the sequences that have some.
  Result<void> ReduceForPlacing(Budget& part) {
    if (!search_.best() || !options_.rules.exchange) return {};
    const std::optional<Bytes> excess = BERTH_TRY(placer_.Probe(LessBy(kMostReduced), part));
    if (!excess) return {};
    const Wide tenthousandths = Wide{*excess} * 10'000 / std::max<Bytes>(options_.capacity, 1);
    const int less =
        static_cast<int>(std::clamp<Wide>(tenthousandths, kLeastReduced, kMostReduced));
    if (CapacityWith(less) < answer_.least.bytes) return {};
    less_ = less;
    first_is_far_ = *excess > LessBy(kMostReduced);
    placer_.KeepForLater();
    search_.Reduce(CapacityWith(less), search_.best()->sequence, part);
    return {};
  }

  // The best sequence has no offsets: the least reduction with which there are some.
  Result<void> SearchWithLess() {
    int without = less_;
    int reached = 0;  // Without a plan: with so much less a sequence was found.
    std::uint64_t seed = options_.seed;
    for (const int less : kTighter) {
      if (budget_.Exhausted() || placer_.HasPlanWithin(search_.Enough())) return {};
      if (less <= without) continue;
      // Without a plan, four fifths of what the lowest offsets exceed the capacity by is the least to take
      // away further. Sequences for so much less are found sooner near those for a little less.
      const Wide further = Wide{placer_.LowestExcess()} * 8'000;
      if (!answer_.best && less < kTighter[std::size(kTighter) - 1] &&
          Wide{less - without} * options_.capacity < further) {
        if (!placer_.MayGoOn()) continue;
        if (!FindWithLess(less, ++seed, /*any=*/true)) break;
        reached = less;
        continue;
      }
      const std::optional<bool> placed = BERTH_TRY(PlaceWithLess(less, options_.seed));
      if (!placed) break;
      if (*placed) return Approach(without, less);
      without = less;
    }
    while (reached > without && !answer_.best && placer_.MayGoOn()) {
      const std::optional<bool> placed = BERTH_TRY(PlaceWithLess(reached, ++seed));
      if (placed && *placed) return Approach(without, reached);
    }
    return placer_.PlaceAgainAtLast();
  }

  // With a reduction of `with` there are offsets, with one of `without` there are none. Sequences without offsets
  // are tried again in turn, but not yet the first one if it is far from having some.
  Result<void> Approach(int without, int with) {
    bool again = !std::exchange(first_is_far_, false);
    while (with - without > std::max(kNearest, with / kNearestPart) && placer_.MayGoOn()) {
      if (again) BERTH_TRY(placer_.PlaceAgain());
      again = true;
      const int less = with - (with - without) / kPartOfStep;
      const std::optional<bool> placed = BERTH_TRY(PlaceWithLess(less, options_.seed));
      if (!placed || !*placed) break;
      with = less;
    }
    return placer_.PlaceAgainAtLast();
  }

  [[nodiscard]] Bytes LessBy(int less) const {
    return static_cast<Bytes>(Wide{options_.capacity} * less / 10'000);
  }
  [[nodiscard]] Bytes CapacityWith(int less) const { return options_.capacity - LessBy(less); }

  // With a capacity reduced by so many ten-thousandths: the best sequence that is found, or any. False if one
  // operator needs more, or if nothing is found.
  bool FindWithLess(int less, std::uint64_t seed, bool any) {
    const Bytes capacity = CapacityWith(less);
    if (capacity < answer_.least.bytes || budget_.Exhausted()) return false;
    if (search_.best()) start_ = search_.best()->sequence;
    const Sequence* const placed = placer_.placed() ? &*placer_.placed() : nullptr;
    InPart(kShareOfOthers,
           [&](Budget& part) { search_.FindWithLess(capacity, start_, placed, seed, any, part); });
    return search_.best().has_value();
  }
  Result<std::optional<bool>> PlaceWithLess(int less, std::uint64_t seed) {
    if (!FindWithLess(less, seed, /*any=*/false)) return std::nullopt;
    return BERTH_TRY(placer_.PlaceBest());
  }

  // The best sequence has its offsets: goes on while better ones have some, too.
  Result<void> GoOn() {
    for (int round = 0; round < kMostRoundsOn && placer_.MayGoOn(); ++round) {
      InPart(kShareOfOn, [&](Budget& part) { search_.Improve(part); });
      if (!BERTH_TRY(placer_.PlaceBest())) return SearchWithLess();
    }
    return {};
  }

  void Conclude() {
    answer_.height_bound = answer_.least.bytes;
    if (answer_.least.bytes > options_.capacity || search_.infeasible()) {
      answer_.best.reset();
      answer_.outcome = Outcome::kInfeasible;
      answer_.stopped = StopReason::kAnswered;
      return;
    }
    answer_.recompute_bound = search_.bound();
    if (answer_.best) {
      const auto valid = ValidatePlan(graph_, options_.counting, options_.capacity, *answer_.best,
                                      options_.link ? &*options_.link : nullptr);
      if (!valid) CheckFailed(valid.error().message.c_str(), __FILE__, __LINE__);
      const std::int64_t cost = answer_.best->overhead();
      answer_.recompute_bound = std::min(search_.bound(), cost);
      answer_.outcome = cost <= search_.bound() ? Outcome::kOptimal : Outcome::kFeasible;
    }
    if (answer_.outcome == Outcome::kOptimal) {
      answer_.stopped = StopReason::kAnswered;
    } else {
      const bool near = placer_.HasPlanWithin(search_.Enough());
      answer_.stopped = options_.gap > 0 && near                ? StopReason::kGap
                        : out_of_memory_                        ? StopReason::kSize
                        : out_of_budget_ || budget_.Exhausted() ? StopReason::kBudget
                        : search_.OutOfWork()                   ? StopReason::kEffort
                                                                : StopReason::kAlgorithm;
    }
  }

  const Graph& graph_;
  const RecomputeOptions& options_;
  Budget& budget_;
  const Model model_;
  PlanAnswer answer_;
  SequenceSearch search_;
  SequencePlacer placer_;
  int less_ = 0;               // The first search reduced the capacity by so many ten-thousandths.
  bool first_is_far_ = false;  // From having offsets: the first good sequence.
  Sequence start_;             // Of searches with less memory: the last that was found.
  bool out_of_budget_ = false;
  bool out_of_memory_ = false;
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
  BERTH_TRY(ValidateMostBytes(options.most_bytes));
  return Planner(graph, options, known_bound, budget).Run();
}

}  // namespace internal::recompute

Result<PlanAnswer> PlanWithRecomputation(const Graph& graph, const RecomputeOptions& options,
                                         Budget& budget) {
  BERTH_TRY(Validate(graph));
  return internal::recompute::PlanValid(graph, options, 0, budget);
}

}  // namespace berth
