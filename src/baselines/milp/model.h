// baselines/milp/model.h -- an integer program as data: variables, constraints, an objective.
//
// Everything is a whole number: what Berth asks integer programs is about bytes, steps and choices.
// So the solution that a floating-point solver returns can be rounded and then checked exactly, and
// a model file reads back as the same model. A model is built once, may be changed before it is
// solved, and knows nothing of solvers (solve.h) or files (lp_file.h).
#ifndef BERTH_BASELINES_MILP_MODEL_H_
#define BERTH_BASELINES_MILP_MODEL_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/indexed_vector.h"
#include "berth/result.h"

namespace berth::internal::milp {

struct VariableTag;
struct ConstraintTag;
using VariableIndex = Index<VariableTag>;
using ConstraintIndex = Index<ConstraintTag>;

using Number = std::int64_t;
// The end of an open interval; as a value they stand for no number.
inline constexpr Number kInfinity = std::int64_t{1} << 62;

struct Variable {
  std::string name;  // Any text; files make it safe.
  Number lower = 0;  // -kInfinity: none.
  Number upper = 1;  // kInfinity: none.
  // False: the solver may treat it as continuous, because it takes whole values by itself once the
  // others do. Its value is rounded and checked like any other.
  bool integer = true;
  int priority = 0;  // Higher ones are branched on first, by solvers that take such advice.
};

struct Term {
  VariableIndex variable;
  Number coefficient = 0;  // Not 0.
};

// lower <= sum of terms <= upper.
struct Constraint {
  std::string name;
  Number lower = -kInfinity;
  Number upper = kInfinity;
  std::vector<Term> terms;  // Each variable at most once.
};

struct Model {
  IndexedVector<VariableIndex, Variable> variables;
  IndexedVector<ConstraintIndex, Constraint> constraints;
  std::vector<Term> objective;  // Minimised; empty: any solution will do.
  // A value for each variable, to begin with; empty: none. Ignored if it is not a solution.
  std::vector<Number> start;

  VariableIndex AddVariable(std::string name, Number lower, Number upper);
  VariableIndex AddBinary(std::string name) { return AddVariable(std::move(name), 0, 1); }
  ConstraintIndex AddConstraint(std::string name, Number lower, std::vector<Term> terms,
                                Number upper);
};

// Is this a model that doubles hold exactly? Error: kInvalidOptions for a model that breaks a rule
// above; kUnsupported where a bound, a coefficient or the greatest sum that a constraint or the
// objective can reach exceeds 2^53, naming it. Cost: the size of the model.
[[nodiscard]] Result<void> Validate(const Model& model);

// The greatest absolute number of the model: bounds that are finite, coefficients, sides. Solvers'
// tolerances have to be small in comparison.
[[nodiscard]] Number Magnitude(const Model& model);

// Each constraint divided by the greatest common divisor of its coefficients, its sides rounded
// inwards: the same solutions, smaller numbers. Cost: the size of the model.
void DivideConstraints(Model& model);

// What is wrong with `values` (one for each variable) as a solution, in one sentence that names the
// variable or constraint; nothing where it is one. Exact, whatever the numbers.
[[nodiscard]] std::optional<std::string> FindViolation(const Model& model,
                                                       const std::vector<Number>& values);

// The objective at `values`, which must be a solution.
[[nodiscard]] Number ObjectiveAt(const Model& model, const std::vector<Number>& values);

}  // namespace berth::internal::milp

#endif  // BERTH_BASELINES_MILP_MODEL_H_
