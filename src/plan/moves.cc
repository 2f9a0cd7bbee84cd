// Several memories, and tensors that are copied from one to another.
//
// First the plan without copies, which is a plan with copies, too. Then for its order and others:
// where every tensor is at every step is decided by bytes (move_sweep.h), against a bound from prices
// (move_prices.h). Tensors that move have a fixed memory at every step then; all others are given to
// PlaceInMemories() anew, with the residencies of those that move, in half steps: it finds memories
// for the ones and offsets for all. So what is copied is decided by bytes, and the rest together with
// its offsets. A tensor that moves and finds no offset stays where it is, in the next attempt.
//
// The bound of one order is that of the sweep, where it was complete, or else that of the prices. The
// bound of all orders is that of a chain of operators, as in memory_bound.h: a plan of any order,
// looked at while these run, is a plan of the chain, where what other operators do costs the least.

#include "plan/moves.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/try.h"
#include "berth/graph_memories.h"
#include "berth/memories.h"
#include "graph/plan.h"
#include "plan/memories.h"
#include "plan/memory_bound.h"
#include "plan/move_model.h"
#include "plan/move_prices.h"
#include "plan/move_sweep.h"
#include "plan/staging.h"
#include "plan/stays.h"

namespace berth::internal::plan {
namespace {

constexpr double kShareWithoutMoves = 0.65;
constexpr double kShareOfOrder = 0.5;
// Decisions of a sweep in which every tensor may be copied at any time, for each width.
constexpr std::size_t kMostAnywhere = 40'000;
// Decisions beyond which copies of weights are not part of the sweep, but added to what it finds.
constexpr std::size_t kMostStaging = 600;
constexpr SweepOptions kSweeps[] = {{64, false, true},
                                    {512, false, true},
                                    {4096, false, true},
                                    {256, true, true},
                                    {4096, true, true}};
constexpr std::size_t kChainWidths[] = {128, 2048};
// Where bytes fit and offsets do not, less memory is asked for: in hundredths.
constexpr Bytes kLess[] = {97, 90, 80};

// What tensors cost where they cost the most, scaled.
std::int64_t Worst(const MoveModel& model) {
  std::int64_t sum = model.elsewhere;
  for (const MoveItem& item : model.items) {
    std::int64_t most = 0;
    for (const std::size_t m : item.memories) {
      std::int64_t cost = 0;
      for (const MoveItem::Use& use : item.uses) cost = Sum(cost, model.Scaled(m, use.use));
      most = std::max(most, cost);
    }
    sum = Sum(sum, most);
  }
  return sum;
}

// The decisions of a sweep with copies at any time.
std::size_t DecisionsOf(const MoveModel& model) {
  std::size_t count = 0;
  for (const MoveItem& item : model.items) {
    count += item.staged()   ? 2 * item.uses.size() + 1
             : item.may_move ? static_cast<std::size_t>(item.end - item.start)
                             : 1;
  }
  return count;
}

class Planner {
 public:
  Planner(const Graph& graph, const PlanOptions& options, Budget& budget)
      : graph_(graph),
        options_(options),
        counting_(options.schedule.counting),
        memories_(options.memories),
        budget_(budget) {}

  // `answer`: without moves.
  Result<void> Run(PlanAnswer& answer) {
    best_ = std::move(*answer.best);
    bound_ = OfAnything();
    if (bound_.unplaced == 0) {
      if (best_.cost.unplaced == 0) StageWeights(graph_, counting_, memories_, best_, budget_);
      for (const Order& order : Orders(answer.fixed_order)) {
        if (Done()) break;
        BERTH_TRY(Improve(order, answer.fixed_order));
      }
      if (!answer.fixed_order && !Done()) BoundAllOrders();
    }
    answer.nodes += nodes_;
    Conclude(graph_, options_, std::move(best_), bound_, budget_, answer);
    return {};
  }

 private:
  [[nodiscard]] bool Done() const { return !(bound_ < best_.cost) || budget_.TimeIsUp(); }
  // Plans that cost this much are of no use.
  [[nodiscard]] std::int64_t Upper() const {
    return best_.cost.unplaced == 0 ? best_.cost.cost : kMaxCost;
  }
  [[nodiscard]] std::int64_t ScaledUpper(const MoveModel& model) const {
    const std::int64_t worst = Worst(model);
    return Upper() < (worst >> model.bits) ? Upper() << model.bits : worst;
  }

  // If every access were to the memory where it costs the least.
  [[nodiscard]] PlanCost OfAnything() const {
    ChainOfOrders nothing;
    for (const TensorIndex t : TableOf(graph_, best_.order, counting_, memories_).tensors) {
      nothing.lives.push_back({t, 0, 0});
    }
    const auto model = ModelOfChain(graph_, nothing, StepsOf(best_), memories_);
    PlanCost bound;
    bound.unplaced = model->unplaceable;
    if (bound.unplaced == 0) bound.cost = std::min(model->Whole(model->elsewhere), Upper());
    return bound;
  }

  [[nodiscard]] std::vector<Order> Orders(bool fixed) const {
    std::vector<Order> orders = {best_.order};
    if (fixed) return orders;
    const auto add = [&](const Order& order) {
      if (std::find(orders.begin(), orders.end(), order) == orders.end()) orders.push_back(order);
    };
    add(ProgramOrder(graph_));
    for (const Order& order : options_.more_orders) add(order);
    return orders;
  }

