// tools/verify/sort.h -- many things in order of time, in linear time. The planner's own sort
// (src/base/radix_sort.h) would be shared code.
#ifndef BERTH_TOOLS_VERIFY_SORT_H_
#define BERTH_TOOLS_VERIFY_SORT_H_

#include <cstdint>
#include <vector>

namespace berth::verify {

struct AtTime {
  std::int64_t time;
  std::int64_t item;  // For the caller.
};

// Sorts by time; what has the same time keeps its order. Cost: a pass for each 12 bits of the time
// between the first and the last; with more than 48 bits, O(n log n).
void SortByTime(std::vector<AtTime>& things);

}  // namespace berth::verify

#endif  // BERTH_TOOLS_VERIFY_SORT_H_
