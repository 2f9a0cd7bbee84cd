// tools/berth/proof.h -- the file that says why a verdict is true.
#ifndef BERTH_TOOLS_BERTH_PROOF_H_
#define BERTH_TOOLS_BERTH_PROOF_H_

#include "tools/berth/summary.h"
#include "tools/berth/watched_search.h"

namespace berth::cli {

// The fraction of a time limit that is kept for the proof.
inline constexpr double kShareOfProof = 0.5;

// Looks for the proof that was asked for, if the outcome is one that has a proof, within what `search`
// has left of its time; without a limit, within twice the time of the search, or ten seconds. Leaves in
// `planned` what became of it.
[[nodiscard]] Result<void> FindProof(Planned& planned, const SearchArguments& arguments,
                                     WatchedSearch& search);
// The same for the order of a graph.
[[nodiscard]] Result<void> FindOrderProof(Planned& planned, const Graph& graph,
                                          const SearchArguments& arguments, WatchedSearch& search);
// As Conclude(), after the proof, if it was found, has been written. The summary says so if that fails:
// the verdict is known all the same.
[[nodiscard]] Result<ExitCode> ConcludeWithProof(Planned& planned);

// For the summaries.
[[nodiscard]] std::string ProofText(const Planned& planned);
[[nodiscard]] Json ProofJson(const Planned& planned);

}  // namespace berth::cli

#endif  // BERTH_TOOLS_BERTH_PROOF_H_
