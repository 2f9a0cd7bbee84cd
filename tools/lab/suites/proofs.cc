// Proofs of placements: what they cost, how large they are, and whether the checker accepts them.
//
// No paper. Each table is placed twice, without and with a proof, and the proof is checked. Only
// tables whose verdict is known within the limit count.

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/try.h"
#include "berth/bytes.h"
#include "berth/place.h"
#include "berth/prove.h"
#include "tools/berth/terminal.h"
#include "tools/lab/suites/inputs.h"
#include "tools/lab/suites/proof_cost.h"
#include "tools/lab/suites/suites.h"
#include "tools/lab/suites/timed.h"
#include "tools/verify/proof.h"

namespace berth::lab {
namespace {

// One table with its proof.
struct Proved {
  Outcome outcome = Outcome::kUnknown;
  Bytes bound = 0;
  ProofCost cost;
  std::int64_t steps = 0;
};

bool HasProof(Outcome outcome) {
  return outcome == Outcome::kInfeasible || outcome == Outcome::kOptimal;
}

// A proof has twice the time of the search at most.
Result<Proved> Prove(Lab& lab, const SuiteInput& input, const Problem& problem, double limit) {
  Proved proved;
  for (int round = 0; round < lab.Rounds(); ++round) {
    Budget budget;
    budget.SetTimeLimit(limit);
    const PlanAnswer answer =
        BERTH_TRY(Timed(proved.cost.alone, [&] { return Place(problem, {}, budget); }));
    proved.outcome = answer.outcome;
    proved.bound = answer.height_bound;
    if (!HasProof(answer.outcome)) break;
    Budget more;
    more.SetTimeLimit(2 * limit);
    const PlacementProof proof = BERTH_TRY(
        Timed(proved.cost.proof, [&] { return ProvePlacement(problem, answer, {}, more); }));
    if (!proof.text) break;
    proved.cost.bytes = proof.text->size();
    const verify::ProofReport report =
        Timed(proved.cost.check, [&] { return verify::CheckProof(*proof.text, &problem); });
    proved.steps = report.steps;
    NoteRefusal(lab, input.name, report);
  }
  return proved;
}

// The tables with the capacities that are asked about; without one, the least height is.
struct Question {
  SuiteInput input;
  std::optional<Bytes> capacity;
};

Result<void> ProveAll(Lab& lab, const std::string& key, const std::vector<Question>& questions) {
  Sheet sheet({{"table", "table", false},
               {"buffers", "buffers"},
               {"outcome", "outcome", false},
               {"above the load", "bound_above_load_bytes"},
               {"search", "search_seconds"},
               {"proof", "proof_seconds"},
               {"together", "ratio"},
               {"size", "proof_bytes"},
               {"steps", "steps"},
               {"checker", "check_seconds"}});
  ProofCosts sums;
  for (const Question& question : questions) {
    lab.Progress(key + ", " + question.input.name);
    Problem problem = question.input.problem;
    problem.capacity = question.capacity;
    const Proved proved = BERTH_TRY(Prove(lab, question.input, problem, lab.TimeLimit(2)));
    if (!HasProof(proved.outcome)) continue;
    sums.Add(proved.cost);
    sheet.AddRow({TextCell(question.input.name),
                  CountCell(static_cast<std::int64_t>(problem.buffers.size())),
                  TextCell(ToString(proved.outcome)),
                  BytesCell(proved.bound - MaxLiveLoad(problem).load), proved.cost.Search(),
                  proved.cost.Proof(), proved.cost.Together(), proved.cost.Size(),
                  proved.cost.bytes ? CountCell(proved.steps) : NoCell(), proved.cost.Checker()});
  }
  lab.Progress("");
  lab.Show(sheet);
  std::string text = std::to_string(sums.written) + " of " + std::to_string(sums.decided) +
                     " verdicts have a proof within twice the limit";
  if (sums.written > 0) {
    text += ": " + cli::FormatSeconds(sums.alone) + " to search, " +
            cli::FormatSeconds(sums.proof) + " more for the proofs, " +
            FormatBytes(static_cast<Bytes>(sums.bytes)) + ", checked in " +
            cli::FormatSeconds(sums.check);
  }
  lab.Say(text + ".\n");
  lab.Keep(key, sheet);
  return {};
}

Result<void> RunLoad(Lab& lab) {
  lab.Heading("One byte below the load",
              "Tables of the data folder, or generated ones, at a capacity of their load minus 1.");
  std::vector<SuiteInput> tables = BERTH_TRY(lab.Models(lab.Inputs(100, 2), false));
  if (lab.options().tables.empty()) {
    for (SuiteInput& input : BERTH_TRY(lab.Challenging(lab.Inputs(11, 2)))) {
      tables.push_back(std::move(input));
    }
  }
  std::vector<Question> questions;
  for (SuiteInput& input : tables) {
    const Bytes capacity = MaxLiveLoad(input.problem).load - 1;
    questions.push_back({std::move(input), capacity});
  }
  return ProveAll(lab, "load", questions);
}

// Tables without a free byte, of `least` to `most` buffers before the fillers. Where the least height is
// wanted, sizes are small, so that it can be found.
std::vector<Question> FullTables(const Lab& lab, std::int64_t least, std::int64_t most,
                                 std::uint64_t count, bool minimize, bool features) {
  std::vector<Question> questions;
  for (std::uint64_t seed = 1; seed <= lab.Inputs(count, 4); ++seed) {
    internal::GenerateParameters parameters;
    parameters.seed = 7000 + seed;
    parameters.buffers = least + static_cast<std::int64_t>(7 * seed) % (most - least + 1);
    parameters.steps = 12;
    parameters.capacity = minimize ? 16 : 1000;
    if (features) {
      parameters.pins_percent = seed % 3 == 0 ? 5 : 0;
      parameters.gaps_percent = seed % 3 == 1 ? 15 : 0;
      parameters.alignment = seed % 3 == 2 ? 8 : 1;
    }
    SuiteInput input = GenerateInput(internal::Family::kFull, parameters);
    questions.push_back({std::move(input), minimize ? std::nullopt : std::optional<Bytes>(1000)});
  }
  return questions;
}

Result<void> RunFull(Lab& lab) {
  lab.Heading("Exactly full tables", "12 steps, 20 to 60 buffers and fillers; capacity = load.");
  return ProveAll(lab, "full", FullTables(lab, 20, 60, 60, false, false));
}

Result<void> RunFeatures(Lab& lab) {
  lab.Heading("Pins, gaps, alignment", "The same with one of the three; 15 to 40 buffers.");
  return ProveAll(lab, "features", FullTables(lab, 15, 40, 45, false, true));
}

Result<void> RunLeast(Lab& lab) {
  lab.Heading("The least height",
              "Exactly full tables of 20 to 40 buffers and a load of 16, without a capacity.");
  return ProveAll(lab, "least", FullTables(lab, 20, 40, 60, true, false));
}

constexpr std::array<Experiment, 4> kExperiments = {
    {{"load", "One byte below the load", RunLoad},
     {"full", "Exactly full tables", RunFull},
     {"features", "Pins, gaps, alignment", RunFeatures},
     {"least", "The least height", RunLeast}}};

}  // namespace

const Suite& ProofsSuite() {
  static constexpr Suite kSuite = {"proofs", "docs/algorithms/proofs.md; no paper", kExperiments};
  return kSuite;
}

}  // namespace berth::lab
