#include "place/niche/niche.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstdio>
#include <bit>
#include <limits>
#include <numeric>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "base/arithmetic.h"
#include "base/check.h"
#include "base/random.h"
#include "place/niche/kernels.h"

namespace berth::internal {
namespace {

int Knob(const char* name, int fallback) {
  const char* v = std::getenv(name);
  return v ? std::atoi(v) : fallback;
}
const std::int64_t kRunNodes = Knob("K_RUN", 1000);
const int kSlack = Knob("K_SLACK", 0);
const int kOrder = Knob("K_ORDER", 0);
const int kHigh = Knob("K_HIGH", 1);
const int kNoise0 = Knob("K_NOISE0", 6554);
const int kNoise1 = Knob("K_NOISE1", 13107);
const int kInc = Knob("K_INC", 333);
const int kWFirst = Knob("K_WFIRST", 0);
const int kTouch = Knob("K_TOUCH", 0);
const int kMatch = Knob("K_MATCH", 0);
const int kDebug = Knob("K_DEBUG", 0);
const int kPhase = Knob("K_PHASE", 0);

constexpr std::size_t kTableEntries = 4096;
constexpr std::uint64_t kMostWeight = std::uint64_t{1} << 32;

// The k-th term, from 0, of 1 1 2 1 1 2 4 1 1 2 1 1 2 4 8 ... (Luby, Sinclair and Zuckerman, 1993).
std::int64_t Luby(std::int64_t k) {
  std::int64_t size = 1;
  while (size < k + 1) size = 2 * size + 1;
  while (size - 1 != k) {
    size /= 2;
    k %= size;
  }
  return (size + 1) / 2;
}

Bytes GrainOf(const Instance& instance) {
  Bytes grain = 0;
  for (const BufferIndex b : instance.buffers()) {
    grain = std::gcd(grain, instance.size[b]);
    if (instance.alignment[b] != 1) grain = std::gcd(grain, instance.alignment[b]);
    if (instance.pin[b] != kNone) grain = std::gcd(grain, instance.pin[b]);
  }
  for (const Piece& piece : instance.pieces) {
    grain = std::gcd(std::gcd(grain, piece.lower), piece.upper);
  }
  return std::max<Bytes>(grain, 1);
}

// A set of sections as bits.
class SectionSet {
 public:
  using Word = std::uint64_t;
  explicit SectionSet(std::size_t size = 0) : words_((size + 63) / 64) {}
  void Clear() { std::fill(words_.begin(), words_.end(), 0); }
  void Add(std::int32_t s) { words_[At(s)] |= Bit(s); }
  [[nodiscard]] bool Has(std::int32_t s) const { return (words_[At(s)] & Bit(s)) != 0; }
  [[nodiscard]] std::vector<Word>& words() { return words_; }
  [[nodiscard]] const std::vector<Word>& words() const { return words_; }

  // The bits of word w within [first, last).
  static Word Within(std::size_t w, std::int32_t first, std::int32_t last) {
    const auto base = static_cast<std::int32_t>(w * 64);
    Word mask = ~Word{0};
    if (first > base) mask &= first - base >= 64 ? 0 : ~Word{0} << (first - base);
    if (last < base + 64) mask &= last <= base ? 0 : ~Word{0} >> (base + 64 - last);
    return mask;
  }
  [[nodiscard]] bool Meets(std::int32_t first, std::int32_t last) const {
    for (std::size_t w = At(first); w <= At(last - 1); ++w) {
      if ((words_[w] & Within(w, first, last)) != 0) return true;
    }
    return false;
  }

 private:
  static std::size_t At(std::int32_t s) { return static_cast<std::size_t>(s) / 64; }
  static Word Bit(std::int32_t s) { return Word{1} << (static_cast<std::uint32_t>(s) % 64); }
  std::vector<Word> words_;
};

template <typename T>
std::size_t U(T value) {
  return static_cast<std::size_t>(value);
}

}  // namespace

class NicheSearch::Engine {
 public:
  virtual ~Engine() = default;
  virtual SearchAnswer Search(Bytes capacity, const std::vector<Bytes>* known,
                              std::int64_t node_limit, Budget& budget) = 0;
};

template <typename Level>
class NicheSearch::LevelEngine final : public Engine {
 public:
  LevelEngine(const Instance& instance, const NicheOptions& options, std::uint64_t seed,
              Bytes grain);
  SearchAnswer Search(Bytes capacity, const std::vector<Bytes>* known, std::int64_t node_limit,
                      Budget& budget) override;

 private:
  using L = std::int32_t;  // Lane.
  using B = std::int32_t;  // Buffer, in the order of lanes.
  using S = std::int32_t;  // Section.

  static constexpr Level kPlaced = std::numeric_limits<Level>::max() / 2;
  static constexpr L kNoLane = -1;
  static constexpr std::size_t kNoReason = static_cast<std::size_t>(-1);

  enum class Below { kOpened, kFound, kFailed };
  enum class Ended { kFound, kImpossible, kOutOfNodes, kOutOfBudget };

  struct FloorChange {
    S section;
    L witness;
    Level floor;
  };
  struct Marks {
    std::size_t blocks;
    std::size_t floors;
    std::size_t placed;
  };
  struct Frame {
    S section;
    S lo;  // The component.
    S hi;
    Level floor;
    Level next_level;  // Of the waste child.
    bool may_waste;
    bool wasted;
    L child;  // kNoLane: the waste child.
    std::size_t arena;  // Candidates from here on,
    std::size_t next;
    std::size_t end;
    std::size_t reason;  // Where in reasons_, or kNoReason.
    Marks marks;
    std::uint64_t key;
  };
  struct Entry {
    std::uint64_t key = 0;
    S lo = -1;
    S hi = -1;
    std::vector<Level> floors;
    std::vector<std::uint64_t> placed;
    std::vector<std::uint64_t> reason;
  };

  [[nodiscard]] Level Lift(B b, Level offset) const {
    const Level pin = pin_[U(b)];
    if (pin >= 0) return offset <= pin ? pin : kPlaced - size_[U(b)];
    const Level a = alignment_[U(b)];
    return a == 1 ? offset : (offset + a - 1) / a * a;
  }
  // The greatest level `x` such that a floor of x under `lane` does not lift it to `level`; -1 - if
  // no floor is needed for that.
  [[nodiscard]] bool Supports(L lane, L piece, Level floor, Level level) const {
    const B b = owner_[U(lane)];
    return Lift(b, std::max<Level>(floor - lower_[U(piece)], 0)) + lower_[U(lane)] >= level;
  }

