#include "place/guided/forest.h"

#include <algorithm>
#include <array>

#include "base/check.h"

namespace berth::internal {
namespace {

constexpr std::size_t kInStep = 8;

// Adds the tree's leaves for kRows rows.
template <std::size_t kRows>
void Walk(const ForestNode* nodes, const float* leaves, std::size_t depth, std::size_t features,
          const float* rows, float* scores) {
  std::array<std::size_t, kRows> at{};
  for (std::size_t step = 0; step < depth; ++step) {
    for (std::size_t r = 0; r < kRows; ++r) {
      const ForestNode node = nodes[at[r]];
      const bool right = !(rows[r * features + node.feature] < node.threshold);
      at[r] = 2 * at[r] + 1 + static_cast<std::size_t>(right);
    }
  }
  const std::size_t count = (std::size_t{1} << depth) - 1;
  for (std::size_t r = 0; r < kRows; ++r) scores[r] += leaves[at[r] - count];
}

}  // namespace

void Score(const Forest& forest, std::span<const float> rows, std::span<float> scores) {
  BERTH_DCHECK(rows.size() == scores.size() * forest.features);
  std::fill(scores.begin(), scores.end(), forest.base);
  const std::size_t num_leaves = std::size_t{1} << forest.depth;
  for (std::size_t tree = 0; tree < forest.num_trees(); ++tree) {
    const ForestNode* nodes = forest.nodes.data() + tree * (num_leaves - 1);
    const float* leaves = forest.leaves.data() + tree * num_leaves;
    std::size_t row = 0;
    for (; row + kInStep <= scores.size(); row += kInStep) {
      Walk<kInStep>(nodes, leaves, forest.depth, forest.features,
                    rows.data() + row * forest.features, scores.data() + row);
    }
    for (; row < scores.size(); ++row) {
      Walk<1>(nodes, leaves, forest.depth, forest.features, rows.data() + row * forest.features,
              scores.data() + row);
    }
  }
}

}  // namespace berth::internal
