// Checkmate's integer program (Jain et al., MLSys 2020, section 4), and POET's (Patil et al., ICML 2022,
// section 4), which adds copies off chip.
//
// There is one stage for each operator, in the order of first executions: stage t ends with the first
// execution of operator t. In a stage operators before it may run again, each once, in order.
//
//   R[t][p]     operator p runs in stage t; R[t][t] = 1.
//   S[t][x]     value x (a version of a store) is in memory when stage t begins.
//   FREE[t][s,p] after operator p of stage t, which uses store s, the bytes of s are free.
//   U[t][p]     the bytes in memory while operator p of stage t runs.
//   SSD, MIN, MOUT (POET): x is off chip when stage t begins; comes back at its end; is written out in it.
//
// Beyond the papers: the values of a store share its bytes. At most one of them is in memory; what is
// overwritten cannot stay; while one is there the maker of the store does not run, which loses nothing, as
// it runs before all users in any stage. A result stays to the end, or with paging ends off chip at no
// price. Left out, at no loss: operators that make nothing when they run again, and values and executions
// beyond the last stage that can use them.
//
// The solver's numbers decide only R, S and MIN. The sequence that these describe is run exactly; if its
// bytes fit, it is a plan, whatever the solver's tolerances.

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/try.h"
#include "baselines/recompute/program.h"

namespace berth::internal::baselines {
namespace {

using milp::Number;
using milp::Term;
using milp::VariableIndex;

class Stages {
 public:
  Stages(const Work& work, Bytes capacity, const Paging* paging)
      : work_(work),
        n_(work.size()),
        paging_(paging),
        unit_(UnitOf(work)),
        capacity_(capacity / unit_),
        values_(ListValues(work)) {
    FindLastStages();
  }

  [[nodiscard]] std::int64_t CountVariables() const {
    std::int64_t count = 0;
    for (std::size_t p = 0; p < n_; ++p) {
      std::int64_t freed = 0;
      for (const Use& use : work_.uses[p]) {
        freed += !use.only_first && work_.stores[use.store].size > 0 ? 1 : 0;
      }
      const auto again = static_cast<std::int64_t>(last_run_[p] - p);
      count += 2 * (again + 1) + freed * again;
    }
    for (std::size_t x = 0; x < values_.all.size(); ++x) {
      const std::size_t writer = values_.all[x].writer;
      const auto stages =
          static_cast<std::int64_t>(last_stage_[x] > writer ? last_stage_[x] - writer : 0);
      count += stages * (paging_ != nullptr ? 4 : 1);
    }
    return count;
  }

  void Build() {
    AddRuns();
    AddValues();
    for (std::size_t t = 0; t < n_; ++t) {
      for (std::size_t p = 0; p <= t; ++p) AddNeeds(t, p);
    }
    for (std::size_t x = 0; x < values_.all.size(); ++x) AddStays(x);
    for (std::size_t s = 0; s < work_.stores.size(); ++s) AddVersions(s);
    for (std::size_t t = 0; t < n_; ++t) AddMemory(t);
    if (paging_ != nullptr && paging_->most_cost) AddDeadline();
  }

  [[nodiscard]] milp::Model& model() { return model_; }

  // The sequence that the values describe.
  [[nodiscard]] Sequence Decode(const std::vector<Number>& values) const {
    const auto is = [&](VariableIndex x) { return IsOne(values, x); };
    Sequence sequence;
    std::vector<char> returns(work_.stores.size(), 0);
    for (std::size_t t = 0; t < n_; ++t) {
      if (paging_ != nullptr && t > 0) {
        for (std::size_t x = 0; x < values_.all.size(); ++x) {
          const Value& value = values_.all[x];
          const bool stays = is(stays_[x].At(t - 1)) || is(runs_[value.writer].At(t - 1));
          const std::size_t s = value.store;
          if (is(comes_in_[x].At(t - 1)) && is(stays_[x].At(t)) && !stays) returns[s] = 1;
          if (is(stays_[x].At(t - 1)) && !is(stays_[x].At(t))) returns[s] = 0;
        }
      }
      for (std::size_t p = 0; p <= t; ++p) {
        if (!is(runs_[p].At(t))) continue;
        for (const Use& use : work_.uses[p]) {
          if (!Work::Happens(use, t > p) || returns[use.store] == 0) continue;
          if (use.finds != kMakes) sequence.push_back(n_ + use.store);
          returns[use.store] = 0;
        }
        sequence.push_back(p);
      }
    }
    return sequence;
  }

