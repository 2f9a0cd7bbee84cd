// place/niche/niche.h -- exact placement that stays where the conflict is.
#ifndef BERTH_PLACE_NICHE_NICHE_H_
#define BERTH_PLACE_NICHE_NICHE_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "berth/budget.h"
#include "berth/place.h"
#include "model/instance.h"
#include "place/strategy.h"

namespace berth::internal {

// Searches one instance, for any number of capacities in turn. Memory: O(pieces + sections), and
// while it searches O(depth x pieces) at worst, usually far less; the overlaps are not needed.
class NicheSearch {
 public:
  NicheSearch(const Instance& instance, const NicheOptions& options, std::uint64_t seed);
  ~NicheSearch();

  // Looks for a plan no higher than `capacity`, for at most `node_limit` nodes of this call. Calls
  // with the same capacity one after the other go on with what the earlier ones have learned.
  // kImpossible is a proof; where windows
  // leave it nothing to branch on that is sure to be complete, the answer is kInconclusive instead.
  // Deterministic unless the budget ends by time.
  [[nodiscard]] SearchAnswer Search(Bytes capacity, std::int64_t node_limit, Budget& budget);

 private:
  class Engine;
  template <typename Level>
  class LevelEngine;  // Levels in 32 bits where they fit, in 64 otherwise.
  Bytes grain_;       // All levels are multiples of this.
  Bytes highest_ = 0;
  std::unique_ptr<Engine> engine_;
};

}  // namespace berth::internal

#endif  // BERTH_PLACE_NICHE_NICHE_H_
