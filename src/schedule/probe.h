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
// Several operators are looked at side by side (base/side_by_side.h), with the constraints known before; what
// each look finds counts in their sequence, whatever the number of threads.
//
// Cost: a cut for each operator for which no order is a witness, and a small multiple of that.
#ifndef BERTH_SCHEDULE_PROBE_H_
#define BERTH_SCHEDULE_PROBE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
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
  ~Prober();
  Prober(const Prober&) = delete;
  Prober& operator=(const Prober&) = delete;

  // Uses the operators that run before v in `order` as a witness for every v whose step keeps
  // within the limit.
  void AddOrder(std::span<const Op> order);

  // Continues until it has done `work` more (in units of a few nanoseconds). Spends one node of
  // `budget` per cut. The result does not depend on the number of threads.
  Verdict Run(std::int64_t work, int threads, Budget& budget);

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
  [[nodiscard]] std::int64_t work() const { return work_; }

 private:
  struct Witnesses {
    std::vector<Word> sets;
    std::vector<Bytes> steps;  // step(set, v), in bytes, for each of the sets.
    std::size_t seen = 0;      // Each undecided operator is in one set and not in another.
    bool settled = false;      // Each undecided operator is in one of the sets and not in another.
  };

  // The least step of an operator that is known.
  struct Step {
    Bytes bytes;    // Of its last minimum cut or, before the first, in a known order.
    bool is_least;  // Of a cut.
  };
  // What a look at an operator has found.
  struct Looked {
    Verdict verdict = Verdict::kStable;
    Step step{};
    std::vector<std::pair<Op, Op>> constraints;
    std::int64_t cuts = 0;
    std::int64_t work = 0;
  };
  class Look;
  // While it lives, a look at an operator has the memory that it needs.
  class Lent;

  [[nodiscard]] bool Refresh(Op v);
  // The operators of the highest steps among those not settled, `most` at most.
  [[nodiscard]] std::vector<Op> Next(std::size_t most);
  // What `looked` says of v. True unless it contradicts what is known.
  [[nodiscard]] bool Take(Op v, const Looked& looked);
  [[nodiscard]] Verdict RunLooks(std::int64_t work, int threads, Budget& budget);
  // Side by side, with this much work left.
  [[nodiscard]] static std::size_t NumLooks(std::int64_t work);

  const Instance& instance_;
  Precedence precedence_;
  Bytes limit_;
  Op refuted_ = 0;
  std::vector<Witnesses> witnesses_;
  std::vector<Step> steps_;   // By operator.
  std::vector<Op> sequence_;  // All operators, those of the highest step first if sorted_.
  bool sorted_ = false;
  std::int64_t cuts_ = 0;
  std::int64_t work_ = 0;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Look>> looks_;  // Those that no thread uses.
};

}  // namespace berth::internal::schedule

#endif  // BERTH_SCHEDULE_PROBE_H_
