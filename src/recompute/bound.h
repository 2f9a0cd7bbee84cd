// recompute/bound.h -- a lower bound for all orders, from what must be made again while one operator
// runs.
//
// In every order operator v first runs after a set S of operators that contains all it waits for and
// none that wait for it. A storage with its maker in S and a use outside S is needed later. It is in
// memory while v runs, or its maker runs again, at a cost that what it makes shares by size. With a price
// for each byte beside what v needs,
//
//   sum over the storages of min(price * size, cost) - price * (capacity - need(v))
//
// is at most the cost of recomputation, for any price (Lagrangian relaxation); its minimum over all S
// is a minimum cut (schedule/cut.h). What cannot be made again has no cost that would bound its price:
// if such storages alone exceed the capacity, nothing fits.
#ifndef BERTH_RECOMPUTE_BOUND_H_
#define BERTH_RECOMPUTE_BOUND_H_

#include <cstdint>
#include <vector>

#include "berth/budget.h"
#include "recompute/model.h"
#include "recompute/work.h"

namespace berth::internal::recompute {

struct CutAnswer {
  std::int64_t bound = 0;  // No sequence within the capacity costs less.
  bool infeasible = false;
};

// `order`, a valid one, says where to look first. Ends early once the bound reaches `upper`. Cost: about
// as many minimum cuts as steps near the peak, some 0.1 ms each for 500 operators.
[[nodiscard]] CutAnswer CutBound(const Model& model, Bytes capacity, const std::vector<Op>& order,
                                 std::int64_t upper, Work& work, Budget& budget);

}  // namespace berth::internal::recompute

#endif  // BERTH_RECOMPUTE_BOUND_H_
