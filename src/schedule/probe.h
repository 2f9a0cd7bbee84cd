// schedule/probe.h -- which operators must precede which, if the peak is to stay within a limit.
//
// Take operator v and ask for the least step(S, v) over the downsets S that hold u
// (schedule/cut.h). If that exceeds the limit, no order within the limit runs u before v, so v
// precedes u; the same with S without u. Each new constraint takes downsets away from the other
// cuts, which then prove more, until nothing changes, some v cannot run at all, or constraints go
// round in a circle: then no order keeps to the limit.
//
// An S with step(S, v) within the limit is a witness: it settles all operators at once, those in it
// and those outside of it, until a new constraint breaks it or the limit falls below it. Minimum
// cuts give witnesses, and so does every order known, wherever its own steps keep to the limit; a
// witness grown or shrunk by single operators as far as the limit allows gives more, and is often
// one for other operators too. So there are far fewer cuts than questions.
//
// Cost: a cut for each operator that no order is a witness for, and some small multiple of that.
#ifndef BERTH_SCHEDULE_PROBE_H_
#define BERTH_SCHEDULE_PROBE_H_

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "berth/budget.h"
#include "schedule/cut.h"
#include "schedule/precedence.h"

namespace berth::internal::schedule {

class Prober {
 public:
  enum class Verdict {
    kContradiction,  // No order has a peak within the limit.
    kStable,         // Nothing more follows.
    kOpen,           // The work allowed, or the budget, ended.
  };

  // `instance` must outlive this; `precedence` is the start, at least the instance's own.
  Prober(const Instance& instance, Precedence precedence, Bytes limit);
  Prober(const Prober&) = delete;
  Prober& operator=(const Prober&) = delete;

  // The operators that run before v in `order` are a witness for v wherever v's step keeps to the
  // limit.
  void AddOrder(std::span<const Op> order);

  // Goes on until it has done `work` more, some nanoseconds each; spends one node of `budget` for
  // each cut.
  Verdict Run(std::int64_t work, Budget& budget);

  // Adds a constraint by decision. False: contradiction.
  [[nodiscard]] bool Add(Op before, Op after) { return precedence_.Add(before, after); }
  // All that has been proved stays so.
  void LowerLimit(Bytes limit);

  [[nodiscard]] const Precedence& precedence() const { return precedence_; }
  [[nodiscard]] Bytes limit() const { return limit_; }
  [[nodiscard]] std::int64_t cuts() const { return cuts_; }
  [[nodiscard]] std::int64_t work() const { return cut_.work() + work_; }

 private:
  struct Witnesses {
    std::vector<Word> sets;
    std::vector<Bytes> steps;  // Of v after each of the sets.
    std::size_t seen = 0;      // Constraints of precedence_.added() held against them.
    bool settled = false;      // Each undecided operator is in one of them and not in another.
  };

  [[nodiscard]] bool Refresh(Op v);
  Verdict Probe(Op v, std::int64_t work_end, Budget& budget);
  void Keep(Op v, const Word* set, Bytes step);
  void KeepCut(Op v, Bytes step, bool largest);
  void Stretch(Op v, Bytes step, bool grow);

  const Instance& instance_;
  Precedence precedence_;
  Bytes limit_;
  Cut cut_;
  std::vector<Witnesses> witnesses_;
  std::size_t next_ = 0;     // The operator to look at.
  std::size_t settled_ = 0;  // How many in a row were found settled.
  std::int64_t cuts_ = 0;
  std::int64_t work_ = 0;
  // Of the operator looked at: what some witness holds, and what some witness does not hold.
  std::vector<Word> inside_, outside_;
  std::vector<Word> set_;
};

}  // namespace berth::internal::schedule

#endif  // BERTH_SCHEDULE_PROBE_H_
