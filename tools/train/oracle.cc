#include "tools/train/oracle.h"

#include <algorithm>
#include <utility>

#include "place/learning/guided.h"
#include "place/niche/niche.h"

namespace berth::internal {
namespace {

constexpr std::int64_t kNodesForOne = 10;  // Of the niche search for one of the guided one.
constexpr std::int64_t kFirstTurn = 500;   // Nodes; each turn is twice as long as the last.
constexpr std::int64_t kRootShare = 100;
constexpr std::size_t kMostPlans = 64;
constexpr std::uint64_t kSeed = 1;

}  // namespace

Oracle::Oracle(const Instance& instance, Bytes capacity, std::int64_t node_limit)
    : instance_(instance),
      own_pins_(instance.pin),
      overlaps_(FindOverlaps(instance)),
      capacity_(capacity),
      node_limit_(node_limit) {
  instance_.has_pins = true;
}

Solvable Oracle::Ask(std::span<const PathStep> placed) {
  ++stats_.asked;
  std::vector<Bytes> pins = own_pins_.items();
  for (const PathStep& step : placed) pins[static_cast<std::size_t>(step.block)] = step.offset;
  const auto agrees = [&](const std::vector<Bytes>& plan) {
    return std::all_of(placed.begin(), placed.end(), [&](const PathStep& step) {
      return plan[static_cast<std::size_t>(step.block)] == step.offset;
    });
  };
  if (std::any_of(plans_.begin(), plans_.end(), agrees)) {
    ++stats_.known;
    return Solvable::kYes;
  }
  const auto known = verdicts_.find(pins);
  Solvable verdict = Solvable::kUndecided;
  if (known != verdicts_.end()) {
    ++stats_.known;
    verdict = known->second;
  } else {
    verdict = Search(pins, placed.empty() ? kRootShare * node_limit_ : node_limit_);
    verdicts_.emplace(std::move(pins), verdict);
  }
  if (verdict == Solvable::kUndecided) ++stats_.undecided;
  return verdict;
}

Solvable Oracle::Search(const std::vector<Bytes>& pins, std::int64_t node_limit) {
  for (const BufferIndex b : instance_.buffers()) instance_.pin[b] = pins[b.position()];
  const auto guided = learning::MakeSearch(instance_, overlaps_, {}, kSeed);
  const auto niche = niche::MakeSearch(instance_, {}, kSeed);
  Budget budget;
  std::int64_t spent = 0;
  for (std::int64_t turn = std::min(kFirstTurn, node_limit); spent < node_limit; turn *= 2) {
    for (const bool prove : {true, false}) {
      SearchAnswer answer = prove ? guided->Decide({capacity_, turn / kNodesForOne}, budget)
                                  : niche->Decide({capacity_, turn}, budget);
      spent += prove ? answer.nodes * kNodesForOne : answer.nodes;
      stats_.nodes += answer.nodes;
      if (answer.verdict == SearchAnswer::Verdict::kImpossible) return Solvable::kNo;
      if (answer.verdict != SearchAnswer::Verdict::kFound) continue;
      if (plans_.size() < kMostPlans) {
        plans_.push_back(std::move(answer.offsets));
      } else {
        plans_[next_plan_++ % kMostPlans] = std::move(answer.offsets);
      }
      return Solvable::kYes;
    }
  }
  return Solvable::kUndecided;
}

Oracle::Target Oracle::DeepestSolvable(const MajorBacktrack& stuck) {
  const std::size_t base = stuck.path.size() - static_cast<std::size_t>(stuck.depth);
  std::size_t solvable = 0;  // So many of the points are known to be.
  std::size_t others = stuck.points.size() + 1;
  std::size_t unsolvable = others;
  while (solvable < others) {
    const std::size_t middle = solvable + (others - solvable) / 2;
    const std::int32_t level =
        middle < stuck.points.size() ? stuck.points[middle].level : stuck.depth;
    const auto placed = base + static_cast<std::size_t>(level);
    switch (Ask(stuck.path.first(placed))) {
      case Solvable::kYes:
        solvable = middle + 1;
        break;
      case Solvable::kNo:
        unsolvable = middle;
        others = middle;
        break;
      case Solvable::kUndecided:
        others = middle;
        break;
    }
  }
  if (solvable > 0) return {Solvable::kYes, solvable - 1, unsolvable};
  return {unsolvable == 0 ? Solvable::kNo : Solvable::kUndecided, 0, unsolvable};
}

}  // namespace berth::internal
