// Several scratchpads, each for tensors of its own, and spills where these do not fit: COSMA's
// separate memories for activations and parameters (section V-A).
//
// The scratchpads have nothing in common but the order of the operators. In one order the least traffic
// of each can be found alone, and the sum is the least for that order. Over all orders, the sum of the
// least traffic of each scratchpad alone is a bound. Where it is met, as where one scratchpad has no
// traffic in any order, the plan is proved. Otherwise the scratchpads choose in turn: the next one keeps the
// order in which the operators of those before it run, as far as these touch their scratchpads, and is free in
// all else. Where its own best order does not contradict theirs, it has its least traffic, too. Then other
// orders are tried for all of them.

#include "plan/scratchpads.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/text.h"
#include "base/try.h"
#include "berth/graph_memories.h"
#include "berth/spill.h"
#include "graph/edges.h"
#include "graph/plan.h"
#include "schedule/entry.h"

namespace berth::internal::plan {
namespace {

// Of the time that is left: for the order of least peak, for all orders of all scratchpads, and for one that
// follows others.
constexpr double kShareOfOrder = 0.05;
constexpr double kShareOfAllOrders = 0.6;
constexpr double kShareOfFollower = 0.5;

double SecondsSince(Budget::Clock::time_point begin) {
  return std::chrono::duration<double>(Budget::Clock::now() - begin).count();
}

// One scratchpad in one order, or in the best of all.
struct Part {
  PlanAnswer answer;
  [[nodiscard]] bool has_plan() const { return answer.best && answer.best->addressed; }
};

// The steps of `order`, by operator.
std::vector<std::size_t> StepsOf(const Order& order) {
  std::vector<std::size_t> steps(order.size());
  for (std::size_t s = 0; s < order.size(); ++s) steps[order[s]] = s;
  return steps;
}

// All scratchpads in one order.
struct Whole {
  Order order;
  std::vector<Part> parts;  // By memory.
  Bytes traffic = 0;        // Avoidable.
  bool complete = true;     // Every part has a plan.
};

Result<void> CheckScratchpads(const Graph& graph, const PlanOptions& options) {
  const auto& memories = options.memories.memories;
  for (const Memory& memory : memories) {
    if (memory.reserved.empty()) continue;
    return Fail(ErrorCode::kInvalidOptions,
                "memory " + Quoted(memory.name) +
                    ": a scratchpad from which tensors are spilled cannot have reserved ranges");
  }
  for (TensorIndex t = 0; t < graph.tensors.size() && memories.size() > 1; ++t) {
    if (!TakesPart(graph.tensors[t], options.schedule.counting)) continue;
    const std::size_t count =
        options.memories.allowed.empty() || options.memories.allowed[t].empty()
            ? memories.size()
            : options.memories.allowed[t].size();
    if (count == 1) continue;
    return Fail(ErrorCode::kInvalidOptions,
                "tensor " + Quoted(graph.tensors[t].name) + " may be in " + std::to_string(count) +
                    " memories; with spills each is a scratchpad, and a tensor may be in one of "
                    "them only",
                Subject::OfTensor(t));
  }
  return {};
}

class Planner {
 public:
  Planner(const Graph& graph, const PlanOptions& options, Budget& budget)
      : graph_(graph), options_(options), counting_(options.schedule.counting), budget_(budget) {
    for (std::size_t m = 0; m < options.memories.memories.size(); ++m) {
      parts_.push_back(PartOf(graph, options.memories, m));
      touching_.push_back(Touching(parts_.back()));
    }
  }

  Result<PlanAnswer> Run() {
    PlanAnswer answer;
    answer.spills = true;
    answer.fixed_order =
        options_.order || options_.schedule.algorithm == ScheduleAlgorithm::kProgram;
    for (std::size_t m = 0; m < parts_.size(); ++m) {
      if (FindLeastMemory(parts_[m], counting_).bytes <= CapacityOf(m)) continue;
      return TooSmall(m, std::move(answer));
    }
    if (answer.fixed_order) {
      const Order order = options_.order.value_or(ProgramOrder(graph_));
      BERTH_TRY(ValidateOrder(graph_, order));
      BERTH_TRY(Try(order, nullptr));
      answer.program_order_peak = UnplacedPlan(graph_, ProgramOrder(graph_), counting_).peak();
      for (const Part& part : tried_.front().parts)
        answer.traffic_bound += part.answer.traffic_bound;
    } else {
      BERTH_TRY(TryOrders(answer));
    }
    Complete(answer);
    return answer;
  }

