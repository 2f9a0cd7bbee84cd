// tools/lab/train/steps.h -- examples for the model that is asked at every step (TelaMalloc 8.3).
//
// The search goes down once, without backtracks, as long as a plan can still be reached. At each
// decision point the oracle is asked of every proposal (baselines/telamalloc/steps.h) whether the
// plan could be completed if it lay at its lowest position:
//
//     proposal   by                       solvable   label
//     a          longest lifetime         no         0
//     b          largest size and area    yes        1
//     d          lowest position          undecided  0
//
// Points where all labels are the same teach nothing about the choice and are left out. The search
// goes on with one of the solvable proposals, with probability one half the first of them, as
// published, and otherwise any; it ends where there is none, or with a plan. States that no plan can
// be reached from are not among the examples: all choices are equally wrong there.
#ifndef BERTH_TOOLS_LAB_TRAIN_STEPS_H_
#define BERTH_TOOLS_LAB_TRAIN_STEPS_H_

#include <array>
#include <cstdint>
#include <vector>

#include "baselines/telamalloc/steps.h"
#include "berth/problem.h"
#include "tools/lab/train/examples.h"
#include "tools/lab/train/oracle.h"

namespace berth::internal {

struct StepRow {
  std::int64_t choice = 0;  // Rows of the same are one decision point, next to each other.
  bool solvable = false;    // Known to be.
  std::array<float, kNumStepFeatures> features{};
};

struct StepOptions {
  std::uint64_t seed = 1;
  std::int64_t runs = 2;              // Of each input.
  std::int64_t oracle_nodes = 1'000;  // For one question.
};

struct StepStats {
  std::int64_t inputs = 0;     // Known to have a plan, with something left to choose.
  std::int64_t unknown = 0;    // Left out, as the oracle has no plan.
  std::int64_t points = 0;     // Decision points with two proposals or more.
  std::int64_t unanimous = 0;  // Of these: with the same label for all.
  std::int64_t dead_ends = 0;  // Runs that ended where no proposal is known to be solvable.
  std::int64_t undecided = 0;  // Proposals about which the oracle could not tell.
};

// Adds the rows of one input. `index` and the seed decide all chances. Deterministic.
void CollectSteps(const Problem& problem, std::int64_t index, const StepOptions& options,
                  StepStats& stats, std::vector<StepRow>& rows);

[[nodiscard]] Examples MakeStepExamples(const std::vector<StepRow>& rows);

// The share of the decision points at which the proposal that comes first is solvable.
struct StepQuality {
  std::int64_t choices = 0;
  double model = 0;      // The highest score of `forest`; of equals the first.
  double published = 0;  // The longest lived block.
  double lowest = 0;     // The block that can lie lowest.
  double chance = 0;     // Any.
};
[[nodiscard]] StepQuality QualityOfSteps(const Forest& forest, const std::vector<StepRow>& rows);

}  // namespace berth::internal

#endif  // BERTH_TOOLS_LAB_TRAIN_STEPS_H_
