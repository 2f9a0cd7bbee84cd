// COSMA's integer program, as published: Li, Gupta and Malik, "Combined Scheduling, Memory
// Allocation and Tensor Replacement for Minimizing Off-Chip Data Accesses of DNN Accelerators",
// 2023; equations by their numbers there.
//
// Four binaries for each tensor and step say that it is created, preserved, spilled or retrieved
// there; an integer says where it lies, two binaries for each pair which of the two lies higher.
// It is a baseline, and an oracle for small graphs, so it reads the graph by itself and shares no
// code with the search of src/spill.
//
// The overlap analysis (III-F) needs the first and last possible step of each operator. Exactly one
// operator runs at each step, so its numbers of ancestors and descendants give these. That is
// tighter than levels of the graph.

#include "berth/cosma.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/text.h"
#include "base/try.h"
#include "baselines/cosma/program.h"
#include "baselines/milp/model.h"
#include "baselines/milp/solve.h"
#include "graph/plan.h"

namespace berth {

namespace {

using internal::milp::kInfinity;
using internal::milp::Model;
using internal::milp::Number;
using internal::milp::Term;
using internal::milp::VariableIndex;
using internal::spill::CosmaBorder;

constexpr std::int32_t kNone = -1;

// A tensor with bytes of its own.
struct Item {
  TensorIndex tensor = 0;
  Number size = 0;  // In units of what divides all sizes.
  bool result = false;
  std::size_t maker = 0;
  std::vector<std::size_t> users;  // Other operators that need it.
  // Steps at which it can be created; at which it can be in memory or leave.
  std::size_t first = 0;
  std::size_t last_created = 0;
  std::size_t last = 0;
};

class Cosma {
 public:
  Cosma(const Graph& graph, const CosmaOptions& options, const CosmaBorder& border)
      : graph_(graph), options_(options), border_(border) {}

  Result<void> Read() {
    n_ = graph_.operators.size();
    FindItems();
    BERTH_TRY(FindUsers());
    return FindSteps();
  }

  void Build() {
    AddRuns();
    for (std::size_t v = 0; v < n_; ++v) AddPrecedence(v);
    const bool traffic = options_.objective == CosmaOptions::Objective::kTraffic;
    for (std::size_t a = 0; a < items_.size(); ++a) AddActions(a, traffic);
    for (std::size_t a = 0; a < items_.size(); ++a) AddInputs(a);
    if (traffic) {
      capacity_ = options_.capacity / unit_;
    } else {
      peak_ = model_.AddVariable("peak", 0, SumOfSizes());
      model_.objective.push_back({peak_, 1});
    }
    for (std::size_t t = 0; t < n_; ++t) AddRoom(t, traffic);
    if (traffic && options_.addresses) AddAddresses();
  }

  Result<CosmaAnswer> Solve(Budget& budget) {
    using internal::milp::Status;
    CosmaAnswer answer;
    answer.variables = model_.variables.size();
    answer.constraints = model_.constraints.size();
    const auto backend = BERTH_TRY(internal::milp::ChooseBackend(options_.backend));
    const auto solved = BERTH_TRY(internal::milp::Solve(model_, backend, {}, budget));
    answer.nodes = solved.nodes;
    switch (solved.status) {
      case Status::kOptimal:
        answer.outcome = Outcome::kOptimal;
        break;
      case Status::kFeasible:
        answer.outcome = Outcome::kFeasible;
        break;
      case Status::kInfeasible:
        answer.outcome = Outcome::kInfeasible;
        break;
      case Status::kUnknown:
        answer.outcome = Outcome::kUnknown;
        break;
    }
    if (solved.status == Status::kFeasible || solved.status == Status::kUnknown) {
      answer.stopped = budget.Exhausted() ? StopReason::kBudget : StopReason::kAlgorithm;
    }
    if (solved.bound) answer.lower_bound = std::max<Number>(0, *solved.bound) * unit_;
    if (!solved.values.empty()) {
      answer.value = solved.objective * unit_;
      answer.plan = PlanOf(solved.values);
    }
    return answer;
  }

