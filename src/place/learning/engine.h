// place/learning/engine.h -- what follows from placing a buffer, and because of what.
//
// The constraint solver under the guided searches, as Telamon is under TelaMalloc: it knows nothing
// of where the search goes next. Each buffer X has a position between lowest(X) and highest(X), a
// multiple of its alignment. Every two buffers that meet have an order, open at first:
//
//     pos(Y) >= pos(X) + clearance(X, Y)     Y above X     exactly one of the two
//     pos(X) >= pos(Y) + clearance(Y, X)     X above Y
//
// where the clearance is the size of the lower one. Buffers with windows may exclude more than one
// interval of pos(Y) - pos(X); each interval is then such a pair by itself, so that any shape of
// gaps is exact here.
//
// Propagation, to a fixpoint:
//
//   * an order that the bounds leave only one way to satisfy is decided: X cannot lie below Y once
//     lowest(X) + clearance(X, Y) > highest(Y);
//   * a decided order moves bounds: lowest(Y) is at least lowest(X) + clearance(X, Y), and
//     highest(X) at most highest(Y) - clearance(X, Y);
//   * in a section, what cannot lie below a level needs its bytes between there and the capacity;
//     the levels looked at are all lowest positions;
//   * of what was learned: combinations of bounds and orders that cannot all be true.
//
// So lowest(X) is never within a placed buffer: it is the lowest position at which X can still
// stand as far as the solver sees.
//
// The cost of a step follows what changed. A row of pairs is a permutation whose open part comes
// first; a decided pair is swapped out of both of its rows, and undoing makes the open part longer
// again. While lowest(X) rises, the open pairs of X are looked at only if it passes the least
// highest(Y) - clearance(X, Y) among them, a limit kept for each buffer. With a thousand buffers
// all live at once and room enough, a placement touches each of the others once, and not the half
// million pairs between those.
//
// Every change is an event on one trail, with its cause. A failure is explained from there: going
// back from the latest event, each is replaced by what it follows from, each time by the weakest
// bounds that suffice, until only placements are left; or until one event of the last level is
// left, which makes something to learn (the first unique implication point of clause learning;
// bounds in place of literals as in lazy clause generation, Ohrimenko, Stuckey and Codish,
// Constraints 14, 2009).
#ifndef BERTH_PLACE_LEARNING_ENGINE_H_
#define BERTH_PLACE_LEARNING_ENGINE_H_

#include <cstdint>
#include <span>
#include <vector>

#include "model/instance.h"
#include "place/learning/clause_log.h"

namespace berth::internal::learning {

// Something that may be true of positions.
struct Atom {
  enum class Kind : std::uint8_t { kAtLeast, kAtMost, kAbove };
  Kind kind;
  std::int32_t id;  // A buffer; for kAbove, an ordered pair (Engine::top, Engine::bottom).
  Bytes value;      // The bound.
  friend bool operator==(const Atom&, const Atom&) = default;
};

struct EngineRules {
  bool section_load = true;
  bool identical_order = false;  // Of buffers that differ in nothing, the first lies lowest.
  Bytes grain = 1;  // All positions are multiples of this; must divide every alignment but 1.
};

class Engine {
 public:
  using Buffer = std::int32_t;       // The value of a BufferIndex.
  using OrderedPair = std::int32_t;  // Twice the pair, plus which of the two is the lower one.

  // All must outlive the engine. Memory: some 40 bytes for each pair, 4 for each piece in each
  // section.
  Engine(const Instance& instance, const Overlaps& overlaps, const EngineRules& rules);

  // Nothing placed, nothing learned: what follows does not depend on what the engine was used for
  // before. False: no plan of this height exists. `cores`: notes what Core() says, which takes a bit
  // for each buffer in everything learned.
  [[nodiscard]] bool Start(Bytes capacity, bool cores = false);
  // Notes from the next Start() on what is learned. `log` must outlive the use.
  void LogTo(ClauseLog* log) { log_ = log; }
  // Once it is known that no plan exists: notes why.
  void LogEnd();

  // Opens a decision level with `b` at `offset`. False: fails, see Placements() and Learn(); the
  // level must be undone.
  [[nodiscard]] bool Place(Buffer b, Bytes offset);
  // Leaves levels above `level`, which counts from 0: nothing placed.
  void UndoTo(std::int32_t level);
  [[nodiscard]] std::int32_t level() const { return static_cast<std::int32_t>(starts_.size()); }

  [[nodiscard]] Bytes lowest(Buffer b) const { return low_[At(b)]; }
  [[nodiscard]] Bytes highest(Buffer b) const { return high_[At(b)]; }
  [[nodiscard]] bool is_fixed(Buffer b) const { return low_[At(b)] == high_[At(b)]; }

