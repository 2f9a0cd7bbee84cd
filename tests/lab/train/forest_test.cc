#include "baselines/telamalloc/forest.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "base/random.h"
#include "baselines/telamalloc/backtracking.h"
#include "tools/lab/train/booster.h"
#include "tools/lab/train/model_file.h"

namespace berth::internal {
namespace {

// Evaluates one row in the textbook way.
float ScoreOne(const Forest& forest, const float* row) {
  float score = forest.base;
  const std::size_t leaves = std::size_t{1} << forest.depth;
  for (std::size_t tree = 0; tree < forest.num_trees(); ++tree) {
    std::size_t at = 0;
    while (at < leaves - 1) {
      const ForestNode& node = forest.nodes[tree * (leaves - 1) + at];
      at = row[node.feature] < node.threshold ? 2 * at + 1 : 2 * at + 2;
    }
    score += forest.leaves[tree * leaves + at - (leaves - 1)];
  }
  return score;
}

std::vector<float> RandomRows(std::size_t count, std::size_t features, std::uint64_t seed) {
  Random random(seed);
  std::vector<float> rows(count * features);
  for (float& number : rows) {
    // Whole numbers, like counts, and fractions, like shares.
    number = random.Chance(0.5) ? static_cast<float>(random.Uniform(0, 40))
                                : static_cast<float>(random.Real());
  }
  return rows;
}

TEST(Forest, BatchesOfEverySizeGiveWhatOneRowGives) {
  const Forest& forest = ShippedForest();
  ASSERT_EQ(forest.features, kNumFeatures);
  ASSERT_EQ(forest.num_trees(), 100u);
  const auto rows = RandomRows(40, kNumFeatures, 1);
  for (std::size_t count = 0; count <= 40; ++count) {
    std::vector<float> scores(count);
    Score(forest, std::span(rows).first(count * kNumFeatures), scores);
    for (std::size_t r = 0; r < count; ++r) {
      ASSERT_EQ(scores[r], ScoreOne(forest, rows.data() + r * kNumFeatures)) << count << " " << r;
    }
  }
}

TEST(Forest, NoTreesGiveTheBase) {
  const Forest forest{3, 0, {}, {}, 5};
  std::vector<float> scores(2);
  Score(forest, RandomRows(2, 3, 1), scores);
  EXPECT_EQ(scores, std::vector<float>({5, 5}));
}

TEST(Forest, ModelFileHasTheSameBits) {
  OwnedForest forest;
  forest.features = 2;
  forest.depth = 1;
  forest.base = 0.5F;
  forest.nodes = {{0.1F, 1}, {std::numeric_limits<float>::infinity(), 0}};
  forest.leaves = {1e-9F, 3, -0.33333334F, -0.0F};
  const std::string text = WriteModel(forest.view(), {"From here.", "", "To there."});
  EXPECT_NE(text.find("// From here.\n//\n// To there.\n"), std::string::npos) << text;
  EXPECT_NE(text.find("{.1F,1},{kEnd,0},"), std::string::npos) << text;
  EXPECT_NE(text.find("1e-09F,3,-.33333334F,-0.0F,"), std::string::npos) << text;
}

class Training : public testing::Test {
 protected:
  void SetUp() override {
    if (!HasXgboost()) GTEST_SKIP() << "this build lacks XGBoost";
  }
  // Data that a forest can learn.
  static std::vector<float> Labels(const std::vector<float>& rows, std::size_t features) {
    std::vector<float> labels;
    for (std::size_t r = 0; r * features < rows.size(); ++r) {
      const float* row = rows.data() + r * features;
      labels.push_back(row[0] < 7 ? 10.0F * row[1] / 40 : row[2] < 0.5F ? 3.0F : 6.0F);
    }
    return labels;
  }
};

TEST_F(Training, AgreesWithXgboostOn20000Rows) {
  const auto rows = RandomRows(20'000, kNumFeatures, 2);
  const auto labels = Labels(rows, kNumFeatures);
  const auto trained = Train({kNumFeatures, rows, labels, {}, {}}, {});
  ASSERT_TRUE(trained.has_value()) << trained.error().message;
  EXPECT_EQ(trained->forest.view().num_trees(), 100u);
  const auto fresh = RandomRows(20'000, kNumFeatures, 3);
  for (const auto& sample : {rows, fresh}) {
    const auto theirs = Predict(trained->json, sample, kNumFeatures);
    ASSERT_TRUE(theirs.has_value()) << theirs.error().message;
    std::vector<float> ours(20'000);
    Score(trained->forest.view(), sample, ours);
    for (std::size_t r = 0; r < ours.size(); ++r) {
      ASSERT_NEAR(ours[r], (*theirs)[r], 1e-5) << r;
    }
  }
  // The forest has learned it.
  std::vector<float> ours(20'000);
  Score(trained->forest.view(), fresh, ours);
  const auto truth = Labels(fresh, kNumFeatures);
  double squares = 0;
  for (std::size_t r = 0; r < ours.size(); ++r) {
    squares += std::pow(static_cast<double>(ours[r] - truth[r]), 2);
  }
  EXPECT_LT(std::sqrt(squares / 20'000), 0.5);
}

TEST_F(Training, SameDataSameBytes) {
  const auto rows = RandomRows(3000, 5, 4);
  const auto labels = Labels(rows, 5);
  for (const bool pairwise : {false, true}) {
    BoosterOptions options;
    options.trees = 20;
    options.pairwise = pairwise;
    const std::vector<unsigned> groups(300, 10);
    const auto one = Train({5, rows, labels, {}, groups}, options);
    const auto two = Train({5, rows, labels, {}, groups}, options);
    ASSERT_TRUE(one && two);
    EXPECT_EQ(one->json, two->json);
    EXPECT_EQ(WriteModel(one->forest.view(), {}), WriteModel(two->forest.view(), {}));
    std::vector<float> weights(labels.size(), 1);
    weights[7] = 100;
    const auto weighed = Train({5, rows, labels, weights, groups}, options);
    ASSERT_TRUE(weighed.has_value());
    EXPECT_EQ(weighed->json == one->json, pairwise);  // The pairwise objective has no weights.
  }
}

std::string OneTree(const std::string& left, const std::string& right, const std::string& split) {
  return R"({"learner": {"learner_model_param": {"num_feature": "2", "base_score": "0.5"},)"
         R"("gradient_booster": {"model": {"trees": [{"left_children": )" +
         left + R"(, "right_children": )" + right + R"(, "split_indices": )" + split +
         R"(, "split_conditions": [4, 1, 2]}]}}}})";
}

TEST(Booster, ReadsATree) {
  const auto forest = ParseForest(OneTree("[1,-1,-1]", "[2,-1,-1]", "[1,0,0]"), "some.json");
  ASSERT_TRUE(forest.has_value()) << forest.error().message;
  const std::vector<float> rows = {9, 3, 0, 4};
  std::vector<float> scores(2);
  Score(forest->view(), rows, scores);
  EXPECT_EQ(scores, std::vector<float>({1.5F, 2.5F}));
}

TEST(Booster, ReadsATreeOfOneLeaf) {
  std::string text = OneTree("[-1]", "[-1]", "[0]");
  const std::string conditions = "[4, 1, 2]";
  text.replace(text.find(conditions), conditions.size(), "[1.5]");
  const auto forest = ParseForest(text, "some.json");
  ASSERT_TRUE(forest.has_value()) << forest.error().message;
  const std::vector<float> rows = {9, 3, 0, 4};
  std::vector<float> scores(2);
  Score(forest->view(), rows, scores);
  EXPECT_EQ(scores, std::vector<float>({2.0F, 2.0F}));
}

TEST(Booster, RejectsInvalidModels) {
  for (const std::string& text :
       {std::string(), std::string("{"), std::string("{}"), std::string(R"({"learner": 3})"),
        OneTree("[0,-1,-1]", "[2,-1,-1]", "[1,0,0]"),   // A node as its own child.
        OneTree("[1,-1,-1]", "[3,-1,-1]", "[1,0,0]"),   // A child that does not exist.
        OneTree("[1,-1,-1]", "[-1,-1,-1]", "[1,0,0]"),  // One child.
        OneTree("[1,-1,-1]", "[2,-1,-1]", "[2,0,0]"),   // A feature that does not exist.
        OneTree("[1,-1,-1]", "[2,-1,-1]", "[1,0]")}) {
    const auto forest = ParseForest(text, "some.json");
    ASSERT_FALSE(forest.has_value()) << text;
    EXPECT_NE(forest.error().message.find("some.json"), std::string::npos);
  }
}

}  // namespace
}  // namespace berth::internal
