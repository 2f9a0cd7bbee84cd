// tools/lab/train/booster.h -- gradient-boosted regression trees by XGBoost's C API.
#ifndef BERTH_TOOLS_LAB_TRAIN_BOOSTER_H_
#define BERTH_TOOLS_LAB_TRAIN_BOOSTER_H_

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "baselines/telamalloc/forest.h"
#include "berth/result.h"
#include "tools/lab/train/examples.h"

namespace berth::internal {

// A forest that owns its arrays.
struct OwnedForest {
  std::size_t features = 0;
  std::size_t depth = 0;
  std::vector<ForestNode> nodes;
  std::vector<float> leaves;
  float base = 0;
  [[nodiscard]] Forest view() const { return {features, depth, nodes, leaves, base}; }
};

inline constexpr int kMostDepth = 12;  // A flat tree of this depth takes 48 KiB.

struct BoosterOptions {
  int trees = 100;
  int depth = 6;
  double learning_rate = 0.1;
  double least_weight = 20;  // Rows in a leaf.
  bool pairwise = false;     // Ranks the candidates of one choice instead of fitting scores.
};

// False: this build lacks XGBoost, and the functions below answer kUnsupported.
[[nodiscard]] bool HasXgboost();

struct Trained {
  OwnedForest forest;
  std::string version;  // Of XGBoost.
  std::string json;     // The model as XGBoost saves it.
};
// One thread, no chance: the same examples give the same forest to the last bit.
[[nodiscard]] Result<Trained> Train(const Examples& examples, const BoosterOptions& options);

// The forest in a model as XGBoost saves it (Trained::json). Error: kParse.
[[nodiscard]] Result<OwnedForest> ParseForest(const std::string& json, std::string_view name);

// What XGBoost itself predicts.
[[nodiscard]] Result<std::vector<float>> Predict(const std::string& json,
                                                 std::span<const float> rows, std::size_t features);

}  // namespace berth::internal

#endif  // BERTH_TOOLS_LAB_TRAIN_BOOSTER_H_
