// place/learning/guided.h -- TelaMalloc's parts and clause learning: an exact search.
//
// As in TelaMalloc a step places one buffer at the lowest position that the solver sees, and the
// solver (engine.h) says what follows. What differs:
//
//   * Learning. A failure becomes a combination of bounds and orders that cannot all be true; the
//     search goes back to where all but one of them were, and what the last one excludes is
//     propagated there and everywhere later. That a buffer cannot lie at its lowest position is
//     such a consequence, so that nothing is left out: the search is exact, for any shape of gaps.
//   * Where next. Of the buffers that can still move, f being the least lowest position of those in
//     a section, the search looks for the section with the least choices^3 x slack / activity: few
//     buffers that can lie at f, few bytes to waste above f, and buffers that were part of many
//     recent failures. Of the buffers that can lie at f there, the one that is live in many
//     sections and meets large loads comes first. The choice is the niche search's, and so is the
//     reason: it stays where the conflicts are. In half of the runs (lowest_first) it looks only at
//     sections of the lowest f of all, so that the plan grows from the bottom.
//   * Restarts after 150 failures times Luby's sequence; what was learned stays, with other random
//     noise in the order of buffers. The half of the combinations that spans the most levels is
//     forgotten when there are many.
//   * Identical buffers are placed in one order, and positions are multiples of what divides all
//     sizes and alignments. Both leave out plans, but never all of a height.
#ifndef BERTH_PLACE_LEARNING_GUIDED_H_
#define BERTH_PLACE_LEARNING_GUIDED_H_

#include <cstdint>
#include <memory>

#include "berth/budget.h"
#include "berth/place.h"
#include "model/instance.h"
#include "place/strategy.h"

namespace berth::internal {

// Searches one instance, for any number of capacities in turn. Any shape of gaps.
class GuidedSearch {
 public:
  // Both must outlive the search. Memory: some 40 bytes for each pair that meets (some 90 once
  // something was learned), 4 for each piece in each section.
  GuidedSearch(const Instance& instance, const Overlaps& overlaps, const GuidedOptions& options,
               std::uint64_t seed);
  ~GuidedSearch();

  // Looks for a plan no higher than `capacity`, for at most `node_limit` steps of this call. Calls
  // with the same capacity one after the other go on with what the earlier ones have learned.
  // kImpossible is a proof. Deterministic unless the budget ends by time.
  [[nodiscard]] SearchAnswer Search(Bytes capacity, std::int64_t node_limit, Budget& budget);

 private:
  class Run;
  std::unique_ptr<Run> run_;
};

}  // namespace berth::internal

#endif  // BERTH_PLACE_LEARNING_GUIDED_H_
