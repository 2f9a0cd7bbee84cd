// berth/off_chip.h -- what the copies of a plan between its memory and the store behind it take: time and
// energy, if they are made while operators run.
//
//   const auto run = berth::RunOffChip(graph, *device.link, *answer.best);
//   if (run) Print(run->time, run->one_by_one());
//
// One channel (a DMA engine) makes the copies, one at a time. The residencies say what waits for what:
//
//   operators | make x | make y | make z |        | join |      x is spilled as soon as it is made, while
//   channel   |        | out x  |        |  in x  |      |      `make y` runs, and comes back to bytes that
//             0                                          ns     `make z` still uses.
//
//   * A copy out begins once the operator has run that gives the tensor its last value in this residency. Where
//     none writes it there, it begins at the start of the residency: once the operators before it have run,
//     and the copy back has been made that brings it, if one does.
//   * A copy back begins once the operators have run that used its bytes for other tensors, and once these and
//     the tensor itself have been copied out.
//   * An operator begins when the one before it has ended, when what it touches has been copied back, and when
//     what was at the bytes of its outputs has been copied out.
//   * Of the copies that may begin when the channel is free, the one begins that an operator waits for first
//     (a list schedule, Graham 1966); of several for one step those out, then in the order of residencies.
//
// So the residencies alone say when everything happens. A plan for the least traffic is not one for the least
// time: of plans with the same traffic some leave more room for copies beside operators.
#ifndef BERTH_OFF_CHIP_H_
#define BERTH_OFF_CHIP_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "berth/answer.h"
#include "berth/graph.h"
#include "berth/graph_memories.h"
#include "berth/result.h"

namespace [[gnu::visibility("default")]] berth {

// A copy of a tensor as a whole, and when it is made.
struct OffChipCopy {
  // In MemoryPlan::residencies: it begins with the copy, or it is what is copied out.
  std::size_t residency = 0;
  bool out = false;        // To the store; else back.
  bool avoidable = false;  // Counted in Traffic::spilled or Traffic::retrieved; else compulsory.
  Step after = 0;          // It waits for the operators of all steps before this one.
  // The operator of this step waits for it; if it is the number of steps, none does.
  Step before = 0;
  TimedRun::Interval transfer{};  // In nanoseconds.
  friend bool operator==(const OffChipCopy&, const OffChipCopy&) = default;
};

// What happens when, in nanoseconds from the beginning of the run. Times above 2^60 are 2^60 + 1, so their
// sum one_by_one() is at most 2^61 + 2.
struct OffChipRun {
  // In the order in which they are made; their bytes add up to Traffic.
  std::vector<OffChipCopy> copies;
  std::vector<TimedRun::Interval> operators;  // By step.
  std::int64_t computing = 0;                 // The sum of the times of the operators,
  std::int64_t copying = 0;                   // and of the copies.
  std::int64_t stalled = 0;                   // In which operators wait for copies.
  std::int64_t time = 0;                      // The end of the last operator and the last copy.
  // The time if nothing else happened while a copy is made; `time` is at most this.
  [[nodiscard]] std::int64_t one_by_one() const { return computing + copying; }
  friend bool operator==(const OffChipRun&, const OffChipRun&) = default;
};

// The run of `plan`, which must be valid for `graph` (ValidatePlan()). All of its traffic is copied: given
// tensors that it counts are copied in, also those that are in memory from step 0 on, and results are copied
// out, also those that stay to the end. Operators take their costs. Energy is Link::picojoules_per_byte times
// the bytes of Traffic: it does not depend on when copies are made.
// Errors: kInvalidPlan for a plan without addresses or with several memories; kInvalidOptions for a link out of
// bounds and, naming an operator, where times in ns are missing. Cost: O(n log n) for n residencies and
// uses.
[[nodiscard]] Result<OffChipRun> RunOffChip(const Graph& graph, const Link& link,
                                            const MemoryPlan& plan);

}  // namespace berth

#endif  // BERTH_OFF_CHIP_H_
