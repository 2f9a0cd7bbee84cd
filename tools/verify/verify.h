// tools/verify/verify.h -- checks a plan. Shares no code with the planner.
//
// The checker uses only the structs of berth/problem.h. It interprets gaps and windows by itself,
// does its own arithmetic, and accepts plans of any tool, however wrong they are.
#ifndef BERTH_TOOLS_VERIFY_VERIFY_H_
#define BERTH_TOOLS_VERIFY_VERIFY_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "berth/problem.h"

namespace berth::internal {

enum class FaultKind {
  kWrongCount,      // The number of offsets is wrong; nothing else is then checked.
  kNegative,        // The offset is below 0.
  kMisaligned,      // The offset is not a multiple of the alignment.
  kPinBroken,       // The buffer is pinned to another offset.
  kBeyondCapacity,  // The buffer ends above the capacity.
  kOverlap,         // Two buffers claim the same bytes at the same steps.
};

// One error in a plan.
struct Fault {
  FaultKind kind = FaultKind::kWrongCount;
  std::size_t buffer = 0;  // Index into Problem::buffers; 0 for kWrongCount.
  // kOverlap only: both buffers claim the bytes [lower, upper) throughout the steps [start, end).
  // With gaps, two buffers can overlap in several places: each is a separate fault. Bytes above the
  // maximum of Bytes are reported as that maximum.
  std::size_t other = 0;  // The second buffer; buffer < other.
  Step start = 0;
  Step end = 0;
  Bytes lower = 0;
  Bytes upper = 0;
  friend bool operator==(const Fault&, const Fault&) = default;
};

struct Report {
  // First the faults of single buffers, in order of the buffers; then the overlaps, in order of
  // time.
  std::vector<Fault> faults;
  std::int64_t more = 0;  // Number of further faults, not listed.
  Bytes height = 0;       // The largest offset + size; 0 without buffers.
  [[nodiscard]] bool ok() const { return faults.empty() && more == 0; }
};

inline constexpr std::size_t kDefaultMaxFaults = 100;

// Finds every fault of `offsets` (parallel to the buffers of `problem`, which must be valid),
// counts them all and lists the first `max_faults`. Offsets may have any value. Cost: O((n +
// max_faults) log n) for n buffers and gaps, however many overlaps there are.
[[nodiscard]] Report Verify(const Problem& problem, const std::vector<Bytes>& offsets,
                            std::size_t max_faults = kDefaultMaxFaults);

// One line, without a line break:  overlap: "a" and "b" share bytes [128, 256) at steps [3, 7)
[[nodiscard]] std::string Describe(const Fault& fault, const Problem& problem,
                                   const std::vector<Bytes>& offsets);

// All listed faults, one line each, and the number of further ones; or "no faults" and the height.
[[nodiscard]] std::string Describe(const Report& report, const Problem& problem,
                                   const std::vector<Bytes>& offsets);

}  // namespace berth::internal

#endif  // BERTH_TOOLS_VERIFY_VERIFY_H_
