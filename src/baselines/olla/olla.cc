// OLLA's integer program, built from a graph and decoded into an order.
//
// Time has one step per operator. C[v][t]: operator v runs at step t. (The paper has such a
// variable for each output of v and equates them (5); here they are one variable.) P[e][t]: tensor
// e, created earlier, is kept at step t. If an operator waits for another without using its output,
// a tensor of zero bytes represents the edge, as in the paper. Independent operators may share a
// step, and steps may stay empty; running the operators of one step one by one never raises the
// peak.
//
// Cost: up to n x (n + tensors) variables for n operators; with joint addresses, two more for each
// pair of tensors and a constraint for each pair and step.

#include "berth/olla.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/try.h"
#include "baselines/milp/solve.h"
#include "graph/edges.h"
#include "graph/plan.h"

namespace berth {
namespace internal {
namespace {

using milp::Number;
using milp::Term;
using milp::VariableIndex;

constexpr std::int64_t kMostVariables = 4'000'000;

struct Edge {
  OperatorIndex source = 0;
  std::vector<OperatorIndex> sinks;
  Bytes size = 0;
  bool to_end = false;
  TensorIndex tensor = 0;  // If size > 0.
};

// Longest paths, in operators.
struct Levels {
  std::vector<std::size_t> forward;   // From any operator without predecessors.
  std::vector<std::size_t> backward;  // To any without successors.
};

class Dataflow {
 public:
  Dataflow(const Graph& graph, bool early_updates)
      : graph_(graph), n_(graph.operators.size()), predecessors_(n_), successors_(n_) {
    const std::vector<OperatorIndex> makers = Makers(graph);
    for (OperatorIndex v = 0; v < n_; ++v) {
      ForEachPredecessor(graph, makers, v, [&](OperatorIndex u) { Connect(u, v); });
    }
    if (early_updates) AddControlEdges();
    MakeEdges(makers);
    levels_ = MakeLevels();
  }

  [[nodiscard]] const std::vector<Edge>& edges() const { return edges_; }
  // The edges that operator v reads, by v.
  [[nodiscard]] const std::vector<std::vector<std::size_t>>& fanin() const { return fanin_; }
  [[nodiscard]] const std::vector<std::vector<OperatorIndex>>& successors() const {
    return successors_;
  }
  [[nodiscard]] std::size_t asap(OperatorIndex v) const { return levels_.forward[v]; }
  [[nodiscard]] std::size_t alap(OperatorIndex v) const { return n_ - 1 - levels_.backward[v]; }
  [[nodiscard]] std::int64_t control_edges() const { return control_edges_; }

 private:
  void Connect(OperatorIndex u, OperatorIndex v) {
    if (std::find(predecessors_[v].begin(), predecessors_[v].end(), u) != predecessors_[v].end()) {
      return;
    }
    predecessors_[v].push_back(u);
    successors_[u].push_back(v);
  }

  [[nodiscard]] Levels MakeLevels() const {
    Levels levels{std::vector<std::size_t>(n_, 0), std::vector<std::size_t>(n_, 0)};
    std::vector<std::size_t> missing(n_);
    std::vector<OperatorIndex> order;
    for (OperatorIndex v = 0; v < n_; ++v) {
      missing[v] = predecessors_[v].size();
      if (missing[v] == 0) order.push_back(v);
    }
    for (std::size_t k = 0; k < order.size(); ++k) {
      for (const OperatorIndex s : successors_[order[k]]) {
        levels.forward[s] = std::max(levels.forward[s], levels.forward[order[k]] + 1);
        if (--missing[s] == 0) order.push_back(s);
      }
    }
    BERTH_CHECK(order.size() == n_);
    for (std::size_t k = n_; k-- > 0;) {
      for (const OperatorIndex p : predecessors_[order[k]]) {
        levels.backward[p] = std::max(levels.backward[p], levels.backward[order[k]] + 1);
      }
    }
    return levels;
  }

