// place/disjunctive/disjunctive.h -- exact placement by deciding which of two buffers lies above.
#ifndef BERTH_PLACE_DISJUNCTIVE_DISJUNCTIVE_H_
#define BERTH_PLACE_DISJUNCTIVE_DISJUNCTIVE_H_

#include <cstdint>
#include <memory>

#include "berth/budget.h"
#include "model/instance.h"
#include "place/strategy.h"

namespace berth::internal {

// Searches one instance, for any number of capacities in turn. Instance and overlaps must outlive
// it. Unlike the canonical search it is complete whatever the gaps and windows look like. Memory:
// all pairs of buffers that meet.
class DisjunctiveSearch {
 public:
  DisjunctiveSearch(const Instance& instance, const Overlaps& overlaps);
  ~DisjunctiveSearch();

  // Looks for a plan no higher than `capacity`, for at most `node_limit` nodes of this call.
  // kImpossible is a proof. Deterministic unless the budget ends by time. Cost: exponential in the
  // number of pairs in the worst case; a node costs the number of pairs.
  [[nodiscard]] SearchAnswer Search(Bytes capacity, std::int64_t node_limit, Budget& budget);

 private:
  class Engine;
  std::unique_ptr<Engine> engine_;
};

}  // namespace berth::internal

#endif  // BERTH_PLACE_DISJUNCTIVE_DISJUNCTIVE_H_