  void ResetCapacity(Level capacity);
  bool ResetState();
  void Rank(const std::vector<Bytes>* known);
  Ended Run(std::int64_t node_limit, Budget& budget);
  Below Enter();
  [[nodiscard]] bool ChooseSection(Frame& frame);
  bool Place(L lane);
  bool Waste(S section, Level level);
  bool RaiseLanes(S from, S to, Level level);
  bool Propagate();
  void Undo(const Frame& frame);
  void SaveBlock(L lane);
  void Fail(S section, Level level);
  void Bump(S section);
  void Explain(SectionSet::Word* set, S section, Level level);
  void ExplainLane(SectionSet::Word* set, L lane, Level level);
  void Highs(Level level);
  bool Absorb(Frame& frame);
  void Finish(Frame& frame);
  Level NextLevel(const Frame& frame);
  void JustifyNextLevel(const Frame& frame, SectionSet::Word* reason, Level level);
  [[nodiscard]] std::uint64_t KeyOf(S lo, S hi) const;
  [[nodiscard]] bool SameKey(const Entry& entry, S lo, S hi, std::uint64_t key) const;
  void Store(const Frame& frame);
  SectionSet::Word* ReasonOf(Frame& frame);

  [[nodiscard]] L lanes_begin(S section) const { return wlo_[U(section)]; }
  [[nodiscard]] L lanes_end(S section) const { return whi_[U(section)]; }
  [[nodiscard]] std::span<const L> members(S section) const {
    return std::span<const L>(member_list_)
        .subspan(member_begin_[U(section)], member_begin_[U(section) + 1] - member_begin_[U(section)]);
  }
  [[nodiscard]] bool Unplaced(L lane) const { return value_[U(lane)] < kPlaced; }
  [[nodiscard]] S first(L lane) const { return static_cast<S>(first_[U(lane)]); }
  [[nodiscard]] S last(L lane) const { return static_cast<S>(last_[U(lane)]); }

  const Instance& instance_;
  const NicheOptions& options_;
  const Kernels<Level>& kernels_;
  const Bytes grain_;
  Random random_;
  bool special_ = false;   // Alignment, pins, several pieces or windows.
  bool windows_ = false;
  bool several_ = false;   // Some buffer has several pieces.

  // Lanes.
  std::size_t num_lanes_ = 0;
  std::size_t num_sections_ = 0;
  std::vector<Level> value_;
  std::vector<Level> first_;
  std::vector<Level> last_;
  std::vector<Level> highest_;
  std::vector<Level> height_;
  std::vector<Level> lower_;
  std::vector<B> owner_;
  std::vector<L> start_at_;  // The first lane that starts at a section or later.
  std::vector<L> wlo_;
  std::vector<L> whi_;
  std::vector<L> member_list_;  // Of each section, in order.
  std::vector<std::size_t> member_begin_;
  // Buffers.
  std::vector<BufferIndex> buffer_;
  std::vector<Level> size_;
  std::vector<Level> alignment_;
  std::vector<Level> pin_;
  std::vector<B> twin_;  // The identical buffer before this one, or -1.
  std::vector<L> lane_list_;
  std::vector<std::size_t> lane_begin_;
  std::vector<std::int64_t> order_key_;
  std::vector<std::int32_t> rank_;
  std::vector<Level> offset_;
  std::vector<Level> wanted_;
  std::vector<Level> load_;
  std::vector<Level> best_;
  int best_depth_ = 0;
  int mode_ = 0;

  // Sections.
  std::vector<Level> pf_;
  std::vector<Level> flo_;
  std::vector<Level> tot_;
  std::vector<L> witness_;
  std::vector<std::int32_t> cross_;  // Unplaced buffers live at a section and the next.
  std::vector<std::uint64_t> weight_;
  std::uint64_t increment_ = 1 << 16;

  std::vector<std::uint64_t> placed_;  // Bits, by lane.

  // Trail.
  std::vector<std::int32_t> saved_block_;
  std::vector<Level> saved_value_;
  std::size_t num_saved_ = 0;
  std::vector<FloorChange> saved_floor_;
  std::vector<Level> saved_pf_;

