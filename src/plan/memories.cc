// Several memories: orders, a memory and an offset for every tensor, and a bound over all orders.
//
// The cost of a tensor depends on its memory, not on the order, so an order is only as good as what it
// lets into the fast memories. Orders of low peaks let in the most; which of them is best shows only
// when the memories are chosen. So several orders are tried, with little effort each, and the best one
// again with what is left of the budget.

#include "plan/memories.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/try.h"
#include "berth/graph_memories.h"
#include "berth/memories.h"
#include "berth/schedule.h"
#include "berth/spill.h"
#include "graph/plan.h"
#include "plan/memory_bound.h"
#include "plan/memory_order.h"
#include "schedule/entry.h"

namespace berth::internal::plan {
namespace {

constexpr double kShareOfOrder = 0.15;
constexpr double kShareOfBound = 0.4;
constexpr double kShareOfCases = 0.7;
constexpr double kShareOfSpills = 0.1;
constexpr double kShareOfLook = 0.2;
constexpr double kShareOfClimb = 0.3;
// Without a limit in the budget: of the nodes of one first look at an order, and of the search for an
// order by spills.
constexpr std::int64_t kNodesOfLook = 1'000'000;
constexpr std::int64_t kNodesOfSpills = 200'000;

// A plan in one order, and what is proved of this order.
struct InOrder {
  Order order;
  PlanAnswer placed;
};

class Planner {
 public:
  Planner(const Graph& graph, const PlanOptions& options, Budget& budget)
      : graph_(graph), options_(options), counting_(options.schedule.counting), budget_(budget) {}

  Result<PlanAnswer> Run() {
    PlanAnswer answer = BERTH_TRY(FirstOrder());
    const Order first = answer.best->order;
    answer.fixed_order =
        options_.order || options_.schedule.algorithm == ScheduleAlgorithm::kProgram;
    if (answer.fixed_order) {
      BERTH_TRY(LookAtOne(first));
    } else if (AllOrdersAreAlike(graph_, counting_, options_.memories, first, budget_)) {
      BERTH_TRY(LookAtOne(first));
    } else {
      BERTH_TRY(LookAtOrders(first));
      {
        Budget part(budget_, kShareOfBound);
        bound_ =
            MemoryBound(graph_, counting_, options_.memories, Best().order, Cost(Best()), part);
      }
      Tell(Cost(Best()));
      if (Cost(Best()) > bound_) BERTH_TRY(ImproveOrders());
      if (Cost(Best()) > bound_) {
        Budget part(budget_, kShareOfCases);
        bound_ = MemoryBoundByCases(graph_, counting_, options_.memories, Best().order, bound_,
                                    Cost(Best()), part);
      }
      if (Cost(Best()) > bound_) BERTH_TRY(LookAgain());
    }
    Complete(answer);
    return answer;
  }

 private:
  // By Schedule(), or as given; without a plan in the memories.
  Result<PlanAnswer> FirstOrder() {
    ScheduleOptions schedule = options_.schedule;
    schedule.progress = nullptr;  // Of peaks, not of costs.
    if (options_.order) schedule.algorithm = ScheduleAlgorithm::kProgram;
    Budget part(budget_, kShareOfOrder);
    PlanAnswer answer = BERTH_TRY(schedule::ScheduleValid(graph_, schedule, part));
    if (!options_.order) return answer;
    BERTH_TRY(ValidateOrder(graph_, *options_.order));
    answer.best = UnplacedPlan(graph_, *options_.order, counting_);
    const bool least = answer.best->peak() == answer.peak_bound;
    answer.outcome = least ? Outcome::kOptimal : Outcome::kFeasible;
    answer.scheduling.outcome = answer.outcome;
    answer.scheduling.algorithm = "given";
    return answer;
  }

  [[nodiscard]] static const PlanCost& Cost(const InOrder& each) { return each.placed.best->cost; }
  [[nodiscard]] const InOrder& Best() const {
    return *std::min_element(tried_.begin(), tried_.end(),
                             [](const InOrder& a, const InOrder& b) { return Cost(a) < Cost(b); });
  }

  void Tell(const PlanCost& best) const {
    TellCosts(options_.place.progress, best, bound_, nodes_);
  }

  // The only order.
  Result<void> LookAtOne(const Order& order) {
    only_ = true;
    BERTH_TRY(Look(order, 1.0, std::nullopt));
    bound_ = tried_.front().placed.cost_bound;
    return {};
  }

