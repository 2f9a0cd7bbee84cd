// spill/cuts.h -- a lower bound for all orders, from what must be off chip while one operator runs.
//
// In every order, operator v runs after a set S of operators that contains all its predecessors and
// none of its successors. A storage that v does not touch, with a creator in S and a user that is
// not, is live then. It is in memory, or it is off chip and costs at least
//
//   twice its size   if it was made on chip and is no result: written, retrieved later;
//   its size         if it is given, or a result: it may have a copy off chip for other reasons.
//
// Besides what v needs, `capacity` - needs(v) bytes fit. Pay a price for each byte of these, and
// let every live storage take what is cheaper, the price or its traffic. For any price up to 2,
//
//   sum over the live storages of min(price * size, traffic) - price * (capacity - needs(v))
//
// is at most the traffic (Lagrangian relaxation), and its minimum over all S is a minimum cut
// (schedule/cut.h). With price 2, and only storages that are made and used on chip, this is twice
// what exceeds the capacity in the best order around v.
//
// The bounds of several operators add up if no traffic counts twice. A storage counts for the first
// operator while which it can be live. For a further one it counts once more, with one retrieval, if
// in every order it is used between that and each of those before.
#ifndef BERTH_SPILL_CUTS_H_
#define BERTH_SPILL_CUTS_H_

#include <span>

#include "berth/budget.h"
#include "spill/model.h"
#include "spill/search.h"

namespace berth::internal::spill {

// At most the least avoidable traffic of any order within `capacity`, which is at least what any
// operator needs; 0 where nothing is proved. `model` must have its ancestors. `order`, a valid one,
// says where to look first and where there is nothing to gain. Ends early, with a bound, once that
// reaches `upper`, or when the budget or the effort ends. Cost: about as many minimum cuts as the
// order has steps near its peak, some 0.1 ms each for 500 operators; n^2 / 2 bytes.
[[nodiscard]] Bytes CutBound(const Model& model, Bytes capacity, std::span<const OpIndex> order,
                             Bytes upper, Effort& effort, Budget& budget);

}  // namespace berth::internal::spill

#endif  // BERTH_SPILL_CUTS_H_
