// recompute/repeats.h -- the executions that several dropped gaps can share.
//
// What is dropped returns before the gap ends, so an operator that makes it runs again within the gap.
// One execution can serve all gaps that it lies in:
//
//   step        0   1   2   3   4   5   6   7   8   9
//   gap of a        |---------------|                   v makes a and b
//   gap of b            |-----------|
//   gap of a                        |---------------|
//   executions  v ..       ... v ...        .. v ..
//
// Time is cut where gaps end, for each operator on its own. In one period all gaps that need the
// operator pay for one execution together if any of them is dropped, and periods pay for different
// executions. A gap that begins a little before a cut counts only if it is dropped after the cut. But an
// input of v that was written over can have been made again before the gap: such a need cannot be cut off
// from the time since then. A gap that is known to be dropped after some step can be cut off until then.
#ifndef BERTH_RECOMPUTE_REPEATS_H_
#define BERTH_RECOMPUTE_REPEATS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/wide.h"
#include "memories/gap_selection.h"
#include "recompute/gap.h"
#include "recompute/model.h"

namespace berth::internal::recompute {

// If the storage of the gap is missing at some step later than `after`, `op` runs again before the gap
// ends: after that step, or (`since` is set) after `since`.
struct Need {
  std::size_t gap = 0;  // Index.
  Op op = 0;
  std::uint32_t after = 0;  // At least Gap::from, at most Gap::Latest().
  bool makes = false;       // `op` makes or writes its storage; else what that is made from.
  std::optional<std::uint32_t> since = {};  // A step, maybe before the gap.
};

// By operator, then by the end of the gap.
void SortByOperator(const std::vector<Gap>& gaps, std::vector<Need>& needs);

struct Repeats {
  std::vector<std::uint32_t>
      after;  // By gap: all prices hold if it is dropped later than this step.
  std::vector<std::int64_t> price;  // By gap: what it pays alone.
  std::vector<memories::SharedPrice> shared;
};

// Of gaps that are known to be missing at some step: one after this one. By gap, or empty.
using MissingAfter = std::vector<std::optional<std::uint32_t>>;

// A gap needs an operator at most once. All prices together are at most what any sequence costs that
// has first executions in the order of `gaps` and drops these gaps, among them those of `missing_after`, whose
// prices hold in any case. Needs of these that begin later are left out.
// Cost: O(n log n) in the needs.
[[nodiscard]] Repeats FindRepeats(const Model& model, const std::vector<Gap>& gaps,
                                  std::vector<Need> needs, const MissingAfter& missing_after = {});

}  // namespace berth::internal::recompute

#endif  // BERTH_RECOMPUTE_REPEATS_H_
