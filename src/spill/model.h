// spill/model.h -- a graph compiled for the spill search.
//
// Like graph/topology.h, with the properties that determine traffic: which storages have a copy off
// chip from the start, which leave one at the end in any case, and which operators make such a copy
// stale. Operators that neither create nor use a counted storage are left out; the order that they
// imply is kept.
#ifndef BERTH_SPILL_MODEL_H_
#define BERTH_SPILL_MODEL_H_

#include <cstdint>
#include <span>
#include <vector>

#include "base/bits.h"
#include "base/indexed_vector.h"
#include "base/lists.h"
#include "berth/budget.h"
#include "berth/graph.h"
#include "graph/topology.h"

namespace berth::internal::spill {

struct Stored {
  TensorIndex tensor = 0;  // The base.
  Bytes size = 0;          // At least 1.
  OpIndex creator{-1};     // -1: retrieved from off chip at its first use.
  bool result = false;     // Written off chip in any case, once it has its last value.
  // Number of operators that write it, other than its creator. Until all of them have run, a copy
  // off chip is not the result.
  std::int32_t writers = 0;
  // To leave and come back moves it once more than it moves anyway: given, it has a copy; of a result
  // one is made in any case. All others move twice.
  [[nodiscard]] bool moves_once() const { return result || creator.value() < 0; }
};

struct Model {
  std::size_t num_operators = 0;
  std::vector<OperatorIndex> operators;  // In the graph, for each operator here; increasing.
  Lists<OpIndex, OpIndex> predecessors;  // Without implied ones.
  Lists<OpIndex, OpIndex> successors;
  IndexedVector<StorageIndex, Stored> storages;
  Lists<OpIndex, StorageIndex> made;
  Lists<OpIndex, StorageIndex> used;     // Without those created.
  Lists<OpIndex, StorageIndex> written;  // Those of `used` that are written in place.
  Lists<StorageIndex, OpIndex> users;
  IndexedVector<OpIndex, Bytes> needs;  // Bytes each needs in memory: created and used.
  // The part of `needs` that is in no storage of this model, but in other parts of the graph.
  IndexedVector<OpIndex, Bytes> elsewhere;
  bool ordered = false;  // The operators run in exactly this order.
  // Row v: the operators that come before v in every order. Empty if that needs no rows (ordered),
  // or if they were not asked for.
  std::vector<Word> ancestors;
  [[nodiscard]] std::size_t operator_words() const { return WordsFor(num_operators); }
  [[nodiscard]] std::size_t storage_words() const { return WordsFor(storages.size()); }
  // Whether u comes before v in every order.
  [[nodiscard]] bool Precedes(OpIndex u, OpIndex v) const {
    return ordered ? u < v : TestBit(AncestorsOf(v), u.position());
  }
  // Whether some operator uses `s` between the two in every order, whichever comes first. Cost: linear in
  // the users of `s`.
  [[nodiscard]] bool IsUsedBetween(OpIndex v, OpIndex w, StorageIndex s) const;
  // Whether `v` creates or uses `s`. Cost: the same.
  [[nodiscard]] bool Touches(OpIndex v, StorageIndex s) const;
  // Of a model that is not `ordered`.
  [[nodiscard]] const Word* AncestorsOf(OpIndex v) const {
    return ancestors.data() + v.position() * operator_words();
  }
};

// `graph` must be valid. Cost: near-linear without the rows of ancestors. Some edges may then be
// implied by others, and the model only serves WithOrder() and what takes its result.
[[nodiscard]] Model CompileModel(const Graph& graph, const Counting& counting,
                                 bool with_ancestors = true);
// The greatest common divisor of the sizes of all storages, so also of the traffic of any plan; at least 1.
[[nodiscard]] Bytes DivisorOf(const Model& model);

// Makes the rows of ancestors of a model without them, and leaves out implied edges. False, and
// nothing done, if time is up or the search was cancelled before the end. Cost: O(operators x
// (operators + edges) / 64).
[[nodiscard]] bool AddAncestors(Model& model, Budget& budget);
// Bytes of the rows of ancestors.
[[nodiscard]] inline std::size_t BytesOfAncestors(std::size_t num_operators) {
  return num_operators * WordsFor(num_operators) * sizeof(Word);
}

// `model` with its operators in exactly the given order, which must be valid. Cost: near-linear.
[[nodiscard]] Model WithOrder(const Model& model, std::span<const OpIndex> order);

// The part of `model` around the storages for which `inside` is set: these storages, the operators
// that touch them, and at most `max_others` operators that run between those in every order and
// need so much memory that they may force spills, the neediest first. `operators` maps the part's
// operators to those of `model`. The memory that they need for other storages is in `elsewhere`, so
// a schedule of `model`, restricted to these operators and storages, is a schedule of the part.
[[nodiscard]] Model PartOf(const Model& model, const std::vector<char>& inside, Bytes capacity,
                           std::size_t max_others, std::vector<OpIndex>& operators);

// The order of all operators of `graph` that runs those of `model` in the given order; every
// operator left out runs as late as possible.
[[nodiscard]] Order ExpandOrder(const Graph& graph, const Model& model,
                                std::span<const OpIndex> order);
// The inverse of ExpandOrder().
[[nodiscard]] std::vector<OpIndex> ReduceOrder(const Model& model, const Order& order);

}  // namespace berth::internal::spill

#endif  // BERTH_SPILL_MODEL_H_
