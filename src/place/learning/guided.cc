#include "place/learning/guided.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "base/check.h"
#include "base/numbers.h"
#include "base/random.h"
#include "place/learning/engine.h"

namespace berth::internal::learning {
namespace {

using Buffer = Engine::Buffer;

// Failures of the shortest run.
constexpr std::int64_t kRunFailures = 150;
// Runs alternate in groups of kSameSections: lowest sections only, then all sections.
constexpr std::int64_t kSameSections = 2;

// Combinations known before some are forgotten, at first and for each run.
constexpr std::int64_t kManyNogoods = 4000;
constexpr std::int64_t kMoreNogoods = 20;

// A failure adds an amount to the activity of the buffers in what was learned. The amount grows by
// one part in kIncrementGrowth each time, so that old failures fade.
constexpr std::uint64_t kFirstIncrement = std::uint64_t{1} << 16;
constexpr std::uint64_t kMostIncrement = std::uint64_t{1} << 40;
constexpr std::uint64_t kIncrementGrowth = 20;

// The order of buffers is Precedence() with a random factor of up to 1.1.
constexpr std::int64_t kNoise = 9011;

// Slack and activity of a section count for at least this much.
constexpr double kLeastSlack = 0.01;
constexpr double kLeastActivity = 0.1;

// Cores take a bit for each buffer in everything learned.
constexpr std::size_t kMostForCores = std::size_t{1} << 12;

constexpr Bytes kNoFloor = std::numeric_limits<Bytes>::max();

std::size_t At(std::int32_t index) { return static_cast<std::size_t>(index); }

class Run final : public Search {
 public:
  Run(const Instance& instance, const Overlaps& overlaps, const Options& options,
      std::uint64_t seed, ClauseLog* log);
  SearchAnswer Decide(const Question& question, Budget& budget) override;

 private:
  enum class RunEnd { kFound, kImpossible, kOutOfFailures, kOutOfBudget };

  RunEnd SearchOnce(std::int64_t node_limit, Budget& budget, SearchAnswer& answer);
  [[nodiscard]] bool Recover(std::int64_t& failures, SearchAnswer& answer);
  void StartRun();
  [[nodiscard]] Buffer Choose();
  void Bump(Buffer b);

  const Instance& instance_;
  const Options options_;
  Engine engine_;
  Random random_;
  ClauseLog* const log_;  // Null: nothing is logged.
  std::vector<std::int64_t> value_, noisy_value_;
  std::vector<std::uint64_t> activity_;
  std::uint64_t increment_ = kFirstIncrement;

  // By section; of the buffers that can still move.
  std::vector<Bytes> floor_, load_;
  std::vector<std::int32_t> choices_;
  std::vector<double> active_;
  std::vector<Buffer> movable_;

