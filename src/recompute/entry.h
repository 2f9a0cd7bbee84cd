// recompute/entry.h -- PlanWithRecomputation() for callers that have checked the graph already.
#ifndef BERTH_RECOMPUTE_ENTRY_H_
#define BERTH_RECOMPUTE_ENTRY_H_

#include <cstdint>

#include "berth/answer.h"
#include "berth/budget.h"
#include "berth/graph.h"
#include "berth/recompute.h"
#include "berth/result.h"

namespace berth::internal::recompute {

// Whether copies over `link` add up with what the operators of a valid graph cost. Error:
// kInvalidOptions; kInvalidGraph where ValidateTraffic() fails.
[[nodiscard]] Result<void> CheckLink(const Graph& graph, const Counting& counting,
                                     const Link& link);

// `graph` must be valid. No plan costs less than `known_bound`; 0: nothing is known.
[[nodiscard]] Result<PlanAnswer> PlanValid(const Graph& graph, const RecomputeOptions& options,
                                           std::int64_t known_bound, Budget& budget);

}  // namespace berth::internal::recompute

#endif  // BERTH_RECOMPUTE_ENTRY_H_
