#include "tools/berth/proof.h"

#include <algorithm>

#include "berth/file.h"
#include "berth/prove.h"
#include "src/base/try.h"

namespace berth::cli {
namespace {

// Without a limit a proof may take this many times as long as the search, but some seconds at least.
constexpr double kTimesTheSearch = 2;
constexpr double kLeastSeconds = 10;

bool HasProof(Outcome outcome) {
  return outcome == Outcome::kInfeasible || outcome == Outcome::kOptimal;
}

}  // namespace

Result<void> WriteProof(Planned& planned, const SearchArguments& arguments, WatchedSearch& search) {
  const std::string& path = planned.outputs.proof;
  if (path.empty() || !HasProof(planned.answer.outcome)) return {};
  ProofOptions options;
  options.algorithm = arguments.options.algorithm;
  options.seed = arguments.options.seed;
  options.most_bytes = StatesWithin(arguments.memory_limit, options.most_bytes);
  const double seconds = std::max(kLeastSeconds, kTimesTheSearch * planned.answer.seconds);
  PlacementProof proof = BERTH_TRY(search.RunAfterwards([&](Budget& budget) {
    if (!budget.has_time_limit()) budget.SetTimeLimit(seconds);
    return ProvePlacement(planned.problem, planned.answer, options, budget);
  }));
  planned.proof.emplace();
  planned.proof->seconds = proof.seconds;
  planned.proof->nodes = proof.nodes;
  if (!proof.text) return {};
  planned.proof->bytes = static_cast<Bytes>(proof.text->size());
  return WriteFile(path, *proof.text);
}

std::string ProofText(const Planned& planned) {
  if (!planned.proof) {
    return "not written, as only an optimal plan and \"does not fit\" have one";
  }
  if (!planned.proof->bytes) {
    return "not written: proved, but no checkable proof within the limit";
  }
  return OneLine(planned.outputs.proof) + ", " + FormatBytes(*planned.proof->bytes) + " in " +
         FormatSeconds(planned.proof->seconds) + "; berth-check-proof checks it";
}

Json ProofJson(const Planned& planned) {
  if (!planned.proof) return nullptr;
  return {{"bytes", ToJson(planned.proof->bytes)},
          {"seconds", planned.proof->seconds},
          {"nodes", planned.proof->nodes}};
}

}  // namespace berth::cli
