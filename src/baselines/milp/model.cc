#include "baselines/milp/model.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <utility>

#include "base/check.h"
#include "base/text.h"
#include "base/wide.h"

namespace berth::internal::milp {
namespace {

constexpr Number kExactInDouble = Number{1} << 53;

Wide Sum(const std::vector<Term>& terms, const std::vector<Number>& values) {
  Wide sum = 0;
  for (const Term& term : terms) {
    sum += Wide{term.coefficient} * values[term.variable.position()];
  }
  return sum;
}

Number Divide(Number value, Number by, bool up) {
  const Number quotient = value / by;
  const bool exact = value % by == 0;
  if (exact || (value < 0) == up) return quotient;
  return up ? quotient + 1 : quotient - 1;
}

tl::unexpected<Error> TooLarge(const std::string& what) {
  return Fail(ErrorCode::kUnsupported,
              what + " exceeds 2^53, beyond which solvers cannot count whole numbers");
}

Result<void> CheckTerms(const Model& model, const std::vector<Term>& terms,
                        const std::string& where, std::vector<bool>& seen) {
  Wide reach = 0;
  for (const Term& term : terms) {
    if (term.variable.value() < 0 || term.variable.position() >= model.variables.size()) {
      return Fail(ErrorCode::kInvalidOptions, where + " names a variable that does not exist");
    }
    const Variable& variable = model.variables[term.variable];
    if (term.coefficient == 0 || seen[term.variable.position()]) {
      return Fail(
          ErrorCode::kInvalidOptions,
          where +
              (term.coefficient == 0 ? " has coefficient 0 for " : " has two coefficients for ") +
              Quoted(variable.name));
    }
    seen[term.variable.position()] = true;
    if (std::abs(term.coefficient) > kExactInDouble) {
      return TooLarge(where + ": the coefficient of " + Quoted(variable.name));
    }
    Number farthest = 0;
    for (const Number bound : {variable.lower, variable.upper}) {
      if (std::abs(bound) < kInfinity) farthest = std::max(farthest, std::abs(bound));
    }
    reach += Wide{std::abs(term.coefficient)} * farthest;
  }
  for (const Term& term : terms) seen[term.variable.position()] = false;
  if (reach > kExactInDouble) return TooLarge(where + ": its greatest sum");
  return {};
}

}  // namespace

VariableIndex Model::AddVariable(std::string name, Number lower, Number upper) {
  const VariableIndex index(variables.size());
  variables.push_back({std::move(name), lower, upper, true, 0});
  return index;
}

ConstraintIndex Model::AddConstraint(std::string name, Number lower, std::vector<Term> terms,
                                     Number upper) {
  const ConstraintIndex index(constraints.size());
  constraints.push_back({std::move(name), lower, upper, std::move(terms)});
  return index;
}

Result<void> Validate(const Model& model) {
  for (const Variable& variable : model.variables) {
    const std::string where = "variable " + Quoted(variable.name);
    if (variable.lower > variable.upper || variable.lower >= kInfinity ||
        variable.upper <= -kInfinity) {
      return Fail(ErrorCode::kInvalidOptions, where + " has no value between its bounds");
    }
    for (const Number bound : {variable.lower, variable.upper}) {
      if (std::abs(bound) < kInfinity && std::abs(bound) > kExactInDouble) {
        return TooLarge(where + ": a bound");
      }
    }
  }
  std::vector<bool> seen(model.variables.size());
  for (const Constraint& constraint : model.constraints) {
    const std::string where = "constraint " + Quoted(constraint.name);
    if (constraint.lower > constraint.upper) {
      return Fail(ErrorCode::kInvalidOptions, where + " has its lower side above its upper one");
    }
    for (const Number side : {constraint.lower, constraint.upper}) {
      if (std::abs(side) < kInfinity && std::abs(side) > kExactInDouble) {
        return TooLarge(where + ": a side");
      }
    }
    auto checked = CheckTerms(model, constraint.terms, where, seen);
    if (!checked) return checked;
  }
  if (!model.start.empty() && model.start.size() != model.variables.size()) {
    return Fail(ErrorCode::kInvalidOptions, "the start has not one value for each variable");
  }
  return CheckTerms(model, model.objective, "the objective", seen);
}

Number Magnitude(const Model& model) {
  Number greatest = 0;
  const auto see = [&greatest](Number number) {
    if (std::abs(number) < kInfinity) greatest = std::max(greatest, std::abs(number));
  };
  for (const Variable& variable : model.variables) {
    see(variable.lower);
    see(variable.upper);
  }
  for (const Constraint& constraint : model.constraints) {
    see(constraint.lower);
    see(constraint.upper);
    for (const Term& term : constraint.terms) see(term.coefficient);
  }
  for (const Term& term : model.objective) see(term.coefficient);
  return greatest;
}

void DivideConstraints(Model& model) {
  for (Constraint& constraint : model.constraints) {
    Number divisor = 0;
    for (const Term& term : constraint.terms) divisor = std::gcd(divisor, term.coefficient);
    if (divisor <= 1) continue;
    for (Term& term : constraint.terms) term.coefficient /= divisor;
    if (constraint.lower > -kInfinity) constraint.lower = Divide(constraint.lower, divisor, true);
    if (constraint.upper < kInfinity) constraint.upper = Divide(constraint.upper, divisor, false);
  }
}

std::optional<std::string> FindViolation(const Model& model, const std::vector<Number>& values) {
  if (values.size() != model.variables.size()) return "there is not one value for each variable";
  for (const VariableIndex v : model.variables.indices()) {
    const Variable& variable = model.variables[v];
    const Number value = values[v.position()];
    if (value < variable.lower || value > variable.upper) {
      return "variable " + Quoted(variable.name) + " is " + std::to_string(value) +
             ", outside its bounds";
    }
  }
  for (const Constraint& constraint : model.constraints) {
    const Wide sum = Sum(constraint.terms, values);
    if ((constraint.lower > -kInfinity && sum < constraint.lower) ||
        (constraint.upper < kInfinity && sum > constraint.upper)) {
      return "constraint " + Quoted(constraint.name) + " does not hold";
    }
  }
  return std::nullopt;
}

Number ObjectiveAt(const Model& model, const std::vector<Number>& values) {
  const Wide sum = Sum(model.objective, values);
  BERTH_CHECK(sum < kInfinity && sum > -kInfinity);
  return static_cast<Number>(sum);
}

}  // namespace berth::internal::milp
