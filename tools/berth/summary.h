// tools/berth/summary.h -- what is said and written of a plan, whichever command made it.
//
// A placed table, an order, a plan of a graph and one with spills are the same type, so they have
// one summary for people, one for machines and one function that writes their files.
#ifndef BERTH_TOOLS_BERTH_SUMMARY_H_
#define BERTH_TOOLS_BERTH_SUMMARY_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "berth/advise.h"
#include "berth/answer.h"
#include "berth/page.h"
#include "berth/plan_io.h"
#include "berth/prove.h"
#include "tools/berth/command.h"
#include "tools/berth/model.h"
#include "tools/berth/output.h"
#include "tools/berth/peak.h"
#include "tools/berth/table.h"
#include "tools/berth/watched_search.h"

namespace berth::cli {

// What became of the proof that was asked for.
struct ProofFile {
  std::optional<std::string> text = {};  // Until it is written.
  std::optional<Bytes> bytes = {};       // None: not written,
  std::optional<NoProof> missing = {};   // as there is none,
  bool failed = false;                   // or as the file cannot be written.
  double seconds = 0;
  std::int64_t nodes = 0;
};

// A plan, or the failure to find one, with all that its command knows of it.
struct Planned {
  std::string command;  // "place".
  PlanSubject subject;
  const PlanAnswer& answer;
  Provenance provenance;
  PlanOutputs outputs;
  const Model* model = nullptr;             // Of a graph.
  const SnapshotInput* snapshot = nullptr;  // Of a table that was read from one.
  const GivenPlan* given = nullptr;         // Of a table that came with one.
  std::optional<Bytes> simulated = {};      // Of a snapshot: as SimulatedReserve() says.
  bool interrupted = false;
  bool tensors = false;        // Whether the text lists every tensor,
  bool moves = false;          // and every copy of a plan with spills.
  std::string explain = {};    // Of a table: the command that says why it does not fit.
  std::string reordered = {};  // The model in the new order was written here.
  // Of a model: other readings of it, for advice.
  std::function<std::vector<ModelChange>()> other_readings = {};
  // The rest is computed by Examine().
  // A buffer for each residency, with the capacity; none where the table itself is that.
  std::optional<Problem> residencies = {};
  LoadBound load = {};
  std::optional<PinCollision> collision = {};
  std::optional<Peak> peak = {};            // Of a graph.
  std::optional<Bytes> in_place_peak = {};  // What --in-place would make of it.
  std::optional<ProofFile> proof = {};      // Of a verdict; left by FindProof().
  // What would make it fit, or lower it; found by FindAdvice().
  std::optional<Advice> advice = {};

  [[nodiscard]] const Problem& problem() const {
    return residencies ? *residencies : *subject.table();
  }
  [[nodiscard]] const Counting& counting() const { return provenance.options.schedule.counting; }
  // There are addresses.
  [[nodiscard]] bool placed() const { return answer.best && answer.best->addressed; }
  // Nobody has said that tensors without a known size count as 0 bytes.
  [[nodiscard]] bool sizes_missing() const {
    return answer.unsized > 0 && !counting().unsized_as_zero;
  }
  // Nothing but an order was asked for.
  [[nodiscard]] bool only_ordered() const { return answer.best && !placed() && !answer.capacity; }
};

// The fraction of a time limit that is kept for the advice of a page.
inline constexpr double kShareOfAdvice = 0.25;
using Adviser = std::function<Advice(const AdviceOptions& options, Budget& budget)>;
// What `advise` finds in the time that `search` has left, with commands to copy.
[[nodiscard]] Advice AdviceInTime(const AdviceOptions& options, WatchedSearch& search,
                                  const Adviser& advise);
// What the page of `command` says beside the plan, which the verifier has accepted.
[[nodiscard]] PageOptions PageWithAdvice(const std::string& command, const PlanSubject& subject,
                                         const PlanAnswer& answer, const Advice& advice);

// Fills in what follows from the rest, and ends the process unless the verifier accepts the plan.
[[nodiscard]] Result<void> Examine(Planned& planned);

// Looks for what would help, in the time that `search` has left, if nothing fits or a page is asked
// for.
void FindAdvice(Planned& planned, WatchedSearch& search);

// Writes the files that were asked for, the page with the advice. A plan
// that does not fit is not written, so that no build picks it up; its picture is.
[[nodiscard]] Result<void> WriteOutputs(const Planned& planned);

// For machines: the keys of the plan's file (docs/formats/plan.md), seconds and what Examine() found.
[[nodiscard]] Json SummaryJson(const Planned& planned);
// For people.
[[nodiscard]] std::string SummaryText(const Planned& planned);

// How many bytes a capacity lacks, from a proved bound of all plans and the height of the lowest one
// known: "47 KiB (48,576 bytes)", "between 40 KiB (..) and 47 KiB (..)", "at least ..".
[[nodiscard]] std::string MissingText(Bytes capacity, Bytes height_bound,
                                      std::optional<Bytes> height);
// The same as {"at_least": .., "at_most": ..}, the latter null where no plan is known.
[[nodiscard]] Json MissingJson(Bytes capacity, Bytes height_bound, std::optional<Bytes> height);

// Prints the summary, unless a file took standard output, and says how the command ends.
[[nodiscard]] ExitCode Conclude(const Planned& planned);

}  // namespace berth::cli

#endif  // BERTH_TOOLS_BERTH_SUMMARY_H_