 private:
  static std::string Name(const char* what, std::size_t i, std::size_t t) {
    return std::string(what) + "_" + std::to_string(i) + "_" + std::to_string(t);
  }
  // Tensors of one operator share variables, so one may come twice.
  static void AppendTerm(VariableIndex x, Number coefficient, std::vector<Term>& terms) {
    if (x.value() == kNone) return;
    for (Term& term : terms) {
      if (term.variable == x) {
        term.coefficient += coefficient;
        return;
      }
    }
    terms.push_back({x, coefficient});
  }
  [[nodiscard]] Number SumOfSizes() const {
    Number sum = 0;
    for (const Item& item : items_) sum += item.size;
    return sum;
  }
  [[nodiscard]] VariableIndex Created(std::size_t a, std::size_t t) const {
    return runs_[items_[a].maker][t];
  }
  void AppendResident(std::size_t a, std::size_t t, Number coefficient,
                      std::vector<Term>& terms) const {
    AppendTerm(Created(a, t), coefficient, terms);
    AppendTerm(preserved_[a][t], coefficient, terms);
    AppendTerm(retrieved_[a][t], coefficient, terms);
  }

  // The tensors with bytes of their own, and the unit of their sizes.
  void FindItems() {
    maker_.assign(graph_.tensors.size(), n_);
    for (std::size_t v = 0; v < n_; ++v) {
      for (const TensorIndex t : graph_.operators[v].outputs) maker_[t] = v;
    }
    item_.assign(graph_.tensors.size(), kNone);
    unit_ = 0;
    for (TensorIndex t = 0; t < graph_.tensors.size(); ++t) {
      const Tensor& tensor = graph_.tensors[t];
      if (tensor.alias_of || tensor.bytes == 0 || maker_[t] == n_) continue;
      item_[t] = static_cast<std::int32_t>(items_.size());
      Item made;
      made.tensor = t;
      made.maker = maker_[t];
      unit_ = std::gcd(unit_, tensor.bytes);
      items_.push_back(made);
    }
    if (border_.unit > 0) unit_ = border_.unit;
    unit_ = std::max<Bytes>(unit_, 1);
    for (Item& i : items_) i.size = graph_.tensors[i.tensor].bytes / unit_;
    for (TensorIndex t = 0; t < graph_.tensors.size(); ++t) {
      const std::int32_t i = item_[BaseOf(graph_, t)];
      if (graph_.tensors[t].output && i != kNone) items_[static_cast<std::size_t>(i)].result = true;
    }
  }

  // The operators that use each tensor, and those that run before each operator.
  Result<void> FindUsers() {
    before_.assign(n_, std::vector<char>(n_, 0));
    for (std::size_t v = 0; v < n_; ++v) {
      const Operator& op = graph_.operators[v];
      const auto follows = [&](std::size_t u) {
        before_[v][u] = 1;
        for (std::size_t w = 0; w < u; ++w) {
          if (before_[u][w] != 0) before_[v][w] = 1;
        }
      };
      std::vector<TensorIndex> touched = op.mutates;
      for (const TensorIndex t : op.mutates) {
        if (item_[t] != kNone && maker_[t] != v) {
          return Fail(ErrorCode::kUnsupported,
                      "COSMA's program knows no writes in place: operator " +
                          internal::Quoted(op.name) + " writes tensor " +
                          internal::Quoted(graph_.tensors[t].name));
        }
        if (maker_[t] != n_) follows(maker_[t]);
      }
      for (const TensorIndex t : op.inputs) {
        if (maker_[t] != n_) follows(maker_[t]);
        touched.push_back(BaseOf(graph_, t));
      }
      for (const TensorIndex t : op.outputs) touched.push_back(BaseOf(graph_, t));
      for (const OperatorIndex u : op.after) follows(u);
      std::sort(touched.begin(), touched.end());
      touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
      for (const TensorIndex t : touched) {
        if (item_[t] == kNone || maker_[t] == v) continue;
        items_[static_cast<std::size_t>(item_[t])].users.push_back(v);
      }
    }
    return {};
  }