  // Search.
  Level capacity_ = -1;
  bool impossible_ = false;
  std::int64_t run_ = 0;
  bool incomplete_ = false;  // Something was left out that the search cannot branch on.
  std::int64_t nodes_ = 0;
  std::vector<Frame> frames_;
  std::vector<L> arena_;
  std::vector<SectionSet::Word> reasons_;
  SectionSet conflict_;
  SectionSet highs_;
  Level highs_level_ = -1;
  std::uint64_t highs_version_ = 0;
  std::uint64_t version_ = 1;
  S touched_first_ = 0;
  S touched_last_ = 0;
  std::vector<std::int32_t> diff_;
  std::vector<L> found_;  // Candidates of all runs.
  std::vector<Entry> table_;
};

template <typename Level>
NicheSearch::LevelEngine<Level>::LevelEngine(const Instance& instance, const NicheOptions& options,
                                             std::uint64_t seed, Bytes grain)
    : instance_(instance),
      options_(options),
      kernels_(ChooseKernels<Level>(options.vectors)),
      grain_(grain),
      random_(seed) {
  const auto scaled = [&](Bytes bytes) { return static_cast<Level>(bytes / grain); };
  for (const BufferIndex b : instance.buffers()) {
    if (!instance.pieces_of(b).empty()) buffer_.push_back(b);
  }
  // Buffers that differ in nothing that matters are next to each other.
  const auto same = [&](BufferIndex a, BufferIndex b) {
    return instance.size[a] == instance.size[b] && instance.alignment[a] == instance.alignment[b] &&
           instance.pin[a] == instance.pin[b] &&
           std::ranges::equal(instance.pieces_of(a), instance.pieces_of(b));
  };
  const auto key = [&](BufferIndex b) {
    return std::tuple(instance.first[b], instance.last[b], instance.size[b], instance.alignment[b],
                      instance.pin[b], b);
  };
  std::sort(buffer_.begin(), buffer_.end(),
            [&](BufferIndex a, BufferIndex b) { return key(a) < key(b); });
  const std::size_t n = buffer_.size();
  num_sections_ = instance.num_sections();
  struct Lane {
    S first;
    S last;
    B owner;
    Bytes lower;
    Bytes height;
  };
  std::vector<Lane> lanes;
  for (std::size_t k = 0; k < n; ++k) {
    const BufferIndex b = buffer_[k];
    size_.push_back(scaled(instance.size[b]));
    alignment_.push_back(std::max<Level>(scaled(instance.alignment[b]), 1));
    pin_.push_back(instance.pin[b] == kNone ? -1 : scaled(instance.pin[b]));
    special_ |= alignment_.back() != 1 || pin_.back() >= 0;
    const bool is_twin = k > 0 && same(buffer_[k - 1], b) && instance.pin[b] == kNone;
    twin_.push_back(is_twin ? static_cast<B>(k) - 1 : -1);
    for (const Piece& piece : instance.pieces_of(b)) {
      lanes.push_back({piece.first.value(), piece.last.value(), static_cast<B>(k), piece.lower,
                       piece.upper - piece.lower});
      windows_ |= piece.lower != 0 || piece.upper != instance.size[b];
    }
    several_ |= instance.pieces_of(b).size() > 1;
  }
  special_ |= several_ || windows_;
  std::stable_sort(lanes.begin(), lanes.end(),
                   [](const Lane& a, const Lane& b) { return a.first < b.first; });
  num_lanes_ = lanes.size();
  const std::size_t padded = (num_lanes_ + kBlock - 1) / kBlock * kBlock;
  value_.assign(padded, kPlaced);
  first_.assign(padded, std::numeric_limits<Level>::max());
  last_.assign(padded, 0);
  highest_.assign(padded, std::numeric_limits<Level>::max());
  height_.assign(padded, 0);
  lower_.assign(padded, 0);
  owner_.assign(padded, 0);
  lane_begin_.assign(n + 1, 0);
  start_at_.assign(num_sections_ + 1, 0);
  wlo_.assign(num_sections_, 0);
  whi_.assign(num_sections_, 0);
  S covered = 0;
  for (std::size_t k = 0; k < num_lanes_; ++k) {
    const Lane& lane = lanes[k];
    first_[k] = lane.first;
    last_[k] = lane.last;
    height_[k] = scaled(lane.height);
    lower_[k] = scaled(lane.lower);
    owner_[k] = lane.owner;
    ++lane_begin_[U(lane.owner) + 1];
    ++start_at_[U(lane.first) + 1];
    for (; covered < lane.last; ++covered) wlo_[U(covered)] = static_cast<L>(k);
  }
  for (std::size_t k = 0; k < n; ++k) lane_begin_[k + 1] += lane_begin_[k];
  for (std::size_t s = 0; s < num_sections_; ++s) start_at_[s + 1] += start_at_[s];
  for (std::size_t s = 0; s < num_sections_; ++s) whi_[s] = start_at_[s + 1];
  member_begin_.assign(num_sections_ + 1, 0);
  for (const Lane& lane : lanes) {
    ++member_begin_[U(lane.first) + 1];
    if (U(lane.last) < num_sections_) --member_begin_[U(lane.last) + 1];
  }
  for (std::size_t s = 1; s < num_sections_; ++s) member_begin_[s + 1] += member_begin_[s];
  for (std::size_t s = 0; s < num_sections_; ++s) member_begin_[s + 1] += member_begin_[s];
  member_list_.resize(member_begin_[num_sections_]);
  auto to = member_begin_;
  for (std::size_t k = 0; k < num_lanes_; ++k) {
    for (S s = lanes[k].first; s < lanes[k].last; ++s) member_list_[to[U(s)]++] = static_cast<L>(k);
  }
  lane_list_.resize(num_lanes_);
  auto at = lane_begin_;
  for (std::size_t k = 0; k < num_lanes_; ++k) lane_list_[at[U(lanes[k].owner)]++] = static_cast<L>(k);
  offset_.assign(n, 0);
  rank_.assign(n, 0);
  order_key_.assign(n, 0);
  wanted_.assign(n, -1);
  pf_.assign(num_sections_, 0);
  flo_.assign(num_sections_, kPlaced);
  load_.assign(n, 0); best_.assign(n, -1);
  { std::vector<Level> t(num_sections_+1); for (std::size_t k = 0; k < num_lanes_; ++k) { t[U(first_[k])]+=height_[k]; t[U(last_[k])]-=height_[k]; }
    for (std::size_t q = 1; q < num_sections_; ++q) t[q]+=t[q-1];
    for (std::size_t k = 0; k < num_lanes_; ++k) for (S q = first(static_cast<L>(k)); q < last(static_cast<L>(k)); ++q) load_[U(owner_[k])] = std::max(load_[U(owner_[k])], t[U(q)]); }
  tot_.assign(num_sections_, 0);
  witness_.assign(num_sections_, 0);
  cross_.assign(num_sections_, 0);
  weight_.assign(num_sections_, 1 << 16);
  placed_.assign(padded / 64 + 1, 0);
  diff_.assign(num_sections_ + 1, 0);
  conflict_ = SectionSet(num_sections_);
  highs_ = SectionSet(num_sections_);
}

template <typename Level>
void NicheSearch::LevelEngine<Level>::ResetCapacity(Level capacity) {
  capacity_ = capacity;
  run_ = 0;
  incomplete_ = false;
  table_.clear();
  if (options_.transpositions) table_.resize(kTableEntries);
  impossible_ = false;
  for (std::size_t k = 0; k < num_lanes_; ++k) {
    const std::size_t b = U(owner_[k]);
    highest_[k] = capacity - size_[b] + lower_[k];
    impossible_ |= size_[b] > capacity;
  }
  if (!impossible_) impossible_ = !ResetState();
}

template <typename Level>
bool NicheSearch::LevelEngine<Level>::ResetState() {
  frames_.clear();
  arena_.clear();
  reasons_.clear();
  num_saved_ = 0;
  saved_floor_.clear();
  saved_pf_.clear();
  std::fill(placed_.begin(), placed_.end(), 0);
  std::fill(pf_.begin(), pf_.end(), 0);
  std::fill(cross_.begin(), cross_.end(), 0);
  // Sums by differences: a table may have many sections and long buffers.
  std::fill(tot_.begin(), tot_.end(), 0);
  for (std::size_t k = 0; k < num_lanes_; ++k) {
    tot_[U(first_[k])] += height_[k];
    if (U(last_[k]) < num_sections_) tot_[U(last_[k])] -= height_[k];
    const B b = owner_[k];
    value_[k] = Lift(b, 0) + lower_[k];
    if (value_[k] > highest_[k]) return false;
  }
  for (std::size_t b = 0; b < buffer_.size(); ++b) {
    const S from = instance_.first[buffer_[b]].value();
    const S to = instance_.last[buffer_[b]].value();
    ++cross_[U(from)];
    --cross_[U(to - 1)];
  }
  for (std::size_t s = 1; s < num_sections_; ++s) {
    tot_[s] += tot_[s - 1];
    cross_[s] += cross_[s - 1];
  }
  touched_first_ = 0;
  touched_last_ = static_cast<S>(num_sections_);
  std::fill(flo_.begin(), flo_.end(), Level{-1});
  ++version_;
  const bool ok = Propagate();
  saved_floor_.clear();
  return ok;
}

template <typename Level>
void NicheSearch::LevelEngine<Level>::Rank(const std::vector<Bytes>* known) {
  // Keys in units that do not depend on the machine: the width counts most.
  const std::int64_t noise = run_ == 0 ? kNoise0 : kNoise1;  // In 1/65536.
  std::vector<std::int32_t> order(buffer_.size());
  for (std::size_t b = 0; b < buffer_.size(); ++b) {
    order[b] = static_cast<std::int32_t>(b);
    const BufferIndex index = buffer_[b];
    const std::int64_t width = instance_.last[index].value() - instance_.first[index].value();
    const auto size = static_cast<std::int64_t>(static_cast<double>(size_[b]) /
                                                static_cast<double>(capacity_) * 0x1.0p20);
    const std::int64_t key =
        kOrder == 1 ? (size + 1) * width : kOrder == 2 ? size * 64 * 256 + width * 512 : kOrder == 3 ? static_cast<std::int64_t>(load_[b]) * 1000 + width * 100 : kOrder==4 ? (width<<20)/(size+100) : kOrder == 5 ? (size+10000) * width  : kOrder == 6 ? (size+100000) * width :
        options_.widest_first ? (width << 20) + size : size * 1024 + width;
    order_key_[b] = key * (65536 + random_.Uniform(-noise, noise));
    Bytes wanted = instance_.hint[index];
    if (wanted == kNone && known != nullptr && run_ == 0) wanted = (*known)[index.position()];
    wanted_[b] = wanted == kNone || wanted % grain_ != 0 || wanted / grain_ > capacity_
                     ? -1
                     : static_cast<Level>(wanted / grain_);
    if (kPhase && best_depth_ > 0 && random_.Uniform(0, 99) < kPhase) wanted_[b] = best_[b];
  }
  std::sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
    return std::pair(order_key_[U(b)], a) < std::pair(order_key_[U(a)], b);
  });
  for (std::size_t k = 0; k < order.size(); ++k) rank_[U(order[k])] = static_cast<std::int32_t>(k);
}

