// OLLA's integer program with operators that run again and tensors that are swapped: the variables of
// section 3.2, with what the authors' code adds to them and the paper leaves out.
//
//   C[v][t]  operator v runs at step t, for the first time;   A[v][t]  it runs again.
//   P[x][t]  value x (a version of a store) is kept at step t.
//   F[x][t]  it is fetched from off chip for step t.
//   S[x]     it is copied out, once; the copy stays valid.
//
// (1) becomes P + F + C + A <= 1; (2) P[t] <= P[t-1] + F[t-1] + C[t-1] + A[t-1]; (3) stays as it is for C,
// while A is free after C; (4) C + A <= P + F for all that the operator reads; (5) is one variable for all
// outputs of an operator; (10) and (11) bound the steps of C and P. In place of the least peak, the sizes at
// each step fit the capacity, and what is minimised is the cost of A, S and F; or that cost is bounded, and
// what is minimised is the peak M, which the sizes at each step fit (13). There are more steps than operators:
// any sequence of at most so many executions is a solution, one at each step.
//
// The authors' code, too, has both: within a limit of memory it minimises the cost, and within a limit of the
// bytes that are swapped the peak, the latter only for operators that run once.
//
// The authors' code lets an operator run again within its span (10) alone, which ends where the operator has
// to run for the first time. Here A goes on as long as something can use what the operator makes
// (OllaRecomputeOptions::within_spans has their rule).
//
// Beyond the code: writes in place make versions of a store in the same bytes. One of them is there at a
// time, and where there are several, one is off chip, as in POET's program (recompute/stages.cc):
//
//   OUT[x][t]  version x leaves after step t and is copied out;   OFF[x][t]  it is off chip at step t.
//
// A result stays to the end, or with copies ends off chip at no price.
//
// Cost: up to T x (2 x operators + 2 to 4 x tensors) variables for T steps.

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/try.h"
#include "baselines/recompute/program.h"
#include "berth/olla.h"
#include "berth/spill.h"
#include "graph/edges.h"

namespace berth::internal::baselines {
namespace {

using milp::Number;
using milp::Term;
using milp::VariableIndex;

// Steps [first, end).
struct Span {
  std::size_t first = 0;
  std::size_t end = 0;
  [[nodiscard]] std::size_t size() const { return end > first ? end - first : 0; }
};

// What a value has of each kind.
struct ValueSpans {
  Span kept;
  Span fetched;
  Span out;  // Of stores with several versions.
  Span off;
};

class OllaProgram {
 public:
  OllaProgram(const Graph& graph, const Work& work, const OllaRecomputeOptions& options,
              const Paging* paging)
      : work_(work),
        n_(work.size()),
        steps_(n_ + options.more_steps),
        within_spans_(options.within_spans),
        paging_(paging),
        unit_(UnitOf(work)),
        capacity_(options.plan.capacity / unit_),
        most_cost_(options.most_cost),
        values_(ListValues(work)) {
    FindPredecessors(graph);
    FindSpans();
  }

  [[nodiscard]] std::int64_t CountVariables() const {
    std::size_t count = 0;
    for (const Span& span : first_span_) count += span.size();
    for (const Span& span : again_span_) count += span.size();
    for (std::size_t x = 0; x < spans_.size(); ++x) {
      const ValueSpans& span = spans_[x];
      count += span.kept.size() + span.fetched.size() + span.out.size() + span.off.size();
      count += HasSwap(x) ? 1 : 0;
    }
    return static_cast<std::int64_t>(count) + (most_cost_ ? 1 : 0);
  }

  void Build(const Graph& graph) {
    AddVariables();
    for (std::size_t v = 0; v < n_; ++v) AddExecutions(v);
    for (std::size_t x = 0; x < values_.all.size(); ++x) {
      AddKept(x);
      AddFetches(x);
      if (HasSeveral(values_.all[x].store)) AddVersionCopies(x);
    }
    for (std::size_t s = 0; s < work_.stores.size(); ++s) AddVersions(s);
    if (most_cost_) AddPeak(FindLeastMemory(graph, {}).bytes);
    for (std::size_t t = 0; t < steps_; ++t) AddLoad(t);
    if (!most_cost_) model_.objective = std::move(cost_);
  }

