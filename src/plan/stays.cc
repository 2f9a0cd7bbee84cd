#include "plan/stays.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "base/try.h"
#include "berth/graph_memories.h"
#include "berth/memories.h"
#include "graph/plan.h"

namespace berth::internal::plan {
namespace {

constexpr double kShareOfPlacing = 0.3;
constexpr std::int64_t kNodesOfPlacing = 1'000'000;
constexpr int kMostRepairs = 4;

// Residency `i` is one of several of its tensor.
bool IsPart(const MemoryPlan& plan, std::size_t i) {
  const auto& all = plan.residencies;
  return (i > 0 && all[i - 1].tensor == all[i].tensor) ||
         (i + 1 < all.size() && all[i + 1].tensor == all[i].tensor);
}

class Placer {
 public:
  Placer(const Graph& graph, const PlanOptions& options, const Order& order, const MoveModel& model,
         const StaysOptions& how)
      : graph_(graph),
        options_(options),
        counting_(options.schedule.counting),
        memories_(options.memories),
        order_(order),
        model_(model),
        how_(how) {}

  // `failed`: the items that move and have no place.
  Result<std::optional<MemoryPlan>> Try(const std::vector<Stay>& stays,
                                        std::vector<std::size_t>& failed, Budget& budget,
                                        std::int64_t& nodes) const {
    std::vector<std::size_t> item_of;
    MemoryPlan plan = Unplaced(stays, item_of);
    const MemoryProblem problem = ProblemOfStays(plan);
    MemoriesOptions options;
    options.place = options_.place;
    options.place.progress = nullptr;  // Its costs are of one order, with other candidates.
    Budget part(budget, kShareOfPlacing);
    if (!part.has_time_limit()) part.SetNodeLimit(std::min(kNodesOfPlacing, part.node_limit()));
    const PlanAnswer placed = BERTH_TRY(PlaceInMemories(problem, options, part));
    nodes += placed.nodes;
    std::vector<bool> has_place(stays.size(), false);
    for (const Residency& residency : placed.best->residencies) {
      has_place[residency.tensor] = true;
      plan.residencies[residency.tensor].memory = residency.memory;
      plan.residencies[residency.tensor].offset = residency.offset;
    }
    bool complete = true;
    for (std::size_t i = 0; i < has_place.size(); ++i) {
      complete = complete && has_place[i];
      if (!has_place[i] && IsPart(plan, i)) failed.push_back(item_of[i]);
    }
    if (!complete) return std::optional<MemoryPlan>();
    StateUse(graph_, plan);
    plan.memories.resize(memories_.memories.size());
    plan.traffic = CompulsoryTraffic(graph_, counting_);
    plan.cost = CostOf(graph_, counting_, memories_, plan);
    return std::optional<MemoryPlan>(std::move(plan));
  }

 private:
  [[nodiscard]] MemoryPlan Unplaced(const std::vector<Stay>& stays,
                                    std::vector<std::size_t>& item_of) const {
    MemoryPlan plan;
    plan.order = order_;
    std::vector<std::size_t> ranks(stays.size());
    for (std::size_t i = 0; i < ranks.size(); ++i) ranks[i] = i;
    const auto tensor_of = [&](std::size_t i) { return model_.items[stays[i].item].tensor; };
    std::sort(ranks.begin(), ranks.end(), [&](std::size_t a, std::size_t b) {
      return std::pair(tensor_of(a), stays[a].start) < std::pair(tensor_of(b), stays[b].start);
    });
    for (const std::size_t i : ranks) {
      Residency residency;
      residency.tensor = tensor_of(i);
      residency.start = stays[i].start;
      residency.end = stays[i].end;
      residency.memory = static_cast<int>(stays[i].memory);
      plan.residencies.push_back(residency);
      item_of.push_back(stays[i].item);
    }
    return plan;
  }

  [[nodiscard]] MemoryProblem ProblemOfStays(const MemoryPlan& plan) const {
    MemoryProblem problem;
    problem.memories = memories_.memories;
    for (Memory& memory : problem.memories) {
      std::vector<Reserved> halves;
      for (const Reserved& reserved : memory.reserved) {
        halves.push_back(InHalfSteps(reserved, StepsOf(plan)));
        if (halves.back().start >= halves.back().end) halves.pop_back();
      }
      memory.reserved = std::move(halves);
    }
    const TensorTable table = TableOf(graph_, plan.order, counting_, memories_);
    std::vector<std::size_t> buffer_of(graph_.tensors.size(), 0);
    for (std::size_t b = 0; b < table.tensors.size(); ++b) buffer_of[table.tensors[b]] = b;
    for (std::size_t i = 0; i < plan.residencies.size(); ++i) {
      const Residency& residency = plan.residencies[i];
      const Tensor& tensor = graph_.tensors[residency.tensor];
      const HalfSteps time = HalfStepsOf(plan, i);
      problem.table.buffers.push_back(
          {std::to_string(i), time.start, time.end, tensor.bytes, tensor.alignment});
      Placing& placing = problem.placing.emplace_back();
      if (how_.keep_all || IsPart(plan, i)) {
        placing.candidates.push_back({static_cast<std::size_t>(residency.memory), 0});
      } else {
        placing = table.problem.placing[buffer_of[residency.tensor]];
      }
    }
    return problem;
  }

  const Graph& graph_;
  const PlanOptions& options_;
  const Counting& counting_;
  const GraphMemories& memories_;
  const Order& order_;
  const MoveModel& model_;
  const StaysOptions& how_;
};

}  // namespace

Result<std::optional<MemoryPlan>> PlaceStays(const Graph& graph, const PlanOptions& options,
                                             const Order& order, const MoveModel& model,
                                             std::vector<Stay> stays, const StaysOptions& how,
                                             Budget& budget, std::int64_t& nodes) {
  const Placer placer(graph, options, order, model, how);
  for (int repair = 0; repair <= kMostRepairs && !budget.TimeIsUp(); ++repair) {
    std::vector<std::size_t> failed;
    auto plan = BERTH_TRY(placer.Try(stays, failed, budget, nodes));
    if (plan || failed.empty()) return plan;
    std::vector<Stay> fewer;
    for (const Stay& stay : stays) {
      const bool fails = std::find(failed.begin(), failed.end(), stay.item) != failed.end();
      const bool again = !fewer.empty() && fewer.back().item == stay.item;
      if (fails && again) {
        fewer.back().end = std::max(fewer.back().end, stay.end);  // That of an original is later.
      } else {
        fewer.push_back(stay);
      }
    }
    stays = std::move(fewer);
  }
  return std::optional<MemoryPlan>();
}

}  // namespace berth::internal::plan
