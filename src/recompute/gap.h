// recompute/gap.h -- the time between two uses in a row of one storage.
#ifndef BERTH_RECOMPUTE_GAP_H_
#define BERTH_RECOMPUTE_GAP_H_

#include <cstdint>

#include "recompute/model.h"

namespace berth::internal::recompute {

struct Gap {
  Storage storage = 0;
  std::uint32_t from = 0;    // Steps of the order: of one use, and of the next.
  std::uint32_t to = 0;      // The number of steps: of a result, the end.
  std::int32_t version = 0;  // Needed at `to`.
  // From this step on, at least `from`, what makes it again needs versions that were written over.
  std::uint32_t lost = 0;
  std::int64_t guess = 0;  // The same if every gap pays for what was lost: no bound.
  bool likely = false;     // A greedy choice drops it.
  std::int64_t price = 0;  // At least this is paid if it is dropped after `lost`.

  // A price that is paid only if the gap is dropped from a later step on may begin here at the latest.
  // The bytes before it then count for nothing.
  [[nodiscard]] std::uint32_t Latest() const { return from + 1 + (to - from) / kPartBefore; }

 private:
  static constexpr std::uint32_t kPartBefore = 8;
};

}  // namespace berth::internal::recompute

#endif  // BERTH_RECOMPUTE_GAP_H_
