// place/niche/niche.h -- exact placement in the hollows of the skyline.
//
// A plan grows from the bottom (partial_plan.h). Sections of one floor whose neighbours are higher
// are a hollow of the skyline, a niche:
//
//     section   0  1  2  3  4  5  6
//     floor     9  4  4  7  7  2  8     two niches: sections 1 and 2, and section 5
//
// What lies on the floor of a niche lies within it, and nothing can slip in below. So for a section
// of a niche
//
//     either one of the buffers that can lie on its floor does, or nothing does, and its bytes up
//     to the next level at which anything could lie are wasted.
//
// These choices exclude each other and leave nothing out, whatever s is: which of them is taken
// next is free, and the search goes where the trouble is. What it consists of, each with its own
// switch (Options):
//
//   * lowest_first: the section with the least choices^3 x slack / weight is next: few ways to go,
//     little to waste, many failures so far. Some of the runs look for it in the lowest niche only,
//     the others, or with this off all, in every niche.
//   * waste_budget: capacity - floor - unplaced bytes of a section may never become negative.
//     Where it is 0 there is no waste to try.
//   * conflict_weights: a failure adds to the weight of its section, recent ones more than old ones
//     (the dom/wdeg rule of constraint programming: Boussemart et al., ECAI 2004).
//   * backjumping: a failure comes with its conflict, a set of sections that does not depend on
//     anything live elsewhere (partial_plan.h). A level whose buffer is not live in any of them
//     fails for the same reason, and is left at once.
//   * transpositions: the same floors over the same unplaced buffers fail for the same reason, in
//     whatever order they came to be.
//   * restarts: after 1.8 nodes for each buffer, times Luby's sequence, the search starts again with
//     other random numbers; weights and transpositions stay. Cuts off unlucky beginnings.
//   * portfolio: runs take turns at different preferences, in the choice of sections and among the
//     candidates (branching.h). A table that is hard for one of them is often easy for another.
//   * calm_runs: every third run does without weights. Where most sections have slack, weights keep
//     the search in one place until it has wasted the slack elsewhere.
//   * beam: where there is slack, plans that grow side by side (beam.h) take turns with the runs.
//   * identical_order: identical buffers are placed in one order.
//   * widest_first, best_fit: the candidate that is live in the most sections is tried first, with
//     a bonus for leaving no narrow room beside it, and some noise.
//   * vectors: raising what lies on a new buffer is one loop over all pieces (kernels.h).
//
// Three traps, each of which calls something impossible that is not: storing a transposition for a
// failure that belongs to a later, separate part of the problem; leaving out of a conflict that
// nothing could slip in below the buffer (Absorb); letting weights become 0.
//
// With gaps a piece of a buffer may lie in a niche while another hangs above a hollow. Such a niche
// is left alone until that cannot happen; the lowest niche of all is always sure. With windows
// there may be no sure one, and then the search proves nothing.
#ifndef BERTH_PLACE_NICHE_NICHE_H_
#define BERTH_PLACE_NICHE_NICHE_H_

#include <cstdint>
#include <memory>

#include "model/instance.h"
#include "place/niche/options.h"
#include "place/niche/proof_log.h"
#include "place/strategy.h"

namespace berth::internal::niche {

// Impossible is a proof; where windows leave the search nothing to branch on that is sure to be
// complete, it is inconclusive instead. Memory: 4 bytes for each piece in each section, twice with
// the beam; what undoing the deepest path needs; up to 64 MiB of known states and 256 MiB of plans
// side by side. With a `log`, which must outlive the search and is for one capacity, the log holds
// why it is impossible; the search gives up once the log is full.
[[nodiscard]] std::unique_ptr<Search> MakeSearch(const Instance& instance, const Options& options,
                                                 std::uint64_t seed, ProofLog* log = nullptr);

}  // namespace berth::internal::niche

#endif  // BERTH_PLACE_NICHE_NICHE_H_
