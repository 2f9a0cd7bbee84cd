// recompute/gap.h -- the time between two uses in a row of one storage.
#ifndef BERTH_RECOMPUTE_GAP_H_
#define BERTH_RECOMPUTE_GAP_H_

#include <algorithm>
#include <cstdint>

#include "recompute/model.h"

namespace berth::internal::recompute {

struct Gap {
  Storage storage = 0;
  std::uint32_t from = 0;    // Steps of the order: of one use, and of the next.
  std::uint32_t to = 0;      // The number of steps: of a result, the end.
  std::int32_t version = 0;  // Needed at `to`.

  // A price that is paid only if the gap is dropped from a later step on may begin here at the latest.
  // The bytes before it then count for nothing; of short gaps there are none to spare.
  [[nodiscard]] std::uint32_t Latest() const {
    return from + (to - from < kShort ? 0 : std::max<std::uint32_t>((to - from) / kPartBefore, 1));
  }

 private:
  static constexpr std::uint32_t kShort = 4;
  static constexpr std::uint32_t kPartBefore = 8;
};

}  // namespace berth::internal::recompute

#endif  // BERTH_RECOMPUTE_GAP_H_
