// spill/layout.h -- a schedule as stays in memory, over the steps of the whole graph.
//
// Each storage is accessed at some steps: made, used, written. Between two accesses it is kept or
// not; a plan is an order and these choices. A storage that is not kept leaves right after its
// access, since leaving early costs no more than leaving late and only makes room.
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
  bool given = false;            // There from the start, off chip.
  bool result = false;           // Has to be off chip, or in memory, at the end.
  std::vector<Access> accesses;  // In order of step.
  // kept[i]: it stays from access i to the next; the last says whether a result stays to the end.
  std::vector<char> kept;
};

struct Layout {
  Order order;
  std::vector<Stays> storages;  // By tensor.
  [[nodiscard]] Step steps() const { return static_cast<Step>(order.size()); }
};

[[nodiscard]] Layout LayoutOf(const Graph& graph, const Model& model, const Schedule& schedule);

// The plan without addresses, with its traffic, and without what it takes of the memory. Cost:
// linear.
[[nodiscard]] MemoryPlan PlanOf(const Layout& layout);
[[nodiscard]] Bytes AvoidableTraffic(const Layout& layout);

// Bytes in memory at each step.
[[nodiscard]] std::vector<Bytes> LoadOf(const Layout& layout);

}  // namespace berth::internal::spill

#endif  // BERTH_SPILL_LAYOUT_H_