  [[nodiscard]] const milp::Model& model() const { return model_; }
  // What the objective has beyond the cost, or the peak.
  [[nodiscard]] Number constant() const { return most_cost_ ? 0 : constant_; }
  // What one of the objective is worth: bytes of the peak, or 1.
  [[nodiscard]] std::int64_t scale() const { return most_cost_ ? unit_ : 1; }

  // Function 1, with the copies that come back.
  [[nodiscard]] Sequence Decode(const std::vector<Number>& numbers) const {
    const auto is = [&](VariableIndex x) { return IsOne(numbers, x); };
    Sequence sequence;
    std::vector<char> returns(work_.stores.size(), 0);
    for (std::size_t t = 0; t < steps_; ++t) {
      std::vector<char> stays(work_.stores.size(), 0);
      for (std::size_t x = 0; x < values_.all.size(); ++x) {
        const std::size_t s = values_.all[x].store;
        if (is(fetched_[x].At(t))) returns[s] = 1;
        if (is(fetched_[x].At(t)) || is(kept_[x].At(t))) stays[s] = 1;
      }
      for (std::size_t s = 0; s < returns.size(); ++s) {
        if (stays[s] == 0) returns[s] = 0;
      }
      for (std::size_t v = 0; v < n_; ++v) {
        const bool again = is(again_[v].At(t));
        if (!again && !is(first_[v].At(t))) continue;
        for (const Use& use : work_.uses[v]) {
          if (!Work::Happens(use, again) || std::exchange(returns[use.store], 0) == 0) continue;
          sequence.push_back(n_ + use.store);
        }
        sequence.push_back(v);
      }
    }
    return sequence;
  }

 private:
  [[nodiscard]] bool HasSeveral(std::size_t s) const {
    return !work_.stores[s].given && work_.stores[s].last > 0;
  }
  // The last version of a result.
  [[nodiscard]] bool IsResult(std::size_t x) const {
    const Value& value = values_.all[x];
    const Store& store = work_.stores[value.store];
    return store.result && value.version == store.last;
  }
  // Has the variable S: copying it out costs something.
  [[nodiscard]] bool HasSwap(std::size_t x) const {
    return spans_[x].fetched.size() > 0 && !HasSeveral(values_.all[x].store) && !IsResult(x);
  }
  [[nodiscard]] Number SizeOf(std::size_t s) const { return work_.stores[s].size / unit_; }

  void FindPredecessors(const Graph& graph) {
    predecessors_.resize(n_);
    const std::vector<OperatorIndex> makers = Makers(graph);
    for (std::size_t v = 0; v < n_; ++v) {  // In program order, positions are operators.
      std::vector<std::size_t>& found = predecessors_[v];
      ForEachPredecessor(graph, makers, v, [&](OperatorIndex u) { found.push_back(u); });
      std::sort(found.begin(), found.end());
      found.erase(std::unique(found.begin(), found.end()), found.end());
    }
  }

  // (10) and (11): by longest paths, and for executions that come again by what can use them.
  void FindSpans() {
    std::vector<std::size_t> forward(n_, 0);
    std::vector<std::size_t> backward(n_, 0);
    for (std::size_t v = 0; v < n_; ++v) {
      for (const std::size_t u : predecessors_[v]) {
        forward[v] = std::max(forward[v], forward[u] + 1);
      }
    }
    first_span_.resize(n_);
    again_span_.resize(n_);
    spans_.resize(values_.all.size());
    for (std::size_t v = n_; v-- > 0;) {
      for (const std::size_t u : predecessors_[v]) {
        backward[u] = std::max(backward[u], backward[v] + 1);
      }
      first_span_[v] = {forward[v], steps_ - backward[v]};
      std::size_t end = 0;  // Of the steps at which running it again is of use.
      for (const Use& use : work_.uses[v]) {
        if (!use.writes() || work_.stores[use.store].given) continue;
        const std::size_t useful = FindValueSpans(values_.Of(use.store, use.leaves), forward[v]);
        if (!use.only_first) end = std::max(end, useful);
      }
      if (within_spans_) end = std::min(end, first_span_[v].end);
      if (work_.may_repeat[v] != 0) again_span_[v] = {forward[v] + 1, end};
    }
  }

