// baselines/recompute/program.h -- what the integer programs share whose operators may run again.
#ifndef BERTH_BASELINES_RECOMPUTE_PROGRAM_H_
#define BERTH_BASELINES_RECOMPUTE_PROGRAM_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "baselines/milp/solve.h"
#include "baselines/recompute/methods.h"

namespace berth::internal::baselines {

// No variable: a 0 wherever it would stand.
inline constexpr std::int32_t kNoVariable = -1;

[[nodiscard]] std::string Name(const char* kind, std::size_t a, std::size_t b);
// Whether `variable` is there, and 1 in `numbers`.
[[nodiscard]] bool IsOne(const std::vector<milp::Number>& numbers, milp::VariableIndex variable);
void AppendTerm(milp::VariableIndex variable, milp::Number coefficient,
                std::vector<milp::Term>& terms);
// No constraint where fewer than two of them are variables.
void AddAtMostOne(std::string name, const std::vector<milp::VariableIndex>& variables,
                  milp::Model& model);

// Binaries of consecutive stages or steps.
struct Row {
  std::size_t first = 0;
  std::vector<milp::VariableIndex> variables;
  [[nodiscard]] milp::VariableIndex At(std::size_t t) const {
    if (t < first || t - first >= variables.size()) return milp::VariableIndex(kNoVariable);
    return variables[t - first];
  }
};
[[nodiscard]] Row AddRow(const char* kind, std::size_t item, std::size_t first, std::size_t end,
                         milp::Model& model);

// One version of a store that operators make.
struct Value {
  std::size_t store = 0;
  std::int32_t version = 0;
  std::size_t writer = 0;          // The position of what leaves it,
  std::size_t next = kNone;        // and of what overwrites it.
  std::vector<std::size_t> users;  // Positions of what finds it.
};
struct Values {
  std::vector<Value> all;
  std::vector<std::size_t> first;  // By store: its version 0; kNone for what is given.
  [[nodiscard]] std::size_t Of(std::size_t store, std::int32_t version) const {
    return first[store] + static_cast<std::size_t>(version);
  }
};
[[nodiscard]] Values ListValues(const Work& work);

// Whether operator p writes `store`, when it runs for the first time or again.
[[nodiscard]] bool Writes(const Work& work, std::size_t p, std::size_t store, bool again);

// What divides all sizes; at least 1.
[[nodiscard]] Bytes UnitOf(const Work& work);

// Solves `model`, whose objective is `constant` more than the cost. `decode` says which sequence its numbers
// describe; that is run exactly, and is a plan if its bytes fit, whatever the solver's tolerances. `result`
// gets sequence, outcome, bound and counts.
[[nodiscard]] Result<void> SolveProgram(
    const Work& work, const RecomputeBaselineOptions& options, const Paging* paging,
    const milp::Model& model, milp::Number constant,
    const std::function<Sequence(const std::vector<milp::Number>&)>& decode, Budget& budget,
    Solved& result);

}  // namespace berth::internal::baselines

#endif  // BERTH_BASELINES_RECOMPUTE_PROGRAM_H_