  // Functions 3 and 4. An anchor has a higher forward level than its update, so levels also grow
  // along control edges, and no cycle can arise.
  void AddControlEdges() {
    const Levels levels = MakeLevels();
    std::vector<std::pair<OperatorIndex, OperatorIndex>> found;
    for (OperatorIndex update = 0; update < n_; ++update) {
      if (!graph_.operators[update].update) continue;
      const std::size_t least = levels.forward[update];
      std::map<OperatorIndex, std::pair<OperatorIndex, std::ptrdiff_t>> visited;
      const std::function<std::pair<OperatorIndex, std::ptrdiff_t>(OperatorIndex)> find_candidate =
          [&](OperatorIndex v) -> std::pair<OperatorIndex, std::ptrdiff_t> {
        if (const auto known = visited.find(v); known != visited.end()) return known->second;
        std::pair<OperatorIndex, std::ptrdiff_t> best = {kNoOperator, -1};
        for (const OperatorIndex sink : successors_[v]) {
          const auto level = static_cast<std::ptrdiff_t>(levels.backward[sink]);
          if (level < best.second) continue;
          if (levels.forward[sink] <= least) {
            const auto candidate = find_candidate(sink);
            if (candidate.second > best.second) best = candidate;
          } else {
            best = {sink, level};
          }
        }
        visited[v] = best;
        return best;
      };
      std::pair<OperatorIndex, std::ptrdiff_t> anchor = {kNoOperator, -1};
      std::vector<OperatorIndex> starts = {update};
      std::vector<bool> started(n_, false);
      while (anchor.first == kNoOperator && !starts.empty()) {
        std::vector<OperatorIndex> next;
        for (const OperatorIndex v : starts) {
          for (const OperatorIndex p : predecessors_[v]) {
            if (started[p]) continue;
            started[p] = true;
            next.push_back(p);
          }
        }
        starts = std::move(next);
        for (const OperatorIndex v : starts) {
          const auto candidate = find_candidate(v);
          if (candidate.second > anchor.second) anchor = candidate;
        }
      }
      if (anchor.first != kNoOperator) found.emplace_back(update, anchor.first);
    }
    for (const auto& [update, anchor] : found) Connect(update, anchor);
    control_edges_ = static_cast<std::int64_t>(found.size());
  }

  void MakeEdges(const std::vector<OperatorIndex>& makers) {
    constexpr std::size_t kNoEdge = ~std::size_t{0};
    fanin_.resize(n_);
    const std::vector<bool> is_output = OutputBases();
    std::vector<std::size_t> edge_of(graph_.tensors.size(), kNoEdge);
    for (TensorIndex t = 0; t < graph_.tensors.size(); ++t) {
      if (makers[t] == kNoOperator || !IsCounted(graph_.tensors[t], {})) continue;
      edge_of[t] = edges_.size();
      edges_.push_back({makers[t], {}, graph_.tensors[t].bytes, is_output[t], t});
    }
    std::vector<std::size_t> token(n_, kNoEdge);
    std::vector<TensorIndex> bases;
    for (OperatorIndex v = 0; v < n_; ++v) {
      std::vector<OperatorIndex> waited;
      BasesUsed(graph_, makers, v, bases);
      for (const TensorIndex base : bases) {
        if (edge_of[base] == kNoEdge) continue;
        edges_[edge_of[base]].sinks.push_back(v);
        fanin_[v].push_back(edge_of[base]);
        waited.push_back(makers[base]);
      }
      for (const OperatorIndex p : predecessors_[v]) {
        if (std::find(waited.begin(), waited.end(), p) != waited.end()) continue;
        if (token[p] == kNoEdge) {
          token[p] = edges_.size();
          edges_.push_back({p, {}, 0, false, 0});
        }
        edges_[token[p]].sinks.push_back(v);
        fanin_[v].push_back(token[p]);
      }
    }
  }

  [[nodiscard]] std::vector<bool> OutputBases() const {
    std::vector<bool> is_output(graph_.tensors.size(), false);
    for (TensorIndex t = 0; t < graph_.tensors.size(); ++t) {
      if (graph_.tensors[t].output) is_output[BaseOf(graph_, t)] = true;
    }
    return is_output;
  }

