// Exact search over canonical plans.
//
// The idea. A plan is canonical if its buffers, taken in increasing order of (offset, index), each
// lie as low as the buffers before them allow. The plan with the least sum of offsets is canonical
// (a buffer that could move down would lower the sum), so a search that builds plans from the
// ground up, each buffer at its lowest offset above those already placed, misses no problem that
// has a plan. This needs that of two buffers that meet, the upper one has the larger offset:
// Overlaps::stackable.
//
// What prunes it, each by its own switch (CanonicalOptions):
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
#include <array>
#include <limits>
#include <numeric>
#include <string>
#include <tuple>
#include <vector>

#include "base/arithmetic.h"
#include "base/check.h"

namespace berth::internal {
namespace {

constexpr std::string_view kPreorderKeys = "WATZCLU";

// Most levels try few candidates before one works or all fail at once.
constexpr std::size_t kBatch = 32;

// Larger than any lower bound, small enough to add to.
constexpr Bytes kPlaced = std::numeric_limits<Bytes>::max() / 4;

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

class CanonicalSearch::Engine {
 public:
  Engine(const Instance& instance, const Overlaps& overlaps, const CanonicalOptions& options);
  SearchAnswer Search(Bytes capacity, const std::vector<Bytes>* known, std::int64_t node_limit,
                      Budget& budget);

 private:
  // Plain 32-bit indices: this is the one place hot enough for them.
  using B = std::int32_t;  // Buffer.
  using S = std::int32_t;  // Section.

  enum class Verdict { kFound, kImpossible, kOutOfNodes, kOutOfBudget };

  // How the level below the current one ended; kOpened if there is none yet.
  enum class Below { kOpened, kSucceeded, kFailed, kStopped };

  // A set of buffers that meet nothing outside it, all within sections [first, last).
  struct Component {
    S first;
    S last;
    std::vector<B> buffers;
  };

  // One level of the path. A choice places one of its candidates; a split has parts, each of which
  // must succeed.
  struct Frame {
    bool is_split;
    S first;  // The component's sections.
    S last;
    std::size_t arena_mark;  // What this level added to arena_ begins here.
    std::size_t list_begin;  // arena_: the component's buffers in preorder, unplaced
    std::size_t list_end;    // ones and others.
    std::size_t unplaced;    // How many are unplaced.
    std::size_t candidates;  // arena_: the first candidate, or part;
    std::size_t next;        // the next one,
    std::size_t end;         // and past the last one.
    bool has_more;           // There are candidates after those.
    std::size_t trail_mark;  // To undo the candidate being tried.
    Bytes offset;            // Least (offset, rank) allowed below here.
    B rank;
    bool hatless;  // The candidate being tried has nothing unplaced above it.
  };

  struct Candidate {
    Bytes offset;
    B rank;
    B buffer;
  };

  struct Change {
    enum Kind : std::int32_t { kLower, kWitness, kRank, kPlace };
    Kind kind;
    std::int32_t index;
    Bytes old;
  };

  void FindComponents();
  void FindTwins();
  void Rank(std::size_t begin, std::size_t end);
  [[nodiscard]] double KeyOf(B b, char key) const;
  void Reset(const Component& component, std::string_view keys);
  Verdict SearchComponent(const Component& component, std::int64_t node_limit, Budget& budget);
  [[nodiscard]] Below ContinueChoice(Below below);
  [[nodiscard]] Below ContinueSplit(Below below);
  [[nodiscard]] Below Close(Below how);
  [[nodiscard]] bool SpendNode();
  void OpenChoice(S first, S last, std::size_t list_begin, std::size_t list_end,
                  std::size_t unplaced, Bytes offset, B rank);
  void AddCandidates(Frame& frame, const Candidate& after);
  [[nodiscard]] bool AddMoreCandidates(Frame& frame);
  [[nodiscard]] bool Precedes(const Candidate& x, const Candidate& y) const;
  void OpenSplit(const Frame& parent, Bytes offset, B rank);
  [[nodiscard]] bool Place(B b, Bytes offset, Frame& frame);
  [[nodiscard]] bool RaiseNeighbours(B b, Bytes offset, Frame& frame, S& hull_first, S& hull_last);
  [[nodiscard]] bool SectionsHold(S first, S last);
  [[nodiscard]] bool FindWitness(S s);
  void UndoTo(std::size_t mark);
  template <typename F>
  void ForEachPieceSection(B b, F f) const;
  // Two entries of lower_ behind those of the buffers: the witness of a section with nothing left
  // to place, which always holds, and that of a section not looked at yet, which never does.
  [[nodiscard]] B empty_witness() const { return static_cast<B>(max_offset_.size()); }
  [[nodiscard]] B no_witness() const { return empty_witness() + 1; }
  // The twin of a buffer without one counts as placed.
  [[nodiscard]] B placed_twin() const { return no_witness(); }