  // Of value x, whose writer can run from `made` on. Where making it is still of use, an end.
  std::size_t FindValueSpans(std::size_t x, std::size_t made) {
    const Value& value = values_.all[x];
    std::size_t end = 0;
    for (const std::size_t user : value.users) {
      end = std::max({end, first_span_[user].end, again_span_[user].end});
    }
    ValueSpans& spans = spans_[x];
    const bool several = HasSeveral(value.store);
    if (paging_ != nullptr && work_.stores[value.store].size > 0) {
      spans.fetched = {made + 2, end};
      const bool last = IsResult(x);
      if (several) spans.out = {made, last ? steps_ : end > 0 ? end - 1 : 0};
      if (several) spans.off = {made + 1, last ? steps_ + 1 : end};
    }
    const bool kept = paging_ == nullptr && IsResult(x);
    spans.kept = {made + 1, kept ? steps_ : end};
    return kept ? steps_ : end > 0 ? end - 1 : 0;
  }

  Row AddSpan(const char* kind, std::size_t item, const Span& span) {
    return AddRow(kind, item, span.first, std::max(span.first, span.end), model_);
  }

  void AddVariables() {
    for (std::size_t v = 0; v < n_; ++v) {
      first_.push_back(AddSpan("C", v, first_span_[v]));
      again_.push_back(AddSpan("A", v, again_span_[v]));
      const std::int64_t price = paging_ != nullptr ? paging_->run[v] : work_.cost[v];
      for (const VariableIndex run : again_[v].variables) {
        AppendTerm(run, price, cost_);
      }
    }
    for (std::size_t x = 0; x < values_.all.size(); ++x) {
      const std::size_t s = values_.all[x].store;
      kept_.push_back(AddSpan("P", x, spans_[x].kept));
      fetched_.push_back(AddSpan("F", x, spans_[x].fetched));
      out_.push_back(AddSpan("OUT", x, spans_[x].out));
      off_.push_back(AddSpan("OFF", x, spans_[x].off));
      swapped_.push_back(HasSwap(x) ? model_.AddBinary(Name("S", x, 0))
                                    : VariableIndex(kNoVariable));
      if (paging_ == nullptr) continue;
      AppendTerm(swapped_[x], paging_->out[s], cost_);
      for (const VariableIndex in : fetched_[x].variables) {
        AppendTerm(in, paging_->in[s], cost_);
      }
      for (const VariableIndex out : out_[x].variables) {
        AppendTerm(out, paging_->out[s], cost_);
      }
      // A result is copied out at least once, the first time at no price.
      if (out_[x].variables.empty() || !IsResult(x)) continue;
      constant_ += paging_->out[s];
      model_.variables[off_[x].At(steps_)].lower = 1;
    }
  }

  // At least 1 once operator v has run for the first time at step t or later.
  void AppendNotBefore(std::size_t v, std::size_t t, std::vector<Term>& terms) const {
    for (std::size_t k = t; k < steps_; ++k) AppendTerm(first_[v].At(k), 1, terms);
  }

  void AppendRuns(std::size_t v, std::size_t t, bool always, Number coefficient,
                  std::vector<Term>& terms) const {
    AppendTerm(first_[v].At(t), coefficient, terms);
    if (always) AppendTerm(again_[v].At(t), coefficient, terms);
  }

  // What leaves value x at step t, if anything may.
  [[nodiscard]] std::vector<VariableIndex> WritersAt(std::size_t v, std::size_t store,
                                                     std::size_t t) const {
    if (v == kNone) return {};
    std::vector<VariableIndex> runs = {first_[v].At(t)};
    if (Writes(work_, v, store, /*again=*/true)) runs.push_back(again_[v].At(t));
    return runs;
  }

  // Operator v: once, perhaps again later, after what it waits for and with all that it finds.
  void AddExecutions(std::size_t v) {
    std::vector<Term> once;
    AppendNotBefore(v, 0, once);
    model_.AddConstraint(Name("once", v, 0), 1, std::move(once), 1);  // (3)
    for (std::size_t t = 0; t < steps_; ++t) {
      const VariableIndex again = again_[v].At(t);
      if (again.value() != kNoVariable) {
        std::vector<Term> later = {{again, 1}};
        AppendNotBefore(v, t, later);
        model_.AddConstraint(Name("again", v, t), -milp::kInfinity, std::move(later), 1);
      }
      if (first_[v].At(t).value() == kNoVariable && again.value() == kNoVariable) continue;
      AddPrecedence(v, t);
      for (const Use& use : work_.uses[v]) AddRead(v, t, use);
    }
  }

