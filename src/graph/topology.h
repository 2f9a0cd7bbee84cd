// graph/topology.h -- a graph compiled to flat arrays, for searches over its orders.
//
// The peak of an order depends on which operators precede which, and on the counted bases
// ("storages" here) that each of them creates and uses. Names, views and uncounted tensors are
// gone: a use of a view is a use of its base. Everything is in increasing order without
// repetitions.
#ifndef BERTH_GRAPH_TOPOLOGY_H_
#define BERTH_GRAPH_TOPOLOGY_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/indexed_vector.h"
#include "base/lists.h"
#include "berth/graph.h"

namespace berth::internal {

struct OperatorTag;
using OpIndex = Index<OperatorTag>;  // As in Graph::operators.
struct StorageTag;
using StorageIndex = Index<StorageTag>;

struct Storage {
  TensorIndex tensor = 0;  // The base.
  Bytes size = 0;          // At least 1.
  OpIndex creator{-1};     // -1: live from step 0, as no operator creates it.
  bool to_end = false;     // Live to the end, used or not.
};

struct Topology {
  std::size_t num_operators = 0;
  // All that an operator has to wait for: who makes what it reads or writes in place, and `after`.
  Lists<OpIndex, OpIndex> predecessors;
  Lists<OpIndex, OpIndex> successors;
  // One for each base that has a buffer in Live(), in the same order. Storages that are live at
  // every step of any order are left out; `always_live` is their sum.
  IndexedVector<StorageIndex, Storage> storages;
  Bytes always_live = 0;
  Lists<OpIndex, StorageIndex> made;   // By the operator.
  Lists<OpIndex, StorageIndex> used;   // By the operator, other than made: they are live during it.
  Lists<StorageIndex, OpIndex> users;  // The inverse of made and used.
};

// `graph` must be valid. Cost: O(n log n) of its size.
[[nodiscard]] Topology Compile(const Graph& graph, const Counting& counting);

// The peak of `order`, which must be valid. Cost: linear, with one allocation.
[[nodiscard]] Bytes PeakOf(const Topology& topology, std::span<const OpIndex> order);

}  // namespace berth::internal

#endif  // BERTH_GRAPH_TOPOLOGY_H_
