// tests/place/judge.h -- whether what a search or a placer says about a problem is true.
#ifndef BERTH_TESTS_PLACE_JUDGE_H_
#define BERTH_TESTS_PLACE_JUDGE_H_

#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "berth/budget.h"
#include "berth/place.h"
#include "berth/problem.h"
#include "place/strategy.h"

namespace berth::internal {

using Complaint = std::optional<std::string>;

// Whatever a search says is true; an exact one says it all.
// `ask` takes a capacity, a node limit and a budget.
template <typename Ask>
Complaint Judge(const Problem& problem, Bytes least, bool exact, Ask ask) {
  using Verdict = SearchAnswer::Verdict;
  constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();
  for (const Bytes capacity : {least - 1, least, least + 1, least - 1}) {
    const std::string where =
        " at " + std::to_string(capacity) + ", least " + std::to_string(least);
    Budget budget;
    SearchAnswer answer = ask(capacity, 3, budget);
    if (answer.nodes > 3) return "more steps than allowed" + where;
    if (answer.verdict == Verdict::kGaveUp) answer = ask(capacity, kNoLimit, budget);
    switch (answer.verdict) {
      case Verdict::kFound: {
        Problem limited = problem;
        limited.capacity = capacity;
        const auto valid =
            ValidatePlacement(limited, {answer.offsets, Height(problem, answer.offsets)});
        if (!valid) return valid.error().message + where;
        break;
      }
      case Verdict::kImpossible:
        if (capacity >= least) return "calls it impossible" + where;
        break;
      case Verdict::kInconclusive:
        if (exact) return "inconclusive" + where;
        break;
      case Verdict::kGaveUp:
        return "gave up" + where;
    }
  }
  return std::nullopt;
}

// What is wrong with an answer, given the least height (none: no plan at all).
inline Complaint JudgeAnswer(const Problem& problem, const PlanAnswer& answer,
                             std::optional<Bytes> least, bool minimize, bool exact) {
  const auto& best = answer.best;
  if (best) {
    Problem anything = problem;
    anything.capacity.reset();
    if (auto valid = ValidatePlacement(anything, PlacementOf(*best)); !valid)
      return valid.error().message;
  }
  if (!least) {
    if (best) return "a plan where pins collide";
    return answer.outcome == Outcome::kInfeasible ? std::nullopt
                                                  : std::optional<std::string>("not infeasible");
  }
  const bool can_fit = !problem.capacity || *least <= *problem.capacity;
  if (!(can_fit ? answer.height_bound <= *least : true))
    return "the bound exceeds the least height";
  if (!can_fit && answer.height_bound > *least) return "the bound exceeds the least height";
  if (best && best->height() < *least) return "lower than the least height";
  switch (answer.outcome) {
    case Outcome::kOptimal:
      if (!best || best->height() != *least) return "optimal, but not the least height";
      if (answer.height_bound != *least) return "optimal, but the bound does not say so";
      if (!can_fit) return "optimal, but nothing fits";
      break;
    case Outcome::kFeasible:
      if (!best || (problem.capacity && best->height() > *problem.capacity)) return "does not fit";
      if (exact && minimize) return "exact minimising ended without a proof";
      break;
    case Outcome::kInfeasible:
      if (can_fit) return "infeasible, but the least height fits";
      if (answer.height_bound <= *problem.capacity) return "infeasible, but the bound is not above";
      break;
    case Outcome::kUnknown:
      if (exact) return "an unlimited exact search that does not know";
      break;
  }
  return std::nullopt;
}

}  // namespace berth::internal

#endif  // BERTH_TESTS_PLACE_JUDGE_H_