template <typename Level>
void NicheSearch::LevelEngine<Level>::SaveBlock(L lane) {
  const L block = lane / kBlock * kBlock;
  if (saved_block_.size() < num_saved_ + 1) {
    saved_block_.resize(2 * num_saved_ + 64);
    saved_value_.resize(saved_block_.size() * kBlock);
  }
  saved_block_[num_saved_] = block;
  std::copy_n(value_.begin() + block, kBlock,
              saved_value_.begin() + static_cast<std::ptrdiff_t>(num_saved_ * kBlock));
  ++num_saved_;
}

// Raises the lanes over [from, to) to `level`; conflict_ says why that does not work.
template <typename Level>
bool NicheSearch::LevelEngine<Level>::RaiseLanes(S from, S to, Level level) {
  const L begin = lanes_begin(from);
  const L end = lanes_end(to - 1);
  if (!special_) {
    const std::size_t blocks = U(end - begin) / kBlock + 2;
    if (saved_block_.size() < num_saved_ + blocks) {
      saved_block_.resize(2 * (num_saved_ + blocks));
      saved_value_.resize(saved_block_.size() * kBlock);
    }
    RaiseArgs<Level> args;
    args.value = value_.data();
    args.first = first_.data();
    args.last = last_.data();
    args.highest = highest_.data();
    args.begin = begin / kBlock * kBlock;
    args.end = (end + kBlock - 1) / kBlock * kBlock;
    args.from = from;
    args.to = to;
    args.level = level;
    args.saved_block = saved_block_.data() + num_saved_;
    args.saved_value = saved_value_.data() + num_saved_ * kBlock;
    const RaiseResult<Level> result = kernels_.raise(args);
    num_saved_ += U(result.blocks);
    if (result.too_high >= 0) {
      for (L k = result.too_high;; ++k) {
        if (value_[U(k)] == level && level > highest_[U(k)] && first(k) < to && last(k) > from) {
          conflict_.Clear();
          const S s = std::max(from, first(k));
          conflict_.Add(s);
          if (kHigh) Bump(s);
          return false;
        }
      }
    }
    if (result.blocks > 0) {
      touched_first_ = std::min(touched_first_, static_cast<S>(result.first));
      touched_last_ = std::max(touched_last_, static_cast<S>(result.last));
    }
    return true;
  }
  for (L k = begin; k < end; ++k) {
    if (!Unplaced(k) || value_[U(k)] >= level || first(k) >= to || last(k) <= from) continue;
    const B b = owner_[U(k)];
    const Level offset = Lift(b, level - lower_[U(k)]);
    for (std::size_t p = lane_begin_[U(b)]; p < lane_begin_[U(b) + 1]; ++p) {
      const L piece = lane_list_[p];
      SaveBlock(piece);
      value_[U(piece)] = offset + lower_[U(piece)];
      touched_first_ = std::min(touched_first_, first(piece));
      touched_last_ = std::max(touched_last_, last(piece));
    }
    if (value_[U(k)] > highest_[U(k)]) {
      conflict_.Clear();
      const S s = std::max(from, first(k));
      conflict_.Add(s);
      Bump(s);
      return false;
    }
  }
  return true;
}

template <typename Level>
void NicheSearch::LevelEngine<Level>::Bump(S section) {
  if (!options_.conflict_weights) return;
  weight_[U(section)] += increment_;
  increment_ += increment_ / kInc;
  if (increment_ > kMostWeight) {
    increment_ >>= 16;
    for (std::uint64_t& weight : weight_) weight = std::max<std::uint64_t>(weight >> 16, 1);
  }
}

// Floors of the touched sections; one pass is a fixed point, as values do not depend on floors.
template <typename Level>
bool NicheSearch::LevelEngine<Level>::Propagate() {
  for (S s = touched_first_; s < touched_last_; ++s) {
    Level floor = flo_[U(s)];
    if (value_[U(witness_[U(s)])] != floor) {
      saved_floor_.push_back({s, witness_[U(s)], floor});
      // Floors only rise: whoever is as low as the old floor is the lowest.
      const Level enough = std::max(floor, pf_[U(s)]);
      Level least = std::numeric_limits<Level>::max();
      for (const L lane : members(s)) {
        if (value_[U(lane)] >= least) continue;
        least = value_[U(lane)];
        witness_[U(s)] = lane;
        if (least <= enough) break;
      }
      floor = least;
      flo_[U(s)] = floor;
    }
    const Level tot = tot_[U(s)];
    if (tot > 0 && options_.waste_budget && floor > capacity_ - tot) {
      Bump(s);
      Fail(s, capacity_ - tot + 1);
      return false;
    }
  }
  return true;
}

// conflict_ becomes: everything unplaced in `section` lies at `level` or above, which is too high.
template <typename Level>
void NicheSearch::LevelEngine<Level>::Fail(S section, Level level) {
  conflict_.Clear();
  Explain(conflict_.words().data(), section, level);
}

