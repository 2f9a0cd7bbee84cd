#include "place/niche/niche.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "base/numbers.h"
#include "base/random.h"
#include "place/niche/beam.h"
#include "place/niche/branching.h"
#include "place/niche/partial_plan.h"
#include "place/niche/section_set.h"
#include "place/niche/transpositions.h"

namespace berth::internal {
namespace {

// Nodes of the shortest run: at least so many, and so many for each buffer.
constexpr std::int64_t kRunNodes = 1000;
constexpr std::int64_t kRunNodesEach = 2;
constexpr std::size_t kTableEntries = 262'144;
// The table is made smaller than that where its entries are large.
constexpr std::size_t kTableBytes = std::size_t{64} << 20;

// A failure adds an amount to the weight of its section, and the amount grows, so that old failures
// fade. Both are scaled down before they leave what a double holds exactly.
constexpr Weight kMostWeight = Weight{1} << 32;
constexpr Weight kWeightGrowth = 333;  // By one part in so many.

// Where sections can waste less than this share of the capacity on average, it is rather proofs
// that are needed: one run in so many goes on for as long as all before it together. Elsewhere the
// beam search takes turns with the runs, once so many nodes have not been enough, with so many
// times their nodes from then on.
constexpr double kFullSlack = 0.01;
constexpr std::int64_t kLongEvery = 2;
constexpr std::int64_t kNodesBeforeBeam = 15'000;
constexpr std::int64_t kBeamShare = 2;
constexpr std::int64_t kBeamNodes = 20'000;  // A turn.

// So many runs fill the lowest niche first, as many any niche, and so on. Neither is better on all
// kinds of tables.
constexpr std::int64_t kSameNiches = 2;

// After as many runs, one run in so many is calm: it does not look at the weights. A tight problem
// is solved where the conflicts are; but where there is slack everywhere, going back to the same
// place again and again wastes it elsewhere.
constexpr std::int64_t kCalmEvery = 3;

// A value is multiplied with a random factor of e^-0.1 to e^0.1, of half that in the first run.
constexpr std::int64_t kNoise = 9455;

}  // namespace

class NicheSearch::Engine {
 public:
  Engine() = default;
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  virtual ~Engine() = default;
  virtual SearchAnswer Search(Bytes capacity, std::int64_t node_limit, Budget& budget) = 0;
  [[nodiscard]] virtual bool is_full() const = 0;
};

template <typename Level>
class NicheSearch::LevelEngine final : public Engine {
 public:
  LevelEngine(const Instance& instance, const NicheOptions& options, std::uint64_t seed,
              Bytes grain);
  SearchAnswer Search(Bytes capacity, std::int64_t node_limit, Budget& budget) override;
  [[nodiscard]] bool is_full() const override { return is_full_; }

 private:
  using Plan = PartialPlan<Level>;
  using Lane = typename Plan::Lane;
  using Item = typename Plan::Item;
  using Section = typename Plan::Section;

  enum class Below { kOpened, kFound, kFailed };
  enum class RunEnd { kFound, kImpossible, kOutOfNodes, kOutOfBudget };

  static constexpr std::size_t kNoConflict = static_cast<std::size_t>(-1);

  // One level of the path: what can lie on the floor of one section.
  struct Frame {
    Section section;
    Section first;  // Its part of the problem.
    Section last;
    Level next_level;  // To which the floor is given up.
    bool may_waste;
    bool wastes;           // That child has been tried, or is.
    Lane child;            // The candidate being tried; kNoLane: the waste.
    std::size_t next;      // arena_: candidates
    std::size_t end;       // not yet tried.
    std::size_t arena;     // arena_ before this level.
    std::size_t conflict;  // conflicts_: of the children that failed; kNoConflict if none did.
    std::uint64_t hash;
  };

  static std::size_t At(std::int32_t index) { return static_cast<std::size_t>(index); }

