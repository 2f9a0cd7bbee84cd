#include "baselines/telamalloc/telamalloc.h"

#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/numbers.h"
#include "baselines/telamalloc/policy.h"
#include "place/learning/engine.h"

namespace berth::internal {
namespace {

using Block = Policy::Block;
using Strategy = TelaMallocOptions::Strategy;
using Way = TelaMallocOptions::Placement;
using Backtracking = TelaMallocOptions::Backtracking;

// Steps of the first turn of learned backtracking.
constexpr std::int64_t kFirstTurn = 20'000;
// Backtracks of the shortest run between two restarts.
constexpr std::int64_t kRunBacktracks = 1000;

std::size_t At(std::int32_t index) { return static_cast<std::size_t>(index); }

}  // namespace

class TelaMallocSearch::Run {
 public:
  Run(const Instance& instance, const Overlaps& overlaps, const TelaMallocOptions& options)
      : instance_(instance),
        options_(options),
        engine_(instance, overlaps, learning::EngineRules{options.section_load, false, 1}),
        policy_(instance, options),
        times_in_reason_(instance.num_buffers(), 0),
        level_of_(instance.num_buffers(), 0) {
    if (instance.num_buffers() == 0) return;
    const auto& starts = instance.start.items();
    const auto& ends = instance.end.items();
    time_ = *std::max_element(ends.begin(), ends.end()) -
            *std::min_element(starts.begin(), starts.end());
  }

  SearchAnswer Search(Bytes capacity, std::int64_t node_limit, Budget& budget, BacktrackRule* rule);
  // Asked at each decision point of the strategy kCandidates from now on; nullptr: nothing is.
  void SetSteps(StepRule* steps) {
    steps_ = options_.strategy == Strategy::kCandidates ? steps : nullptr;
  }
  SearchAnswer SearchLearned(Bytes capacity, std::int64_t node_limit, Budget& budget,
                             const Forest& forest, LearnedParameters parameters);
  // The rule of the options; only the strategy kCandidates has a choice.
  [[nodiscard]] Backtracking backtracking() const {
    return options_.strategy == Strategy::kCandidates ? options_.backtracking
                                                      : Backtracking::kPublished;
  }

 private:
  enum class PartEnd { kPlaced, kExhausted, kOutOfBudget };

  // A decision point: what was tried there, and what failed.
  struct Point {
    std::vector<Block> tried;     // In the order of the candidates; the last one is placed.
    std::vector<Block> carried;   // Candidates from failures further on, the next one last.
    std::vector<Block> proposed;  // What a step rule puts first, the next one last.
    bool asked = false;           // Whether it has.
    Policy::Cursor cursor;
    Policy::LowRank lowest;
    std::int32_t last_phase = -1;
    std::vector<std::int32_t> reason;    // Of the last failure: levels, increasing.
    std::int64_t times_target = 0;       // Of a major backtrack.
    std::int64_t backtracks_within = 0;  // Since the first of these, or since the point was stuck.
    std::int64_t majors_within = 0;      // Major backtracks to here or below.
    bool try_all = false;                // All blocks, lowest first, not candidates alone.
  };

  PartEnd SolvePart(std::int64_t node_limit, Budget& budget);
  [[nodiscard]] Block NextCandidate(Point& point);
  void AskSteps(Point& point);
  [[nodiscard]] bool TryPlacing(Block block, Point& point);
  [[nodiscard]] bool GoBack();
  void StartAgain(Random& random);
  [[nodiscard]] std::int64_t num_backtracks() const {
    return stats_.minor_backtracks + stats_.major_backtracks;
  }
  void LeaveTo(std::size_t target);
  void CountBacktrack(std::size_t points);
  [[nodiscard]] std::size_t ConflictTarget(const Point& point) const;
  [[nodiscard]] std::size_t LowestStuck(std::size_t target) const;
  [[nodiscard]] std::size_t AskRule(const Point& stuck, std::size_t published);
  void Blame(Point& point, std::span<const std::int32_t> levels);
  [[nodiscard]] Point& Push(std::int32_t last_phase);

