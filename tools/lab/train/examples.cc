#include "tools/lab/train/examples.h"

#include <cmath>
#include <map>

namespace berth::internal {

Examples MakeExamples(const std::vector<TrainingRow>& rows, const ExampleOptions& options) {
  Examples examples;
  examples.features = kNumFeatures;
  std::map<std::int64_t, std::int64_t> rows_of;
  std::vector<const TrainingRow*> used;
  for (const TrainingRow& row : rows) {
    if (options.drop_undecided && row.solvable == Solvable::kUndecided) continue;
    for (std::size_t f = 0; f < kNumFeatures; ++f) {
      examples.rows.push_back(options.hidden[f] ? 0 : row.features[f]);
    }
    examples.labels.push_back(row.score);
    if (!used.empty() && SameChoice(row, *used.back())) {
      ++examples.groups.back();
    } else {
      examples.groups.push_back(1);
    }
    used.push_back(&row);
    ++rows_of[row.input];
  }
  if (!options.balanced) return examples;
  double sum = 0;
  const auto weight = [&](const TrainingRow* row) {
    return 1 / std::sqrt(static_cast<double>(rows_of[row->input]));
  };
  for (const TrainingRow* row : used) sum += weight(row);
  // 1 in the mean.
  for (const TrainingRow* row : used) {
    examples.weights.push_back(
        static_cast<float>(weight(row) * static_cast<double>(used.size()) / sum));
  }
  return examples;
}

}  // namespace berth::internal