template <typename Level>
bool NicheSearch::LevelEngine<Level>::Place(L lane) {
  const B b = owner_[U(lane)];
  const Level offset = value_[U(lane)] - lower_[U(lane)];
  offset_[U(b)] = offset;
  ++version_;
  touched_first_ = instance_.first[buffer_[U(b)]].value();
  touched_last_ = instance_.last[buffer_[U(b)]].value();
  for (S s = touched_first_; s + 1 < touched_last_; ++s) --cross_[U(s)];
  for (std::size_t p = lane_begin_[U(b)]; p < lane_begin_[U(b) + 1]; ++p) {
    const L piece = lane_list_[p];
    const Level top = value_[U(piece)] + height_[U(piece)];
    for (S s = first(piece); s < last(piece); ++s) {
      saved_pf_.push_back(pf_[U(s)]);
      pf_[U(s)] = top;
      tot_[U(s)] -= height_[U(piece)];
    }
    placed_[U(piece) / 64] |= std::uint64_t{1} << (U(piece) % 64);
    SaveBlock(piece);
    value_[U(piece)] = kPlaced;
  }
  for (std::size_t p = lane_begin_[U(b)]; p < lane_begin_[U(b) + 1]; ++p) {
    const L piece = lane_list_[p];
    if (!RaiseLanes(first(piece), last(piece), pf_[U(first_[U(piece)])])) return false;
  }
  return Propagate();
}

template <typename Level>
bool NicheSearch::LevelEngine<Level>::Waste(S section, Level level) {
  ++version_;
  touched_first_ = section;
  touched_last_ = section + 1;
  saved_pf_.push_back(pf_[U(section)]);
  pf_[U(section)] = level;
  return RaiseLanes(section, section + 1, level) && Propagate();
}

template <typename Level>
void NicheSearch::LevelEngine<Level>::Undo(const Frame& frame) {
  ++version_;
  while (num_saved_ > frame.marks.blocks) {
    --num_saved_;
    std::copy_n(saved_value_.begin() + static_cast<std::ptrdiff_t>(num_saved_ * kBlock), kBlock,
                value_.begin() + saved_block_[num_saved_]);
  }
  while (saved_floor_.size() > frame.marks.floors) {
    const FloorChange& change = saved_floor_.back();
    flo_[U(change.section)] = change.floor;
    witness_[U(change.section)] = change.witness;
    saved_floor_.pop_back();
  }
  if (frame.child == kNoLane) {
    pf_[U(frame.section)] = saved_pf_.back();
    saved_pf_.pop_back();
    return;
  }
  const B b = owner_[U(frame.child)];
  for (std::size_t p = lane_begin_[U(b) + 1]; p > lane_begin_[U(b)]; --p) {
    const L piece = lane_list_[p - 1];
    for (S s = last(piece); s > first(piece); --s) {
      pf_[U(s - 1)] = saved_pf_.back();
      saved_pf_.pop_back();
      tot_[U(s - 1)] += height_[U(piece)];
    }
    placed_[U(piece) / 64] &= ~(std::uint64_t{1} << (U(piece) % 64));
  }
  const S to = instance_.last[buffer_[U(b)]].value();
  for (S s = instance_.first[buffer_[U(b)]].value(); s + 1 < to; ++s) ++cross_[U(s)];
}

// highs_ becomes the sections whose floor is at least `level`.
template <typename Level>
void NicheSearch::LevelEngine<Level>::Highs(Level level) {
  if (highs_level_ == level && highs_version_ == version_) return;
  highs_level_ = level;
  highs_version_ = version_;
  for (std::size_t w = 0; w < highs_.words().size(); ++w) {
    SectionSet::Word word = 0;
    const std::size_t end = std::min(num_sections_, 64 * w + 64);
    for (std::size_t s = 64 * w; s < end; ++s) {
      word |= SectionSet::Word{pf_[s] >= level} << (s % 64);
    }
    highs_.words()[w] = word;
  }
}

// Adds to `set` a section that holds `lane` at `level` or above, unless one is there.
template <typename Level>
void NicheSearch::LevelEngine<Level>::ExplainLane(SectionSet::Word* set, L lane, Level level) {
  if (!special_) {
    if (level <= 0) return;
    const S from = first(lane);
    const S to = last(lane);
    S pick = -1;
    for (std::size_t w = U(from) / 64; w <= U(to - 1) / 64; ++w) {
      const SectionSet::Word high = highs_.words()[w] & SectionSet::Within(w, from, to);
      if ((high & set[w]) != 0) return;
      if (high != 0 && pick < 0) pick = static_cast<S>(64 * w) + std::countr_zero(high);
    }
    BERTH_DCHECK(pick >= 0);
    set[U(pick) / 64] |= SectionSet::Word{1} << (U(pick) % 64);
    return;
  }
  const B b = owner_[U(lane)];
  if (Lift(b, 0) + lower_[U(lane)] >= level) return;
  S pick = -1;
  for (std::size_t p = lane_begin_[U(b)]; p < lane_begin_[U(b) + 1]; ++p) {
    const L piece = lane_list_[p];
    for (S s = first(piece); s < last(piece); ++s) {
      const bool in_set = (set[U(s) / 64] >> (U(s) % 64) & 1) != 0;
      if ((!in_set && pick >= 0) || !Supports(lane, piece, pf_[U(s)], level)) continue;
      if (in_set) return;
      pick = s;
    }
  }
  BERTH_DCHECK(pick >= 0);
  set[U(pick) / 64] |= SectionSet::Word{1} << (U(pick) % 64);
}

// Adds to `set` sections from which it follows that everything unplaced in `section` lies at
// `level` or above.
template <typename Level>
void NicheSearch::LevelEngine<Level>::Explain(SectionSet::Word* set, S section, Level level) {
  set[U(section) / 64] |= SectionSet::Word{1} << (U(section) % 64);
  if (pf_[U(section)] >= level) return;
  if (!special_) Highs(level);
  const std::span<const L> lanes = members(section);
  for (std::size_t k = lanes.size(); k-- > 0;) {
    if (Unplaced(lanes[k])) ExplainLane(set, lanes[k], level);
  }
}

template <typename Level>
std::uint64_t NicheSearch::LevelEngine<Level>::KeyOf(S lo, S hi) const {
  std::uint64_t key = 0x9e3779b97f4a7c15u * static_cast<std::uint64_t>(lo) + static_cast<std::uint64_t>(hi);
  const auto mix = [&](std::uint64_t value) {
    key = (key ^ value) * 0xbf58476d1ce4e5b9u;
    key ^= key >> 29;
  };
  for (S s = lo; s < hi; ++s) mix(static_cast<std::uint64_t>(flo_[U(s)]));
  const L from = start_at_[U(lo)];
  const L to = start_at_[U(hi)];
  for (std::size_t w = U(from) / 64; w * 64 < U(to); ++w) {
    mix(placed_[w] & SectionSet::Within(w, from, to));
  }
  return key;
}

