#include "place/niche/niche.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "base/bits.h"
#include "base/numbers.h"
#include "base/random.h"
#include "base/truncate.h"
#include "place/niche/beam.h"
#include "place/niche/branching.h"
#include "place/niche/partial_plan.h"
#include "place/niche/transpositions.h"

namespace berth::internal::niche {
namespace {

// The shortest run, in nodes: the larger of kRunNodes and 1.8 for each buffer. Placing all of them takes
// one for each, and some for what does not fit.
constexpr std::int64_t kRunNodes = 120;
constexpr std::int64_t kRunNodesEachTenth = 18;

// Failed states that are remembered: at most kTableEntries, and fewer where their floors and bits would
// take more than kTableBytes. Beside these an entry is about 120 bytes.
constexpr std::size_t kTableEntries = 262'144;
constexpr std::size_t kTableBytes = std::size_t{64} << 20;

// A failure adds an amount to the weight of its section. The amount grows by one part in
// kWeightGrowth each time, so that old failures fade; amount and weights are scaled down before
// they exceed what a double holds exactly.
constexpr Weight kMostWeight = Weight{1} << 32;
constexpr Weight kWeightGrowth = 2000;

// Where sections can waste less than this share of the capacity on average, proofs matter more than
// plans: every kLongEvery-th run is as long as all earlier runs together.
constexpr double kFullSlack = 0.01;
constexpr std::int64_t kLongEvery = 2;

// Elsewhere the beam search takes turns with the runs. It joins in after kNodesBeforeBeam nodes of
// theirs, and has kBeamShare times the nodes that they have had since, kBeamNodes in each turn.
constexpr std::int64_t kNodesBeforeBeam = 15'000;
constexpr std::int64_t kBeamShare = 2;
constexpr std::int64_t kBeamNodes = 20'000;

// Every kCalmEvery-th run ignores the weights. A tight problem is solved where the conflicts are;
// but where there is slack everywhere, going back to the same place again and again wastes it
// elsewhere.
constexpr std::int64_t kCalmEvery = 3;

// Noise in the order of candidates, in units of 1/65536 of a logarithm to base 2: values are
// multiplied by a random factor between e^-0.1 and e^0.1; in the first run the exponent is halved.
constexpr std::int64_t kNoise = 9455;

// Levels in 32 bits where they fit, in 64 otherwise.
template <typename Level>
class Engine final : public Search {
 public:
  // All levels are multiples of `grain`; no plan that cannot be lowered is higher than `highest`.
  Engine(const Instance& instance, const Options& options, std::uint64_t seed, Bytes grain,
         Bytes highest, ProofLog* log);
  SearchAnswer Decide(const Question& question, Budget& budget) override;
  [[nodiscard]] bool is_full() const override { return is_full_; }

 private:
  using Plan = PartialPlan<Level>;

  enum class Below { kOpened, kFound, kFailed };
  enum class RunEnd { kFound, kImpossible, kOutOfNodes, kOutOfBudget };

  static constexpr std::size_t kNoConflict = static_cast<std::size_t>(-1);

  // One level of the path: what can lie on the floor of one section.
  struct Frame {
    SectionIndex section;
    SectionIndex first;  // Its part of the problem.
    SectionIndex last;
    Level next_level;  // To which the floor is given up.
    bool may_waste;
    bool wastes;           // That child has been tried, or is.
    LaneIndex child;       // The candidate being tried; kNoLane: the waste.
    std::size_t next;      // arena_: candidates
    std::size_t end;       // not yet tried.
    std::size_t arena;     // arena_ before this level.
    std::size_t conflict;  // conflicts_: of the children that failed; kNoConflict if none did.
    std::size_t steps;     // steps_ before this level.
    std::uint64_t hash;
  };

