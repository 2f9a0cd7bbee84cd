// berth/diff.h -- what changed from one plan to the next.
//
// Buffers are matched by id. For keeping plans under version control, or for continuous integration
// that fails when memory or traffic grows.
#ifndef BERTH_DIFF_H_
#define BERTH_DIFF_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "berth/plan_io.h"
#include "berth/problem.h"
#include "berth/result.h"

namespace [[gnu::visibility("default")]] berth {

// A buffer that both plans have, and that differs.
struct BufferChange {
  std::size_t before = 0;  // Index in the old plan.
  std::size_t after = 0;   // In the new one.
  bool resized = false;
  bool moved = false;     // Another offset, or another memory.
  bool retimed = false;   // Another lifetime.
  bool rehoused = false;  // Another memory: one of another name, where both plans have several.
};

struct PlanDiff {
  std::vector<BufferChange> changed;  // Those that grew most first, then by the new plan's order.
  std::vector<std::size_t> added;     // Indices in the new plan, largest first.
  std::vector<std::size_t> removed;   // In the old plan, largest first.
  std::size_t unchanged = 0;
  LoadBound before;  // The peaks: most bytes live at one step.
  LoadBound after;
  bool same_order = true;  // Of the operators, where both plans have one.
  // How many of the changed buffers grew, shrank, moved, or changed their lifetime.
  std::size_t grown = 0;
  std::size_t shrunk = 0;
  std::size_t moved = 0;
  std::size_t retimed = 0;
  std::size_t rehoused = 0;
  // Where a plan has several memories: all of both plans, by name, in the order of the new plan; then
  // those that are gone.
  struct MemoryChange {
    std::string name;
    std::optional<std::size_t> before = {};  // Index into PlanFile::memories; none: it is new.
    std::optional<std::size_t> after = {};   // None: it is gone.
  };
  std::vector<MemoryChange> memories = {};
  // Bytes of the buffers that changed their memory, from one to another of these.
  struct Transfer {
    std::size_t from = 0;  // Index into PlanFile::memories of the old plan,
    std::size_t to = 0;    // and of the new one.
    std::size_t buffers = 0;
    Bytes bytes = 0;  // As they are now.
    friend bool operator==(const Transfer&, const Transfer&) = default;
  };
  std::vector<Transfer> transfers = {};  // The most bytes first.
  // What they cost is of one kind: in the same unit, and of accesses, or the time of a run.
  bool same_cost_kind = true;
  [[nodiscard]] bool same() const { return changed.empty() && added.empty() && removed.empty(); }
};

// Error: kInvalidPlan, where one plan is for several memories, and the other for one. Cost: O(n log n).
[[nodiscard]] Result<PlanDiff> Compare(const PlanFile& before, const PlanFile& after);

// Both plans on one page, side by side, what changed marked (berth/page.h).
[[nodiscard]] std::string WritePage(const PlanFile& before, const PlanFile& after,
                                    const PlanDiff& diff);

}  // namespace berth

#endif  // BERTH_DIFF_H_
