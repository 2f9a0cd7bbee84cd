// tests/baselines/encoded/ask.h -- one question to any solver, without bounds and greedy plans.
#ifndef BERTH_TESTS_BASELINES_ENCODED_ASK_H_
#define BERTH_TESTS_BASELINES_ENCODED_ASK_H_

#include <limits>
#include <string>
#include <utility>

#include "baselines/encoded/cp.h"
#include "baselines/encoded/csp.h"
#include "baselines/encoded/encoding.h"
#include "baselines/encoded/ilp.h"
#include "baselines/encoded/meta_csp.h"
#include "berth/baselines.h"

namespace berth::internal {

inline constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();
inline constexpr Baseline kAllSolvers[] = {Baseline::kIlp, Baseline::kCp, Baseline::kZ3,
                                           Baseline::kCsp, Baseline::kMetaCsp};

inline Encoding EncodeAll(const Problem& problem) {
  const Budget unlimited;
  return Encode(problem, kNoLimit, unlimited).value();
}

// Is there a plan of at most `capacity` grains? `encoding` may have been tampered with.
inline Decision Ask(Baseline solver, const Problem& problem, const Encoding& encoding,
                    Grains capacity, Budget& budget) {
  for (std::size_t x = 0; x < encoding.items.size(); ++x) {
    if (encoding.HighestOffset(x, capacity) < 0) return {Decision::Verdict::kImpossible, {}};
  }
  switch (solver) {
    case Baseline::kIlp:
      return SolveIlp(encoding, capacity, BuildIlp(problem, encoding, capacity, std::nullopt),
                      *milp::DefaultBackend(), 1, budget)
          .value()
          .decision;
    case Baseline::kCp:
      return DecideByGecode(encoding, capacity, {}, kNoLimit, budget);
    case Baseline::kZ3:
      return DecideByZ3(encoding, capacity, {}, kNoLimit, budget);
    case Baseline::kCsp:
      return CspSearch(problem, encoding).Decide(capacity, kNoLimit, budget);
    default:
      break;
  }
  return MetaCspSearch(encoding).Decide(capacity, kNoLimit, budget);
}

// For the names of tests.
inline std::string TestName(Baseline solver) {
  std::string name(Info(solver).name);
  for (char& c : name) c = c == '-' ? '_' : c;
  return name;
}

}  // namespace berth::internal

#endif  // BERTH_TESTS_BASELINES_ENCODED_ASK_H_
