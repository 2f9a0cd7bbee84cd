// spill/model.h -- a graph compiled for whoever decides what leaves the memory and when.
//
// As graph/topology.h, and beyond it what counts for traffic: which storages have a copy off chip
// from the start, which leave one behind in any case, and which operators make such a copy stale.
// Operators that neither make nor use a counted storage are left out; what they ordered stays
// ordered.
#ifndef BERTH_SPILL_MODEL_H_
#define BERTH_SPILL_MODEL_H_

#include <cstdint>
#include <span>
#include <vector>

#include "base/bits.h"
#include "base/indexed_vector.h"
#include "base/lists.h"
#include "berth/graph.h"
#include "graph/topology.h"

namespace berth::internal::spill {

struct Stored {
  TensorIndex tensor = 0;  // The base.
  Bytes size = 0;          // At least 1.
  OpIndex creator{-1};     // -1: brought in from off chip by its first use.
  bool result = false;     // Written out in any case, once it has its last value.
  // Operators that write it, its creator aside. Until all of them have run, a copy off chip is not
  // the result.
  std::int32_t writers = 0;
};

struct Model {
  std::size_t num_operators = 0;
  std::vector<OperatorIndex> operators;  // Of the graph, for each operator here; increasing.
  Lists<OpIndex, OpIndex> predecessors;  // Without those that follow from others.
  Lists<OpIndex, OpIndex> successors;
  IndexedVector<StorageIndex, Stored> storages;
  Lists<OpIndex, StorageIndex> made;
  Lists<OpIndex, StorageIndex> used;     // Other than made.
  Lists<OpIndex, StorageIndex> written;  // Of those used: written in place.
  Lists<StorageIndex, OpIndex> users;
  IndexedVector<OpIndex, Bytes> needs;  // What each has to have in memory: made and used.
  // Of that, what is no storage of this model: of a part of a graph, what belongs to other parts.
  IndexedVector<OpIndex, Bytes> elsewhere;
  // Row v: the operators that come before v in every order.
  std::vector<Word> ancestors;
  [[nodiscard]] std::size_t operator_words() const { return WordsFor(num_operators); }
  [[nodiscard]] std::size_t storage_words() const { return WordsFor(storages.size()); }
  [[nodiscard]] const Word* AncestorsOf(OpIndex v) const {
    return ancestors.data() + v.position() * operator_words();
  }
};

// `graph` must be valid. Cost: O(operators x (operators + edges) / 64).
[[nodiscard]] Model CompileModel(const Graph& graph, const Counting& counting);

// `model` with its operators in the order given, which must be valid, and no other.
[[nodiscard]] Model WithOrder(const Model& model, std::span<const OpIndex> order);

// The part of `model` that makes and uses the storages for which `inside` is set: these storages,
// the operators that touch them, in every order that `model` allows; and those operators that do
// not but run between such operators in every order and need so much that they may drive something
// out, at most `max_others`, the neediest first. `operators` tells which of `model` they are. What
// else those operators need is in `elsewhere`, so that a schedule of `model`, looked at in these
// operators and storages alone, is a schedule of the part.
[[nodiscard]] Model PartOf(const Model& model, const std::vector<char>& inside, Bytes capacity,
                           std::size_t max_others, std::vector<OpIndex>& operators);

// The order of all operators of `graph` that runs those of `model` as given: every operator left
// out runs as late as it can.
[[nodiscard]] Order ExpandOrder(const Graph& graph, const Model& model,
                                std::span<const OpIndex> order);
// The other way round.
[[nodiscard]] std::vector<OpIndex> ReduceOrder(const Model& model, const Order& order);

}  // namespace berth::internal::spill

#endif  // BERTH_SPILL_MODEL_H_
