// spill/peak_bound.h -- a lower bound for all orders, from the least peak of any order.
//
// While some operator runs, at least the least peak of any order is live, and what exceeds the capacity is
// off chip: most of it was written and will be read again. Let a storage weigh what a byte of it costs
// then, once or twice its size:
//
//   weight    w(s) = 1 for given tensors and results, which are read, or written, in any case; else 2
//   at v      traffic >= sum of w(s) size(s) over all live s that are off chip
//                     >= sum of w(s) size(s) over all live s - 2 capacity
//
// The best order makes the last sum as small as it can be: the least peak of the graph with these sizes.
// With w(s) = 1 for all, traffic is at least what that peak exceeds the capacity by once. The proof of a
// least peak says more than a minimum cut at one operator (spill/cuts.h), which it begins with.
#ifndef BERTH_SPILL_PEAK_BOUND_H_
#define BERTH_SPILL_PEAK_BOUND_H_

#include "berth/budget.h"
#include "berth/graph.h"
#include "spill/model.h"

namespace berth::internal::spill {

// Bytes of avoidable traffic that no plan in any order has less than, 0 or more. `graph` must be valid,
// and `model` is made of it. `most_bytes`: memory for both searches, each of which has at least 1 MiB. Cost:
// two searches for a least peak, of at most 100,000 nodes each, side by side on `threads` threads within the
// budget. With a time limit and one thread, the second has what the first leaves.
[[nodiscard]] Bytes PeakBound(const Graph& graph, const Counting& counting, const Model& model,
                              Bytes capacity, std::size_t most_bytes, int threads, Budget& budget);

}  // namespace berth::internal::spill

#endif  // BERTH_SPILL_PEAK_BOUND_H_
