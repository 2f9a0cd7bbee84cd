// Which algorithm is which rule, and which rules are worth trying together.

#include "place/greedy/greedy.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

#include "base/check.h"
#include "base/parallel.h"
#include "place/greedy/packer.h"
#include "place/greedy/shelves.h"

namespace berth::internal::greedy {
namespace {

Rule RuleOf(Algorithm algorithm) {
  switch (algorithm) {
    case Algorithm::kContention:
      return {Order::kContention, Selection::kLowestFirst, Fit::kSkyline};
    case Algorithm::kFirstFitSize:
      return {Order::kSize, Selection::kInOrder, Fit::kFirst};
    case Algorithm::kFirstFitArea:
      return {Order::kArea, Selection::kInOrder, Fit::kFirst};
    case Algorithm::kFirstFitLifetime:
      return {Order::kLifetime, Selection::kInOrder, Fit::kFirst};
    case Algorithm::kFirstFitStart:
      return {Order::kStart, Selection::kInOrder, Fit::kFirst};
    case Algorithm::kFirstFitLowest:
      return {Order::kSize, Selection::kLowestFirst, Fit::kFirst};
    case Algorithm::kBestFitSize:
      return {Order::kSize, Selection::kInOrder, Fit::kBest};
    case Algorithm::kBestFitArea:
      return {Order::kArea, Selection::kInOrder, Fit::kBest};
    case Algorithm::kBestFitLifetime:
      return {Order::kLifetime, Selection::kInOrder, Fit::kBest};
    case Algorithm::kBestFitStart:
      return {Order::kStart, Selection::kInOrder, Fit::kBest};
    case Algorithm::kBestFitLowest:
      return {Order::kLifetime, Selection::kLowestFirst, Fit::kFirst};
    case Algorithm::kXlaBestFit:
      return {Order::kSpatial, Selection::kInOrder, Fit::kBest};
    default:
      BERTH_CHECK(false && "not a rule of one greedy algorithm");
      return {};
  }
}

// One try of the portfolio. Rules that no public algorithm has go by the name of the portfolio.
struct Member {
  Rule rule;
  Algorithm algorithm;
  bool use_hints;
};

// What a lowest-first member may spend where plateaus do not serve: some 0.1 s. In-order members
// spend none and always give a plan. Members that would surely spend more are left out: a buffer is
// looked at about once for every ten that it meets, and once for each of its pieces.
constexpr std::int64_t kMaxLooks = 300000;
constexpr std::int64_t kMaxOverlaps = 10 * kMaxLooks;

// First fit costs 40 ms for 28,000 buffers and 0.4 s for 100,000, best fit five times that. Neither
// lowers the plans of large problems: lowest-first does, at 0.15 s for 100,000 buffers. Beyond that
// another order brings less than repairing the plan of the first one does in the same time.
constexpr std::size_t kMaxFirstFitBuffers = 65536;
constexpr std::size_t kMaxBestFitBuffers = 4096;

// In the order in which they lowered the mean height over all measured tables most, given those
// before (docs/algorithms/greedy.md has the table).
std::vector<Member> Members(const Instance& instance, bool use_hints) {
  std::vector<Member> members;
  const bool plain = PlateauPacker::CanPack(instance) && !use_hints;
  const bool cheap = plain || CountOverlaps(instance) /
                                      static_cast<std::int64_t>(instance.num_buffers() + 1) *
                                      static_cast<std::int64_t>(instance.pieces.size()) <=
                                  kMaxOverlaps;
  const auto lowest = [&](Order order, Algorithm algorithm) {
    if (!cheap || (!members.empty() && instance.num_buffers() > kMaxFirstFitBuffers)) return;
    members.push_back({{order, Selection::kLowestFirst, Fit::kFirst}, algorithm, use_hints});
  };
  const auto in_order = [&](Order order, Fit fit, Algorithm algorithm, std::size_t max_buffers) {
    if (instance.num_buffers() > max_buffers) return;
    members.push_back({{order, Selection::kInOrder, fit}, algorithm, use_hints});
  };
  const auto most_in_order = cheap ? kMaxFirstFitBuffers : std::numeric_limits<std::size_t>::max();
  lowest(Order::kContention, Algorithm::kContention);
  lowest(Order::kLoadLifetime, Algorithm::kGreedy);
  in_order(Order::kLoadLifetime, Fit::kFirst, Algorithm::kGreedy, kMaxFirstFitBuffers);
  lowest(Order::kLongArea, Algorithm::kGreedy);
  in_order(Order::kStart, Fit::kBest, Algorithm::kBestFitStart, kMaxBestFitBuffers);
  in_order(Order::kStart, Fit::kFirst, Algorithm::kFirstFitStart, kMaxFirstFitBuffers);
  lowest(Order::kLifetime, Algorithm::kBestFitLowest);
  lowest(Order::kLargeArea, Algorithm::kGreedy);
  lowest(Order::kArea, Algorithm::kGreedy);
  in_order(Order::kSize, Fit::kFirst, Algorithm::kFirstFitSize, most_in_order);
  return members;
}

// A first plan of a larger table may take longer than the time that is left.
constexpr std::size_t kMaxFirstPlanBuffers = 4096;
constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();

Packing PackingOf(const Instance& instance, std::vector<Bytes> offsets) {
  Packing packing{std::move(offsets), 0};
  for (const BufferIndex b : instance.buffers()) {
    packing.height = std::max(packing.height, packing.offsets[b.position()] + instance.size[b]);
  }
  return packing;
}

// A plan that is there long before the others of a large table with pins, gaps or hints, if it is
// worth having: time is limited, and it takes at most half of that.
std::optional<Packing> PackQuickly(const Instance& instance, const Budget& budget) {
  if (instance.num_buffers() <= kMaxFirstPlanBuffers || PlateauPacker::CanPack(instance)) return {};
  const double half = budget.seconds_left() / 2;
  if (!budget.has_time_limit() || half <= 0) return {};
  auto offsets =
      PlaceSolid(instance, [&] { return budget.TimeIsUp() || budget.seconds_left() < half; });
  if (!offsets) return {};
  return PackingOf(instance, std::move(*offsets));
}

}  // namespace

std::vector<Bytes> PlaceGreedy(const Instance& instance, Algorithm algorithm) {
  return *PlaceGreedy(instance, algorithm, nullptr);
}

std::optional<std::vector<Bytes>> PlaceGreedy(const Instance& instance, Algorithm algorithm,
                                              const std::function<bool()>& stop) {
  Packer packer(instance);
  auto packing = packer.Pack(RuleOf(algorithm), /*use_hints=*/true, kNoLimit, stop);
  if (!packing) return std::nullopt;
  if (!packer.has_hints()) return std::move(packing->offsets);
  auto without = packer.Pack(RuleOf(algorithm), /*use_hints=*/false, kNoLimit, stop);
  if (!without || packing->height <= without->height) return std::move(packing->offsets);
  return std::move(without->offsets);
}

std::optional<GreedyAnswer> PlaceGreedyPortfolio(const Problem& problem, const Instance& instance,
                                                 Bytes stop_at, int threads, const Budget& budget) {
  BERTH_CHECK(problem.buffers.size() == instance.num_buffers());
  // Hints may make a plan higher in the end: both ways are tried, and hints win a tie.
  std::vector<Member> members;
  const auto& hints = instance.hint.items();
  if (std::any_of(hints.begin(), hints.end(), [](Bytes hint) { return hint != kNone; })) {
    members = Members(instance, /*use_hints=*/true);
  }
  const std::vector<Member> without = Members(instance, /*use_hints=*/false);
  members.insert(members.end(), without.begin(), without.end());
  std::vector<std::optional<Packing>> packings(members.size());
  std::optional<Packing> quick = PackQuickly(instance, budget);
  if (quick && quick->height <= stop_at) {
    return GreedyAnswer{std::move(quick->offsets), quick->height};
  }
  // Repairing the quick plan may be worth more than the rest of the time.
  const double seconds_kept = quick ? budget.seconds_left() / 2 : 0;
  std::atomic<std::size_t> next{0};
  // There is a plan, or can be in no time.
  std::atomic<bool> planned{instance.num_buffers() > kMaxFirstPlanBuffers};
  const auto time_is_up = [&] {
    return budget.TimeIsUp() || (seconds_kept > 0 && budget.seconds_left() < seconds_kept);
  };
  std::atomic<std::size_t> stop{members.size()};  // The first member known to reach stop_at.
  // Members are taken in order and, unless time is up, finished, so all before `stop` are there in
  // the end, whatever the number of threads.
  const auto work = [&] {
    std::optional<Packer> packer;  // Takes its time in a large table.
    while (stop == members.size() && !(planned && time_is_up())) {
      const std::size_t i = next++;
      if (i >= members.size()) return;
      if (!packer) packer.emplace(instance);
      packings[i] = packer->Pack(members[i].rule, members[i].use_hints, kMaxLooks,
                                 [&] { return planned && time_is_up(); });
      if (!packings[i]) continue;
      planned = true;
      if (packings[i]->height > stop_at) continue;
      for (std::size_t known = stop; i < known && !stop.compare_exchange_weak(known, i);) {
      }
    }
  };
  RunOnThreads(threads, members.size(), work);

  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < std::min(stop.load() + 1, members.size()); ++i) {
    if (packings[i] && (!best || packings[i]->height < packings[*best]->height)) best = i;
  }
  if (!best || (quick && quick->height < packings[*best]->height)) {
    if (!quick && budget.cancelled() && instance.num_buffers() > kMostAfterCancel) {
      return std::nullopt;
    }
    if (!quick) quick = PackingOf(instance, PlaceOnShelves(instance));
    return GreedyAnswer{std::move(quick->offsets), quick->height};
  }
  return GreedyAnswer{std::move(packings[*best]->offsets), packings[*best]->height,
                      members[*best].algorithm};
}

}  // namespace berth::internal::greedy