  // The first and the last step of each operator and tensor (III-F).
  Result<void> FindSteps() {
    first_.assign(n_, 0);
    last_.assign(n_, n_ - 1);
    for (std::size_t v = 0; v < n_ && options_.overlap_analysis; ++v) {
      for (std::size_t u = 0; u < n_; ++u) {
        if (before_[v][u] == 0) continue;
        ++first_[v];
        --last_[u];
      }
    }
    if (options_.order) {
      if (options_.order->size() != n_) {
        return Fail(ErrorCode::kInvalidPlan,
                    "the order has " + std::to_string(options_.order->size()) +
                        " operators but the graph has " + std::to_string(n_));
      }
      for (std::size_t s = 0; s < n_; ++s) first_[(*options_.order)[s]] = s;
      if (options_.overlap_analysis) last_ = first_;
    }
    for (Item& i : items_) {
      i.first = first_[i.maker];
      i.last_created = last_[i.maker];
      i.last = i.last_created;
      for (const std::size_t u : i.users) i.last = std::max(i.last, last_[u]);
      if (!options_.overlap_analysis) {
        i.first = 0;
        i.last = i.last_created = n_ - 1;
      }
    }
    return {};
  }

  // The step of each operator: C of all its outputs. Equations 6, 7 and 16, and one operator at
  // each step.
  void AddRuns() {
    runs_.resize(n_);
    std::vector<std::vector<Term>> at(n_);
    for (std::size_t v = 0; v < n_; ++v) {
      std::vector<Term> once;
      const std::size_t from = options_.overlap_analysis ? first_[v] : 0;
      for (std::size_t t = 0; t < n_; ++t) {
        if (t < from || t > last_[v]) {
          runs_[v].push_back(VariableIndex(kNone));
          continue;
        }
        const VariableIndex x = model_.AddBinary(Name("run", v, t));
        // Equation 16.
        if (options_.order && first_[v] != t) model_.variables[x].upper = 0;
        runs_[v].push_back(x);
        once.push_back({x, 1});
        at[t].push_back({x, 1});
      }
      model_.AddConstraint(Name("once", v, 0), 1, std::move(once), 1);
    }
    for (std::size_t t = 0; t < n_; ++t) {
      model_.AddConstraint(Name("step", t, 0), 1, std::move(at[t]), 1);
    }
  }

  // Users run only while the tensor is in memory: equation 5.
  void AddInputs(std::size_t a) {
    for (const std::size_t u : items_[a].users) {
      for (std::size_t t = 0; t < n_; ++t) {
        if (runs_[u][t].value() == kNone) continue;
        std::vector<Term> terms = {{runs_[u][t], -1}};
        AppendTerm(preserved_[a][t], 1, terms);
        AppendTerm(retrieved_[a][t], 1, terms);
        model_.AddConstraint(Name("input", a, t), 0, std::move(terms), kInfinity);
      }
    }
  }

  // What is in memory at a step fits in the sum: equation 14. With a capacity it follows from the
  // addresses, and helps.
  void AddRoom(std::size_t t, bool traffic) {
    std::vector<Term> terms;
    for (std::size_t a = 0; a < items_.size(); ++a) AppendResident(a, t, items_[a].size, terms);
    if (terms.empty()) return;
    if (!traffic) terms.push_back({peak_, -1});
    model_.AddConstraint(Name("room", t, 0), -kInfinity, std::move(terms), traffic ? capacity_ : 0);
  }

