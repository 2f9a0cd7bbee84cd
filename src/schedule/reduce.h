// schedule/reduce.h -- an equivalent instance with fewer operators.
//
// Two kinds of operators have an obvious best position in any order and need not be searched:
//
//   * An operator that creates nothing runs as soon as all of its predecessors have run: moving it
//     there only frees bytes earlier, and its own step holds no more than was live before it.
//     Without it, the buffers that it was the last to consume are freed when its predecessors have
//     run: in each set of consumers, its direct predecessors replace it.
//   * An operator that frees nothing is the same case read backwards: it runs as late as its
//     successors allow, and in each set of creators its direct successors replace it.
//
// Operators with a single neighbour to join go first: each buffer then still ends (starts) at one operator in its
// place. Where operators read a weight each, which an operator of its own loads, and create nothing that counts, the
// loads must join them. If they go first, the weights end at the operators before them instead: in the end each
// weight is live until all loads before it have run, and hundreds of loads are left without constraints.
//
// Order constraints through a removed operator are kept between its neighbours. Removing continues
// until nothing changes. Of a training step about half of the operators are left; of a forward pass
// that keeps all of its activations, almost none.
//
// In a set of consumers, an operator that must precede another one of the set is redundant; in a
// set of creators, one that must follow another. Buffers that then have equal sets are merged.
//
// Cost: O(n^2 / 64 + edges) time and bits for n operators, and the product of the numbers of
// neighbours of each removed operator. Without rows of bits (schedule/reach.h), linear memory; then
// some operators that are redundant are not known to be, and fewer operators are removed.
#ifndef BERTH_SCHEDULE_REDUCE_H_
#define BERTH_SCHEDULE_REDUCE_H_

#include <span>
#include <vector>

#include "berth/budget.h"
#include "schedule/instance.h"

namespace berth::internal::schedule {

struct Reduction {
  enum class Part : unsigned char { kKept, kEager, kLazy };
  Instance instance;
  std::vector<Op> ops;     // Operator k of `instance` is ops[k] of the original.
  std::vector<Part> part;  // By operator of the original.
  // By operator of the original, if kEager: its direct predecessors when it was removed. It runs as soon as they
  // have run, and the lazy operators removed before it that it waits for run just before it.
  std::vector<std::vector<Op>> eager_after;
};

// `program` is an order of all operators of `original`; the result keeps its sequence.
// Removes fewer operators if `budget` ends first, or without `rows`.
[[nodiscard]] Reduction Reduce(const Instance& original, std::span<const Op> program, bool rows,
                               Budget& budget);
// Removes nothing: for ablation.
[[nodiscard]] Reduction NoReduction(const Instance& original);

// The order of the original operators for an order of the reduced ones; its peak is not higher.
[[nodiscard]] std::vector<Op> Expand(const Instance& original, const Reduction& reduction,
                                     std::span<const Op> order);

}  // namespace berth::internal::schedule

#endif  // BERTH_SCHEDULE_REDUCE_H_