  // Chooses memories and offsets for the tensors in `order`.
  Result<void> Look(const Order& order, double share, std::optional<std::int64_t> nodes) {
    const TensorTable table = TableOf(graph_, order, counting_, options_.memories);
    MemoriesOptions options;
    options.place = options_.place;
    if (options.place.progress) {
      const PlanCost before = tried_.empty() ? PlanCost{1, 0, 0} : Cost(Best());
      options.place.progress = [this, before](const Progress& of_order) {
        if (only_) bound_.cost = of_order.bound;
        Tell(std::min(before, PlanCost{0, of_order.best.value_or(kMaxCost), 0}));
      };
    }
    Budget part(budget_, share);
    if (nodes && !part.has_time_limit()) part.SetNodeLimit(std::min(*nodes, part.node_limit()));
    InOrder& each = tried_.emplace_back();
    each.order = order;
    each.placed = BERTH_TRY(PlaceInMemories(table.problem, options, part));
    for (Residency& residency : each.placed.best->residencies) {
      residency.tensor = table.tensors[residency.tensor];
    }
    nodes_ += each.placed.nodes;
    return {};
  }

  // The order of least peak, program order, those of the caller, and one of few spills.
  Result<void> LookAtOrders(const Order& first) {
    std::vector<Order> orders = {first, ProgramOrder(graph_)};
    orders.insert(orders.end(), options_.more_orders.begin(), options_.more_orders.end());
    if (auto order = OrderOfFewSpills(first)) orders.push_back(std::move(*order));
    for (std::size_t i = 0; i < orders.size(); ++i) {
      const bool known = std::find(orders.begin(), orders.begin() + static_cast<std::ptrdiff_t>(i),
                                   orders[i]) != orders.begin() + static_cast<std::ptrdiff_t>(i);
      if (known || (i > 0 && IsLeast(Best()))) continue;
      if (i > 0 && budget_.TimeIsUp()) break;
      BERTH_TRY(Look(orders[i], kShareOfLook, kNodesOfLook));
    }
    return {};
  }

  // Everything is in its cheapest memory.
  [[nodiscard]] bool IsLeast(const InOrder& each) const {
    if (Cost(each).unplaced > 0) return false;
    const TensorTable table = TableOf(graph_, each.order, counting_, options_.memories);
    std::int64_t least = 0;
    for (const Placing& placing : table.problem.placing) {
      std::int64_t cheapest = kMaxCost;
      for (const Candidate& candidate : placing.candidates) {
        cheapest = std::min(cheapest, candidate.cost);
      }
      for (const Memory& memory : options_.memories.memories) {
        if (!placing.candidates.empty()) break;
        cheapest = std::min(cheapest, CostOfUses(placing, memory).value_or(kMaxCost));
      }
      least += cheapest;
    }
    return Cost(each).cost == least;
  }

  // The order of least traffic in a memory as large as the memories that are limited, without the
  // slowest of them: what they cannot hold is spilled, so few bytes have to leave them.
  [[nodiscard]] std::optional<Order> OrderOfFewSpills(const Order& first) {
    const auto& memories = options_.memories.memories;
    std::vector<const Memory*> limited;
    for (const Memory& memory : memories) {
      if (memory.capacity) limited.push_back(&memory);
    }
    const auto time = [](const Memory& memory) {
      return static_cast<double>(memory.read.cost) / static_cast<double>(memory.read.bytes);
    };
    std::stable_sort(limited.begin(), limited.end(),
                     [&](const Memory* a, const Memory* b) { return time(*a) < time(*b); });
    if (limited.size() == memories.size() && !limited.empty()) limited.pop_back();
    SpillOptions spill;
    for (const Memory* memory : limited) {
      if (*memory->capacity > kMaxBytes - spill.capacity) return std::nullopt;
      spill.capacity += *memory->capacity;
    }
    if (spill.capacity == 0 || !ValidateTraffic(graph_, counting_)) return std::nullopt;
    spill.capacity = std::max(spill.capacity, FindLeastMemory(graph_, counting_).bytes);
    spill.counting = counting_;
    spill.orders = {first, ProgramOrder(graph_)};
    spill.placer = nullptr;
    spill.most_bytes = options_.schedule.most_bytes;
    spill.threads = options_.schedule.threads;
    Budget part(budget_, kShareOfSpills);
    if (!part.has_time_limit()) part.SetNodeLimit(std::min(kNodesOfSpills, part.node_limit()));
    const auto answer = PlanWithSpills(graph_, spill, part);
    if (!answer || !answer->best) return std::nullopt;
    nodes_ += answer->nodes;
    return answer->best->order;
  }

