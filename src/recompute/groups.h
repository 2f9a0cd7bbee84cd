// recompute/groups.h -- operators that are best run again together, as one.
//
// A tensor that is written in place exists in several versions, which are read by operators in between:
//
//   x = normalize(a);  y = copy(x);  relu(x)      x and y are needed again, but not x before relu()
//
// What brings x and y back at the least cost is all three in a row, and changes of one execution at a
// time hardly find it. So the search for sequences also runs on a smaller model, in which such
// operators are one. Its sequences are sequences of the whole model, too; it has no others, so what is
// proved of it is not proved of the whole model.
#ifndef BERTH_RECOMPUTE_GROUPS_H_
#define BERTH_RECOMPUTE_GROUPS_H_

#include <optional>
#include <vector>

#include "recompute/model.h"
#include "recompute/sequence.h"

namespace berth::internal::recompute {

struct Groups {
  // Its operators are groups. It has the same storages, with fewer versions.
  Model model;
  std::vector<std::vector<Op>> members;  // By group, in the order in which they run.
  std::vector<Op> group_of;              // By operator.
  std::vector<std::vector<Op>> orders;   // Those given, as orders of groups.
};

// Groups the makers and writers of each storage that can be made again with those that read its earlier
// versions, unless that contradicts one of `orders`, or one group needs more than `capacity`. Nothing if
// no operators are grouped. Cost: O(n log n) in all that operators touch, for each of at most 16 rounds.
[[nodiscard]] std::optional<Groups> FindGroups(const Model& model,
                                               const std::vector<std::vector<Op>>& orders,
                                               Bytes capacity);

// A sequence of `groups.model` as one of `model`. With an `order` first executions are in that order: it
// must be one of those of FindGroups(), `sequence` must have first executions in the same order of groups,
// and what it becomes may be invalid, or need more memory.
[[nodiscard]] Sequence Ungroup(const Model& model, const Groups& groups, const Sequence& sequence,
                               const std::vector<Op>* order);

}  // namespace berth::internal::recompute

#endif  // BERTH_RECOMPUTE_GROUPS_H_
