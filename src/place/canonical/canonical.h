// place/canonical/canonical.h -- exact placement over canonical plans (MiniMalloc).
//
// Source: M. D. Moffitt, "MiniMalloc: A Lightweight Memory Allocator for Hardware-Accelerated
// Machine Learning", ASPLOS 2023, sections 5 to 7; section numbers below are that paper's.
#ifndef BERTH_PLACE_CANONICAL_CANONICAL_H_
#define BERTH_PLACE_CANONICAL_CANONICAL_H_

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "berth/budget.h"
#include "berth/place.h"
#include "model/instance.h"
#include "place/strategy.h"

namespace berth::internal {

// True if `preorders` is a comma-separated list of words over the keys of
// CanonicalOptions::preorders.
[[nodiscard]] bool ValidPreorders(std::string_view preorders);

// Searches one instance, for any number of capacities in turn. Memory: O(n + sections) and the
// overlaps, which must outlive it, as must the instance.
class CanonicalSearch {
 public:
  // `options.preorders` must be valid.
  CanonicalSearch(const Instance& instance, const Overlaps& overlaps,
                  const CanonicalOptions& options);
  ~CanonicalSearch();

  // Looks for a plan no higher than `capacity`, for at most `node_limit` nodes of this call.
  // kImpossible is a proof, and is never given where overlaps.stackable does not hold
  // (kInconclusive is). Deterministic unless the budget ends by time. Cost: exponential in the
  // number of buffers in the worst case; a node costs the number of unplaced buffers and, for each
  // child, the neighbours of the buffer it places.
  [[nodiscard]] SearchAnswer Search(Bytes capacity, const std::vector<Bytes>* known,
                                    std::int64_t node_limit, Budget& budget);

 private:
  class Engine;
  std::unique_ptr<Engine> engine_;
};

}  // namespace berth::internal

#endif  // BERTH_PLACE_CANONICAL_CANONICAL_H_
