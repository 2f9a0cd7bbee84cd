// COSMA's divide and conquer (section IV of the paper): break nodes, chosen by hand there, cut a graph
// into parts; each is solved by the integer program, and the plans are put one after the other.
//
// Cutting the outputs of the break nodes leaves parts that nothing else connects. A part is solved
// with two more operators: one before it, which "makes" the tensors that earlier parts left in
// memory, at their addresses; and one after it, which "uses" those that later parts need. So at
// each border all outputs of break nodes that are still needed are in memory, and the parts fit
// together as they are. The cost is the one that the paper names: no operator moves to another
// part, and outputs of break nodes may be kept, or brought back, without need.

#include <algorithm>
#include <cstddef>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/text.h"
#include "base/try.h"
#include "baselines/cosma/program.h"
#include "berth/cosma.h"
#include "graph/plan.h"

namespace berth {

namespace {

constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
constexpr std::size_t kMostCutsTried = 64;  // Of one part.

// A place to cut a part: before its `at`-th operator.
struct PartCut {
  std::size_t at = 0;
  bool at_end = false;                // Near one of its ends.
  std::vector<OperatorIndex> makers;  // Of what crosses.
  Bytes bytes = 0;
};

class Parts {
 public:
  Parts(const Graph& graph, const CosmaOptions& options) : graph_(graph), options_(options) {}

  // Finds the parts, in an order in which they can run.
  Result<void> Cut(const std::vector<OperatorIndex>& break_nodes) {
    BERTH_TRY(FindUsers());
    const std::vector<std::size_t> roots = BERTH_TRY(FindRoots(break_nodes));
    return OrderParts(roots);
  }

  // The operators of each part, in program order.
  [[nodiscard]] const std::vector<std::vector<std::size_t>>& members() const { return members_; }

  // Where part `p` can be cut, the best places first.
  [[nodiscard]] std::vector<PartCut> FindCuts(std::size_t p) const {
    const std::vector<std::size_t>& own = members_[p];
    std::vector<std::size_t> last(own.size(), 0);  // The last position that uses what it makes,
    std::vector<Bytes> bytes(own.size(), 0);       // and its bytes.
    std::vector<std::size_t> position(graph_.operators.size(), kNone);
    for (std::size_t i = 0; i < own.size(); ++i) position[own[i]] = i;
    for (TensorIndex t = 0; t < graph_.tensors.size(); ++t) {
      if (maker_[t] == kNone || part_[maker_[t]] != p) continue;
      const std::size_t i = position[maker_[t]];
      bytes[i] += graph_.tensors[t].bytes;
      for (const std::size_t u : users_[t]) {
        if (part_[u] == p) last[i] = std::max(last[i], position[u]);
      }
    }
    std::vector<PartCut> cuts;
    for (std::size_t at = 1; at < own.size(); ++at) {
      PartCut& cut = cuts.emplace_back();
      cut.at = at;
      cut.at_end = 4 * std::min(at, own.size() - at) < own.size();
      for (std::size_t i = 0; i < at; ++i) {
        if (last[i] < at) continue;
        cut.makers.push_back(own[i]);
        cut.bytes += bytes[i];
      }
    }
    const auto from_middle = [&](const PartCut& cut) {
      return std::max(cut.at, own.size() - cut.at);
    };
    std::stable_sort(cuts.begin(), cuts.end(), [&](const PartCut& a, const PartCut& b) {
      return std::tuple(a.at_end, a.makers.size(), a.bytes, from_middle(a)) <
             std::tuple(b.at_end, b.makers.size(), b.bytes, from_middle(b));
    });
    if (cuts.size() > kMostCutsTried) cuts.resize(kMostCutsTried);
    return cuts;
  }

