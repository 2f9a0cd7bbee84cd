// recompute/placing.h -- offsets for the sequences that a search finds.
//
// Which sequences are tried, how their executions are moved so that the memory is full in fewer steps, and
// what is tried again.
#ifndef BERTH_RECOMPUTE_PLACING_H_
#define BERTH_RECOMPUTE_PLACING_H_

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "berth/answer.h"
#include "berth/budget.h"
#include "berth/graph.h"
#include "berth/problem.h"
#include "berth/recompute.h"
#include "berth/result.h"
#include "recompute/model.h"
#include "recompute/search.h"
#include "recompute/sequence.h"

namespace berth::internal::recompute {

// Plans become that of `answer`, if they have offsets within the capacity (or the options no placer) and cost
// less than the one that is there. Errors are the placer's.
class SequencePlacer {
 public:
  SequencePlacer(const Graph& graph, const Model& model, const RecomputeOptions& options,
                 SequenceSearch& search, Budget& budget, PlanAnswer& answer)
      : graph_(graph),
        model_(model),
        options_(options),
        search_(search),
        budget_(budget),
        answer_(answer),
        limited_(budget.has_time_limit()) {}

  // The cheapest of the plans to start from, where it has addresses.
  void Begin();

  // Tries the first good sequence in part of `part`. If it has no offsets, the bytes that the lowest ones
  // exceed the capacity by, if there are any. By more than `far` is not worth another try.
  Result<std::optional<Bytes>> Probe(Bytes far, Budget& part);
  // The best sequence, which has no offsets, is tried again later. The first one that was found serves in
  // place of a dearer one.
  void KeepForLater();
  // Both, if they were kept.
  [[nodiscard]] std::vector<Found> TakeKept();

  // Offsets for the best sequence, or for one that costs more. True if the plan of the answer then costs no
  // more than the best.
  Result<bool> PlaceBest();
  // In part of the time: a sequence that has no offsets and costs less than the plan, with its executions
  // moved differently. The one that was tried least often; of several the dearest, which has the most room.
  Result<void> PlaceAgain();
  // The same several times, as nothing else follows.
  Result<void> PlaceAgainAtLast();

  // What the lowest offsets for the best sequence exceed the capacity by; 0 if there are none.
  [[nodiscard]] Bytes LowestExcess() const;
  // The last that did not need a dearer plan, before its executions moved.
  [[nodiscard]] const std::optional<Sequence>& placed() const { return placed_; }
  [[nodiscard]] bool HasPlanWithin(std::int64_t cost) const {
    return answer_.best && answer_.best->overhead() <= cost;
  }
  // Time is left, and the plan is not as near to the bound as was asked for.
  [[nodiscard]] bool MayGoOn() {
    return limited_ && options_.rules.exchange && !HasPlanWithin(search_.Enough()) &&
           !budget_.Exhausted();
  }

 private:
  static constexpr std::int64_t kNodesOfAll = 4'000'000;  // Without a time limit.
  struct Unplaced {
    Found found;
    int tries = 0;  // To place it again.
  };

  [[nodiscard]] MemoryPlan MakePlan(const Sequence& sequence) const;
  Result<void> PlaceAgainIn(double share);
  Result<void> PlaceFound(std::vector<Found> found);
  Result<void> PlaceForFirst(const std::vector<Found>& found);
  Result<void> PlaceBetween(const std::vector<Found>& found, std::size_t without, Budget& budget);
  Result<bool> TryMoved(const Sequence& sequence, Budget& budget);
  Result<bool> TryNear(const Sequence& sequence);
  Result<bool> TryCalmed(Sequence sequence, std::uint64_t seed, Budget& budget);
  Result<bool> TryInPart(double share, const Sequence& sequence, std::int64_t nodes);
  Result<bool> Try(const Sequence& sequence, std::int64_t nodes, Budget& budget);
  [[nodiscard]] std::uint64_t NextSeed();
  Result<PlanAnswer> Place(const Problem& problem, std::int64_t nodes, Budget& budget);

  const Graph& graph_;
  const Model& model_;
  const RecomputeOptions& options_;
  SequenceSearch& search_;
  Budget& budget_;
  PlanAnswer& answer_;
  const bool limited_;
  std::int64_t nodes_left_ = kNodesOfAll;
  Bytes lowest_ = kMaxBytes;  // The height of the lowest offsets for the latest best sequence.
  Bytes height_ = kMaxBytes;  // Of the latest placement,
  std::int64_t nodes_ = 0;    // and what that took.
  bool near_ = false;   // The latest moved sequence has no offsets, but more time may find some.
  bool calms_ = false;  // Some sequence has had no offsets as it was.
  std::optional<Found> first_;
  std::optional<Sequence> placed_;
  std::vector<Unplaced> unplaced_;  // Those without offsets.
  std::uint64_t placed_again_ = 0;
};

}  // namespace berth::internal::recompute

#endif  // BERTH_RECOMPUTE_PLACING_H_
