// base/disjoint_sets.h -- numbers in sets that are joined.
#ifndef BERTH_BASE_DISJOINT_SETS_H_
#define BERTH_BASE_DISJOINT_SETS_H_

#include <cstddef>
#include <numeric>
#include <vector>

namespace berth::internal {

class DisjointSets {
 public:
  // 0 to `count` - 1, each alone.
  explicit DisjointSets(std::size_t count) : parent_(count) {
    std::iota(parent_.begin(), parent_.end(), std::size_t{0});
  }
  // The number that stands for the set of `of`. Cost: logarithmic, amortised.
  [[nodiscard]] std::size_t Find(std::size_t of) {
    while (parent_[of] != of) of = parent_[of] = parent_[parent_[of]];
    return of;
  }
  void Join(std::size_t a, std::size_t b) { parent_[Find(a)] = Find(b); }

 private:
  std::vector<std::size_t> parent_;
};

}  // namespace berth::internal

#endif  // BERTH_BASE_DISJOINT_SETS_H_
