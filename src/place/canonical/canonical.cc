// Exact search over canonical plans.
//
// The idea. A plan is canonical if its buffers, taken in increasing order of (offset, index), each
// lie as low as the buffers before them allow. The plan with the least sum of offsets is canonical
// (a buffer that could move down would lower the sum), so a search that builds plans from the
// ground up, each buffer at its lowest offset above those already placed, misses no problem that
// has a plan. This needs that of two buffers that meet, the upper one has the larger offset:
// Overlaps::stackable.
//
// What prunes it, each by its own switch (canonical.h):
//   * canonical_only: (offset, index) never decreases along a path (6.1).
//   * section inference: in each section, the lowest offset left to an unplaced buffer plus all
//     unplaced bytes must fit (6.2, eq. 3). The floor is the larger of the last offset
//     (monotonic_floor) and the least lower bound of the section's unplaced buffers
//     (unallocated_floor).
//   * dominance: no buffer may start at or above the top that some unplaced buffer would reach
//     from where it could lie now; that buffer could slip in below, lowering the sum of offsets
//     (6.3).
//   * hatless: a buffer with no unplaced buffer above it can lie nowhere else than its lower bound,
//     now or later; when its subtree fails, so do its later siblings. (Not in the paper, but in its
//     code.) Sound only where siblings come in canonical order, or where the order does not matter,
//     and ignored otherwise. With decomposition it has nothing to do: such a buffer is a part by
//     itself.
//   * identical_order: of buffers that differ in nothing but their ids, the first lies lowest.
//     Swapping two of them changes neither the offsets in use nor their sum, so the least plan may
//     be taken to be so. (Not in the paper.)
//   * decomposition: when the unplaced buffers fall apart in time, the parts are solved one by one
//     (7). Unlike the published code, a part keeps the path's last offset as its lower bound: the
//     canonical plan of the whole is canonical in each part.
//
// What makes a node cheap. lower_[b] is kept up to date for every unplaced buffer through one
// trail. The floor of a section is never computed: a section is safe as long as one of its unplaced
// buffers, its witness, has lower_ + unplaced bytes <= capacity (the watched literals of SAT
// solvers); only when the witness is placed or raised too far are the section's members looked at
// again. There is no hash set or clock call for each node, no allocation but to rank the buffers of
// a part, and no recursion: frames_ is the path, arena_ holds its lists.

#include "place/canonical/canonical.h"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/arithmetic.h"
#include "base/check.h"
#include "base/keyed.h"
#include "base/lists.h"
#include "base/radix_sort.h"
#include "base/truncate.h"
#include "model/section_lists.h"
#include "model/twins.h"

namespace berth::internal::canonical {
namespace {

constexpr std::string_view kPreorderKeys = "WATZCLU";

// Most levels try few candidates before one works or all fail at once.
constexpr std::size_t kBatch = 32;

// Larger than any lower bound, small enough to add to.
constexpr Bytes kPlaced = std::numeric_limits<Bytes>::max() / 4;

class Engine final : public Search {
 public:
  Engine(const Instance& instance, const Overlaps& overlaps, const Options& options);
  SearchAnswer Decide(const Question& question, Budget& budget) override;

 private:
  enum class Verdict { kFound, kImpossible, kOutOfNodes, kOutOfBudget };

  // How the level below the current one ended; kOpened if there is none yet.
  enum class Below { kOpened, kSucceeded, kFailed, kStopped };

  // A set of buffers that meet nothing outside it, all within sections [first, last): those of
  // order_[begin, end).
  struct Component {
    SectionIndex first;
    SectionIndex last;
    std::int32_t begin;
    std::int32_t end;
    bool is_placed;  // At the capacity asked about.

    [[nodiscard]] std::int32_t size() const { return end - begin; }
  };

