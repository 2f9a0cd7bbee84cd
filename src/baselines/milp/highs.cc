// HiGHS through its C interface, which has stayed the same across versions. Its callback asks the
// budget within linear programs and between nodes.
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "baselines/milp/backend.h"

#ifdef BERTH_HAS_HIGHS

#include <interfaces/highs_c_api.h>

#include <memory>

namespace berth::internal::milp {
namespace {

struct Watch {
  Budget& budget;
  std::int64_t nodes = 0;  // Already counted by the budget.
  bool stopped = false;

  // `now` nodes have been visited; -1: not known.
  void Tell(std::int64_t now) {
    for (; nodes < now && !stopped; ++nodes) stopped = !budget.SpendNode();
    stopped = stopped || budget.TimeIsUp();
  }
};

void OnEvent(int, const char*, const HighsCallbackDataOut* out, HighsCallbackDataIn* in,
             void* data) {
  Watch& watch = *static_cast<Watch*>(data);
  watch.Tell(out->mip_node_count);
  if (in != nullptr && watch.stopped) in->user_interrupt = 1;
}

double ToDouble(void* highs, Number number) {
  if (number >= kInfinity) return Highs_getInfinity(highs);
  if (number <= -kInfinity) return -Highs_getInfinity(highs);
  return static_cast<double>(number);
}

void Load(const Model& model, void* highs) {
  const std::size_t columns = model.variables.size();
  const std::size_t rows = model.constraints.size();
  std::vector<double> lower(columns);
  std::vector<double> upper(columns);
  std::vector<double> cost(columns, 0.0);
  std::vector<HighsInt> integrality(columns, kHighsVarTypeContinuous);
  for (const VariableIndex v : model.variables.indices()) {
    lower[v.position()] = ToDouble(highs, model.variables[v].lower);
    upper[v.position()] = ToDouble(highs, model.variables[v].upper);
    if (model.variables[v].integer) integrality[v.position()] = kHighsVarTypeInteger;
  }
  for (const Term& term : model.objective) {
    cost[term.variable.position()] = static_cast<double>(term.coefficient);
  }
  std::vector<double> row_lower(rows);
  std::vector<double> row_upper(rows);
  std::vector<HighsInt> starts;
  std::vector<HighsInt> column_of;
  std::vector<double> coefficients;
  for (const ConstraintIndex c : model.constraints.indices()) {
    const Constraint& constraint = model.constraints[c];
    row_lower[c.position()] = ToDouble(highs, constraint.lower);
    row_upper[c.position()] = ToDouble(highs, constraint.upper);
    starts.push_back(static_cast<HighsInt>(column_of.size()));
    for (const Term& term : constraint.terms) {
      column_of.push_back(static_cast<HighsInt>(term.variable.value()));
      coefficients.push_back(static_cast<double>(term.coefficient));
    }
  }
  starts.push_back(static_cast<HighsInt>(column_of.size()));
  Highs_passMip(highs, static_cast<HighsInt>(columns), static_cast<HighsInt>(rows),
                static_cast<HighsInt>(column_of.size()), kHighsMatrixFormatRowwise,
                kHighsObjSenseMinimize, 0.0, cost.data(), lower.data(), upper.data(),
                row_lower.data(), row_upper.data(), starts.data(), column_of.data(),
                coefficients.data(), integrality.data());
}

}  // namespace

const char* HighsVersion() { return Highs_version(); }

RawAnswer SolveByHighs(const Model& model, const SolveOptions& options, Budget& budget) {
  const std::unique_ptr<void, decltype(&Highs_destroy)> owner(Highs_create(), Highs_destroy);
  void* const highs = owner.get();
  Highs_setBoolOptionValue(highs, "output_flag", 0);
  Highs_setIntOptionValue(highs, "threads", 1);
  Highs_setIntOptionValue(highs, "random_seed",
                          static_cast<HighsInt>(options.seed % 1'000'000'000));
  Highs_setDoubleOptionValue(highs, "mip_rel_gap", 0.0);
  // Nodes of the searches within searches are not told; this is the limit of the outermost.
  const std::int64_t nodes_left = budget.node_limit() - budget.nodes_spent();
  if (nodes_left < std::numeric_limits<HighsInt>::max()) {
    Highs_setIntOptionValue(highs, "mip_max_nodes", static_cast<HighsInt>(nodes_left));
  }
  Load(model, highs);
  if (!model.start.empty()) {
    const std::vector<double> start(model.start.begin(), model.start.end());
    Highs_setSolution(highs, start.data(), nullptr, nullptr, nullptr);
  }
  Watch watch{budget};
  Highs_setCallback(highs, OnEvent, &watch);
  for (const int event :
       {kHighsCallbackSimplexInterrupt, kHighsCallbackMipInterrupt, kHighsCallbackMipLogging}) {
    Highs_startCallback(highs, event);
  }
  RawAnswer raw;
  if (Highs_run(highs) == kHighsStatusError) return raw;

  std::int64_t nodes = 0;
  Highs_getInt64InfoValue(highs, "mip_node_count", &nodes);
  const bool stopped = watch.stopped;
  watch.Tell(nodes);
  HighsInt primal = 0;
  Highs_getIntInfoValue(highs, "primal_solution_status", &primal);
  if (primal == kHighsSolutionStatusFeasible) {
    raw.values.resize(model.variables.size());
    std::vector<double> rows(model.constraints.size());
    Highs_getSolution(highs, raw.values.data(), nullptr, rows.data(), nullptr);
  }
  if (stopped) return raw;
  double bound = 0;
  if (Highs_getDoubleInfoValue(highs, "mip_dual_bound", &bound) == kHighsStatusOk &&
      std::isfinite(bound)) {
    raw.bound = bound;
  }
  const HighsInt status = Highs_getModelStatus(highs);
  if (status == kHighsModelStatusOptimal) raw.claim = RawAnswer::Claim::kOptimal;
  if (status == kHighsModelStatusInfeasible) raw.claim = RawAnswer::Claim::kInfeasible;
  return raw;
}

}  // namespace berth::internal::milp

#else

namespace berth::internal::milp {

const char* HighsVersion() { return ""; }
RawAnswer SolveByHighs(const Model&, const SolveOptions&, Budget&) { return {}; }

}  // namespace berth::internal::milp

#endif
