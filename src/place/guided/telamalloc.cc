#include "place/guided/telamalloc.h"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "base/check.h"
#include "place/guided/engine.h"
#include "place/guided/policy.h"

namespace berth::internal {
namespace {

using Block = Policy::Block;
using Strategy = GuidedOptions::Strategy;
using Way = GuidedOptions::Placement;

std::size_t At(std::int32_t index) { return static_cast<std::size_t>(index); }

}  // namespace

class TelaMallocSearch::Run {
 public:
  Run(const Instance& instance, const Overlaps& overlaps, const GuidedOptions& options)
      : instance_(instance),
        options_(options),
        engine_(instance, overlaps, EngineRules{options.section_load, false, 1}),
        policy_(instance, options),
        times_in_reason_(instance.num_buffers(), 0),
        level_of_(instance.num_buffers(), 0) {}

  SearchAnswer Search(Bytes capacity, std::int64_t node_limit, Budget& budget);

 private:
  enum class PartEnd { kPlaced, kExhausted, kOutOfBudget };

  // A decision point: what was tried there, and what failed.
  struct Point {
    std::vector<Block> tried;    // In the order of the candidates; the last one is placed.
    std::vector<Block> carried;  // Candidates from failures further on, the next one last.
    Policy::Cursor cursor;
    Policy::LowRank lowest;
    std::int32_t last_phase = -1;
    std::vector<std::int32_t> reason;    // Of the last failure: levels, increasing.
    std::int64_t times_target = 0;       // Of a major backtrack.
    std::int64_t backtracks_within = 0;  // Since the first of these.
  };

  PartEnd SolvePart(std::int64_t node_limit, Budget& budget);
  [[nodiscard]] Block NextCandidate(Point& point);
  [[nodiscard]] bool TryPlacing(Block block, Point& point);
  [[nodiscard]] bool GoBack();
  void CountBacktrack(std::size_t points);
  [[nodiscard]] std::size_t TargetOf(const Point& point);
  void Blame(Point& point, std::span<const std::int32_t> levels);
  [[nodiscard]] Point& Push(std::int32_t last_phase);

  const Instance& instance_;
  const GuidedOptions options_;
  Engine engine_;
  Policy policy_;

