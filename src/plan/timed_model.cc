#include "plan/timed_model.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "base/wide.h"
#include "graph/run.h"

namespace berth::internal::plan {
namespace {

TimedModel TimedModelOf(MoveModel model, const Graph& graph, const GraphMemories& memories) {
  TimedModel timed;
  timed.free = std::move(model);
  for (MoveItem& item : timed.free.items) {
    timed.copying.push_back(CopyTable(item, [&](std::size_t from, std::size_t to) {
      return TransferTime(memories, from, to, item.size);
    }));
    item.copy = CopyTable(item, [](std::size_t, std::size_t) { return std::int64_t{0}; });
  }
  for (const Operator& op : graph.operators) {
    timed.all_computing = AddTime(timed.all_computing, op.cost.value_or(0));
  }
  return timed;
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
  for (std::size_t i = 0; i < priced.items.size(); ++i) {
    MoveItem& item = priced.items[i];
    for (std::size_t c = 0; c < item.copy.size() && item.may_move; ++c) {
      const Wide scaled = (Wide(model.copying[i][c]) << priced.bits) * Wide(sixteenths) / Wide(16);
      item.copy[c] = scaled < Wide(kTooMuch) ? static_cast<std::int64_t>(scaled) : kTooMuch;
    }
  }
  return priced;
}

std::int64_t ScaledUpper(const TimedModel& model, std::int64_t upper) {
  const std::int64_t whole = upper - std::min(upper, model.all_computing);
  return whole < (kTooMuch >> model.free.bits) ? whole << model.free.bits : kTooMuch;
}

std::int64_t BoundOfTime(const TimedModel& model, const MovePrices& prices) {
  return AddTime(model.all_computing, model.free.Whole(prices.bound()));
}

}  // namespace berth::internal::plan