  const Instance& instance_;
  const Overlaps& overlaps_;
  const CanonicalOptions options_;
  std::vector<std::string> preorders_;
  std::vector<Component> components_;
  std::vector<B> section_begin_;  // CSR: the buffers with a piece in each section.
  std::vector<B> section_members_;
  std::vector<S> first_;
  std::vector<S> last_;
  Bytes grain_ = 1;  // Every offset is a multiple of it.

  std::vector<B> twin_;  // The identical buffer just before b, or placed_twin().

  // For one capacity.
  Bytes capacity_ = 0;
  Bytes load_capacity_ = 0;  // What rounded section loads must fit in.
  std::vector<Bytes> max_offset_;

  // For one dive.
  std::vector<B> rank_;
  std::vector<Bytes> lower_;  // kPlaced once placed; two more entries for witnesses.
  std::vector<Bytes> offset_;
  std::vector<Bytes> unplaced_;  // Bytes left to place in each section, rounded to the grain.
  std::vector<B> witness_;
  std::vector<std::int32_t> crossing_;  // Unplaced buffers live both in section s and in s + 1.
  std::vector<Change> trail_;
  std::vector<Frame> frames_;
  std::vector<B> arena_;
  std::vector<S> cuts_;                // Scratch: where the last placement cut its component.
  std::vector<Candidate> candidates_;  // Scratch.
  struct Ranked {
    std::array<double, kPreorderKeys.size()> key;
    B buffer;
  };
  std::vector<Ranked> ranking_;  // Scratch.
  std::string_view keys_;        // The preorder's.
  std::int64_t nodes_left_ = 0;
  Budget* budget_ = nullptr;
};

CanonicalSearch::Engine::Engine(const Instance& instance, const Overlaps& overlaps,
                                const CanonicalOptions& options)
    : instance_(instance), overlaps_(overlaps), options_(options) {
  const std::size_t n = instance.num_buffers();
  const std::size_t sections = instance.num_sections();
  for (std::size_t from = 0; from <= options.preorders.size();) {
    const std::size_t comma = std::min(options.preorders.find(',', from), options.preorders.size());
    preorders_.push_back(options.preorders.substr(from, comma - from));
    from = comma + 1;
  }
  if (!options.static_preordering) preorders_.assign(1, "");
  Bytes grain = 0;
  section_begin_.assign(sections + 1, 0);
  for (const BufferIndex b : instance.buffers()) {
    first_.push_back(instance.first[b].value());
    last_.push_back(instance.last[b].value());
    grain = std::gcd(grain, instance.alignment[b]);
    ForEachPieceSection(b.value(),
                        [&](S s, Bytes) { ++section_begin_[static_cast<std::size_t>(s) + 1]; });
  }
  // A window may begin off the grain and lie in what rounding a buffer below it up would waste.
  grain_ = instance.has_windows ? 1 : std::max<Bytes>(grain, 1);
  std::partial_sum(section_begin_.begin(), section_begin_.end(), section_begin_.begin());
  section_members_.resize(static_cast<std::size_t>(section_begin_.back()));
  std::vector<B> next(section_begin_.begin(), section_begin_.end() - 1);
  for (const BufferIndex b : instance.buffers()) {
    ForEachPieceSection(b.value(), [&](S s, Bytes) {
      section_members_[static_cast<std::size_t>(next[static_cast<std::size_t>(s)]++)] = b.value();
    });
  }
  max_offset_.resize(n);
  rank_.resize(n);
  lower_.assign(n + 2, 0);
  lower_[static_cast<std::size_t>(no_witness())] = kPlaced;
  offset_.assign(n, 0);
  unplaced_.assign(sections, 0);
  witness_.assign(sections, no_witness());
  crossing_.assign(sections, 0);
  FindComponents();
  FindTwins();
}

// Calls f(section, bytes) for each section in which b has a piece. Whole buffers count rounded up
// to the grain: whatever lies above starts at a multiple of it.
template <typename F>
void CanonicalSearch::Engine::ForEachPieceSection(B b, F f) const {
  for (const Piece& piece : instance_.pieces_of(BufferIndex(b))) {
    const Bytes bytes = piece.lower == 0 ? RoundUp(piece.upper, grain_) : piece.upper - piece.lower;
    for (S s = piece.first.value(); s < piece.last.value(); ++s) f(s, bytes);
  }
}

void CanonicalSearch::Engine::FindComponents() {
  std::vector<B> order;
  for (const BufferIndex b : instance_.buffers()) {
    if (!instance_.pieces_of(b).empty()) order.push_back(b.value());
  }
  const auto first = [&](B b) { return first_[static_cast<std::size_t>(b)]; };
  std::stable_sort(order.begin(), order.end(), [&](B x, B y) { return first(x) < first(y); });
  for (const B b : order) {
    if (components_.empty() || first(b) >= components_.back().last) {
      components_.push_back({first(b), first(b), {}});
    }
    components_.back().last = std::max(components_.back().last, last_[static_cast<std::size_t>(b)]);
    components_.back().buffers.push_back(b);
  }
}

void CanonicalSearch::Engine::FindTwins() {
  twin_.assign(max_offset_.size(), placed_twin());
  if (!options_.identical_order) return;
  const auto shape = [&](BufferIndex b) {
    return std::tuple(first_[b.position()], last_[b.position()], instance_.size[b],
                      instance_.alignment[b], instance_.pin[b]);
  };
  const auto same_pieces = [&](BufferIndex x, BufferIndex y) {
    const auto of_x = instance_.pieces_of(x);
    const auto of_y = instance_.pieces_of(y);
    return std::equal(of_x.begin(), of_x.end(), of_y.begin(), of_y.end());
  };
  std::vector<BufferIndex> order;
  for (const BufferIndex b : instance_.buffers()) {
    if (!instance_.pieces_of(b).empty()) order.push_back(b);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](BufferIndex x, BufferIndex y) { return shape(x) < shape(y); });
  // Buffers of one shape that differ in their pieces may lie between; then a twin is missed, no
  // harm done.
  for (std::size_t k = 1; k < order.size(); ++k) {
    if (shape(order[k - 1]) == shape(order[k]) && same_pieces(order[k - 1], order[k])) {
      twin_[order[k].position()] = order[k - 1].value();
    }
  }
}

// Gives the buffers of arena_[begin, end) their ranks: by each key of the word in turn, largest
// first, then by index; and sorts them by it. The old ranks go on the trail.
void CanonicalSearch::Engine::Rank(std::size_t begin, std::size_t end) {
  ranking_.clear();
  for (std::size_t at = begin; at < end; ++at) {
    const B b = arena_[at];
    Ranked ranked{{}, b};
    for (std::size_t k = 0; k < keys_.size(); ++k) ranked.key[k] = KeyOf(b, keys_[k]);
    ranking_.push_back(ranked);
  }
  std::sort(ranking_.begin(), ranking_.end(), [](const Ranked& x, const Ranked& y) {
    return x.key != y.key ? x.key > y.key : x.buffer < y.buffer;
  });
  for (std::size_t r = 0; r < ranking_.size(); ++r) {
    const B b = ranking_[r].buffer;
    arena_[begin + r] = b;
    trail_.push_back({Change::kRank, b, rank_[static_cast<std::size_t>(b)]});
    rank_[static_cast<std::size_t>(b)] = static_cast<B>(r);
  }
}

// The only key that changes during the search is T: it counts the bytes not placed yet.
double CanonicalSearch::Engine::KeyOf(B b, char key) const {
  const BufferIndex index(b);
  const auto width = static_cast<double>(instance_.end[index] - instance_.start[index]);
  const auto size = static_cast<double>(instance_.size[index]);
  switch (key) {
    case 'W':
      return width;
    case 'A':
      return width * size;
    case 'Z':
      return size;
    case 'C':
      return last_[index.position()] - first_[index.position()];
    case 'L':
      return static_cast<double>(instance_.start[index]);
    case 'U':
      return static_cast<double>(instance_.end[index]);
    default:
      break;
  }
  BERTH_DCHECK(key == 'T');
  Bytes most = 0;
  ForEachPieceSection(
      b, [&](S s, Bytes) { most = std::max(most, unplaced_[static_cast<std::size_t>(s)]); });
  return static_cast<double>(most);
}

void CanonicalSearch::Engine::Reset(const Component& component, std::string_view keys) {
  trail_.clear();
  frames_.clear();
  for (S s = component.first; s < component.last; ++s) {
    unplaced_[static_cast<std::size_t>(s)] = 0;
    crossing_[static_cast<std::size_t>(s)] = 0;
    witness_[static_cast<std::size_t>(s)] = no_witness();
  }
  for (const B b : component.buffers) {
    const auto at = static_cast<std::size_t>(b);
    lower_[at] = std::max<Bytes>(instance_.pin[BufferIndex(b)], 0);
    ForEachPieceSection(b,
                        [&](S s, Bytes bytes) { unplaced_[static_cast<std::size_t>(s)] += bytes; });
    for (S s = first_[at]; s + 1 < last_[at]; ++s) ++crossing_[static_cast<std::size_t>(s)];
  }
  keys_ = keys;
  arena_ = component.buffers;
  Rank(0, arena_.size());
}

SearchAnswer CanonicalSearch::Engine::Search(Bytes capacity, const std::vector<Bytes>* known,
                                             std::int64_t node_limit, Budget& budget) {
  SearchAnswer answer;
  const std::int64_t spent_before = budget.nodes_spent();
  const auto finish = [&](SearchAnswer::Verdict verdict) {
    answer.verdict = verdict;
    answer.nodes = budget.nodes_spent() - spent_before;
    return answer;
  };
  const auto impossible = overlaps_.stackable ? SearchAnswer::Verdict::kImpossible
                                              : SearchAnswer::Verdict::kInconclusive;
  capacity_ = capacity;
  load_capacity_ = 0;
  answer.offsets.assign(instance_.num_buffers(), 0);
  for (const BufferIndex b : instance_.buffers()) {
    const Bytes size = instance_.size[b];
    const Bytes pin = instance_.pin[b];
    if (size > capacity || pin > capacity - size) return finish(SearchAnswer::Verdict::kImpossible);
    max_offset_[b.position()] = pin != kNone ? pin : capacity - size;
    // The topmost buffer of a section need not leave room up to the next multiple of the grain.
    load_capacity_ =
        std::max(load_capacity_, RoundDown(capacity + RoundUp(size, grain_) - size, grain_));
    if (instance_.pieces_of(b).empty()) answer.offsets[b.position()] = std::max<Bytes>(pin, 0);
  }
  // Every component gets its turn with each limit before any gets more: one that is quickly proved
  // impossible ends the search, however hard the others are.
  std::vector<const Component*> open;
  for (const Component& component : components_) {
    const bool low_enough =
        known != nullptr &&
        std::all_of(component.buffers.begin(), component.buffers.end(), [&](B b) {
          const BufferIndex index(b);
          return (*known)[index.position()] <= capacity - instance_.size[index];
        });
    if (!low_enough) {
      open.push_back(&component);
      continue;
    }
    for (const B b : component.buffers) {
      answer.offsets[static_cast<std::size_t>(b)] = (*known)[static_cast<std::size_t>(b)];
    }
  }
  for (std::int64_t round_limit = 2; !open.empty(); round_limit *= 2) {
    std::vector<const Component*> still_open;
    for (const Component* component : open) {
      bool solved = false;
      for (const std::string& keys : preorders_) {
        const std::int64_t left = node_limit - (budget.nodes_spent() - spent_before);
        if (left <= 0) return finish(SearchAnswer::Verdict::kGaveUp);
        const std::int64_t limit =
            preorders_.size() == 1
                ? left
                : std::min(left,
                           round_limit * static_cast<std::int64_t>(component->buffers.size()));
        Reset(*component, keys);
        const Verdict verdict = SearchComponent(*component, limit, budget);
        if (verdict == Verdict::kOutOfBudget) return finish(SearchAnswer::Verdict::kGaveUp);
        if (verdict == Verdict::kImpossible) return finish(impossible);
        if (verdict == Verdict::kFound) {
          for (const B b : component->buffers) {
            answer.offsets[static_cast<std::size_t>(b)] = offset_[static_cast<std::size_t>(b)];
          }
          solved = true;
          break;
        }
      }
      if (!solved) still_open.push_back(component);
    }
    open.swap(still_open);
  }
  return finish(SearchAnswer::Verdict::kFound);
}

// The whole search: go on with the deepest level of the path until there is none left.
CanonicalSearch::Engine::Verdict CanonicalSearch::Engine::SearchComponent(
    const Component& component, std::int64_t node_limit, Budget& budget) {
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
CanonicalSearch::Engine::Below CanonicalSearch::Engine::ContinueChoice(Below below) {
  Frame& frame = frames_.back();
  if (below == Below::kSucceeded) return Close(Below::kSucceeded);
  if (below == Below::kFailed) {
    UndoTo(frame.trail_mark);
    if (frame.hatless) return Close(Below::kFailed);
  }
  if (frame.next == frame.end && !AddMoreCandidates(frame)) return Close(Below::kFailed);
  const B b = arena_[frame.next++];
  const Bytes offset = lower_[static_cast<std::size_t>(b)];
  frame.trail_mark = trail_.size();
  frame.hatless = false;
  if (!Place(b, offset, frame)) return Below::kFailed;
  if (frame.unplaced == 1) return Below::kSucceeded;
  if (!SpendNode()) return Below::kStopped;
  const Bytes least_offset = options_.canonical_only ? offset : 0;
  const B least_rank = options_.canonical_only ? rank_[static_cast<std::size_t>(b)] : 0;
  if (cuts_.empty()) {
    OpenChoice(frame.first, frame.last, frame.list_begin, frame.list_end, frame.unplaced - 1,
               least_offset, least_rank);
  } else {
    OpenSplit(frame, least_offset, least_rank);
  }
  return Below::kOpened;
}

// All parts must work. What is placed in one does not touch the others.
CanonicalSearch::Engine::Below CanonicalSearch::Engine::ContinueSplit(Below below) {
  Frame& frame = frames_.back();
  if (below == Below::kFailed) return Close(Below::kFailed);
  arena_.resize(frame.end);
  while (frame.next + 1 < frame.end) {
    const S first = arena_[frame.next];
    const S last = arena_[frame.next + 1];
    ++frame.next;
    for (std::size_t at = frame.list_begin; at < frame.list_end; ++at) {
      const B b = arena_[at];
      const auto position = static_cast<std::size_t>(b);
      if (first_[position] >= first && last_[position] <= last) arena_.push_back(b);
    }
    if (arena_.size() == frame.end) continue;  // Nothing left to place in this part.
    if (!SpendNode()) return Below::kStopped;
    if (keys_.find('T') != std::string_view::npos) Rank(frame.end, arena_.size());
    OpenChoice(first, last, frame.end, arena_.size(), arena_.size() - frame.end, frame.offset, 0);
    return Below::kOpened;
  }
  return Close(Below::kSucceeded);
}

CanonicalSearch::Engine::Below CanonicalSearch::Engine::Close(Below how) {
  arena_.resize(frames_.back().arena_mark);
  frames_.pop_back();
  return how;
}

bool CanonicalSearch::Engine::SpendNode() {
  if (--nodes_left_ < 0) return false;
  return budget_->SpendNode();
}

// Opens a level for the unplaced buffers of arena_[list_begin, list_end), all within sections
// [first, last). The list is copied when half of it is placed: all lists of a path together are
// then no longer than twice the first.
void CanonicalSearch::Engine::OpenChoice(S first, S last, std::size_t list_begin,
                                         std::size_t list_end, std::size_t unplaced, Bytes offset,
                                         B rank) {
  Frame frame{};
  frame.first = first;
  frame.last = last;
  frame.offset = offset;
  frame.rank = rank;
  frame.arena_mark = arena_.size();
  frame.unplaced = unplaced;
  if (2 * unplaced <= list_end - list_begin) {
    for (std::size_t at = list_begin; at < list_end; ++at) {
      const B b = arena_[at];
      if (lower_[static_cast<std::size_t>(b)] != kPlaced) arena_.push_back(b);
    }
    list_begin = frame.arena_mark;
    list_end = arena_.size();
  }
  frame.list_begin = list_begin;
  frame.list_end = list_end;
  frame.candidates = arena_.size();
  AddCandidates(frame, {-1, -1, -1});
  frames_.push_back(frame);
}

// Appends to arena_ what may come next, in the order in which to try it: the first kBatch
// candidates after `after`, so that the lists of a long path stay short.
void CanonicalSearch::Engine::AddCandidates(Frame& frame, const Candidate& after) {
  frame.next = frame.end = arena_.size();
  frame.has_more = false;
  Bytes ceiling = kPlaced;  // Exclusive.
  if (options_.section_inference && options_.monotonic_floor && options_.canonical_only) {
    Bytes most = 0;
    for (S s = frame.first; s < frame.last; ++s) {
      most = std::max(most, unplaced_[static_cast<std::size_t>(s)]);
    }
    ceiling = std::min(ceiling, load_capacity_ - most + 1);
    if (ceiling <= frame.offset) return;
  }
  if (options_.dominance) {
    // A placed buffer's entry is too large to matter.
    const Bytes* const sizes = instance_.size.items().data();
    for (std::size_t at = frame.list_begin; at < frame.list_end; ++at) {
      const auto b = static_cast<std::size_t>(arena_[at]);
      ceiling = std::min(ceiling, lower_[b] + sizes[b]);
    }
    if (ceiling <= frame.offset) return;
  }
  candidates_.clear();
  for (std::size_t at = frame.list_begin; at < frame.list_end; ++at) {
    const B b = arena_[at];
    const Bytes lower = lower_[static_cast<std::size_t>(b)];
    if (lower < frame.offset || lower >= ceiling) continue;
    if (lower_[static_cast<std::size_t>(twin_[static_cast<std::size_t>(b)])] != kPlaced) continue;
    const B rank = rank_[static_cast<std::size_t>(b)];
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

bool CanonicalSearch::Engine::Precedes(const Candidate& x, const Candidate& y) const {
  if (options_.dynamic_ordering && x.offset != y.offset) return x.offset < y.offset;
  return x.rank < y.rank;
}

// False if all candidates of the level, the deepest, have been tried.
bool CanonicalSearch::Engine::AddMoreCandidates(Frame& frame) {
  if (!frame.has_more) return false;
  const B last = arena_[frame.end - 1];
  const auto at = static_cast<std::size_t>(last);
  const Candidate after{lower_[at], rank_[at], last};
  arena_.resize(frame.candidates);
  AddCandidates(frame, after);
  return frame.next != frame.end;
}

// Opens a level whose parts are the component of `parent`, cut where the last placement left
// nothing live. `parent` lies in frames_.
void CanonicalSearch::Engine::OpenSplit(const Frame& parent, Bytes offset, B rank) {
  Frame frame{};
  frame.is_split = true;
  frame.first = parent.first;
  frame.last = parent.last;
  frame.offset = offset;
  frame.rank = rank;
  frame.arena_mark = arena_.size();
  frame.list_begin = arena_.size();
  for (std::size_t at = parent.list_begin; at < parent.list_end; ++at) {
    const B b = arena_[at];
    if (lower_[static_cast<std::size_t>(b)] != kPlaced) arena_.push_back(b);
  }
  frame.list_end = arena_.size();
  frame.next = arena_.size();
  arena_.push_back(parent.first);
  arena_.insert(arena_.end(), cuts_.begin(), cuts_.end());
  arena_.push_back(parent.last);
  frame.end = arena_.size();
  frames_.push_back(frame);
}

// Puts b at `offset`. False if that leaves no plan for some section; the caller undoes it either
// way.
bool CanonicalSearch::Engine::Place(B b, Bytes offset, Frame& frame) {
  const auto at = static_cast<std::size_t>(b);
  trail_.push_back({Change::kPlace, b, lower_[at]});
  lower_[at] = kPlaced;
  offset_[at] = offset;
  Bytes most = 0;
  ForEachPieceSection(b, [&](S s, Bytes bytes) {
    most = std::max(most, unplaced_[static_cast<std::size_t>(s)]);
    unplaced_[static_cast<std::size_t>(s)] -= bytes;
  });
  cuts_.clear();
  for (S s = first_[at]; s + 1 < last_[at]; ++s) {
    if (--crossing_[static_cast<std::size_t>(s)] == 0 && options_.dynamic_decomposition) {
      cuts_.push_back(s + 1);
    }
  }
  if (offset > max_offset_[at]) return false;
  // The part of the inference that holds whatever the floors of the unplaced buffers are.
  if (options_.section_inference && !instance_.has_windows && offset + most > load_capacity_)
    return false;
  S hull_first = first_[at];
  S hull_last = last_[at];
  if (!RaiseNeighbours(b, offset, frame, hull_first, hull_last)) return false;
  return SectionsHold(hull_first, hull_last);
}

// Lifts the lower bounds of what can no longer lie below the top of b. The hull grows to all
// sections of the buffers lifted.
bool CanonicalSearch::Engine::RaiseNeighbours(B b, Bytes offset, Frame& frame, S& hull_first,
                                              S& hull_last) {
  const auto from = static_cast<std::size_t>(overlaps_.row_begin[static_cast<std::size_t>(b)]);
  const auto to = static_cast<std::size_t>(overlaps_.row_begin[static_cast<std::size_t>(b) + 1]);
  bool has_hat = false;
  for (std::size_t k = from; k < to; ++k) {
    const std::size_t other = overlaps_.neighbour[k].position();
    const Bytes lower = lower_[other];
    if (lower == kPlaced) continue;
    has_hat = true;
    const Bytes top = offset + overlaps_.clearance[k];
    if (lower >= top) continue;
    const Bytes raised =
        instance_.has_alignment ? RoundUp(top, instance_.alignment.items()[other]) : top;
    if (raised > max_offset_[other]) return false;
    trail_.push_back({Change::kLower, static_cast<std::int32_t>(other), lower});
    lower_[other] = raised;
    hull_first = std::min(hull_first, first_[other]);
    hull_last = std::max(hull_last, last_[other]);
  }
  frame.hatless =
      !has_hat && options_.hatless && (options_.dynamic_ordering || !options_.canonical_only);
  return true;
}

bool CanonicalSearch::Engine::SectionsHold(S first, S last) {
  if (!options_.section_inference || !options_.unallocated_floor) return true;
  for (S s = first; s < last; ++s) {
    const auto at = static_cast<std::size_t>(s);
    if (lower_[static_cast<std::size_t>(witness_[at])] + unplaced_[at] > load_capacity_ &&
        !FindWitness(s)) {
      return false;
    }
  }
  return true;
}

// Looks for an unplaced buffer of s from whose lower bound the unplaced bytes of s still fit.
bool CanonicalSearch::Engine::FindWitness(S s) {
  const auto at = static_cast<std::size_t>(s);
  const Bytes unplaced = unplaced_[at];
  B witness = -1;
  if (unplaced == 0) {
    witness = empty_witness();
  } else {
    for (auto m = static_cast<std::size_t>(section_begin_[at]);
         m < static_cast<std::size_t>(section_begin_[at + 1]); ++m) {
      if (lower_[static_cast<std::size_t>(section_members_[m])] + unplaced <= load_capacity_) {
        witness = section_members_[m];
        break;
      }
    }
    if (witness < 0) return false;
  }
  trail_.push_back({Change::kWitness, s, witness_[at]});
  witness_[at] = witness;
  return true;
}

void CanonicalSearch::Engine::UndoTo(std::size_t mark) {
  for (; trail_.size() > mark; trail_.pop_back()) {
    const Change& change = trail_.back();
    const auto at = static_cast<std::size_t>(change.index);
    switch (change.kind) {
      case Change::kLower:
        lower_[at] = change.old;
        break;
      case Change::kWitness:
        witness_[at] = static_cast<B>(change.old);
        break;
      case Change::kRank:
        rank_[at] = static_cast<B>(change.old);
        break;
      case Change::kPlace:
        lower_[at] = change.old;
        ForEachPieceSection(change.index, [&](S s, Bytes bytes) {
          unplaced_[static_cast<std::size_t>(s)] += bytes;
        });
        for (S s = first_[at]; s + 1 < last_[at]; ++s) ++crossing_[static_cast<std::size_t>(s)];
        break;
    }
  }
}

CanonicalSearch::CanonicalSearch(const Instance& instance, const Overlaps& overlaps,
                                 const CanonicalOptions& options)
    : engine_(std::make_unique<Engine>(instance, overlaps, options)) {}
CanonicalSearch::~CanonicalSearch() = default;

SearchAnswer CanonicalSearch::Search(Bytes capacity, const std::vector<Bytes>* known,
                                     std::int64_t node_limit, Budget& budget) {
  return engine_->Search(capacity, known, node_limit, budget);
}

}  // namespace berth::internal
