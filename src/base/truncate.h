// base/truncate.h -- what comes last in a vector, dropped.
#ifndef BERTH_BASE_TRUNCATE_H_
#define BERTH_BASE_TRUNCATE_H_

#include <cstddef>
#include <vector>

#include "base/check.h"

namespace berth::internal {

// Leaves the first `size` items; `size` must not exceed items.size(). As resize(), which would bring along
// code to grow the vector.
template <typename T>
void Truncate(std::vector<T>& items, std::size_t size) {
  BERTH_DCHECK(size <= items.size());
  items.erase(items.begin() + static_cast<std::ptrdiff_t>(size), items.end());
}

}  // namespace berth::internal

#endif  // BERTH_BASE_TRUNCATE_H_
