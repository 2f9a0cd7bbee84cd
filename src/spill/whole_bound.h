// spill/whole_bound.h -- a lower bound for all orders, from storages that leave as a whole.
//
// A storage that is made before operator v and used after it, in every order, is live while v runs. If v
// does not use it, it is in memory then, or it is off chip as a whole. So what these storages exceed the
// room beside v by costs at least the least sum of sizes that frees it.
//
// Along a chain of operators v1, v2, ..., each of which comes after the one before in every order, this
// adds up. Between two of its uses that lie, in every order, on both sides of some of the chain's
// operators, a storage is kept throughout, or it is retrieved once more; and it is written once, however
// often it leaves. What to keep is a choice of gaps (memories/gap_selection.h):
//
//   uses of s     make      use                    use
//   chain              v1        v2      v3    v4
//   gaps of s         |--|      |-----------------|
#ifndef BERTH_SPILL_WHOLE_BOUND_H_
#define BERTH_SPILL_WHOLE_BOUND_H_

#include "berth/budget.h"
#include "spill/model.h"
#include "spill/search.h"

namespace berth::internal::spill {

// Bytes of avoidable traffic that no plan in any order has less than, 0 or more. Needs the rows of
// ancestors, and a capacity that fits each operator. Ends early, with what is proved by then, at `upper`
// or with the budget; 0 at once for graphs with too many operators and storages. Cost: O(operators x
// uses), then the search for the best choice.
[[nodiscard]] Bytes WholeBound(const Model& model, Bytes capacity, Bytes upper, Effort& effort,
                               Budget& budget);

}  // namespace berth::internal::spill

#endif  // BERTH_SPILL_WHOLE_BOUND_H_
