// place/minimize.h -- the smallest capacity, with a proved bound.
#ifndef BERTH_PLACE_MINIMIZE_H_
#define BERTH_PLACE_MINIMIZE_H_

#include <cstdint>

#include "berth/budget.h"
#include "place/exact.h"
#include "place/incumbent.h"

namespace berth::internal {

// Lowers the plan of `incumbent`, which must have one, and raises its bound, until they meet,
// `node_limit` nodes are spent or the budget ends. A search that gives up changes neither. `search`
// is not too large. True if more nodes might have helped.
bool Minimize(ExactSearch& search, Incumbent& incumbent, std::int64_t node_limit, Budget& budget);

}  // namespace berth::internal

#endif  // BERTH_PLACE_MINIMIZE_H_
