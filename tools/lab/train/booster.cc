#include "tools/lab/train/booster.h"

#include <algorithm>
#include <cstdint>
#include <exception>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "base/check.h"
#include "base/try.h"
#ifdef BERTH_WITH_XGBOOST
#include <xgboost/c_api.h>
#endif

namespace berth::internal {
namespace {

// Copies node `from` of a tree as XGBoost keeps it to node `to` of a complete one.
struct Grower {
  const std::vector<int>& left;
  const std::vector<int>& right;
  const std::vector<int>& feature;
  const std::vector<float>& condition;  // The threshold, or the value of a leaf.
  std::size_t num_nodes;
  ForestNode* nodes;
  float* leaves;

  void Grow(std::size_t from, std::size_t to) const {
    const bool is_leaf = left[from] < 0;
    if (to >= num_nodes) {
      BERTH_CHECK(is_leaf);
      leaves[to - num_nodes] = condition[from];
      return;
    }
    if (is_leaf) {
      nodes[to] = {std::numeric_limits<float>::infinity(), 0};
      Grow(from, 2 * to + 1);
      Grow(from, 2 * to + 2);
      return;
    }
    nodes[to] = {condition[from], static_cast<std::uint32_t>(feature[from])};
    Grow(static_cast<std::size_t>(left[from]), 2 * to + 1);
    Grow(static_cast<std::size_t>(right[from]), 2 * to + 2);
  }
};

// Below `node`. Throws if the tree is deeper than kMostDepth or names nodes that it lacks.
std::size_t DepthOf(const std::vector<int>& left, const std::vector<int>& right, std::size_t node,
                    std::size_t above = 0) {
  if (above > static_cast<std::size_t>(kMostDepth)) throw std::out_of_range("a tree is too deep");
  if (left.at(node) < 0) return 0;
  const auto below = [&](int child) {
    return DepthOf(left, right, static_cast<std::size_t>(child), above + 1);
  };
  return 1 + std::max(below(left.at(node)), below(right.at(node)));
}

OwnedForest Flatten(const nlohmann::json& model) {
  const nlohmann::json& learner = model.at("learner");
  const nlohmann::json& trees = learner.at("gradient_booster").at("model").at("trees");
  OwnedForest forest;
  forest.features =
      std::stoul(learner.at("learner_model_param").at("num_feature").get<std::string>());
  for (const nlohmann::json& tree : trees) {
    const auto left = tree.at("left_children").get<std::vector<int>>();
    forest.depth =
        std::max(forest.depth, DepthOf(left, tree.at("right_children").get<std::vector<int>>(), 0));
    const auto split = tree.at("split_indices").get<std::vector<int>>();
    if (split.size() != left.size() || tree.at("split_conditions").size() != left.size()) {
      throw std::out_of_range("a tree has too few conditions");
    }
    for (const int feature : split) {
      if (feature < 0 || static_cast<std::size_t>(feature) >= forest.features) {
        throw std::out_of_range("a tree asks for a feature that there is not");
      }
    }
  }
  forest.base = std::stof(learner.at("learner_model_param").at("base_score").get<std::string>());
  const std::size_t num_leaves = std::size_t{1} << forest.depth;
  for (const nlohmann::json& tree : trees) {
    const auto left = tree.at("left_children").get<std::vector<int>>();
    const auto right = tree.at("right_children").get<std::vector<int>>();
    const auto feature = tree.at("split_indices").get<std::vector<int>>();
    const auto condition = tree.at("split_conditions").get<std::vector<float>>();
    const std::size_t node = forest.nodes.size();
    const std::size_t leaf = forest.leaves.size();
    forest.nodes.resize(node + num_leaves - 1);
    forest.leaves.resize(leaf + num_leaves);
    // Trees of a single leaf have no nodes to point at.
    Grower{left,
           right,
           feature,
           condition,
           num_leaves - 1,
           forest.nodes.data() + node,
           forest.leaves.data() + leaf}
        .Grow(0, 0);
  }
  return forest;
}

}  // namespace

Result<OwnedForest> ParseForest(const std::string& json, std::string_view name) {
  try {
    return Flatten(nlohmann::json::parse(json));
  } catch (const std::exception& error) {
    return Fail(ErrorCode::kParse, std::string(name) + ": not a model of XGBoost: " + error.what());
  }
}

#ifndef BERTH_WITH_XGBOOST

namespace {
tl::unexpected<Error> Lacking() {
  return Fail(ErrorCode::kUnsupported,
              "this build lacks XGBoost: install libxgboost-dev and configure again");
}
}  // namespace

bool HasXgboost() { return false; }
Result<Trained> Train(const Examples& /*examples*/, const BoosterOptions& /*options*/) {
  return Lacking();
}
Result<std::vector<float>> Predict(const std::string& /*json*/, std::span<const float> /*rows*/,
                                   std::size_t /*features*/) {
  return Lacking();
}

#else

namespace {

// A handle that XGBoost's functions make and free, and what went wrong.
class Matrix {
 public:
  Matrix() = default;
  Matrix(const Matrix&) = delete;
  Matrix& operator=(const Matrix&) = delete;
  ~Matrix() {
    if (handle != nullptr) (void)XGDMatrixFree(handle);
  }
  DMatrixHandle handle = nullptr;
};

class Booster {
 public:
  Booster() = default;
  Booster(const Booster&) = delete;
  Booster& operator=(const Booster&) = delete;
  ~Booster() {
    if (handle != nullptr) (void)XGBoosterFree(handle);
  }
  BoosterHandle handle = nullptr;
};

tl::unexpected<Error> Failed() {
  return Fail(ErrorCode::kUnsupported, std::string("XGBoost: ") + XGBGetLastError());
}

bool MakeMatrix(std::span<const float> rows, std::size_t features, Matrix& matrix) {
  return XGDMatrixCreateFromMat(rows.data(), rows.size() / features, features,
                                std::numeric_limits<float>::quiet_NaN(), &matrix.handle) == 0;
}

}  // namespace

bool HasXgboost() { return true; }

Result<Trained> Train(const Examples& examples, const BoosterOptions& options) {
  const auto& [features, rows, labels, weights, groups] = examples;
  BERTH_CHECK(rows.size() == labels.size() * features);
  Matrix matrix;
  if (!MakeMatrix(rows, features, matrix) ||
      XGDMatrixSetFloatInfo(matrix.handle, "label", labels.data(), labels.size()) != 0) {
    return Failed();
  }
  if (!options.pairwise && !weights.empty() &&
      XGDMatrixSetFloatInfo(matrix.handle, "weight", weights.data(), weights.size()) != 0) {
    return Failed();
  }
  if (options.pairwise &&
      XGDMatrixSetUIntInfo(matrix.handle, "group", groups.data(), groups.size()) != 0) {
    return Failed();
  }
  Booster booster;
  if (XGBoosterCreate(&matrix.handle, 1, &booster.handle) != 0) return Failed();
  const std::vector<std::pair<std::string, std::string>> parameters = {
      {"objective", options.pairwise ? "rank:pairwise" : "reg:squarederror"},
      {"tree_method", "hist"},
      {"max_depth", std::to_string(options.depth)},
      {"eta", std::to_string(options.learning_rate)},
      {"min_child_weight", std::to_string(options.least_weight)},
      {"base_score", "0"},
      {"nthread", "1"},
      {"seed", "0"},
      {"verbosity", "0"}};
  for (const auto& [name, value] : parameters) {
    if (XGBoosterSetParam(booster.handle, name.c_str(), value.c_str()) != 0) return Failed();
  }
  for (int tree = 0; tree < options.trees; ++tree) {
    if (XGBoosterUpdateOneIter(booster.handle, tree, matrix.handle) != 0) return Failed();
  }
  bst_ulong length = 0;
  const char* bytes = nullptr;
  if (XGBoosterSaveModelToBuffer(booster.handle, R"({"format": "json"})", &length, &bytes) != 0) {
    return Failed();
  }
  Trained trained;
  trained.json.assign(bytes, length);
  auto forest = BERTH_TRY(ParseForest(trained.json, "XGBoost's own model"));
  trained.forest = std::move(forest);
  int major = 0;
  int minor = 0;
  int patch = 0;
  XGBoostVersion(&major, &minor, &patch);
  trained.version =
      std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
  return trained;
}

Result<std::vector<float>> Predict(const std::string& json, std::span<const float> rows,
                                   std::size_t features) {
  Matrix matrix;
  Booster booster;
  bst_ulong const* shape = nullptr;
  bst_ulong dimensions = 0;
  const float* scores = nullptr;
  if (!MakeMatrix(rows, features, matrix) || XGBoosterCreate(nullptr, 0, &booster.handle) != 0 ||
      XGBoosterLoadModelFromBuffer(booster.handle, json.data(), json.size()) != 0 ||
      XGBoosterPredictFromDMatrix(
          booster.handle, matrix.handle,
          R"({"type": 1, "training": false, "iteration_begin": 0, "iteration_end": 0,)"
          R"( "strict_shape": false})",
          &shape, &dimensions, &scores) != 0) {
    return Failed();
  }
  return std::vector<float>(scores, scores + rows.size() / features);
}

#endif

}  // namespace berth::internal
