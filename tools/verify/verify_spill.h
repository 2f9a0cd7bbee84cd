// tools/verify/verify_spill.h -- does a plan with spills hold? Asked of nobody who made it.
//
// The checker shares the structs of berth/graph.h and berth/spill.h with the rest of Berth and
// nothing else. It runs the plan: a memory whose every byte knows what was written to it last, a
// store off chip for each tensor, and operators that look whether they find what they should. That
// the addresses do not overlap, that what comes in was written out before and is the latest value,
// that results get out: all shows in what the operators find. Traffic is counted as it happens.
#ifndef BERTH_TOOLS_VERIFY_VERIFY_SPILL_H_
#define BERTH_TOOLS_VERIFY_VERIFY_SPILL_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "berth/graph.h"
#include "berth/spill.h"

namespace berth::internal {

enum class SpillFaultKind {
  kBadOrder,          // Not a valid order; nothing else is then checked.
  kBadResidency,      // A tensor that is none or not counted, or steps outside the order, or two
                      // residencies of a tensor at once; nothing else is then checked.
  kBeyondCapacity,    // It ends above the capacity, or begins below 0.
  kMisaligned,        // Its offset is no multiple of the tensor's alignment.
  kOverlap,           // It shares bytes with another residency of the same steps.
  kAbsent,            // An operator needs a tensor that is not in memory: a retrieve is missing.
  kClobbered,         // An operator finds bytes that are not the tensor's latest value.
  kNoCopy,            // It comes in but was never written out, or not since its last write.
  kFromNowhere,       // It begins without coming in, and not with the operator that makes it.
  kDeadSpill,         // It is written out though nobody needs it again.
  kNeedlessSpill,     // It is written out though the copy off chip is the latest value.
  kUselessResidency,  // It is in memory but no operator makes or uses it there.
  kLostResult,        // At the end a result is neither in memory nor off chip.
  kWrongTraffic,      // The plan states other traffic than happens.
  kWrongHeight,       // The plan states another height.
};

struct SpillFault {
  SpillFaultKind kind = SpillFaultKind::kBadOrder;
  std::size_t residency = 0;  // Of the plan; the number of residencies where it is none.
  std::size_t other = 0;      // kOverlap: the second residency.
  TensorIndex tensor = 0;     // The number of tensors where it is none.
  OperatorIndex op = 0;       // kAbsent, kClobbered: who finds it; else the number of operators.
  Step step = 0;
  friend bool operator==(const SpillFault&, const SpillFault&) = default;
};

struct SpillReport {
  static constexpr std::size_t kMostFaults = 100;
  std::vector<SpillFault> faults;  // As they are found, the first kMostFaults.
  bool more = false;               // There are others.
  Traffic traffic;                 // As it happens.
  Bytes height = 0;
  [[nodiscard]] bool ok() const { return faults.empty(); }
};

// Finds the faults of `plan`. `graph` must be valid; the plan may be anything. Cost: the
// residencies squared at worst, for overlaps, and the pieces that each operator looks at.
[[nodiscard]] SpillReport VerifySpillPlan(const Graph& graph, const Counting& counting,
                                          std::optional<Bytes> capacity, const SpillPlan& plan);

// One line:  absent: operator "join" at step 3 needs tensor "x", which is not in memory
[[nodiscard]] std::string Describe(const SpillFault& fault, const Graph& graph,
                                   const SpillPlan& plan);

}  // namespace berth::internal

#endif  // BERTH_TOOLS_VERIFY_VERIFY_SPILL_H_