  Bytes capacity_ = -1;
  bool notes_cores_ = false;
  bool possible_ = true;
  std::int64_t run_ = 0;
};

Run::Run(const Instance& instance, const Overlaps& overlaps, const Options& options,
         std::uint64_t seed, ClauseLog* log)
    : instance_(instance),
      options_(options),
      engine_(instance, overlaps,
              EngineRules{options.section_load, options.identical_order, Grain(instance)}),
      random_(seed),
      log_(log),
      floor_(instance.num_sections()),
      load_(instance.num_sections()),
      choices_(instance.num_sections()),
      active_(instance.num_sections()) {
  for (const BufferIndex b : instance.buffers()) {
    std::int64_t width = 1;
    Bytes load = 1;
    for (const Piece& piece : instance.pieces_of(b)) {
      width += piece.last.value() - piece.first.value();
      for (SectionIndex s = piece.first; s < piece.last; ++s) {
        load = std::max(load, instance.section_load[s]);
      }
    }
    value_.push_back(Precedence(width, std::max<Bytes>(instance.size[b], 1), load));
  }
  noisy_value_ = value_;
  activity_.assign(value_.size(), 0);
  engine_.LogTo(log_);
}

SearchAnswer Run::Decide(const Question& question, Budget& budget) {
  SearchAnswer answer;
  const bool cores = question.wants_core && value_.size() <= kMostForCores;
  if (question.capacity != capacity_ || (cores && !notes_cores_)) {
    capacity_ = question.capacity;
    notes_cores_ = cores;
    possible_ = engine_.Start(capacity_, cores);
    run_ = 0;
    std::fill(activity_.begin(), activity_.end(), 0);
    increment_ = kFirstIncrement;
  }
  RunEnd end = possible_ ? RunEnd::kOutOfFailures : RunEnd::kImpossible;
  while (end == RunEnd::kOutOfFailures) {
    StartRun();
    end = SearchOnce(question.node_limit, budget, answer);
  }
  if (end == RunEnd::kFound) {
    answer.verdict = SearchAnswer::Verdict::kFound;
    for (const BufferIndex b : instance_.buffers()) {
      answer.offsets.push_back(engine_.lowest(b.value()));
    }
  } else if (end == RunEnd::kImpossible) {
    possible_ = false;
    engine_.LogEnd();
    answer.verdict = SearchAnswer::Verdict::kImpossible;
    if (cores) {
      for (const Buffer b : engine_.Core()) answer.core.push_back(At(b));
    }
  }
  return answer;
}

void Run::StartRun() {
  engine_.UndoTo(0);
  if (engine_.num_nogoods() > static_cast<std::size_t>(kManyNogoods + kMoreNogoods * run_)) {
    engine_.Forget();
  }
  for (std::size_t b = 0; b < value_.size(); ++b) {
    noisy_value_[b] = value_[b] + random_.Uniform(0, kNoise);
  }
  ++run_;
}

Run::RunEnd Run::SearchOnce(std::int64_t node_limit, Budget& budget, SearchAnswer& answer) {
  std::int64_t failures =
      options_.restarts ? kRunFailures * Luby(run_ - 1) : std::numeric_limits<std::int64_t>::max();
  while (failures > 0) {
    const Buffer b = Choose();
    if (b < 0) return RunEnd::kFound;
    if (answer.nodes >= node_limit || !budget.SpendNode() || (log_ != nullptr && log_->is_full())) {
      return RunEnd::kOutOfBudget;
    }
    ++answer.nodes;
    if (engine_.Place(b, engine_.lowest(b))) continue;
    if (!Recover(failures, answer)) return RunEnd::kImpossible;
  }
  return RunEnd::kOutOfFailures;
}

// Learns from a failure, and from those that follow from it. False: no plan exists.
bool Run::Recover(std::int64_t& failures, SearchAnswer& answer) {
  bool consistent = false;
  while (!consistent) {
    if (engine_.level() == 0) return false;
    ++answer.stats.failures;
    --failures;
    const std::int32_t from = engine_.level();
    consistent = engine_.Learn();
    ++(engine_.level() == from - 1 ? answer.stats.minor_backtracks : answer.stats.major_backtracks);
    for (const Atom& atom : engine_.learned()) {
      if (atom.kind == Atom::Kind::kAbove) {
        Bump(engine_.bottom(atom.id));
        Bump(engine_.top(atom.id));
      } else {
        Bump(atom.id);
      }
    }
    increment_ += increment_ / kIncrementGrowth;
    if (increment_ > kMostIncrement) {
      for (std::uint64_t& activity : activity_) activity /= kMostIncrement / kFirstIncrement;
      increment_ /= kMostIncrement / kFirstIncrement;
    }
  }
  return true;
}

void Run::Bump(Buffer b) {
  if (options_.weights) activity_[At(b)] += increment_;
}

// The buffer to place next, at its lowest position; -1: all are placed.
Buffer Run::Choose() {
  std::fill(floor_.begin(), floor_.end(), kNoFloor);
  std::fill(load_.begin(), load_.end(), 0);
  std::fill(active_.begin(), active_.end(), 0.0);
  movable_.clear();
  Bytes least = kNoFloor;
  for (const BufferIndex b : instance_.buffers()) {
    if (engine_.is_fixed(b.value())) continue;
    movable_.push_back(b.value());
    const Bytes low = engine_.lowest(b.value());
    const auto activity =
        static_cast<double>(activity_[b.position()]) / static_cast<double>(increment_);
    for (const Piece& piece : instance_.pieces_of(b)) {
      for (std::size_t s = piece.first.position(); s < piece.last.position(); ++s) {
        load_[s] += piece.upper - piece.lower;
        active_[s] += activity;
        if (low < floor_[s]) {
          floor_[s] = low;
          choices_[s] = 0;
        }
        if (low == floor_[s]) ++choices_[s];
      }
      least = std::min(least, low);
    }
  }
  if (movable_.empty()) return -1;
  const bool lowest_only = options_.lowest_first && run_ % (2 * kSameSections) < kSameSections;
  SectionIndex best;
  double best_score = 0;
  bool any = false;
  for (const SectionIndex s : instance_.sections()) {
    const std::size_t at = s.position();
    if (floor_[at] == kNoFloor || (lowest_only && floor_[at] != least)) continue;
    const auto slack = static_cast<double>(capacity_ - floor_[at] - load_[at]);
    const auto choices = static_cast<double>(choices_[at]);
    const double score = choices * choices * choices *
                         (slack / static_cast<double>(capacity_) + kLeastSlack) /
                         (active_[at] + kLeastActivity);
    if (any && score >= best_score) continue;
    any = true;
    best = s;
    best_score = score;
  }
  if (!any) return movable_.front();  // Never live.
  Buffer chosen = -1;
  for (const Buffer b : movable_) {
    if (engine_.lowest(b) != floor_[best.position()]) continue;
    if (chosen >= 0 && noisy_value_[At(b)] <= noisy_value_[At(chosen)]) continue;
    for (const Piece& piece : instance_.pieces_of(BufferIndex(b))) {
      if (piece.first <= best && best < piece.last) chosen = b;
    }
  }
  BERTH_DCHECK(chosen >= 0);
  return chosen;
}

}  // namespace

std::unique_ptr<Search> MakeSearch(const Instance& instance, const Overlaps& overlaps,
                                   const Options& options, std::uint64_t seed, ClauseLog* log) {
  return std::make_unique<Run>(instance, overlaps, options, seed, log);
}

}  // namespace berth::internal::learning
