// memories/subset_sums.h -- what whole items can free, or fill.
//
// Items leave or stay as a whole: of 3, 3 and 8 bytes no choice frees exactly 4, and none fills 5 or 9. So
// to free 4 costs at least 6, and a room of 9 bytes is one of 8.
#ifndef BERTH_MEMORIES_SUBSET_SUMS_H_
#define BERTH_MEMORIES_SUBSET_SUMS_H_

#include <cstdint>
#include <vector>

#include "berth/problem.h"
#include "memories/selection.h"

namespace berth::internal::memories {

// The least sum of some of `sizes` (each at least 0) that is at least `bytes`, which must not exceed their
// sum. Where there are too many sums a lower bound of it: `bytes`, rounded up to a multiple of the divisor
// of all sizes. `work` is lowered by what it takes, in sums looked at; without any left it is that bound,
// too. Cost: O(sizes x sums), with at most 16,384 sums.
[[nodiscard]] Bytes LeastSubsetSum(std::vector<Bytes> sizes, Bytes bytes, std::int64_t& work);

// The most that some of `sizes` add up to within `bytes`, or an upper bound of it, in the same way.
[[nodiscard]] Bytes MostSubsetSum(const std::vector<Bytes>& sizes, Bytes bytes, std::int64_t& work);

// Lowers each capacity to the most that items that are live there can fill. The same choices are allowed.
void TightenCapacities(Selection& selection);

}  // namespace berth::internal::memories

#endif  // BERTH_MEMORIES_SUBSET_SUMS_H_