template <typename Level>
bool NicheSearch::LevelEngine<Level>::SameKey(const Entry& entry, S lo, S hi,
                                              std::uint64_t key) const {
  if (entry.key != key || entry.lo != lo || entry.hi != hi) return false;
  if (!std::equal(entry.floors.begin(), entry.floors.end(), flo_.begin() + lo)) return false;
  const L from = start_at_[U(lo)];
  const L to = start_at_[U(hi)];
  std::size_t k = 0;
  for (std::size_t w = U(from) / 64; w * 64 < U(to); ++w) {
    if (entry.placed[k++] != (placed_[w] & SectionSet::Within(w, from, to))) return false;
  }
  return true;
}

template <typename Level>
void NicheSearch::LevelEngine<Level>::Store(const Frame& frame) {
  Entry& entry = table_[frame.key % kTableEntries];
  entry.key = frame.key;
  entry.lo = frame.lo;
  entry.hi = frame.hi;
  entry.floors.assign(flo_.begin() + frame.lo, flo_.begin() + frame.hi);
  entry.placed.clear();
  const L from = start_at_[U(frame.lo)];
  const L to = start_at_[U(frame.hi)];
  for (std::size_t w = U(from) / 64; w * 64 < U(to); ++w) {
    entry.placed.push_back(placed_[w] & SectionSet::Within(w, from, to));
  }
  entry.reason = conflict_.words();
}

template <typename Level>
bool NicheSearch::LevelEngine<Level>::ChooseSection(Frame& frame) {
  found_.clear();
  std::uint64_t best_choices = 0;
  std::uint64_t best_weight = 0;
  frame.section = -1;
  std::size_t best_begin = 0;
  S run_from = 0;
  S run_to = 0;
  std::size_t best_end = 0;
  Level lowest = kPlaced;
  for (S from = frame.lo; from < frame.hi;) {
    const Level floor = flo_[U(from)];
    S to = from + 1;
    while (to < frame.hi && flo_[U(to)] == floor) ++to;
    const bool lower_left = from > frame.lo && flo_[U(from) - 1] < floor;
    const bool lower_right = to < frame.hi && flo_[U(to)] < floor;
    if (floor >= kPlaced || lower_left || lower_right || (!options_.niches && floor >= lowest)) {
      from = to;
      continue;
    }
    // The unplaced lanes that rest on this run's floor: they all lie within it.
    const std::size_t found_begin = found_.size();
    std::fill(diff_.begin() + from, diff_.begin() + to + 1, 0);
    bool closed = true;
    for (L k = start_at_[U(from)]; k < start_at_[U(to)]; ++k) {
      if (value_[U(k)] != floor) continue;
      const B b = owner_[U(k)];
      if (several_ || windows_) {
        // Nothing may be able to slip under any other piece.
        for (std::size_t p = lane_begin_[U(b)]; closed && p < lane_begin_[U(b) + 1]; ++p) {
          const L piece = lane_list_[p];
          for (S s = first(piece); closed && s < last(piece); ++s) {
            closed = flo_[U(s)] == value_[U(piece)];
          }
        }
        if (!closed) break;
      }
      if (options_.identical_order && twin_[U(b)] >= 0 &&
          Unplaced(lane_list_[lane_begin_[U(twin_[U(b)])]])) {
        continue;
      }
      found_.push_back(k);
      ++diff_[U(first_[U(k)])];
      --diff_[U(last_[U(k)])];
    }
    if (!closed) {
      found_.resize(found_begin);
      from = to;
      continue;
    }
    if (floor < lowest) lowest = floor;
    if (!options_.niches) frame.section = -1;
    std::uint64_t count = 0;
    for (S s = from; s < to; ++s) {
      count += static_cast<std::uint64_t>(static_cast<std::int64_t>(diff_[U(s)]));
      const int slack_mode = kSlack < 10 ? kSlack : mode_;
      std::uint64_t choices = count + (floor + tot_[U(s)] < capacity_ ? 1 : 0);
      if (slack_mode == 1) choices = choices * static_cast<std::uint64_t>(20 + 1000ll*(capacity_ - floor - tot_[U(s)])/capacity_);
      if (slack_mode == 2) choices = static_cast<std::uint64_t>(1 + capacity_ - floor - tot_[U(s)]);
      if (slack_mode == 3) choices = choices * static_cast<std::uint64_t>(5 + 1000ll*(capacity_ - floor - tot_[U(s)])/capacity_);
      if (slack_mode == 4) choices = choices * static_cast<std::uint64_t>(100 + 1000ll*(capacity_ - floor - tot_[U(s)])/capacity_);
      const std::uint64_t weight = weight_[U(s)];
      if (frame.section < 0 || choices * best_weight < best_choices * weight) {
        frame.section = s;
        frame.floor = floor;
        best_choices = choices;
        best_weight = weight;
        best_begin = found_begin;
        run_from = from;
        run_to = to;
        best_end = found_.size();
      }
    }
    from = to;
  }
  if (frame.section < 0) return false;
  frame.arena = arena_.size();
  for (std::size_t k = best_begin; k < best_end; ++k) {
    const L lane = found_[k];
    if (first(lane) <= frame.section && last(lane) > frame.section) arena_.push_back(lane);
  }
  frame.next = frame.arena;
  frame.end = arena_.size();
  std::sort(arena_.begin() + static_cast<std::ptrdiff_t>(frame.arena), arena_.end(), [&](L a, L b) {
    const B i = owner_[U(a)];
    const B j = owner_[U(b)];
    const bool wants_a = wanted_[U(i)] == value_[U(a)] - lower_[U(a)];
    const bool wants_b = wanted_[U(j)] == value_[U(b)] - lower_[U(b)];
    if (wants_a != wants_b) return wants_a;
    if (kTouch || kMatch) {
      const auto score = [&](L lane) {
        std::int64_t k = order_key_[U(owner_[U(lane)])];
        std::int64_t bonus = 100;
        const Level top = value_[U(lane)] + height_[U(lane)];
        if (first(lane) == run_from) { bonus += kTouch; if (run_from == frame.lo || flo_[U(run_from) - 1] == top) bonus += kMatch; }
        if (last(lane) == run_to) { bonus += kTouch; if (run_to == frame.hi || flo_[U(run_to)] == top) bonus += kMatch; }
        return k / 128 * bonus;
      };
      const std::int64_t x = score(a), y = score(b);
      if (x != y) return x > y;
    }
    return rank_[U(i)] < rank_[U(j)];
  });
  return true;
}

