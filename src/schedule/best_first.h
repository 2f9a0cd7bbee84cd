// schedule/best_first.h -- the least peak, by expanding downsets in order of the peak on the way.
//
// The peak of an order is the most bytes of one of its steps, so the least peak is a bottleneck
// shortest path from the empty downset to the full one. States are taken in order of the least peak
// known to reach them, which only grows: when a state is taken its peak is exact, and no order has
// a peak below that of the next state to be taken. Of equal peaks the newest state comes first, of
// its siblings the one with the fewest live bytes, so that easy instances are one dive.
//
// Reading orders backwards (Reversed()) often makes the number of states 100 times smaller or
// larger; nothing tells beforehand. So a search can be left when it has spent some states, and
// taken up again.
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
    kOpen,        // States, memory or budget ended.
  };

  // `instance` must outlive this. Steps up to `floor` count as `floor`.
  BestFirst(const Instance& instance, Bytes floor, Bytes limit, bool dominance,
            bool valleys = true);
  BestFirst(const BestFirst&) = delete;
  BestFirst& operator=(const BestFirst&) = delete;

  // Goes on until it has done `work` more, some nanoseconds each, or takes `bytes` bytes of memory,
  // or `budget` ends: it spends one node for each state taken.
  Verdict Run(std::int64_t work, std::size_t bytes, Budget& budget);
  // Orders with a peak above `limit` are of no interest any more.
  void LowerLimit(Bytes limit) { limit_ = std::min(limit_, limit); }

  // Proved: no order that respects `limit` has a lower peak (limit + 1 when there is none).
  [[nodiscard]] Bytes lower_bound() const { return lower_bound_; }
  [[nodiscard]] const std::vector<Op>& order() const { return order_; }
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
    Op op = 0;  // Run after the parent; or, if `valley`, the operators valleys_[op].
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
  void Expand(std::uint32_t state);
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
};

}  // namespace berth::internal::schedule

#endif  // BERTH_SCHEDULE_BEST_FIRST_H_
