// tools/verify/verify.h -- checks a plan. Shares no code with the planner.
//
// The verifier uses only the structs of the public headers. It does its own arithmetic, interprets
// gaps, windows and lifetimes by itself, and accepts plans of any tool, however wrong they are.
//
//   const PlanReport report = VerifyPlan(graph, counting, capacity, plan);
//   for (const Fault& fault : report.faults) Print(Describe(fault, graph, plan));
//
// The plan of a graph is run: a memory in which every byte records its last write, an off-chip store
// for each tensor, and operators that check their inputs. Overlapping residencies, tensors retrieved
// without a valid copy, and lost results all show in what the operators find. Traffic is counted
// during the run.
//
// Operators may run again to make what was dropped. A value is known by its tensor and the operator
// that gave it, so what a repetition makes is the same value as before, provided that it found the
// same values itself: every execution is checked for exactly those that it finds in program order.
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
  // Of the order. The plan is not run then.
  kUnknownOperator,  // The order has a number that is no operator's.
  kRepeated,         // An operator appears twice, in an order alone.
  kMayNotRepeat,     // An operator runs again that may run only once.
  kMissing,          // An operator is missing.
  kNotMade,          // An operator needs a tensor that is created only later.
  kTooEarly,         // An operator runs before one that it must follow.
  kOtherBytes,       // An operator reads other bytes than in program order: an in-place write
                     // is on the wrong side of it.
  // Of what the plan is made of. Nothing else is then checked.
  kWrongCount,    // Of a table: not one residency for each buffer. Of a graph: not one memory.
  kBadResidency,  // A residency of no tensor that the plan should have, with steps outside the
                  // order (or, of a table, not those of the buffer), or two of a tensor at once.
  // Of addresses.
  kNegative,        // The offset is below 0.
  kMisaligned,      // The offset is not a multiple of the alignment.
  kPinBroken,       // The buffer is pinned to another offset.
  kBeyondCapacity,  // The residency ends above the capacity.
  kOverlap,         // Two residencies claim the same bytes at the same steps.
  // Found by running the plan.
  kAbsent,         // An operator needs a tensor that is not in memory: a retrieval is missing.
  kClobbered,      // An operator, or a spill, does not find the tensor's latest value.
  kWrongVersion,   // In a plan that runs operators again: an operator finds the tensor as another
                   // operator left it than in program order; or a result is left so at the end.
  kBrokenCopy,     // Both ends of a copy between memories do not hold the tensor while it is made.
  kNoCopy,         // The tensor is retrieved without a copy of its latest value.
  kFromNowhere,    // The residency begins neither by a retrieval nor by creation.
  kDeadSpill,      // The tensor is spilled although no operator needs it again.
  kNeedlessSpill,  // The tensor is spilled although its copy off chip is valid.
  kUselessResidency,  // No operator creates or uses the tensor in this residency.
  kLostResult,        // At the end a result is neither in memory nor off chip.
  // Of the figures that the plan states.
  kWrongHeight,
  kWrongPeak,
  kWrongTraffic,
  kWrongCost,  // Of running operators again: their number or their cost.
};
// "unknown-operator", "repeated", ...
[[nodiscard]] std::string_view ToString(FaultKind kind);

inline constexpr std::size_t kNone = static_cast<std::size_t>(-1);