  // Those that leave nothing that v finds: a tensor says the others (the paper has edges of no bytes).
  void AddPrecedence(std::size_t v, std::size_t t) {
    if (first_[v].At(t).value() == kNoVariable) return;
    for (const std::size_t u : predecessors_[v]) {
      const bool read =
          std::any_of(work_.uses[v].begin(), work_.uses[v].end(), [&](const Use& use) {
            const Store& store = work_.stores[use.store];
            return use.finds != kMakes && !store.given &&
                   store.writers[static_cast<std::size_t>(use.finds)] == u;
          });
      if (read) continue;
      std::vector<Term> terms = {{first_[v].At(t), 1}};
      AppendNotBefore(u, t, terms);
      model_.AddConstraint(Name("after", v, t) + "_" + std::to_string(u), -milp::kInfinity,
                           std::move(terms), 1);
    }
  }

  void AddRead(std::size_t v, std::size_t t, const Use& use) {
    if (use.finds == kMakes) return;
    const Store& store = work_.stores[use.store];
    const auto version = static_cast<std::size_t>(use.finds);
    const std::size_t next =
        version + 1 < store.writers.size() ? store.writers[version + 1] : kNone;
    const std::string name = Name("reads", v, t) + "_" + std::to_string(use.store);
    if (store.given) {
      // What is given is as it was until it is written, which happens once.
      const VariableIndex again = again_[v].At(t);
      if (next == kNone || next == v || use.only_first || again.value() == kNoVariable) return;
      std::vector<Term> terms = {{again, 1}};
      for (std::size_t k = 0; k <= t; ++k) AppendTerm(first_[next].At(k), 1, terms);
      model_.AddConstraint(name, -milp::kInfinity, std::move(terms), 1);
      return;
    }
    std::vector<Term> terms;
    AppendRuns(v, t, !use.only_first, 1, terms);
    if (terms.empty()) return;
    const std::size_t x = values_.Of(use.store, use.finds);
    std::vector<Term> both = terms;
    AppendTerm(kept_[x].At(t), -1, terms);
    AppendTerm(fetched_[x].At(t), -1, terms);
    model_.AddConstraint(name, -milp::kInfinity, std::move(terms), 0);  // (4)
    if (next == kNone || next == v) return;
    // Within a step, operators run in program order: not one that writes what another one reads.
    for (const VariableIndex run : WritersAt(next, use.store, t)) AppendTerm(run, 1, both);
    model_.AddConstraint(name + "_apart", -milp::kInfinity, std::move(both), 1);
  }

  // (2), and what is overwritten is gone.
  void AddKept(std::size_t x) {
    const Value& value = values_.all[x];
    const bool last_step = paging_ == nullptr && IsResult(x);
    for (std::size_t t = spans_[x].kept.first; t < spans_[x].kept.end; ++t) {
      std::vector<Term> since = {{kept_[x].At(t), 1}};
      AppendTerm(kept_[x].At(t - 1), -1, since);
      AppendTerm(fetched_[x].At(t - 1), -1, since);
      for (const VariableIndex run : WritersAt(value.writer, value.store, t - 1)) {
        AppendTerm(run, -1, since);
      }
      model_.AddConstraint(Name("since", x, t), -milp::kInfinity, std::move(since), 0);
      std::vector<VariableIndex> gone = {kept_[x].At(t)};
      for (const VariableIndex run : WritersAt(value.next, value.store, t - 1)) gone.push_back(run);
      AddAtMostOne(Name("overwritten", x, t), gone, model_);
    }
    if (!last_step) return;
    std::vector<Term> there;
    AppendTerm(kept_[x].At(steps_ - 1), 1, there);
    for (const VariableIndex run : WritersAt(value.writer, value.store, steps_ - 1)) {
      AppendTerm(run, 1, there);
    }
    model_.AddConstraint(Name("result", x, 0), 1, std::move(there), milp::kInfinity);
  }

