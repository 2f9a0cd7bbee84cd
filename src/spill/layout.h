// spill/layout.h -- a schedule as residencies over the steps of the whole graph.
//
// Each storage is accessed at some steps: created, used, written. Between two accesses it is either
// kept or not; a plan is an order and these choices. A storage that is not kept is spilled right
// after its access, since spilling early costs no more than spilling late and frees memory sooner.
#ifndef BERTH_SPILL_LAYOUT_H_
#define BERTH_SPILL_LAYOUT_H_

#include <cstddef>
#include <vector>

#include "berth/graph.h"
#include "berth/spill.h"
#include "spill/model.h"
#include "spill/search.h"

namespace berth::internal::spill {

struct Access {
  Step step = 0;
  bool writes = false;  // Gives it a new value.
};

struct Stays {
  TensorIndex tensor = 0;
  Bytes size = 0;
  bool given = false;            // Off chip from the start.
  bool result = false;           // Must be off chip, or in memory, at the end.
  std::vector<Access> accesses;  // In order of step.
  // kept[i]: resident from access i to the next; the last entry: whether a result stays to the end.
  std::vector<char> kept;
};

struct Layout {
  Order order;
  std::vector<Stays> storages;  // By tensor.
  [[nodiscard]] Step steps() const { return static_cast<Step>(order.size()); }
};

// Operators of `graph` that are not in `model` run as late as possible, unless the `order` of all is
// given; it must be that of the schedule.
[[nodiscard]] Layout LayoutOf(const Graph& graph, const Model& model, const Schedule& schedule,
                              const Order* order = nullptr);

// The plan with its traffic; all offsets are 0. Cost: linear.
[[nodiscard]] MemoryPlan PlanOf(const Layout& layout);
[[nodiscard]] Bytes AvoidableTraffic(const Layout& layout);

// Bytes in memory at each step.
[[nodiscard]] std::vector<Bytes> LoadOf(const Layout& layout);

}  // namespace berth::internal::spill

#endif  // BERTH_SPILL_LAYOUT_H_
