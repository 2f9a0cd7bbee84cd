// baselines/encoded/cp.h -- TelaMalloc's constraint program alone, by general solvers.
//
// Source: Maas et al., "TelaMalloc", ASPLOS 2023, section 5.1 and, for alignments, 5.5: an integer
// pos(X) for each buffer; for two that meet the choices B(X, Y) and B(Y, X), one or the other, each
// of which implies that one lies below the other. Windows give more than two regions; exactly one
// of them is chosen then.
//
// The paper hands this to CP-SAT. Gecode propagates bounds and branches on the choices, those first
// whose propagators have failed most, else those of the largest rectangles; once all are made, the
// least positions are a plan. Z3 learns clauses over the same formula, which is the nearer relative
// of CP-SAT.
#ifndef BERTH_BASELINES_ENCODED_CP_H_
#define BERTH_BASELINES_ENCODED_CP_H_

#include <cstdint>

#include "baselines/encoded/encoding.h"
#include "berth/budget.h"

namespace berth::internal {

struct CpOptions {
  std::uint64_t seed = 1;  // Of Z3; Gecode draws no random numbers here.
  bool restarts = true;    // Luby's sequence, keeping what failed as nogoods.
};

// "" for a solver that this build lacks; calling it then is a mistake.
[[nodiscard]] const char* GecodeVersion();
[[nodiscard]] const char* Z3Version();

// Gecode's integers end at 2^31 - 3.
inline constexpr Grains kMostGrainsOfGecode = (Grains{1} << 31) - 3;

// Looks for a plan of at most `capacity` grains, at most kMostGrainsOfGecode. A node is Gecode's.
// Deterministic unless the budget ends by time.
[[nodiscard]] Decision DecideByGecode(const Encoding& encoding, Grains capacity,
                                      const CpOptions& options, std::int64_t node_limit,
                                      Budget& budget);

// The same for any capacity. A node is a conflict of Z3's.
[[nodiscard]] Decision DecideByZ3(const Encoding& encoding, Grains capacity,
                                  const CpOptions& options, std::int64_t node_limit,
                                  Budget& budget);

}  // namespace berth::internal

#endif  // BERTH_BASELINES_ENCODED_CP_H_
