// schedule/state_log.h -- all states within a limit, depth first, as a proof that none is the last.
//
// Best-first search (schedule/best_first.h) that finds no order within a limit has seen all states which can
// be reached within it. Here they are looked at once more, in a sequence that a checker can follow with
// one state in memory and without a table: below each state its next ones, and for a state that was
// seen before its number. Dominance (schedule/walk.h) needs the limit alone here, not the peak so far, as in
// bisection (schedule/bisect.h).
//
// Operators that free nothing in any order are late (schedule/reduce.h): they run with the first
// operator that needs them. Those that create nothing are not taken out, as dominance runs them at once.
#ifndef BERTH_SCHEDULE_STATE_LOG_H_
#define BERTH_SCHEDULE_STATE_LOG_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "berth/budget.h"
#include "schedule/instance.h"
#include "schedule/walk.h"

namespace berth::internal::schedule {

class StateLog {
 public:
  enum class Verdict {
    kRefuted,   // No order passes.
    kPasses,    // The states lead to the end, or to the next operator that all others wait for.
    kTooMany,   // More states, or bytes, than allowed.
    kNoAnswer,  // The budget ended.
  };
  // `instance` must outlive this. `backwards`: it is reversed.
  StateLog(const Instance& instance, Bytes limit, bool backwards);

  // Where it may be worth while to begin: after these pivots, or (none) at the start. `order`, of all
  // operators of `instance`, has a step beyond the limit before the next pivot.
  [[nodiscard]] std::vector<std::optional<std::size_t>> Beginnings(std::span<const Op> order) const;
  // The states after pivot `from`, or (none) from the beginning, at most `most_states` of them.
  Verdict Run(std::optional<std::size_t> from, std::size_t most_states, std::size_t most_bytes,
              Budget& budget);
  // The last run ended as it had too many bytes.
  [[nodiscard]] bool is_full() const { return is_full_; }
  // After kRefuted. `names`: what the operators of the instance are called; empty: by their numbers, and
  // the text is about these operators alone otherwise.
  void Write(std::span<const Op> names, std::string& text) const;

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  struct Node {
    std::uint32_t op = 0;         // The operator that led here.
    std::uint32_t run_begin = 0;  // runs_: what ran at once after it.
    std::uint32_t run_end = 0;
    std::uint32_t same = kNone;  // The node of the same state.
    bool named = false;          // Another one is the same.
  };
  struct Frame {
    std::uint32_t node;
    std::size_t begin;  // ready_: its operators,
    std::size_t next;   // and those that had no turn yet.
    std::size_t end;
    Bytes live;
  };

  void FindLate();
  void Contract();
  void FindPivots();
  [[nodiscard]] std::size_t BytesUsed() const;
  void Clear();
  // Takes state_: a new node, or one that names the node of the same state.
  void Take(Op op, Standing at);
  void Open(std::uint32_t node, const Standing& at);
  [[nodiscard]] std::uint32_t Lookup(const Word* state) const;

  const Instance& instance_;
  Bytes limit_;
  bool backwards_;
  std::vector<bool> late_;  // By operator of the instance.
  std::vector<Op> ops_;     // The others: operators of kept_.
  Instance kept_;
  std::optional<Walker> walker_;
  std::vector<Op> pivots_;  // Of kept_: each other one precedes or follows them. In sequence.
  std::optional<std::size_t> from_;
  std::vector<Node> nodes_;
  std::vector<Op> runs_;
  std::vector<std::uint32_t> slot_;  // By node: where its state stands in words_; kNone: nowhere.
  std::vector<Word> words_;
  std::unordered_multimap<std::uint64_t, std::uint32_t> by_hash_;
  std::vector<Word> state_;
  std::vector<Frame> path_;
  std::vector<Op> ready_;
  bool is_full_ = false;
};

}  // namespace berth::internal::schedule

#endif  // BERTH_SCHEDULE_STATE_LOG_H_
