#include "tools/lab/train/steps.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tools/lab/train/inputs.h"

namespace berth::internal {
namespace {

StepRow Row(std::int64_t choice, bool solvable, float size, bool lowest) {
  StepRow row;
  row.choice = choice;
  row.solvable = solvable;
  row.features[static_cast<std::size_t>(StepFeature::kSize)] = size;
  row.features[static_cast<std::size_t>(StepFeature::kLowestBlock)] = lowest ? 1 : 0;
  return row;
}

TEST(StepQuality, CountsChoicesThatCanBeCompleted) {
  const std::vector<StepRow> rows = {Row(0, true, .9F, false), Row(0, false, .1F, true),
                                     Row(3, false, .1F, false), Row(3, true, .9F, false),
                                     Row(3, true, .2F, true)};
  const std::vector<ForestNode> nodes = {{.5F, static_cast<std::uint32_t>(StepFeature::kSize)}};
  const std::vector<float> leaves = {0, 1};
  const StepQuality quality = QualityOfSteps({kNumStepFeatures, 1, nodes, leaves, 0}, rows);
  EXPECT_EQ(quality.choices, 2);
  EXPECT_EQ(quality.model, 1);
  EXPECT_EQ(quality.published, 0.5);
  EXPECT_EQ(quality.lowest, 0.5);
  EXPECT_NEAR(quality.chance, (1.0 / 2 + 2.0 / 3) / 2, 1e-9);
  EXPECT_EQ(QualityOfSteps({kNumStepFeatures, 0, {}, {}, 0}, {}).choices, 0);
  const Examples examples = MakeStepExamples(rows);
  EXPECT_EQ(examples.labels, (std::vector<float>{1, 0, 0, 1, 1}));
  EXPECT_EQ(examples.groups, (std::vector<unsigned>{2, 3}));
  EXPECT_EQ(examples.rows.size(), 5 * kNumStepFeatures);
}

// On inputs that the model was not fitted to, its first choice can be completed more often than the
// published one. The numbers change with the search, the oracle and the model.
TEST(StepExamples, AreChoicesThatMakeADifference) {
  StepStats stats;
  std::vector<StepRow> rows;
  StepOptions options;
  options.runs = 1;
  for (const std::int64_t index : {0, 1, 8, 16}) {
    CollectSteps(MakeInput(InputSet::kEvaluation, index).problem, index, options, stats, rows);
  }
  std::vector<StepRow> again;
  StepStats same;
  for (const std::int64_t index : {0, 1, 8, 16}) {
    CollectSteps(MakeInput(InputSet::kEvaluation, index).problem, index, options, same, again);
  }
  ASSERT_EQ(again.size(), rows.size());
  for (std::size_t k = 0; k < rows.size(); ++k) EXPECT_EQ(again[k].features, rows[k].features);
  for (std::size_t k = 0; k < rows.size();) {
    std::size_t end = k;
    std::size_t solvable = 0;
    for (; end < rows.size() && rows[end].choice == rows[k].choice; ++end) {
      solvable += rows[end].solvable ? 1 : 0;
    }
    EXPECT_GT(solvable, 0U);
    EXPECT_LT(solvable, end - k);
    k = end;
  }
  const StepQuality quality = QualityOfSteps(ShippedStepModel(), rows);
  EXPECT_EQ(quality.choices, stats.points - stats.unanimous);
  EXPECT_EQ(quality.choices, 37);
  EXPECT_GT(quality.model, quality.published + 0.2);
  EXPECT_GT(quality.model, quality.chance + 0.2);
}

}  // namespace
}  // namespace berth::internal