  const Graph& graph_;
  std::size_t n_;
  std::vector<std::vector<OperatorIndex>> predecessors_, successors_;
  std::vector<Edge> edges_;
  std::vector<std::vector<std::size_t>> fanin_;
  Levels levels_;
  std::int64_t control_edges_ = 0;
};

// Binaries of consecutive steps.
struct Row {
  std::size_t first = 0;
  std::vector<VariableIndex> variables;
  [[nodiscard]] bool Has(std::size_t t) const { return t >= first && t - first < variables.size(); }
  [[nodiscard]] VariableIndex operator[](std::size_t t) const { return variables[t - first]; }
};

class Program {
 public:
  Program(const Graph& graph, const Dataflow& dataflow, const OllaOptions& options)
      : dataflow_(dataflow), options_(options), n_(graph.operators.size()) {
    for (const Edge& edge : dataflow.edges()) {
      unit_ = std::gcd(unit_, edge.size);
      total_ += edge.size;
    }
    unit_ = std::max<Bytes>(unit_, 1);
    total_ /= unit_;
  }

  // Can be called before anything is built.
  [[nodiscard]] std::int64_t CountVariables() const {
    std::int64_t count = 0;
    for (OperatorIndex v = 0; v < n_; ++v) {
      count += static_cast<std::int64_t>(LastStep(v) - FirstStep(v) + 1);
    }
    for (const Edge& edge : dataflow_.edges()) {
      const auto [first, end] = KeptSteps(edge);
      count += static_cast<std::int64_t>(end > first ? end - first : 0);
    }
    if (options_.joint) {
      const auto edges = static_cast<std::int64_t>(dataflow_.edges().size());
      count += edges * (edges - 1);
    }
    return count;
  }

  void Build() {
    peak_ = model_.AddVariable("peak", 0, total_);
    model_.objective = {{peak_, 1}};
    AddRuns();
    for (std::size_t e = 0; e < dataflow_.edges().size(); ++e) AddKept(e);
    AddReads();
    AddLoads();
    if (options_.joint) AddAddresses();
  }

  // Function 1.
  [[nodiscard]] Order Decode(const std::vector<Number>& values) const {
    std::vector<std::size_t> step(n_, 0);
    Order order(n_);
    for (OperatorIndex v = 0; v < n_; ++v) {
      order[v] = v;
      for (std::size_t t = FirstStep(v); t <= LastStep(v); ++t) {
        if (values[runs_[v][t].position()] == 1) step[v] = t;
      }
    }
    std::stable_sort(order.begin(), order.end(),
                     [&](OperatorIndex a, OperatorIndex b) { return step[a] < step[b]; });
    return order;
  }

  [[nodiscard]] std::map<TensorIndex, Bytes> Addresses(const std::vector<Number>& values) const {
    std::map<TensorIndex, Bytes> addresses;
    for (const auto& [e, variable] : addresses_) {
      addresses[dataflow_.edges()[e].tensor] = values[variable.position()] * unit_;
    }
    return addresses;
  }

  [[nodiscard]] milp::Model& model() { return model_; }
  [[nodiscard]] Bytes unit() const { return unit_; }

 private:
  static std::string Name(std::string_view kind, std::size_t item, std::size_t t) {
    return std::string(kind) + std::to_string(item) + "_" + std::to_string(t);
  }
  [[nodiscard]] std::size_t FirstStep(OperatorIndex v) const {
    return options_.spans ? dataflow_.asap(v) : 0;  // (10)
  }
  [[nodiscard]] std::size_t LastStep(OperatorIndex v) const {
    return options_.spans ? dataflow_.alap(v) : n_ - 1;
  }
  // The steps [first, end) at which `edge` may be kept.
  [[nodiscard]] std::pair<std::size_t, std::size_t> KeptSteps(const Edge& edge) const {
    if (!options_.lifetimes) return {1, n_};
    std::size_t end = edge.to_end ? n_ : 0;
    for (const OperatorIndex v : edge.sinks) end = std::max(end, dataflow_.alap(v) + 1);
    return {dataflow_.asap(edge.source) + 1, end};  // (11)
  }

  // Every operator runs at one step: C (3).
  void AddRuns() {
    for (OperatorIndex v = 0; v < n_; ++v) {
      Row row{FirstStep(v), {}};
      std::vector<Term> once;
      for (std::size_t t = FirstStep(v); t <= LastStep(v); ++t) {
        row.variables.push_back(model_.AddBinary(Name("C", v, t)));
        once.push_back({row.variables.back(), 1});
      }
      model_.AddConstraint("once" + std::to_string(v), 1, std::move(once), 1);
      runs_.push_back(std::move(row));
    }
  }

