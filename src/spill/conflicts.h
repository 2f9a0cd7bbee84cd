// spill/conflicts.h -- the least traffic of one order, addresses included.
//
// Logic-based Benders decomposition (Hooker and Ottosson, "Logic-based Benders decomposition",
// Mathematical Programming 96, 2003). In a gap, between two accesses in a row, a storage stays or
// leaves. By turns a master problem chooses the gaps with the least traffic that fit by bytes
// (memories/gap_selection.h), and the placer looks for offsets of that choice. If it is proved that there
// are none, the proof names residencies that are in conflict (PlaceWithCore()): not all of the gaps in them
// may stay, which the master problem knows from then on. So the first choice that gets offsets has the
// least traffic of this order.
//
// A proof that is about few steps takes far less time: for NASNet-A in program order 0.15 instead of 2 s. So
// it begins beside the residency that exceeds the memory most in the placer's best plan, and goes on with
// more and more steps around it. A conflict counts for all choices, so it should name few gaps: what the
// proof does not need is left out, in part.
//
// Where the placer neither finds offsets nor proves that there are none, what is live beside the
// residency that exceeds the memory most is taken for a conflict, a guess: the search goes on, with
// longer proofs, but states no more bounds until all guesses are forgotten again, once they leave nothing
// to choose.
#ifndef BERTH_SPILL_CONFLICTS_H_
#define BERTH_SPILL_CONFLICTS_H_

#include <cstddef>
#include <cstdint>

#include "berth/budget.h"
#include "berth/graph.h"
#include "berth/result.h"
#include "berth/spill.h"
#include "spill/addresses.h"
#include "spill/layout.h"

namespace berth::internal::spill {

struct ConflictOptions {
  // Nodes of the first placements and proofs; those after a guess get more.
  std::int64_t nodes_of_placement = 2'000;
  std::int64_t nodes_of_proof = 100'000;
  std::int64_t nodes_of_choice = 200'000;
  // In all, where `budget` has no limit: some seconds. Fewer for many accesses.
  std::int64_t nodes = 1'000'000;
  std::size_t max_rounds = 1'000;
  std::size_t max_gaps = 8'192;  // With more, nothing is looked for.
};

// The plan with the least traffic in the order of `layout`, whatever that keeps, and a bound that counts
// addresses. Results leave as early as possible. Ends with the budget, or once no plan has at most
// AddressOptions::limit bytes, or one has at most AddressOptions::enough. Error: the placer's.
[[nodiscard]] Result<AddressAnswer> ChooseByConflicts(const Graph& graph, Layout layout,
                                                      const AddressOptions& options,
                                                      const ConflictOptions& limits,
                                                      const Placer& placer, Budget& budget);

}  // namespace berth::internal::spill

#endif  // BERTH_SPILL_CONFLICTS_H_
