// tools/lab/suites/cosma.h -- what the experiments of COSMA's paper share.
#ifndef BERTH_TOOLS_LAB_SUITES_COSMA_H_
#define BERTH_TOOLS_LAB_SUITES_COSMA_H_

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/graph.h"
#include "berth/plan.h"
#include "berth/result.h"
#include "tools/lab/suites/inputs.h"
#include "tools/lab/suites/lab.h"

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

// Berth's search for one order, or over all of them.
struct CosmaSolved {
  std::optional<Bytes> traffic;
  Bytes lower_bound = 0;
  Bytes without_addresses = 0;
  bool proved = false;
  double seconds = 0;
};
// In `order` alone, or over all orders. The plan is verified.
[[nodiscard]] Result<CosmaSolved> SolveForCosma(const GraphInput& network, const Counting& counting,
                                                const NamedBudgets& named, NamedBudget level,
                                                std::optional<Order> order, double limit);

// The experiment "programs": COSMA's integer programs against our search.
[[nodiscard]] Result<void> CosmaPrograms(Lab& lab);

}  // namespace berth::lab

#endif  // BERTH_TOOLS_LAB_SUITES_COSMA_H_
