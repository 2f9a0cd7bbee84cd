// schedule/instance.h -- the input of a schedule search: operators, their order constraints, and
// the bytes that are live after any set of them.
//
// A buffer has a set of creators C and a set of consumers K. It is live after the operators S have
// run (S closed under predecessors: a downset) if some creator is in S and some consumer is not:
//
//   f(S) = base + sum of the bytes of all buffers with C * S != {} and K not within S.
//
// In a graph every buffer has one creator. Larger sets come from the reduction (schedule/reduce.h),
// and they make the form symmetric: reading orders backwards swaps C with K and predecessors with
// successors. A buffer live from the start needs no creators, one live to the end no consumers.
// Operator v, run after S, needs all that is live before and after it at once:
//
//   step(S, v) = f(S) + bytes of the buffers with v in C and C * S == {}   (created)
//              = f(S + v) + bytes of the buffers with v in K and K within S + v   (freed)
//
// A buffer with C = K = {v} is live in that step alone. Unless a buffer is live from the start, some
// k in K must be a creator or run after one, so that K is never within S while C * S == {}. Other
// consumers may run before: the reduction leaves some of an operator that also waits for others.
//
// f is submodular, f(S) + f(T) >= f(S * T) + f(S + T): each summand is, being 1 on the S that meet
// C without covering K. All searches rely on this.
#ifndef BERTH_SCHEDULE_INSTANCE_H_
#define BERTH_SCHEDULE_INSTANCE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/bits.h"
#include "berth/problem.h"

namespace berth::internal::schedule {

using Op = std::uint32_t;

// A list of numbers for each of several rows, in one array.
class OpLists {
 public:
  OpLists() = default;
  // `for_all` is called twice, once to count and once to fill, with a function add(row, item); it
  // must add the same items both times. Each list keeps their order.
  template <typename ForAll>
  OpLists(std::size_t num_rows, ForAll for_all) : begin_(num_rows + 1, 0) {
    for_all([this](std::size_t row, Op) { ++begin_[row + 1]; });
    std::uint32_t sum = 0;
    for (std::size_t row = 1; row <= num_rows; ++row) sum += std::exchange(begin_[row], sum);
    items_.resize(sum);
    for_all([this](std::size_t row, Op item) { items_[begin_[row + 1]++] = item; });
  }
  // Every list increasing and without repetitions.
  void Normalize();
  [[nodiscard]] std::span<const Op> operator[](std::size_t row) const {
    return {items_.data() + begin_[row], begin_[row + 1] - begin_[row]};
  }
  [[nodiscard]] std::size_t size() const { return begin_.empty() ? 0 : begin_.size() - 1; }

 private:
  std::vector<std::uint32_t> begin_;
  std::vector<Op> items_;
};

struct FlowBuffer {
  Bytes bytes = 0;
  bool from_start = false;
  bool to_end = false;
  std::vector<Op> creators;   // Increasing.
  std::vector<Op> consumers;  // Increasing.
  friend bool operator==(const FlowBuffer&, const FlowBuffer&) = default;
};

struct Instance {
  std::size_t num_ops = 0;
  Bytes base = 0;  // Live at every step.
  std::vector<FlowBuffer> buffers;
  OpLists predecessors;  // Direct ones.
  OpLists successors;
  OpLists creates;   // By operator: buffers, increasing.
  OpLists consumes;  // By operator: buffers, increasing.
  // By operator: bytes of the buffers that it alone creates (frees), whatever ran before; and the
  // other buffers.
  std::vector<Bytes> created_alone;
  std::vector<Bytes> freed_alone;
  OpLists created_shared;
  OpLists freed_shared;

  [[nodiscard]] std::size_t words() const { return WordsFor(num_ops); }
};

// `edges` need not be direct or distinct, but must be acyclic. Cost: linear.
[[nodiscard]] Instance MakeInstance(std::size_t num_ops, Bytes base,
                                    const std::vector<std::pair<Op, Op>>& edges,
                                    std::vector<FlowBuffer> buffers);

// The same instance with orders read backwards.
[[nodiscard]] Instance Reversed(const Instance& instance);

// The operators `ops` (increasing) alone, given that all others that can precede any of them have
// run (the set `before`) and no other runs in between. Operator k of the result is ops[k].
[[nodiscard]] Instance Restricted(const Instance& instance, const std::vector<Op>& ops,
                                  const Word* before);

// Bytes of the buffers that running `op` after `done` creates, and frees.
[[nodiscard]] inline Bytes CreatedBytes(const Instance& instance, const Word* done, Op op) {
  Bytes bytes = instance.created_alone[op];
  for (const Op b : instance.created_shared[op]) {
    const FlowBuffer& buffer = instance.buffers[b];
    const bool first = std::none_of(buffer.creators.begin(), buffer.creators.end(),
                                    [&](Op c) { return TestBit(done, c); });
    if (first) bytes += buffer.bytes;
  }
  return bytes;
}
[[nodiscard]] inline Bytes FreedBytes(const Instance& instance, const Word* done, Op op) {
  Bytes bytes = instance.freed_alone[op];
  for (const Op b : instance.freed_shared[op]) {
    const FlowBuffer& buffer = instance.buffers[b];
    // From the end: most orders are close to program order.
    const bool last = std::all_of(buffer.consumers.rbegin(), buffer.consumers.rend(),
                                  [&](Op k) { return k == op || TestBit(done, k); });
    if (last) bytes += buffer.bytes;
  }
  return bytes;
}
[[nodiscard]] Bytes LiveAtStart(const Instance& instance);
[[nodiscard]] Bytes LiveAtEnd(const Instance& instance);

// The largest step of `order` in bytes; `order` must contain all operators. `steps`, if given, gets
// the bytes of each operator's step, and `after` those live after it. Cost: linear.
[[nodiscard]] Bytes PeakOf(const Instance& instance, std::span<const Op> order,
                           std::vector<Bytes>* steps = nullptr,
                           std::vector<Bytes>* after = nullptr);
[[nodiscard]] bool IsOrder(const Instance& instance, std::span<const Op> order);

// What the peaks of an instance can be: its base and multiples of the greatest common divisor of all sizes. All
// limits from one of them up to the next allow the same orders.
class PeakGrid {
 public:
  explicit PeakGrid(const Instance& instance);

  // In bytes; at least 1.
  [[nodiscard]] Bytes unit() const { return unit_; }
  // Of the limits that allow the same orders as `limit` does, the largest. To refute it raises the bound most.
  [[nodiscard]] Bytes LargestLike(Bytes limit) const {
    return limit < base_ ? base_ - 1 : limit + unit_ - 1 - (limit - base_) % unit_;
  }

 private:
  Bytes base_;
  Bytes unit_ = 1;
};

// An order of all operators: of those ready, the lowest index first. Empty if there is a cycle.
[[nodiscard]] std::vector<Op> TopologicalOrder(std::size_t num_ops, const OpLists& predecessors,
                                               const OpLists& successors);

// Row v: the operators that must run before v. `order` is any valid order.
[[nodiscard]] BitMatrix Ancestors(const Instance& instance, std::span<const Op> order);
[[nodiscard]] BitMatrix Descendants(const Instance& instance, std::span<const Op> order);

}  // namespace berth::internal::schedule

#endif  // BERTH_SCHEDULE_INSTANCE_H_