  void StartCapacity(Level capacity);
  [[nodiscard]] bool IsBeamsTurn() const;
  RunEnd RunBeam(std::int64_t node_limit, Budget& budget);
  RunEnd RunDepthFirst(std::int64_t node_limit, Budget& budget);
  void StartRun();
  RunEnd Run(std::int64_t node_limit, Budget& budget);
  Below Enter();
  [[nodiscard]] bool Choose(Frame& frame);
  Below Advance(Frame& frame);
  [[nodiscard]] bool Absorb(Frame& frame);
  void Conclude(Frame& frame);
  void Leave();
  [[nodiscard]] SectionSet& ConflictOf(Frame& frame);
  [[nodiscard]] typename Transpositions<Level>::State StateOf(const Frame& frame) const;
  Below Failed();
  void AddWeight(Section section);

  const Instance& instance_;
  const NicheOptions options_;
  const Bytes grain_;
  const std::uint64_t seed_;
  Plan plan_;
  Branching<Level> branching_;
  std::unique_ptr<Beam<Level>> beam_;  // Made when it is needed.
  Transpositions<Level> table_;
  Random random_;

  // By item.
  std::vector<std::int64_t> value_;  // With noise.
  std::vector<Level> wanted_;        // An offset to try first, or -1.
  // By section.
  std::vector<Weight> weight_;
  std::uint64_t increment_ = kFirstWeight;