  // A value is fetched if it was made two steps before, at least, and is copied out.
  void AddFetches(std::size_t x) {
    const Value& value = values_.all[x];
    for (std::size_t t = spans_[x].fetched.first; t < spans_[x].fetched.end; ++t) {
      const VariableIndex in = fetched_[x].At(t);
      if (HasSeveral(value.store)) {
        std::vector<Term> terms = {{in, 1}};
        AppendTerm(off_[x].At(t), -1, terms);
        model_.AddConstraint(Name("in", x, t), -milp::kInfinity, std::move(terms), 0);
        continue;
      }
      std::vector<Term> made = {{in, 1}};
      AppendNotBefore(value.writer, t - 1, made);
      model_.AddConstraint(Name("made", x, t), -milp::kInfinity, std::move(made), 1);
      if (swapped_[x].value() == kNoVariable) continue;
      model_.AddConstraint(Name("swap", x, t), -milp::kInfinity, {{in, 1}, {swapped_[x], -1}}, 0);
    }
  }

  // OUT and OFF of a store with several versions.
  void AddVersionCopies(std::size_t x) {
    const Value& value = values_.all[x];
    for (std::size_t t = spans_[x].out.first; t < spans_[x].out.end; ++t) {
      const VariableIndex out = out_[x].At(t);
      std::vector<Term> here = {{out, 1}};
      AppendTerm(kept_[x].At(t), -1, here);
      AppendTerm(fetched_[x].At(t), -1, here);
      for (const VariableIndex run : WritersAt(value.writer, value.store, t)) {
        AppendTerm(run, -1, here);
      }
      model_.AddConstraint(Name("out", x, t), -milp::kInfinity, std::move(here), 0);
      if (value.next == kNone) continue;
      std::vector<VariableIndex> leaves = {out, kept_[x].At(t + 1)};
      for (const VariableIndex run : WritersAt(value.next, value.store, t)) leaves.push_back(run);
      AddAtMostOne(Name("leaves", x, t), leaves, model_);
    }
    for (std::size_t t = spans_[x].off.first; t < spans_[x].off.end; ++t) {
      std::vector<Term> off = {{off_[x].At(t), 1}};
      AppendTerm(off_[x].At(t - 1), -1, off);
      AppendTerm(out_[x].At(t - 1), -1, off);
      model_.AddConstraint(Name("off", x, t), -milp::kInfinity, std::move(off), 0);
    }
  }

  // (1): of the versions of a store one is in memory, made, kept or fetched, and one off chip.
  void AddVersions(std::size_t s) {
    const Store& store = work_.stores[s];
    if (store.given || store.writers.empty()) return;
    for (std::size_t t = 0; t <= steps_; ++t) {
      std::vector<VariableIndex> here = WritersAt(store.writers.front(), s, t);
      std::vector<VariableIndex> off;
      for (std::int32_t k = 0; k <= store.last; ++k) {
        const std::size_t x = values_.Of(s, k);
        here.push_back(kept_[x].At(t));
        here.push_back(fetched_[x].At(t));
        off.push_back(off_[x].At(t));
      }
      AddAtMostOne(Name("one", s, t), here, model_);
      AddAtMostOne(Name("one_copy", s, t), off, model_);
    }
  }

  // The peak as what is minimised, at a bounded cost.
  void AddPeak(Bytes least) {
    Number all = 0;
    for (std::size_t s = 0; s < work_.stores.size(); ++s) all += SizeOf(s);
    const Number most = std::min(all, capacity_);
    peak_ = model_.AddVariable("M", std::min(least / unit_, most), most);
    model_.objective = {{peak_, 1}};
    if (cost_.empty() || *most_cost_ >= milp::kInfinity - constant_) return;
    model_.AddConstraint("cost", -milp::kInfinity, std::move(cost_), *most_cost_ + constant_);
  }

  // (13), with the peak or with the capacity in its place.
  void AddLoad(std::size_t t) {
    std::vector<Term> terms;
    for (std::size_t v = 0; v < n_; ++v) {
      Number made = 0;
      for (const Use& use : work_.uses[v]) {
        if (use.finds == kMakes) made += SizeOf(use.store);
      }
      AppendRuns(v, t, true, made, terms);
    }
    for (std::size_t x = 0; x < values_.all.size(); ++x) {
      AppendTerm(kept_[x].At(t), SizeOf(values_.all[x].store), terms);
      AppendTerm(fetched_[x].At(t), SizeOf(values_.all[x].store), terms);
    }
    if (terms.empty()) return;
    AppendTerm(peak_, -1, terms);
    model_.AddConstraint("load" + std::to_string(t), -milp::kInfinity, std::move(terms),
                         most_cost_ ? 0 : capacity_);
  }