  // Tensors give the order of operators where there is one; edges without a tensor do so directly.
  void AddPrecedence(std::size_t v) {
    for (std::size_t u = 0; u < v; ++u) {
      if (before_[v][u] == 0) continue;
      bool follows = false;
      for (std::size_t w = u + 1; w < v && !follows; ++w) {
        follows = before_[v][w] != 0 && before_[w][u] != 0;
      }
      if (follows) continue;
      for (std::size_t t = 0; t < n_; ++t) {
        if (runs_[v][t].value() == kNone) continue;
        // v runs at t only if u has run before.
        std::vector<Term> terms = {{runs_[v][t], -1}};
        for (std::size_t k = 0; k < t; ++k) AppendTerm(runs_[u][k], 1, terms);
        model_.AddConstraint(Name("after", v * n_ + u, t), 0, std::move(terms), kInfinity);
      }
    }
  }

  void AddActions(std::size_t a, bool traffic) {
    const Item& item = items_[a];
    const VariableIndex none(kNone);
    preserved_.emplace_back(n_, none);
    spilled_.emplace_back(n_, none);
    retrieved_.emplace_back(n_, none);
    auto& p = preserved_.back();
    auto& s = spilled_.back();
    auto& r = retrieved_.back();
    std::vector<Term> spills;
    for (std::size_t t = item.first + 1; t <= item.last; ++t) {
      p[t] = model_.AddBinary(Name("preserve", a, t));
      if (!traffic) continue;  // Equation 13.
      s[t] = model_.AddBinary(Name("spill", a, t));
      r[t] = model_.AddBinary(Name("retrieve", a, t));
      if (!item.result) model_.objective.push_back({s[t], item.size});
      model_.objective.push_back({r[t], item.size});
      spills.push_back({s[t], 1});
    }
    for (std::size_t t = item.first; t <= item.last; ++t) {
      std::vector<Term> one;  // Equation 1.
      for (const VariableIndex x : {Created(a, t), p[t], s[t], r[t]}) AppendTerm(x, 1, one);
      if (one.size() > 1) model_.AddConstraint(Name("one", a, t), -kInfinity, std::move(one), 1);
      if (t == item.first) continue;
      std::vector<Term> stays = {{p[t], -1}};  // Equation 2.
      AppendTerm(Created(a, t - 1), 1, stays);
      AppendTerm(p[t - 1], 1, stays);
      AppendTerm(r[t - 1], 1, stays);
      model_.AddConstraint(Name("stays", a, t), 0, std::move(stays), kInfinity);
      if (!traffic) continue;
      std::vector<Term> leaves = {{s[t], -1}};  // Equation 3.
      AppendTerm(Created(a, t - 1), 1, leaves);
      AppendTerm(p[t - 1], 1, leaves);
      model_.AddConstraint(Name("leaves", a, t), 0, std::move(leaves), kInfinity);
      std::vector<Term> returns = {{r[t], -1}};  // Equation 4.
      for (std::size_t k = item.first + 1; k < t; ++k) AppendTerm(s[k], 1, returns);
      model_.AddConstraint(Name("returns", a, t), 0, std::move(returns), kInfinity);
    }
    // Equation 8.
    if (spills.size() > 1) {
      model_.AddConstraint(Name("spills", a, 0), -kInfinity, std::move(spills), 1);
    }
  }