  // An operator runs only while its inputs are kept (4).
  void AddReads() {
    for (OperatorIndex v = 0; v < n_; ++v) {
      for (const std::size_t f : dataflow_.fanin()[v]) {
        for (std::size_t t = FirstStep(v); t <= LastStep(v); ++t) {
          std::vector<Term> terms = {{runs_[v][t], 1}};
          if (kept_[f].Has(t)) terms.push_back({kept_[f][t], -1});
          model_.AddConstraint(Name("reads", v, t) + "_" + std::to_string(f), -milp::kInfinity,
                               std::move(terms), 0);
        }
      }
    }
  }

  // The peak is at least the bytes that are live at each step (13).
  void AddLoads() {
    const auto& edges = dataflow_.edges();
    for (std::size_t t = 0; t < n_; ++t) {
      std::map<std::size_t, Number> bytes;  // By variable; an operator's tensors share one.
      for (std::size_t e = 0; e < edges.size(); ++e) {
        if (edges[e].size == 0) continue;
        for (const VariableIndex live : LiveAt(e, t)) {
          bytes[live.position()] += edges[e].size / unit_;
        }
      }
      std::vector<Term> terms;
      terms.reserve(bytes.size() + 1);
      for (const auto& [variable, coefficient] : bytes) {
        terms.push_back({VariableIndex(variable), coefficient});
      }
      if (terms.empty()) continue;
      terms.push_back({peak_, -1});
      model_.AddConstraint("load" + std::to_string(t), -milp::kInfinity, std::move(terms), 0);
    }
  }

  // A tensor is kept from its creation on: P (1, 2, 12), and results to the end.
  void AddKept(std::size_t e) {
    const Edge& edge = dataflow_.edges()[e];
    const auto [first, end] = KeptSteps(edge);
    Row row{first, {}};
    for (std::size_t t = first; t < end; ++t)
      row.variables.push_back(model_.AddBinary(Name("P", e, t)));
    kept_.push_back(std::move(row));
    const Row& kept = kept_.back();
    const Row& runs = runs_[edge.source];
    for (std::size_t t = first; t < end; ++t) {
      if (runs.Has(t)) {
        model_.AddConstraint(Name("either", e, t), -milp::kInfinity, {{kept[t], 1}, {runs[t], 1}},
                             1);  // (1)
      }
      std::vector<Term> terms = {{kept[t], 1}};
      if (kept.Has(t - 1)) terms.push_back({kept[t - 1], -1});
      if (runs.Has(t - 1)) terms.push_back({runs[t - 1], -1});
      model_.AddConstraint(Name("since", e, t), -milp::kInfinity, std::move(terms), 0);  // (2)
    }
    if (edge.to_end) {
      std::vector<Term> terms;
      if (kept.Has(n_ - 1)) terms.push_back({kept[n_ - 1], 1});
      if (runs.Has(n_ - 1)) terms.push_back({runs[n_ - 1], 1});
      model_.AddConstraint("result" + std::to_string(e), 1, std::move(terms), milp::kInfinity);
    }
    if (options_.preserved) {
      std::size_t last = edge.to_end ? n_ - 1 : 0;
      for (const OperatorIndex v : edge.sinks) last = std::max(last, dataflow_.asap(v));
      for (std::size_t t = dataflow_.alap(edge.source) + 1; t <= last; ++t) {
        if (kept.Has(t)) model_.variables[kept[t]].lower = 1;  // (12)
      }
    }
  }

  [[nodiscard]] std::vector<VariableIndex> LiveAt(std::size_t e, std::size_t t) const {
    std::vector<VariableIndex> live;
    const Row& runs = runs_[dataflow_.edges()[e].source];
    if (runs.Has(t)) live.push_back(runs[t]);
    if (kept_[e].Has(t)) live.push_back(kept_[e][t]);
    return live;
  }

  // True if every sink of `a` comes before the source of `b`, or is that source and does not read
  // b: then the two are never live together (4.2).
  [[nodiscard]] bool Precedes(const Edge& a, const Edge& b) const {
    if (a.to_end || a.sinks.empty()) return false;
    return std::all_of(a.sinks.begin(), a.sinks.end(), [&](OperatorIndex sink) {
      return sink != b.source && before_[b.source][sink];
    });
  }

