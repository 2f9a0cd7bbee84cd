// tools/verify/verify.h -- does this plan hold? Asked of nobody who made it.
//
// The checker shares the structs of berth/problem.h with the rest of Berth and nothing else: no
// line of code, no library. It reads gaps and windows for itself, does its own arithmetic, and
// takes plans from anywhere, Berth's or another tool's, however wrong they are.
#ifndef BERTH_TOOLS_VERIFY_VERIFY_H_
#define BERTH_TOOLS_VERIFY_VERIFY_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "berth/problem.h"

namespace berth::verify {

enum class FaultKind {
  kWrongCount,      // Not one offset for each buffer; nothing else is then checked.
  kNegative,        // The offset is below 0.
  kMisaligned,      // The offset is not a multiple of the alignment.
  kPinBroken,       // The buffer is pinned to another offset.
  kBeyondCapacity,  // The buffer ends above the capacity.
  kOverlap,         // Two buffers claim the same bytes at the same steps.
};

// One thing wrong with a plan. Which fields mean something depends on the kind.
struct Fault {
  FaultKind kind = FaultKind::kWrongCount;
  std::size_t buffer = 0;  // Index into Problem::buffers; not for kWrongCount.
  std::size_t other = 0;   // kOverlap: the second buffer; buffer < other.
  // kOverlap: both claim the bytes [lower, upper) throughout the steps [start, end). A pair whose
  // gaps make it overlap in several places is one fault, and these are its first steps.
  Step start = 0;
  Step end = 0;
  Bytes lower = 0;
  Bytes upper = 0;
  friend bool operator==(const Fault&, const Fault&) = default;
};

struct Report {
  // In this order: the faults of single buffers in the order of the buffers, then the overlaps in
  // the order of time (start, then buffer, then other).
  std::vector<Fault> faults;
  // True where `max_faults` cut the list short: the plan has at least one more fault.
  std::int64_t more = 0;  // How many faults are not listed.
  // The largest offset + size, 0 without buffers; capped at the largest Bytes.
  Bytes height = 0;
  [[nodiscard]] bool ok() const { return faults.empty() && more == 0; }
};

inline constexpr std::size_t kDefaultMaxFaults = 100;

// Finds every fault of `offsets` (parallel to the buffers of `problem`, which must be valid) and
// lists the first `max_faults`. Cost: O((n + k) log n) for n lifetimes and gaps and k pairs that
// overlap.
[[nodiscard]] Report Verify(const Problem& problem, const std::vector<Bytes>& offsets,
                            std::size_t max_faults = kDefaultMaxFaults);

// One line, without a line break:  overlap: "a" and "b" share bytes [128, 256) at steps [3, 7)
[[nodiscard]] std::string Describe(const Fault& fault, const Problem& problem,
                                   const std::vector<Bytes>& offsets);

// All faults, one line each, and how many more there are; or that there are none, and the height.
[[nodiscard]] std::string Describe(const Report& report, const Problem& problem,
                                   const std::vector<Bytes>& offsets);

}  // namespace berth::verify

#endif  // BERTH_TOOLS_VERIFY_VERIFY_H_