  // Equations 9 to 11.
  void AddAddresses() {
    const Number big = std::max<Number>(capacity_, 1);
    offset_.resize(items_.size());
    for (std::size_t a = 0; a < items_.size(); ++a) {
      offset_[a].assign(n_, VariableIndex(kNone));
      for (std::size_t t = items_[a].first; t <= items_[a].last; ++t) {
        // A tensor that is larger than the memory is in no plan; equation 14 says so.
        offset_[a][t] = model_.AddVariable(Name("offset", a, t), 0,
                                           std::max<Number>(capacity_ - items_[a].size, 0));
      }
      for (std::size_t t = items_[a].first + 1; t <= items_[a].last; ++t) {
        const VariableIndex same = model_.AddBinary(Name("same", a, t));
        for (const Number sign : {1, -1}) {
          model_.AddConstraint(Name("moves", a, t), -kInfinity,
                               {{offset_[a][t - 1], sign}, {offset_[a][t], -sign}, {same, big}},
                               big);
        }
        std::vector<Term> was = {{same, 1}};
        AppendTerm(Created(a, t - 1), -1, was);
        AppendTerm(preserved_[a][t - 1], -1, was);
        AppendTerm(retrieved_[a][t - 1], -1, was);
        std::vector<Term> both = was;
        model_.AddConstraint(Name("same_if", a, t), -kInfinity, std::move(was), 0);
        AppendTerm(preserved_[a][t], -1, both);
        model_.AddConstraint(Name("same_then", a, t), -1, std::move(both), kInfinity);
        model_.AddConstraint(Name("same_only", a, t), -kInfinity,
                             {{same, 1}, {preserved_[a][t], -1}}, 0);
      }
    }
    for (const auto& [tensor, offset] : border_.pins) {
      for (std::size_t a = 0; a < items_.size(); ++a) {
        if (items_[a].tensor != tensor) continue;
        auto& pinned = model_.variables[offset_[a][0]];
        pinned.lower = pinned.upper = offset / unit_;
      }
    }
    for (std::size_t a = 0; a < items_.size(); ++a) {
      for (std::size_t b = a + 1; b < items_.size(); ++b) {
        if (!CanMeet(a, b)) continue;
        const std::size_t from = std::max(items_[a].first, items_[b].first);
        const std::size_t to = std::min(items_[a].last, items_[b].last);
        for (std::size_t t = from; t <= to; ++t) AddPair(a, b, t, big);
      }
    }
  }

  // Equation 10. The big number has to lift a whole tensor over another.
  void AddPair(std::size_t a, std::size_t b, std::size_t t, Number big) {
    const VariableIndex above = model_.AddBinary(Name("above", a * items_.size() + b, t));
    const VariableIndex below = model_.AddBinary(Name("below", a * items_.size() + b, t));
    model_.AddConstraint(Name("either", a, t), -kInfinity, {{above, 1}, {below, 1}}, 1);
    std::vector<Term> terms = {{above, 1}, {below, 1}};
    AppendResident(a, t, -1, terms);
    AppendResident(b, t, -1, terms);
    model_.AddConstraint(Name("apart", a, t), -1, std::move(terms), kInfinity);
    model_.AddConstraint(Name("a_below", a, t), -kInfinity,
                         {{offset_[a][t], 1}, {offset_[b][t], -1}, {below, big}},
                         big - items_[a].size);
    model_.AddConstraint(Name("b_below", b, t), -kInfinity,
                         {{offset_[b][t], 1}, {offset_[a][t], -1}, {above, big}},
                         big - items_[b].size);
  }

  // Not where all that uses the one comes before the other is made.
  [[nodiscard]] bool CanMeet(std::size_t a, std::size_t b) const {
    if (!options_.overlap_analysis) return true;
    const auto is_over = [&](const Item& early, const Item& late) {
      if (early.maker == late.maker) return false;
      const auto comes_before = [&](std::size_t u) { return before_[late.maker][u] != 0; };
      return comes_before(early.maker) &&
             std::all_of(early.users.begin(), early.users.end(), comes_before);
    };
    return !is_over(items_[a], items_[b]) && !is_over(items_[b], items_[a]);
  }