// One error in a plan. Indices that a kind does not need are kNone, numbers 0.
struct Fault {
  FaultKind kind = FaultKind::kWrongCount;
  std::size_t residency = kNone;  // Of MemoryPlan::residencies; of a table also the buffer.
  std::size_t other = kNone;      // kOverlap: the second one; residency < other.
  TensorIndex tensor = kNone;     // Of a graph.
  // The operator at fault, or that finds it. kUnknownOperator: the number.
  OperatorIndex op = kNone;
  // kNotMade: the creator of the tensor. kTooEarly: the operator that must come first. kOtherBytes:
  // the last writer of the bytes that `op` would read, kNone if there is none. kWrongVersion: the
  // operator that left the tensor as it is found, kNone if none has written it.
  OperatorIndex other_op = kNone;
  // kOverlap: both claim the bytes throughout [start, end). Otherwise `start` is the step, of an
  // operator, or where the residency begins or ends.
  Step start = 0;
  Step end = 0;
  // kOverlap: both claim the bytes [lower, upper) of the memory. With gaps, two buffers can overlap
  // in several places: each is a separate fault. Bytes above the maximum of Bytes are reported as
  // that maximum. kBeyondCapacity: the capacity, and the end of the residency.
  Bytes lower = 0;
  Bytes upper = 0;
  // kWrongHeight, kWrongPeak, kWrongTraffic, kWrongCost.
  Bytes stated = 0;
  Bytes actual = 0;
  std::string_view detail = {};  // What in particular is wrong, where the kind leaves that open.
  friend bool operator==(const Fault&, const Fault&) = default;
};

struct PlanReport {
  // Those of the order, then those of single residencies in their order, then the overlaps in the
  // order of time, then what the run finds, step by step, then wrong figures.
  std::vector<Fault> faults;
  std::int64_t more = 0;  // Number of further faults, not listed.
  // As they really are, whatever the plan states; 0 where a fault leaves them unknown.
  Bytes height = 0;         // The largest offset + size; 0 without residencies or addresses.
  Bytes peak = 0;           // The most bytes resident at one step.
  Step peak_step = 0;       // The first step with the peak.
  std::vector<Bytes> live;  // Of a graph: the bytes resident at each step.
  Traffic traffic;
  Recomputed recomputed;
  [[nodiscard]] bool ok() const { return faults.empty() && more == 0; }
};

inline constexpr std::size_t kDefaultMaxFaults = 100;

// Finds every fault of `plan`, counts them all and lists the first `max_faults`. The table or graph
// must be valid; the plan may be arbitrary. The capacity is the one given, or else that of the table;
// without one, any height will do. Of a plan without addresses all but the addresses is checked.
// Cost: O((n + max_faults) log n) for n buffers, gaps, operators, their tensors and residencies,
// however many overlaps there are. `link`: the one that Traffic::cost is about, which is else not checked.
[[nodiscard]] PlanReport VerifyPlan(const Problem& table, const MemoryPlan& plan,
                                    std::size_t max_faults = kDefaultMaxFaults);
[[nodiscard]] PlanReport VerifyPlan(const Problem& table, std::optional<Bytes> capacity,
                                    const MemoryPlan& plan,
                                    std::size_t max_faults = kDefaultMaxFaults);
[[nodiscard]] PlanReport VerifyPlan(const Graph& graph, const Counting& counting,
                                    std::optional<Bytes> capacity, const MemoryPlan& plan,
                                    std::size_t max_faults = kDefaultMaxFaults,
                                    const Link* link = nullptr);
// How a residency begins that is a copy of another one of its tensor.
struct CopiedFrom {
  std::size_t source = 0;
  Step arrives = 0;    // The copy is there before the operator of this step.
  bool stays = false;  // The source is where the tensor is again once this residency has ended.
};
using Copies = std::vector<std::optional<CopiedFrom>>;

// The same, where the residencies number i with copied[i] begin with a copy of another one of their tensor: it
// begins when the residency does and has ended when it says. All copies between the same two operators are
// made together.
[[nodiscard]] PlanReport VerifyPlanWithCopies(const Graph& graph, const Counting& counting,
                                              const MemoryPlan& plan, const Copies& copied);

// The same of offsets alone, parallel to the buffers of `table`: they state no figures.
[[nodiscard]] PlanReport VerifyOffsets(const Problem& table, const std::vector<Bytes>& offsets,
                                       std::size_t max_faults = kDefaultMaxFaults);
// The same of an order alone. If each operator appears once, even if the order has other faults,
// peak and live are those of the shortest lifetimes: given inputs are live from step 0 through their last
// use, parameters throughout, as Counting says.
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
