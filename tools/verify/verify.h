// tools/verify/verify.h -- checks plans. Shares no code with the planner.
//
// The verifier uses only the structs of the public headers. It does its own arithmetic, interprets
// gaps, windows and lifetimes by itself, and accepts plans of any tool, however wrong they are.
//
//   const PlanReport report = VerifyPlan(graph, counting, capacity, plan);
//   for (const Fault& fault : report.faults) Print(Describe(fault, graph, plan));
//
// The plan of a graph is run: a memory in which every byte records its last write, an off-chip
// store for each tensor, and operators that check their inputs. Overlapping residencies, stale or
// missing copies and lost results all show in what the operators find. Traffic is counted during
// the run.
#ifndef BERTH_TOOLS_VERIFY_VERIFY_H_
#define BERTH_TOOLS_VERIFY_VERIFY_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/answer.h"
#include "berth/graph.h"
#include "berth/problem.h"

namespace berth::verify {

enum class FaultKind {
  // Faults of the order. The plan is not run then.
  kUnknownOperator,  // The order has a number that is no operator's.
  kRepeated,         // An operator appears twice.
  kMissing,          // An operator is missing.
  kNotMade,          // An operator needs a tensor that is created only later.
  kTooEarly,         // An operator runs before one that it must follow.
  kOtherBytes,       // An operator reads other bytes than in program order: an in-place
                     // write is on the wrong side of it.
  // Faults of the residencies. Nothing else is then checked.
  kWrongCount,    // Table: not one residency for each buffer. Graph: not one memory.
  kBadResidency,  // A residency without a valid tensor, with steps outside the order
                  // (of a table: other than the buffer's), or overlapping another.
  // Faults of addresses.
  kNegative,        // The offset is below 0.
  kMisaligned,      // The offset is not a multiple of the alignment.
  kPinBroken,       // The buffer is pinned to another offset.
  kBeyondCapacity,  // The residency ends above the capacity.
  kOverlap,         // Two residencies claim the same bytes at the same steps.
  // Faults found by running the plan.
  kAbsent,            // An operator needs a tensor that is not in memory.
  kClobbered,         // An operator, or a spilled copy, does not have the tensor's
                      // latest value.
  kNoCopy,            // The tensor is retrieved without a copy of its latest value.
  kFromNowhere,       // The residency begins neither by a retrieval nor by creation.
  kDeadSpill,         // The tensor is spilled although no operator needs it again.
  kNeedlessSpill,     // The tensor is spilled although its copy off chip is valid.
  kUselessResidency,  // No operator creates or uses the tensor in this residency.
  kLostResult,        // At the end a result is neither in memory nor off chip.
  // Faults of the stated figures.
  kWrongHeight,
  kWrongPeak,
  kWrongTraffic,
};
// "unknown-operator", "repeated", ...
[[nodiscard]] std::string_view ToString(FaultKind kind);

inline constexpr std::size_t kNone = static_cast<std::size_t>(-1);

// One error in a plan. Indices that a kind does not need are kNone, numbers 0.
struct Fault {
  FaultKind kind = FaultKind::kWrongCount;
  std::size_t residency = kNone;  // Index in MemoryPlan::residencies; of a table also the buffer.
  std::size_t other = kNone;      // kOverlap: the second one; residency < other.
  TensorIndex tensor = kNone;     // Of a graph.
  // The operator at fault, or the one that finds it. kUnknownOperator: the number.
  OperatorIndex op = kNone;
  // kNotMade: the creator of the tensor. kTooEarly: the operator that must come first. kOtherBytes:
  // the last writer of the bytes that `op` would read, or kNone before any write.
  OperatorIndex other_op = kNone;
  // kOverlap: both claim the bytes throughout [start, end). Otherwise `start` is the step of an
  // operator, or the step at which the residency begins or ends.
  Step start = 0;
  Step end = 0;
  // kOverlap: both claim the bytes [lower, upper) of the memory. With gaps, two buffers can overlap
  // in several places: each is a separate fault. Bytes above the maximum of Bytes are reported as
  // that maximum. kBeyondCapacity: the capacity, and the end of the residency.
  Bytes lower = 0;
  Bytes upper = 0;
  // kWrongHeight, kWrongPeak, kWrongTraffic.
  Bytes stated = 0;
  Bytes actual = 0;
  std::string_view detail = {};  // Details, if the kind alone does not say what is wrong.
  friend bool operator==(const Fault&, const Fault&) = default;
};

struct PlanReport {
  // In this order: faults of the order; of single residencies, in their order; overlaps, in order
  // of time; faults of the run, step by step; wrong figures.
  std::vector<Fault> faults;
  std::int64_t more = 0;  // Number of further faults, not listed.
  // The actual figures, whatever the plan states; 0 if a fault leaves them unknown.
  Bytes height = 0;         // The largest offset + size; 0 without residencies or addresses.
  Bytes peak = 0;           // The largest number of bytes resident at one step.
  Step peak_step = 0;       // The first step with the peak.
  std::vector<Bytes> live;  // Of a graph: bytes resident at each step.
  Traffic traffic;
  [[nodiscard]] bool ok() const { return faults.empty() && more == 0; }
};

inline constexpr std::size_t kDefaultMaxFaults = 100;

// Finds every fault of `plan`, counts them all and lists the first `max_faults`. The table or graph
// must be valid; the plan may be arbitrary. The capacity is that of the table, or the given one;
// without one, any height is accepted. A plan without addresses is checked in all other respects.
// Cost: O((n + max_faults) log n) for n buffers, gaps, operators, their tensors and residencies,
// however many overlaps there are.
[[nodiscard]] PlanReport VerifyPlan(const Problem& table, const MemoryPlan& plan,
                                    std::size_t max_faults = kDefaultMaxFaults);
[[nodiscard]] PlanReport VerifyPlan(const Graph& graph, const Counting& counting,
                                    std::optional<Bytes> capacity, const MemoryPlan& plan,
                                    std::size_t max_faults = kDefaultMaxFaults);

// The same for offsets alone, parallel to the buffers of `table`; no figures are checked.
[[nodiscard]] PlanReport VerifyOffsets(const Problem& table, const std::vector<Bytes>& offsets,
                                       std::size_t max_faults = kDefaultMaxFaults);
// The same for an order alone. If each operator appears once, even if the order has other faults,
// peak and live are those of the shortest lifetimes: counted inputs are live from step 0 through
// their last use, parameters throughout, as Counting says.
[[nodiscard]] PlanReport VerifyOrder(const Graph& graph, const Order& order,
                                     const Counting& counting = {},
                                     std::size_t max_faults = kDefaultMaxFaults);

// One line, without a line break:  overlap: "a" and "b" share bytes [128, 256) at steps [3, 7)
[[nodiscard]] std::string Describe(const Fault& fault, const Problem& table,
                                   const MemoryPlan& plan);
[[nodiscard]] std::string Describe(const Fault& fault, const Graph& graph, const MemoryPlan& plan);

// All listed faults, one line each, and the number of further ones; or "no faults" and the height.
[[nodiscard]] std::string Describe(const PlanReport& report, const Problem& table,
                                   const MemoryPlan& plan);
[[nodiscard]] std::string Describe(const PlanReport& report, const Graph& graph,
                                   const MemoryPlan& plan);

// The plan that VerifyOffsets() and VerifyOrder() check, for Describe().
[[nodiscard]] MemoryPlan AsPlan(const Problem& table, const std::vector<Bytes>& offsets);
[[nodiscard]] MemoryPlan AsPlan(const Order& order);

}  // namespace berth::verify

#endif  // BERTH_TOOLS_VERIFY_VERIFY_H_