  Result<CosmaAnswer> Solve(Budget& budget) {
    CosmaAnswer answer;
    unit_ = 0;
    for (TensorIndex t = 0; t < graph_.tensors.size(); ++t) {
      if (maker_[t] != kNone) unit_ = std::gcd(unit_, graph_.tensors[t].bytes);
    }
    plan_ = {};
    residency_.assign(graph_.tensors.size(), kNone);
    written_.assign(graph_.tensors.size(), 0);
    for (std::size_t p = 0; p < members_.size(); ++p) {
      const Part part = PartOf(p);
      internal::spill::CosmaBorder border{part.pins, unit_};
      CosmaOptions options = options_;
      options.order.reset();
      const auto solved =
          BERTH_TRY(internal::spill::SolveCosmaWithBorder(part.graph, options, border, budget));
      answer.variables += solved.variables;
      answer.constraints += solved.constraints;
      answer.nodes += solved.nodes;
      if (!solved.plan) {
        // With other break nodes a part may have a plan.
        answer.stopped = budget.Exhausted() ? StopReason::kBudget : StopReason::kAlgorithm;
        return answer;
      }
      Append(part, *solved.plan);
    }
    // What came in at a border and left at once.
    std::erase_if(plan_.residencies, [](const Residency& r) { return r.start >= r.end; });
    std::stable_sort(plan_.residencies.begin(), plan_.residencies.end(),
                     [](const Residency& a, const Residency& b) { return a.tensor < b.tensor; });
    CountTraffic();
    answer.outcome = Outcome::kFeasible;
    answer.stopped = StopReason::kAlgorithm;
    answer.value = plan_.traffic.avoidable();
    answer.plan = plan_;
    return answer;
  }

 private:
  struct Part {
    Graph graph;
    std::vector<std::size_t> operators;  // Of the whole, by those of the part; the border: kNone.
    std::vector<TensorIndex> tensors;    // The same.
    std::vector<std::pair<TensorIndex, Bytes>> pins;  // Of the part's tensors that come in.
  };

  Result<void> FindUsers() {
    const std::size_t n = graph_.operators.size();
    maker_.assign(graph_.tensors.size(), kNone);
    users_.resize(graph_.tensors.size());
    for (std::size_t v = 0; v < n; ++v) {
      for (const TensorIndex t : graph_.operators[v].outputs) {
        if (BaseOf(graph_, t) == t) maker_[t] = v;
      }
    }
    for (std::size_t v = 0; v < n; ++v) {
      const Operator& op = graph_.operators[v];
      for (const TensorIndex t : op.mutates) {
        if (maker_[t] == kNone || maker_[t] == v) continue;
        return Fail(ErrorCode::kUnsupported, "COSMA's program knows no writes in place: operator " +
                                                 internal::Quoted(op.name) + " writes tensor " +
                                                 internal::Quoted(graph_.tensors[t].name));
      }
      for (const auto* list : {&op.inputs, &op.outputs}) {
        for (const TensorIndex t : *list) {
          const TensorIndex base = BaseOf(graph_, t);
          if (maker_[base] != kNone && maker_[base] != v) users_[base].push_back(v);
        }
      }
    }
    return {};
  }

  // The first operator of the part of each operator: those that tensors connect, except the outputs
  // of break nodes.
  [[nodiscard]] Result<std::vector<std::size_t>> FindRoots(
      const std::vector<OperatorIndex>& break_nodes) const {
    const std::size_t n = graph_.operators.size();
    std::vector<char> breaks(n, 0);
    for (const OperatorIndex v : break_nodes) {
      if (v >= n) {
        return Fail(ErrorCode::kInvalidOptions, "break node " + std::to_string(v) +
                                                    " is no operator: the graph has " +
                                                    std::to_string(n));
      }
      breaks[v] = 1;
    }
    std::vector<std::size_t> root(n);
    std::iota(root.begin(), root.end(), std::size_t{0});
    const auto find = [&](std::size_t v) {
      while (root[v] != v) v = root[v] = root[root[v]];
      return v;
    };
    for (TensorIndex t = 0; t < graph_.tensors.size(); ++t) {
      if (maker_[t] == kNone || breaks[maker_[t]] != 0) continue;
      for (const std::size_t u : users_[t]) {
        // The smallest stays the root.
        const std::size_t a = find(u);
        const std::size_t b = find(maker_[t]);
        root[std::max(a, b)] = std::min(a, b);
      }
    }
    for (std::size_t v = 0; v < n; ++v) root[v] = find(v);
    return root;
  }

