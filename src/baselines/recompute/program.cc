#include "baselines/recompute/program.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/check.h"
#include "base/try.h"
#include "base/wide.h"

namespace berth::internal::baselines {

using milp::Number;
using milp::Term;
using milp::VariableIndex;

std::string Name(const char* kind, std::size_t a, std::size_t b) {
  return std::string(kind) + std::to_string(a) + "_" + std::to_string(b);
}

bool IsOne(const std::vector<milp::Number>& numbers, milp::VariableIndex variable) {
  return variable.value() != kNoVariable && numbers[variable.position()] == 1;
}

void AppendTerm(VariableIndex variable, Number coefficient, std::vector<Term>& terms) {
  if (variable.value() != kNoVariable && coefficient != 0) terms.push_back({variable, coefficient});
}

void AddAtMostOne(std::string name, const std::vector<VariableIndex>& variables,
                  milp::Model& model) {
  std::vector<Term> terms;
  for (const VariableIndex x : variables) AppendTerm(x, 1, terms);
  if (terms.size() > 1) {
    model.AddConstraint(std::move(name), -milp::kInfinity, std::move(terms), 1);
  }
}

Row AddRow(const char* kind, std::size_t item, std::size_t first, std::size_t end,
           milp::Model& model) {
  Row row{first, {}};
  for (std::size_t t = first; t < end; ++t) {
    row.variables.push_back(model.AddBinary(Name(kind, item, t)));
  }
  return row;
}

Values ListValues(const Work& work) {
  Values values;
  values.first.assign(work.stores.size(), kNone);
  for (std::size_t s = 0; s < work.stores.size(); ++s) {
    const Store& store = work.stores[s];
    if (store.given) continue;
    values.first[s] = values.all.size();
    for (std::size_t k = 0; k < store.writers.size(); ++k) {
      Value value;
      value.store = s;
      value.version = static_cast<std::int32_t>(k);
      value.writer = store.writers[k];
      if (k + 1 < store.writers.size()) value.next = store.writers[k + 1];
      values.all.push_back(value);
    }
  }
  for (std::size_t p = 0; p < work.size(); ++p) {
    for (const Use& use : work.uses[p]) {
      if (use.finds == kMakes || work.stores[use.store].given) continue;
      values.all[values.Of(use.store, use.finds)].users.push_back(p);
    }
  }
  return values;
}

bool Writes(const Work& work, std::size_t p, std::size_t store, bool again) {
  return std::none_of(work.uses[p].begin(), work.uses[p].end(), [&](const Use& use) {
    return use.store == store && !Work::Happens(use, again);
  });
}

Bytes UnitOf(const Work& work) {
  Bytes unit = 0;
  for (const Store& store : work.stores) unit = std::gcd(unit, store.size);
  return std::max<Bytes>(unit, 1);
}

namespace {

// The sequence, if it fits. `exact`: the solver's numbers are a solution, so it has to.
Found Fitting(const Work& work, const Sequence& sequence, bool exact, Bytes capacity,
              const Paging* paging) {
  const bool linked = paging != nullptr;
  const Trace trace = Run(work, sequence, linked);
  if (exact) BERTH_CHECK(trace.valid() && trace.peak <= capacity);
  if (!trace.valid() || trace.peak > capacity) return std::nullopt;
  if (linked && paging->most_cost) {
    Wide total = trace.cost;
    for (const std::int64_t cost : work.cost) total += cost;
    if (total > *paging->most_cost) return std::nullopt;
  }
  return Pruned(work, sequence, linked);
}

}  // namespace

Result<void> SolveProgram(const Work& work, const RecomputeBaselineOptions& options,
                          const Paging* paging, const milp::Model& model, Number constant,
                          const std::function<Sequence(const std::vector<Number>&)>& decode,
                          Budget& budget, Solved& result) {
  RecomputeBaselineAnswer& answer = result.answer;
  answer.variables = static_cast<std::int64_t>(model.variables.size());
  answer.constraints = static_cast<std::int64_t>(model.constraints.size());
  const milp::Backend backend = BERTH_TRY(milp::ChooseBackend(options.backend));
  const milp::SolveAnswer solved = BERTH_TRY(milp::Solve(model, backend, {options.seed}, budget));
  answer.nodes = solved.nodes;
  answer.claims_optimal = solved.status == milp::Status::kOptimal || solved.distrusted;
  answer.bound = std::max<Number>(solved.bound.value_or(0) - constant, 0);
  const std::vector<Number>& values = solved.values.empty() ? solved.rejected : solved.values;
  if (!values.empty()) {
    result.sequence =
        Fitting(work, decode(values), !solved.values.empty(), options.capacity, paging);
  }
  answer.stopped = budget.Exhausted() ? StopReason::kBudget : StopReason::kAlgorithm;
  if (solved.status == milp::Status::kInfeasible) {
    answer.outcome = Outcome::kInfeasible;
    answer.stopped = StopReason::kAnswered;
  } else if (result.sequence) {
    const bool optimal = solved.status == milp::Status::kOptimal;
    answer.outcome = optimal ? Outcome::kOptimal : Outcome::kFeasible;
    if (optimal) answer.stopped = StopReason::kAnswered;
  }
  return {};
}

}  // namespace berth::internal::baselines
