// schedule/best_first.h -- the least peak, by expanding downsets in order of their peak so far.
//
// The peak of an order is the largest of its steps, so the least peak is a bottleneck shortest path
// from the empty downset to the full one. States are expanded in order of the least peak known to
// reach them, which never decreases: when a state is expanded its peak is exact, and no order has a
// peak below that of the next state. Of equal peaks the newest state comes first, and of its
// siblings the one with the fewest live bytes, so easy instances need a single dive.
//
// Reading orders backwards (Reversed()) often makes the number of states 100 times smaller or
// larger, and this cannot be predicted. So a search can be interrupted after some states and
// resumed.
#ifndef BERTH_SCHEDULE_BEST_FIRST_H_
#define BERTH_SCHEDULE_BEST_FIRST_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "berth/budget.h"
#include "schedule/instance.h"
#include "schedule/valley.h"
#include "schedule/walk.h"

namespace berth::internal::schedule {

class BestFirst {
 public:
  enum class Verdict {
    kFound,       // order() has the least peak.
    kImpossible,  // No order has a peak of `limit` or less.
    kOpen,        // States, memory or budget exhausted.
  };

  // `instance` must outlive this. Steps up to `floor` bytes count as `floor`.
  BestFirst(const Instance& instance, Bytes floor, Bytes limit, bool dominance,
            bool valleys = true);
  BestFirst(const BestFirst&) = delete;
  BestFirst& operator=(const BestFirst&) = delete;

  // Continues until it has done `work` more (in units of a few nanoseconds), uses `bytes` bytes of
  // memory, or `budget` ends. Spends one node per expanded state.
  Verdict Run(std::int64_t work, std::size_t bytes, Budget& budget);
  // Discards orders with a peak above `limit`.
  void LowerLimit(Bytes limit) { limit_ = std::min(limit_, limit); }

  // Proved: no order within `limit` has a lower peak (limit + 1 if there is none within it).
  [[nodiscard]] Bytes lower_bound() const { return lower_bound_; }
  [[nodiscard]] const std::vector<Op>& order() const { return order_; }
  // All units so far.
  [[nodiscard]] std::int64_t work() const { return work_; }
  [[nodiscard]] std::size_t num_states() const { return records_.size(); }
  [[nodiscard]] std::size_t bytes() const {
    return words_.capacity() * sizeof(Word) + records_.capacity() * sizeof(Record) +
           table_.capacity() * sizeof(std::uint32_t) + open_.capacity() * sizeof(Open);
  }

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  struct Record {
    Standing at;
    std::uint32_t parent = kNone;
    Op op = 0;  // Run after the parent; if `valley`, the operators valleys_[op].
    bool taken = false;
    bool valley = false;
  };
  struct Open {
    Bytes peak = 0;
    std::uint64_t age = 0;
    std::uint32_t state = 0;
  };

  void Add(const Word* state, const Standing& at, std::uint32_t parent, Op op, bool valley = false);
  void Push(std::uint32_t state);
  void Grow();
  // False if `budget` ended first: then some of the states that follow are missing.
  [[nodiscard]] bool Expand(std::uint32_t state, Budget& budget);
  void Recover(std::uint32_t state);

  Walker walker_;
  ValleyFinder valley_finder_;
  bool use_valleys_ = true;
  std::vector<std::vector<Op>> valleys_;
  Bytes limit_;
  Bytes lower_bound_;
  std::vector<Word> words_;
  std::vector<Record> records_;
  std::vector<std::uint32_t> table_;
  std::vector<Open> open_;  // A heap.
  std::uint64_t age_ = 0;
  std::vector<Op> order_;
  struct Child {
    Bytes live;
    Op op;
  };
  std::vector<Child> children_;
  std::vector<Word> scratch_;
  std::int64_t work_ = 0;
  bool found_ = false;
  bool incomplete_ = false;  // Some states are missing, so nothing is impossible any more.
};

}  // namespace berth::internal::schedule

#endif  // BERTH_SCHEDULE_BEST_FIRST_H_