 private:
  [[nodiscard]] Bytes CapacityOf(std::size_t m) const {
    if (const auto& capacity = options_.memories.memories[m].capacity) return *capacity;
    // As much as all tensors need, each with its alignment.
    Bytes sum = 0;
    for (const Tensor& tensor : parts_[m].tensors) {
      if (TakesPart(tensor, counting_))
        sum = std::min(sum + tensor.bytes + (tensor.alignment - 1), kMaxBytes);
    }
    return std::clamp<Bytes>(sum, 1, kMaxBytes);
  }

  // One operator needs more of memory `m` than there is.
  [[nodiscard]] PlanAnswer TooSmall(std::size_t m, PlanAnswer answer) const {
    answer.outcome = Outcome::kInfeasible;
    answer.least = FindLeastMemory(parts_[m], counting_);
    answer.spilling.outcome = Outcome::kInfeasible;
    answer.spilling.algorithm = "scratchpads";
    return answer;
  }

  // Whether each operator touches bytes of a part.
  [[nodiscard]] std::vector<char> Touching(const Graph& part) const {
    const std::vector<OperatorIndex> makers = Makers(part);
    std::vector<char> touching(part.operators.size(), 0);
    std::vector<TensorIndex> bases;
    for (OperatorIndex v = 0; v < part.operators.size(); ++v) {
      BasesUsed(part, makers, v, bases);
      bases.insert(bases.end(), part.operators[v].outputs.begin(), part.operators[v].outputs.end());
      const bool any = std::any_of(bases.begin(), bases.end(), [&](TensorIndex t) {
        return IsCounted(part.tensors[t], counting_);
      });
      touching[v] = any ? 1 : 0;
    }
    return touching;
  }

  // Over all orders, or in one of them alone.
  Result<Part> Solve(std::size_t m, const std::vector<Order>& orders, bool fixed, Budget& budget) {
    return Solve(parts_[m], m, orders, fixed, budget);
  }
  Result<Part> Solve(const Graph& graph, std::size_t m, const std::vector<Order>& orders,
                     bool fixed, Budget& budget) {
    SpillOptions spill;
    spill.capacity = CapacityOf(m);
    spill.counting = counting_;
    spill.orders = orders;
    spill.fixed_order = fixed;
    spill.most_bytes = options_.schedule.most_bytes;
    spill.threads = options_.schedule.threads;
    spill.gap = fixed ? 0 : options_.gap;
    spill.placer = [&](const Problem& problem, Budget& own) {
      return Place(problem, options_.place, own);
    };
    Part part;
    part.answer = BERTH_TRY(PlanWithSpills(graph, spill, budget));
    nodes_ += part.answer.nodes;
    return part;
  }

  // All scratchpads in `order`. `known` has what is known of some of them in this order.
  Result<void> Try(const Order& order, const std::vector<std::optional<Part>>* known) {
    Whole whole;
    whole.order = order;
    for (std::size_t m = 0; m < parts_.size(); ++m) {
      if (known != nullptr && (*known)[m]) {
        whole.parts.push_back(*(*known)[m]);
      } else {
        Budget part(budget_, 1.0 / static_cast<double>(parts_.size() - m + 1));
        whole.parts.push_back(BERTH_TRY(Solve(m, {order}, true, part)));
      }
      const Part& part = whole.parts.back();
      whole.complete = whole.complete && part.has_plan();
      if (part.has_plan()) whole.traffic += part.answer.best->traffic.avoidable();
    }
    tried_.push_back(std::move(whole));
    return {};
  }

  [[nodiscard]] const Whole& Best() const {
    return *std::min_element(tried_.begin(), tried_.end(), [](const Whole& a, const Whole& b) {
      return a.complete != b.complete ? a.complete : a.traffic < b.traffic;
    });
  }