  const Work& work_;
  const std::size_t n_;
  const std::size_t steps_;
  const bool within_spans_;
  const Paging* const paging_;
  const Bytes unit_;
  const Number capacity_;  // In units.
  const std::optional<std::int64_t> most_cost_;
  const Values values_;
  std::vector<std::vector<std::size_t>> predecessors_;
  std::vector<Span> first_span_;
  std::vector<Span> again_span_;
  std::vector<ValueSpans> spans_;  // By value.
  milp::Model model_;
  std::vector<Term> cost_;  // Less `constant_`: what is minimised or bounded.
  Number constant_ = 0;
  VariableIndex peak_ = VariableIndex(kNoVariable);  // In units.
  std::vector<Row> first_;
  std::vector<Row> again_;
  std::vector<Row> kept_;
  std::vector<Row> fetched_;
  std::vector<Row> out_;
  std::vector<Row> off_;
  std::vector<VariableIndex> swapped_;
};

Result<Solved> SolveOlla(const Graph& graph, const Work& work, const OllaRecomputeOptions& options,
                         const Paging* paging, Budget& budget) {
  [[maybe_unused]] const milp::Backend backend =
      BERTH_TRY(milp::ChooseBackend(options.plan.backend));  // Also of what needs no solver.
  Solved result;
  RecomputeBaselineAnswer& answer = result.answer;
  if (work.size() == 0) {
    answer.outcome = Outcome::kOptimal;
    answer.stopped = StopReason::kAnswered;
    result.sequence = Sequence{};
    return result;
  }
  OllaProgram program(graph, work, options, paging);
  answer.variables = program.CountVariables();
  if (answer.variables > options.plan.most_variables) {
    answer.stopped = StopReason::kSize;
    return result;
  }
  program.Build(graph);
  BERTH_TRY(SolveProgram(
      work, options.plan, paging, program.model(), program.constant(),
      [&](const std::vector<Number>& numbers) { return program.Decode(numbers); }, budget, result));
  answer.bound *= program.scale();
  return result;
}

}  // namespace
}  // namespace berth::internal::baselines

namespace berth {

Result<RecomputeBaselineAnswer> RecomputeByOlla(const Graph& graph,
                                                const OllaRecomputeOptions& options,
                                                Budget& budget) {
  namespace methods = internal::baselines;
  const auto start = Budget::Clock::now();
  RecomputeBaselineOptions plain = options.plan;
  plain.order.reset();
  const Order order = BERTH_TRY(methods::OrderOf(graph, plain));
  if (options.most_cost && *options.most_cost < 0) {
    return Fail(ErrorCode::kInvalidOptions, "the most that a plan may cost is " +
                                                std::to_string(*options.most_cost) + ", below 0");
  }
  const methods::Work work = methods::ReadWork(graph, order);
  std::optional<methods::Paging> paging;
  if (options.link) {
    BERTH_TRY(Validate(*options.link));
    BERTH_TRY(methods::CheckTimes(graph));
    paging = methods::TimesOf(work, *options.link);
  }
  methods::Solved solved;
  {
    Budget part(budget, methods::kShareOfSolver);
    solved = BERTH_TRY(methods::SolveOlla(graph, work, options, paging ? &*paging : nullptr, part));
  }
  if (solved.sequence) {
    const methods::Trace trace = methods::Run(work, *solved.sequence, paging.has_value());
    MemoryPlan plan = BERTH_TRY(methods::MakePlan(
        graph, work, *solved.sequence, trace, options.link ? &*options.link : nullptr,
        options.most_cost ? trace.peak : options.plan.capacity, options.plan.placer, budget));
    // Beyond the bound on the cost, by a solver's tolerances.
    const bool dear = options.most_cost && plan.overhead() > *options.most_cost;
    if (dear) solved.answer.outcome = Outcome::kUnknown;
    if (!dear) solved.answer.plan = std::move(plan);
  }
  solved.answer.seconds = std::chrono::duration<double>(Budget::Clock::now() - start).count();
  return std::move(solved.answer);
}

}  // namespace berth
