#include "place/guided/backtracking.h"

#include <algorithm>
#include <cstddef>

namespace berth::internal {

void BacktrackRule::Placed(std::span<const PathStep> /*path*/, std::int32_t /*depth*/) {}

void AddTopsOfRanges(std::int32_t depth, std::vector<std::int32_t>& levels) {
  const std::size_t given = levels.size();
  std::size_t k = 0;
  std::int64_t last = 4;
  for (std::int64_t first = 0; first < depth; first = last + 1, last = last == 4 ? 8 : 2 * last) {
    while (k < given && levels[k] < first) ++k;
    if (k == given || levels[k] > last) levels.push_back(static_cast<std::int32_t>(first));
  }
  std::inplace_merge(levels.begin(), levels.begin() + static_cast<std::ptrdiff_t>(given),
                     levels.end());
}

}  // namespace berth::internal
