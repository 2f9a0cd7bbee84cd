// baselines/milp/backend.h -- what solve.cc asks of each solver; one file each implements it.
#ifndef BERTH_BASELINES_MILP_BACKEND_H_
#define BERTH_BASELINES_MILP_BACKEND_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "baselines/milp/model.h"
#include "baselines/milp/solve.h"
#include "berth/budget.h"

namespace berth::internal::milp {

// What a solver says, in its own numbers.
struct RawAnswer {
  enum class Claim { kOptimal, kInfeasible, kNothing };
  Claim claim = Claim::kNothing;
  std::vector<double> values;   // Of the best solution; empty: none.
  std::optional<double> bound;  // On the objective.
};

// The model is valid and not empty. Spends a node of `budget` for each of the solver's.
[[nodiscard]] RawAnswer SolveByCbc(const Model& model, const SolveOptions& options, Budget& budget);
[[nodiscard]] RawAnswer SolveByHighs(const Model& model, const SolveOptions& options,
                                     Budget& budget);

// The versions, "" for a solver that this build lacks.
[[nodiscard]] const char* CbcVersion();
[[nodiscard]] const char* HighsVersion();

}  // namespace berth::internal::milp

#endif  // BERTH_BASELINES_MILP_BACKEND_H_