  void StartCapacity(Level capacity);
  [[nodiscard]] bool IsBeamsTurn() const;
  RunEnd RunBeam(std::int64_t node_limit, Budget& budget);
  RunEnd RunDepthFirst(std::int64_t node_limit, Budget& budget);
  void StartRun();
  RunEnd Run(std::int64_t node_limit, Budget& budget);
  [[nodiscard]] bool SpendNode(Budget& budget);
  [[nodiscard]] bool Backtrack(bool failed);
  [[nodiscard]] bool HasChild(Frame& frame);
  [[nodiscard]] SectionIndex EndOfPart(SectionIndex first) const;
  Below Enter();
  [[nodiscard]] bool IsKnownToFail(Frame& frame);
  [[nodiscard]] bool Choose(Frame& frame);
  Below Advance(Frame& frame);
  [[nodiscard]] bool Absorb(Frame& frame);
  void Conclude(Frame& frame);
  bool SkipLevel();
  void LogFailure();
  void LogBranch(const Frame& frame, Level level);
  void LogRoot();
  void Leave();
  [[nodiscard]] SectionSet& ConflictOf(Frame& frame);
  [[nodiscard]] typename Transpositions<Level>::State StateOf(const Frame& frame) const;
  Below Failed();
  void AddWeight(SectionIndex section);
  [[nodiscard]] std::vector<Bytes> OffsetsOf(const Plan& plan) const;

  const Instance& instance_;
  const Options options_;
  const Bytes grain_;
  const Bytes highest_;
  const std::uint64_t seed_;
  Plan plan_;
  Branching<Level> branching_;
  std::unique_ptr<Beam<Level>> beam_;  // Made when it is needed.
  Transpositions<Level> table_;
  Random random_;

  IndexedVector<ItemIndex, std::int64_t> value_;  // With noise.
  IndexedVector<ItemIndex, Level> wanted_;        // An offset to try first, or -1.
  IndexedVector<SectionIndex, Weight> weight_;
  std::uint64_t increment_ = kFirstWeight;

  std::vector<Frame> frames_;
  std::vector<LaneIndex> arena_;
  std::vector<SectionSet> conflicts_;  // A stack; the sets above num_conflicts_ are spare.
  std::size_t num_conflicts_ = 0;

  ProofLog* const log_;           // Null: nothing is logged.
  Reason reason_;                 // Why the last child failed, where that is logged.
  std::vector<ProofStep> steps_;  // A stack: the children of the path that failed.