  // Numbers the parts by their first operators, each as soon as those before it have run.
  Result<void> OrderParts(const std::vector<std::size_t>& root) {
    const std::size_t n = graph_.operators.size();
    std::vector<std::vector<char>> needs(n, std::vector<char>(n, 0));
    const auto follows = [&](std::size_t u, std::size_t v) {
      if (root[u] != root[v]) needs[root[v]][root[u]] = 1;
    };
    for (TensorIndex t = 0; t < graph_.tensors.size(); ++t) {
      if (maker_[t] == kNone) continue;
      for (const std::size_t u : users_[t]) follows(maker_[t], u);
    }
    for (std::size_t v = 0; v < n; ++v) {
      for (const OperatorIndex u : graph_.operators[v].after) follows(u, v);
    }
    part_.assign(n, kNone);
    for (;;) {
      std::size_t next = kNone;
      std::size_t waiting = kNone;
      for (std::size_t v = 0; v < n && next == kNone; ++v) {
        if (root[v] != v || part_[v] != kNone) continue;
        waiting = v;
        bool ready = true;
        for (std::size_t u = 0; u < n; ++u) {
          ready = ready && (needs[v][u] == 0 || part_[u] != kNone);
        }
        if (ready) next = v;
      }
      if (next == kNone && waiting == kNone) return {};
      if (next == kNone) {
        return Fail(ErrorCode::kInvalidOptions,
                    "the break nodes leave parts that need each other, that of operator " +
                        internal::Quoted(graph_.operators[waiting].name) + " among them");
      }
      members_.emplace_back();
      for (std::size_t v = 0; v < n; ++v) {
        if (root[v] != next) continue;
        part_[v] = members_.size() - 1;
        members_.back().push_back(v);
      }
    }
  }

  [[nodiscard]] bool IsNeededFrom(TensorIndex t, std::size_t part) const {
    return std::any_of(users_[t].begin(), users_[t].end(),
                       [&](std::size_t u) { return part_[u] >= part; });
  }
  [[nodiscard]] bool IsResult(TensorIndex base) const {
    for (TensorIndex t = 0; t < graph_.tensors.size(); ++t) {
      if (graph_.tensors[t].output && BaseOf(graph_, t) == base) return true;
    }
    return false;
  }

  // A part in the making.
  struct Builder {
    Part part;
    std::vector<std::size_t> own;     // The part's tensor for each base of the whole, or kNone.
    std::vector<std::size_t> number;  // The part's operator for each of the whole, or kNone.
  };

  // Adds the base of `t` to part `p`, unless it is given or has been added.
  void AddTensor(TensorIndex t, std::size_t p, Builder& builder) const {
    const TensorIndex base = BaseOf(graph_, t);
    if (maker_[base] == kNone || builder.own[base] != kNone) return;
    builder.own[base] = builder.part.tensors.size();
    builder.part.tensors.push_back(base);
    Tensor tensor;
    tensor.name = graph_.tensors[base].name;
    tensor.bytes = graph_.tensors[base].bytes;
    // A tensor that later parts need is not a result of this one.
    tensor.output = IsResult(base) && !IsNeededFrom(base, p + 1);
    builder.part.graph.tensors.push_back(std::move(tensor));
  }

