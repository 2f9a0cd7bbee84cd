#include "baselines/milp/solve.h"

#include <array>
#include <cmath>
#include <string>

#include "base/check.h"
#include "base/try.h"
#include "baselines/milp/backend.h"

namespace berth::internal::milp {
namespace {

// A bound a little above a whole number is that number plus a tolerance.
constexpr double kBoundTolerance = 1e-4;
constexpr double kMostRounded = 0x1p53;

// What the solver found, in whole numbers. A value that is none becomes a bound.
std::vector<Number> Round(const Model& model, const std::vector<double>& values) {
  std::vector<Number> rounded;
  rounded.reserve(values.size());
  for (const double value : values) {
    const Variable& variable = model.variables[VariableIndex(rounded.size())];
    if (!(std::abs(value) <= kMostRounded)) {
      rounded.push_back(variable.lower > -kInfinity ? variable.lower : 0);
    } else {
      rounded.push_back(static_cast<Number>(std::llround(value)));
    }
  }
  return rounded;
}

SolveAnswer Judge(const Model& model, const RawAnswer& raw) {
  SolveAnswer answer;
  const bool trusted = Magnitude(model) <= kMostTrusted;
  if (!raw.values.empty()) {
    std::vector<Number> values = Round(model, raw.values);
    if (FindViolation(model, values)) {
      answer.rejected = std::move(values);
      return answer;
    }
    answer.status = Status::kFeasible;
    answer.objective = ObjectiveAt(model, values);
    answer.values = std::move(values);
  }
  if (raw.claim != RawAnswer::Claim::kNothing && !trusted) answer.distrusted = true;
  if (!trusted) {
    if (model.objective.empty() && answer.status == Status::kFeasible) {
      answer.status = Status::kOptimal;  // There is no objective to improve.
      answer.distrusted = false;
    }
    return answer;
  }
  if (raw.claim == RawAnswer::Claim::kInfeasible) {
    // A solver that has a solution and says there is none contradicts itself: no claim counts.
    if (answer.values.empty()) answer.status = Status::kInfeasible;
    return answer;
  }
  if (raw.bound && std::abs(*raw.bound) < kMostRounded) {
    answer.bound = static_cast<Number>(std::ceil(*raw.bound - kBoundTolerance));
  }
  if (raw.claim == RawAnswer::Claim::kOptimal && !answer.values.empty()) {
    answer.bound = answer.objective;
  }
  if (answer.bound && !answer.values.empty() && *answer.bound >= answer.objective) {
    answer.bound = answer.objective;
    answer.status = Status::kOptimal;
  }
  return answer;
}

}  // namespace

std::span<const BackendInfo> Backends() {
  static const std::array kBackends = {
      BackendInfo{Backend::kCbc, "CBC", CbcVersion(), "coinor-libcbc-dev"},
      BackendInfo{Backend::kHighs, "HiGHS", HighsVersion(), "HiGHS with its CMake package"},
  };
  return kBackends;
}

std::optional<Backend> BackendFromName(std::string_view name) {
  if (name == "cbc") return Backend::kCbc;
  if (name == "highs") return Backend::kHighs;
  return std::nullopt;
}

std::optional<Backend> DefaultBackend() {
  for (const BackendInfo& info : Backends()) {
    if (info.available()) return info.backend;
  }
  return std::nullopt;
}

Result<Backend> ChooseBackend(std::string_view name) {
  const auto backend = name.empty() ? DefaultBackend() : BackendFromName(name);
  if (!backend && !name.empty()) {
    return Fail(ErrorCode::kInvalidOptions,
                "there is no backend \"" + std::string(name) + "\"; there are cbc and highs");
  }
  if (!backend) {
    return Fail(ErrorCode::kUnsupported,
                "this build has no solver of integer programs: install coinor-libcbc-dev");
  }
  BERTH_TRY(CheckAvailable(*backend));
  return *backend;
}

Result<void> CheckAvailable(Backend backend) {
  const BackendInfo& info = Backends()[static_cast<std::size_t>(backend)];
  if (info.available()) return {};
  return Fail(ErrorCode::kUnsupported, "this build has no " + std::string(info.name) +
                                           "; install " + std::string(info.package) +
                                           " and configure it again");
}

Result<SolveAnswer> Solve(const Model& model, Backend backend, const SolveOptions& options,
                          Budget& budget) {
  if (auto available = CheckAvailable(backend); !available) {
    return tl::unexpected(available.error());
  }
  if (auto valid = Validate(model); !valid) return tl::unexpected(valid.error());
  if (budget.Exhausted()) return SolveAnswer{};
  // Solvers differ in what they do without variables; the answer is in the constants.
  if (model.variables.empty()) {
    SolveAnswer answer;
    answer.status = FindViolation(model, {}) ? Status::kInfeasible : Status::kOptimal;
    if (answer.status == Status::kOptimal) answer.bound = 0;
    return answer;
  }
  Model reduced = model;
  DivideConstraints(reduced);
  for (const Constraint& constraint : reduced.constraints) {
    if (constraint.lower > constraint.upper) {  // Nothing whole lies between its sides.
      SolveAnswer answer;
      answer.status = Status::kInfeasible;
      return answer;
    }
  }
  if (!reduced.start.empty() && FindViolation(reduced, reduced.start)) reduced.start.clear();
  const std::int64_t nodes_before = budget.nodes_spent();
  const RawAnswer raw = backend == Backend::kCbc ? SolveByCbc(reduced, options, budget)
                                                 : SolveByHighs(reduced, options, budget);
  SolveAnswer answer = Judge(reduced, raw);
  answer.nodes = budget.nodes_spent() - nodes_before;
  return answer;
}

}  // namespace berth::internal::milp
