// tools/verify/verify_spill.h -- checks a plan with spills. Shares no code with the planner.
//
// The checker shares only the structs of berth/graph.h and berth/spill.h with the rest of Berth. It
// runs the plan: a memory whose every byte records its last write, an off-chip store for each
// tensor, and operators that check their inputs. Overlapping addresses, tensors retrieved without a
// valid copy, and missing results all show in what the operators find. Traffic is counted during
// the run.
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
  kBadResidency,      // No counted tensor, steps outside the order, or overlapping
                      // residencies of a tensor; nothing else is then checked.
  kBeyondCapacity,    // The residency ends above the capacity or begins below 0.
  kMisaligned,        // The offset is not a multiple of the tensor's alignment.
  kOverlap,           // The residency shares bytes with another one at the same steps.
  kAbsent,            // An operator needs a tensor that is not in memory: a retrieval is missing.
  kClobbered,         // An operator finds bytes that are not the tensor's latest value.
  kNoCopy,            // The tensor is retrieved without a copy of its latest value.
  kFromNowhere,       // The residency begins neither by a retrieval nor by creation.
  kDeadSpill,         // The tensor is spilled although no operator needs it again.
  kNeedlessSpill,     // The tensor is spilled although its copy off chip is valid.
  kUselessResidency,  // No operator creates or uses the tensor in this residency.
  kLostResult,        // At the end a result is neither in memory nor off chip.
  kWrongTraffic,      // The stated traffic differs from the actual traffic.
  kWrongHeight,       // The stated height differs from the actual height.
};

struct SpillFault {
  SpillFaultKind kind = SpillFaultKind::kBadOrder;
  std::size_t residency = 0;  // Index in the plan; the number of residencies: none.
  std::size_t other = 0;      // kOverlap: the second residency.
  TensorIndex tensor = 0;     // The number of tensors: none.
  OperatorIndex op = 0;       // kAbsent, kClobbered; else the number of operators.
  Step step = 0;
  friend bool operator==(const SpillFault&, const SpillFault&) = default;
};

struct SpillReport {
  static constexpr std::size_t kMostFaults = 100;
  std::vector<SpillFault> faults;  // In the order found, at most kMostFaults.
  bool more = false;               // There are further ones.
  Traffic traffic;                 // As counted during the run.
  Bytes height = 0;
  [[nodiscard]] bool ok() const { return faults.empty(); }
};

// Finds the faults of `plan`. `graph` must be valid; the plan may be arbitrary. Cost: quadratic in
// the residencies in the worst case, for overlaps, plus the pieces that operators examine.
[[nodiscard]] SpillReport VerifySpillPlan(const Graph& graph, const Counting& counting,
                                          std::optional<Bytes> capacity, const SpillPlan& plan);

// One line:  absent: operator "join" at step 3 needs tensor "x", which is not in memory
[[nodiscard]] std::string Describe(const SpillFault& fault, const Graph& graph,
                                   const SpillPlan& plan);

}  // namespace berth::internal

#endif  // BERTH_TOOLS_VERIFY_VERIFY_SPILL_H_
