// tools/lab/train/table.h -- the training data: one row for each candidate of each major backtrack.
//
// A CSV file with one header line (docs/formats/training.md). Numbers are written so that reading
// them gives the same bits.
#ifndef BERTH_TOOLS_LAB_TRAIN_TABLE_H_
#define BERTH_TOOLS_LAB_TRAIN_TABLE_H_

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "baselines/telamalloc/backtracking.h"
#include "berth/result.h"
#include "tools/lab/train/oracle.h"

namespace berth::internal {

struct TrainingRow {
  std::int64_t input = 0;      // Of the training set (inputs.h).
  std::int64_t run = 0;        // Of that input.
  std::int64_t backtrack = 0;  // Of that run: rows with the same three numbers are one choice.
  Solvable solvable = Solvable::kUndecided;  // Whether going there can lead to a plan.
  float score = 0;                           // 6.4.
  std::array<float, kNumFeatures> features{};
};

// Candidates of one choice, which are next to each other in a table.
[[nodiscard]] inline bool SameChoice(const TrainingRow& a, const TrainingRow& b) {
  return a.input == b.input && a.run == b.run && a.backtrack == b.backtrack;
}

[[nodiscard]] std::string TableHeader();  // With its line end.
void AppendRow(const TrainingRow& row, std::string& text);
// Errors: kParse, naming file and line.
[[nodiscard]] Result<std::vector<TrainingRow>> ReadTable(std::string_view text,
                                                         std::string_view name);

}  // namespace berth::internal

#endif  // BERTH_TOOLS_LAB_TRAIN_TABLE_H_
