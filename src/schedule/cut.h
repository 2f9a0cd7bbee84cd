// schedule/cut.h -- the fewest bytes at which an operator can run, by a minimum cut.
//
// In every order, operator v runs after some downset S that contains all predecessors of v and none
// of its successors. So the minimum over these S of step(S, v) is a lower bound on the peak of
// every order. Since f is a sum of terms [some creator in S][some consumer not in S], the minimum
// is a minimum cut: S is the source's side, and for each buffer
//
//   creator --inf--> in --bytes--> out --inf--> consumer,     v in S --inf--> its predecessors.
//
// Everything that precedes v is merged into the source, v and its successors into the sink; only
// the operators in between, and the buffers that they touch, are nodes. With few of them a cut
// takes microseconds.
//
// Probing needs more: the same minimum over the S that contain operator u, or that do not. The flow
// is kept, augmented from the new terminal, and undone afterwards.
#ifndef BERTH_SCHEDULE_CUT_H_
#define BERTH_SCHEDULE_CUT_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "berth/budget.h"
#include "schedule/precedence.h"

namespace berth::internal::schedule {

class Cut {
 public:
  // Both must outlive this.
  Cut(const Instance& instance, const Precedence& precedence)
      : instance_(instance), precedence_(&precedence), local_(instance.num_ops, kNoNode) {}
  // With the constraints of `instance` alone, in linear memory: each Solve() searches for what
  // precedes and what follows its operator.
  explicit Cut(const Instance& instance)
      : instance_(instance),
        local_(instance.num_ops, kNoNode),
        found_before_(instance.words()),
        found_after_(instance.words()) {}

  // When `budget` ends by time or cancellation, minima end early: what they return is a lower bound
  // still, but has no witness. It must outlive the calls that follow.
  void SetBudget(Budget& budget) { budget_ = &budget; }

  // The least step(S, v). Gives up once it is known to exceed `limit`; the bound returned exceeds
  // it too.
  Bytes Solve(Op v, Bytes limit);
  // The same over the S with (`inside`) or without `u`, which must be in undecided(). Only after a
  // Solve() that did not give up.
  Bytes SolveWith(Op u, bool inside, Bytes limit);

  // The operators that neither precede nor follow v.
  [[nodiscard]] const std::vector<Op>& undecided() const { return undecided_; }
  // The least S of the last minimum (or, with `largest`, the largest). Only valid after a call that
  // did not give up. Writes instance.words() words.
  void Witness(Word* set, bool largest) const;

  // A part of the flow of the last minimum, which proves it, whether or not that gave up: bytes of a
  // buffer that lead to a consumer, or (kNoOp as buffer) from an operator to one that it waits for. `to`
  // is kNoOp at the sink: at v, at what follows it or, for a buffer that is live to the end, nowhere.
  struct Hop {
    Op buffer;
    Op from;
    Op to;
    Bytes bytes;
  };
  static constexpr Op kNoOp = ~Op{0};
  // Without the buffers that are live in every step of v. No buffer may have several creators.
  [[nodiscard]] std::vector<Hop> Flow() const;

  // Edges visited so far, a few nanoseconds each.
  [[nodiscard]] std::int64_t work() const { return work_; }

 private:
  static constexpr std::uint32_t kNoNode = ~std::uint32_t{0};
  static constexpr std::uint32_t kSource = 0;
  static constexpr std::uint32_t kSink = 1;
  static constexpr Bytes kInfinite = Bytes{1} << 62;
  struct Edge {
    std::uint32_t to;
    std::uint32_t next;
    Bytes room;
  };

  void Connect(std::uint32_t from, std::uint32_t to, Bytes room);
  std::uint32_t NewNode();
  void Build(Op v);
  void FindUndecided(Op v);
  // The operators that lead to v by `lists`.
  void FindReached(Op v, const OpLists& lists, std::vector<Word>& found);
  [[nodiscard]] std::span<const Op> PredecessorsOf(Op u) const {
    return precedence_ != nullptr ? std::span<const Op>(precedence_->predecessors(u))
                                  : instance_.predecessors[u];
  }
  // One end of a buffer's edge: its creators, or its consumers.
  struct End {
    bool joined = false;           // With its terminal: the source, or the sink.
    std::size_t undecided = 0;     // The number of its operators that have a node,
    std::uint32_t node = kNoNode;  // and the node of the last of them.
  };
  // Of `ops`, with `v` and the operators in `terminal` merged into the terminal.
  [[nodiscard]] End EndOf(const std::vector<Op>& ops, bool joined, Op v,
                          const Word* terminal) const;
  void AddBuffer(Op v, const FlowBuffer& buffer);
  // Augments until no path from `from` to `to` is left or the flow exceeds `limit`.
  void Augment(std::uint32_t from, std::uint32_t to, Bytes limit);
  bool Label();
  [[nodiscard]] bool TimeIsUp();

  const Instance& instance_;
  const Precedence* precedence_ = nullptr;
  Op op_ = 0;
  const Word* before_ = nullptr;  // The operators that precede op_, and that follow it.
  const Word* after_ = nullptr;
  Bytes fixed_ = 0;
  Bytes flow_ = 0;
  std::vector<Op> undecided_;
  std::vector<std::uint32_t> local_;  // By operator: its node.
  std::vector<std::uint32_t> head_;   // By node: its first edge.
  std::vector<Edge> edges_;           // Edge e and e ^ 1 are each other's reverse.
  std::size_t first_of_buffers_ = 0;  // Edges before lead from operators to what they wait for.
  // The edges of buffers, with these.
  std::vector<std::pair<std::uint32_t, Op>> of_buffers_;
  std::size_t saved_edges_ = 0;
  std::vector<std::uint32_t> level_, next_, queue_, path_;
  std::uint32_t from_ = kSource;  // The ends of the paths in Label().
  std::uint32_t to_ = kSink;
  std::int64_t work_ = 0;
  std::int64_t polled_ = 0;  // The part of it that the budget knows.
  Budget* budget_ = nullptr;
  Bytes base_flow_ = 0;
  std::vector<Bytes> rooms_;
  bool forced_ = false;
  std::vector<Word> found_before_, found_after_;  // Without a Precedence.
};

}  // namespace berth::internal::schedule

#endif  // BERTH_SCHEDULE_CUT_H_
