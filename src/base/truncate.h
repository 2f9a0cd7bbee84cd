// base/truncate.h -- what comes last in a vector, dropped.
#ifndef BERTH_BASE_TRUNCATE_H_
#define BERTH_BASE_TRUNCATE_H_

#include <cstddef>
#include <vector>

namespace berth::internal {

// Leaves the first `size` items, of which there must be as many. As resize(), which would bring along
// code to grow the vector.
template <typename T>
void Truncate(std::vector<T>& items, std::size_t size) {
  items.erase(items.begin() + static_cast<std::ptrdiff_t>(size), items.end());
}

}  // namespace berth::internal

#endif  // BERTH_BASE_TRUNCATE_H_
