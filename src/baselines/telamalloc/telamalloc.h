// baselines/telamalloc/telamalloc.h -- TelaMalloc: heuristics choose, a solver propagates.
//
// M. Maas, U. Beaunon, A. Chauhan and B. Ilbeyi, "TelaMalloc: Efficient On-Chip Memory Allocation
// for Production Machine Learning Accelerators", ASPLOS 2023, sections 4 and 5. A step takes a
// candidate (policy.h) and places it at the lowest position that the solver (engine.h) sees. If no
// plan can exist then, the placement is undone and the next candidate is tried, a minor backtrack.
// A decision point whose candidates are all used up is left by a major backtrack, to the
// second-to-last of the placements that the solver blames:
//
//     level   1   2   3   4   5   6
//     block   a - b - c - d - e - f        f, x and y all fail, because of b, c and themselves.
//                  |                       The last placement in conflict is their own; the one
//                   f - x - y - ...        before is c: back to where c was chosen, and with f, x
//                                          and y as the first candidates there.
//
// What the paper leaves open, and what is done here:
//
//   * Only the last failure at a decision point counts, not those of its other candidates. If it
//     blames no placement at all, one level is undone.
//   * A candidate is not tried twice at one decision point, and no more than 12 are.
//   * "Stuck": backtracks of both kinds are counted at each point that a major one has gone
//     back to, while the point stays on the path. At a major backtrack the search goes on at the
//     one of the lowest level that has counted more than the limit, which counts from 0 again.
//   * Learned backtracking (6) takes over once the published rule has backtracked 50 times
//     (learned.h). If it finds no plan in 20,000 steps, the published search gets 40,000 steps from
//     the start, then the learned one 80,000, and so on (7.3 asks for a way back). A rule may ask
//     for restarts, after 1,000 backtracks times Luby's sequence and where all
//     candidates of all points are used up. In half of these runs the candidates are the 12 blocks
//     that can lie lowest, as in the guided search (guided.h); of equals the longest lived, the
//     largest, or the largest in both, with some noise. The paper's own way to learn has none of
//     this (HighestScore() in learned.h): the model alone from the first major backtrack on.
//   * A model at every step (8.3) puts the three candidates of the present phase and the block that
//     can lie lowest in order when a decision point is reached (steps.h). Off by default.
//   * Phases: the threshold falls by 10 % of the capacity each time.
//   * Failing everywhere proves nothing, as positions other than the lowest are never tried. Only a
//     failure before any placement is a proof.
#ifndef BERTH_BASELINES_TELAMALLOC_TELAMALLOC_H_
#define BERTH_BASELINES_TELAMALLOC_TELAMALLOC_H_

#include <cstdint>
#include <memory>

#include "baselines/telamalloc/backtracking.h"
#include "baselines/telamalloc/forest.h"
#include "baselines/telamalloc/learned.h"
#include "baselines/telamalloc/options.h"
#include "baselines/telamalloc/steps.h"
#include "berth/budget.h"
#include "berth/place.h"
#include "model/instance.h"
#include "place/learning/options.h"
#include "place/strategy.h"

namespace berth::internal {

// Searches one instance, for any number of capacities in turn. Any shape of gaps.
class TelaMallocSearch {
 public:
  // Both must outlive the search. Memory: some 40 bytes for each pair that meets, 4 for each piece
  // in each section.
  // `seed` is for learned backtracking, which draws where to go back to, and for random orders.
  TelaMallocSearch(const Instance& instance, const Overlaps& overlaps,
                   const TelaMallocOptions& options, std::uint64_t seed = 1);
  ~TelaMallocSearch();

  // Looks for a plan no higher than `capacity`, for at most `node_limit` steps. kInconclusive: all
  // candidates of all decision points are used up. Deterministic unless the budget ends by time.
  // `rule`: chooses where major backtracks of the strategy kCandidates go, `steps` which of its
  // candidates come first; nullptr: as the options say.
  [[nodiscard]] SearchAnswer Search(Bytes capacity, std::int64_t node_limit, Budget& budget,
                                    BacktrackRule* rule = nullptr, StepRule* steps = nullptr);

  // Learned backtracking, whatever the options say: turns of the learned rule and of the published
  // one. Never kInconclusive. `forest` must have kNumFeatures features.
  [[nodiscard]] SearchAnswer SearchLearned(Bytes capacity, std::int64_t node_limit, Budget& budget,
                                           const Forest& forest,
                                           const LearnedParameters& parameters);

 private:
  class Run;
  std::unique_ptr<Run> run_;
  TelaMallocOptions::Order order_;
  std::uint64_t seed_;
};

}  // namespace berth::internal

#endif  // BERTH_BASELINES_TELAMALLOC_TELAMALLOC_H_
