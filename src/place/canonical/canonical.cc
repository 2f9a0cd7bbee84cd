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
// again. There is no allocation, hash set or clock call for each node, and no recursion: frames_ is
// the path, arena_ holds its lists.

#include "place/canonical/canonical.h"

#include <algorithm>
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

    [[nodiscard]] std::int32_t size() const { return end - begin; }
  };

  // One level of the path. A choice places one of its candidates; a split has parts, each of which
  // must succeed.
  struct Frame {
    bool is_split;
    SectionIndex first;  // The component's sections.
    SectionIndex last;
    std::size_t arena_mark;  // What this level added to arena_ begins here.
    std::size_t list_begin;  // arena_: the component's buffers in preorder, unplaced
    std::size_t list_end;    // ones and others.
    std::size_t unplaced;    // How many are unplaced.
    std::size_t candidates;  // arena_: the first candidate; of a split, split_at_: the first part;
    std::size_t next;        // the next one,
    std::size_t end;         // and past the last one.
    bool has_more;           // There are candidates after those.
    std::size_t trail_mark;  // To undo the candidate being tried.
    Bytes offset;            // Least (offset, rank) allowed below here.
    std::int32_t rank;
    bool hatless;  // The candidate being tried has nothing unplaced above it.
  };

  struct Candidate {
    Bytes offset;
    std::int32_t rank;
    BufferIndex buffer;
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
  [[nodiscard]] bool IsKnown(const Component& component, const std::vector<Bytes>& known);
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
  void AddCandidates(Frame& frame, const Candidate& after);
  [[nodiscard]] bool AddMoreCandidates(Frame& frame);
  [[nodiscard]] bool Precedes(const Candidate& x, const Candidate& y) const;
  void OpenSplit(const Frame& parent, Bytes offset, std::int32_t rank);
  [[nodiscard]] bool Place(BufferIndex b, Bytes offset, Frame& frame);
  [[nodiscard]] bool RaiseNeighbours(BufferIndex b, Bytes offset, Frame& frame,
                                     SectionIndex& hull_first, SectionIndex& hull_last);
  [[nodiscard]] bool SectionsHold(SectionIndex first, SectionIndex last);
  [[nodiscard]] bool FindWitness(SectionIndex s);
  void UndoTo(std::size_t mark);
  template <typename F>
  void ForEachPieceSection(BufferIndex b, F f) const;
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
  IndexedVector<BufferIndex, Bytes> solution_;  // Of the components that are placed.

  // For one dive.
  IndexedVector<BufferIndex, std::int32_t> rank_;
  IndexedVector<BufferIndex, Bytes> lower_;  // kPlaced once placed; two more entries for witnesses.
  IndexedVector<BufferIndex, Bytes> offset_;
  IndexedVector<SectionIndex, Bytes>
      unplaced_;  // Bytes left to place in each section, rounded to the grain.
  IndexedVector<SectionIndex, BufferIndex> witness_;
  IndexedVector<SectionIndex, std::int32_t>
      crossing_;  // Unplaced buffers live both in section s and in s + 1.
  std::vector<Change> trail_;
  std::vector<Frame> frames_;
  std::vector<BufferIndex> arena_;
  std::vector<SectionIndex>
      split_at_;                    // Of each split, the first sections of its parts and its end.
  std::vector<SectionIndex> cuts_;  // Scratch: where the last placement cut its component.
  std::vector<Candidate> candidates_;  // Scratch.
  std::vector<KeyAndItem> ranking_;    // Scratch.
  std::string_view keys_;              // The preorder's.
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
      solution_(instance.num_buffers()),
      rank_(instance.num_buffers()),
      lower_(instance.num_buffers() + 2),
      offset_(instance.num_buffers()),
      unplaced_(instance.num_sections()),
      witness_(instance.num_sections(), no_witness()),
      crossing_(instance.num_sections()) {
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

// Calls f(section, bytes) for each section in which b has a piece. Whole buffers count rounded up
// to the grain: whatever lies above starts at a multiple of it.
template <typename F>
void Engine::ForEachPieceSection(BufferIndex b, F f) const {
  for (const Piece& piece : instance_.pieces_of(b)) {
    const Bytes bytes = piece.lower == 0 ? RoundUp(piece.upper, grain_) : piece.upper - piece.lower;
    for (SectionIndex s = piece.first; s < piece.last; ++s) f(s, bytes);
  }
}

void Engine::FindComponents() {
  std::int32_t end = 0;
  for (const BufferIndex b : order_) {
    const SectionIndex first = instance_.first[b];
    if (components_.empty() || first >= components_.back().last) {
      components_.push_back({first, first, end, end});
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
  ranking_.clear();
  for (std::size_t at = begin; at < end; ++at) {
    ranking_.push_back({arena_[at].value(), arena_[at].value()});
  }
  SortByKey(ranking_);
  // Equal keys keep their order: what comes first in the word is sorted by last.
  for (std::size_t k = keys_.size(); k-- > 0;) {
    for (KeyAndItem& each : ranking_) each.key = -KeyOf(BufferIndex(each.position()), keys_[k]);
    SortByKey(ranking_);
  }
  for (std::size_t r = 0; r < ranking_.size(); ++r) {
    const BufferIndex b(ranking_[r].position());
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
  Bytes most = 0;
  ForEachPieceSection(b, [&](SectionIndex s, Bytes) { most = std::max(most, unplaced_[s]); });
  return most;
}

void Engine::Reset(const Component& component, std::string_view keys) {
  trail_.clear();
  frames_.clear();
  for (SectionIndex s = component.first; s < component.last; ++s) {
    unplaced_[s] = 0;
    crossing_[s] = 0;
    witness_[s] = no_witness();
  }
  arena_.clear();
  for (const BufferIndex b : BuffersOf(component)) {
    arena_.push_back(b);
    lower_[b] = std::max<Bytes>(instance_.pin[b], 0);
    ForEachPieceSection(b, [&](SectionIndex s, Bytes bytes) { unplaced_[s] += bytes; });
    for (SectionIndex s = instance_.first[b]; s.next() < instance_.last[b]; ++s) ++crossing_[s];
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
    if (instance_.pieces_of(b).empty()) solution_[b] = std::max<Bytes>(pin, 0);
  }
  return true;
}

// Takes over the known offsets of a component if they are low enough.
bool Engine::IsKnown(const Component& component, const std::vector<Bytes>& known) {
  for (const BufferIndex b : BuffersOf(component)) {
    if (known[b.position()] > max_offset_[b]) return false;
  }
  for (const BufferIndex b : BuffersOf(component)) solution_[b] = known[b.position()];
  return true;
}

SearchAnswer Engine::Decide(const Question& question, Budget& budget) {
  SearchAnswer answer;
  const std::int64_t spent_before = budget.nodes_spent();
  answer.verdict = SearchAll(question, budget);
  answer.nodes = budget.nodes_spent() - spent_before;
  if (answer.verdict == SearchAnswer::Verdict::kFound) answer.offsets = solution_.items();
  return answer;
}

SearchAnswer::Verdict Engine::SearchAll(const Question& question, Budget& budget) {
  using enum SearchAnswer::Verdict;
  if (!StartCapacity(question.capacity)) return kImpossible;
  std::vector<Component> open;
  for (const Component& component : components_) {
    if (question.known == nullptr || !IsKnown(component, *question.known)) {
      open.push_back(component);
    }
  }
  const std::int64_t spent_before = budget.nodes_spent();
  const auto left = [&] { return question.node_limit - (budget.nodes_spent() - spent_before); };
  // Every component gets its turn with each limit before any gets more: one that is quickly proved
  // impossible ends the search, however hard the others are.
  for (std::int64_t round_nodes = 2; !open.empty(); round_nodes *= 2) {
    std::size_t still_open = 0;
    for (const Component& component : open) {
      switch (TryPreorders(component, round_nodes, left, budget)) {
        case Verdict::kFound:
          break;
        case Verdict::kImpossible:
          return overlaps_.stackable ? kImpossible : kInconclusive;
        case Verdict::kOutOfNodes:
          open[still_open++] = component;
          break;
        case Verdict::kOutOfBudget:
          return kGaveUp;
      }
    }
    Truncate(open, still_open);
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
    if (verdict == Verdict::kOutOfNodes) continue;
    if (verdict == Verdict::kFound) {
      for (const BufferIndex b : BuffersOf(component)) solution_[b] = offset_[b];
    }
    return verdict;
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
  if (cuts_.empty()) {
    OpenChoice(frame.first, frame.last, frame.list_begin, frame.list_end, frame.unplaced - 1,
               least_offset, least_rank);
  } else {
    OpenSplit(frame, least_offset, least_rank);
  }
  return Below::kOpened;
}

// All parts must work. What is placed in one does not touch the others.
Engine::Below Engine::ContinueSplit(Below below) {
  Frame& frame = frames_.back();
  if (below == Below::kFailed) return Close(Below::kFailed);
  Truncate(arena_, frame.list_end);
  while (frame.next + 1 < frame.end) {
    const SectionIndex first = split_at_[frame.next];
    const SectionIndex last = split_at_[frame.next + 1];
    ++frame.next;
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
  if (frame.is_split) Truncate(split_at_, frame.candidates);
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
    for (std::size_t at = list_begin; at < list_end; ++at) {
      const BufferIndex b = arena_[at];
      if (lower_[b] != kPlaced) arena_.push_back(b);
    }
    list_begin = frame.arena_mark;
    list_end = arena_.size();
  }
  frame.list_begin = list_begin;
  frame.list_end = list_end;
  frame.candidates = arena_.size();
  AddCandidates(frame, {-1, -1, no_witness()});
  frames_.push_back(frame);
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
      most = std::max(most, unplaced_[s]);
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
  candidates_.clear();
  for (std::size_t at = frame.list_begin; at < frame.list_end; ++at) {
    const BufferIndex b = arena_[at];
    const Bytes lower = lower_[b];
    if (lower < frame.offset || lower >= ceiling) continue;
    if (lower_[twin_[b]] != kPlaced) continue;
    const std::int32_t rank = rank_[b];
    if (lower == frame.offset && rank < frame.rank) continue;
    const Candidate candidate{lower, rank, b};
    if (Precedes(after, candidate)) candidates_.push_back(candidate);
  }
  const std::size_t batch = std::min(kBatch, candidates_.size());
  std::partial_sort(candidates_.begin(), candidates_.begin() + static_cast<std::ptrdiff_t>(batch),
                    candidates_.end(),
                    [&](const Candidate& x, const Candidate& y) { return Precedes(x, y); });
  for (std::size_t k = 0; k < batch; ++k) arena_.push_back(candidates_[k].buffer);
  frame.has_more = batch < candidates_.size();
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
  for (std::size_t at = parent.list_begin; at < parent.list_end; ++at) {
    const BufferIndex b = arena_[at];
    if (lower_[b] != kPlaced) arena_.push_back(b);
  }
  frame.list_end = arena_.size();
  frame.candidates = frame.next = split_at_.size();
  split_at_.push_back(parent.first);
  split_at_.insert(split_at_.end(), cuts_.begin(), cuts_.end());
  split_at_.push_back(parent.last);
  frame.end = split_at_.size();
  frames_.push_back(frame);
}

// Puts b at `offset`. False if that leaves no plan for some section; the caller undoes it either
// way.
bool Engine::Place(BufferIndex b, Bytes offset, Frame& frame) {
  trail_.push_back({Change::kPlace, b.value(), lower_[b]});
  lower_[b] = kPlaced;
  offset_[b] = offset;
  Bytes most = 0;
  ForEachPieceSection(b, [&](SectionIndex s, Bytes bytes) {
    most = std::max(most, unplaced_[s]);
    unplaced_[s] -= bytes;
  });
  cuts_.clear();
  for (SectionIndex s = instance_.first[b]; s.next() < instance_.last[b]; ++s) {
    if (--crossing_[s] == 0 && options_.dynamic_decomposition) cuts_.push_back(s.next());
  }
  if (offset > max_offset_[b]) return false;
  // The part of the inference that holds whatever the floors of the unplaced buffers are.
  if (options_.section_inference && !instance_.has_windows && offset + most > load_capacity_) {
    return false;
  }
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
    if (lower_[witness_[s]] + unplaced_[s] > load_capacity_ && !FindWitness(s)) return false;
  }
  return true;
}

// Looks for an unplaced buffer of s from whose lower bound the unplaced bytes of s still fit.
bool Engine::FindWitness(SectionIndex s) {
  const Bytes unplaced = unplaced_[s];
  BufferIndex witness = no_witness();
  if (unplaced == 0) {
    witness = empty_witness();
  } else {
    for (const BufferIndex member : members_[s]) {
      if (lower_[member] + unplaced <= load_capacity_) {
        witness = member;
        break;
      }
    }
    if (witness == no_witness()) return false;
  }
  trail_.push_back({Change::kWitness, s.value(), witness_[s].value()});
  witness_[s] = witness;
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
        witness_[SectionIndex(change.index)] = BufferIndex(static_cast<std::int32_t>(change.old));
        break;
      case Change::kRank:
        rank_[b] = static_cast<std::int32_t>(change.old);
        break;
      case Change::kPlace:
        lower_[b] = change.old;
        ForEachPieceSection(b, [&](SectionIndex s, Bytes bytes) { unplaced_[s] += bytes; });
        for (SectionIndex s = instance_.first[b]; s.next() < instance_.last[b]; ++s) {
          ++crossing_[s];
        }
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
