#include "plan/timed_model.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "base/wide.h"
#include "graph/edges.h"
#include "graph/run.h"

namespace berth::internal::plan {
namespace {

// Which operators of a graph run between which of a chain, in every order.
std::vector<std::pair<Step, Step>> PlacesBeside(const Graph& graph,
                                                const std::vector<OperatorIndex>& chain) {
  const auto steps = static_cast<Step>(chain.size());
  std::vector<Step> step_of(graph.operators.size(), -1);
  for (std::size_t k = 0; k < chain.size(); ++k) step_of[chain[k]] = static_cast<Step>(k);
  std::vector<std::pair<Step, Step>> places(graph.operators.size(), {0, steps});
  const std::vector<OperatorIndex> makers = Makers(graph);
  const Order order = ProgramOrder(graph);
  for (const OperatorIndex v : order) {
    ForEachPredecessor(graph, makers, v, [&](OperatorIndex u) {
      const Step after = step_of[u] >= 0 ? step_of[u] + 1 : places[u].first;
      places[v].first = std::max(places[v].first, after);
    });
  }
  for (std::size_t i = order.size(); i-- > 0;) {
    const OperatorIndex v = order[i];
    ForEachPredecessor(graph, makers, v, [&](OperatorIndex u) {
      const Step before = step_of[v] >= 0 ? step_of[v] : places[v].second;
      places[u].second = std::min(places[u].second, before);
    });
  }
  return places;
}

TimedModel TimedModelOf(MoveModel model, const Graph& graph, const GraphMemories& memories) {
  TimedModel timed;
  timed.free = std::move(model);
  for (MoveItem& item : timed.free.items) {
    timed.copying.push_back(CopyTable(item, [&](std::size_t from, std::size_t to) {
      return TransferTime(memories, from, to, item.size);
    }));
    item.copy = CopyTable(item, [](std::size_t, std::size_t) { return std::int64_t{0}; });
    auto& scaled = timed.scaled_copying.emplace_back(timed.copying.back());
    for (std::int64_t& time : scaled) time = Shifted(time, timed.free.bits);
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
    timed.fixed.push_back(Shifted(timed.computing[s], timed.free.bits));
  }
  return timed;
}

std::optional<TimedModel> TimedModelOf(const Graph& graph, const ChainOfOrders& chain, Step steps,
                                       const GraphMemories& memories) {
  auto model = ModelOfChain(graph, chain, steps, memories);
  if (!model) return std::nullopt;
  TimedModel timed = TimedModelOf(std::move(*model), graph, memories);
  const auto least = [&](OperatorIndex v) {
    return Sum(Shifted(graph.operators[v].cost.value_or(0), timed.free.bits),
               timed.free.elsewhere_of[v]);
  };
  timed.fixed.assign(static_cast<std::size_t>(timed.free.steps), 0);
  std::vector<bool> on_chain(graph.operators.size(), false);
  for (std::size_t k = 0; k < chain.chain.size(); ++k) {
    on_chain[chain.chain[k]] = true;
    timed.fixed[k] = least(chain.chain[k]);
  }
  const auto places = PlacesBeside(graph, chain.chain);
  for (OperatorIndex v = 0; v < places.size(); ++v) {
    if (!on_chain[v]) timed.others.push_back({places[v].first, places[v].second, least(v)});
  }
  return timed;
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
  return Shifted(whole, model.free.bits);
}

std::int64_t BoundOfTime(const TimedModel& model, const MovePrices& prices) {
  return AddTime(model.all_computing, model.free.Whole(prices.bound()));
}

}  // namespace berth::internal::plan
