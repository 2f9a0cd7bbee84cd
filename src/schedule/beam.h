// schedule/beam.h -- finds good orders quickly by a beam search over partial orders.
#ifndef BERTH_SCHEDULE_BEAM_H_
#define BERTH_SCHEDULE_BEAM_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "berth/budget.h"
#include "schedule/instance.h"

namespace berth::internal::schedule {

struct BeamLimits {
  std::size_t width = 1;
  Bytes floor = 0;  // Bytes. Steps up to this many count as equal: no order has a lower peak.
  Bytes limit = 0;  // Bytes. Orders with a higher peak are discarded.
  bool dominance = true;
  // Keeps the states with the fewest live bytes, whatever their peak within `limit`; off: those of
  // least peak. Neither is better in general.
  bool live_first = false;
  // In units of a few nanoseconds.
  std::int64_t most_work = std::numeric_limits<std::int64_t>::max();
};

struct BeamAnswer {
  std::optional<std::vector<Op>> order;  // Of peak at most `limit`, if one was found.
  bool out_of_work = false;
};

// Searches for an order of peak at most `limit`. There is one level for each number of executed
// operators. Each level keeps the `width` states of least peak so far, ties broken by fewest live
// bytes (the other way round with `live_first`). Spends one node of `budget` per kept state. Cost:
// n x width x ready operators, times the operators that dominance examines, which are many if many
// are ready.
[[nodiscard]] BeamAnswer Beam(const Instance& instance, const BeamLimits& limits, Budget& budget);

}  // namespace berth::internal::schedule

#endif  // BERTH_SCHEDULE_BEAM_H_
