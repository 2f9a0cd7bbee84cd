// Proofs of orders: what they cost, how large they are, and whether the checker accepts them.
//
// No paper. Each graph is ordered, its least peak is proved, and the proof is checked. Only graphs whose
// least peak is known within the limit count.

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "base/try.h"
#include "berth/prove.h"
#include "berth/schedule.h"
#include "tools/berth/terminal.h"
#include "tools/lab/suites/inputs.h"
#include "tools/lab/suites/proof_cost.h"
#include "tools/lab/suites/suites.h"
#include "tools/lab/suites/timed.h"
#include "tools/verify/order_proof.h"

namespace berth::lab {
namespace {

// One graph with its proof.
struct ProvedOrder {
  PlanAnswer answer;
  ProofCost cost;
  std::int64_t flows = 0;
  std::int64_t states = 0;
};

// A proof has twice the time of the search at most.
Result<ProvedOrder> ProveLeastPeak(Lab& lab, const GraphInput& input, double limit) {
  ProvedOrder proved;
  const verify::OrderModel model = verify::OrderModelOf(input.graph, {});
  for (int round = 0; round < lab.Rounds(); ++round) {
    Budget budget;
    budget.SetTimeLimit(limit);
    proved.answer =
        BERTH_TRY(Timed(proved.cost.alone, [&] { return Schedule(input.graph, {}, budget); }));
    if (!RestsOnOrders(proved.answer)) break;
    Budget more;
    more.SetTimeLimit(2 * limit);
    const OrderProof proof = BERTH_TRY(
        Timed(proved.cost.proof, [&] { return ProveOrder(input.graph, proved.answer, {}, more); }));
    if (!proof.text) break;
    proved.cost.bytes = proof.text->size();
    const verify::OrderProofReport report =
        Timed(proved.cost.check, [&] { return verify::CheckOrderProof(*proof.text, &model); });
    proved.flows = report.flows;
    proved.states = report.states;
    NoteRefusal(lab, input.name, report);
  }
  return proved;
}

Result<void> ProveOrders(Lab& lab, const std::string& key, const std::vector<GraphInput>& inputs) {
  Sheet sheet({{"graph", "graph", false},
               {"operators", "operators"},
               {"least peak", "peak_bytes"},
               {"search", "search_seconds"},
               {"proof", "proof_seconds"},
               {"together", "ratio"},
               {"size", "proof_bytes"},
               {"flows", "flows"},
               {"states", "states"},
               {"checker", "check_seconds"}});
  ProofCosts sums;
  for (const GraphInput& input : inputs) {
    lab.Progress(key + ", " + input.name);
    const ProvedOrder proved = BERTH_TRY(ProveLeastPeak(lab, input, lab.TimeLimit(10)));
    if (!RestsOnOrders(proved.answer)) continue;
    sums.Add(proved.cost);
    const bool has = proved.cost.bytes.has_value();
    sheet.AddRow(
        {TextCell(input.name), CountCell(static_cast<std::int64_t>(input.graph.operators.size())),
         BytesCell(proved.answer.peak_bound), proved.cost.Search(), proved.cost.Proof(),
         proved.cost.Together(), proved.cost.Size(), has ? CountCell(proved.flows) : NoCell(),
         has ? CountCell(proved.states) : NoCell(), proved.cost.Checker()});
  }
  lab.Progress("");
  lab.Show(sheet);
  lab.Say(std::to_string(sums.written) + " of " + std::to_string(sums.decided) +
          " least peaks of " + std::to_string(inputs.size()) +
          " graphs have a proof within twice the limit: " + cli::FormatSeconds(sums.alone) +
          " to search, " + cli::FormatSeconds(sums.proof) + " more for the proofs, checked in " +
          cli::FormatSeconds(sums.check) + ".\n");
  lab.Keep(key, sheet);
  return {};
}

Result<void> RunOrders(Lab& lab) {
  lab.Heading("Orders of real graphs", "Graphs of the data folder, or generated ones.");
  constexpr std::size_t kAll = 1000;
  return ProveOrders(lab, "graphs", BERTH_TRY(lab.Graphs(lab.Inputs(kAll, 2))));
}

Result<void> RunIrregularOrders(Lab& lab) {
  lab.Heading("Orders of irregular graphs",
              "100 and 400 operators of width 8 to 32, seeds 1 to 3.");
  std::vector<GraphInput> inputs;
  for (const std::int64_t operators : {100, 400}) {
    for (const std::int64_t width : {8, 16, 24, 32}) {
      for (std::uint64_t seed = 1; seed <= lab.Inputs(3, 1); ++seed) {
        internal::GraphParameters parameters;
        parameters.operators = operators;
        parameters.width = width;
        parameters.seed = seed;
        inputs.push_back(GenerateGraphInput(internal::GraphFamily::kIrregular, parameters));
      }
    }
  }
  inputs.resize(lab.Inputs(inputs.size(), 2));  // The easiest come first.
  return ProveOrders(lab, "irregular", inputs);
}

constexpr std::array<Experiment, 2> kExperiments = {
    {{"graphs", "Orders of real graphs", RunOrders},
     {"irregular", "Orders of irregular graphs", RunIrregularOrders}}};

}  // namespace

const Suite& OrderProofsSuite() {
  static constexpr Suite kSuite = {"order-proofs",
                                   "docs/algorithms/proofs.md; no paper",
                                   kExperiments,
                                   {"graphs", "training", "inference"}};
  return kSuite;
}

}  // namespace berth::lab
