// spill/addresses.h -- addresses for a layout, with additional spills where necessary.
//
// Tensors may fit by total size but not without fragmentation. If the placer finds no plan within
// the capacity, one more tensor must be spilled between two of its accesses. Each such choice is
// tried by itself, cheapest first. If none is enough, storages are spilled where one exceeds the
// memory, until all fit; spills that turn out unnecessary are undone. In the worst case each
// storage is in memory only while an operator uses it, so a plan always exists.
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
  // A plan with this much traffic (in bytes) or more is not worth having.
  Bytes limit = std::numeric_limits<Bytes>::max();
};

// The plan with offsets, all within the capacity; nothing if none was found below the limit. Error:
// the placer's.
[[nodiscard]] Result<std::optional<MemoryPlan>> FindAddresses(const Graph& graph, Layout layout,
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
