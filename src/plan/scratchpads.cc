// Several scratchpads, each for tensors of its own, and spills where these do not fit: COSMA's
// separate memories for activations and parameters (section V-A).
//
// The scratchpads have nothing in common but the order of the operators. In one order the least traffic
// of each can be found alone, and the sum is the least for that order. Over all orders, the sum of the
// least traffic of each scratchpad alone is a bound. Where it is met, as where one scratchpad has no
// traffic in any order, the plan is proved; otherwise the best orders of each scratchpad, and others,
// are tried for all of them.

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
#include "graph/plan.h"
#include "schedule/entry.h"

namespace berth::internal::plan {
namespace {

// Of the time that is left: for the order of least peak, and for all orders of all scratchpads.
constexpr double kShareOfOrder = 0.05;
constexpr double kShareOfAllOrders = 0.8;

double SecondsSince(Budget::Clock::time_point begin) {
  return std::chrono::duration<double>(Budget::Clock::now() - begin).count();
}

// One scratchpad in one order, or in the best of all.
struct Part {
  PlanAnswer answer;
  [[nodiscard]] bool has_plan() const { return answer.best && answer.best->addressed; }
};

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

  // Over all orders, or in `order` alone.
  Result<Part> Solve(std::size_t m, const std::vector<Order>& orders, bool fixed, Budget& budget) {
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
    part.answer = BERTH_TRY(PlanWithSpills(parts_[m], spill, budget));
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

  // The scratchpads alone over all orders, then all of them in the best orders of each.
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
    for (const std::size_t m : ranks) {
      if (!alone[m].has_plan()) continue;
      BERTH_TRY(TryOnce(alone[m].answer.best->order, alone, answer.traffic_bound));
    }
    for (const Order& order : orders) BERTH_TRY(TryOnce(order, alone, answer.traffic_bound));
    return {};
  }

  Result<void> TryOnce(const Order& order, const std::vector<Part>& alone, Bytes bound) {
    if (!tried_.empty()) {
      const bool known = std::any_of(tried_.begin(), tried_.end(),
                                     [&](const Whole& each) { return each.order == order; });
      const bool done = Best().complete && (Best().traffic <= bound || budget_.TimeIsUp());
      if (known || done) return {};
    }
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
  std::vector<Graph> parts_;  // By memory.
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