  // One level of the path. A choice places one of its candidates; a split has parts, each of which
  // must succeed.
  struct Frame {
    bool is_split;
    SectionIndex first;  // The component's sections; of a split, those of the parts to come.
    SectionIndex last;
    std::size_t arena_mark;  // What this level added to arena_ begins here.
    std::size_t list_begin;  // arena_: the component's buffers in preorder, unplaced
    std::size_t list_end;    // ones and others.
    std::size_t unplaced;    // How many are unplaced.
    std::size_t candidates;  // arena_: the first candidate,
    std::size_t next;        // the next one,
    std::size_t end;         // and past the last one.
    bool has_more;           // There are candidates after those.
    std::size_t trail_mark;  // To undo the candidate being tried.
    Bytes offset;            // Least (offset, rank) allowed below here.
    std::int32_t rank;
    bool hatless;  // The candidate being tried has nothing unplaced above it.
    bool cuts;     // It leaves nothing that is live both before and after some point in time.
  };

  struct Candidate {
    Bytes offset;
    std::int32_t rank;
    BufferIndex buffer;
  };

  struct Section {
    Bytes unplaced = 0;         // Bytes left to place, rounded to the grain.
    std::int32_t crossing = 0;  // Unplaced buffers live both in this section and in the next one.
    BufferIndex witness;
  };

  struct Change {
    enum Kind : std::int32_t { kLower, kWitness, kRank, kPlace };
    Kind kind;
    std::int32_t index;  // Of a buffer; kWitness: of a section.
    Bytes old;
  };

  [[nodiscard]] std::span<const BufferIndex> BuffersOf(const Component& component) const {
    return std::span(order_).subspan(static_cast<std::size_t>(component.begin),
                                     static_cast<std::size_t>(component.size()));
  }
  void FindComponents();
  void FindTwins();
  void Rank(std::size_t begin, std::size_t end);
  [[nodiscard]] std::int64_t KeyOf(BufferIndex b, char key) const;
  [[nodiscard]] bool StartCapacity(Bytes capacity);
  [[nodiscard]] bool TakeKnown(const Component& component, const std::vector<Bytes>& known);
  [[nodiscard]] SearchAnswer::Verdict SearchAll(const Question& question, Budget& budget);
  template <typename Left>
  [[nodiscard]] Verdict TryPreorders(const Component& component, std::int64_t round_nodes,
                                     Left left, Budget& budget);
  void Reset(const Component& component, std::string_view keys);
  Verdict SearchComponent(const Component& component, std::int64_t node_limit, Budget& budget);
  [[nodiscard]] Below ContinueChoice(Below below);
  [[nodiscard]] Below ContinueSplit(Below below);
  [[nodiscard]] Below Close(Below how);
  [[nodiscard]] bool SpendNode();
  void OpenChoice(SectionIndex first, SectionIndex last, std::size_t list_begin,
                  std::size_t list_end, std::size_t unplaced, Bytes offset, std::int32_t rank);
  void OpenSplit(const Frame& parent, Bytes offset, std::int32_t rank);
  void CopyUnplaced(std::size_t list_begin, std::size_t list_end);
  void AddCandidates(Frame& frame, const Candidate& after);
  [[nodiscard]] bool AddMoreCandidates(Frame& frame);
  [[nodiscard]] bool Precedes(const Candidate& x, const Candidate& y) const;
  [[nodiscard]] bool Place(BufferIndex b, Bytes offset, Frame& frame);
  [[nodiscard]] bool RaiseNeighbours(BufferIndex b, Bytes offset, Frame& frame,
                                     SectionIndex& hull_first, SectionIndex& hull_last);
  [[nodiscard]] bool SectionsHold(SectionIndex first, SectionIndex last);
  [[nodiscard]] bool FindWitness(SectionIndex s);
  void UndoTo(std::size_t mark);
  [[nodiscard]] Bytes MostUnplaced(BufferIndex b) const;
  bool Count(BufferIndex b, std::int32_t sign);
  // Two entries of lower_ behind those of the buffers: the witness of a section with nothing left
  // to place, which always holds, and that of a section not looked at yet, which never does.
  [[nodiscard]] BufferIndex empty_witness() const { return BufferIndex(instance_.num_buffers()); }
  [[nodiscard]] BufferIndex no_witness() const { return empty_witness().next(); }
  // The twin of a buffer without one counts as placed.
  [[nodiscard]] BufferIndex placed_twin() const { return no_witness(); }