  bool is_large_ = false;
  Level capacity_ = std::numeric_limits<Level>::min();  // None yet.
  bool fits_ = true;         // The root of this capacity is not impossible.
  bool incomplete_ = false;  // Something was left out at this capacity.
  std::int64_t run_ = 0;     // How many there were.
  bool is_full_ = false;     // Hardly any section may waste anything.
  bool uses_beam_ = false;
  std::int64_t run_nodes_ = 0;  // Depth first, at this capacity.
  bool is_calm_ = false;        // The present run.
  bool any_niche_ = false;
  std::int64_t nodes_ = 0;  // Of this call.
};

template <typename Level>
Engine<Level>::Engine(const Instance& instance, const Options& options, std::uint64_t seed,
                      Bytes grain, Bytes highest, ProofLog* log)
    : instance_(instance),
      options_(options),
      grain_(grain),
      highest_(highest),
      seed_(seed),
      plan_(instance, grain, options),
      branching_(instance, plan_, options),
      table_(options.transpositions
                 ? std::clamp<std::size_t>(
                       kTableBytes / (instance.num_sections() * (sizeof(Level) + 1) +
                                      instance.pieces.size() / 8 + 1),
                       16, kTableEntries)
                 : 1),
      random_(seed),
      value_(plan_.num_items()),
      wanted_(plan_.num_items()),
      weight_(plan_.num_sections(), kFirstWeight),
      log_(log),
      is_large_(instance.pieces.size() + instance.num_sections() > kLarge) {
  if (log_ == nullptr) return;
  std::vector<ProofLog::Lane> lanes;
  for (const LaneIndex k : plan_.lanes()) {
    lanes.push_back({plan_.buffer(plan_.item(k)).value(), plan_.first(k), plan_.last(k)});
  }
  log_->SetLanes(std::move(lanes), plan_.num_sections());
}

// The search goes on from nothing placed, with fresh noise.
template <typename Level>
void Engine<Level>::StartRun() {
  while (plan_.num_moves() > 0) plan_.Undo();
  frames_.clear();
  arena_.clear();
  steps_.clear();
  num_conflicts_ = 0;
  const auto turn = options_.portfolio ? static_cast<std::size_t>(run_) % kPortfolio.size() : 0;
  branching_.Prefer(kPortfolio[turn]);
  const std::int64_t noise = run_ == 0 ? kNoise / 2 : kNoise;
  for (const ItemIndex i : plan_.items()) {
    value_[i] = branching_.value(i) + random_.Uniform(-noise, noise);
    const BufferIndex b = plan_.buffer(i);
    const Bytes wanted = instance_.hint[b];
    wanted_[i] = wanted == kNone || wanted % grain_ != 0 || wanted / grain_ > capacity_
                     ? -1
                     : static_cast<Level>(wanted / grain_);
  }
  is_calm_ = options_.calm_runs && run_ > kCalmEvery && run_ % kCalmEvery == kCalmEvery - 1;
  any_niche_ = !options_.lowest_first || kPortfolio[turn].any_niche;
  ++run_;
}

template <typename Level>
void Engine<Level>::AddWeight(SectionIndex section) {
  if (!options_.conflict_weights) return;
  weight_[section] += increment_;
  increment_ += increment_ / kWeightGrowth;
  if (increment_ <= kMostWeight) return;
  // No weight may become 0: a section without weight would never be chosen again.
  increment_ >>= 16;
  for (Weight& weight : weight_) weight = std::max<Weight>(weight >> 16, 1);
}

template <typename Level>
auto Engine<Level>::StateOf(const Frame& frame) const -> typename Transpositions<Level>::State {
  return {frame.first,
          frame.last,
          plan_.starting(frame.first),
          plan_.starting(frame.last),
          plan_.floors().items(),
          plan_.placed_lanes()};
}

// Where the part of the problem that starts in section `first` ends. What was one part is so still, but
// perhaps where the last move took a buffer away.
template <typename Level>
SectionIndex Engine<Level>::EndOfPart(SectionIndex first) const {
  SectionIndex last = first.next();
  if (!frames_.empty() && first < frames_.back().last) {
    const Frame& parent = frames_.back();
    if (parent.child == kNoLane) return parent.last;
    const ItemIndex placed = plan_.item(parent.child);
    last = std::max(last, plan_.first_of(placed).next());
    while (last < plan_.last_of(placed) && plan_.joined(last.previous())) ++last;
    if (last >= plan_.last_of(placed)) return parent.last;
    return last;
  }
  while (plan_.joined(last.previous())) ++last;
  return last;
}

// Opens a level for the first part of the problem that is not done.
template <typename Level>
auto Engine<Level>::Enter() -> Below {
  Frame frame{};
  if (!frames_.empty()) frame.first = frames_.back().first;
  const SectionIndex end = plan_.end_section();
  while (frame.first < end && plan_.unplaced(frame.first) == 0) ++frame.first;
  if (frame.first == end) return Below::kFound;
  frame.last = EndOfPart(frame.first);
  if (options_.transpositions && IsKnownToFail(frame)) return Below::kFailed;
  if (!Choose(frame)) {
    incomplete_ = true;
    plan_.conflict().Clear();
    for (const SectionIndex s : IndexRange(frame.first, frame.last)) plan_.conflict().Add(s);
    return Below::kFailed;
  }
  frame.may_waste = !options_.waste_budget || plan_.budget(frame.section) > 0;
  frame.child = kNoLane;
  frame.conflict = kNoConflict;
  frame.steps = steps_.size();
  frames_.push_back(frame);
  return Below::kOpened;
}

// Looks the state of a new level up. If it has failed before, conflict() becomes the reason.
template <typename Level>
bool Engine<Level>::IsKnownToFail(Frame& frame) {
  const auto state = StateOf(frame);
  frame.hash = table_.Hash(state, plan_.HashOfFloors(frame.first, frame.last));
  const auto* const known = table_.Find(state, frame.hash);
  if (known == nullptr) return false;
  if (log_ != nullptr) {
    reason_ = {Reason::Kind::kLemma, Reason::Origin::kRemembered, 0, known->lemma};
  }
  // The same floors, but perhaps for other reasons.
  SectionSet& conflict = plan_.conflict();
  conflict = known->conflict;
  for (const SectionIndex s : IndexRange(frame.first, frame.last)) {
    if (known->conflict.Has(s) && plan_.floor(s) > plan_.ground(s)) {
      plan_.Explain(s, plan_.floor(s), conflict);
    }
  }
  return true;
}

// Picks the section to branch on, and lists its candidates, best first. False if there is none that
// is sure to leave nothing out.
template <typename Level>
bool Engine<Level>::Choose(Frame& frame) {
  const auto* const weights = is_calm_ ? nullptr : &weight_;
  if (!branching_.Choose(frame.first, frame.last, any_niche_, weights)) return false;
  frame.section = branching_.section();
  frame.arena = frame.next = arena_.size();
  const std::span<const LaneIndex> candidates = branching_.candidates();
  arena_.insert(arena_.end(), candidates.begin(), candidates.end());
  frame.end = arena_.size();
  const auto value = [&](LaneIndex lane) {
    const ItemIndex i = plan_.item(lane);
    return std::pair(wanted_[i] == plan_.lowest_offset(lane), value_[i] + branching_.Fit(lane));
  };
  std::sort(arena_.begin() + static_cast<std::ptrdiff_t>(frame.next), arena_.end(),
            [&](LaneIndex a, LaneIndex b) {
              const auto value_a = value(a);
              const auto value_b = value(b);
              return value_a != value_b ? value_a > value_b : a < b;
            });
  return true;
}

template <typename Level>
SectionSet& Engine<Level>::ConflictOf(Frame& frame) {
  if (frame.conflict == kNoConflict) {
    // Deeper levels have left the stack.
    frame.conflict = num_conflicts_++;
    if (frame.conflict == conflicts_.size()) {
      conflicts_.emplace_back(plan_.num_sections());
    }
    conflicts_[frame.conflict].Clear();
  }
  return conflicts_[frame.conflict];
}

// The level is left for the reason of its child.
template <typename Level>
bool Engine<Level>::SkipLevel() {
  if (log_ != nullptr && reason_.origin == Reason::Origin::kBelow) {
    reason_.origin = Reason::Origin::kSkipped;
  }
  return false;
}

// The child of `frame` failed because of conflict(), and is undone. False if the frame fails for
// the same reason, whatever else it might try.
template <typename Level>
bool Engine<Level>::Absorb(Frame& frame) {
  const SectionSet& conflict = plan_.conflict();
  if (frame.child == kNoLane) {
    if (options_.backjumping && !conflict.Has(frame.section)) return SkipLevel();
    ConflictOf(frame).Add(conflict);
    if (log_ != nullptr) steps_.push_back({-1, std::move(reason_)});
    return true;
  }
  const auto pieces = plan_.lanes_of(plan_.item(frame.child));
  const bool involved = std::any_of(pieces.begin(), pieces.end(), [&](LaneIndex piece) {
    return conflict.Meets(plan_.first(piece), plan_.last(piece));
  });
  if (options_.backjumping && !involved) return SkipLevel();
  if (log_ != nullptr) {
    steps_.push_back({plan_.buffer(plan_.item(frame.child)).value(), std::move(reason_)});
  }
  SectionSet& all = ConflictOf(frame);
  all.Add(conflict);
  // The child's ground is where it is because nothing can lie below the child.
  for (const LaneIndex piece : pieces) {
    const Level bottom = plan_.lowest(piece);
    for (SectionIndex s = plan_.first(piece); s < plan_.last(piece); ++s) {
      if (conflict.Has(s) && plan_.ground(s) < bottom) plan_.Explain(s, bottom, all);
    }
  }
  return true;
}

// All children of `frame` failed: conflict() becomes the reason why the frame does.
template <typename Level>
void Engine<Level>::Conclude(Frame& frame) {
  SectionSet& all = ConflictOf(frame);
  const SectionIndex s = frame.section;
  all.Add(s);
  // Nothing lies between the floor and this level, where the section is given up or too high.
  const Level level = frame.wastes ? frame.next_level : capacity_ - plan_.unplaced(s) + 1;
  plan_.ExplainNextLevel(s, level, all);
  if (plan_.floor(s) > plan_.ground(s)) plan_.Explain(s, plan_.floor(s), all);
  plan_.conflict() = all;
  if (log_ != nullptr) LogBranch(frame, level);
  // What fails in a later part of the problem says nothing about this one.
  const bool is_own = !all.Meets({}, frame.first) && !all.Meets(frame.last, plan_.end_section());
  if (options_.transpositions && is_own) {
    table_.Store(StateOf(frame), frame.hash, all, reason_.lemma);
  }
}

// Why the last move failed.
template <typename Level>
void Engine<Level>::LogFailure() {
  const LaneIndex lane = plan_.failed_lane();
  if (lane == kNoLane) {
    reason_ = {Reason::Kind::kLoad, Reason::Origin::kBelow, plan_.failed_in().value(), nullptr};
  } else {
    reason_ = {Reason::Kind::kHigh, Reason::Origin::kBelow, plan_.buffer(plan_.item(lane)).value(),
               nullptr};
  }
}

// All children of `frame` failed, and conflict() says where: what was not on its floor lay at
// `level` or higher.
template <typename Level>
void Engine<Level>::LogBranch(const Frame& frame, Level level) {
  if (!frame.wastes) {
    steps_.push_back(
        {-1, {Reason::Kind::kLoad, Reason::Origin::kBelow, frame.section.value(), nullptr}});
  }
  auto lemma = std::make_shared<Lemma>();
  lemma->section = frame.section;
  lemma->level = Bytes{level} * grain_;
  const SectionSet& conflict = plan_.conflict();
  const std::span<const Word> placed = plan_.placed_lanes();
  const std::size_t section_words = WordsFor(plan_.num_sections());
  std::size_t grounds = 0;
  for (std::size_t w = 0; w < section_words; ++w) {
    grounds += static_cast<std::size_t>(std::popcount(conflict.word(w)));
  }
  std::vector<Word>& words = lemma->words;
  words.reserve(section_words + placed.size() + grounds);
  for (std::size_t w = 0; w < section_words; ++w) words.push_back(conflict.word(w));
  words.insert(words.end(), placed.begin(), placed.end());
  ForEachBit(words.data(), section_words, [&](std::size_t s) {
    words.push_back(static_cast<Word>(Bytes{plan_.ground(SectionIndex(s))} * grain_));
  });
  reason_ = {Reason::Kind::kLemma, Reason::Origin::kBelow, 0,
             log_->Add(std::move(lemma), std::span(steps_).subspan(frame.steps))};
}

// Why nothing fits before anything is placed.
template <typename Level>
void Engine<Level>::LogRoot() {
  for (const BufferIndex b : instance_.buffers()) {
    if (std::max<Bytes>(instance_.pin[b], 0) + instance_.size[b] > Bytes{capacity_} * grain_) {
      return log_->Conclude({Reason::Kind::kHigh, Reason::Origin::kBelow, b.value(), nullptr});
    }
  }
  for (const LaneIndex k : plan_.lanes()) {
    const ItemIndex i = plan_.item(k);
    if (plan_.lowest_offset(k) + plan_.size(i) <= capacity_) continue;
    return log_->Conclude(
        {Reason::Kind::kHigh, Reason::Origin::kBelow, plan_.buffer(i).value(), nullptr});
  }
  LogFailure();
  log_->Conclude(reason_);
}

// Closes the last level.
template <typename Level>
void Engine<Level>::Leave() {
  const Frame& frame = frames_.back();
  Truncate(arena_, frame.arena);
  Truncate(steps_, frame.steps);
  if (frame.conflict != kNoConflict) num_conflicts_ = frame.conflict;
  frames_.pop_back();
}

template <typename Level>
auto Engine<Level>::Failed() -> Below {
  AddWeight(plan_.failed_in());
  if (log_ != nullptr) LogFailure();
  return Below::kFailed;
}

// Tries the next child of `frame`, the last level, which has one.
template <typename Level>
auto Engine<Level>::Advance(Frame& frame) -> Below {
  if (frame.next < frame.end) {
    frame.child = arena_[frame.next++];
    return plan_.Place(frame.child) ? Enter() : Failed();
  }
  frame.wastes = true;
  frame.child = kNoLane;
  return plan_.Waste(frame.section, frame.next_level) ? Enter() : Failed();
}

// One run of the search, depth first.
template <typename Level>
auto Engine<Level>::Run(std::int64_t node_limit, Budget& budget) -> RunEnd {
  const std::int64_t last_node = nodes_ + node_limit;
  Below below = Enter();
  while (below != Below::kFound) {
    if (!Backtrack(below == Below::kFailed)) return RunEnd::kImpossible;
    if (nodes_ >= last_node) return RunEnd::kOutOfNodes;
    if (!SpendNode(budget)) return RunEnd::kOutOfBudget;
    below = Advance(frames_.back());
  }
  return RunEnd::kFound;
}

template <typename Level>
bool Engine<Level>::SpendNode(Budget& budget) {
  // Nodes of large problems take so long that waiting for the budget's next look at the clock would
  // overrun it.
  if (!budget.SpendNode() || (is_large_ && budget.TimeIsUp())) return false;
  if (log_ != nullptr && log_->is_full()) return false;
  ++nodes_;
  return true;
}

// Leaves levels until the last one has something left to try. `failed`: its child has. False if no
// level has anything left.
template <typename Level>
bool Engine<Level>::Backtrack(bool failed) {
  while (!frames_.empty()) {
    Frame& frame = frames_.back();
    if (failed) {
      plan_.Undo();
      if (!Absorb(frame)) {
        Leave();
        continue;
      }
    }
    if (HasChild(frame)) return true;
    Conclude(frame);
    Leave();
    failed = true;
  }
  return false;
}

// Whether `frame` has something left to try: candidates, or after them the waste, at a level that
// this finds.
template <typename Level>
bool Engine<Level>::HasChild(Frame& frame) {
  if (frame.next < frame.end) return true;
  if (!frame.may_waste || frame.wastes) return false;
  frame.next_level = plan_.NextLevel(frame.section);
  return frame.next_level <= capacity_ - plan_.unplaced(frame.section);
}

template <typename Level>
void Engine<Level>::StartCapacity(Level capacity) {
  capacity_ = capacity;
  incomplete_ = false;
  table_.Clear();
  fits_ = plan_.Reset(capacity);
  // A buffer that is live nowhere has to lie below the capacity too.
  for (const BufferIndex b : instance_.buffers()) {
    fits_ &= std::max<Bytes>(instance_.pin[b], 0) + instance_.size[b] <= Bytes{capacity} * grain_;
  }
  double slack = 0;
  for (const SectionIndex s : plan_.sections()) slack += static_cast<double>(plan_.budget(s));
  const auto sections = static_cast<double>(plan_.num_sections());
  is_full_ = slack < kFullSlack * static_cast<double>(capacity) * sections;
  uses_beam_ = options_.beam && options_.waste_budget && !is_full_ && !plan_.has_windows();
  run_nodes_ = 0;
  beam_.reset();
}

template <typename Level>
bool Engine<Level>::IsBeamsTurn() const {
  const std::int64_t beam_nodes = beam_ == nullptr ? 0 : beam_->nodes();
  return uses_beam_ && beam_nodes < kBeamShare * (run_nodes_ - kNodesBeforeBeam);
}

template <typename Level>
auto Engine<Level>::RunBeam(std::int64_t node_limit, Budget& budget) -> RunEnd {
  if (beam_ == nullptr) {
    beam_ = std::make_unique<Beam<Level>>(instance_, grain_, options_, seed_);
    beam_->Start(capacity_);
  }
  const std::int64_t before = beam_->nodes();
  const auto end = beam_->Run(std::min(node_limit, kBeamNodes), budget);
  nodes_ += beam_->nodes() - before;
  switch (end) {
    case Beam<Level>::End::kFound:
      return RunEnd::kFound;
    case Beam<Level>::End::kOutOfBudget:
      return RunEnd::kOutOfBudget;
    case Beam<Level>::End::kNothingToTry:
      uses_beam_ = false;
      break;
    case Beam<Level>::End::kOutOfNodes:
      break;
  }
  return RunEnd::kOutOfNodes;
}

template <typename Level>
auto Engine<Level>::RunDepthFirst(std::int64_t node_limit, Budget& budget) -> RunEnd {
  StartRun();
  if (options_.restarts) {
    const auto each = kRunNodesEachTenth * static_cast<std::int64_t>(plan_.num_items()) / 10;
    std::int64_t length = Luby(run_ - 1) * std::max(kRunNodes, each);
    if (is_full_ && run_ % kLongEvery == 0) length = std::max(length, run_nodes_);
    node_limit = std::min(node_limit, length);
  }
  const std::int64_t before = nodes_;
  const RunEnd end = Run(node_limit, budget);
  run_nodes_ += nodes_ - before;
  return end;
}

// The offsets of a complete plan. Buffers that are live nowhere can stay where they are.
template <typename Level>
std::vector<Bytes> Engine<Level>::OffsetsOf(const Plan& plan) const {
  std::vector<Bytes> offsets(instance_.num_buffers(), 0);
  for (const BufferIndex b : instance_.buffers()) {
    if (instance_.pin[b] != kNone) offsets[b.position()] = instance_.pin[b];
  }
  for (const ItemIndex i : plan.items()) {
    offsets[plan.buffer(i).position()] = Bytes{plan.offset(i)} * grain_;
  }
  return offsets;
}

template <typename Level>
SearchAnswer Engine<Level>::Decide(const Question& question, Budget& budget) {
  using enum SearchAnswer::Verdict;
  SearchAnswer answer;
  nodes_ = 0;
  const Bytes capacity = std::min(question.capacity, highest_);
  if (const auto levels = static_cast<Level>(capacity / grain_); levels != capacity_) {
    StartCapacity(levels);
  }
  if (!fits_) {
    if (log_ != nullptr) LogRoot();
    answer.verdict = kImpossible;
    return answer;
  }
  while (answer.verdict == kGaveUp && nodes_ < question.node_limit) {
    const bool is_beam = IsBeamsTurn();
    const std::int64_t left = question.node_limit - nodes_;
    const RunEnd end = is_beam ? RunBeam(left, budget) : RunDepthFirst(left, budget);
    if (end == RunEnd::kOutOfBudget) break;
    if (end == RunEnd::kFound) {
      answer.verdict = kFound;
      answer.offsets = OffsetsOf(is_beam ? beam_->plan() : plan_);
    } else if (end == RunEnd::kImpossible) {
      answer.verdict = incomplete_ ? kInconclusive : kImpossible;
      if (log_ != nullptr && !incomplete_) log_->Conclude(reason_);
    }
  }
  answer.nodes = nodes_;
  return answer;
}

}  // namespace

std::unique_ptr<Search> MakeSearch(const Instance& instance, const Options& options,
                                   std::uint64_t seed, ProofLog* log) {
  const Bytes grain = Grain(instance);
  Bytes sizes = 0;
  Bytes pins = 0;
  for (const BufferIndex b : instance.buffers()) {
    sizes += instance.size[b] + instance.alignment[b] - 1;
    if (instance.pin[b] != kNone) pins = std::max(pins, instance.pin[b]);
  }
  const Bytes highest = sizes + pins;
  // A level and a size on top of it must fit.
  if (!kForSize && highest / grain < std::numeric_limits<std::int32_t>::max() / 4) {
    return std::make_unique<Engine<std::int32_t>>(instance, options, seed, grain, highest, log);
  }
  return std::make_unique<Engine<std::int64_t>>(instance, options, seed, grain, highest, log);
}

}  // namespace berth::internal::niche
