// schedule/probe.h -- which operators must precede which to keep the peak within a limit.
//
// For operator v, take the least step(S, v) over the downsets S that contain u (schedule/cut.h). If
// it exceeds the limit, no order within the limit runs u before v, so v precedes u. The same with
// the S that do not contain u. Each new constraint removes downsets from the other cuts, which can
// then prove more. This ends when nothing changes (stable), or when some v cannot run at all or the
// constraints form a cycle: then no order keeps within the limit.
//
// An S with step(S, v) within the limit is a witness: it settles all operators at once, those in S
// and those outside of it, until a new constraint breaks it or the limit falls below it. Minimum
// cuts give witnesses, and so does every known order, at the steps that keep within the limit. A
// witness grown or shrunk by single operators as far as the limit allows settles more, and often
// serves other operators too. So there are far fewer cuts than questions.
//
// Operators of high steps come first, and again after each new constraint: their downsets are few,
// so they imply most constraints, and contradictions arise among them. Going round all operators
// instead took 4 to 40 times as long to refute limits of irregular graphs of 400 operators.
//
// Cost: a cut for each operator for which no order is a witness, and a small multiple of that.
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
    kStable,         // No further constraint follows.
    kOpen,           // The allowed work or the budget is spent.
  };

  // `instance` must outlive this. `precedence` holds the initial constraints, at least those of the
  // instance.
  Prober(const Instance& instance, Precedence precedence, Bytes limit);
  Prober(const Prober&) = delete;
  Prober& operator=(const Prober&) = delete;

  // Uses the operators that run before v in `order` as a witness for every v whose step keeps
  // within the limit.
  void AddOrder(std::span<const Op> order);

  // Continues until it has done `work` more (in units of a few nanoseconds). Spends one node of
  // `budget` per cut.
  Verdict Run(std::int64_t work, Budget& budget);

  // Adds a constraint by decision. Returns false on a contradiction.
  [[nodiscard]] bool Add(Op before, Op after) { return precedence_.Add(before, after); }
  // All proved constraints stay valid.
  void LowerLimit(Bytes limit);

  [[nodiscard]] const Precedence& precedence() const { return precedence_; }
  [[nodiscard]] Bytes limit() const { return limit_; }
  // After a contradiction: an operator whose step exceeds the limit in all orders that keep to the
  // constraints, those that were found last included.
  [[nodiscard]] Op refuted() const { return refuted_; }
  [[nodiscard]] std::int64_t cuts() const { return cuts_; }
  [[nodiscard]] std::int64_t work() const { return cut_.work() + work_; }

 private:
  struct Witnesses {
    std::vector<Word> sets;
    std::vector<Bytes> steps;  // step(set, v), in bytes, for each of the sets.
    std::size_t seen = 0;      // Each undecided operator is in one set and not in another.
    bool settled = false;      // Each undecided operator is in one of the sets and not in another.
  };

  [[nodiscard]] bool Refresh(Op v);
  [[nodiscard]] Op Next();
  [[nodiscard]] bool SetStep(Op v, Bytes least);
  Verdict Probe(Op v, std::int64_t work_end, Budget& budget);
  void Keep(Op v, const Word* set, Bytes step);
  void KeepCut(Op v, Bytes step, bool largest);
  void Stretch(Op v, Bytes step, bool grow);

  const Instance& instance_;
  Precedence precedence_;
  Bytes limit_;
  Cut cut_;
  Op refuted_ = 0;
  std::vector<Witnesses> witnesses_;
  // By operator: its last minimum cut or, before the first, its least step in a known order.
  std::vector<Bytes> step_;
  std::vector<bool> is_least_;
  std::vector<Op> sequence_;  // All operators, those of the highest step first if sorted_.
  bool sorted_ = false;
  std::int64_t cuts_ = 0;
  std::int64_t work_ = 0;
  Budget* budget_ = nullptr;  // Of Run().
  // For the current operator: union of its witnesses, and union of their complements.
  std::vector<Word> inside_, outside_;
  std::vector<Word> set_;
};

}  // namespace berth::internal::schedule

#endif  // BERTH_SCHEDULE_PROBE_H_