  [[nodiscard]] MemoryPlan PlanOf(const std::vector<Number>& values) const {
    const auto is = [&](VariableIndex x) {
      return x.value() != kNone && values[x.position()] == 1;
    };
    MemoryPlan plan;
    plan.order.resize(n_);
    for (std::size_t v = 0; v < n_; ++v) {
      for (std::size_t t = 0; t < n_; ++t) {
        if (is(runs_[v][t])) plan.order[t] = v;
      }
    }
    std::vector<std::size_t> step(n_, 0);
    for (std::size_t t = 0; t < n_; ++t) step[plan.order[t]] = t;
    for (std::size_t a = 0; a < items_.size(); ++a) {
      const Item& item = items_[a];
      const Bytes bytes = item.size * unit_;
      std::size_t last_use = step[item.maker];
      for (const std::size_t u : item.users) last_use = std::max(last_use, step[u]);
      bool copied = false;
      for (std::size_t t = step[item.maker]; t <= last_use;) {
        // A stay: to the last use within it.
        std::size_t end = t + 1;
        while (end <= last_use && is(preserved_[a][end])) ++end;
        std::size_t used = t;
        bool any = t == step[item.maker];
        for (const std::size_t u : item.users) {
          if (step[u] < t || step[u] >= end) continue;
          used = std::max(used, step[u]);
          any = true;
        }
        if (any) {
          Residency residency;
          residency.tensor = item.tensor;
          residency.start = static_cast<Step>(t);
          residency.end = static_cast<Step>(used) + 1;
          residency.comes_in = t != step[item.maker];
          if (!offset_.empty()) residency.offset = values[offset_[a][t].position()] * unit_;
          if (residency.comes_in) plan.traffic.retrieved += bytes;
          if (!copied && (used < last_use || item.result)) {
            residency.written_out = true;
            copied = true;
            if (!item.result) plan.traffic.spilled += bytes;
          }
          plan.residencies.push_back(residency);
        }
        t = end;
        while (t <= last_use && !is(retrieved_[a][t])) ++t;
      }
      if (item.result) plan.traffic.compulsory_out += bytes;
    }
    plan.addressed = !offset_.empty();
    internal::StateUse(graph_, plan);
    return plan;
  }

  const Graph& graph_;
  const CosmaOptions& options_;
  const CosmaBorder& border_;
  std::size_t n_ = 0;
  Bytes unit_ = 1;
  Number capacity_ = 0;  // In units.
  std::vector<Item> items_;
  std::vector<std::vector<char>> before_;  // before_[v][u]: u comes before v in every order.
  std::vector<std::size_t> maker_;         // Of each tensor; n_ for what is given.
  std::vector<std::int32_t> item_;         // Of each tensor, or kNone.
  std::vector<std::size_t> first_;         // Steps that each operator can run at.
  std::vector<std::size_t> last_;
  Model model_;
  VariableIndex peak_{kNone};
  std::vector<std::vector<VariableIndex>> runs_;
  std::vector<std::vector<VariableIndex>> preserved_;
  std::vector<std::vector<VariableIndex>> spilled_;
  std::vector<std::vector<VariableIndex>> retrieved_;
  std::vector<std::vector<VariableIndex>> offset_;
};

}  // namespace

Result<CosmaAnswer> SolveCosma(const Graph& graph, const CosmaOptions& options, Budget& budget) {
  return internal::spill::SolveCosmaWithBorder(graph, options, {}, budget);
}

namespace internal::spill {

Result<CosmaAnswer> SolveCosmaWithBorder(const Graph& graph, const CosmaOptions& options,
                                         const CosmaBorder& border, Budget& budget) {
  const auto start = Budget::Clock::now();
  BERTH_TRY(ValidateTraffic(graph, {}));
  if (options.order) {
    BERTH_TRY(ValidateOrder(graph, *options.order));
  }
  if (graph.operators.empty()) {
    CosmaAnswer empty;
    empty.outcome = Outcome::kOptimal;
    empty.value = 0;
    empty.plan = MemoryPlan{};
    return empty;
  }
  Cosma cosma(graph, options, border);
  BERTH_TRY(cosma.Read());
  cosma.Build();
  CosmaAnswer answer = BERTH_TRY(cosma.Solve(budget));
  answer.seconds = std::chrono::duration<double>(Budget::Clock::now() - start).count();
  return answer;
}

}  // namespace internal::spill

}  // namespace berth
