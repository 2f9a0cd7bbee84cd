#include "baselines/telamalloc/forest.h"

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

// All rows from `row` on, kRows at a time, and the rest in smaller groups.
template <std::size_t kRows>
void WalkAll(const ForestNode* nodes, const float* leaves, const Forest& forest, const float* rows,
             std::span<float> scores, std::size_t row) {
  for (; row + kRows <= scores.size(); row += kRows) {
    Walk<kRows>(nodes, leaves, forest.depth, forest.features, rows + row * forest.features,
                scores.data() + row);
  }
  if constexpr (kRows > 1) WalkAll<kRows / 2>(nodes, leaves, forest, rows, scores, row);
}

}  // namespace

void Score(const Forest& forest, std::span<const float> rows, std::span<float> scores) {
  BERTH_DCHECK(rows.size() == scores.size() * forest.features);
  std::fill(scores.begin(), scores.end(), forest.base);
  const std::size_t num_leaves = std::size_t{1} << forest.depth;
  for (std::size_t tree = 0; tree < forest.num_trees(); ++tree) {
    WalkAll<kInStep>(forest.nodes.data() + tree * (num_leaves - 1),
                     forest.leaves.data() + tree * num_leaves, forest, rows.data(), scores, 0);
  }
}

}  // namespace berth::internal