 private:
  [[nodiscard]] bool Happens(const Use& use, std::size_t p, std::size_t t) const {
    return Work::Happens(use, t > p);
  }
  // Until when each operator may run again, and each value be of use: users come after what they use, so
  // from the last operator backwards.
  void FindLastStages() {
    last_run_.resize(n_);
    last_stage_.assign(values_.all.size(), 0);
    for (std::size_t p = n_; p-- > 0;) {
      std::size_t useful = p;
      for (const Use& use : work_.uses[p]) {
        if (!use.writes() || work_.stores[use.store].given) continue;
        const std::size_t x = values_.Of(use.store, use.leaves);
        std::size_t& last = last_stage_[x];
        last = p;
        for (const std::size_t user : values_.all[x].users) last = std::max(last, last_run_[user]);
        const Store& store = work_.stores[use.store];
        const bool kept = store.result && use.leaves == store.last && paging_ == nullptr;
        if (kept) last = n_;
        if (!use.only_first) useful = std::max(useful, std::min(last, n_ - 1));
      }
      last_run_[p] = work_.may_repeat[p] != 0 ? std::min(useful, LastUnchanged(p)) : p;
    }
  }

  // The last stage in which operator p finds what is given to the graph as it was.
  [[nodiscard]] std::size_t LastUnchanged(std::size_t p) const {
    std::size_t last = n_ - 1;
    for (const Use& use : work_.uses[p]) {
      const Store& store = work_.stores[use.store];
      if (!store.given || use.only_first) continue;
      const auto next = static_cast<std::size_t>(use.finds) + 1;
      if (next < store.writers.size()) last = std::min(last, std::max(store.writers[next], p));
    }
    return last;
  }

  void AddRuns() {
    for (std::size_t p = 0; p < n_; ++p) {
      runs_.push_back(AddRow("R", p, p, last_run_[p] + 1, model_));
      model_.variables[runs_[p].At(p)].lower = 1;
      const std::int64_t price = paging_ != nullptr ? paging_->run[p] : work_.cost[p];
      for (std::size_t t = p + 1; t <= last_run_[p]; ++t) {
        AppendTerm(runs_[p].At(t), price, model_.objective);
      }
    }
  }

  void AddValues() {
    for (std::size_t x = 0; x < values_.all.size(); ++x) {
      const Value& value = values_.all[x];
      const std::size_t first = value.writer + 1;
      const std::size_t end = std::max(first, last_stage_[x] + 1);
      stays_.push_back(AddRow("S", x, first, end, model_));
      const Store& store = work_.stores[value.store];
      const bool kept = store.result && value.version == store.last && paging_ == nullptr;
      if (kept) model_.variables[stays_[x].At(n_)].lower = 1;
      if (paging_ == nullptr) continue;
      off_chip_.push_back(AddRow("SSD", x, first, end, model_));
      comes_in_.push_back(AddRow("MIN", x, first, end, model_));
      goes_out_.push_back(AddRow("MOUT", x, first, end, model_));
      const bool free = store.result && value.version == store.last;
      for (std::size_t t = first; t < end; ++t) {
        AppendTerm(comes_in_[x].At(t), paging_->in[value.store], model_.objective);
        if (!free) AppendTerm(goes_out_[x].At(t), paging_->out[value.store], model_.objective);
      }
    }
  }

  // What leaves value x in stage t, if anything may.
  [[nodiscard]] VariableIndex WriterAt(std::size_t x, std::size_t t) const {
    return RunThatWrites(values_.all[x].writer, values_.all[x].store, t);
  }
  [[nodiscard]] VariableIndex RunThatWrites(std::size_t p, std::size_t store, std::size_t t) const {
    if (p == kNone || t < p || !Writes(work_, p, store, t > p)) return VariableIndex(kNoVariable);
    return runs_[p].At(t);
  }