  void AddAddresses() {
    const auto& edges = dataflow_.edges();
    before_.assign(n_, std::vector<bool>(n_, false));
    std::vector<OperatorIndex> order(n_);
    std::iota(order.begin(), order.end(), OperatorIndex{0});
    std::stable_sort(order.begin(), order.end(), [&](OperatorIndex a, OperatorIndex b) {
      return dataflow_.asap(a) < dataflow_.asap(b);
    });
    for (const OperatorIndex v : order) {
      for (const OperatorIndex s : dataflow_.successors()[v]) {
        before_[s][v] = true;
        for (OperatorIndex u = 0; u < n_; ++u) {
          if (before_[v][u]) before_[s][u] = true;
        }
      }
    }
    for (std::size_t e = 0; e < edges.size(); ++e) {
      if (edges[e].size == 0) continue;
      const Number size = edges[e].size / unit_;
      const VariableIndex address = model_.AddVariable("A" + std::to_string(e), 0, total_ - size);
      addresses_.emplace_back(e, address);
      model_.AddConstraint("top" + std::to_string(e), -milp::kInfinity, {{address, 1}, {peak_, -1}},
                           -size);  // (8)
    }
    for (std::size_t i = 0; i < addresses_.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) AddPair(addresses_[i], addresses_[j]);
    }
  }

  void AddPair(const std::pair<std::size_t, VariableIndex>& i,
               const std::pair<std::size_t, VariableIndex>& j) {
    const Edge& a = dataflow_.edges()[i.first];
    const Edge& b = dataflow_.edges()[j.first];
    if (options_.precedence && (Precedes(a, b) || Precedes(b, a))) return;
    std::vector<std::size_t> both;
    for (std::size_t t = 0; t < n_; ++t) {
      if (!LiveAt(i.first, t).empty() && !LiveAt(j.first, t).empty()) both.push_back(t);
    }
    if (both.empty()) return;  // Lifetimes that cannot overlap (4.2).
    const std::string pair = std::to_string(i.first) + "_" + std::to_string(j.first);
    const VariableIndex below = model_.AddBinary("a" + pair);
    const VariableIndex above = model_.AddBinary("b" + pair);
    for (const std::size_t t : both) {
      std::vector<Term> terms = {{below, 1}, {above, 1}};
      for (const VariableIndex live : LiveAt(i.first, t)) terms.push_back({live, -1});
      for (const VariableIndex live : LiveAt(j.first, t)) {
        // Two tensors of one operator share its variable.
        const auto same = std::find_if(terms.begin(), terms.end(),
                                       [&](const Term& term) { return term.variable == live; });
        if (same != terms.end()) {
          same->coefficient -= 1;
        } else {
          terms.push_back({live, -1});
        }
      }
      model_.AddConstraint("apart" + pair + "_" + std::to_string(t), -1, std::move(terms),
                           milp::kInfinity);  // (6)
    }
    model_.AddConstraint("under" + pair, -milp::kInfinity,
                         {{i.second, 1}, {j.second, -1}, {below, total_}},
                         total_ - a.size / unit_);  // (7a)
    model_.AddConstraint("over" + pair, b.size / unit_ - total_,
                         {{i.second, 1}, {j.second, -1}, {above, -total_}},
                         milp::kInfinity);  // (7b)
  }