  // Where `b` comes to rest when it falls from above on what is placed (or pinned), and on what.
  struct Rest {
    Bytes offset;
    Buffer on;  // -1: the ground.
  };
  [[nodiscard]] Rest Skyline(Buffer b) const;

  // After a failure: the levels of the placements that caused it, increasing, without level 0. The
  // failure follows from these alone. Valid until the next call.
  [[nodiscard]] std::span<const std::int32_t> Placements();

  // After a failure above level 0: undoes what cannot stand and adds a combination that cannot be
  // true, so that the search goes on elsewhere. False: the level it leads to fails too (again after
  // a failure), or at level 0 that no plan exists.
  [[nodiscard]] bool Learn();
  // What was learned last: for weights.
  [[nodiscard]] std::span<const Atom> learned() const { return learned_; }
  // How many combinations are known.
  [[nodiscard]] std::size_t num_nogoods() const { return nogoods_.size(); }
  // At level 0: forgets the half of them that is of least use.
  void Forget();

  // Once it is known that no plan exists: buffers of which that was derived alone, so that they have
  // none either. Start() must have been told to note cores.
  [[nodiscard]] std::vector<Buffer> Core();

  // ---- For tests.

  // Watches that nothing which follows from placements as in `plan` excludes it: then, and if it
  // ever did, plan_excluded(). An empty plan ends it.
  void Watch(std::vector<Bytes> plan);
  [[nodiscard]] bool plan_excluded() const { return plan_excluded_; }

  // All bounds and orders.
  struct State {
    std::vector<Bytes> low, high;
    std::vector<std::uint8_t> order;
    friend bool operator==(const State&, const State&) = default;
  };
  [[nodiscard]] State Snapshot() const { return {low_, high_, order_}; }
  [[nodiscard]] std::size_t num_pairs() const { return order_.size(); }
  [[nodiscard]] Buffer bottom(OrderedPair pair) const { return end_[At(pair)]; }
  [[nodiscard]] Buffer top(OrderedPair pair) const { return end_[At(pair ^ 1)]; }
  [[nodiscard]] Bytes clearance(OrderedPair pair) const { return ClearanceOf(bottom(pair), pair); }

 private:
  enum class Change : std::uint8_t { kLow, kHigh, kOrder, kLimit };
  enum class Cause : std::uint8_t { kPlaced, kOrder, kBounds, kNogood };
  using EventIndex = std::int32_t;
  using BufferSet = std::vector<std::uint64_t>;  // Empty: none, or cores are not noted.
  static constexpr EventIndex kNoEvent = -1;
  static constexpr std::int32_t kNever = -1;

  struct Event {
    Bytes old;
    std::int32_t id;       // A buffer, or the ordered pair that became true.
    std::int32_t because;  // An ordered pair or a nogood.
    std::int32_t level;
    Change change;
    Cause cause;
    bool listed;  // kOrder: stands in above_ and below_.
  };
  struct Neighbour {
    Buffer other;
    OrderedPair pair;  // With the row's own buffer below.
  };
  struct Watcher {
    Bytes value;  // Of the atom watched.
    std::int32_t nogood;
  };
  struct Nogood {
    std::vector<Atom> atoms;  // The first two are watched.
    std::int32_t levels = 0;  // How many levels it spanned when it was learned.
    BufferSet core;           // What it was derived of.
    std::int32_t logged = 0;  // Its number in the log.
  };
  enum class Failure : std::uint8_t { kNothing, kBounds, kAtoms };

  static std::size_t At(std::int32_t index) { return static_cast<std::size_t>(index); }
  static OrderedPair Reverse(OrderedPair pair) { return pair ^ 1; }

  void AddPair(BufferIndex i, BufferIndex j, const Interval& interval);
  void MakeRows();
  void FillRows();
  void MakeSections();
  void FindIdentical();
  [[nodiscard]] Bytes ClearanceOf(Buffer below, OrderedPair pair) const {
    return clearance_.empty() ? size_[At(below)] : clearance_[At(pair)];
  }
  [[nodiscard]] bool IsTrue(OrderedPair pair) const {
    return order_[At(pair >> 1)] == 1 + (pair & 1);
  }
  [[nodiscard]] bool IsTrue(const Atom& atom) const;
  [[nodiscard]] Bytes RoundDown(Buffer b, Bytes value) const;
  [[nodiscard]] Bytes RoundUp(Buffer b, Bytes value) const;

