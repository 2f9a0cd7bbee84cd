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
//   * Cores, if a question wants them: of everything learned it is known of which buffers it was
//     derived (engine.h), so a proof names the buffers that it needs.
//   * Identical buffers are placed in one order, and positions are multiples of what divides all
//     sizes and alignments. Both leave out plans, but never all of a height.
#ifndef BERTH_PLACE_LEARNING_GUIDED_H_
#define BERTH_PLACE_LEARNING_GUIDED_H_

#include <cstdint>
#include <memory>

#include "model/instance.h"
#include "place/learning/clause_log.h"
#include "place/learning/options.h"
#include "place/strategy.h"

namespace berth::internal::learning {

// `overlaps` must outlive the search. For any shape of gaps; impossible is a proof. Memory: some 40
// bytes for each pair that meets (some 90 once something was learned), 4 for each piece in each
// section. With a `log`, which must outlive the search and is for one capacity, the log holds why it is
// impossible; the search gives up once the log is full.
[[nodiscard]] std::unique_ptr<Search> MakeSearch(const Instance& instance, const Overlaps& overlaps,
                                                 const Options& options, std::uint64_t seed,
                                                 ClauseLog* log = nullptr);

}  // namespace berth::internal::learning

#endif  // BERTH_PLACE_LEARNING_GUIDED_H_