  const Instance& instance_;
  const Overlaps& overlaps_;
  const Options options_;
  const std::string_view preorders_;      // Of options_.
  const std::vector<BufferIndex> order_;  // All that are live somewhere, by first section.
  std::vector<Component> components_;
  Lists<SectionIndex, BufferIndex> members_;  // The buffers with a piece in each section.
  Bytes grain_ = 1;                           // Every offset is a multiple of it.

  IndexedVector<BufferIndex, BufferIndex>
      twin_;  // The identical buffer just before b, or placed_twin().

  // For one capacity.
  Bytes load_capacity_ = 0;  // What rounded section loads must fit in.
  IndexedVector<BufferIndex, Bytes> max_offset_;
  IndexedVector<BufferIndex, Bytes> offset_;  // Of what is placed.

  // For one dive.
  IndexedVector<BufferIndex, std::int32_t> rank_;
  IndexedVector<BufferIndex, Bytes> lower_;  // kPlaced once placed; two more entries for witnesses.
  IndexedVector<SectionIndex, Section> sections_;
  std::vector<Change> trail_;
  std::vector<Frame> frames_;
  std::vector<BufferIndex> arena_;
  std::array<Candidate, kBatch + 1> candidates_{};  // Scratch: a batch, and one too many.
  std::string_view keys_;                           // The preorder's.
  std::int64_t nodes_left_ = 0;
  Budget* budget_ = nullptr;
};

Engine::Engine(const Instance& instance, const Overlaps& overlaps, const Options& options)
    : instance_(instance),
      overlaps_(overlaps),
      options_(options),
      preorders_(options_.static_preordering ? std::string_view(options_.preorders) : ""),
      order_(ByShape(instance)),
      members_(SectionLists<BufferIndex>(instance, [](BufferIndex b, const Piece&) { return b; })),
      twin_(instance.num_buffers(), placed_twin()),
      max_offset_(instance.num_buffers()),
      offset_(instance.num_buffers()),
      rank_(instance.num_buffers()),
      lower_(instance.num_buffers() + 2),
      sections_(instance.num_sections()) {
  // A window may begin off the grain and lie in what rounding a buffer below it up would waste.
  if (!instance.has_windows) {
    Bytes grain = 0;
    for (const Bytes alignment : instance.alignment) grain = std::gcd(grain, alignment);
    grain_ = std::max<Bytes>(grain, 1);
  }
  lower_[no_witness()] = kPlaced;
  FindComponents();
  FindTwins();
}

// The most bytes left to place in a section in which b has a piece.
Bytes Engine::MostUnplaced(BufferIndex b) const {
  Bytes most = 0;
  for (const Piece& piece : instance_.pieces_of(b)) {
    for (SectionIndex s = piece.first; s < piece.last; ++s) {
      most = std::max(most, sections_[s].unplaced);
    }
  }
  return most;
}

// Counts b as left to place, `sign` 1, or no longer, -1. True if nothing is left that is live both in
// some section of b and in the next. Whole buffers count rounded up to the grain: whatever lies above
// starts at a multiple of it.
bool Engine::Count(BufferIndex b, std::int32_t sign) {
  for (const Piece& piece : instance_.pieces_of(b)) {
    const Bytes bytes = piece.lower == 0 ? RoundUp(piece.upper, grain_) : piece.upper - piece.lower;
    for (SectionIndex s = piece.first; s < piece.last; ++s) sections_[s].unplaced += sign * bytes;
  }
  bool cuts = false;
  for (SectionIndex s = instance_.first[b]; s.next() < instance_.last[b]; ++s) {
    sections_[s].crossing += sign;
    cuts |= sections_[s].crossing == 0;
  }
  return cuts;
}

void Engine::FindComponents() {
  std::int32_t end = 0;
  for (const BufferIndex b : order_) {
    const SectionIndex first = instance_.first[b];
    if (components_.empty() || first >= components_.back().last) {
      components_.push_back({first, first, end, end, false});
    }
    components_.back().last = std::max(components_.back().last, instance_.last[b]);
    components_.back().end = ++end;
  }
}

// In order_ twins are neighbours.
void Engine::FindTwins() {
  if (!options_.identical_order) return;
  for (std::size_t k = 1; k < order_.size(); ++k) {
    if (AreTwins(instance_, order_[k - 1], order_[k])) twin_[order_[k]] = order_[k - 1];
  }
}

// Gives the buffers of arena_[begin, end) their ranks: by each key of the word in turn, largest
// first, then by index; and sorts them by it. The old ranks go on the trail.
void Engine::Rank(std::size_t begin, std::size_t end) {
  std::vector<KeyAndItem> ranking(end - begin);
  for (std::size_t r = 0; r < ranking.size(); ++r) {
    const std::int32_t b = arena_[begin + r].value();
    ranking[r] = {b, b};
  }
  SortByKey(ranking);
  // Equal keys keep their order: what comes first in the word is sorted by last.
  for (std::size_t k = keys_.size(); k-- > 0;) {
    for (KeyAndItem& each : ranking) each.key = -KeyOf(BufferIndex(each.position()), keys_[k]);
    SortByKey(ranking);
  }
  for (std::size_t r = 0; r < ranking.size(); ++r) {
    const BufferIndex b(ranking[r].position());
    arena_[begin + r] = b;
    trail_.push_back({Change::kRank, b.value(), rank_[b]});
    rank_[b] = static_cast<std::int32_t>(r);
  }
}

// The only key that changes during the search is T: it counts the bytes not placed yet.
std::int64_t Engine::KeyOf(BufferIndex b, char key) const {
  const Step width = instance_.end[b] - instance_.start[b];
  const Bytes size = instance_.size[b];
  switch (key) {
    case 'W':
      return width;
    case 'A':
      return AsKey(static_cast<double>(width) * static_cast<double>(size));
    case 'Z':
      return size;
    case 'C':
      return instance_.last[b].value() - instance_.first[b].value();
    case 'L':
      return instance_.start[b];
    case 'U':
      return instance_.end[b];
    default:
      break;
  }
  BERTH_DCHECK(key == 'T');
  return MostUnplaced(b);
}

void Engine::Reset(const Component& component, std::string_view keys) {
  trail_.clear();
  frames_.clear();
  for (SectionIndex s = component.first; s < component.last; ++s) {
    sections_[s] = {0, 0, no_witness()};
  }
  arena_.clear();
  for (const BufferIndex b : BuffersOf(component)) {
    arena_.push_back(b);
    lower_[b] = std::max<Bytes>(instance_.pin[b], 0);
    Count(b, 1);
  }
  keys_ = keys;
  Rank(0, arena_.size());
}

// False if some buffer by itself does not fit.
bool Engine::StartCapacity(Bytes capacity) {
  load_capacity_ = 0;
  for (const BufferIndex b : instance_.buffers()) {
    const Bytes size = instance_.size[b];
    const Bytes pin = instance_.pin[b];
    if (size > capacity || pin > capacity - size) return false;
    max_offset_[b] = pin != kNone ? pin : capacity - size;
    // The topmost buffer of a section need not leave room up to the next multiple of the grain.
    load_capacity_ =
        std::max(load_capacity_, RoundDown(capacity + RoundUp(size, grain_) - size, grain_));
    if (instance_.pieces_of(b).empty()) offset_[b] = std::max<Bytes>(pin, 0);
  }
  return true;
}

// Takes over the known offsets of a component if they are low enough.
bool Engine::TakeKnown(const Component& component, const std::vector<Bytes>& known) {
  for (const BufferIndex b : BuffersOf(component)) {
    if (known[b.position()] > max_offset_[b]) return false;
  }
  for (const BufferIndex b : BuffersOf(component)) offset_[b] = known[b.position()];
  return true;
}

SearchAnswer Engine::Decide(const Question& question, Budget& budget) {
  SearchAnswer answer;
  const std::int64_t spent_before = budget.nodes_spent();
  answer.verdict = SearchAll(question, budget);
  answer.nodes = budget.nodes_spent() - spent_before;
  if (answer.verdict == SearchAnswer::Verdict::kFound) answer.offsets = offset_.items();
  return answer;
}

SearchAnswer::Verdict Engine::SearchAll(const Question& question, Budget& budget) {
  using enum SearchAnswer::Verdict;
  if (!StartCapacity(question.capacity)) return kImpossible;
  bool all_placed = true;
  for (Component& component : components_) {
    component.is_placed = question.known != nullptr && TakeKnown(component, *question.known);
    all_placed &= component.is_placed;
  }
  const std::int64_t spent_before = budget.nodes_spent();
  const auto left = [&] { return question.node_limit - (budget.nodes_spent() - spent_before); };
  // Every component gets its turn with each limit before any gets more: one that is quickly proved
  // impossible ends the search, however hard the others are.
  for (std::int64_t round_nodes = 2; !all_placed; round_nodes *= 2) {
    all_placed = true;
    for (Component& component : components_) {
      if (component.is_placed) continue;
      switch (TryPreorders(component, round_nodes, left, budget)) {
        case Verdict::kFound:
          component.is_placed = true;
          break;
        case Verdict::kImpossible:
          return overlaps_.stackable ? kImpossible : kInconclusive;
        case Verdict::kOutOfNodes:
          all_placed = false;
          break;
        case Verdict::kOutOfBudget:
          return kGaveUp;
      }
    }
  }
  return kFound;
}

// One dive by each preorder. kOutOfBudget also if `left` says that the question has no nodes left.
template <typename Left>
Engine::Verdict Engine::TryPreorders(const Component& component, std::int64_t round_nodes,
                                     Left left, Budget& budget) {
  const bool is_only_one = preorders_.find(',') == std::string_view::npos;
  for (std::size_t from = 0; from <= preorders_.size();) {
    const std::string_view keys = preorders_.substr(from, preorders_.find(',', from) - from);
    from += keys.size() + 1;
    const std::int64_t most = left();
    if (most <= 0) return Verdict::kOutOfBudget;
    Reset(component, keys);
    const std::int64_t nodes = is_only_one ? most : std::min(most, round_nodes * component.size());
    const Verdict verdict = SearchComponent(component, nodes, budget);
    if (verdict != Verdict::kOutOfNodes) return verdict;
  }
  return Verdict::kOutOfNodes;
}

// The whole search: go on with the deepest level of the path until there is none left.
Engine::Verdict Engine::SearchComponent(const Component& component, std::int64_t node_limit,
                                        Budget& budget) {
  nodes_left_ = node_limit;
  budget_ = &budget;
  if (!SectionsHold(component.first, component.last)) return Verdict::kImpossible;
  OpenChoice(component.first, component.last, 0, arena_.size(), arena_.size(), 0, 0);
  Below below = Below::kOpened;
  while (!frames_.empty()) {
    below = frames_.back().is_split ? ContinueSplit(below) : ContinueChoice(below);
    if (below == Below::kStopped) {
      return nodes_left_ < 0 ? Verdict::kOutOfNodes : Verdict::kOutOfBudget;
    }
  }
  return below == Below::kSucceeded ? Verdict::kFound : Verdict::kImpossible;
}

// One candidate must work.
Engine::Below Engine::ContinueChoice(Below below) {
  Frame& frame = frames_.back();
  if (below == Below::kSucceeded) return Close(Below::kSucceeded);
  if (below == Below::kFailed) {
    UndoTo(frame.trail_mark);
    if (frame.hatless) return Close(Below::kFailed);
  }
  if (frame.next == frame.end && !AddMoreCandidates(frame)) return Close(Below::kFailed);
  const BufferIndex b = arena_[frame.next++];
  const Bytes offset = lower_[b];
  frame.trail_mark = trail_.size();
  frame.hatless = false;
  if (!Place(b, offset, frame)) return Below::kFailed;
  if (frame.unplaced == 1) return Below::kSucceeded;
  if (!SpendNode()) return Below::kStopped;
  const Bytes least_offset = options_.canonical_only ? offset : 0;
  const std::int32_t least_rank = options_.canonical_only ? rank_[b] : 0;
  if (frame.cuts && options_.dynamic_decomposition) {
    OpenSplit(frame, least_offset, least_rank);
  } else {
    OpenChoice(frame.first, frame.last, frame.list_begin, frame.list_end, frame.unplaced - 1,
               least_offset, least_rank);
  }
  return Below::kOpened;
}

// All parts must work. What is placed in one does not touch the others.
Engine::Below Engine::ContinueSplit(Below below) {
  Frame& frame = frames_.back();
  if (below == Below::kFailed) return Close(Below::kFailed);
  Truncate(arena_, frame.list_end);
  while (frame.first < frame.last) {
    // A part begins where nothing unplaced crosses into it, and is crossed throughout.
    const SectionIndex first = frame.first;
    while (sections_[frame.first].crossing != 0) ++frame.first;
    const SectionIndex last = ++frame.first;
    for (std::size_t at = frame.list_begin; at < frame.list_end; ++at) {
      const BufferIndex b = arena_[at];
      if (instance_.first[b] >= first && instance_.last[b] <= last) arena_.push_back(b);
    }
    const std::size_t unplaced = arena_.size() - frame.list_end;
    if (unplaced == 0) continue;  // Nothing left to place in this part.
    if (!SpendNode()) return Below::kStopped;
    if (keys_.find('T') != std::string_view::npos) Rank(frame.list_end, arena_.size());
    OpenChoice(first, last, frame.list_end, arena_.size(), unplaced, frame.offset, 0);
    return Below::kOpened;
  }
  return Close(Below::kSucceeded);
}

Engine::Below Engine::Close(Below how) {
  const Frame& frame = frames_.back();
  Truncate(arena_, frame.arena_mark);
  frames_.pop_back();
  return how;
}

bool Engine::SpendNode() {
  if (--nodes_left_ < 0) return false;
  return budget_->SpendNode();
}

// Opens a level for the unplaced buffers of arena_[list_begin, list_end), all within sections
// [first, last). The list is copied when half of it is placed: all lists of a path together are
// then no longer than twice the first.
void Engine::OpenChoice(SectionIndex first, SectionIndex last, std::size_t list_begin,
                        std::size_t list_end, std::size_t unplaced, Bytes offset,
                        std::int32_t rank) {
  Frame frame{};
  frame.first = first;
  frame.last = last;
  frame.offset = offset;
  frame.rank = rank;
  frame.arena_mark = arena_.size();
  frame.unplaced = unplaced;
  if (2 * unplaced <= list_end - list_begin) {
    CopyUnplaced(list_begin, list_end);
    list_begin = frame.arena_mark;
    list_end = arena_.size();
  }
  frame.list_begin = list_begin;
  frame.list_end = list_end;
  frame.candidates = arena_.size();
  AddCandidates(frame, {-1, -1, no_witness()});
  frames_.push_back(frame);
}

// Opens a level whose parts are the component of `parent`, cut where the last placement left
// nothing live. `parent` lies in frames_.
void Engine::OpenSplit(const Frame& parent, Bytes offset, std::int32_t rank) {
  Frame frame{};
  frame.is_split = true;
  frame.first = parent.first;
  frame.last = parent.last;
  frame.offset = offset;
  frame.rank = rank;
  frame.arena_mark = arena_.size();
  frame.list_begin = arena_.size();
  CopyUnplaced(parent.list_begin, parent.list_end);
  frame.list_end = arena_.size();
  frames_.push_back(frame);
}

// Appends to arena_ those of arena_[list_begin, list_end) that are not placed.
void Engine::CopyUnplaced(std::size_t list_begin, std::size_t list_end) {
  for (std::size_t at = list_begin; at < list_end; ++at) {
    const BufferIndex b = arena_[at];
    if (lower_[b] != kPlaced) arena_.push_back(b);
  }
}

// Appends to arena_ what may come next, in the order in which to try it: the first kBatch
// candidates after `after`, so that the lists of a long path stay short.
void Engine::AddCandidates(Frame& frame, const Candidate& after) {
  frame.next = frame.end = arena_.size();
  frame.has_more = false;
  Bytes ceiling = kPlaced;  // Exclusive.
  if (options_.section_inference && options_.monotonic_floor && options_.canonical_only) {
    Bytes most = 0;
    for (SectionIndex s = frame.first; s < frame.last; ++s) {
      most = std::max(most, sections_[s].unplaced);
    }
    ceiling = std::min(ceiling, load_capacity_ - most + 1);
    if (ceiling <= frame.offset) return;
  }
  if (options_.dominance) {
    // A placed buffer's entry is too large to matter.
    for (std::size_t at = frame.list_begin; at < frame.list_end; ++at) {
      const BufferIndex b = arena_[at];
      ceiling = std::min(ceiling, lower_[b] + instance_.size[b]);
    }
    if (ceiling <= frame.offset) return;
  }
  std::size_t size = 0;  // Of candidates_, which are in order.
  for (std::size_t at = frame.list_begin; at < frame.list_end; ++at) {
    const BufferIndex b = arena_[at];
    const Bytes lower = lower_[b];
    if (lower < frame.offset || lower >= ceiling) continue;
    if (lower_[twin_[b]] != kPlaced) continue;
    const std::int32_t rank = rank_[b];
    if (lower == frame.offset && rank < frame.rank) continue;
    const Candidate candidate{lower, rank, b};
    if (!Precedes(after, candidate)) continue;
    std::size_t to = size;
    for (; to > 0 && Precedes(candidate, candidates_[to - 1]); --to) {
      candidates_[to] = candidates_[to - 1];
    }
    candidates_[to] = candidate;
    if (size < kBatch) {
      ++size;
    } else {
      frame.has_more = true;  // The last one, which stays behind.
    }
  }
  for (std::size_t k = 0; k < size; ++k) arena_.push_back(candidates_[k].buffer);
  frame.end = arena_.size();
}

bool Engine::Precedes(const Candidate& x, const Candidate& y) const {
  if (options_.dynamic_ordering && x.offset != y.offset) return x.offset < y.offset;
  return x.rank < y.rank;
}

// False if all candidates of the level, the deepest, have been tried.
bool Engine::AddMoreCandidates(Frame& frame) {
  if (!frame.has_more) return false;
  const BufferIndex last = arena_[frame.end - 1];
  const Candidate after{lower_[last], rank_[last], last};
  Truncate(arena_, frame.candidates);
  AddCandidates(frame, after);
  return frame.next != frame.end;
}

// Puts b at `offset`. False if that leaves no plan for some section; the caller undoes it either
// way.
bool Engine::Place(BufferIndex b, Bytes offset, Frame& frame) {
  if (offset > max_offset_[b]) return false;
  // The part of the inference that holds whatever the floors of the unplaced buffers are.
  if (options_.section_inference && !instance_.has_windows &&
      offset + MostUnplaced(b) > load_capacity_) {
    return false;
  }
  trail_.push_back({Change::kPlace, b.value(), lower_[b]});
  lower_[b] = kPlaced;
  offset_[b] = offset;
  frame.cuts = Count(b, -1);
  SectionIndex hull_first = instance_.first[b];
  SectionIndex hull_last = instance_.last[b];
  if (!RaiseNeighbours(b, offset, frame, hull_first, hull_last)) return false;
  return SectionsHold(hull_first, hull_last);
}

// Lifts the lower bounds of what can no longer lie below the top of b. The hull grows to all
// sections of the buffers lifted.
bool Engine::RaiseNeighbours(BufferIndex b, Bytes offset, Frame& frame, SectionIndex& hull_first,
                             SectionIndex& hull_last) {
  const auto [from, to] = overlaps_.row(b);
  bool has_hat = false;
  for (std::size_t k = from; k < to; ++k) {
    const BufferIndex other = overlaps_.neighbour[k];
    const Bytes lower = lower_[other];
    if (lower == kPlaced) continue;
    has_hat = true;
    const Bytes top = offset + overlaps_.clearance[k];
    if (lower >= top) continue;
    const Bytes raised = instance_.has_alignment ? RoundUp(top, instance_.alignment[other]) : top;
    if (raised > max_offset_[other]) return false;
    trail_.push_back({Change::kLower, other.value(), lower});
    lower_[other] = raised;
    hull_first = std::min(hull_first, instance_.first[other]);
    hull_last = std::max(hull_last, instance_.last[other]);
  }
  frame.hatless =
      !has_hat && options_.hatless && (options_.dynamic_ordering || !options_.canonical_only);
  return true;
}

bool Engine::SectionsHold(SectionIndex first, SectionIndex last) {
  if (!options_.section_inference || !options_.unallocated_floor) return true;
  for (SectionIndex s = first; s < last; ++s) {
    const Section& section = sections_[s];
    const bool holds = lower_[section.witness] + section.unplaced <= load_capacity_;
    if (!holds && !FindWitness(s)) return false;
  }
  return true;
}

// Looks for an unplaced buffer of s from whose lower bound the unplaced bytes of s still fit.
bool Engine::FindWitness(SectionIndex s) {
  Section& section = sections_[s];
  BufferIndex witness = no_witness();
  if (section.unplaced == 0) {
    witness = empty_witness();
  } else {
    for (const BufferIndex member : members_[s]) {
      if (lower_[member] + section.unplaced <= load_capacity_) {
        witness = member;
        break;
      }
    }
    if (witness == no_witness()) return false;
  }
  trail_.push_back({Change::kWitness, s.value(), section.witness.value()});
  section.witness = witness;
  return true;
}

void Engine::UndoTo(std::size_t mark) {
  for (; trail_.size() > mark; trail_.pop_back()) {
    const Change& change = trail_.back();
    const BufferIndex b(change.index);
    switch (change.kind) {
      case Change::kLower:
        lower_[b] = change.old;
        break;
      case Change::kWitness:
        sections_[SectionIndex(change.index)].witness =
            BufferIndex(static_cast<std::int32_t>(change.old));
        break;
      case Change::kRank:
        rank_[b] = static_cast<std::int32_t>(change.old);
        break;
      case Change::kPlace:
        lower_[b] = change.old;
        Count(b, 1);
        break;
    }
  }
}

}  // namespace

bool ValidPreorders(std::string_view preorders) {
  std::size_t length = 0;  // Of the word so far.
  for (const char c : preorders) {
    if (c == ',') {
      if (length == 0) return false;
      length = 0;
    } else if (kPreorderKeys.find(c) == std::string_view::npos || ++length > kPreorderKeys.size()) {
      return false;
    }
  }
  return length > 0;
}

std::unique_ptr<Search> MakeSearch(const Instance& instance, const Overlaps& overlaps,
                                   const Options& options) {
  return std::make_unique<Engine>(instance, overlaps, options);
}

}  // namespace berth::internal::canonical
