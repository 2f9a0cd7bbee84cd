// schedule/reduce.h -- the same question with fewer operators.
//
// Two kinds of operators have an obvious best place in any order, and need not be searched:
//
//   * one that creates nothing is run as soon as all of its predecessors have: moving it there
//     only frees bytes earlier, and its own step holds no more than was live before it. Without
//     it, what it was the last to consume is freed when its predecessors have run: in each set of
//     consumers, it is replaced by its direct predecessors;
//   * one that frees nothing, read backwards, is the same: it is run as late as its successors
//     allow, and in each set of creators they take its place.
//
// Order constraints through a removed operator are kept between its neighbours. Removing goes on
// until nothing changes; of a training step about half of the operators are left, of a forward
// pass all of whose activations are kept almost nothing.
//
// In a set of consumers only those matter that no other of them must follow, in a set of creators
// those that no other must precede. Buffers that then have equal sets become one.
//
// Cost: O(n^2 / 64 + edges) time and bits for n operators, and the neighbours of removed operators
// multiplied.
#ifndef BERTH_SCHEDULE_REDUCE_H_
#define BERTH_SCHEDULE_REDUCE_H_

#include <span>
#include <vector>

#include "schedule/instance.h"

namespace berth::internal::schedule {

struct Reduction {
  enum class Part : unsigned char { kKept, kEager, kLazy };
  Instance instance;
  std::vector<Op> ops;     // Operator k of `instance` is ops[k] of the original.
  std::vector<Part> part;  // By operator of the original.
};

// `program` is an order of all operators of `original`; those of the answer keep its sequence.
[[nodiscard]] Reduction Reduce(const Instance& original, std::span<const Op> program);
// Nothing removed: for ablation.
[[nodiscard]] Reduction NoReduction(const Instance& original);

// The order of the original operators for an order of the reduced ones: no higher a peak.
[[nodiscard]] std::vector<Op> Expand(const Instance& original, const Reduction& reduction,
                                     std::span<const Op> order);

}  // namespace berth::internal::schedule

#endif  // BERTH_SCHEDULE_REDUCE_H_
