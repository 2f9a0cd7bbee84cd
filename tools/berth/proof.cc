#include "tools/berth/proof.h"

#include <algorithm>
#include <new>
#include <optional>
#include <utility>

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

std::string ReasonText(std::optional<NoProof> reason, bool of_table) {
  switch (reason.value_or(NoProof::kAlgorithm)) {
    case NoProof::kBudget:
      return "no checkable proof within the limit";
    case NoProof::kInterrupted:
      return "interrupted before there was a checkable proof";
    case NoProof::kMemory:
      return "a checkable proof takes too much memory";
    case NoProof::kSize:
      return of_table ? "too many buffers meet for a checkable proof"
                      : "too many operators for a checkable proof";
    case NoProof::kAlgorithm:
      break;
  }
  return "no search that logs its steps can decide it";
}

// What `prove` finds in the time that there is for it.
template <typename Prove>
Result<void> Find(Planned& planned, WatchedSearch& search, Prove prove) {
  const double seconds = std::max(kLeastSeconds, kTimesTheSearch * planned.answer.seconds);
  planned.proof.emplace();
  try {
    PlacementProof proof = BERTH_TRY(search.RunAfterwards([&](Budget& budget) {
      if (!budget.has_time_limit()) budget.SetTimeLimit(seconds);
      return prove(budget);
    }));
    planned.proof->text = std::move(proof.text);
    planned.proof->missing = proof.missing;
    planned.proof->seconds = proof.seconds;
    planned.proof->nodes = proof.nodes;
  } catch (const std::bad_alloc&) {
    planned.proof->missing = NoProof::kMemory;
  }
  return {};
}

Result<void> WriteProof(Planned& planned) {
  if (!planned.proof || !planned.proof->text) return {};
  const std::string text = *std::exchange(planned.proof->text, std::nullopt);
  auto written = WriteFile(planned.outputs.proof, text);
  planned.proof->failed = !written;
  if (written) planned.proof->bytes = static_cast<Bytes>(text.size());
  return written;
}

}  // namespace

Result<void> FindProof(Planned& planned, const SearchArguments& arguments, WatchedSearch& search) {
  if (planned.outputs.proof.empty() || !HasProof(planned.answer.outcome)) return {};
  ProofOptions options;
  options.algorithm = arguments.options.algorithm;
  options.seed = arguments.options.seed;
  options.most_bytes = StatesWithin(arguments.memory_limit, options.most_bytes);
  return Find(planned, search, [&](Budget& budget) {
    return ProvePlacement(planned.problem(), planned.answer, options, budget);
  });
}

Result<void> FindOrderProof(Planned& planned, const Graph& graph, const SearchArguments& arguments,
                            WatchedSearch& search) {
  if (planned.outputs.proof.empty() || !RestsOnOrders(planned.answer)) return {};
  OrderProofOptions options;
  options.counting = planned.counting();
  options.most_bytes = StatesWithin(arguments.memory_limit, options.most_bytes);
  return Find(planned, search,
              [&](Budget& budget) { return ProveOrder(graph, planned.answer, options, budget); });
}

Result<ExitCode> ConcludeWithProof(Planned& planned) {
  const Result<void> written = WriteProof(planned);
  const ExitCode code = Conclude(planned);
  if (!written) return tl::unexpected(written.error());
  return code;
}

std::string ProofText(const Planned& planned) {
  if (!planned.proof && planned.subject.table() == nullptr) {
    return "not written, as only a verdict that rests on a bound of all orders has one";
  }
  if (!planned.proof) {
    return "not written, as only an optimal plan and \"does not fit\" have one";
  }
  if (planned.proof->failed) return "proved, but the file cannot be written";
  if (!planned.proof->bytes) {
    return "not written: proved, but " +
           ReasonText(planned.proof->missing, planned.subject.table() != nullptr);
  }
  return OneLine(planned.outputs.proof) + ", " + FormatBytes(*planned.proof->bytes) + " in " +
         FormatSeconds(planned.proof->seconds) + "; berth-check-proof checks it";
}

Json ProofJson(const Planned& planned) {
  if (!planned.proof) return nullptr;
  Json json = {{"bytes", ToJson(planned.proof->bytes)},
               {"not_written", nullptr},
               {"seconds", planned.proof->seconds},
               {"nodes", planned.proof->nodes}};
  if (planned.proof->failed) json["not_written"] = "file";
  if (planned.proof->missing) json["not_written"] = ToString(*planned.proof->missing);
  return json;
}

}  // namespace berth::cli
