// Several memories, and copies between them that are made while operators run.
//
// The plan without copies, and the one whose copies stop the operators (moves.cc), are plans with
// prefetch, too, so the answer is no worse than either. The windows of copies are widened as far as
// offsets allow (copy_windows.h). Then the memory of each tensor at each step and its copies are decided
// together, by bytes and times (prefetch_sweep.h), and offsets are found for what that gives (stays.h).
// So the search is exact by bytes on small graphs; offsets can make a plan that fits by bytes impossible.
//
// The bounds of timed_model.h and timed_prices.h hold in one order, and in all orders with the chain of
// moves.cc. Where a graph has few orders, each is searched, and the least of their bounds counts.

#include "plan/prefetch.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/try.h"
#include "berth/graph_memories.h"
#include "graph/edges.h"
#include "graph/plan.h"
#include "graph/run.h"
#include "plan/copy_windows.h"
#include "plan/memories.h"
#include "plan/memory_bound.h"
#include "plan/move_model.h"
#include "plan/move_prices.h"
#include "plan/move_sweep.h"
#include "plan/moves.h"
#include "plan/prefetch_sweep.h"
#include "plan/staging.h"
#include "plan/stays.h"
#include "plan/timed_model.h"
#include "plan/timed_prices.h"

namespace berth::internal::plan {
namespace {

constexpr double kShareWithoutMoves = 0.3;
constexpr double kShareOfMoves = 0.3;
constexpr double kShareOfOrder = 0.5;
constexpr PrefetchSweepOptions kSweeps[] = {
    {32, false, 8}, {32, false, 2}, {32, false, 16}, {256, false, 4}, {256, false, 12}};
// With a time limit, as long as there is time.
constexpr PrefetchSweepOptions kWideSweeps[] = {{1024, false, 8}, {4096, false, 6}};
constexpr PrefetchSweepOptions kExact = {4096, true, 4};
// Steps times live tensors, beyond which not every copy at every time is tried.
constexpr std::size_t kMostExact = 400;
// Steps times live tensors times width, without a time limit.
constexpr std::size_t kMostWork = 100'000'000;
constexpr std::size_t kMostOrders = 24;
constexpr std::size_t kMostOperators = 64;  // Of graphs whose orders are counted.
constexpr std::size_t kChainWidth = 256;
constexpr std::size_t kMostChain = 160'000;

std::size_t CellsOf(const MoveModel& model) {
  std::size_t cells = 0;
  for (const MoveItem& item : model.items) cells += static_cast<std::size_t>(item.end - item.start);
  return cells;
}

// All orders of a graph, or nothing where there are more than `most`, or many operators.
class AllOrders {
 public:
  AllOrders(const Graph& graph, std::size_t most)
      : most_(most), waits_(graph.operators.size(), 0), followers_(graph.operators.size()) {
    const std::vector<OperatorIndex> makers = Makers(graph);
    for (OperatorIndex v = 0; v < waits_.size(); ++v) {
      ForEachPredecessor(graph, makers, v, [&](OperatorIndex u) {
        ++waits_[v];
        followers_[u].push_back(v);
      });
    }
  }
  [[nodiscard]] std::vector<Order> Find() {
    if (waits_.size() > kMostOperators) return {};
    Extend();
    return complete_ ? std::move(orders_) : std::vector<Order>();
  }

 private:
  void Extend() {
    if (order_.size() == waits_.size()) {
      complete_ = orders_.size() < most_;
      if (complete_) orders_.push_back(order_);
      return;
    }
    std::vector<OperatorIndex> ready;
    for (OperatorIndex v = 0; v < waits_.size(); ++v) {
      if (waits_[v] == 0) ready.push_back(v);
    }
    for (const OperatorIndex v : ready) {
      --waits_[v];  // It ran: not 0 any more.
      for (const OperatorIndex w : followers_[v]) --waits_[w];
      order_.push_back(v);
      Extend();
      order_.pop_back();
      for (const OperatorIndex w : followers_[v]) ++waits_[w];
      ++waits_[v];
      if (!complete_) return;
    }
  }

  const std::size_t most_;
  std::vector<std::int64_t> waits_;  // By operator: on how many edges; negative: it ran.
  std::vector<std::vector<OperatorIndex>> followers_;
  Order order_;
  std::vector<Order> orders_;
  bool complete_ = true;
};

class Planner {
 public:
  Planner(const Graph& graph, const PlanOptions& options, Budget& budget)
      : graph_(graph),
        options_(options),
        counting_(options.schedule.counting),
        memories_(options.memories),
        budget_(budget) {}