  void Raise(Buffer b, Bytes value, Cause cause, std::int32_t because);
  void Lower(Buffer b, Bytes value, Cause cause, std::int32_t because);
  void Decide(OrderedPair pair, Cause cause, std::int32_t because);
  void Forbid(const Atom& atom, Cause cause, std::int32_t because);
  void SwapOut(OrderedPair pair);
  void Enqueue(Buffer b, std::uint8_t what);
  [[nodiscard]] bool Propagate();
  void RaisedLow(Buffer b);
  void LoweredHigh(Buffer b);
  void ApplyNogoods(const Event& event);
  [[nodiscard]] std::vector<Watcher>& WatchersOf(const Atom& atom);
  void CheckSection(std::int32_t section);
  void FailSection(std::size_t from, std::size_t to, Bytes excess);
  void MarkSections(Buffer b);
  void ClearQueues();

  void BeginExplaining(bool stop_at_placements);
  void NeedFailure();
  void Need(const Atom& atom, EventIndex before);
  void NeedCauses(EventIndex event);
  [[nodiscard]] Atom AtomOf(EventIndex event) const;
  void AddToCore(Buffer b);
  void AddToCore(const BufferSet& set);
  void AddPairToCore(OrderedPair pair);
  void AddFactToCore(const Atom& atom);
  void NoteFact(const Event& event);
  void LogFact(const Atom& impossible, Cause cause, std::int32_t because);
  void NeedNogood(std::int32_t nogood);
  std::int32_t LogLearned();
  [[nodiscard]] LoggedAtom LoggedOf(const Atom& atom) const;
  [[nodiscard]] bool NeedPlacement(const Atom& atom, EventIndex before);
  void AddNogood(std::int32_t level);
  void CheckPlan(Buffer b, bool is_low);

  const Instance& instance_;
  const EngineRules rules_;
  Bytes capacity_ = 0;
  bool has_started_ = false;

  std::vector<Bytes> low_, high_, limit_;
  std::vector<Bytes> size_, alignment_;

  // By pair.
  std::vector<std::uint8_t> order_;  // 0 open, 1 + (which end is below).
  // By ordered pair.
  std::vector<Buffer> end_;          // The lower one.
  std::vector<std::int64_t> slot_;   // Where the pair is in the row of the lower one.
  std::vector<Bytes> clearance_;     // Empty where it is the size of the lower one.
  std::vector<EventIndex> decided_;  // By pair.

  std::vector<OrderedPair> identical_;  // Orders of identical buffers.

  std::vector<std::int64_t> row_begin_, open_end_;
  std::vector<Neighbour> row_;
  // Decided orders whose ends can still move.
  std::vector<std::vector<Neighbour>> above_, below_;

  std::vector<std::int64_t> section_begin_;
  struct Member {
    Buffer buffer;
    Bytes lower;
    Bytes bytes;
  };
  std::vector<Member> member_;  // Of each section, in any order.
  std::vector<std::int32_t> dirty_;
  std::vector<std::uint8_t> is_dirty_;

  std::vector<Event> trail_;
  // How each bound came to be where it is, the latest change last.
  struct Moved {
    Bytes to;
    EventIndex event;
  };
  std::vector<std::vector<Moved>> lows_, highs_;
  std::vector<EventIndex> starts_;          // Of each level.
  std::vector<Buffer> placed_at_;           // By level.
  std::vector<std::int32_t> placed_level_;  // By buffer; kNever: not placed, 0: pinned.
  std::vector<Bytes> placed_offset_;

  std::vector<Buffer> queue_;
  std::size_t queue_head_ = 0;
  std::vector<std::uint8_t> queued_;
  std::size_t nogood_head_ = 0;  // In the trail.

  Failure failure_ = Failure::kNothing;
  EventIndex failed_event_ = 0;
  std::vector<Atom> failed_atoms_;
  std::int32_t failed_nogood_ = -1;  // That the atoms are of; -1: of a section.

  std::vector<Nogood> nogoods_;
  std::vector<std::vector<Watcher>> watch_low_, watch_high_, watch_order_;

  // Explaining.
  std::vector<Bytes> need_;  // By event.
  std::vector<std::uint32_t> needed_in_;
  std::uint32_t explanation_ = 0;
  std::vector<EventIndex> heap_;
  bool stop_at_placements_ = false;
  std::vector<std::uint32_t> blamed_in_;  // By level.
  std::vector<std::int32_t> placements_;
  std::vector<Atom> learned_;

  ClauseLog* log_ = nullptr;        // Null: nothing is logged.
  std::vector<std::int32_t> used_;  // Clauses in the latest explanation, by their numbers there.

  // Cores: of the latest explanation, and of what holds at level 0.
  bool notes_cores_ = false;
  BufferSet core_;
  std::vector<BufferSet> low_core_, high_core_;  // By buffer.
  std::vector<BufferSet> order_core_;            // By pair.

  std::vector<Bytes> plan_;
  std::int32_t strays_ = 0;  // Levels that place a buffer where the plan does not.
  bool plan_excluded_ = false;
};

}  // namespace berth::internal::learning

#endif  // BERTH_PLACE_LEARNING_ENGINE_H_
