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
#include "tools/lab/bench/benchmark.h"
#include "tools/lab/suites/inputs.h"
#include "tools/lab/suites/suites.h"
#include "tools/lab/suites/timed.h"
#include "tools/verify/order_proof.h"

namespace berth::lab {
namespace {

// One graph with its proof.
struct ProvedOrder {
  PlanAnswer answer;
  double alone = 0;  // Seconds of the processor, medians.
  double proof = 0;
  double check = 0;
  std::optional<std::size_t> bytes = {};  // None: no proof within the limit.
  std::int64_t flows = 0;
  std::int64_t states = 0;
};

// A proof has twice the time of the search at most.
Result<ProvedOrder> ProveLeastPeak(Lab& lab, const GraphInput& input, double limit) {
  ProvedOrder proved;
  const verify::OrderModel model = verify::OrderModelOf(input.graph, {});
  std::vector<double> alone;
  std::vector<double> proving;
  std::vector<double> checking;
  for (int round = 0; round < lab.Rounds(); ++round) {
    Budget budget;
    budget.SetTimeLimit(limit);
    proved.answer = BERTH_TRY(Timed(alone, [&] { return Schedule(input.graph, {}, budget); }));
    if (!RestsOnOrders(proved.answer)) break;
    Budget more;
    more.SetTimeLimit(2 * limit);
    const OrderProof proof =
        BERTH_TRY(Timed(proving, [&] { return ProveOrder(input.graph, proved.answer, {}, more); }));
    if (!proof.text) break;
    proved.bytes = proof.text->size();
    const verify::OrderProofReport report =
        Timed(checking, [&] { return verify::CheckOrderProof(*proof.text, &model); });
    proved.flows = report.flows;
    proved.states = report.states;
    if (report.ok()) continue;
    lab.Note(input.name + ": the proof is refused in line " + std::to_string(report.line) + ": " +
             report.fault);
  }
  proved.alone = Median(alone);
  if (!proving.empty()) proved.proof = Median(proving);
  if (!checking.empty()) proved.check = Median(checking);
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
  std::int64_t decided = 0;
  std::int64_t written = 0;
  double alone = 0;
  double proof = 0;
  double check = 0;
  for (const GraphInput& input : inputs) {
    lab.Progress(key + ", " + input.name);
    const ProvedOrder proved = BERTH_TRY(ProveLeastPeak(lab, input, lab.TimeLimit(10)));
    if (!RestsOnOrders(proved.answer)) continue;
    ++decided;
    const bool has = proved.bytes.has_value();
    sheet.AddRow(
        {TextCell(input.name), CountCell(static_cast<std::int64_t>(input.graph.operators.size())),
         BytesCell(proved.answer.peak_bound), SecondsCell(proved.alone), SecondsCell(proved.proof),
         RatioCell((proved.alone + proved.proof) / std::max(proved.alone, 1e-6)),
         has ? BytesCell(static_cast<Bytes>(*proved.bytes)) : NoCell(),
         has ? CountCell(proved.flows) : NoCell(), has ? CountCell(proved.states) : NoCell(),
         has ? SecondsCell(proved.check) : NoCell()});
    if (!has) continue;
    ++written;
    alone += proved.alone;
    proof += proved.proof;
    check += proved.check;
  }
  lab.Progress("");
  lab.Show(sheet);
  lab.Say(std::to_string(written) + " of " + std::to_string(decided) + " least peaks of " +
          std::to_string(inputs.size()) + " graphs have a proof within twice the limit: " +
          cli::FormatSeconds(alone) + " to search, " + cli::FormatSeconds(proof) +
          " more for the proofs, checked in " + cli::FormatSeconds(check) + ".\n");
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
