// baselines/telamalloc/forest.h -- regression trees as flat arrays.
//
// All trees are grown to the same depth, so that every walk takes the same number of steps, each an
// index computed from one comparison, without a branch that could be mispredicted:
//
//     node                0            left child of i: 2 i + 1, where x[feature] < threshold
//                     1       2        right child:     2 i + 2, elsewhere
//                   3   4   5   6
//     leaf          0   1   2   3      node past the last row, less the number of nodes
//
// Below a leaf that is shallower, all walks go left and end in that leaf. A batch of rows goes
// through one tree after another, several rows in step: their walks do not wait for each other, and
// a tree is read into the cache once for all of them. Sums are taken in the order of the trees in
// single precision, as XGBoost does, so its predictions are the same to the last bit.
#ifndef BERTH_BASELINES_TELAMALLOC_FOREST_H_
#define BERTH_BASELINES_TELAMALLOC_FOREST_H_

#include <cstddef>
#include <cstdint>
#include <span>

namespace berth::internal {

struct ForestNode {
  float threshold;
  std::uint32_t feature;
};

struct Forest {
  std::size_t features = 0;
  std::size_t depth = 0;  // 2^depth - 1 nodes and 2^depth leaves to a tree.
  std::span<const ForestNode> nodes;
  std::span<const float> leaves;
  float base = 0;  // Added to all scores.

  [[nodiscard]] std::size_t num_trees() const { return leaves.size() >> depth; }
};

// The scores of rows of `forest.features` numbers each, none of them NaN: scores.size() rows, one
// after the other. Cost: trees x depth steps a row.
void Score(const Forest& forest, std::span<const float> rows, std::span<float> scores);

// The model that the library was built with (model.cc).
[[nodiscard]] const Forest& ShippedForest();

}  // namespace berth::internal

#endif  // BERTH_BASELINES_TELAMALLOC_FOREST_H_