  // Operator p runs in stage t only with all that it finds.
  void AddNeeds(std::size_t t, std::size_t p) {
    const VariableIndex run = runs_[p].At(t);
    if (run.value() == kNoVariable) return;
    for (const Use& use : work_.uses[p]) {
      if (use.finds == kMakes || work_.stores[use.store].given || !Happens(use, p, t)) continue;
      const std::size_t x = values_.Of(use.store, use.finds);
      std::vector<Term> terms = {{run, -1}};
      AppendTerm(WriterAt(x, t), 1, terms);
      AppendTerm(stays_[x].At(t), 1, terms);
      model_.AddConstraint(Name("needs", t, p), 0, std::move(terms), milp::kInfinity);
    }
  }

  // A value stays only from where it is, or comes from off chip.
  void AddStays(std::size_t x) {
    const Value& value = values_.all[x];
    for (std::size_t t = value.writer + 1; t <= last_stage_[x]; ++t) {
      std::vector<Term> terms = {{stays_[x].At(t), -1}};
      AppendTerm(stays_[x].At(t - 1), 1, terms);
      AppendTerm(WriterAt(x, t - 1), 1, terms);
      if (paging_ != nullptr) AppendTerm(comes_in_[x].At(t - 1), 1, terms);
      model_.AddConstraint(Name("stays", x, t), 0, std::move(terms), milp::kInfinity);
      AddAtMostOne(Name("overwritten", x, t),
                   {stays_[x].At(t), RunThatWrites(value.next, value.store, t - 1)}, model_);
      if (paging_ != nullptr) AddCopies(x, t);
    }
  }

  void AddCopies(std::size_t x, std::size_t t) {
    const Value& value = values_.all[x];
    std::vector<Term> off = {{off_chip_[x].At(t), -1}};
    AppendTerm(off_chip_[x].At(t - 1), 1, off);
    AppendTerm(goes_out_[x].At(t - 1), 1, off);
    model_.AddConstraint(Name("off", x, t), 0, std::move(off), milp::kInfinity);
    model_.AddConstraint(Name("in", x, t), 0, {{off_chip_[x].At(t), 1}, {comes_in_[x].At(t), -1}},
                         milp::kInfinity);
    model_.AddConstraint(Name("out", x, t), 0, {{stays_[x].At(t), 1}, {goes_out_[x].At(t), -1}},
                         milp::kInfinity);
    if (value.next == kNone) return;
    // Written out when it leaves.
    AddAtMostOne(
        Name("leaves", x, t),
        {goes_out_[x].At(t), stays_[x].At(t + 1), RunThatWrites(value.next, value.store, t)},
        model_);
  }

  // Of the versions of a store one is in memory, and one off chip.
  void AddVersions(std::size_t s) {
    const Store& store = work_.stores[s];
    if (store.given || store.last == 0) return;
    for (std::size_t t = store.writers.front() + 1; t <= n_; ++t) {
      std::vector<VariableIndex> here = {runs_[store.writers.front()].At(t)};
      std::vector<VariableIndex> off;
      for (std::int32_t k = 0; k <= store.last; ++k) {
        here.push_back(stays_[values_.Of(s, k)].At(t));
        if (paging_ != nullptr) off.push_back(off_chip_[values_.Of(s, k)].At(t));
      }
      AddAtMostOne(Name("one_version", s, t), here, model_);
      AddAtMostOne(Name("one_copy", s, t), off, model_);
    }
  }

  [[nodiscard]] Number SizeOf(std::size_t s) const { return work_.stores[s].size / unit_; }

  // U and FREE of stage t.
  void AddMemory(std::size_t t) {
    std::vector<Term> level;  // What is in memory before the operator.
    for (std::size_t x = 0; x < values_.all.size(); ++x) {
      AppendTerm(stays_[x].At(t), SizeOf(values_.all[x].store), level);
    }
    std::vector<Term> freed;  // By the operator before.
    for (std::size_t p = 0; p <= t; ++p) {
      const VariableIndex run = runs_[p].At(t);
      if (run.value() == kNoVariable) continue;
      // Whole by itself, and declared so: CBC 2.10 ends the process in an assertion of its own on some
      // infeasible programs with continuous variables.
      const VariableIndex use = model_.AddVariable(Name("U", t, p), 0, capacity_);
      std::vector<Term> terms = std::move(level);
      Number made = 0;
      for (const Use& each : work_.uses[p]) {
        if (each.finds == kMakes) made += SizeOf(each.store);
      }
      AppendTerm(run, made, terms);
      terms.insert(terms.end(), freed.begin(), freed.end());
      terms.push_back({use, -1});
      model_.AddConstraint(Name("use", t, p), 0, std::move(terms), 0);
      level = {{use, 1}};
      freed.clear();
      if (p == t) return;
      for (const Use& each : work_.uses[p]) AddFree(t, p, each, freed);
    }
  }

