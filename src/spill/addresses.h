// spill/addresses.h -- addresses for a layout, and more traffic where there are none.
//
// Bytes that fit in sum may not fit in one piece: the placer is asked, and if it finds no plan
// within the capacity, something more has to leave between two of its accesses. Each such choice is
// tried by itself, the cheapest first. If none is enough, storages leave where something sticks out
// of the memory until all fits, and what left in vain stays after all. At worst each storage is in
// memory only while an operator uses it, so a plan there is whatever the budget.
#ifndef BERTH_SPILL_ADDRESSES_H_
#define BERTH_SPILL_ADDRESSES_H_

#include <cstdint>
#include <optional>

#include "berth/budget.h"
#include "berth/graph.h"
#include "berth/result.h"
#include "berth/spill.h"
#include "spill/layout.h"

namespace berth::internal::spill {

struct AddressOptions {
  Bytes capacity = 0;
  // Choices of which each is tried by itself.
  std::size_t max_trials = 48;
  std::int64_t nodes_of_first = 300'000;  // Of the placer.
  std::int64_t nodes_of_trial = 20'000;
  std::int64_t nodes_of_repair = 2'000;
  // Traffic from which on a plan is of no use.
  Bytes limit = std::numeric_limits<Bytes>::max();
};

// The plan with offsets, all within the capacity; nothing where none was found below the limit.
// Error: the placer's.
[[nodiscard]] Result<std::optional<MemoryPlan>> FindAddresses(const Graph& graph, Layout layout,
                                                             const AddressOptions& options,
                                                             const Placer& placer, Budget& budget);

}  // namespace berth::internal::spill

#endif  // BERTH_SPILL_ADDRESSES_H_
