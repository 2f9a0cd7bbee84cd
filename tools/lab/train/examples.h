// tools/lab/train/examples.h -- what a model is fitted to, made from a table.
#ifndef BERTH_TOOLS_LAB_TRAIN_EXAMPLES_H_
#define BERTH_TOOLS_LAB_TRAIN_EXAMPLES_H_

#include <array>
#include <cstddef>
#include <vector>

#include "tools/lab/train/table.h"

namespace berth::internal {

// Rows of `features` numbers, each with a label.
struct Examples {
  std::size_t features = 0;
  std::vector<float> rows;
  std::vector<float> labels;
  std::vector<float> weights;    // Of the rows; empty: all the same. Pairwise ranking has none.
  std::vector<unsigned> groups;  // How many rows each choice has, for pairwise ranking.
};

struct ExampleOptions {
  // A candidate that the oracle could not decide: left out, or counted as useless.
  bool drop_undecided = false;
  bool balanced = false;                    // Each input weighs as the square root of its rows.
  std::array<bool, kNumFeatures> hidden{};  // 0 in all rows.
};
[[nodiscard]] Examples MakeExamples(const std::vector<TrainingRow>& rows,
                                    const ExampleOptions& options);

}  // namespace berth::internal

#endif  // BERTH_TOOLS_LAB_TRAIN_EXAMPLES_H_