  // FREE: 1 if and only if operator p runs, nothing later in the stage uses the store, and it does not stay.
  void AddFree(std::size_t t, std::size_t p, const Use& use, std::vector<Term>& freed) {
    const Store& store = work_.stores[use.store];
    if (store.size == 0 || !Happens(use, p, t)) return;
    std::vector<Term> hazards = {{runs_[p].At(t), -1}};  // And 1.
    Number most = 1;
    for (const std::size_t q : store.users) {
      if (q <= p || q > t) continue;
      const VariableIndex run = runs_[q].At(t);
      if (run.value() == kNoVariable || !UsesAt(q, use.store, t)) continue;
      hazards.push_back({run, 1});
      ++most;
    }
    for (std::int32_t k = 0; k <= store.last; ++k) {
      AppendTerm(stays_[values_.Of(use.store, k)].At(t + 1), 1, hazards);
    }
    ++most;
    const VariableIndex free =
        model_.AddBinary(Name("FREE", t, p) + "_" + std::to_string(use.store));
    std::vector<Term> none = hazards;
    none.push_back({free, most});
    model_.AddConstraint(Name("free_only", t, p), -milp::kInfinity, std::move(none), most - 1);
    hazards.push_back({free, 1});
    model_.AddConstraint(Name("free_if", t, p), 0, std::move(hazards), milp::kInfinity);
    freed.push_back({free, -SizeOf(use.store)});
  }
  [[nodiscard]] bool UsesAt(std::size_t q, std::size_t store, std::size_t t) const {
    return std::any_of(work_.uses[q].begin(), work_.uses[q].end(),
                       [&](const Use& use) { return use.store == store && Happens(use, q, t); });
  }

  void AddDeadline() {
    std::vector<Term> terms;
    for (std::size_t p = 0; p < n_; ++p) {
      for (std::size_t t = p; t <= last_run_[p]; ++t)
        AppendTerm(runs_[p].At(t), work_.cost[p], terms);
    }
    if (!terms.empty()) {
      model_.AddConstraint("deadline", -milp::kInfinity, std::move(terms), *paging_->most_cost);
    }
  }

  const Work& work_;
  const std::size_t n_;
  const Paging* const paging_;
  const Bytes unit_;
  const Number capacity_;  // In units.
  const Values values_;
  std::vector<std::size_t> last_run_;  // By position: the last stage.
  // By value: the last stage at whose beginning it can be of use. That of the end is the number of operators.
  std::vector<std::size_t> last_stage_;
  milp::Model model_;
  std::vector<Row> runs_;
  std::vector<Row> stays_;
  std::vector<Row> off_chip_;
  std::vector<Row> comes_in_;
  std::vector<Row> goes_out_;
};

}  // namespace

Result<Solved> SolveStages(const Work& work, const RecomputeBaselineOptions& options,
                           const Paging* paging, Budget& budget) {
  [[maybe_unused]] const milp::Backend backend =
      BERTH_TRY(milp::ChooseBackend(options.backend));  // Also of what needs no solver.
  Solved result;
  RecomputeBaselineAnswer& answer = result.answer;
  if (work.size() == 0) {
    answer.outcome = Outcome::kOptimal;
    answer.stopped = StopReason::kAnswered;
    result.sequence = Sequence{};
    return result;
  }
  Stages stages(work, options.capacity, paging);
  answer.variables = stages.CountVariables();
  if (answer.variables > options.most_variables) {
    answer.stopped = StopReason::kSize;
    return result;
  }
  stages.Build();
  BERTH_TRY(SolveProgram(
      work, options, paging, stages.model(), 0,
      [&](const std::vector<Number>& values) { return stages.Decode(values); }, budget, result));
  return result;
}

}  // namespace berth::internal::baselines