  const Instance& instance_;
  const TelaMallocOptions options_;
  learning::Engine engine_;
  Policy policy_;

  std::int32_t base_ = 0;  // The level where the current part begins.
  // A stack; entries from num_points_ on are spare. Point k decides what is placed at level
  // base_ + k + 1.
  std::vector<Point> points_;
  std::size_t num_points_ = 0;
  std::vector<std::int64_t> times_in_reason_;
  std::vector<std::int32_t> level_of_;  // By placed block.
  BacktrackRule* rule_ = nullptr;
  StepRule* steps_ = nullptr;
  std::int32_t part_blocks_ = 0;
  std::vector<Proposal> proposals_;
  std::vector<std::size_t> ranking_;
  std::vector<PathStep> path_;
  bool lowest_first_ = false;  // This run's candidates are the blocks that can lie lowest.
  std::vector<std::int32_t> candidate_levels_;
  std::vector<BacktrackPoint> candidates_;
  Bytes capacity_ = 0;
  Step time_ = 0;
  std::int64_t nodes_ = 0;
  SearchStats stats_;
};

SearchAnswer TelaMallocSearch::Run::Search(Bytes capacity, std::int64_t node_limit, Budget& budget,
                                           BacktrackRule* rule) {
  SearchAnswer answer;
  rule_ = options_.strategy == Strategy::kCandidates ? rule : nullptr;
  capacity_ = capacity;
  path_.clear();
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
    if (end == PartEnd::kPlaced) {
      if (rule_ != nullptr) rule_->Placed(path_, engine_.level() - base_);
      continue;
    }
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

// The search is back at the root of the part.
void TelaMallocSearch::Run::StartAgain(Random& random) {
  num_points_ = 0;
  (void)Push(-1);
  lowest_first_ = random.Chance(0.5);
  policy_.DisturbLowest(random);
}

TelaMallocSearch::Run::Point& TelaMallocSearch::Run::Push(std::int32_t last_phase) {
  if (num_points_ == points_.size()) points_.emplace_back();
  Point& point = points_[num_points_++];
  point.tried.clear();
  point.carried.clear();
  point.proposed.clear();
  point.asked = false;
  point.cursor = {};
  point.lowest = {};
  point.last_phase = last_phase;
  point.reason.clear();
  point.times_target = 0;
  point.backtracks_within = 0;
  point.majors_within = 0;
  point.try_all = false;
  return point;
}

TelaMallocSearch::Run::PartEnd TelaMallocSearch::Run::SolvePart(std::int64_t node_limit,
                                                                Budget& budget) {
  num_points_ = 0;
  part_blocks_ = policy_.num_unplaced();
  lowest_first_ = false;
  (void)Push(-1);
  Random* const restarts = rule_ == nullptr ? nullptr : rule_->Restarts();
  std::int64_t run = 0;
  std::int64_t run_ends = num_backtracks() + kRunBacktracks;
  while (policy_.num_unplaced() > 0) {
    if (restarts != nullptr && num_backtracks() >= run_ends) {
      run_ends = num_backtracks() + kRunBacktracks * Luby(++run);
      LeaveTo(0);
      StartAgain(*restarts);
    }
    Point& point = points_[num_points_ - 1];
    const Block block = NextCandidate(point);
    if (block == Policy::kNoBlock) {
      if (GoBack()) continue;
      if (restarts == nullptr) return PartEnd::kExhausted;
      StartAgain(*restarts);
      continue;
    }
    if (nodes_ >= node_limit || !budget.SpendNode()) return PartEnd::kOutOfBudget;
    ++nodes_;
    point.tried.push_back(block);
    if (!TryPlacing(block, point)) continue;
    policy_.Place(block);
    level_of_[At(block)] = engine_.level();
    path_.push_back({block, engine_.lowest(block)});
    (void)Push(policy_.phase_of(block));
  }
  return PartEnd::kPlaced;
}

Block TelaMallocSearch::Run::NextCandidate(Point& point) {
  const bool one_by_one = options_.strategy != Strategy::kCandidates;
  if (!one_by_one && !point.try_all && point.tried.size() >= At(options_.most_candidates))
    return Policy::kNoBlock;
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
  if (steps_ != nullptr && !point.asked && !point.try_all && !lowest_first_) AskSteps(point);
  while (!point.proposed.empty()) {
    const Block block = point.proposed.back();
    point.proposed.pop_back();
    if (is_new(block)) return block;
  }
  while (true) {
    const Block block = point.try_all || lowest_first_
                            ? policy_.NextLowest(engine_, point.lowest)
                            : policy_.Next(point.cursor, point.last_phase);
    if (block == Policy::kNoBlock || is_new(block)) return block;
  }
}

// What the heuristics propose at a point that nothing has been proposed at, in the rule's order.
void TelaMallocSearch::Run::AskSteps(Point& point) {
  point.asked = true;
  const std::int32_t phase = policy_.PresentPhase(point.last_phase);
  if (phase < 0) return;
  proposals_.clear();
  const auto propose = [&](Block block, Heuristic heuristic) {
    const auto bit = static_cast<std::uint8_t>(1U << static_cast<unsigned>(heuristic));
    for (Proposal& proposal : proposals_) {
      if (proposal.block != block) continue;
      proposal.heuristics = static_cast<std::uint8_t>(proposal.heuristics | bit);
      return;
    }
    const BufferIndex b(block);
    proposals_.push_back({block, bit, instance_.size[b], instance_.end[b] - instance_.start[b],
                          policy_.contention(block), engine_.lowest(block), engine_.highest(block),
                          policy_.phase_of(block) == point.last_phase});
  };
  const std::array<Block, Policy::kOrders> first = policy_.FirstOf(phase);
  for (std::size_t k = 0; k < first.size(); ++k) propose(first[k], static_cast<Heuristic>(k));
  Policy::LowRank from;
  propose(policy_.NextLowest(engine_, from), Heuristic::kLowest);
  ranking_.clear();
  steps_->Rank({proposals_, path_, policy_.num_unplaced(), part_blocks_, capacity_, time_},
               ranking_);
  for (std::size_t k = ranking_.size(); k > 0; --k) {
    point.proposed.push_back(proposals_[ranking_[k - 1]].block);
  }
}

// False: a minor backtrack.
bool TelaMallocSearch::Run::TryPlacing(Block block, Point& point) {
  Bytes offset = engine_.lowest(block);
  learning::Engine::Rest rest{0, -1};
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
  // Its height is due to the block that it fell on.
  if (rest.on >= 0 && policy_.is_placed(rest.on)) {
    const std::int32_t level = level_of_[At(rest.on)];
    Blame(point, {&level, 1});
  }
  return false;
}

// Adds to the placements that the last failure at `point` is blamed on.
void TelaMallocSearch::Run::Blame(Point& point, std::span<const std::int32_t> levels) {
  const auto own = base_ + static_cast<std::int32_t>(&point - points_.data()) + 1;
  for (const std::int32_t level : levels) {
    if (level <= base_ || level >= own) continue;
    const auto at = std::lower_bound(point.reason.begin(), point.reason.end(), level);
    if (at == point.reason.end() || *at != level) point.reason.insert(at, level);
  }
}

// As published: where to go back to from `point`, which is the last one.
std::size_t TelaMallocSearch::Run::ConflictTarget(const Point& point) const {
  if (options_.strategy != Strategy::kCandidates || !options_.conflict_backtracking ||
      point.reason.empty()) {
    return num_points_ - 2;
  }
  return At(point.reason.back() - base_ - 1);
}

// The lowest point where the search is stuck once it has gone back to `target`, or `target`.
std::size_t TelaMallocSearch::Run::LowestStuck(std::size_t target) const {
  if (options_.strategy != Strategy::kCandidates || options_.stuck_after == 0) return target;
  for (std::size_t k = 0; k < target; ++k) {
    const std::int64_t count = points_[k].backtracks_within + (points_[k].times_target > 0 ? 1 : 0);
    if (count > options_.stuck_after) return k;
  }
  return target;
}

// A backtrack to or below the first `points` decision points.
void TelaMallocSearch::Run::CountBacktrack(std::size_t points) {
  for (Point& point : std::span(points_).first(points)) {
    if (point.times_target > 0) ++point.backtracks_within;
  }
}

// Where the rule goes back to, or BacktrackRule::kStay.
std::size_t TelaMallocSearch::Run::AskRule(const Point& stuck, std::size_t published) {
  const auto depth = static_cast<std::int32_t>(num_points_ - 1);
  candidate_levels_.clear();
  for (const std::int32_t level : stuck.reason) {
    candidate_levels_.push_back(level - base_ - 1);
    ++times_in_reason_[At(points_[At(candidate_levels_.back())].tried.back())];
  }
  AddTopsOfRanges(depth, candidate_levels_);
  const auto at = static_cast<std::int32_t>(published);
  const auto known = std::lower_bound(candidate_levels_.begin(), candidate_levels_.end(), at);
  const auto index = static_cast<std::size_t>(known - candidate_levels_.begin());
  if (known == candidate_levels_.end() || *known != at) candidate_levels_.insert(known, at);

  candidates_.clear();
  for (const std::int32_t level : candidate_levels_) {
    const Point& point = points_[At(level)];
    const Block block = point.tried.back();
    const BufferIndex b(block);
    candidates_.push_back(
        {level, block, instance_.size[b], instance_.end[b] - instance_.start[b],
         policy_.contention(block), times_in_reason_[At(block)], point.times_target,
         point.majors_within,
         std::binary_search(stuck.reason.begin(), stuck.reason.end(), level + base_ + 1),
         policy_.phase_of(block) == stuck.last_phase});
  }
  const std::size_t chosen =
      rule_->Choose({candidates_, index, path_, depth, num_backtracks(), capacity_, time_});
  if (chosen == BacktrackRule::kStay) return chosen;
  BERTH_DCHECK(chosen < candidates_.size());
  return At(candidates_[chosen].level);
}

// A major backtrack, or a minor one where the rule asks to stay. False: there is nowhere to go.
bool TelaMallocSearch::Run::GoBack() {
  if (num_points_ == 1) return false;
  Point& stuck = points_[num_points_ - 1];
  if (stuck.try_all) {
    // No unplaced block fits here.
    ++stats_.minor_backtracks;
    LeaveTo(num_points_ - 2);
    return true;
  }
  const std::size_t conflict = ConflictTarget(stuck);
  const std::size_t published = LowestStuck(conflict);
  std::size_t target = published;
  if (rule_ != nullptr) target = AskRule(stuck, published);
  if (target == BacktrackRule::kStay) {
    stuck.try_all = true;
    return true;
  }
  ++stats_.major_backtracks;
  if (options_.strategy == Strategy::kCandidates) {
    CountBacktrack((target == published ? conflict : target) + 1);
    for (std::size_t k = 0; k <= target; ++k) ++points_[k].majors_within;
    if (points_[target].backtracks_within > options_.stuck_after) {
      points_[target].backtracks_within = 0;
    }
  }
  Point& point = points_[target];
  ++point.times_target;
  if (options_.strategy == Strategy::kCandidates && options_.carry_candidates) {
    // Pushed in reverse, so that the first candidate is tried first.
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
  LeaveTo(target);
  return true;
}

// Undoes all placements from the decision point `target` on.
void TelaMallocSearch::Run::LeaveTo(std::size_t target) {
  Point& point = points_[target];
  const Point& left = points_[num_points_ - 1];
  point.reason.clear();
  Blame(point, left.reason);
  for (std::size_t k = num_points_ - 1; k > target; --k) policy_.Undo();
  engine_.UndoTo(base_ + static_cast<std::int32_t>(target));
  path_.resize(At(engine_.level()));
  num_points_ = target + 1;
}

SearchAnswer TelaMallocSearch::Run::SearchLearned(Bytes capacity, std::int64_t node_limit,
                                                  Budget& budget, const Forest& forest,
                                                  LearnedParameters parameters) {
  SearchAnswer answer;
  SearchAnswer sum;
  bool published_goes_on = true;
  for (std::int64_t turn = kFirstTurn, learned = 1; sum.nodes < node_limit; turn *= 2) {
    const bool is_learned = learned == 1 || !published_goes_on;
    learned = 1 - learned;
    if (is_learned) {
      LearnedBacktracking rule(forest, parameters);
      // Restarting with the same seed would repeat the same search.
      ++parameters.seed;
      answer = Search(capacity, std::min(turn, node_limit - sum.nodes), budget, &rule);
    } else {
      answer = Search(capacity, std::min(turn, node_limit - sum.nodes), budget, nullptr);
      published_goes_on = answer.verdict == SearchAnswer::Verdict::kGaveUp;
    }
    sum.nodes += answer.nodes;
    sum.stats.failures += answer.stats.failures;
    sum.stats.minor_backtracks += answer.stats.minor_backtracks;
    sum.stats.major_backtracks += answer.stats.major_backtracks;
    sum.verdict = answer.verdict;
    if (answer.verdict == SearchAnswer::Verdict::kFound ||
        answer.verdict == SearchAnswer::Verdict::kImpossible || budget.Exhausted()) {
      break;
    }
  }
  if (sum.verdict == SearchAnswer::Verdict::kFound) sum.offsets = std::move(answer.offsets);
  if (sum.verdict == SearchAnswer::Verdict::kInconclusive) {
    sum.verdict = SearchAnswer::Verdict::kGaveUp;
  }
  return sum;
}

TelaMallocSearch::TelaMallocSearch(const Instance& instance, const Overlaps& overlaps,
                                   const TelaMallocOptions& options, std::uint64_t seed)
    : run_(std::make_unique<Run>(instance, overlaps, options)),
      order_(options.order),
      seed_(seed) {}
TelaMallocSearch::~TelaMallocSearch() = default;

SearchAnswer TelaMallocSearch::Search(Bytes capacity, std::int64_t node_limit, Budget& budget,
                                      BacktrackRule* rule, StepRule* steps) {
  const std::unique_ptr<StepRule> own = MakeStepRule(order_, seed_);
  run_->SetSteps(steps != nullptr ? steps : own.get());
  LearnedParameters parameters;
  parameters.seed = seed_;
  if (rule == nullptr && run_->backtracking() == Backtracking::kLearned) {
    return run_->SearchLearned(capacity, node_limit, budget, ShippedForest(), parameters);
  }
  if (rule == nullptr && run_->backtracking() == Backtracking::kHighestScore) {
    LearnedBacktracking highest(ShippedForest(), HighestScore());
    return run_->Search(capacity, node_limit, budget, &highest);
  }
  return run_->Search(capacity, node_limit, budget, rule);
}

SearchAnswer TelaMallocSearch::SearchLearned(Bytes capacity, std::int64_t node_limit,
                                             Budget& budget, const Forest& forest,
                                             const LearnedParameters& parameters) {
  const std::unique_ptr<StepRule> own = MakeStepRule(order_, seed_);
  run_->SetSteps(own.get());
  return run_->SearchLearned(capacity, node_limit, budget, forest, parameters);
}

}  // namespace berth::internal