template <typename Level>
auto NicheSearch::LevelEngine<Level>::Enter() -> Below {
  Frame frame;
  frame.lo = frames_.empty() ? 0 : frames_.back().lo;
  const S sections = static_cast<S>(num_sections_);
  while (frame.lo < sections && tot_[U(frame.lo)] == 0) ++frame.lo;
  if (frame.lo == sections) return Below::kFound;
  frame.hi = frame.lo + 1;
  while (cross_[U(frame.hi) - 1] > 0) ++frame.hi;
  frame.key = 0;
  if (options_.transpositions) {
    frame.key = KeyOf(frame.lo, frame.hi);
    const Entry& entry = table_[frame.key % kTableEntries];
    if (SameKey(entry, frame.lo, frame.hi, frame.key)) {
      conflict_.words() = entry.reason;
      for (S s = frame.lo; s < frame.hi; ++s) {
        const bool in = (entry.reason[U(s) / 64] >> (U(s) % 64) & 1) != 0;
        if (in && flo_[U(s)] > pf_[U(s)]) Explain(conflict_.words().data(), s, flo_[U(s)]);
      }
      return Below::kFailed;
    }
  }
  if (!ChooseSection(frame)) {
    incomplete_ = true;
    conflict_.Clear();
    for (S s = frame.lo; s < frame.hi; ++s) conflict_.Add(s);
    return Below::kFailed;
  }
  frame.wasted = false;
  frame.may_waste = frame.floor + tot_[U(frame.section)] < capacity_;
  frame.next_level = -1;
  frame.child = kNoLane;
  frame.reason = kNoReason;
  frame.marks = {num_saved_, saved_floor_.size(), 0};
  frames_.push_back(frame);
  return Below::kOpened;
}

template <typename Level>
SectionSet::Word* NicheSearch::LevelEngine<Level>::ReasonOf(Frame& frame) {
  if (frame.reason == kNoReason) {
    frame.reason = reasons_.size();
    reasons_.resize(reasons_.size() + conflict_.words().size(), 0);
  }
  return reasons_.data() + frame.reason;
}

// The child of `frame` failed for the reason in conflict_, and is undone. True if the frame fails
// for the same reason.
template <typename Level>
bool NicheSearch::LevelEngine<Level>::Absorb(Frame& frame) {
  bool meets = false;
  const B b = frame.child == kNoLane ? 0 : owner_[U(frame.child)];
  if (frame.child == kNoLane) {
    meets = conflict_.Has(frame.section);
  } else {
    for (std::size_t p = lane_begin_[U(b)]; p < lane_begin_[U(b) + 1]; ++p) {
      const L piece = lane_list_[p];
      meets |= conflict_.Meets(first(piece), last(piece));
    }
  }
  if (!meets && options_.backjumping) return true;
  SectionSet::Word* reason = ReasonOf(frame);
  for (std::size_t w = 0; w < conflict_.words().size(); ++w) reason[w] |= conflict_.words()[w];
  if (frame.child == kNoLane) return false;
  for (std::size_t p = lane_begin_[U(b)]; p < lane_begin_[U(b) + 1]; ++p) {
    const L piece = lane_list_[p];
    const Level bottom = value_[U(piece)];
    for (S s = first(piece); s < last(piece); ++s) {
      if (conflict_.Has(s) && pf_[U(s)] < bottom) Explain(reason, s, bottom);
    }
  }
  return false;
}

template <typename Level>
Level NicheSearch::LevelEngine<Level>::NextLevel(const Frame& frame) {
  if (windows_) return frame.floor + 1;
  const S s = frame.section;
  Level level = kPlaced;
  S from = frame.hi;
  S to = frame.lo;
  for (const L k : members(s)) {
    if (!Unplaced(k)) continue;
    if (value_[U(k)] > frame.floor) {
      level = std::min(level, value_[U(k)]);
    } else {
      const BufferIndex b = buffer_[U(owner_[U(k)])];
      from = std::min(from, instance_.first[b].value());
      to = std::max(to, instance_.last[b].value());
    }
  }
  if (from >= to) return level;
  const L all_end = lanes_end(to - 1);
  for (L k = lanes_begin(from); k < all_end; ++k) {
    if (!Unplaced(k) || last(k) <= from || first(k) >= to) continue;
    if (first(k) <= s && last(k) > s) continue;
    level = std::min(level, value_[U(k)] + height_[U(k)]);
  }
  return level;
}

template <typename Level>
void NicheSearch::LevelEngine<Level>::JustifyNextLevel(const Frame& frame, SectionSet::Word* reason,
                                                       Level level) {
  const S s = frame.section;
  S from = frame.hi;
  S to = frame.lo;
  if (!special_) Highs(level);
  const std::span<const L> lanes = members(s);
  for (std::size_t m = lanes.size(); m-- > 0;) {
    const L k = lanes[m];
    if (!Unplaced(k)) continue;
    if (value_[U(k)] > frame.floor) {
      ExplainLane(reason, k, level);
    } else {
      const BufferIndex b = buffer_[U(owner_[U(k)])];
      from = std::min(from, instance_.first[b].value());
      to = std::max(to, instance_.last[b].value());
    }
  }
  if (level <= frame.floor + 1 || from >= to) return;
  const L all_end = lanes_end(to - 1);
  for (L k = lanes_begin(from); k < all_end; ++k) {
    if (!Unplaced(k) || last(k) <= from || first(k) >= to) continue;
    if (first(k) <= s && last(k) > s) continue;
    if (height_[U(k)] >= level) continue;
    if (!special_) Highs(level - height_[U(k)]);
    ExplainLane(reason, k, level - height_[U(k)]);
  }
}

// All children of `frame` failed: conflict_ becomes the frame's reason.
template <typename Level>
void NicheSearch::LevelEngine<Level>::Finish(Frame& frame) {
  SectionSet::Word* reason = ReasonOf(frame);
  const S s = frame.section;
  reason[U(s) / 64] |= SectionSet::Word{1} << (U(s) % 64);
  const Level level = frame.wasted ? frame.next_level : capacity_ - tot_[U(s)] + 1;
  JustifyNextLevel(frame, reason, level);
  if (flo_[U(s)] > pf_[U(s)]) Explain(reason, s, flo_[U(s)]);
  std::copy_n(reason, conflict_.words().size(), conflict_.words().begin());
  reasons_.resize(frame.reason);
  // A failure of a later component says nothing about this one.
  const S sections = static_cast<S>(num_sections_);
  const bool own = (frame.lo == 0 || !conflict_.Meets(0, frame.lo)) &&
                   (frame.hi == sections || !conflict_.Meets(frame.hi, sections));
  if (options_.transpositions && own) Store(frame);
}

