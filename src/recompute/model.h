// recompute/model.h -- a graph compiled for searches over sequences of executions.
//
// A storage is a base that operators touch, with bytes or without: one without bytes never has to make
// room, but operators that run again must find its right version, too. Version k of a storage is made
// by its chain: its maker, then the first k operators that write it in place.
#ifndef BERTH_RECOMPUTE_MODEL_H_
#define BERTH_RECOMPUTE_MODEL_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "berth/graph.h"
#include "graph/versions.h"

namespace berth::internal::recompute {

using Op = std::uint32_t;       // As in Graph::operators.
using Storage = std::uint32_t;  // Index into Model::storages.

// One storage that an operator touches, as in graph/versions.h.
struct Touch {
  Storage storage = 0;
  std::int32_t finds = 0;   // A version, or kMakes.
  std::int32_t leaves = 0;  // A version.
  bool only_first = false;
};

struct StorageInfo {
  TensorIndex tensor = 0;
  Bytes size = 0;    // 0 if it is not counted.
  Bytes padded = 0;  // The same with room for its alignment.
  bool given = false;
  bool result = false;    // Its last version is in memory at the end, or with a link off chip.
  std::int32_t last = 0;  // Its last version.
  // The operators that make version 0 (unless it is given), 1, 2, ...
  std::vector<Op> chain;
  // The largest version that may be made again, or -1.
  std::int32_t again = -1;
  // By version: roughly what making it again costs, the sum of its chain up to there. The cost of an
  // operator counts at the largest storage that it makes or writes. A guide, no bound.
  std::vector<std::int64_t> price;
  // With a link: what a copy off chip costs, and one back.
  std::int64_t out_cost = 0;
  std::int64_t in_cost = 0;
  // Of a given storage the store has version 0 from the start. The last version of a result goes there
  // at no cost.
  [[nodiscard]] std::int64_t OutCost(std::int32_t version) const {
    return (given && version == 0) || (result && version == last) ? 0 : out_cost;
  }
  // Roughly the least that it costs to have `version` again.
  [[nodiscard]] std::int64_t Price(std::int32_t version, bool linked) const {
    const std::int64_t copies = in_cost + OutCost(version);
    if (version > again) return copies;
    const std::int64_t made = price[static_cast<std::size_t>(version)];
    return linked ? std::min(made, copies) : made;
  }
};

struct Model {
  std::vector<Touch> all_touches;
  std::vector<std::size_t> touches_begin;  // By operator.
  std::vector<StorageInfo> storages;
  // By operator. With a link, number num_operators() + s is the return of storage s from off chip
  // (sequence.h): it touches nothing, and costs a copy out and one back.
  std::vector<std::int64_t> cost;
  std::vector<char> may_repeat;
  bool linked = false;  // Storages may be copied off chip and back.
  std::vector<std::vector<Op>> predecessors;
  std::vector<std::vector<Op>> successors;
  std::vector<TensorIndex> throughout;  // Counted parameters, and inputs that are only results.
  Bytes always_live = 0;                // Their bytes.

  [[nodiscard]] std::size_t num_operators() const { return may_repeat.size(); }
  // Operators, and returns from off chip.
  [[nodiscard]] std::size_t num_actions() const { return cost.size(); }
  [[nodiscard]] bool IsReturn(Op v) const { return v >= num_operators(); }
  [[nodiscard]] Storage Returned(Op v) const { return v - static_cast<Storage>(num_operators()); }
  [[nodiscard]] Op ReturnOf(Storage s) const { return s + static_cast<Op>(num_operators()); }
  // Whether `s` may be copied off chip and back.
  [[nodiscard]] bool MayCopy(Storage s) const { return linked && storages[s].size > 0; }
  // Whether `version` of `s` may be dropped: something brings it back.
  [[nodiscard]] bool MayDrop(Storage s, std::int32_t version) const {
    return version <= storages[s].again || MayCopy(s);
  }
  [[nodiscard]] std::span<const Touch> TouchesOf(Op v) const {
    return {all_touches.data() + touches_begin[v], touches_begin[v + 1] - touches_begin[v]};
  }
  // Bytes that an operator needs by itself: what it touches, and what is live throughout.
  [[nodiscard]] Bytes NeedOf(Op v) const {
    Bytes need = always_live;
    for (const Touch& touch : TouchesOf(v)) need += storages[touch.storage].size;
    return need;
  }
};

// What can be made again of each storage of a model that is otherwise complete, and what that costs.
void FindPrices(Model& model);

// `graph` must be valid. With a `link`, which must be valid, storages may be copied: given ones are then
// off chip until their first use. Cost: O(n log n).
[[nodiscard]] Model Compile(const Graph& graph, const Counting& counting,
                            const std::optional<Link>& link = {});

}  // namespace berth::internal::recompute

#endif  // BERTH_RECOMPUTE_MODEL_H_
