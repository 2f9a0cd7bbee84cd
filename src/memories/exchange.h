// memories/exchange.h -- items that could take each other's place.
#ifndef BERTH_MEMORIES_EXCHANGE_H_
#define BERTH_MEMORIES_EXCHANGE_H_

#include <cstddef>
#include <vector>

#include "berth/problem.h"
#include "memories/selection.h"

namespace berth::internal::memories {

// An item that is one buffer without gaps, which may lie anywhere in its memories.
struct Movable {
  std::size_t item = 0;
  Step start = 0;
  Step end = 0;
  Bytes size = 0;
  std::vector<Bytes> alignment;  // By memory.
};

// Some best plan has none of these combinations: of two items that could take each other's place, the one
// to which the better memory is worth more has it, and of those that do not differ the first one. Pairs
// that follow from others are mostly left out. Cost: O(n^2) and, for each pair of which one lies within
// the other, the cube of the number of options.
[[nodiscard]] std::vector<Exchange> FindExchanges(const Selection& selection,
                                                  const std::vector<Movable>& movable);

}  // namespace berth::internal::memories

#endif  // BERTH_MEMORIES_EXCHANGE_H_
