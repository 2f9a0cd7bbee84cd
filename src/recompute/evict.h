// recompute/evict.h -- an order within a capacity, decided step by step.
#ifndef BERTH_RECOMPUTE_EVICT_H_
#define BERTH_RECOMPUTE_EVICT_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "berth/answer.h"
#include "berth/budget.h"
#include "recompute/model.h"
#include "recompute/sequence.h"
#include "recompute/work.h"

namespace berth::internal::recompute {

// How the storage that leaves is chosen: the one of the least cost / (bytes * distance ^ exponent),
// where the distance is that of its next use.
struct EvictionRule {
  double exponent = 1;
  // The cost counts what has left and would have to be made again, too.
  bool closure = true;
  // The cost of each storage is multiplied or divided by up to this, at random.
  double noise = 1;
  std::uint64_t seed = 1;
};

// Runs `order`. Where the memory is full storages leave, and what an operator needs and does not find
// is made again, or copied back if that costs less: as Kirisame et al. do while a model trains
// (Dynamic Tensor Rematerialization, ICLR 2021), but with known next uses. What left and could not
// come back stays when the order runs once more. The sequence fits within `capacity`. Nothing if none
// was found, the work or the budget is spent, or it became far too long or dearer than `most`.
// Cost: for each storage that leaves, linear in the storages in memory.
[[nodiscard]] std::optional<Sequence> Evict(const Model& model, const std::vector<Op>& order,
                                            Bytes capacity, const EvictionRule& rule,
                                            std::int64_t most, Work& work, Budget& budget);

}  // namespace berth::internal::recompute

#endif  // BERTH_RECOMPUTE_EVICT_H_