  std::vector<Frame> frames_;
  std::vector<Lane> arena_;
  std::vector<SectionSet> conflicts_;  // A stack; the sets above num_conflicts_ are spare.
  std::size_t num_conflicts_ = 0;

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
NicheSearch::LevelEngine<Level>::LevelEngine(const Instance& instance, const NicheOptions& options,
                                             std::uint64_t seed, Bytes grain)
    : instance_(instance),
      options_(options),
      grain_(grain),
      seed_(seed),
      plan_(instance, grain, options),
      branching_(instance, plan_, options),
      table_(options.transpositions
                 ? std::clamp<std::size_t>(
                       kTableBytes / (instance.num_sections() * (sizeof(Level) + 1) +
                                      instance.pieces.size() / 8 + 1),
                       16, kTableEntries)
                 : 1),
      random_(seed) {
  is_large_ = instance.pieces.size() + instance.num_sections() > kLarge;
  value_.resize(At(plan_.num_items()));
  wanted_.resize(At(plan_.num_items()));
  weight_.assign(At(plan_.num_sections()), kFirstWeight);
}

// The search goes on from nothing placed, with fresh noise.
template <typename Level>
void NicheSearch::LevelEngine<Level>::StartRun() {
  while (plan_.num_moves() > 0) plan_.Undo();
  frames_.clear();
  arena_.clear();
  num_conflicts_ = 0;
  const std::int64_t noise = run_ == 0 ? kNoise / 2 : kNoise;
  for (Item i = 0; i < plan_.num_items(); ++i) {
    value_[At(i)] = branching_.value(i) + random_.Uniform(-noise, noise);
    const BufferIndex b = plan_.buffer(i);
    const Bytes wanted = instance_.hint[b];
    wanted_[At(i)] = wanted == kNone || wanted % grain_ != 0 || wanted / grain_ > capacity_
                         ? -1
                         : static_cast<Level>(wanted / grain_);
  }
  is_calm_ = options_.calm_runs && run_ > kCalmEvery && run_ % kCalmEvery == kCalmEvery - 1;
  any_niche_ = !options_.lowest_first || run_ % (2 * kSameNiches) >= kSameNiches;
  ++run_;
}

template <typename Level>
void NicheSearch::LevelEngine<Level>::AddWeight(Section section) {
  if (!options_.conflict_weights) return;
  weight_[At(section)] += increment_;
  increment_ += increment_ / kWeightGrowth;
  if (increment_ <= kMostWeight) return;
  // No weight may become 0: a section without weight would never be chosen again.
  increment_ >>= 16;
  for (Weight& weight : weight_) weight = std::max<Weight>(weight >> 16, 1);
}

template <typename Level>
auto NicheSearch::LevelEngine<Level>::StateOf(const Frame& frame) const ->
    typename Transpositions<Level>::State {
  return {
      frame.first,    frame.last,          plan_.starting(frame.first), plan_.starting(frame.last),
      plan_.floors(), plan_.placed_lanes()};
}

// Opens a level for the first part of the problem that is not done.
template <typename Level>
auto NicheSearch::LevelEngine<Level>::Enter() -> Below {
  Frame frame{};
  frame.first = frames_.empty() ? 0 : frames_.back().first;
  while (frame.first < plan_.num_sections() && plan_.unplaced(frame.first) == 0) ++frame.first;
  if (frame.first == plan_.num_sections()) return Below::kFound;
  frame.last = frame.first + 1;
  while (plan_.joined(frame.last - 1)) ++frame.last;
  if (options_.transpositions) {
    const auto state = StateOf(frame);
    frame.hash = table_.Hash(state);
    if (const SectionSet* known = table_.Find(state, frame.hash); known != nullptr) {
      // The same floors, but perhaps for other reasons.
      SectionSet& conflict = plan_.conflict();
      conflict = *known;
      for (Section s = frame.first; s < frame.last; ++s) {
        if (known->Has(s) && plan_.floor(s) > plan_.ground(s)) {
          plan_.Explain(s, plan_.floor(s), conflict);
        }
      }
      return Below::kFailed;
    }
  }
  if (!Choose(frame)) {
    incomplete_ = true;
    plan_.conflict().Clear();
    for (Section s = frame.first; s < frame.last; ++s) plan_.conflict().Add(s);
    return Below::kFailed;
  }
  frame.may_waste = !options_.waste_budget || plan_.budget(frame.section) > 0;
  frame.child = Plan::kNoLane;
  frame.conflict = kNoConflict;
  frames_.push_back(frame);
  return Below::kOpened;
}

// Picks the section to branch on, and lists its candidates, best first. False if there is none that
// is sure to leave nothing out.
template <typename Level>
bool NicheSearch::LevelEngine<Level>::Choose(Frame& frame) {
  const std::span<const Weight> weights =
      is_calm_ ? std::span<const Weight>() : std::span<const Weight>(weight_);
  if (!branching_.Choose(frame.first, frame.last, any_niche_, weights)) return false;
  frame.section = branching_.section();
  frame.arena = frame.next = arena_.size();
  const std::span<const Lane> candidates = branching_.candidates();
  arena_.insert(arena_.end(), candidates.begin(), candidates.end());
  frame.end = arena_.size();
  const auto value = [&](Lane lane) {
    const Item i = plan_.item(lane);
    return std::pair(wanted_[At(i)] == plan_.lowest_offset(lane),
                     value_[At(i)] + branching_.Fit(lane));
  };
  std::sort(arena_.begin() + static_cast<std::ptrdiff_t>(frame.next), arena_.end(),
            [&](Lane a, Lane b) {
              const auto value_a = value(a);
              const auto value_b = value(b);
              return value_a != value_b ? value_a > value_b : a < b;
            });
  return true;
}

template <typename Level>
SectionSet& NicheSearch::LevelEngine<Level>::ConflictOf(Frame& frame) {
  if (frame.conflict == kNoConflict) {
    // Deeper levels have left the stack.
    frame.conflict = num_conflicts_++;
    if (frame.conflict == conflicts_.size()) {
      conflicts_.emplace_back(static_cast<std::size_t>(plan_.num_sections()));
    }
    conflicts_[frame.conflict].Clear();
  }
  return conflicts_[frame.conflict];
}

// The child of `frame` failed because of conflict(), and is undone. False if the frame fails for
// the same reason, whatever else it might try.
template <typename Level>
bool NicheSearch::LevelEngine<Level>::Absorb(Frame& frame) {
  const SectionSet& conflict = plan_.conflict();
  if (frame.child == Plan::kNoLane) {
    if (options_.backjumping && !conflict.Has(frame.section)) return false;
    ConflictOf(frame).Add(conflict);
    return true;
  }
  const auto pieces = plan_.lanes_of(plan_.item(frame.child));
  const bool involved = std::any_of(pieces.begin(), pieces.end(), [&](Lane piece) {
    return conflict.Meets(plan_.first(piece), plan_.last(piece));
  });
  if (options_.backjumping && !involved) return false;
  SectionSet& all = ConflictOf(frame);
  all.Add(conflict);
  // The child's ground is where it is because nothing can lie below the child.
  for (const Lane piece : pieces) {
    const Level bottom = plan_.lowest(piece);
    for (Section s = plan_.first(piece); s < plan_.last(piece); ++s) {
      if (conflict.Has(s) && plan_.ground(s) < bottom) plan_.Explain(s, bottom, all);
    }
  }
  return true;
}

// All children of `frame` failed: conflict() becomes the reason why the frame does.
template <typename Level>
void NicheSearch::LevelEngine<Level>::Conclude(Frame& frame) {
  SectionSet& all = ConflictOf(frame);
  const Section s = frame.section;
  all.Add(s);
  // Nothing lies between the floor and this level, where the section is given up or too high.
  const Level level = frame.wastes ? frame.next_level : capacity_ - plan_.unplaced(s) + 1;
  plan_.ExplainNextLevel(s, level, all);
  if (plan_.floor(s) > plan_.ground(s)) plan_.Explain(s, plan_.floor(s), all);
  plan_.conflict() = all;
  // What fails in a later part of the problem says nothing about this one.
  const bool is_own = !all.Meets(0, frame.first) && !all.Meets(frame.last, plan_.num_sections());
  if (options_.transpositions && is_own) table_.Store(StateOf(frame), frame.hash, all);
}

// Closes the last level.
template <typename Level>
void NicheSearch::LevelEngine<Level>::Leave() {
  const Frame& frame = frames_.back();
  arena_.resize(frame.arena);
  if (frame.conflict != kNoConflict) num_conflicts_ = frame.conflict;
  frames_.pop_back();
}

template <typename Level>
auto NicheSearch::LevelEngine<Level>::Failed() -> Below {
  AddWeight(plan_.failed_in());
  return Below::kFailed;
}

// Tries the next child of `frame`, the last level, which has one.
template <typename Level>
auto NicheSearch::LevelEngine<Level>::Advance(Frame& frame) -> Below {
  if (frame.next < frame.end) {
    frame.child = arena_[frame.next++];
    return plan_.Place(frame.child) ? Enter() : Failed();
  }
  frame.wastes = true;
  frame.child = Plan::kNoLane;
  return plan_.Waste(frame.section, frame.next_level) ? Enter() : Failed();
}

template <typename Level>
auto NicheSearch::LevelEngine<Level>::Run(std::int64_t node_limit, Budget& budget) -> RunEnd {
  const std::int64_t last_node = nodes_ + node_limit;
  Below below = Enter();
  while (below != Below::kFound) {
    if (frames_.empty()) return RunEnd::kImpossible;
    Frame& frame = frames_.back();
    if (below == Below::kFailed) {
      plan_.Undo();
      if (!Absorb(frame)) {
        Leave();
        continue;
      }
    }
    if (frame.next == frame.end) {
      bool wastes = frame.may_waste && !frame.wastes;
      if (wastes) {
        frame.next_level = plan_.NextLevel(frame.section);
        wastes = frame.next_level <= capacity_ - plan_.unplaced(frame.section);
      }
      if (!wastes) {
        Conclude(frame);
        Leave();
        below = Below::kFailed;
        continue;
      }
    }
    if (nodes_ >= last_node) return RunEnd::kOutOfNodes;
    // Nodes of large problems take so long that waiting for the budget's next look at the clock
    // would overrun it.
    if (!budget.SpendNode() || (is_large_ && budget.TimeIsUp())) return RunEnd::kOutOfBudget;
    ++nodes_;
    below = Advance(frame);
  }
  return RunEnd::kFound;
}

template <typename Level>
void NicheSearch::LevelEngine<Level>::StartCapacity(Level capacity) {
  capacity_ = capacity;
  incomplete_ = false;
  table_.Clear();
  fits_ = plan_.Reset(capacity);
  // A buffer that is live nowhere has to lie below the capacity too.
  for (const BufferIndex b : instance_.buffers()) {
    fits_ &= std::max<Bytes>(instance_.pin[b], 0) + instance_.size[b] <= Bytes{capacity} * grain_;
  }
  double slack = 0;
  for (Section s = 0; s < plan_.num_sections(); ++s) slack += static_cast<double>(plan_.budget(s));
  is_full_ = slack < kFullSlack * static_cast<double>(capacity) * plan_.num_sections();
  uses_beam_ = options_.beam && options_.waste_budget && !is_full_ && !plan_.has_windows();
  run_nodes_ = 0;
  beam_.reset();
}

template <typename Level>
bool NicheSearch::LevelEngine<Level>::IsBeamsTurn() const {
  const std::int64_t beam_nodes = beam_ == nullptr ? 0 : beam_->nodes();
  return uses_beam_ && beam_nodes < kBeamShare * (run_nodes_ - kNodesBeforeBeam);
}

template <typename Level>
auto NicheSearch::LevelEngine<Level>::RunBeam(std::int64_t node_limit, Budget& budget) -> RunEnd {
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
auto NicheSearch::LevelEngine<Level>::RunDepthFirst(std::int64_t node_limit, Budget& budget)
    -> RunEnd {
  StartRun();
  if (options_.restarts) {
    std::int64_t length = Luby(run_ - 1) * std::max(kRunNodes, kRunNodesEach * plan_.num_items());
    if (is_full_ && run_ % kLongEvery == 0) length = std::max(length, run_nodes_);
    node_limit = std::min(node_limit, length);
  }
  const std::int64_t before = nodes_;
  const RunEnd end = Run(node_limit, budget);
  run_nodes_ += nodes_ - before;
  return end;
}

template <typename Level>
SearchAnswer NicheSearch::LevelEngine<Level>::Search(Bytes capacity, std::int64_t node_limit,
                                                     Budget& budget) {
  SearchAnswer answer;
  nodes_ = 0;
  if (const auto levels = static_cast<Level>(capacity / grain_); levels != capacity_) {
    StartCapacity(levels);
  }
  if (!fits_) {
    answer.verdict = SearchAnswer::Verdict::kImpossible;
    return answer;
  }
  while (answer.verdict == SearchAnswer::Verdict::kGaveUp && nodes_ < node_limit) {
    const bool is_beam = IsBeamsTurn();
    const RunEnd end =
        is_beam ? RunBeam(node_limit - nodes_, budget) : RunDepthFirst(node_limit - nodes_, budget);
    if (end == RunEnd::kOutOfBudget) break;
    if (end == RunEnd::kFound) {
      const Plan& plan = is_beam ? beam_->plan() : plan_;
      answer.verdict = SearchAnswer::Verdict::kFound;
      answer.offsets.assign(instance_.num_buffers(), 0);
      // Buffers that are live nowhere can stay where they are.
      for (const BufferIndex b : instance_.buffers()) {
        if (instance_.pin[b] != kNone) answer.offsets[b.position()] = instance_.pin[b];
      }
      for (Item i = 0; i < plan.num_items(); ++i) {
        answer.offsets[plan.buffer(i).position()] = Bytes{plan.offset(i)} * grain_;
      }
    } else if (end == RunEnd::kImpossible) {
      answer.verdict =
          incomplete_ ? SearchAnswer::Verdict::kInconclusive : SearchAnswer::Verdict::kImpossible;
    }
  }
  answer.nodes = nodes_;
  return answer;
}

NicheSearch::NicheSearch(const Instance& instance, const NicheOptions& options, std::uint64_t seed)
    : grain_(Grain(instance)) {
  // No plan that cannot be lowered is higher than this.
  Bytes sizes = 0;
  Bytes pins = 0;
  for (const BufferIndex b : instance.buffers()) {
    sizes += instance.size[b] + instance.alignment[b] - 1;
    if (instance.pin[b] != kNone) pins = std::max(pins, instance.pin[b]);
  }
  highest_ = sizes + pins;
  // A level and a size on top of it must fit.
  if (highest_ / grain_ < std::numeric_limits<std::int32_t>::max() / 4) {
    engine_ = std::make_unique<LevelEngine<std::int32_t>>(instance, options, seed, grain_);
  } else {
    engine_ = std::make_unique<LevelEngine<std::int64_t>>(instance, options, seed, grain_);
  }
}

NicheSearch::~NicheSearch() = default;

bool NicheSearch::is_full() const { return engine_->is_full(); }

SearchAnswer NicheSearch::Search(Bytes capacity, std::int64_t node_limit, Budget& budget) {
  return engine_->Search(std::min(capacity, highest_), node_limit, budget);
}

}  // namespace berth::internal
