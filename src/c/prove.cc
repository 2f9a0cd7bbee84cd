// Proofs of placements and orders, in the C interface.

#include "berth/prove.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/try.h"
#include "berth/budget.h"
#include "c/call.h"
#include "c/handles.h"
#include "c/options.h"

namespace berth::internal::c {
namespace {

// Without a limit a proof may take this many times as long as the search, but some seconds at least.
constexpr double kTimesTheSearch = 2;
constexpr double kLeastSeconds = 10;

berth_no_proof ReasonOf(const std::optional<NoProof>& missing) {
  if (!missing) return BERTH_NO_PROOF_NONE;
  switch (*missing) {
    case NoProof::kBudget:
      return BERTH_NO_PROOF_BUDGET;
    case NoProof::kInterrupted:
      return BERTH_NO_PROOF_INTERRUPTED;
    case NoProof::kMemory:
      return BERTH_NO_PROOF_MEMORY;
    case NoProof::kSize:
      return BERTH_NO_PROOF_SIZE;
    case NoProof::kAlgorithm:
      return BERTH_NO_PROOF_ALGORITHM;
  }
  return BERTH_NO_PROOF_ALGORITHM;
}

// Of the table, or of the order of the graph.
Result<PlacementProof> ProofOf(const berth_plan& plan, const Settings& settings, Budget& budget) {
  if (plan.graph == nullptr) {
    ProofOptions options;
    options.algorithm = settings.plan.place.algorithm;
    options.seed = settings.plan.place.seed;
    return ProvePlacement(plan.problem, plan.answer, options, budget);
  }
  if (plan.several()) {
    return Fail(ErrorCode::kInvalidOptions,
                "the plan is one for several memories, whose costs have no proof");
  }
  OrderProofOptions options;
  options.counting = plan.options.schedule.counting;
  return ProveOrder(plan.graph->model.graph, plan.answer, options, budget);
}

Result<PlacementProof> Prove(const berth_plan& plan, const berth_options& request) {
  const Settings& settings = request.settings;
  const double seconds = std::max(kLeastSeconds, kTimesTheSearch * plan.answer.seconds);
  Watch watch(request, /*limited=*/true);
  return watch.Run([&](Budget& budget) {
    if (!settings.time_limit && !settings.node_limit) budget.SetTimeLimit(seconds);
    return ProofOf(plan, settings, budget);
  });
}

}  // namespace
}  // namespace berth::internal::c

namespace c = berth::internal::c;
using berth::Result;

extern "C" {

const char* berth_no_proof_name(berth_no_proof reason) {
  const int number = c::NumberOf(reason);
  if (number <= BERTH_NO_PROOF_NONE || number > BERTH_NO_PROOF_ALGORITHM) return "none";
  return berth::ToString(static_cast<berth::NoProof>(number - 1)).data();
}

berth_status berth_prove_plan(const berth_plan* plan, const berth_options* options,
                              berth_proof* out, berth_text** text, berth_error** error) {
  return c::Call(error, [&]() -> Result<void> {
    c::Require(text != nullptr, "the place for the text is NULL");
    if (out != nullptr) c::RequireStruct(out);
    auto proof = BERTH_TRY(c::Prove(c::PlanOf(plan), c::OptionsOf(options)));
    if (out != nullptr) {
      c::Fill(out, {0, c::ReasonOf(proof.missing), proof.nodes, proof.seconds});
    }
    *text = nullptr;
    if (proof.text) c::Give(text, *std::move(proof.text));
    return {};
  });
}

}  // extern "C"