  // Looks for a plan with copies in `order`; where it is the only one, also for its bound.
  Result<void> Improve(const Order& order, bool only) {
    const auto model = ModelOfOrder(graph_, order, counting_, memories_);
    if (!model) return {};
    Budget part(budget_, only ? 1.0 : kShareOfOrder);
    const MovePrices prices(*model, ScaledUpper(*model), part);
    std::int64_t proved = model->Whole(prices.bound());
    if (!memories_.stage_in.empty() && DecisionsOf(*model) > kMostStaging) {
      GraphMemories without = memories_;
      without.stage_in.clear();
      const auto simple = ModelOfOrder(graph_, order, counting_, without);
      const MovePrices guide(*simple, ScaledUpper(*simple), part);
      std::int64_t ignored = 0;  // It is about plans without copies of weights.
      BERTH_TRY(SweepAll(order, *simple, guide, ignored, part));
    } else {
      BERTH_TRY(SweepAll(order, *model, prices, proved, part));
    }
    if (only) Raise(proved);
    return {};
  }

  // `proved`: no plan of the model by bytes costs less.
  Result<void> SweepAll(const Order& order, const MoveModel& model, const MovePrices& prices,
                        std::int64_t& proved, Budget& part) {
    std::optional<std::int64_t> failed;  // A plan by bytes of this cost has no offsets.
    for (const SweepOptions& options : kSweeps) {
      const std::size_t decisions = DecisionsOf(model);
      if (options.anywhere && decisions * options.width / 64 > kMostAnywhere * 16) continue;
      if (proved >= Upper() || part.TimeIsUp()) break;
      const SweepAnswer found = Sweep(model, prices, Upper(), options, part);
      proved = std::max(proved, found.bound);
      if (!found.cost || (failed && *found.cost >= *failed)) continue;
      const std::int64_t before = Upper();
      BERTH_TRY(TryStays(order, model, found.stays, part));
      if (Upper() < before && Upper() <= *found.cost) continue;
      failed = *found.cost;
      BERTH_TRY(AskForLess(order, model, prices, part));
    }
    return {};
  }

  // The same with less memory, so that offsets are easier to find.
  Result<void> AskForLess(const Order& order, const MoveModel& whole, const MovePrices& prices,
                          Budget& budget) {
    for (const Bytes hundredths : kLess) {
      if (budget.TimeIsUp()) return {};
      MoveModel less = whole;
      for (auto* const rooms : {&less.room, &less.room_between}) {
        for (std::vector<Bytes>& room : *rooms) {
          for (Bytes& bytes : room) {
            if (bytes != kAnyRoom)
              bytes = bytes / 100 * hundredths + bytes % 100 * hundredths / 100;
          }
        }
      }
      // Prices for more memory are valid for less, but the estimates are low.
      const SweepAnswer found = Sweep(less, prices, Upper(), kSweeps[1], budget);
      if (!found.cost) return {};
      const std::int64_t before = Upper();
      BERTH_TRY(TryStays(order, whole, found.stays, budget));
      if (Upper() < before) return {};
    }
    return {};
  }

  // The plan in which tensors move as in `stays`, if it has offsets and costs less than the best one.
  Result<void> TryStays(const Order& order, const MoveModel& model, const std::vector<Stay>& stays,
                        Budget& budget) {
    auto plan = BERTH_TRY(PlaceStays(graph_, options_, order, model, stays, {}, budget, nodes_));
    if (plan) StageWeights(graph_, counting_, memories_, *plan, budget);
    if (plan && plan->cost < best_.cost) {
      best_ = std::move(*plan);
      Tell();
    }
    return {};
  }

  void Tell() const { TellCosts(options_.place.progress, best_.cost, bound_, nodes_); }

  void Raise(std::int64_t cost) {
    if (best_.cost.unplaced == 0) {
      bound_.cost = std::max(bound_.cost, std::min(cost, Upper()));
    } else if (cost >= Upper()) {
      bound_ = {1, 0, 0};  // No plan with a cost that counts places all tensors.
    } else {
      bound_.cost = std::max(bound_.cost, cost);
    }
    Tell();
  }

  void BoundAllOrders() {
    const auto chain = FindChain(graph_, counting_, memories_, best_.order, budget_);
    if (!chain) return;
    const bool all = chain->chain.size() == best_.order.size();  // There is no other order.
    const auto model = all ? ModelOfOrder(graph_, best_.order, counting_, memories_)
                           : ModelOfChain(graph_, *chain, StepsOf(best_), memories_);
    if (!model) return;
    const MovePrices prices(*model, ScaledUpper(*model), budget_);
    Raise(model->Whole(prices.bound()));
    for (const std::size_t width : kChainWidths) {
      if (Done() || DecisionsOf(*model) * width / 64 > kMostAnywhere * 16) return;
      Raise(Sweep(*model, prices, Upper(), {width, true, all}, budget_).bound);
    }
  }

  const Graph& graph_;
  const PlanOptions& options_;
  const Counting& counting_;
  const GraphMemories& memories_;
  Budget& budget_;
  MemoryPlan best_;
  PlanCost bound_;
  std::int64_t nodes_ = 0;
};

}  // namespace

Result<PlanAnswer> PlanWithMoves(const Graph& graph, const PlanOptions& options, Budget& budget) {
  PlanOptions still = options;
  still.memories.may_move = false;
  still.memories.stage_in.clear();
  if (options.place.progress) {
    // What is proved of plans without copies is not proved of all.
    still.place.progress = [&](const Progress& without) {
      options.place.progress({without.best, 0, without.nodes});
    };
  }
  PlanAnswer answer;
  {
    Budget part(budget, kShareWithoutMoves);
    answer = BERTH_TRY(PlanInMemories(graph, still, part));
  }
  BERTH_TRY(ImproveByMoves(graph, options, answer, budget));
  return answer;
}

Result<void> ImproveByMoves(const Graph& graph, const PlanOptions& options, PlanAnswer& answer,
                            Budget& budget) {
  return Planner(graph, options, budget).Run(answer);
}

}  // namespace berth::internal::plan