  const Dataflow& dataflow_;
  const OllaOptions& options_;
  std::size_t n_;
  Bytes unit_ = 0;
  Number total_ = 0;
  milp::Model model_;
  VariableIndex peak_{0};
  std::vector<Row> runs_;  // By operator.
  std::vector<Row> kept_;  // By edge.
  std::vector<std::pair<std::size_t, VariableIndex>> addresses_;
  std::vector<std::vector<bool>> before_;
};

// The solver's addresses for the tensors of Live(), where they hold: the program knows nothing of
// alignment.
std::optional<Placement> JointPlacement(const Graph& graph, const Order& order,
                                        const Program& program, const milp::SolveAnswer& solved) {
  const auto addresses = program.Addresses(solved.values);
  const Liveness live = Live(graph, order);
  Placement placement;
  for (const TensorIndex t : live.tensors) placement.offsets.push_back(addresses.at(t));
  placement.height = Height(live.problem, placement.offsets);
  if (!ValidatePlacement(live.problem, placement)) return std::nullopt;
  return placement;
}

// What the program says: an order, perhaps with addresses.
struct Solution {
  Order order;
  std::optional<Placement> placement;
};

// Solves the program of a graph with operators. Without a solution the order is program order.
Result<Solution> SolveProgram(const Graph& graph, const OllaOptions& options, milp::Backend backend,
                              Budget& budget, OllaAnswer& answer) {
  PlanAnswer& plan = answer.plan;
  Solution solution{ProgramOrder(graph), {}};
  const Dataflow dataflow(graph, options.early_updates);
  answer.control_edges = dataflow.control_edges();
  for (const Edge& edge : dataflow.edges()) {
    plan.peak_bound = std::max(plan.peak_bound, edge.size);
  }
  Program program(graph, dataflow, options);
  answer.variables = program.CountVariables();
  if (answer.variables > kMostVariables || budget.Exhausted()) {
    plan.stopped = answer.variables > kMostVariables ? StopReason::kSize : StopReason::kBudget;
    return solution;
  }
  program.Build();
  answer.variables = static_cast<std::int64_t>(program.model().variables.size());
  answer.constraints = static_cast<std::int64_t>(program.model().constraints.size());
  const auto solved = BERTH_TRY(milp::Solve(program.model(), backend, {options.seed}, budget));
  plan.nodes = solved.nodes;
  answer.claims_optimal = solved.status == milp::Status::kOptimal || solved.distrusted;
  // In the joint program the bound is on the addresses, not on the live bytes.
  if (solved.bound && answer.control_edges == 0 && !options.joint) {
    plan.peak_bound = std::max(plan.peak_bound, *solved.bound * program.unit());
  }
  if (!solved.values.empty()) {
    answer.found = true;
    solution.order = program.Decode(solved.values);
    plan.scheduling.algorithm = "olla";
    BERTH_CHECK(ValidateOrder(graph, solution.order).has_value());
    if (options.joint) solution.placement = JointPlacement(graph, solution.order, program, solved);
  }
  if (budget.Exhausted()) plan.stopped = StopReason::kBudget;
  return solution;
}

}  // namespace
}  // namespace internal

Result<OllaAnswer> ScheduleByOlla(const Graph& graph, const OllaOptions& options, Budget& budget) {
  const auto start = Budget::Clock::now();
  BERTH_TRY(Validate(graph));
  const auto backend = BERTH_TRY(internal::milp::ChooseBackend(options.backend));
  OllaAnswer answer;
  PlanAnswer& plan = answer.plan;
  plan.scheduling.algorithm = "program";
  plan.stopped = StopReason::kAlgorithm;
  internal::Solution solution;
  if (!graph.operators.empty()) {
    solution = BERTH_TRY(internal::SolveProgram(graph, options, backend, budget, answer));
  }
  plan.best = internal::UnplacedPlan(graph, solution.order, {});
  const Bytes peak = plan.best->peak();
  if (const auto& placement = solution.placement) {
    for (std::size_t b = 0; b < placement->offsets.size(); ++b) {
      plan.best->residencies[b].offset = placement->offsets[b];
    }
    plan.best->addressed = true;
    plan.best->memories.front().height = placement->height;
  }
  if (graph.operators.empty()) plan.peak_bound = peak;
  BERTH_CHECK(plan.peak_bound <= peak);
  plan.height_bound = plan.peak_bound;
  plan.outcome = Outcome::kFeasible;
  if (plan.peak_bound == peak) {
    plan.outcome = Outcome::kOptimal;
    plan.stopped = StopReason::kAnswered;
  }
  plan.seconds = std::chrono::duration<double>(Budget::Clock::now() - start).count();
  plan.scheduling.outcome = plan.outcome;
  plan.scheduling.stopped = plan.stopped;
  plan.scheduling.nodes = plan.nodes;
  plan.scheduling.seconds = plan.seconds;
  return answer;
}

Result<std::int64_t> CountOllaVariables(const Graph& graph, const OllaOptions& options) {
  BERTH_TRY(Validate(graph));
  if (graph.operators.empty()) return 0;
  const internal::Dataflow dataflow(graph, options.early_updates);
  return internal::Program(graph, dataflow, options).CountVariables();
}

}  // namespace berth
