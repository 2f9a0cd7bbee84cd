// schedule/beam.h -- good orders quickly: many partial orders side by side.
#ifndef BERTH_SCHEDULE_BEAM_H_
#define BERTH_SCHEDULE_BEAM_H_

#include <optional>
#include <vector>

#include "berth/budget.h"
#include "schedule/instance.h"

namespace berth::internal::schedule {

struct BeamLimits {
  std::size_t width = 1;
  Bytes floor = 0;  // Steps up to this many bytes are all the same: no order needs less.
  Bytes limit = 0;  // Orders with a higher peak are of no interest.
  bool dominance = true;
  // States of fewest live bytes go on, whatever the peak on the way as long as it is within
  // `limit`; off: of least peak first. Neither is better in general.
  bool live_first = false;
};

// An order of peak at most `limit`, if one is found. One level for each number of operators done;
// of each level the `width` states of least peak so far, then least live bytes, go on (or the other
// way round). Spends one
// node of `budget` for each state that goes on. Cost: n x width x ready operators.
[[nodiscard]] std::optional<std::vector<Op>> Beam(const Instance& instance,
                                                  const BeamLimits& limits, Budget& budget);

}  // namespace berth::internal::schedule

#endif  // BERTH_SCHEDULE_BEAM_H_
