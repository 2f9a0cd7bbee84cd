// tools/berth/remedies.h -- what would make a plan fit, or lower it: found by asking the searches.
//
// A page that says why a plan is as large as it is should say what to do about it. Each remedy here
// was computed for the problem at hand; what was not found to help is not named. The searches have
// fixed limits of nodes, so that the page depends on the input alone.
#ifndef BERTH_TOOLS_BERTH_REMEDIES_H_
#define BERTH_TOOLS_BERTH_REMEDIES_H_

#include <optional>
#include <string>
#include <vector>

#include "berth/graph.h"
#include "berth/page.h"
#include "berth/place.h"
#include "berth/plan.h"
#include "tools/berth/peak.h"

namespace berth::internal {

// Of a placement: the capacity that works, what alignments and pins cost, what has to leave.
[[nodiscard]] std::vector<Remedy> PlacementRemedies(const Problem& problem,
                                                    const PlaceAnswer& answer);

// Of an order: a better one where it was not searched for, outputs written over inputs, and what
// one operator needs by itself.
[[nodiscard]] std::vector<Remedy> OrderRemedies(const Graph& graph, const PlanAnswer& plan,
                                                const ScheduleOptions& options, const Peak& peak,
                                                std::optional<Bytes> in_place_peak);

// Of a graph that does not fit `capacity` in the order of `plan`: what would have to leave and come
// back. None where a little search finds no plan.
[[nodiscard]] std::optional<Remedy> SpillRemedy(const Graph& graph, const Counting& counting,
                                                Bytes capacity, const PlanAnswer& plan);

// Why `problem` does not fit its capacity, where a little search finds that out.
[[nodiscard]] std::optional<Conflict> FindConflict(const Problem& problem, Outcome outcome);

// What the page says of the verifier, which has accepted what is shown.
[[nodiscard]] std::string Verdict(const Problem& problem, const std::optional<Placement>& best);

}  // namespace berth::internal

#endif  // BERTH_TOOLS_BERTH_REMEDIES_H_
