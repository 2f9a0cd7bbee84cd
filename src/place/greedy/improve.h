// place/greedy/improve.h -- a lower plan from a good one, by moving what stands too high.
//
// Greedy plans of large tables are good nearly everywhere: the load has its peak at few places, and
// only there do buffers stand above it. So do not plan again, repair. Set a target below the plan's
// height; take out the buffers that stand above it; put them back one by one, each at the offset,
// under the target, where it pushes out the least:
//
//   target - - - - +-----+ - - -       u is out. Wherever it goes below the target it meets
//            +--+  |  u  |             others; the sum of their costs is a step function of
//            |  |  +-----+             its offset. It takes the lowest offset of least cost,
//            |  +-----+ +---+          and those it meets there are out in turn. No offset
//            +--|  v  | | w |          costs less than one that is free.
//               +-----+ +---+
//
// When nothing is out, the plan has reached the target, and the next one is nearer to the bound: an
// eighth of the way first, then a quarter, then half. When nothing less has been out for a number
// of steps, the target rises half-way to the plan's height, and what is out finds room there, or at
// last the plan is restored and the next attempt is given more patience. An attempt that takes long
// is settled in the same way before it goes on: on a large table the repair of all peaks at once
// would take longer than the time there is. The plan kept is the lowest one at any moment.
//
// What makes it converge:
//
//   * cost is size times heat, the heat of a section being (load / largest load)^16, summed over
//     the lifetime: buffers that live away from the peaks are free to move, as they find room
//     anywhere. In the windows below it is the 128th power;
//   * costs are learned: a buffer's cost rises each time it is evicted, which breaks circles and
//     shows which buffers are hard;
//   * the most costly evicted buffer goes back first;
//   * where some steps made no progress, a neighbour of what goes back next, drawn at random, first
//     moves to another free offset.
//
// The neighbours in time of a buffer come from an index that is made once: buffers in order of
// their first section, and for every 2^k of them who is live there; k is chosen so that the index
// stays linear in the buffers. Parts whose lifetimes never meet are improved each by itself, by as
// many threads as there are; each part has its own share of the work, so that the plan does not
// depend on the threads. Pins, alignments, gaps and windows are honoured; hints are not looked at,
// but what need not move stays where it is.
//
// Large parts are repaired in levels. Most buffers of a large table are small, and add little to the
// load; but each step looks at them, and whatever moves evicts them. So they wait at first, in a strip of
// their own above all others, as high as a plan of them alone:
//
//   plan  - - - +-------------------+ - -       Buffers are in levels by size: those that carry nearly
//               |   small buffers   |           all of the load, then those down to a quarter of their
//   target  - - +-------------------+ - -       size, and so on. A target is reached on one level after
//               |   large buffers   |           the other. Each begins where the one before it ended,
//               |                   |           with what is now in the way of larger buffers out.
//               +-------------------+
//
// When large buffers cannot be lowered any more, small ones join the levels, and the strip goes.
//
// A large part has many peaks, and most of its buffers live far from all of them. So it is cut into
// windows of time around what stands above the bound, wide enough that buffers move freely around the
// peak. What crosses an end of a window, or lives outside, stays where it is; none of that stands above
// the bound. Each window is repaired by itself, and so a peak that is hard to lower does not undo what was
// gained on the others. They take turns in rounds, the highest first: in a round each that is higher than
// half-way between the bound and the highest may spend so much, more in the next round if that was not
// enough. Rounds make the plan the same with any number of threads.
//
// The pool of those that are out, the learned costs and the moves at random are those of Nagata and
// Braysy's search for vehicle routes (2009); learning from conflicts goes back to Morris's breakout (AAAI 1993).
// docs/algorithms/greedy.md says what it achieves.
//
// Cost: a step looks at all neighbours in time of one buffer, some 25 ns each. All arithmetic is on
// integers, and work is counted in neighbours: the same plan for the same seed everywhere, unless
// time ends it.
#ifndef BERTH_PLACE_GREEDY_IMPROVE_H_
#define BERTH_PLACE_GREEDY_IMPROVE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "model/instance.h"

namespace berth::internal::greedy {

// In smaller parts a strip would cost more bytes than its time is worth.
inline constexpr std::size_t kBuffersOfLevels = 1 << 18;

// Lowers `offsets`, which must be a valid plan for `instance`, towards `stop_at`, and returns its
// height. Spends about `max_work` looks at neighbours at most; `stop` is asked now and then, from
// any of the threads, and ends it with the best plan so far; never if it is empty. A part with
// `buffers_of_levels` buffers or more is repaired window by window, without its small ones first.
Bytes ImprovePlan(const Instance& instance, Bytes stop_at, std::int64_t max_work,
                  std::uint64_t seed, int threads, const std::function<bool()>& stop,
                  std::vector<Bytes>& offsets, std::size_t buffers_of_levels = kBuffersOfLevels);

}  // namespace berth::internal::greedy

#endif  // BERTH_PLACE_GREEDY_IMPROVE_H_
