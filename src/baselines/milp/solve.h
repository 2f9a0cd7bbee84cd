// baselines/milp/solve.h -- hands a model (baselines/milp/model.h) to a solver that this build has.
//
// Solvers count in doubles. What they return is rounded and checked exactly, so a solution is one.
// What they prove rests on their tolerances: it counts only for models whose numbers are small
// against them (kMostTrusted); elsewhere SolveAnswer says so and claims nothing.
#ifndef BERTH_BASELINES_MILP_SOLVE_H_
#define BERTH_BASELINES_MILP_SOLVE_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "baselines/milp/model.h"
#include "berth/budget.h"
#include "berth/result.h"

namespace berth::internal::milp {

// What a proof is worth: tolerances are 1e-6 and smaller, so below 2^20 no rounding decides between
// two whole numbers.
inline constexpr Number kMostTrusted = Number{1} << 20;

enum class Status {
  kOptimal,     // `values` is a solution and none is better.
  kFeasible,    // `values` is a solution.
  kInfeasible,  // Proved: there is no solution.
  kUnknown,
};

struct SolveAnswer {
  Status status = Status::kUnknown;
  std::vector<Number> values;   // One for each variable; empty without a solution.
  Number objective = 0;         // At `values`.
  std::optional<Number> bound;  // Proved: no solution has a smaller objective.
  std::int64_t nodes = 0;
  // The solver called these a solution, within its tolerances, but rounded to whole numbers they
  // are none: for a caller who can repair them, or rule them out with a new constraint. Nothing is
  // claimed then. Empty otherwise.
  std::vector<Number> rejected;
  // The solver said optimal or infeasible, but the numbers are too large to take its word.
  bool distrusted = false;
};

struct SolveOptions {
  std::uint64_t seed = 1;
};

enum class Backend { kCbc, kHighs };

struct BackendInfo {
  Backend backend;
  std::string_view name;     // "CBC".
  std::string_view version;  // Of the library that this build has; empty: none.
  std::string_view package;  // What would have to be installed.
  [[nodiscard]] bool available() const { return !version.empty(); }
};
// All backends, in the order of the enumeration, whether this build has them or not.
[[nodiscard]] std::span<const BackendInfo> Backends();
// "cbc", "highs". Nothing where no backend has that name.
[[nodiscard]] std::optional<Backend> BackendFromName(std::string_view name);
// The first that is available.
[[nodiscard]] std::optional<Backend> DefaultBackend();
// The backend of that name; for an empty name the first that is available. Errors: kInvalidOptions
// for a name that no backend has, kUnsupported for one that this build lacks.
[[nodiscard]] Result<Backend> ChooseBackend(std::string_view name);

// Error: kUnsupported for a backend that this build lacks, naming what to install.
[[nodiscard]] Result<void> CheckAvailable(Backend backend);

// Solves `model` within `budget`, whose nodes are the solver's nodes. Cancellation and the clock
// are heeded between nodes and within linear programs. Single-threaded. Errors: as Validate() and
// CheckAvailable(). The answer depends on the arguments and the solver's version alone, unless time
// or cancellation ends the search.
[[nodiscard]] Result<SolveAnswer> Solve(const Model& model, Backend backend,
                                        const SolveOptions& options, Budget& budget);

}  // namespace berth::internal::milp

#endif  // BERTH_BASELINES_MILP_SOLVE_H_
