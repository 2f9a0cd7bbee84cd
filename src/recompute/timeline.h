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
// Cost of a change: linear in the uses of those storages, in how much longer or shorter their stays become
// and in how far other executions shift, a few microseconds for a thousand operators, where sequence.h
// measures everything anew.
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
  [[nodiscard]] bool valid() const { return invalid_ == 0 && cost() <= kMostCost; }
  [[nodiscard]] std::int64_t cost() const { return repeat_cost_ + copy_cost_; }
  [[nodiscard]] double excess() const;
  // The same above a part of the capacity: the less there is, the easier it is to find addresses.
  [[nodiscard]] double pressure() const;
  [[nodiscard]] bool fits() const { return valid() && excess_ == 0 && stays_ <= kMaxBytes; }
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
    bool from_begin = false;  // Counted in `from_begin_`.
    bool to_end = false;      // Not counted in `ending_`.
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

  void Replace(const std::vector<Edit>& edits);
  void Do(const std::vector<Edit>& edits);
  void Lift(Storage s);
  void Lay(Storage s);
  [[nodiscard]] Span SpanOf(const Stay& stay, Bytes size) const;
  void Patch(std::size_t first_span, std::size_t end_span, Storage s);
  void CountEnds(const Span& span, Bytes bytes);
  void Add(std::size_t begin, std::size_t end, Bytes bytes);  // Negative: subtracts.
  template <typename Sum>
  void AddAs(std::size_t begin, std::size_t end, Bytes bytes);
  void ShrinkSpans(std::size_t gone, std::size_t count);
  void GrowSpans(std::size_t added, std::size_t count);
  void Insert(std::size_t position, std::span<const Edit> added);
  void Remove(std::size_t position, std::size_t count);
  [[nodiscard]] Execution NewExecution(Op op);
  void Renumber(std::size_t begin, std::size_t end);
  void Move(std::size_t from, std::size_t to);
  [[nodiscard]] Bytes Through(std::size_t position) const;
  void AddEvents(Execution e);
  void RemoveEvents(Execution e);
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
  Bytes from_begin_ = 0;                       // Of stays that begin before the first execution.
  std::int64_t repeat_cost_ = 0;
  std::int64_t copy_cost_ = 0;
  Wide stays_ = 0;  // Bytes with alignments.
  Wide excess_ = 0;
  Wide pressure_ = 0;
  std::size_t invalid_ = 0;
  std::vector<Edit> log_;            // To take back, the latest last.
  std::vector<std::size_t> groups_;  // Where each change begins in it.
  std::vector<Edit> back_;
  std::vector<Storage> lifted_;
  std::vector<Span> spans_;               // Of the storages lifted, in their order,
  std::vector<std::size_t> span_begin_;   // and where those of each begin.
  std::vector<std::uint32_t> lifted_in_;  // By storage: the latest change that lifted it.
  std::uint32_t change_ = 0;
  std::int64_t work_ = 0;
};

}  // namespace berth::internal::recompute

#endif  // BERTH_RECOMPUTE_TIMELINE_H_