  // Orders near those tried, the best first, and near the new ones if they are better.
  Result<void> ImproveOrders() {
    std::vector<std::size_t> ranks(tried_.size());
    std::iota(ranks.begin(), ranks.end(), std::size_t{0});
    std::stable_sort(ranks.begin(), ranks.end(), [&](std::size_t a, std::size_t b) {
      return Cost(tried_[a]) < Cost(tried_[b]);
    });
    for (const std::size_t i : ranks) {
      if (budget_.TimeIsUp()) return {};
      Order order;
      {
        Budget part(budget_, kShareOfClimb);
        order = ImprovedOrder(graph_, counting_, options_.memories, tried_[i].order, part);
      }
      const bool known = std::any_of(tried_.begin(), tried_.end(),
                                     [&](const InOrder& each) { return each.order == order; });
      if (!known) BERTH_TRY(Look(order, kShareOfClimb, kNodesOfLook));
    }
    return {};
  }

  // The best order once more.
  Result<void> LookAgain() {
    const InOrder& best = Best();
    const PlanCost& proved = best.placed.cost_bound;
    const bool open =
        std::pair(Cost(best).unplaced, Cost(best).cost) > std::pair(proved.unplaced, proved.cost);
    if (!open || budget_.TimeIsUp()) return {};
    return Look(Order(best.order), 1.0, std::nullopt);
  }

  void Complete(PlanAnswer& answer) const {
    const InOrder& best = Best();
    MemoryPlan plan = *best.placed.best;
    plan.order = best.order;
    plan.traffic = CompulsoryTraffic(graph_, counting_);
    plan.cost.moved = 0;
    answer.placing = best.placed.placing;
    answer.nodes += nodes_;
    Conclude(graph_, options_, std::move(plan), bound_, budget_, answer);
  }

  const Graph& graph_;
  const PlanOptions& options_;
  const Counting& counting_;
  Budget& budget_;
  std::vector<InOrder> tried_;
  PlanCost bound_;     // Of all orders.
  bool only_ = false;  // There is one order: what is proved of it is proved of all.
  std::int64_t nodes_ = 0;
};

}  // namespace

void TellCosts(const std::function<void(const Progress&)>& progress, const PlanCost& best,
               const PlanCost& bound, std::int64_t nodes) {
  if (!progress || best.unplaced > 0) return;
  progress({best.cost, bound.unplaced > 0 ? 0 : bound.cost, nodes});
}

void Conclude(const Graph& graph, const PlanOptions& options, MemoryPlan plan,
              const PlanCost& bound, const Budget& budget, PlanAnswer& answer) {
  const auto valid = ValidatePlan(graph, options.schedule.counting, options.memories, plan);
  if (!valid) CheckFailed(valid.error().message.c_str(), __FILE__, __LINE__);
  // A bound that the plan's own figures are better than would be wrong.
  BERTH_CHECK(bound <= plan.cost);
  const bool proved = bound == plan.cost;
  const bool all = plan.cost.unplaced == 0;
  answer.cost_bound = bound;
  answer.outcome = all ? (proved ? Outcome::kOptimal : Outcome::kFeasible)
                       : (bound.unplaced > 0 ? Outcome::kInfeasible : Outcome::kUnknown);
  const bool limited = budget.has_time_limit() || budget.has_node_limit() || budget.cancelled();
  answer.stopped =
      proved ? StopReason::kAnswered : (limited ? StopReason::kBudget : StopReason::kEffort);
  answer.best = std::move(plan);
}

Result<PlanAnswer> PlanInMemories(const Graph& graph, const PlanOptions& options, Budget& budget) {
  BERTH_TRY(Validate(graph));
  BERTH_TRY(Validate(graph, options.schedule.counting, options.memories));
  for (const Order& order : options.more_orders) BERTH_TRY(ValidateOrder(graph, order));
  return Planner(graph, options, budget).Run();
}

}  // namespace berth::internal::plan