  // The scratchpads by the bytes that are used again: only these can have to be spilled.
  [[nodiscard]] std::vector<std::size_t> EasiestFirst() const {
    std::vector<double> again(parts_.size(), 0);
    for (std::size_t m = 0; m < parts_.size(); ++m) {
      const std::vector<TensorUse> uses = UsesOf(parts_[m]);
      for (TensorIndex t = 0; t < uses.size(); ++t) {
        if (uses[t].accesses < 2 || !TakesPart(parts_[m].tensors[t], counting_)) continue;
        again[m] += static_cast<double>(parts_[m].tensors[t].bytes) *
                    static_cast<double>(uses[t].accesses - 1);
      }
    }
    std::vector<std::size_t> order(parts_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return again[a] < again[b]; });
    return order;
  }

  // The scratchpads alone over all orders, then one after another, then all of them in each of the orders.
  Result<void> TryOrders(PlanAnswer& answer) {
    std::vector<Order> orders = {ProgramOrder(graph_)};
    {
      Budget part(budget_, kShareOfOrder);
      const PlanAnswer least = BERTH_TRY(schedule::ScheduleValid(graph_, options_.schedule, part));
      answer.scheduling = least.scheduling;
      answer.peak_bound = least.peak_bound;
      answer.program_order_peak = least.program_order_peak;
      nodes_ += least.nodes;
      orders.push_back(least.best->order);
    }
    for (const Order& order : options_.more_orders) BERTH_TRY(ValidateOrder(graph_, order));
    orders.insert(orders.end(), options_.more_orders.begin(), options_.more_orders.end());
    std::vector<Part> alone(parts_.size());
    {
      Budget all(budget_, kShareOfAllOrders);
      std::vector<Order> starts = orders;
      std::size_t left = parts_.size();
      for (const std::size_t m : EasiestFirst()) {
        // What is left over by one is for the next.
        Budget part(all, 1.0 / static_cast<double>(left--));
        alone[m] = BERTH_TRY(Solve(m, starts, false, part));
        if (alone[m].has_plan()) starts.push_back(alone[m].answer.best->order);
        answer.traffic_bound += alone[m].answer.traffic_bound;
      }
    }
    // Whoever has the most traffic chooses first.
    std::vector<std::size_t> ranks(parts_.size());
    std::iota(ranks.begin(), ranks.end(), std::size_t{0});
    const auto traffic = [&](std::size_t m) {
      return alone[m].has_plan() ? alone[m].answer.best->traffic.avoidable() : kMaxBytes;
    };
    std::stable_sort(ranks.begin(), ranks.end(),
                     [&](std::size_t a, std::size_t b) { return traffic(a) > traffic(b); });
    for (std::size_t k = 0; k < ranks.size() && !IsDone(answer.traffic_bound); ++k) {
      std::vector<std::size_t> turns = ranks;  // Each is the first one once.
      std::rotate(turns.begin(), turns.begin() + static_cast<std::ptrdiff_t>(k),
                  turns.begin() + static_cast<std::ptrdiff_t>(k) + 1);
      BERTH_TRY(TryInTurn(turns, alone));
    }
    for (const Order& order : orders) BERTH_TRY(TryOnce(order, alone, answer.traffic_bound));
    return {};
  }

  // `graph` in `order`, with the operators that touch each of `chosen` in the order in which they run.
  [[nodiscard]] Graph Chained(const Graph& graph, const Order& order,
                              const std::vector<std::size_t>& chosen) const {
    Graph chained = Reordered(graph, order);
    for (const std::size_t m : chosen) {
      std::optional<OperatorIndex> last;
      for (OperatorIndex v = 0; v < order.size(); ++v) {
        if (touching_[m][order[v]] == 0) continue;
        std::vector<OperatorIndex>& after = chained.operators[v].after;
        if (last && std::find(after.begin(), after.end(), *last) == after.end()) {
          after.push_back(*last);
        }
        last = v;
      }
    }
    return chained;
  }

