#include "recompute/placing.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "base/try.h"
#include "graph/plan.h"

namespace berth::internal::recompute {
namespace {

// Of a placement as it is, of one whose executions were moved for it (without a time limit, and with one),
// and of one among many that is better than the only one so far.
constexpr std::int64_t kNodesOfPlacing = 30'000;
constexpr std::int64_t kNodesOfPlacingCalmed = 60'000;
constexpr std::int64_t kMostNodesOfPlacing = 250'000;
constexpr std::int64_t kNodesOfPlacingBetween = 4'000;
// Of the time of the first search: to place its first good sequence, in so many attempts with a share of
// that each.
constexpr double kShareOfProbe = 0.6;
constexpr std::uint64_t kMostProbed = 2;
constexpr double kShareOfProbed = 0.55;
// Of all the time that is left: to place what a search has found, of that to place one sequence as it is or
// moved; one sequence more, if there is no plan yet; and what has failed once more, between searches and at
// last so many times.
constexpr double kShareOfAll = 0.4;
constexpr double kShareOfPlacing = 0.9;
constexpr double kShareOfFirst = 0.2;
constexpr double kShareOfAgain = 0.2;
constexpr double kShareAtLast = 0.5;
constexpr int kMostAtLast = 4;
// Sequences whose executions are moved for their addresses: tries for one, its part of the time for all,
// and the part of that for the moves.
constexpr std::uint64_t kMostCalmed = 2;
constexpr double kShareOfCalmed = 0.45;
constexpr double kShareOfCalming = 0.4;
// A placement of so many nodes is near if it exceeds the capacity by at most this part of it: with a plan, so
// many more tries, each with a share of all the time that is left.
constexpr std::int64_t kNodesOfNear = 100'000;
constexpr Bytes kPartOfNear = 64;
constexpr int kMostNear = 3;
constexpr double kShareOfNear = 0.45;
constexpr std::size_t kMostPlaced = 2;
// Once the budget has ended, the best sequence still gets a first placement.
constexpr std::int64_t kNodesThatMustBe = 1000;
constexpr std::size_t kManyBuffers = 4096;
constexpr double kSecondsThatMustBe = 0.05;

// Each residency of `plan` gets the offset of the one of `known` that it is part of.
bool TakeOffsets(const MemoryPlan& known, MemoryPlan& plan) {
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

}  // namespace

// Without addresses.
MemoryPlan SequencePlacer::MakePlan(const Sequence& sequence) const {
  MemoryPlan plan = PlanOf(model_, sequence);
  const Traffic compulsory = CompulsoryTraffic(graph_, options_.counting);
  plan.traffic.compulsory_in = compulsory.compulsory_in;
  plan.traffic.compulsory_out = compulsory.compulsory_out;
  StateUse(graph_, plan);
  return plan;
}

void SequencePlacer::Begin() {
  if (!model_.linked) return;
  for (const MemoryPlan& known : options_.plans) {
    const Sequence sequence = SequenceOf(model_, known);
    MemoryPlan plan = MakePlan(sequence);
    if (!Measurer(model_, options_.capacity).Of(sequence).fits()) continue;
    if (!known.addressed || known.height() > options_.capacity) continue;
    if (HasPlanWithin(plan.overhead())) continue;
    if (!TakeOffsets(known, plan)) continue;
    plan.addressed = true;
    StateUse(graph_, plan);
    answer_.best = std::move(plan);
  }
}

Result<std::optional<Bytes>> SequencePlacer::Probe(Bytes far, Budget& whole) {
  const Sequence sequence = search_.best()->sequence;
  Budget part(whole, kShareOfProbe);
  if (BERTH_TRY(Try(sequence, kNodesOfPlacing, part))) return std::nullopt;
  calms_ = true;
  for (std::uint64_t k = 0; k < kMostProbed && !part.Exhausted(); ++k) {
    if (k > 0 && LowestExcess() > far) break;
    Budget some(part, kShareOfProbed);
    if (BERTH_TRY(TryCalmed(sequence, options_.seed + k, some))) return std::nullopt;
  }
  if (lowest_ == kMaxBytes) return std::nullopt;
  const Bytes excess = LowestExcess();
  const std::vector<Found>& found = search_.found();
  if (excess <= far && found.size() > 1 && !part.Exhausted()) {  // The one before, for a plan.
    static_cast<void>(BERTH_TRY(TryCalmed(found[found.size() - 2].sequence, options_.seed, part)));
  }
  return excess;
}

void SequencePlacer::KeepForLater() {
  first_ = search_.found().front();
  unplaced_.push_back({*search_.best()});
}

std::vector<Found> SequencePlacer::TakeKept() {
  if (unplaced_.empty()) return {};
  std::vector<Found> kept = {*first_};
  if (unplaced_.front().found.cost < first_->cost) kept.push_back(unplaced_.front().found);
  unplaced_.clear();
  return kept;
}

Bytes SequencePlacer::LowestExcess() const {
  return lowest_ == kMaxBytes ? 0 : std::max<Bytes>(lowest_ - options_.capacity, 0);
}

Result<bool> SequencePlacer::PlaceBest() {
  lowest_ = kMaxBytes;
  Found best = *search_.best();
  BERTH_TRY(PlaceFound(search_.TakeFound()));
  if (HasPlanWithin(best.cost)) {
    placed_ = std::move(best.sequence);
    return true;
  }
  unplaced_.push_back({std::move(best)});
  return false;
}

Result<void> SequencePlacer::PlaceAgainAtLast() {
  for (int k = 0; k < kMostAtLast; ++k) BERTH_TRY(PlaceAgainIn(kShareAtLast));
  return {};
}

Result<void> SequencePlacer::PlaceAgain() { return PlaceAgainIn(kShareOfAgain); }

Result<void> SequencePlacer::PlaceAgainIn(double share) {
  if (!MayGoOn()) return {};
  std::erase_if(unplaced_, [&](const Unplaced& each) { return HasPlanWithin(each.found.cost); });
  if (unplaced_.empty()) return {};
  Unplaced& least = *std::min_element(
      unplaced_.begin(), unplaced_.end(), [](const Unplaced& a, const Unplaced& b) {
        return a.tries < b.tries || (a.tries == b.tries && a.found.cost > b.found.cost);
      });
  ++least.tries;
  Budget part(budget_, share);
  const Sequence& sequence = least.found.sequence;
  if (!BERTH_TRY(TryCalmed(sequence, NextSeed(), part))) {
    static_cast<void>(BERTH_TRY(TryNear(sequence)));
  }
  return {};
}

// Offsets for one of the sequences found, each cheaper than the one before, if it costs less than the plan.
// Tries the last two; dearer ones are easier to place.
Result<void> SequencePlacer::PlaceFound(std::vector<Found> found) {
  std::erase_if(found, [&](const Found& each) { return HasPlanWithin(each.cost); });
  if (found.empty()) return {};
  {
    Budget part(budget_, kShareOfAll);
    std::size_t without = found.size();  // From here on none has offsets.
    while (without > 0 && found.size() - without < kMostPlaced && !part.Exhausted()) {
      if (BERTH_TRY(TryMoved(found[without - 1].sequence, part))) return {};
      --without;
    }
    if (answer_.best) return PlaceBetween(found, without, part);
  }
  return PlaceForFirst(found);
}

// There is no plan yet, and the last of these has no offsets, or none in time. Whatever the budget: the first
// one has the most room.
Result<void> SequencePlacer::PlaceForFirst(const std::vector<Found>& found) {
  if (!BERTH_TRY(TryInPart(kShareOfFirst, found.front().sequence, kNodesOfPlacing))) {
    if (first_) {
      static_cast<void>(BERTH_TRY(TryInPart(kShareOfFirst, first_->sequence, kNodesOfPlacing)));
    }
    return {};
  }
  // It costs the most, too: one between it and those that have failed.
  for (std::size_t with = 0, failed = found.size() - 1;
       failed - with > 1 && !budget_.Exhausted();) {
    const std::size_t middle = with + (failed - with) / 2;
    const bool placed =
        BERTH_TRY(TryInPart(kShareOfFirst, found[middle].sequence, kNodesOfPlacingBetween));
    (placed ? with : failed) = middle;
  }
  return {};
}

// There is a plan that costs more than all that were found: one between it and those that have failed,
// from found[without] on.
Result<void> SequencePlacer::PlaceBetween(const std::vector<Found>& found, std::size_t without,
                                          Budget& budget) {
  if (!options_.rules.exchange) return {};
  for (std::size_t with = 0;
       with < without && !budget.Exhausted() && !HasPlanWithin(search_.Enough());) {
    const std::size_t middle = with + (without - with) / 2;
    Budget part(budget, kShareOfCalmed);
    if (BERTH_TRY(TryCalmed(found[middle].sequence, options_.seed, part))) {
      with = middle + 1;
    } else {
      without = middle;
    }
  }
  return {};
}

// As it is, or with its executions moved for it.
Result<bool> SequencePlacer::TryMoved(const Sequence& sequence, Budget& budget) {
  // Where one has no offsets as it is, no other one needs to be tried so.
  if (!calms_ || !options_.rules.exchange) {
    if (BERTH_TRY(Try(sequence, kNodesOfPlacing, budget))) return true;
    calms_ = true;
  }
  if (!options_.rules.exchange) return false;
  for (std::uint64_t k = 0; k < kMostCalmed && !budget.Exhausted(); ++k) {
    Budget part(budget, kShareOfCalmed);
    if (BERTH_TRY(TryCalmed(sequence, options_.seed + k, part))) return true;
    if (BERTH_TRY(TryNear(sequence))) return true;
  }
  return false;
}

// After a try that failed, if that was near: with other moves most such sequences have offsets, but they take
// some seconds.
Result<bool> SequencePlacer::TryNear(const Sequence& sequence) {
  for (int k = 0; k < kMostNear && near_ && answer_.best && !budget_.Exhausted(); ++k) {
    Budget part(budget_, kShareOfNear);
    if (BERTH_TRY(TryCalmed(sequence, NextSeed(), part))) return true;
  }
  return false;
}

Result<bool> SequencePlacer::TryCalmed(Sequence sequence, std::uint64_t seed, Budget& budget) {
  {
    Budget part(budget, kShareOfCalming);
    search_.Calm(sequence, seed, part);
  }
  nodes_ = 0;
  const bool placed =
      BERTH_TRY(Try(sequence, limited_ ? kMostNodesOfPlacing : kNodesOfPlacingCalmed, budget));
  near_ = !placed && nodes_ >= kNodesOfNear &&
          height_ <= options_.capacity + options_.capacity / kPartOfNear;
  return placed;
}

std::uint64_t SequencePlacer::NextSeed() { return options_.seed + kMostCalmed + placed_again_++; }

Result<bool> SequencePlacer::TryInPart(double share, const Sequence& sequence, std::int64_t nodes) {
  Budget part(budget_, share);
  return Try(sequence, nodes, part);
}

// True if the plan of the answer then costs no more than `sequence`.
Result<bool> SequencePlacer::Try(const Sequence& sequence, std::int64_t nodes, Budget& budget) {
  MemoryPlan plan = MakePlan(sequence);
  if (HasPlanWithin(plan.overhead())) return true;
  if (!options_.placer) {
    answer_.best = std::move(plan);
    return true;
  }
  Problem problem = ProblemOf(graph_, plan);
  problem.capacity = options_.capacity;
  const PlanAnswer placed = BERTH_TRY(Place(problem, nodes, budget));
  height_ = placed.best ? placed.best->height() : kMaxBytes;
  lowest_ = std::min(lowest_, height_);
  if (!placed.best || placed.best->height() > options_.capacity) return false;
  for (std::size_t i = 0; i < plan.residencies.size(); ++i) {
    plan.residencies[i].offset = placed.best->residencies[i].offset;
  }
  plan.addressed = true;
  StateUse(graph_, plan);
  answer_.placement_bound = placed.height_bound;
  answer_.placing = placed.placing;
  answer_.best = std::move(plan);
  return true;
}

Result<PlanAnswer> SequencePlacer::Place(const Problem& problem, std::int64_t nodes,
                                         Budget& budget) {
  if (budget.Exhausted()) {
    Budget none;
    none.SetNodeLimit(kNodesThatMustBe);
    if (problem.buffers.size() > kManyBuffers) none.SetTimeLimit(kSecondsThatMustBe);
    return options_.placer(problem, none);
  }
  Budget mine(budget, kShareOfPlacing);
  nodes = std::min(nodes, std::max(nodes_left_, kNodesThatMustBe));
  mine.SetNodeLimit(std::min(nodes, mine.node_limit()));
  auto placed = options_.placer(problem, mine);
  nodes_ = mine.nodes_spent();
  if (!limited_) nodes_left_ -= mine.nodes_spent();
  return placed;
}

}  // namespace berth::internal::recompute
