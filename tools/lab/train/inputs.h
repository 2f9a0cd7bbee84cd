// tools/lab/train/inputs.h -- the inputs of training and those of the evaluation.
//
// Both are generated, from seeds that never meet: problems of four families, each at four sizes of
// memory, from 105 to 125 % of the most bytes that are live at one step. TelaMalloc's authors used
// the models of their own product at different memory sizes (7.2), which are not public.
#ifndef BERTH_TOOLS_LAB_TRAIN_INPUTS_H_
#define BERTH_TOOLS_LAB_TRAIN_INPUTS_H_

#include <cstdint>
#include <string>

#include "berth/problem.h"

namespace berth::internal {

enum class InputSet { kTraining, kEvaluation };

struct Input {
  std::string name;  // "planted n=120 seed=7 at 110 %".
  std::string family;
  int percent;
  Problem problem;  // With its capacity.
};

inline constexpr std::int64_t kSizesOfOne = 4;  // Inputs of one problem, one after the other.

// Input `index`, at least 0, of a set without end. Cost: O(n log n).
[[nodiscard]] Input MakeInput(InputSet set, std::int64_t index);

}  // namespace berth::internal

#endif  // BERTH_TOOLS_LAB_TRAIN_INPUTS_H_