  std::int32_t base_ = 0;  // The level where the present part begins.
  // A stack; what lies above num_points_ is spare. Point k decides what is placed at level
  // base_ + k + 1.
  std::vector<Point> points_;
  std::size_t num_points_ = 0;
  std::vector<std::int64_t> times_in_reason_;
  std::vector<std::int32_t> level_of_;  // By placed block.
  std::vector<BacktrackPoint> targets_;
  std::int64_t nodes_ = 0;
  SearchStats stats_;
};

SearchAnswer TelaMallocSearch::Run::Search(Bytes capacity, std::int64_t node_limit,
                                           Budget& budget) {
  SearchAnswer answer;
  nodes_ = 0;
  stats_ = {};
  if (!engine_.Start(capacity)) {
    answer.verdict = SearchAnswer::Verdict::kImpossible;
    return answer;
  }
  policy_.Start(capacity);
  std::fill(times_in_reason_.begin(), times_in_reason_.end(), 0);
  answer.verdict = SearchAnswer::Verdict::kFound;
  for (std::int32_t part = 0; part < policy_.num_parts(); ++part) {
    policy_.BeginPart(part);
    base_ = engine_.level();
    const PartEnd end = SolvePart(node_limit, budget);
    if (end == PartEnd::kPlaced) continue;
    answer.verdict = end == PartEnd::kExhausted ? SearchAnswer::Verdict::kInconclusive
                                                : SearchAnswer::Verdict::kGaveUp;
    break;
  }
  if (answer.verdict == SearchAnswer::Verdict::kFound) {
    for (const BufferIndex b : instance_.buffers()) {
      answer.offsets.push_back(engine_.lowest(b.value()));
    }
  }
  answer.nodes = nodes_;
  answer.stats = stats_;
  return answer;
}

TelaMallocSearch::Run::Point& TelaMallocSearch::Run::Push(std::int32_t last_phase) {
  if (num_points_ == points_.size()) points_.emplace_back();
  Point& point = points_[num_points_++];
  point.tried.clear();
  point.carried.clear();
  point.cursor = {};
  point.lowest = {};
  point.last_phase = last_phase;
  point.reason.clear();
  point.times_target = 0;
  point.backtracks_within = 0;
  return point;
}

TelaMallocSearch::Run::PartEnd TelaMallocSearch::Run::SolvePart(std::int64_t node_limit,
                                                                Budget& budget) {
  num_points_ = 0;
  (void)Push(-1);
  while (policy_.num_unplaced() > 0) {
    Point& point = points_[num_points_ - 1];
    const Block block = NextCandidate(point);
    if (block == Policy::kNoBlock) {
      if (!GoBack()) return PartEnd::kExhausted;
      continue;
    }
    if (nodes_ >= node_limit || !budget.SpendNode()) return PartEnd::kOutOfBudget;
    ++nodes_;
    point.tried.push_back(block);
    if (!TryPlacing(block, point)) continue;
    policy_.Place(block);
    level_of_[At(block)] = engine_.level();
    (void)Push(policy_.phase_of(block));
  }
  return PartEnd::kPlaced;
}

Block TelaMallocSearch::Run::NextCandidate(Point& point) {
  const bool one_by_one = options_.strategy != Strategy::kCandidates;
  if (!one_by_one && point.tried.size() >= At(options_.most_candidates)) return Policy::kNoBlock;
  if (options_.strategy == Strategy::kLowest) return policy_.NextLowest(engine_, point.lowest);
  const auto is_new = [&](Block block) {
    return one_by_one ||
           std::find(point.tried.begin(), point.tried.end(), block) == point.tried.end();
  };
  while (!point.carried.empty()) {
    const Block block = point.carried.back();
    point.carried.pop_back();
    if (!policy_.is_placed(block) && is_new(block)) return block;
  }
  while (true) {
    const Block block = policy_.Next(point.cursor, point.last_phase);
    if (block == Policy::kNoBlock || is_new(block)) return block;
  }
}

// False: a minor backtrack.
bool TelaMallocSearch::Run::TryPlacing(Block block, Point& point) {
  Bytes offset = engine_.lowest(block);
  Engine::Rest rest{0, -1};
  if (options_.placement != Way::kLowest && !engine_.is_fixed(block)) {
    rest = engine_.Skyline(block);
    offset = options_.placement == Way::kSkyline ? rest.offset : std::max(offset, rest.offset);
  }
  if (engine_.Place(block, offset)) return true;
  ++stats_.failures;
  ++stats_.minor_backtracks;
  if (options_.strategy == Strategy::kCandidates) CountBacktrack(num_points_ - 1);
  point.reason.clear();
  Blame(point, engine_.Placements());
  engine_.UndoTo(engine_.level() - 1);
  // It lies so high because of what it fell on.
  if (rest.on >= 0 && policy_.is_placed(rest.on)) {
    const std::int32_t level = level_of_[At(rest.on)];
    Blame(point, {&level, 1});
  }
  return false;
}

// Adds to what the last failure at `point` is blamed on.
void TelaMallocSearch::Run::Blame(Point& point, std::span<const std::int32_t> levels) {
  const auto own = base_ + static_cast<std::int32_t>(&point - points_.data()) + 1;
  for (const std::int32_t level : levels) {
    if (level <= base_ || level >= own) continue;
    const auto at = std::lower_bound(point.reason.begin(), point.reason.end(), level);
    if (at == point.reason.end() || *at != level) point.reason.insert(at, level);
  }
}

// Which of the points before it, which is the last one, is next.
std::size_t TelaMallocSearch::Run::TargetOf(const Point& point) {
  const std::size_t before = num_points_ - 2;
  if (options_.strategy != Strategy::kCandidates || !options_.conflict_backtracking ||
      point.reason.empty()) {
    return before;
  }
  targets_.clear();
  for (const std::int32_t level : point.reason) {
    const Point& target = points_[At(level - base_ - 1)];
    const Block block = target.tried.back();
    const BufferIndex b(block);
    ++times_in_reason_[At(block)];
    targets_.push_back({level, block, instance_.size[b], instance_.end[b] - instance_.start[b],
                        policy_.contention(block), times_in_reason_[At(block)], target.times_target,
                        target.backtracks_within, policy_.phase_of(block) == point.last_phase});
  }
  const std::size_t chosen = ChooseTarget(targets_, stats_.major_backtracks);
  BERTH_DCHECK(chosen < targets_.size());
  return At(targets_[chosen].level - base_ - 1);
}

// A backtrack to or below the first `points` decision points.
void TelaMallocSearch::Run::CountBacktrack(std::size_t points) {
  for (Point& point : std::span(points_).first(points)) {
    if (point.times_target > 0) ++point.backtracks_within;
  }
}

// A major backtrack. False: there is nowhere to go.
bool TelaMallocSearch::Run::GoBack() {
  if (num_points_ == 1) return false;
  Point& stuck = points_[num_points_ - 1];
  std::size_t target = TargetOf(stuck);
  ++stats_.major_backtracks;
  if (options_.strategy == Strategy::kCandidates) {
    CountBacktrack(target + 1);
    for (std::size_t k = 0; k < target && options_.stuck_after > 0; ++k) {
      if (points_[k].backtracks_within > options_.stuck_after) target = k;
    }
    if (points_[target].backtracks_within > options_.stuck_after) {
      points_[target].backtracks_within = 0;
    }
  }
  Point& point = points_[target];
  ++point.times_target;
  if (options_.strategy == Strategy::kCandidates && options_.carry_candidates) {
    // The first of them comes first: it goes on top of the stack last.
    for (std::size_t k = stuck.tried.size(); k > 0; --k) {
      std::erase(point.carried, stuck.tried[k - 1]);
      point.carried.push_back(stuck.tried[k - 1]);
    }
    const std::size_t most = At(options_.most_candidates);
    if (point.carried.size() > most) {
      point.carried.erase(point.carried.begin(),
                          point.carried.end() - static_cast<std::ptrdiff_t>(most));
    }
  }
  point.reason.clear();
  Blame(point, stuck.reason);
  for (std::size_t k = num_points_ - 1; k > target; --k) policy_.Undo();
  engine_.UndoTo(base_ + static_cast<std::int32_t>(target));
  num_points_ = target + 1;
  return true;
}

TelaMallocSearch::TelaMallocSearch(const Instance& instance, const Overlaps& overlaps,
                                   const GuidedOptions& options)
    : run_(std::make_unique<Run>(instance, overlaps, options)) {}
TelaMallocSearch::~TelaMallocSearch() = default;

SearchAnswer TelaMallocSearch::Search(Bytes capacity, std::int64_t node_limit, Budget& budget) {
  return run_->Search(capacity, node_limit, budget);
}

}  // namespace berth::internal
