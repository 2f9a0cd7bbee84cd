// recompute/model.h -- a graph compiled for searches over sequences of executions.
//
// A storage is a base that operators touch, with bytes or without: one without bytes never has to make
// room, but operators that run again must find its right version, too. Version k of a storage is made
// by its chain: its maker, then the first k operators that write it in place.
#ifndef BERTH_RECOMPUTE_MODEL_H_
#define BERTH_RECOMPUTE_MODEL_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "berth/graph.h"
#include "graph/versions.h"

namespace berth::internal::recompute {

using Op = std::uint32_t;       // As in Graph::operators.
using Storage = std::uint32_t;  // Index into Model::storages.

using internal::kMakes;

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
  bool result = false;    // Its last version is in memory at the end.
  std::int32_t last = 0;  // Its last version.
  // The operators that make version 0 (unless it is given), 1, 2, ...
  std::vector<Op> chain;
  // The largest version that may be made again, or -1.
  std::int32_t again = -1;
  // By version: roughly what making it again costs, the sum of its chain up to there. The cost of an
  // operator counts at the largest storage that it makes or writes. A guide, no bound.
  std::vector<std::int64_t> price;
};

struct Model {
  std::vector<Touch> all_touches;
  std::vector<std::size_t> touches_begin;  // By operator.
  std::vector<StorageInfo> storages;
  std::vector<std::int64_t> cost;
  std::vector<char> may_repeat;
  std::vector<std::vector<Op>> predecessors;
  std::vector<std::vector<Op>> successors;
  std::vector<TensorIndex> throughout;  // Counted parameters, and inputs that are only results.
  Bytes always_live = 0;                // Their bytes.

  [[nodiscard]] std::size_t num_operators() const { return cost.size(); }
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

// `graph` must be valid. Cost: O(n log n).
[[nodiscard]] Model Compile(const Graph& graph, const Counting& counting);

}  // namespace berth::internal::recompute

#endif  // BERTH_RECOMPUTE_MODEL_H_
