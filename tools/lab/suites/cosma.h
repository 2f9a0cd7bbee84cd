// tools/lab/suites/cosma.h -- what the experiments of COSMA's paper share.
#ifndef BERTH_TOOLS_LAB_SUITES_COSMA_H_
#define BERTH_TOOLS_LAB_SUITES_COSMA_H_

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "berth/answer.h"
#include "berth/budget.h"
#include "berth/device.h"
#include "berth/graph.h"
#include "berth/graph_memories.h"
#include "berth/plan.h"
#include "berth/result.h"
#include "tools/lab/suites/inputs.h"
#include "tools/lab/suites/lab.h"
#include "tools/lab/suites/sheet.h"

namespace berth::lab {

// A budget of the paper.
struct CosmaLevel {
  NamedBudget budget;
  std::string_view name;
};
inline constexpr std::array<CosmaLevel, 3> kCosmaLevels = {{{NamedBudget::kOneOperator, "MR"},
                                                            {NamedBudget::kHalfway, "MH"},
                                                            {NamedBudget::kLeastPeak, "MP"}}};

enum class CosmaNetworks { kDesigned, kSearched, kTraining };
// Those given on the command line; or those of the data folder, or else generated ones, and of those found
// by a search also the two that are built from their published cells.
[[nodiscard]] Result<std::vector<GraphInput>> ReadCosmaNetworks(const Lab& lab, CosmaNetworks kind);

// What a plan costs on the accelerator of the experiments.
struct CosmaCost {
  double picojoules = 0;       // Of the avoidable traffic.
  std::int64_t computing = 0;  // In ns: of the operators alone,
  std::int64_t time = 0;  // of the run if copies are made while operators run (berth/off_chip.h),
  std::int64_t one_by_one = 0;  // and if operators wait for each of them.
};
// An accelerator at the edge, with 8-bit arithmetic: examples/devices/edge-accelerator.json is the same.
[[nodiscard]] Device CosmaAccelerator();
// Sets the costs of the operators of `graph` to their times on it.
[[nodiscard]] Result<Unpriced> PriceForCosma(Graph& graph);
// None where operators have no times or the plan no addresses.
[[nodiscard]] Result<std::optional<CosmaCost>> CostOfPlan(const Graph& graph,
                                                          const MemoryPlan& plan);
struct CosmaContender {
  std::string_view key;
  std::string_view title;
};
// One case; costs are by contender, the last is Berth over all orders.
struct CosmaCosts {
  std::string network;
  std::string budget;
  NamedBudget level = NamedBudget::kOneOperator;
  std::vector<std::optional<CosmaCost>> of;
};
// Every case; and what Berth's plans save against each contender in the cases in which that has avoidable
// traffic, with what each takes at each budget.
[[nodiscard]] Sheet CosmaCostSheet(const std::vector<CosmaCosts>& cases,
                                   std::span<const CosmaContender> contenders);
[[nodiscard]] Sheet CosmaCostSummary(const std::vector<CosmaCosts>& cases,
                                     std::span<const CosmaContender> contenders);

// Berth's search for one order, or over all of them.
struct CosmaSolved {
  std::optional<Bytes> traffic;
  Bytes lower_bound = 0;
  Bytes without_addresses = 0;
  bool proved = false;
  double seconds = 0;
  std::optional<CosmaCost> cost = {};
};
// In `order` alone, or over all orders. The plan is verified.
[[nodiscard]] Result<CosmaSolved> SolveForCosma(const GraphInput& network, const Counting& counting,
                                                const NamedBudgets& named, NamedBudget level,
                                                std::optional<Order> order, double limit);

// In scratchpads, in `order` alone or over all orders, from `more` as well. A plan is verified.
struct CosmaInScratchpads {
  CosmaSolved solved;
  std::optional<MemoryPlan> plan;
};
[[nodiscard]] Result<CosmaInScratchpads> SolveInScratchpads(
    const Graph& graph, const Counting& counting, const GraphMemories& memories,
    std::optional<Order> order, const std::vector<Order>& more, Budget& budget);
// Its traffic; a star: not proved the least.
[[nodiscard]] Cell TrafficCell(const CosmaSolved& solved);

// The experiment "elements": a scratchpad for each processing element.
[[nodiscard]] Result<void> CosmaElements(Lab& lab);
// The experiment "programs": COSMA's integer programs against our search.
[[nodiscard]] Result<void> CosmaPrograms(Lab& lab);

}  // namespace berth::lab

#endif  // BERTH_TOOLS_LAB_SUITES_COSMA_H_
