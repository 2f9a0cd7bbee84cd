// berth/prove.h -- why no plan or order is lower, or none fits, for a checker that does not trust Berth.
//
//   const auto answer = berth::Place(problem, {}, budget);
//   berth::ProofOptions options;
//   const auto proof = berth::ProvePlacement(problem, *answer, options, budget);
//   if (proof && proof->text) WriteFile("proof.txt", *proof->text);
//
// docs/algorithms/proofs.md describes the text and its rules; `berth-check-proof` checks it.
#ifndef BERTH_PROVE_H_
#define BERTH_PROVE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/answer.h"
#include "berth/budget.h"
#include "berth/graph.h"
#include "berth/place.h"
#include "berth/problem.h"
#include "berth/result.h"

namespace [[gnu::visibility("default")]] berth {

struct ProofOptions {
  // Which search logs its steps: kNiche, kGuided, or for anything else both in turn, until one is done.
  Algorithm algorithm = Algorithm::kAuto;
  std::uint64_t seed = 1;  // As PlaceOptions::seed.
  // What the search may remember for the proof, in bytes. It gives up beyond that.
  std::size_t most_bytes = std::size_t{1} << 30;
};

// Why there is no text.
enum class NoProof {
  kBudget,       // Its time or its nodes ended first.
  kInterrupted,  // The budget was cancelled.
  kMemory,       // The logs would exceed ProofOptions::most_bytes.
  kSize,  // Too many buffers meet, or there are too many operators, for the only search that applies.
  kAlgorithm,  // No search that can log its steps decides the question.
};
[[nodiscard]] std::string_view ToString(NoProof reason);  // "budget", "interrupted", ...

struct PlacementProof {
  std::optional<std::string> text;  // Whole lines. Where it is missing, what was proved stays true.
  std::optional<NoProof> missing;   // Why it is.
  std::int64_t nodes = 0;  // Of the searches that logged their steps: 0 where a bound is enough.
  double seconds = 0;      // Wall clock.
};

// Logs why the outcome of `answer`, which Place() gave for `problem`, is true: for kInfeasible why no
// plan fits the capacity, for kOptimal the plan and why none is lower. Searches once more, with the
// rules that can be logged, unless a bound is enough.
// Errors: kInvalidProblem; kInvalidOptions for any other outcome, which has nothing to prove.
[[nodiscard]] Result<PlacementProof> ProvePlacement(const Problem& problem,
                                                    const PlanAnswer& answer,
                                                    const ProofOptions& options, Budget& budget);

struct OrderProofOptions {
  Counting counting = {};  // As ScheduleOptions::counting.
  // What the search may remember for the proof, in bytes. It gives up beyond that.
  std::size_t most_bytes = std::size_t{1} << 30;
  // Which rules it may use beyond the cut of one operator. For ablation.
  bool constraints = true;
  bool states = true;
};
using OrderProof = PlacementProof;

// Whether the outcome of `answer`, which Schedule() or Plan() gave for a graph, rests on a bound of all
// orders, so that ProveOrder() takes it: kOptimal with a plan in one memory, without copies and repeats,
// whose height, or without addresses whose peak, is PlanAnswer::peak_bound; kInfeasible where that bound
// exceeds the capacity.
[[nodiscard]] bool RestsOnOrders(const PlanAnswer& answer);

// Logs why no order of `graph` has a peak as low as what that outcome excludes: less than the peak of the
// plan, whose order is part of the proof, or at most the capacity. Looks for minimum cuts, order
// constraints and states once more, until one of these is enough.
// Errors: kInvalidGraph, as Validate(); kInvalidOptions for an answer that does not rest on orders, or whose
// order is none of `graph` or has another peak than it states.
// NoProof::kSize: too many operators for sets of all of them, beyond one cut.
[[nodiscard]] Result<OrderProof> ProveOrder(const Graph& graph, const PlanAnswer& answer,
                                            const OrderProofOptions& options, Budget& budget);

// As Place(), and tells what a proof that nothing fits was derived from, for searches that choose what is
// placed: of the choices that contain all of `core` none fits either (logic-based Benders decomposition).
// `core`: if the outcome is kInfeasible, buffers that cannot be placed by themselves, by index,
// increasing, not always the fewest; nothing if the proof does not tell. Algorithm::kGuided tells, and so
// kAuto may, for up to 2^12 buffers. Cost and errors: those of Place(); Explain() finds fewest buffers.
[[nodiscard]] Result<PlanAnswer> PlaceWithCore(const Problem& problem, const PlaceOptions& options,
                                               Budget& budget,
                                               std::optional<std::vector<std::size_t>>& core);

}  // namespace berth

#endif  // BERTH_PROVE_H_
