// tools/berth/method.h -- what --algorithm names: an algorithm of berth/place.h, or a solver of
// berth/baselines.h, which a build may lack.
#ifndef BERTH_TOOLS_BERTH_METHOD_H_
#define BERTH_TOOLS_BERTH_METHOD_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/baselines.h"
#include "berth/budget.h"
#include "berth/graph.h"
#include "berth/olla.h"
#include "berth/place.h"
#include "berth/problem.h"
#include "berth/result.h"

namespace berth::cli {

struct Method {
  Algorithm algorithm = Algorithm::kAuto;
  std::optional<Solver> solver = {};  // Instead of the algorithm.
};

// The names of all solvers are known to every build. Nothing where nothing has that name.
[[nodiscard]] std::optional<Method> MethodFromName(std::string_view name);
[[nodiscard]] std::string_view MethodName(const Method& method);
[[nodiscard]] std::vector<std::string> MethodNames();

// Error: kUnsupported for a solver that this build lacks, saying what it needs.
[[nodiscard]] Result<void> CheckAvailable(const Method& method);

// What only solvers have.
struct MethodOptions {
  bool cp_restarts = true;
  std::string ilp_solver;  // Empty: the first there is.
};

// Place() or PlaceWithSolver(). Of `options`, a solver heeds minimize, seed and progress.
[[nodiscard]] Result<PlaceAnswer> PlaceBy(const Method& method, const Problem& problem,
                                          const PlaceOptions& options,
                                          const MethodOptions& method_options, Budget& budget);

// Whether this build has a solver for OLLA's integer program.
[[nodiscard]] bool HasOlla();
// As ScheduleByOlla() and PreplacePyramid(). Error: kUnsupported also where the build has no
// solvers.
[[nodiscard]] Result<OllaAnswer> OrderByOlla(const Graph& graph, const OllaOptions& options,
                                             Budget& budget);
[[nodiscard]] Result<Problem> Preplace(const Problem& problem);

// As WriteLp(). Error: kUnsupported also where the build has no solvers.
[[nodiscard]] Result<std::string> EncodeAsLp(const Problem& problem, bool minimize);

// One row for each solver: what --help and docs/options.md say.
struct SolverRow {
  std::string name;
  std::string summary;
  std::string source;
  std::string engine;  // Empty: not in this build.
  std::string package;
};
// None where the build has no solvers.
[[nodiscard]] std::vector<SolverRow> SolverRows();

}  // namespace berth::cli

#endif  // BERTH_TOOLS_BERTH_METHOD_H_