  // An order in which the operators that touch `chosen` run as in `order`, and those that touch m as in
  // `wanted`. None: the two contradict each other.
  [[nodiscard]] std::optional<Order> Merged(const Order& order,
                                            const std::vector<std::size_t>& chosen, std::size_t m,
                                            const Order& wanted) const {
    const Graph chained = Chained(graph_, order, chosen);
    const std::vector<OperatorIndex> makers = Makers(chained);
    const std::size_t n = order.size();
    std::vector<std::vector<OperatorIndex>> followers(n);
    std::vector<std::size_t> missing(n, 0);
    const auto connect = [&](OperatorIndex u, OperatorIndex v) {
      followers[u].push_back(v);
      ++missing[v];
    };
    for (OperatorIndex v = 0; v < n; ++v) {
      ForEachPredecessor(chained, makers, v, [&](OperatorIndex u) { connect(u, v); });
    }
    const std::vector<std::size_t> position = StepsOf(order);
    std::optional<OperatorIndex> last;
    for (const OperatorIndex v : wanted) {
      if (touching_[m][v] == 0) continue;
      if (last) connect(*last, position[v]);
      last = position[v];
    }
    Order merged;
    std::vector<OperatorIndex> ready;
    for (OperatorIndex v = n; v-- > 0;) {
      if (missing[v] == 0) ready.push_back(v);
    }
    while (!ready.empty()) {
      const OperatorIndex v = ready.back();
      ready.pop_back();
      merged.push_back(order[v]);
      for (const OperatorIndex w : followers[v]) {
        if (--missing[w] == 0) ready.push_back(w);
      }
    }
    if (merged.size() < n) return std::nullopt;
    return merged;
  }

  // The plan of part m in another order, in which the operators that touch it run as before: each stay covers
  // the same ones of them.
  void MoveTo(const Order& order, std::size_t m, Part& part) const {
    MemoryPlan& plan = *part.answer.best;
    const std::vector<std::size_t> steps = StepsOf(order);
    const std::size_t n = order.size();
    std::vector<Step> begins(
        n, static_cast<Step>(n));      // By old step: of the first that touches m from there on,
    std::vector<Step> ends(n + 1, 0);  // and behind the last one before it.
    for (std::size_t s = n; s-- > 0;) {
      const bool touches = touching_[m][plan.order[s]] != 0;
      begins[s] = touches     ? static_cast<Step>(steps[plan.order[s]])
                  : s + 1 < n ? begins[s + 1]
                              : static_cast<Step>(n);
    }
    for (std::size_t s = 0; s < n; ++s) {
      const bool touches = touching_[m][plan.order[s]] != 0;
      ends[s + 1] = touches ? static_cast<Step>(steps[plan.order[s]]) + 1 : ends[s];
    }
    for (Residency& stay : plan.residencies) {
      stay.start = begins[static_cast<std::size_t>(stay.start)];
      // What stays to the end still does.
      if (stay.end < static_cast<Step>(n)) stay.end = ends[static_cast<std::size_t>(stay.end)];
    }
    plan.order = order;
  }

  // The scratchpads one after another, each over all orders that leave those before it as they are.
  Result<void> TryInTurn(const std::vector<std::size_t>& turns, const std::vector<Part>& alone) {
    Whole whole;
    whole.parts.resize(parts_.size());
    std::vector<std::size_t> chosen;
    for (const std::size_t m : turns) {
      if (!alone[m].has_plan()) return {};
      Part part = alone[m];
      Order order = part.answer.best->order;
      if (!chosen.empty()) {
        if (const auto merged = Merged(whole.order, chosen, m, order)) {
          order = *merged;
        } else {
          const Graph chained = Chained(parts_[m], whole.order, chosen);
          Budget budget(budget_, kShareOfFollower);
          part = BERTH_TRY(Solve(chained, m, {ProgramOrder(chained)}, false, budget));
          if (!part.has_plan()) return {};
          for (OperatorIndex& v : part.answer.best->order) v = whole.order[v];
          order = part.answer.best->order;
        }
      }
      chosen.push_back(m);
      whole.parts[m] = std::move(part);
      whole.order = order;
      for (const std::size_t c : chosen) MoveTo(order, c, whole.parts[c]);
      whole.traffic += whole.parts[m].answer.best->traffic.avoidable();
    }
    tried_.push_back(std::move(whole));
    return {};
  }

