// recompute/timeline.h -- a sequence of executions that changes a little at a time.
//
// A change inserts, moves and takes out executions, finds the stays of the storages that their operators
// touch anew, and adds and subtracts bytes where those stays have become longer or shorter. Bytes are held
// by position:
//
//   executions   A B C D B E     `load`: what is in memory while each of these runs
//   load         a a c c b e     `ending`: what leaves after it
//                  b b d d b
//
// so that a new execution finds what stays through its position: the load before without what leaves.
// What a change does is written down, so that taking it back looks for nothing. Cost of a change: linear in the
// uses of those storages, in how much longer or shorter their stays become and in how far other executions
// shift, a few microseconds for a thousand operators, where sequence.h measures everything anew.
#ifndef BERTH_RECOMPUTE_TIMELINE_H_
#define BERTH_RECOMPUTE_TIMELINE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/wide.h"
#include "recompute/model.h"
#include "recompute/sequence.h"

namespace berth::internal::recompute {

// One execution, or return from off chip, put in, taken out, or moved.
struct Edit {
  static constexpr std::size_t kNowhere = static_cast<std::size_t>(-1);
  std::size_t from = kNowhere;  // Positions. kNowhere: it is new,
  std::size_t to = kNowhere;    // or gone. `to` counts without the execution itself.
  Op op = 0;
};

// A stay of a storage between two uses in a row, around some position.
struct Pause {
  Storage storage = 0;
  std::size_t from = 0;  // Positions.
  std::size_t to = 0;
  std::int32_t version = 0;
};

// A storage just before some position.
struct Held {
  std::int32_t version = kMakes;
  std::size_t last = 0;  // Its last use before.
  bool stays = false;    // There is a use later on, too.
};

class Timeline {
 public:
  Timeline(const Model& model, Bytes capacity);

  // Starts again with `sequence`, in which first executions have a valid order.
  void Set(const Sequence& sequence);
  [[nodiscard]] Sequence Get() const;

  [[nodiscard]] std::size_t size() const { return executions_.size(); }
  [[nodiscard]] Op at(std::size_t position) const { return op_of_[executions_[position]]; }
  // As Measure has it. Bytes above the capacity are summed up at returns, too.
  [[nodiscard]] bool valid() const { return sums_.invalid == 0 && cost() <= kMostCost; }
  [[nodiscard]] std::int64_t cost() const { return sums_.repeat_cost + sums_.copy_cost; }
  [[nodiscard]] double excess() const;
  // The same above a part of the capacity: the less there is, the easier it is to find addresses. Known from
  // CountPressure(), which keeps all changes, to the next Set().
  [[nodiscard]] double pressure() const;
  void CountPressure();
  [[nodiscard]] bool fits() const {
    return valid() && sums_.excess == 0 && sums_.stays <= kMaxBytes;
  }
  [[nodiscard]] Bytes load(std::size_t position) const { return load_[position]; }
  [[nodiscard]] std::size_t Peak() const;  // The first position with the most bytes.

  // All of `edits`, one after the other. Repeats must stay after what they wait for first.
  void Change(const std::vector<Edit>& edits);
  // How many changes can be taken back, and takes back all but so many.
  [[nodiscard]] std::size_t changes() const { return groups_.size(); }
  void UndoTo(std::size_t changes);
  // What there was can no longer be taken back.
  void Keep();

  // Whether the execution at `position` is not the first of its operator, or is a return.
  [[nodiscard]] bool IsRepeat(std::size_t position) const;
  // Of all executions of `v`.
  [[nodiscard]] std::size_t FirstOf(Op v) const;
  // The positions of repeats and returns.
  [[nodiscard]] std::vector<std::size_t> Repeats() const;
  // The pause of `s` around `position`, if it can be dropped.
  [[nodiscard]] std::optional<Pause> PauseAt(Storage s, std::size_t position) const;
  [[nodiscard]] Held HeldAt(Storage s, std::size_t position) const;

  // Elements of all lists looked at so far.
  [[nodiscard]] std::int64_t work() const { return work_; }