  Result<PlanAnswer> Run() {
    PlanAnswer answer = BERTH_TRY(PlanWithoutPrefetch());
    // Whatever fits with prefetch fits with copies that stop the operators.
    bound_.unplaced = answer.cost_bound.unplaced;
    if (best_.cost.unplaced == 0) {
      bound_.cost = OfAnything();
      Tell();
      WidenCopies(graph_, counting_, memories_, best_, budget_);
      StageWeights(graph_, counting_, memories_, best_, budget_);
      std::int64_t least = kMaxCost;  // Of all orders.
      const std::vector<Order> orders = Orders(answer.fixed_order);
      for (const Order& order : orders) {
        if (Done()) break;
        least = std::min(least, BERTH_TRY(Improve(order)));
      }
      // What is not done has no bound, but then the time is up.
      if (has_all_orders_ && !budget_.TimeIsUp() && !orders.empty()) Raise(least);
      if (!has_all_orders_ && !Done()) BoundAllOrders();
    }
    answer.nodes += nodes_;
    Conclude(graph_, options_, std::move(best_), bound_, budget_, answer);
    return answer;
  }

 private:
  [[nodiscard]] bool Done() const { return !(bound_ < best_.cost) || budget_.TimeIsUp(); }
  [[nodiscard]] std::int64_t Upper() const { return best_.cost.cost; }

  // The better one of the plan without copies and that with copies that stop the operators.
  Result<PlanAnswer> PlanWithoutPrefetch() {
    PlanOptions without = options_;
    without.memories.prefetch = without.memories.may_move = false;
    without.memories.copy_latency = 0;
    without.memories.stage_in.clear();
    without.place.progress = nullptr;  // Of costs, not of the time of a run.
    PlanAnswer answer;
    {
      Budget part(budget_, kShareWithoutMoves);
      answer = BERTH_TRY(PlanInMemories(graph_, without, part));
    }
    best_ = Timed(*answer.best);
    without.memories.may_move = true;
    without.memories.stage_in = memories_.stage_in;
    Budget part(budget_, kShareOfMoves);
    BERTH_TRY(ImproveByMoves(graph_, without, answer, part));
    MemoryPlan stopping = Timed(*answer.best);
    if (stopping.cost < best_.cost) best_ = std::move(stopping);
    return answer;
  }

  [[nodiscard]] MemoryPlan Timed(MemoryPlan plan) const {
    plan.cost = CostOf(graph_, counting_, memories_, plan);
    return plan;
  }

  // All orders if they are few; else the best one, program order and those of the caller.
  [[nodiscard]] std::vector<Order> Orders(bool fixed) {
    std::vector<Order> orders = {best_.order};
    if (fixed) {
      has_all_orders_ = true;
      return orders;
    }
    const auto add = [&](const Order& order) {
      if (std::find(orders.begin(), orders.end(), order) == orders.end()) orders.push_back(order);
    };
    const std::vector<Order> all = AllOrders(graph_, kMostOrders).Find();
    has_all_orders_ = !all.empty();
    for (const Order& order : all) add(order);
    add(ProgramOrder(graph_));
    for (const Order& order : options_.more_orders) add(order);
    return orders;
  }

  // Looks for better plans in this order; at most the time of any plan in it.
  Result<std::int64_t> Improve(const Order& order) {
    const auto model = TimedModelOf(graph_, order, counting_, memories_);
    if (!model) return bound_.cost;
    Budget part(budget_, kShareOfOrder);
    const MovePrices prices(model->free, ScaledUpper(*model, Upper()), part);
    std::int64_t proved = std::max(bound_.cost, BoundOfTime(*model, prices));
    const std::size_t cells = CellsOf(model->free);
    if (!memories_.stage_in.empty() && cells > kMostExact) {
      // So many weights that the sweep is for what moves, and their copies are added to what it finds.
      BERTH_TRY(SweepWithoutStaging(order, proved, part));
      if (has_all_orders_ && proved < Upper() && !part.TimeIsUp()) {
        proved = std::max(proved, TimedPrices(*model, prices, Upper(), part).bound());
      }
      return std::min(proved, Upper());
    }
    for (const PrefetchSweepOptions& options : kSweeps) {
      if (proved >= Upper() || part.TimeIsUp()) break;
      if (cells * options.width > kMostWork) continue;
      static_cast<void>(BERTH_TRY(SweepOnce(order, *model, prices, options, part)));
    }
    // Of one order of many no bound is used.
    if (has_all_orders_ && proved < Upper() && !part.TimeIsUp()) {
      proved = std::max(proved, TimedPrices(*model, prices, Upper(), part).bound());
    }
    if (proved < Upper() && cells <= kMostExact && !part.TimeIsUp()) {
      proved = std::max(proved, BERTH_TRY(SweepOnce(order, *model, prices, kExact, part)));
    }
    for (const PrefetchSweepOptions& options : kWideSweeps) {
      if (proved >= Upper() || !budget_.has_time_limit() || part.TimeIsUp()) break;
      static_cast<void>(BERTH_TRY(SweepOnce(order, *model, prices, options, part)));
    }
    return std::min(proved, Upper());
  }

