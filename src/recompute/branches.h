// recompute/branches.h -- a higher bound for one order, by branches of its choice of gaps.
//
// Where two gaps share an execution, the choice of gaps has both of them end before it. In truth one that ends
// later may have to be dropped once the other has ended, for the sake of what lies in between:
//
//   step        0   1   2   3   4   5   6   7   8   9
//   gap of a        |-----------|                       v makes a and b
//   gap of b            |-----------------------|
//   no room                         ^^^                 b cannot return together with a
//
// So either b is missing at some step after a has returned, and pays for an execution of its own, or b is in
// memory at all of these steps. These two cases are branches. The one of the least bound goes on to be
// divided, and the least bound of all holds.
#ifndef BERTH_RECOMPUTE_BRANCHES_H_
#define BERTH_RECOMPUTE_BRANCHES_H_

#include <cstdint>
#include <optional>

#include "berth/budget.h"
#include "recompute/gaps.h"
#include "recompute/model.h"

namespace berth::internal::recompute {

// What no sequence costs less than that has first executions in the order of `gaps`, at least the bound of
// `whole`, which is their answer with Depth::kProof. Ends once this is `enough`, when nothing is left to
// divide, after 128 choices, or with the budget. Nothing if no sequence fits.
[[nodiscard]] std::optional<std::int64_t> BoundByBranches(const Gaps& gaps, const Model& model,
                                                          const Gaps::Answer& whole,
                                                          std::int64_t enough, Budget& budget);

}  // namespace berth::internal::recompute

#endif  // BERTH_RECOMPUTE_BRANCHES_H_
