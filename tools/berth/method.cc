#include "tools/berth/method.h"

#include <array>
#include <cstddef>
#include <utility>

namespace berth::cli {
namespace {

// In the order of Solver.
constexpr std::array<std::string_view, 5> kSolverNames = {"ilp", "cp", "z3", "csp", "meta-csp"};

}  // namespace

std::optional<Method> MethodFromName(std::string_view name) {
  Method method;
  if (const auto algorithm = AlgorithmFromName(name)) {
    method.algorithm = *algorithm;
    return method;
  }
  for (std::size_t k = 0; k < kSolverNames.size(); ++k) {
    if (kSolverNames[k] != name) continue;
    method.solver = static_cast<Solver>(k);
    return method;
  }
  return std::nullopt;
}

std::string_view MethodName(const Method& method) {
  return method.solver ? kSolverNames[static_cast<std::size_t>(*method.solver)]
                       : Info(method.algorithm).name;
}

std::vector<std::string> MethodNames() {
  std::vector<std::string> names;
  for (const AlgorithmInfo& info : Algorithms()) names.emplace_back(info.name);
  names.insert(names.end(), kSolverNames.begin(), kSolverNames.end());
  return names;
}

#ifdef BERTH_WITH_SOLVERS

Result<void> CheckAvailable(const Method& method) {
  if (!method.solver || Info(*method.solver).available()) return {};
  const SolverInfo& info = Info(*method.solver);
  return Fail(ErrorCode::kUnsupported, "this build of Berth has no solver for " +
                                           std::string(info.name) + ": it needs " +
                                           std::string(info.package));
}

Result<PlaceAnswer> PlaceBy(const Method& method, const Problem& problem,
                            const PlaceOptions& options, const MethodOptions& method_options,
                            Budget& budget) {
  if (!method.solver) {
    PlaceOptions chosen = options;
    chosen.algorithm = method.algorithm;
    return Place(problem, chosen, budget);
  }
  SolverOptions chosen;
  chosen.solver = *method.solver;
  chosen.minimize = options.minimize;
  chosen.seed = options.seed;
  chosen.restarts = method_options.cp_restarts;
  chosen.backend = method_options.ilp_solver;
  chosen.progress = options.progress;
  return PlaceWithSolver(problem, chosen, budget);
}

bool HasOlla() { return Info(Solver::kIlp).available(); }

Result<OllaAnswer> OrderByOlla(const Graph& graph, const OllaOptions& options, Budget& budget) {
  return ScheduleByOlla(graph, options, budget);
}

Result<Problem> Preplace(const Problem& problem) { return PreplacePyramid(problem); }

Result<std::string> EncodeAsLp(const Problem& problem, bool minimize) {
  return WriteLp(problem, minimize);
}

std::vector<SolverRow> SolverRows() {
  std::vector<SolverRow> rows;
  for (const SolverInfo& info : Solvers()) {
    rows.push_back({std::string(info.name), std::string(info.summary), std::string(info.source),
                    info.engine, std::string(info.package)});
  }
  return rows;
}

#else

namespace {

tl::unexpected<Error> NoSolvers() {
  return Fail(ErrorCode::kUnsupported,
              "this build of Berth has no solvers: it was configured with "
              "-DBERTH_WITH_SOLVERS=OFF, or without CBC (Debian: coinor-libcbc-dev)");
}

}  // namespace

Result<void> CheckAvailable(const Method& method) {
  if (!method.solver) return {};
  return NoSolvers();
}

Result<PlaceAnswer> PlaceBy(const Method& method, const Problem& problem,
                            const PlaceOptions& options, const MethodOptions&, Budget& budget) {
  if (method.solver) return NoSolvers();
  PlaceOptions chosen = options;
  chosen.algorithm = method.algorithm;
  return Place(problem, chosen, budget);
}

bool HasOlla() { return false; }

Result<OllaAnswer> OrderByOlla(const Graph&, const OllaOptions&, Budget&) { return NoSolvers(); }

Result<Problem> Preplace(const Problem&) { return NoSolvers(); }

Result<std::string> EncodeAsLp(const Problem&, bool) { return NoSolvers(); }

std::vector<SolverRow> SolverRows() { return {}; }

#endif

}  // namespace berth::cli