  Result<void> SweepWithoutStaging(const Order& order, std::int64_t proved, Budget& budget) {
    GraphMemories without = memories_;
    without.stage_in.clear();
    const auto model = TimedModelOf(graph_, order, counting_, without);
    if (!model) return {};
    const MovePrices prices(model->free, ScaledUpper(*model, Upper()), budget);
    for (const PrefetchSweepOptions& options : kSweeps) {
      if (proved >= Upper() || budget.TimeIsUp()) break;
      if (CellsOf(model->free) * options.width > kMostWork) continue;
      static_cast<void>(BERTH_TRY(SweepOnce(order, *model, prices, options, budget)));
    }
    return {};
  }

  Result<std::int64_t> SweepOnce(const Order& order, const TimedModel& model,
                                 const MovePrices& prices, const PrefetchSweepOptions& options,
                                 Budget& budget) {
    const MoveModel priced = WithCopyCosts(model, options.sixteenths);
    const MovePrices guide(priced, ScaledUpper(model, Upper()), budget);
    const PrefetchSweepAnswer found = PrefetchSweep(model, prices, guide, Upper(), options, budget);
    nodes_ += found.nodes;
    if (!found.time) return found.bound;
    for (const bool keep_all : {false, true}) {
      const std::int64_t before = Upper();
      auto plan = BERTH_TRY(
          PlaceStays(graph_, options_, order, model.free, found.stays, {keep_all}, budget, nodes_));
      if (!plan) continue;
      if (Upper() > *found.time) WidenCopies(graph_, counting_, memories_, *plan, budget);
      StageWeights(graph_, counting_, memories_, *plan, budget);
      if (plan->cost < best_.cost) best_ = std::move(*plan);
      Tell();
      if (Upper() < before && Upper() <= *found.time) break;
    }
    return found.bound;
  }

  // If every access were to the memory where it costs the least.
  [[nodiscard]] std::int64_t OfAnything() const {
    ChainOfOrders nothing;
    for (const TensorIndex t : TableOf(graph_, best_.order, counting_, memories_).tensors) {
      nothing.lives.push_back({t, 0, 0});
    }
    const auto model = ModelOfChain(graph_, nothing, StepsOf(best_), memories_);
    return std::min(Upper(), AddTime(Computing(), model->Whole(model->elsewhere)));
  }
  [[nodiscard]] std::int64_t Computing() const {
    std::int64_t sum = 0;
    for (const Operator& op : graph_.operators) sum = AddTime(sum, op.cost.value_or(0));
    return sum;
  }

  void Tell() const { TellCosts(options_.place.progress, best_.cost, bound_, nodes_); }

  void Raise(std::int64_t time) {
    bound_.cost = std::max(bound_.cost, std::min(time, Upper()));
    Tell();
  }

  void BoundAllOrders() {
    const auto chain = FindChain(graph_, counting_, memories_, best_.order, budget_);
    if (!chain) return;
    const auto model = TimedModelOf(graph_, *chain, StepsOf(best_), memories_);
    if (!model) return;
    const MovePrices prices(model->free, ScaledUpper(*model, Upper()), budget_);
    Raise(BoundOfTime(*model, prices));
    if (!Done()) Raise(TimedPrices(*model, prices, Upper(), budget_).bound());
    if (Done() || CellsOf(model->free) > kMostChain) return;
    const std::int64_t upper = Upper() - std::min(Upper(), model->all_computing);
    const SweepAnswer found =
        Sweep(model->free, prices, upper, {kChainWidth, true, false}, budget_);
    Raise(AddTime(model->all_computing, found.bound));
  }

  const Graph& graph_;
  const PlanOptions& options_;
  const Counting& counting_;
  const GraphMemories& memories_;
  Budget& budget_;
  MemoryPlan best_;
  PlanCost bound_;
  bool has_all_orders_ = false;
  std::int64_t nodes_ = 0;
};

}  // namespace

Result<PlanAnswer> PlanWithPrefetch(const Graph& graph, const PlanOptions& options,
                                    Budget& budget) {
  BERTH_TRY(Validate(graph));
  BERTH_TRY(Validate(graph, options.schedule.counting, options.memories));
  return Planner(graph, options, budget).Run();
}

}  // namespace berth::internal::plan