  // Operator `v` of the whole, as one of part `p`.
  [[nodiscard]] Operator OperatorOf(std::size_t v, std::size_t p, Builder& builder) const {
    const std::vector<std::size_t>& own = builder.own;
    const std::vector<std::size_t>& number = builder.number;
    const Operator& op = graph_.operators[v];
    Operator mine;
    mine.name = op.name;
    mine.after.push_back(0);
    for (const OperatorIndex u : op.after) {
      if (number[u] != kNone) mine.after.push_back(number[u]);
    }
    for (const TensorIndex t : op.outputs) {
      const TensorIndex base = BaseOf(graph_, t);
      AddTensor(base, p, builder);
      if (own[base] == kNone) continue;
      (maker_[base] == v ? mine.outputs : mine.inputs).push_back(own[base]);
    }
    // The bytes of a view have their own maker; the view itself comes from another operator.
    for (const TensorIndex t : op.inputs) {
      const TensorIndex base = BaseOf(graph_, t);
      if (own[base] != kNone) mine.inputs.push_back(own[base]);
      for (const std::size_t u : members_[p]) {
        const auto& outputs = graph_.operators[u].outputs;
        if (number[u] != kNone && std::find(outputs.begin(), outputs.end(), t) != outputs.end()) {
          mine.after.push_back(number[u]);
        }
      }
    }
    for (auto* list : {&mine.inputs, &mine.after}) {
      std::sort(list->begin(), list->end());
      list->erase(std::unique(list->begin(), list->end()), list->end());
    }
    return mine;
  }

  [[nodiscard]] Part PartOf(std::size_t p) const {
    Builder builder{{},
                    std::vector<std::size_t>(graph_.tensors.size(), kNone),
                    std::vector<std::size_t>(graph_.operators.size(), kNone)};
    Part& part = builder.part;
    const auto add = [&part](Operator op, std::size_t v) {
      part.graph.operators.push_back(std::move(op));
      part.operators.push_back(v);
    };
    Operator enter;
    enter.name = "enter";
    for (TensorIndex t = 0; t < graph_.tensors.size(); ++t) {
      if (maker_[t] == kNone || part_[maker_[t]] >= p || !IsNeededFrom(t, p)) continue;
      AddTensor(t, p, builder);
      enter.outputs.push_back(builder.own[t]);
      part.pins.emplace_back(builder.own[t], plan_.residencies[residency_[t]].offset);
    }
    add(std::move(enter), kNone);
    for (const std::size_t v : members_[p]) {
      Operator mine = OperatorOf(v, p, builder);
      builder.number[v] = part.graph.operators.size();
      add(std::move(mine), v);
    }
    Operator leave;
    leave.name = "leave";
    for (std::size_t i = 0; i < part.tensors.size(); ++i) {
      if (IsNeededFrom(part.tensors[i], p + 1)) leave.inputs.push_back(i);
    }
    leave.after.resize(part.graph.operators.size());
    std::iota(leave.after.begin(), leave.after.end(), OperatorIndex{0});
    add(std::move(leave), kNone);
    return std::move(builder.part);
  }

  // The plan of a part after those before it. Its first step and its last are not run: what is in
  // memory there stays from one part to the next.
  void Append(const Part& part, const MemoryPlan& solved) {
    const auto begin = static_cast<Step>(plan_.order.size());
    const auto last = static_cast<Step>(part.operators.size()) - 1;
    for (const OperatorIndex v : solved.order) {
      if (part.operators[v] != kNone) plan_.order.push_back(part.operators[v]);
    }
    for (const Residency& stay : solved.residencies) {
      const TensorIndex t = part.tensors[stay.tensor];
      const Step start = begin + std::max<Step>(stay.start - 1, 0);
      const Step end = begin + std::min(stay.end, last) - 1;
      Residency* residency = nullptr;
      if (stay.start == 0) {
        residency = &plan_.residencies[residency_[t]];
        residency->end = std::max(residency->end, end);
      } else if (stay.start == last) {
        // It comes in at the border, for the next part.
        plan_.residencies.push_back({t, begin + last - 1, begin + last - 1, stay.offset, true});
        residency_[t] = plan_.residencies.size() - 1;
        residency = &plan_.residencies.back();
      } else {
        plan_.residencies.push_back({t, start, end, stay.offset, stay.comes_in});
        residency_[t] = plan_.residencies.size() - 1;
        residency = &plan_.residencies.back();
      }
      if (stay.written_out && written_[t] == 0) {
        residency->written_out = true;
        written_[t] = 1;
      }
    }
  }

