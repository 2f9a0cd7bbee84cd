// tools/lab/train/collect.h -- examples of good backtracks (TelaMalloc 6.5).
//
// The search runs as usual and asks the oracle at each major backtrack how far it has to go. With
// probability one half it goes there, and otherwise where the published rule says, so that it comes
// by states that either alone would never see. Of each such backtrack every candidate becomes a row
// with its features and its score (6.4):
//
//     level     0    3    5    9   14   17 | 21     stuck at 21
//                         B         M
//     score     0    0   10   ..    5+   0          10 - 5 (x - B) / (M - B + 1) from B to M
//
// M, the minimum target, is the deepest candidate of which the oracle knows that it is solvable;
// the stuck point itself where all that is placed can still be completed, and the policy only did
// not try what it takes. Further down are candidates that are proved useless and, where a question
// reached the oracle's limit, some that are undecided. B, the best, is the deepest
// candidate that the path to the plan has in common with where the search was stuck; it raises M
// where it lies further down. A search that ends without a plan gives no rows: its best targets
// are unknown.
#ifndef BERTH_TOOLS_LAB_TRAIN_COLLECT_H_
#define BERTH_TOOLS_LAB_TRAIN_COLLECT_H_

#include <cstdint>
#include <span>
#include <vector>

#include "berth/problem.h"
#include "tools/lab/train/oracle.h"
#include "tools/lab/train/table.h"

namespace berth::internal {

struct CollectOptions {
  std::uint64_t seed = 1;
  std::int64_t runs = 2;              // Of each input.
  std::int64_t steps = 20'000;        // Of one run.
  std::int64_t backtracks = 1000;     // Examples of one run; it ends with the last.
  std::int64_t oracle_nodes = 3'000;  // For one question.
};

struct CollectStats {
  std::int64_t examples = 0;
  std::int64_t unknown = 0;    // Dropped because no candidate is known to be solvable.
  std::int64_t undecided = 0;  // Candidates of examples about which the oracle could not tell.
  std::int64_t hopeless = 0;   // Dropped because no candidate is solvable.
  std::int64_t unsolved = 0;   // Examples dropped because their search found no plan.
  std::int64_t solved = 0;     // Runs that found a plan.
  Oracle::Stats oracle;
};

// Score(x) for a candidate at level `x`.
[[nodiscard]] float TargetScore(std::int32_t x, std::int32_t best, std::int32_t minimum);

// The rows of one input; `index` goes into the rows and, with the seed, decides all chances.
// Deterministic.
[[nodiscard]] std::vector<TrainingRow> CollectRows(const Problem& problem, std::int64_t index,
                                                   const CollectOptions& options,
                                                   CollectStats& stats);

}  // namespace berth::internal

#endif  // BERTH_TOOLS_LAB_TRAIN_COLLECT_H_
