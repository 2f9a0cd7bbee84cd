// place/exact.h -- is there a plan of at most so many bytes? The exact searches behind one
// question.
#ifndef BERTH_PLACE_EXACT_H_
#define BERTH_PLACE_EXACT_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "berth/budget.h"
#include "berth/place.h"
#include "model/instance.h"
#include "place/canonical/canonical.h"
#include "place/disjunctive/disjunctive.h"
#include "place/niche/niche.h"
#include "place/strategy.h"

namespace berth::internal {

// Asks the canonical search first. Where windows let two buffers interlock, that search may find
// plans but proves nothing, and the disjunctive search takes over.
class ExactSearch {
 public:
  // `algorithm`: kAuto, or kCanonical or kDisjunctive for that one alone. `instance` must outlive
  // this. Time and memory: all pairs of buffers that meet. If time is up before they are all found,
  // or they are too many to hold (too_large()), Decide() always gives up.
  ExactSearch(const Instance& instance, Algorithm algorithm, const PlaceOptions& options,
              const Budget& budget);

  [[nodiscard]] bool too_large() const { return too_large_; }

  // As CanonicalSearch::Search().
  [[nodiscard]] SearchAnswer Decide(Bytes capacity, const std::vector<Bytes>* known,
                                    std::int64_t node_limit, Budget& budget);

  // Which of them gave the last answer.
  [[nodiscard]] Algorithm last() const { return last_; }

  // Every canonical plan's height is a multiple of this many bytes.
  [[nodiscard]] Bytes grain() const { return grain_; }

  // Roughly how many elementary steps one node costs.
  [[nodiscard]] std::int64_t node_cost() const { return node_cost_; }

 private:
  Overlaps overlaps_;
  std::unique_ptr<CanonicalSearch> canonical_;
  std::unique_ptr<DisjunctiveSearch> disjunctive_;
  std::unique_ptr<NicheSearch> niche_;
  Algorithm last_ = Algorithm::kCanonical;
  Bytes grain_ = 1;
  bool too_large_ = false;
  std::int64_t node_cost_ = 1;
};

}  // namespace berth::internal

#endif  // BERTH_PLACE_EXACT_H_
