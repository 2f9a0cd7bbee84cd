#include "plan/timed_model.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "base/wide.h"
#include "graph/run.h"
#include "plan/move_sweep.h"

namespace berth::internal::plan {
namespace {

// Shares of copies, in sixteenths.
constexpr std::int64_t kShares[] = {1, 2, 4, 8};
constexpr int kBitsOfShares = 5;
constexpr std::int64_t kMostScaledRate = std::int64_t{1} << 58;

TimedModel TimedModelOf(MoveModel model, const Graph& graph, const GraphMemories& memories) {
  TimedModel timed;
  timed.free = std::move(model);
  for (MoveItem& item : timed.free.items) {
    std::vector<std::int64_t>& copying = timed.copying.emplace_back();
    for (const std::size_t from : item.memories) {
      for (const std::size_t to : item.memories) {
        copying.push_back(from == to      ? 0
                          : item.may_move ? TransferTime(memories, from, to, item.size)
                                          : kTooMuch);
      }
    }
    if (item.may_move) item.copy.assign(item.copy.size(), 0);
  }
  for (const Operator& op : graph.operators) {
    timed.all_computing = AddTime(timed.all_computing, op.cost.value_or(0));
  }
  return timed;
}

void SetCopyCosts(const TimedModel& model, std::int64_t sixteenths, std::int64_t divisor,
                  MoveModel& priced) {
  for (std::size_t i = 0; i < priced.items.size(); ++i) {
    MoveItem& item = priced.items[i];
    for (std::size_t c = 0; c < item.copy.size() && item.may_move; ++c) {
      const Wide scaled =
          (Wide(model.copying[i][c]) << priced.bits) * Wide(sixteenths) / Wide(divisor);
      item.copy[c] = scaled < Wide(kTooMuch) ? static_cast<std::int64_t>(scaled) : kTooMuch;
    }
  }
}

// Sixteen times a mean of accesses and copies: `sixteenths` of these. Nothing if numbers are too large.
std::optional<MoveModel> Mean(const TimedModel& model, std::int64_t sixteenths) {
  MoveModel mean = model.free;
  if (mean.bits < kBitsOfShares) return std::nullopt;
  const std::int64_t rest = 16 - sixteenths;
  mean.bits -= kBitsOfShares;
  mean.elsewhere = (mean.elsewhere >> kBitsOfShares) * rest;
  for (Memory& memory : mean.memories) {
    for (std::int64_t* const cost : {&memory.read.cost, &memory.write.cost, &memory.access}) {
      if (*cost > kMostScaledRate) return std::nullopt;
      *cost *= rest;
    }
  }
  SetCopyCosts(model, sixteenths, 1, mean);
  return mean;
}

// The time of a run with this mean, in which computing has the share of accesses.
std::int64_t TimeOf(const TimedModel& model, std::int64_t sixteenths, std::int64_t mean) {
  const Wide sum = Wide(model.all_computing) * Wide(16 - sixteenths) + Wide(mean);
  return static_cast<std::int64_t>((sum + Wide(15)) / Wide(16));
}
// The mean at the time `upper`.
std::int64_t MeanAt(const TimedModel& model, std::int64_t sixteenths, std::int64_t upper) {
  const Wide mean = Wide(upper) * Wide(16) - Wide(model.all_computing) * Wide(16 - sixteenths);
  return mean < Wide(kTooMuch) ? std::max<std::int64_t>(0, static_cast<std::int64_t>(mean))
                               : kTooMuch;
}
std::int64_t Scaled(std::int64_t whole, int bits) {
  return whole < (kTooMuch >> bits) ? whole << bits : kTooMuch;
}

}  // namespace

std::optional<TimedModel> TimedModelOf(const Graph& graph, const Order& order,
                                       const Counting& counting, const GraphMemories& memories) {
  auto model = ModelOfOrder(graph, order, counting, memories);
  if (!model) return std::nullopt;
  TimedModel timed = TimedModelOf(std::move(*model), graph, memories);
  timed.computing.assign(static_cast<std::size_t>(timed.free.steps), 0);
  for (std::size_t s = 0; s < order.size(); ++s) {
    timed.computing[s] = graph.operators[order[s]].cost.value_or(0);
  }
  return timed;
}

std::optional<TimedModel> TimedModelOf(const Graph& graph, const ChainOfOrders& chain, Step steps,
                                       const GraphMemories& memories) {
  auto model = ModelOfChain(graph, chain, steps, memories);
  if (!model) return std::nullopt;
  return TimedModelOf(std::move(*model), graph, memories);
}

MoveModel WithCopyCosts(const TimedModel& model, std::int64_t sixteenths) {
  MoveModel priced = model.free;
  SetCopyCosts(model, sixteenths, 16, priced);
  return priced;
}

std::int64_t ScaledUpper(const TimedModel& model, std::int64_t upper) {
  return Scaled(upper - std::min(upper, model.all_computing), model.free.bits);
}

std::int64_t BoundOfTime(const TimedModel& model, const MovePrices& prices, std::int64_t upper,
                         Budget& budget) {
  std::int64_t bound = AddTime(model.all_computing, model.free.Whole(prices.bound()));
  for (const std::int64_t share : kShares) {
    if (bound >= upper || budget.TimeIsUp()) break;
    const auto mean = Mean(model, share);
    if (!mean) break;
    const MovePrices of(*mean, Scaled(MeanAt(model, share, upper), mean->bits), budget);
    const std::int64_t time = TimeOf(model, share, mean->Whole(of.bound()));
    if (time < bound) break;  // As shares grow, bounds rise and then fall.
    bound = time;
  }
  return std::min(bound, upper);
}

std::int64_t SweptBoundOfTime(const TimedModel& model, std::int64_t upper, std::size_t width,
                              Budget& budget) {
  std::int64_t bound = 0;
  for (std::int64_t share = 0; share <= 8; share = share == 0 ? 1 : 2 * share) {
    if (bound >= upper || budget.TimeIsUp()) break;
    const auto mean = Mean(model, share);
    if (!mean) break;
    const std::int64_t most = MeanAt(model, share, upper);
    const MovePrices prices(*mean, Scaled(most, mean->bits), budget);
    const SweepAnswer found = Sweep(*mean, prices, most, {width, true, false}, budget);
    const std::int64_t time = TimeOf(model, share, found.bound);
    if (time < bound) break;
    bound = time;
  }
  return std::min(bound, upper);
}

}  // namespace berth::internal::plan