  [[nodiscard]] bool IsDone(Bytes bound) const {
    return !tried_.empty() && Best().complete && (Best().traffic <= bound || budget_.TimeIsUp());
  }

  Result<void> TryOnce(const Order& order, const std::vector<Part>& alone, Bytes bound) {
    const bool known = std::any_of(tried_.begin(), tried_.end(),
                                   [&](const Whole& each) { return each.order == order; });
    if (known || IsDone(bound)) return {};
    std::vector<std::optional<Part>> parts(alone.size());
    for (std::size_t m = 0; m < alone.size(); ++m) {
      if (alone[m].has_plan() && alone[m].answer.best->order == order) parts[m] = alone[m];
    }
    return Try(order, &parts);
  }

  void Complete(PlanAnswer& answer) const {
    const Whole& best = Best();
    MemoryPlan plan;
    plan.order = best.order;
    plan.addressed = best.complete;
    for (std::size_t m = 0; m < best.parts.size(); ++m) {
      const PlanAnswer& part = best.parts[m].answer;
      answer.traffic_by_sum += part.traffic_by_sum;
      answer.spilling.stats.states += part.spilling.stats.states;
      if (!best.complete) continue;
      for (Residency residency : part.best->residencies) {
        residency.memory = static_cast<int>(m);
        plan.residencies.push_back(residency);
      }
      plan.traffic.spilled += part.best->traffic.spilled;
      plan.traffic.retrieved += part.best->traffic.retrieved;
      plan.traffic.compulsory_in += part.best->traffic.compulsory_in;
      plan.traffic.compulsory_out += part.best->traffic.compulsory_out;
    }
    answer.spilling.algorithm = "scratchpads";
    answer.spilling.nodes = nodes_;
    answer.nodes = nodes_;
    const bool limited =
        budget_.has_time_limit() || budget_.has_node_limit() || budget_.cancelled();
    answer.stopped = limited ? StopReason::kBudget : StopReason::kEffort;
    answer.outcome = Outcome::kUnknown;
    if (best.complete) {
      std::stable_sort(plan.residencies.begin(), plan.residencies.end(),
                       [](const Residency& a, const Residency& b) {
                         return std::pair(a.tensor, a.start) < std::pair(b.tensor, b.start);
                       });
      StateUse(graph_, plan);
      plan.memories.resize(parts_.size());
      plan.cost = CostOf(graph_, counting_, options_.memories, plan);
      const auto valid = ValidatePlan(graph_, counting_, options_.memories, plan);
      if (!valid) CheckFailed(valid.error().message.c_str(), __FILE__, __LINE__);
      // Every tensor is in the only memory that it may be in.
      answer.cost_bound = plan.cost;
      BERTH_CHECK(answer.traffic_bound <= plan.traffic.avoidable());
      const bool proved = plan.traffic.avoidable() == answer.traffic_bound;
      answer.outcome = proved ? Outcome::kOptimal : Outcome::kFeasible;
      if (proved) answer.stopped = StopReason::kAnswered;
    } else {
      plan = UnplacedPlan(graph_, best.order, counting_);
    }
    answer.spilling.outcome = answer.outcome;
    answer.spilling.stopped = answer.stopped;
    answer.best = std::move(plan);
  }

  const Graph& graph_;
  const PlanOptions& options_;
  const Counting& counting_;
  Budget& budget_;
  std::vector<Graph> parts_;                 // By memory.
  std::vector<std::vector<char>> touching_;  // By memory, then by operator: touches bytes there.
  std::vector<Whole> tried_;
  std::int64_t nodes_ = 0;
};

}  // namespace

Result<PlanAnswer> PlanInScratchpads(const Graph& graph, const PlanOptions& options,
                                     Budget& budget) {
  const auto begin = Budget::Clock::now();
  BERTH_TRY(Validate(graph));
  BERTH_TRY(Validate(graph, options.schedule.counting, options.memories));
  BERTH_TRY(CheckScratchpads(graph, options));
  PlanAnswer answer = BERTH_TRY(Planner(graph, options, budget).Run());
  answer.spilling.seconds = SecondsSince(begin);
  return answer;
}

}  // namespace berth::internal::plan
