// COIN-OR's branch and cut, with the strategy of its own command line: preprocessing, cuts and
// heuristics as they come.
//
// Limits. Two event handlers ask the budget: one between nodes, which also counts them, and one
// within linear programs, at each refactorization. A linear program that was ended like that looks
// to the rest of the solver like one that failed, so whatever it concludes afterwards is dropped:
// `stopped` says so.
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "baselines/milp/backend.h"

#ifdef BERTH_HAS_CBC

#include <coin/CbcConfig.h>

#include <coin/CbcEventHandler.hpp>
#include <coin/CbcModel.hpp>
#include <coin/CbcSolver.hpp>
#include <coin/ClpEventHandler.hpp>
#include <coin/CoinPackedMatrix.hpp>
#include <coin/OsiClpSolverInterface.hpp>

#include "base/sanitizer.h"

#if BERTH_ADDRESS_SANITIZER
#include <sanitizer/lsan_interface.h>
#endif

namespace berth::internal::milp {
namespace {

#if BERTH_ADDRESS_SANITIZER
using IgnoreLeaks = __lsan::ScopedDisabler;
#else
struct IgnoreLeaks {
  IgnoreLeaks() {}
};
#endif

// CBC copies handlers; all copies share this.
struct Watch {
  Budget& budget;
  bool stopped = false;

  bool TimeIsUp() {
    stopped = stopped || budget.TimeIsUp();
    return stopped;
  }
};

class NodeHandler : public CbcEventHandler {
 public:
  explicit NodeHandler(Watch& watch) : watch_(watch) {}
  [[nodiscard]] CbcEventHandler* clone() const override { return new NodeHandler(*this); }
  CbcAction event(CbcEvent what) override {
    if (what == node) watch_.stopped = !watch_.budget.SpendNode() || watch_.stopped;
    return watch_.TimeIsUp() ? stop : noAction;
  }

 private:
  Watch& watch_;
};

class SimplexHandler : public ClpEventHandler {
 public:
  explicit SimplexHandler(Watch& watch) : watch_(watch) {}
  [[nodiscard]] ClpEventHandler* clone() const override { return new SimplexHandler(*this); }
  int event(Event what) override {
    return what == endOfFactorization && watch_.TimeIsUp() ? 0 : -1;
  }

 private:
  Watch& watch_;
};

double ToDouble(Number number) {
  if (number >= kInfinity) return COIN_DBL_MAX;
  if (number <= -kInfinity) return -COIN_DBL_MAX;
  return static_cast<double>(number);
}

void Load(const Model& model, OsiClpSolverInterface& solver) {
  const std::size_t columns = model.variables.size();
  const std::size_t rows = model.constraints.size();
  std::vector<double> lower(columns);
  std::vector<double> upper(columns);
  std::vector<double> cost(columns, 0.0);
  for (const VariableIndex v : model.variables.indices()) {
    lower[v.position()] = ToDouble(model.variables[v].lower);
    upper[v.position()] = ToDouble(model.variables[v].upper);
  }
  for (const Term& term : model.objective) {
    cost[term.variable.position()] = static_cast<double>(term.coefficient);
  }
  std::vector<double> row_lower(rows);
  std::vector<double> row_upper(rows);
  std::vector<int> row_of;
  std::vector<int> column_of;
  std::vector<double> coefficients;
  for (const ConstraintIndex c : model.constraints.indices()) {
    const Constraint& constraint = model.constraints[c];
    row_lower[c.position()] = ToDouble(constraint.lower);
    row_upper[c.position()] = ToDouble(constraint.upper);
    for (const Term& term : constraint.terms) {
      row_of.push_back(c.value());
      column_of.push_back(term.variable.value());
      coefficients.push_back(static_cast<double>(term.coefficient));
    }
  }
  CoinPackedMatrix matrix(true, row_of.data(), column_of.data(), coefficients.data(),
                          static_cast<CoinBigIndex>(coefficients.size()));
  matrix.setDimensions(static_cast<int>(rows), static_cast<int>(columns));
  solver.loadProblem(matrix, lower.data(), upper.data(), cost.data(), row_lower.data(),
                     row_upper.data());
  for (const VariableIndex v : model.variables.indices()) {
    if (model.variables[v].integer) solver.setInteger(v.value());
  }
}

// Values of a start find their columns by name.
std::string ColumnName(std::size_t column) { return "x" + std::to_string(column); }

void SetStart(const Model& model, OsiClpSolverInterface& solver, CbcModel& cbc) {
  if (model.start.empty()) return;
  std::vector<std::pair<std::string, double>> start;
  for (const VariableIndex v : model.variables.indices()) {
    solver.setColName(v.value(), ColumnName(v.position()));
    start.emplace_back(ColumnName(v.position()), static_cast<double>(model.start[v.position()]));
  }
  cbc.setMIPStart(start);
}

}  // namespace

const char* CbcVersion() { return CBC_VERSION; }

RawAnswer SolveByCbc(const Model& model, const SolveOptions& options, Budget& budget) {
  const IgnoreLeaks preprocessing_loses_memory;
  Watch watch{budget};
  OsiClpSolverInterface solver;
  solver.messageHandler()->setLogLevel(0);
  Load(model, solver);
  const SimplexHandler simplex_handler(watch);
  solver.getModelPtr()->passInEventHandler(&simplex_handler);

  CbcModel cbc(solver);
  cbc.setLogLevel(0);
  CbcSolverUsefulData data;
  data.noPrinting_ = true;
  CbcMain0(cbc, data);
  cbc.setLogLevel(0);
  cbc.solver()->messageHandler()->setLogLevel(0);
  const NodeHandler node_handler(watch);
  cbc.passInEventHandler(&node_handler);
  SetStart(model, *dynamic_cast<OsiClpSolverInterface*>(cbc.solver()), cbc);
  // CBC's seeds are positive ints.
  const std::string seed = std::to_string(options.seed % 1'000'000 + 1);
  const std::vector<const char*> words = {"berth",      "-log",   "0",    "-randomCbcSeed",
                                          seed.c_str(), "-solve", "-quit"};
  std::vector<const char*> arguments = words;
  CbcMain1(
      static_cast<int>(arguments.size()), arguments.data(), cbc, [](CbcModel*, int) { return 0; },
      data);

  RawAnswer raw;
  if (const double* best = cbc.bestSolution()) {
    raw.values.assign(best, best + model.variables.size());
  }
  if (watch.stopped) {
    return raw;
  }
  raw.bound = cbc.getBestPossibleObjValue();
  if (cbc.status() != 0) return raw;
  if (cbc.isProvenOptimal()) raw.claim = RawAnswer::Claim::kOptimal;
  if (cbc.isProvenInfeasible()) raw.claim = RawAnswer::Claim::kInfeasible;
  return raw;
}

}  // namespace berth::internal::milp

#else

namespace berth::internal::milp {

const char* CbcVersion() { return ""; }
RawAnswer SolveByCbc(const Model&, const SolveOptions&, Budget&) { return {}; }

}  // namespace berth::internal::milp

#endif
