// berth/baselines.h -- the same problem handed to other solvers: what papers compare against.
//
//   berth::SolverOptions options;
//   options.solver = berth::Solver::kIlp;
//   const auto answer = berth::PlaceWithSolver(problem, options, budget);
//
// These are baselines and second opinions, not a way to fast plans; for that there is
// berth/place.h. They live in a library of their own, berth::baselines, since some need software that
// berth::place does without. Thread-safety: all functions here may be called from several threads
// on different arguments, except that the ILP is solved by one thread at a time.
#ifndef BERTH_BASELINES_H_
#define BERTH_BASELINES_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "berth/budget.h"
#include "berth/place.h"
#include "berth/problem.h"
#include "berth/result.h"

namespace [[gnu::visibility("default")]] berth {

enum class Solver {
  kIlp,      // TelaMalloc's integer program, by CBC or HiGHS.
  kCp,       // TelaMalloc's constraint program alone, by Gecode.
  kZ3,       // The same, by Z3.
  kCsp,      // Rectangle packing: an offset for each buffer in turn.
  kMetaCsp,  // Rectangle packing: above or below for each pair in turn.
};

struct SolverInfo {
  Solver solver;
  std::string_view name;     // As on the command line: "meta-csp".
  std::string_view summary;  // One sentence.
  std::string_view source;   // Paper and section.
  std::string engine;        // What solves it, with its version; empty: this build has none.
  std::string_view package;  // What a build needs for it; empty: nothing.
  [[nodiscard]] bool available() const { return !engine.empty(); }
};
// All solvers, also those that this build lacks, in the order of the enumeration.
[[nodiscard]] std::span<const SolverInfo> Solvers();
[[nodiscard]] const SolverInfo& Info(Solver solver);
// Nothing where no solver has that name.
[[nodiscard]] std::optional<Solver> SolverFromName(std::string_view name);

struct SolverOptions {
  Solver solver = Solver::kIlp;
  // Go on below the capacity until the height is proved least or the budget ends. Always so where
  // the problem has no capacity.
  bool minimize = false;
  std::uint64_t seed = 1;  // For solvers that draw random numbers.
  bool restarts = true;    // kCp: restarts after Luby's sequence, keeping nogoods.
  std::string backend;     // kIlp: "cbc" or "highs"; empty: the first that this build has.
  // Called from the calling thread. May be empty.
  std::function<void(const Progress&)> progress;
};

// Places the buffers of `problem` by the chosen solver alone; every plan is validated exactly.
//
// With a capacity, ends as soon as a plan fits or none can. PlaceAnswer::best is then what the
// solver itself has found; it has none if the budget ends before. Minimising begins with the plan
// of the greedy algorithms, from above (PlaceAnswer::algorithm says whether it stayed the best).
// PlaceAnswer::nodes are the solver's own: of branch and bound (kIlp), of search (kCp), conflicts
// (kZ3), buffers placed (kCsp), pairs decided (kMetaCsp).
//
// A verdict of kInfeasible, and a lower bound, is proved: by exact arithmetic in kCsp, kMetaCsp,
// kCp and kZ3. The ILP is solved in floating point; its word is taken only where the numbers,
// counted in what divides them all, are at most 2^20, so that tolerances cannot decide. Beyond, it
// can find plans and prove nothing.
//
// StopReason::kSize: too large for the solver to begin with; kAlgorithm: it ended without being
// able to tell. All but the ILP keep to the rule that the answer depends on the arguments alone
// unless time or cancellation ends the search; the ILP's depends on the version of its solver too.
// Errors: kInvalidProblem; kInvalidOptions for a backend with another name; kUnsupported for what
// this build lacks, naming what to install.
[[nodiscard]] Result<PlaceAnswer> PlaceWithSolver(const Problem& problem,
                                                  const SolverOptions& options, Budget& budget);

// The ILP as text in the CPLEX LP format, which CBC, CPLEX, Gurobi, HiGHS, SCIP and others read:
// does a plan fit the problem's capacity, or with `minimize`, or without a capacity, how low can it
// be? Its comment says what the variables mean. Needs no solver. Errors: kInvalidProblem;
// kUnsupported where numbers are too large for solvers to count exactly (2^53), where pins collide
// or a buffer does not fit the capacity by itself, as then there is nothing to ask.
[[nodiscard]] Result<std::string> WriteLp(const Problem& problem, bool minimize);

}  // namespace berth

#endif  // BERTH_BASELINES_H_
