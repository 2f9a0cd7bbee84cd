// tools/berth/spilling.h -- the search for a plan with spills, checked by the verifier.
#ifndef BERTH_TOOLS_BERTH_SPILLING_H_
#define BERTH_TOOLS_BERTH_SPILLING_H_

#include <vector>

#include "berth/place.h"
#include "berth/spill.h"

namespace berth::internal {

// The search for one capacity from `orders`, or for the first of these alone. `place` is how
// addresses are found. The process ends if the verifier rejects the plan.
[[nodiscard]] Result<PlanAnswer> SolveSpills(const Graph& graph, const Counting& counting,
                                             Bytes capacity, std::vector<Order> orders,
                                             bool fixed_order, Budget& budget,
                                             const PlaceOptions& place = {});

}  // namespace berth::internal

#endif  // BERTH_TOOLS_BERTH_SPILLING_H_
