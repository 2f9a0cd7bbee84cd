// baselines/encoded/ilp.h -- the integer program of TelaMalloc.
//
// Source: Maas et al., "TelaMalloc", ASPLOS 2023, Figure 5 and, for alignments, section 5.5. For
// each buffer its offset, counted in multiples of its alignment; for two that meet a binary for
// each region, exactly one of which is 1, and the region's constraint, which M switches off:
//
//     A_i pos_i + size_i <= M                                                          (1)
//     B_ij + C_ij = 1                                                                  (2)
//     A_i pos_i + size_i - M B_ij <= A_j pos_j      i below j, unless B                (3)
//     A_j pos_j + size_j - M C_ij <= A_i pos_i      j below i, unless C                (4)
//
// (the figure has "<" in (3) and (4), which would keep buffers from touching). To minimise, M in
// (1) is a variable. Windows give more than two regions; each has its own binary then.
//
// What a solver returns are offsets within its tolerances. Only its binaries are used: the regions
// they choose are difference constraints, whose least offsets are computed exactly. Where there are
// none, the solver stepped through its tolerance: the regions at fault are excluded by a new
// constraint, and it is asked again.
#ifndef BERTH_BASELINES_ENCODED_ILP_H_
#define BERTH_BASELINES_ENCODED_ILP_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "baselines/encoded/encoding.h"
#include "baselines/milp/model.h"
#include "baselines/milp/solve.h"
#include "berth/budget.h"
#include "berth/problem.h"
#include "berth/result.h"

namespace berth::internal {

struct IlpModel {
  milp::Model model;
  std::vector<milp::VariableIndex> positions;  // Parallel to Encoding::items.
  // For each pair, for each region: 1 where it is chosen.
  std::vector<std::vector<milp::VariableIndex>> regions;
  std::optional<milp::VariableIndex> height;  // In grains; where it is minimised.
};

// Plans of at most `capacity` grains; with `least_height` the lowest of them, which is known to be
// no lower than that. `problem` gives the names. No item may be too high for the capacity.
[[nodiscard]] IlpModel BuildIlp(const Problem& problem, const Encoding& encoding, Grains capacity,
                                std::optional<Grains> least_height);

// `offsets` in terms of the model, to begin with.
[[nodiscard]] std::vector<milp::Number> IlpStart(const Encoding& encoding, const IlpModel& ilp,
                                                 const std::vector<Grains>& offsets);

struct IlpAnswer {
  Decision decision;
  std::optional<Grains> bound;  // With a height: proved, no plan is lower.
};
// Solves the program. The verdict on the height is that of `capacity`; `bound` says more. Errors:
// as milp::Solve().
[[nodiscard]] Result<IlpAnswer> SolveIlp(const Encoding& encoding, Grains capacity, IlpModel ilp,
                                         milp::Backend backend, std::uint64_t seed, Budget& budget);

}  // namespace berth::internal

#endif  // BERTH_BASELINES_ENCODED_ILP_H_
