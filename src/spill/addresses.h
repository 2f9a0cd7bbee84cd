// spill/addresses.h -- addresses for a layout, with additional spills where necessary.
//
// Tensors may fit by total size but not without fragmentation. If the placer finds no plan within
// the capacity, storages are spilled where one exceeds the memory, until all fit; spills that turn out
// unnecessary are undone. In the worst case each storage is in memory only while an operator uses it,
// which needs no placer, so a plan always exists. Then conflicts.h looks for the least that is enough in
// this order. If it ends early, each single tensor that could be spilled between two of its accesses is
// tried, cheapest first.
//
// A plan with more traffic than its schedule is improved while there is time: what was spilled stays
// again, by itself or in exchange for something cheaper.
//
// Each of these steps has a share of the time and the nodes, and nodes of placements are those of
// the budget.
#ifndef BERTH_SPILL_ADDRESSES_H_
#define BERTH_SPILL_ADDRESSES_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>

#include "berth/budget.h"
#include "berth/graph.h"
#include "berth/result.h"
#include "berth/spill.h"
#include "spill/layout.h"

namespace berth::internal::spill {

struct AddressOptions {
  Bytes capacity = 0;
  // Choices tried by themselves.
  std::size_t max_trials = 48;
  // Node limits of the first placement, of each trial and of each repair.
  std::int64_t nodes_of_first = 300'000;
  std::int64_t nodes_of_trial = 20'000;
  std::int64_t nodes_of_repair = 2'000;
  // A plan with more traffic than this (in bytes) is not worth having.
  Bytes limit = std::numeric_limits<Bytes>::max();
  // A plan with at most this traffic (in bytes) need not be improved.
  Bytes enough = 0;
  std::size_t most_bytes = std::size_t{2} << 30;  // Memory for one search, roughly.
};

// A layout and its plan with offsets, all within the capacity.
struct Addressed {
  Layout layout;
  MemoryPlan plan;
};

struct AddressAnswer {
  std::optional<Addressed> best;  // Nothing: none was found within the limit.
  // With more time or nodes of the budget, or with more nodes for single placements, there might be less
  // traffic.
  bool out_of_budget = false;
  bool out_of_nodes = false;
  Bytes bound = 0;  // Proved: no plan in this order has less traffic.
};

// The layout with offsets, or a similar one with additional spills. Whatever the budget, there is one
// unless it exceeds the limit, or alignments raise the needs of an operator above the capacity. Error:
// the placer's.
[[nodiscard]] Result<AddressAnswer> FindAddresses(const Graph& graph, Layout layout,
                                                  const AddressOptions& options,
                                                  const Placer& placer, Budget& budget);

// The same with less traffic, if there is any: ends with the budget, or when nothing is left to try.
// Error: the placer's.
[[nodiscard]] Result<AddressAnswer> ImproveAddresses(const Graph& graph, Addressed known,
                                                     const AddressOptions& options,
                                                     const Placer& placer, Budget& budget);

// The plan of `layout` as it is, with offsets, whatever its height; nothing if the placer found none
// in time.
[[nodiscard]] Result<std::optional<MemoryPlan>> PlaceLayout(const Graph& graph,
                                                            const Layout& layout,
                                                            const AddressOptions& options,
                                                            const Placer& placer, Budget& budget);

// The plan in which each storage is in memory only while an operator uses it; nothing if alignments
// raise it above the capacity. Cost: near-linear.
[[nodiscard]] std::optional<MemoryPlan> SpillAll(const Graph& graph, Layout layout, Bytes capacity);

}  // namespace berth::internal::spill

#endif  // BERTH_SPILL_ADDRESSES_H_