 private:
  using Execution = std::uint32_t;  // Keeps its number while it moves.
  static constexpr Execution kBegin = static_cast<Execution>(-1);
  static constexpr Execution kEnd = static_cast<Execution>(-2);
  struct Event {
    Execution execution = 0;
    const Touch* touch = nullptr;  // None: a return.
  };
  struct Stay {
    Execution begin = 0;
    Execution last = 0;
  };
  // The positions that a stay has bytes at in `load_`, while executions change.
  struct Span {
    std::size_t begin = 0;
    std::size_t end = 0;
    Bytes size = 0;
    bool from_begin = false;  // Counted in `from_begin` of all sums.
    bool to_end = false;      // Not counted in `ending_`.
  };
  // What has happened since Keep(), to take it back. Positions and numbers of events are those of that moment.
  enum class Happened : std::uint32_t {
    kAdded,       // `bytes` to the load at [at, to),
    kEnded,       // and to `ending_` at `at`.
    kInserted,    // `to` executions at `at`.
    kRemoved,     // The same; `taken_` has them.
    kMoved,       // An execution from `at` to `to`; `taken_` has it as it was.
    kEventIn,     // Event `at` of `storage` is new,
    kEventOut,    // or gone; `events_out_` has it,
    kEventMoved,  // or is now number `to`.
    kLifted       // `storage` had `at` stays, the last of `stays_lifted_`, and copies for `bytes`;
                  // `to` is 1 if it was invalid.
  };
  struct Record {
    Happened what = Happened::kAdded;
    Storage storage = 0;
    std::uint32_t at = 0;
    std::uint32_t to = 0;
    Bytes bytes = 0;
  };
  struct Taken {
    Execution execution = 0;
    Op op = 0;
    Bytes load = 0;
    Bytes ending = 0;
  };
  // Of all storages and positions together.
  struct Sums {
    Bytes from_begin = 0;  // Of stays that begin before the first execution.
    std::int64_t repeat_cost = 0;
    std::int64_t copy_cost = 0;
    Wide stays = 0;  // Bytes with alignments.
    Wide excess = 0;
    Wide pressure = 0;
    std::size_t invalid = 0;
    std::uint64_t state = 0;  // Another number for each sequence that there was.
  };
  // One call of Change().
  struct Group {
    std::size_t first = 0;  // Of its records.
    Sums sums;              // Before it.
  };
  // What is known of one storage.
  struct Line {
    bool matters = false;  // It has bytes, or versions.
    bool invalid = false;
    std::int64_t cost = 0;  // Of its copies.
    std::vector<Event> events;
    std::vector<Stay> stays;
  };
  [[nodiscard]] std::size_t Begin(const Stay& stay) const {
    return stay.begin == kBegin ? 0 : position_[stay.begin];
  }
  [[nodiscard]] std::size_t Last(const Stay& stay) const {
    return stay.last == kEnd ? size() - 1 : position_[stay.last];
  }
  [[nodiscard]] bool Counts(const Event& event) const {
    return event.touch == nullptr || !event.touch->only_first || IsFirst(event.execution);
  }
  [[nodiscard]] bool IsFirst(Execution e) const;
  [[nodiscard]] std::size_t EventAt(const Line& line, std::size_t position) const;
  [[nodiscard]] bool StaysToEnd(Storage s) const;

  void Note(Happened what, Storage storage, std::size_t at, std::size_t to, Bytes bytes) {
    trail_.push_back(
        {what, storage, static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(to), bytes});
  }
  void TakeBack(const Record& record);
  void TakeBack(const Record& record, Line& line);
  void TakeOut(std::size_t position, std::size_t count);
  void PutBack(std::size_t position, std::size_t count);
  void Do(const std::vector<Edit>& edits);
  void Lift(Storage s);
  void Lay(Storage s);
  [[nodiscard]] Span SpanOf(const Stay& stay, Bytes size) const;
  void Patch(std::size_t first_span, std::size_t end_span, Storage s);
  void CountEnds(const Span& span, Bytes bytes);
  void AddEnding(std::size_t position, Bytes bytes);
  void Add(std::size_t begin, std::size_t end, Bytes bytes);  // Negative: subtracts.
  void ShrinkSpans(std::size_t gone, std::size_t count);
  void GrowSpans(std::size_t added, std::size_t count);
  void Insert(std::size_t position, std::span<const Edit> added);
  void Remove(std::size_t position, std::size_t count);
  void Forget(Execution e);
  void EraseAt(std::size_t position, std::size_t count);
  void MakeGap(std::size_t position, std::size_t count, Bytes load);
  [[nodiscard]] Execution NewExecution(Op op);
  void Renumber(std::size_t begin, std::size_t end);
  void Move(std::size_t from, std::size_t to);
  void Shift(std::size_t from, std::size_t to);
  [[nodiscard]] Bytes Through(std::size_t position) const;
  void AddEvents(Execution e);
  void RemoveEvents(Execution e);
  void MoveEvents(Execution e, std::size_t to);
  void MoveEvent(Line& line, std::size_t from, std::size_t to);
  template <typename Visit>
  void ForEachTouched(Op op, Visit visit) const;
  // `count` positions with so many bytes are new, or gone if it is negative.
  void CountLoad(Bytes load, std::int64_t count);

  const Model& model_;
  const Bytes capacity_;
  const Bytes calm_;                   // Bytes up to here are no pressure.
  std::vector<Line> lines_;            // By storage.
  std::vector<Execution> executions_;  // By position, as the next two.
  std::vector<Bytes> load_;
  std::vector<Bytes> ending_;
  std::vector<Op> op_of_;                // By execution,
  std::vector<std::uint32_t> position_;  // the same.
  std::vector<Execution> free_;
  std::vector<std::vector<Execution>> of_op_;  // By operator: its executions, in no order.
  Sums sums_;
  bool counts_pressure_ = false;
  std::uint64_t states_ = 0;      // So far.
  mutable std::size_t peak_ = 0;  // Of the next state, if it is known.
  mutable std::optional<std::uint64_t> peak_of_;
  std::vector<Record> trail_;  // The latest last, as in the next four.
  std::vector<Group> groups_;
  std::vector<Taken> taken_;
  std::vector<Event> events_out_;
  std::vector<Stay> stays_lifted_;
  std::vector<Storage> lifted_;
  std::vector<Span> spans_;               // Of the storages lifted, in their order,
  std::vector<std::size_t> span_begin_;   // and where those of each begin.
  std::vector<std::uint32_t> lifted_in_;  // By storage: the latest change that lifted it.
  std::uint32_t change_ = 0;
  std::int64_t work_ = 0;
};

}  // namespace berth::internal::recompute

#endif  // BERTH_RECOMPUTE_TIMELINE_H_
