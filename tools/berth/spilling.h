// tools/berth/spilling.h -- budgets by name, plans with spills and what people read of them.
#ifndef BERTH_TOOLS_BERTH_SPILLING_H_
#define BERTH_TOOLS_BERTH_SPILLING_H_

#include <optional>
#include <string>
#include <vector>

#include "berth/io.h"
#include "berth/spill.h"
#include "tools/berth/common.h"
#include "tools/berth/model.h"

namespace berth::cli {

// What a graph needs at least, and from where on nothing has to leave (COSMA, section V-A2).
struct NamedBudgets {
  LeastMemory least;     // MR: one operator's inputs and outputs.
  Bytes least_peak = 0;  // MP: the least peak found.
  bool peak_proved = false;
  Order order;  // That has this peak.
  [[nodiscard]] Bytes middle() const { return (least.bytes + least_peak) / 2; }  // MH
};
// What is given is there from its first use to its last here, as it comes in and leaves.
[[nodiscard]] Result<NamedBudgets> FindBudgets(const Graph& graph, const Counting& counting,
                                               Budget& budget);

// "MR", "MH", "MP" or bytes such as 512KiB. Error: kInvalidOptions.
[[nodiscard]] Result<Bytes> ParseBudget(const std::string& text, const NamedBudgets& named);

// The search for one capacity from `orders`, or for the first of these alone. The plan was verified
// independently, by running it; the process ends if it does not hold. `place` is how addresses are
// found.
[[nodiscard]] Result<SpillAnswer> SolveSpills(const Graph& graph, const Counting& counting,
                                              Bytes capacity, std::vector<Order> orders,
                                              bool fixed_order, Budget& budget,
                                              const PlaceOptions& place = {});

// What `berth plan --budget` does.
struct SpillRequest {
  std::string budget;  // As given.
  bool fixed_order = false;
  PlaceOptions place;  // How addresses are found; `minimize` is off.
  PlanOutputs outputs;
  bool in_place = false;                   // As the model was read.
  bool tensors = false;                    // List all residencies.
  std::optional<std::int64_t> node_limit;  // For the record: `search` has the limits.
};
struct SpillRun {
  SpillAnswer answer;
  Bytes capacity = 0;
};
[[nodiscard]] Result<SpillRun> PlanWithinBudget(const Model& model, const Counting& counting,
                                                const SpillRequest& request, WatchedSearch& search);

}  // namespace berth::cli

#endif  // BERTH_TOOLS_BERTH_SPILLING_H_