template <typename Level>
auto NicheSearch::LevelEngine<Level>::Run(std::int64_t node_limit, Budget& budget) -> Ended {
  const std::int64_t until = nodes_ + node_limit;
  Below below = Enter();
  while (true) {
    if (below == Below::kFound) return Ended::kFound;
    if (below == Below::kFailed) {
      if (frames_.empty()) return Ended::kImpossible;
      Frame& frame = frames_.back();
      Undo(frame);
      if (Absorb(frame)) {
        if (frame.reason != kNoReason) reasons_.resize(frame.reason);
        arena_.resize(frame.arena);
        frames_.pop_back();
        continue;
      }
    }
    Frame& frame = frames_.back();
    bool ok = false;
    if (kWFirst && frame.may_waste && !frame.wasted && frame.next == frame.arena && frame.child == kNoLane) {
      const Level nl = NextLevel(frame);
      const Level budget_left = capacity_ - tot_[U(frame.section)] - frame.floor;
      if ((nl - frame.floor) * static_cast<Level>(random_.Uniform(1, kWFirst)) <= budget_left && random_.Uniform(0, 3) == 0) {
        frame.next_level = nl;
        frame.wasted = true;
        if (nodes_ >= until) return Ended::kOutOfNodes;
        if (!budget.SpendNode()) return Ended::kOutOfBudget;
        ++nodes_;
        below = Waste(frame.section, nl) ? Enter() : Below::kFailed;
        continue;
      }
      frame.child = 0;
    }
    if (frame.next < frame.end) {
      frame.child = arena_[frame.next++];
      if (nodes_ >= until) return Ended::kOutOfNodes;
      if (!budget.SpendNode()) return Ended::kOutOfBudget;
      ++nodes_;
      ok = Place(frame.child);
    } else if (frame.may_waste && !frame.wasted) {
      frame.next_level = NextLevel(frame);
      if (frame.next_level > capacity_ - tot_[U(frame.section)]) {
        frame.may_waste = false;
        below = Below::kOpened;
        continue;
      }
      frame.wasted = true;
      frame.child = kNoLane;
      if (nodes_ >= until) return Ended::kOutOfNodes;
      if (!budget.SpendNode()) return Ended::kOutOfBudget;
      ++nodes_;
      ok = Waste(frame.section, frame.next_level);
    } else {
      Finish(frame);
      arena_.resize(frame.arena);
      frames_.pop_back();
      below = Below::kFailed;
      continue;
    }
    below = ok ? Enter() : Below::kFailed;
    if ((kPhase || kDebug) && below == Below::kOpened) {
      int d = 0; for (auto w : placed_) d += std::popcount(w);
      if (d > best_depth_) { best_depth_ = d; for (std::size_t b = 0; b < buffer_.size(); ++b) best_[b] = Unplaced(lane_list_[lane_begin_[b]]) ? -1 : offset_[b]; }
    }
  }
}

template <typename Level>
SearchAnswer NicheSearch::LevelEngine<Level>::Search(Bytes capacity,
                                                     const std::vector<Bytes>* known,
                                                     std::int64_t node_limit, Budget& budget) {
  SearchAnswer answer;
  const auto scaled = static_cast<Level>(capacity / grain_);
  if (scaled != capacity_) ResetCapacity(scaled);
  if (impossible_) {
    answer.verdict = SearchAnswer::Verdict::kImpossible;
    return answer;
  }
  nodes_ = 0;
  while (nodes_ < node_limit) {
    BERTH_CHECK(ResetState());
    if (kSlack == 10) mode_ = run_ % 2 ? 3 : 0;
    if (kSlack == 11) mode_ = std::array{0, 3, 1, 4}[U(run_ % 4)];
    if (kSlack == 12) mode_ = static_cast<int>(random_.Uniform(0, 4));
    Rank(known);
    std::int64_t limit = node_limit - nodes_;
    if (options_.restarts) limit = std::min(limit, Luby(run_) * kRunNodes);
    const Ended ended = Run(limit, budget);
    ++run_;
    if (ended == Ended::kFound) {
      answer.verdict = SearchAnswer::Verdict::kFound;
      answer.offsets.assign(instance_.num_buffers(), 0);
      for (const BufferIndex b : instance_.buffers()) {
        if (instance_.pin[b] != kNone) answer.offsets[b.position()] = instance_.pin[b];
      }
      for (std::size_t b = 0; b < buffer_.size(); ++b) {
        answer.offsets[buffer_[b].position()] = Bytes{offset_[b]} * grain_;
      }
      break;
    }
    if (ended == Ended::kImpossible) {
      answer.verdict = incomplete_ ? SearchAnswer::Verdict::kInconclusive
                                   : SearchAnswer::Verdict::kImpossible;
      break;
    }
    if (ended == Ended::kOutOfBudget) break;
  }
  answer.nodes = nodes_;
  if (Knob("K_DEBUG", 0)) {
    std::vector<Level> t(num_sections_+1); for (std::size_t k = 0; k < num_lanes_; ++k) { t[U(first_[k])]+=height_[k]; t[U(last_[k])]-=height_[k]; }
    for (std::size_t q = 1; q < num_sections_; ++q) t[q]+=t[q-1];
    for (std::size_t q = 0; q < num_sections_; ++q) std::printf("s %zu slack %ld members %zu weight %.2f\n", q, long(capacity_-t[q]), members(S(q)).size(), double(weight_[q])/double(increment_));
    std::printf("best depth %d of %zu, runs %ld\n", best_depth_, buffer_.size(), long(run_));
  }
  return answer;
}

NicheSearch::NicheSearch(const Instance& instance, const NicheOptions& options, std::uint64_t seed)
    : instance_(instance), options_(options), seed_(seed), grain_(GrainOf(instance)) {}

NicheSearch::~NicheSearch() = default;

SearchAnswer NicheSearch::Search(Bytes capacity, const std::vector<Bytes>* known,
                                 std::int64_t node_limit, Budget& budget) {
  Bytes most = 0;  // No plan needs more.
  for (const BufferIndex b : instance_.buffers()) {
    most += instance_.size[b] + instance_.alignment[b] - 1;
    if (instance_.pin[b] != kNone) most += instance_.pin[b];
    most = std::min(most, Bytes{1} << 60);
  }
  capacity = std::min(capacity, most);
  if (most / grain_ < (Bytes{1} << 28)) {
    if (!narrow_) {
      narrow_ = std::make_unique<LevelEngine<std::int32_t>>(instance_, options_, seed_, grain_);
    }
    return narrow_->Search(capacity, known, node_limit, budget);
  }
  if (!wide_) {
    wide_ = std::make_unique<LevelEngine<std::int64_t>>(instance_, options_, seed_, grain_);
  }
  return wide_->Search(capacity, known, node_limit, budget);
}

}  // namespace berth::internal