  void CountTraffic() {
    for (const Residency& residency : plan_.residencies) {
      const Bytes bytes = graph_.tensors[residency.tensor].bytes;
      if (residency.comes_in) plan_.traffic.retrieved += bytes;
      if (residency.written_out && !IsResult(residency.tensor)) plan_.traffic.spilled += bytes;
    }
    for (TensorIndex t = 0; t < graph_.tensors.size(); ++t) {
      if (maker_[t] != kNone && IsResult(t))
        plan_.traffic.compulsory_out += graph_.tensors[t].bytes;
    }
    plan_.addressed = options_.addresses;
    internal::StateUse(graph_, plan_);
  }

  const Graph& graph_;
  const CosmaOptions& options_;
  Bytes unit_ = 1;
  std::vector<std::size_t> maker_;               // Of bases; kNone for what is given.
  std::vector<std::vector<std::size_t>> users_;  // Of bases, without their makers.
  std::vector<std::size_t> part_;                // Of operators.
  std::vector<std::vector<std::size_t>> members_;
  MemoryPlan plan_;
  std::vector<std::size_t> residency_;  // The last of each tensor.
  std::vector<char> written_;
};

}  // namespace

Result<std::vector<OperatorIndex>> FindBreakNodes(const Graph& graph, std::size_t most_operators) {
  if (most_operators == 0) {
    return Fail(ErrorCode::kInvalidOptions, "parts of at most 0 operators");
  }
  const CosmaOptions options;
  std::vector<OperatorIndex> nodes;
  std::vector<char> stays(graph.operators.size(), 0);    // By the first operator of a part.
  auto parts = std::make_unique<Parts>(graph, options);  // As `nodes` cut them.
  BERTH_TRY(parts->Cut(nodes));
  for (;;) {
    std::optional<std::size_t> largest;
    for (std::size_t p = 0; p < parts->members().size(); ++p) {
      const std::vector<std::size_t>& own = parts->members()[p];
      if (own.size() <= most_operators || stays[own.front()] != 0) continue;
      if (!largest || own.size() > parts->members()[*largest].size()) largest = p;
    }
    if (!largest) return nodes;
    const std::vector<std::size_t>& own = parts->members()[*largest];
    // Of two halves that a third operator still connects, nothing is gained.
    const auto gains = [&](const Parts& cut) {
      return std::none_of(cut.members().begin(), cut.members().end(),
                          [&](const std::vector<std::size_t>& part) { return part == own; });
    };
    stays[own.front()] = 1;
    for (const PartCut& cut : parts->FindCuts(*largest)) {
      std::vector<OperatorIndex> more = nodes;
      more.insert(more.end(), cut.makers.begin(), cut.makers.end());
      std::sort(more.begin(), more.end());
      more.erase(std::unique(more.begin(), more.end()), more.end());
      auto tried = std::make_unique<Parts>(graph, options);
      if (!tried->Cut(more) || !gains(*tried)) continue;
      stays[own.front()] = 0;
      nodes = std::move(more);
      parts = std::move(tried);
      break;
    }
  }
}

Result<CosmaAnswer> SolveCosmaInParts(const Graph& graph, const CosmaOptions& options,
                                      const std::vector<OperatorIndex>& break_nodes,
                                      Budget& budget) {
  if (options.objective != CosmaOptions::Objective::kTraffic || options.order) {
    return Fail(ErrorCode::kInvalidOptions,
                "divide and conquer is for the least traffic, over all orders");
  }
  const auto start = Budget::Clock::now();
  Parts parts(graph, options);
  BERTH_TRY(parts.Cut(break_nodes));
  CosmaAnswer answer = BERTH_TRY(parts.Solve(budget));
  answer.seconds = std::chrono::duration<double>(Budget::Clock::now() - start).count();
  return answer;
}

}  // namespace berth
