// spill/entry.h -- PlanWithSpills() for callers that have checked and compiled the graph already.
#ifndef BERTH_SPILL_ENTRY_H_
#define BERTH_SPILL_ENTRY_H_

#include "berth/answer.h"
#include "berth/budget.h"
#include "berth/graph.h"
#include "berth/result.h"
#include "berth/spill.h"
#include "spill/model.h"
#include "spill/search.h"

namespace berth::internal::spill {

// As FindLeastMemory(), of the graph of `model`.
[[nodiscard]] LeastMemory LeastOf(const Model& model);

// What other searches know of the same plans.
struct Known {
  Bytes traffic_bound = 0;  // No plan has less.
  Bytes traffic = kNoCost;  // There is a plan with addresses that has this: only less counts.
};

// As PlanWithSpills(). `graph` must be valid, `model` is made of it without ancestors, and
// `seconds` is how long both took: to make and check the last plan takes a multiple of that. Where nothing
// has less traffic than what is known, the answer may have no plan, with kUnknown.
[[nodiscard]] Result<PlanAnswer> PlanValid(const Graph& graph, const SpillOptions& options,
                                           Model model, double seconds, const Known& known,
                                           Budget& budget);

}  // namespace berth::internal::spill

#endif  // BERTH_SPILL_ENTRY_H_
