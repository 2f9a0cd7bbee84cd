// berth/repack.h -- a plan changed as little as possible, so that more fits into it.
//
//   berth::MemoryProblem problem = ...;            // berth/memories.h
//   problem.placing[old].previous = {{0, 4096}};   // In memory 0, at 4096.
//   problem.placing[old].cost_left_out = 900;      // It may go, at this cost.
//   problem.placing[fresh].cost_left_out = 2500;   // Without a place so far.
//   berth::Budget budget;
//   const auto answer = berth::Repack(problem, {}, budget);
//   if (answer && answer->best) Use(answer->best->residencies);
//
// For the inner loop of a compiler that keeps its most useful buffers in a fast memory: whenever a
// buffer finds no room there, it asks whether moving a few others makes some.
//
//   | +-----+              | +-----+
//   | |  b  |              | |     | +---+
//   | +-----+              | |  b  | | c |     c finds no hole. Moving b, the smaller of the two,
//   |                      | +-----+ |   |     makes one that is large enough.
//   | +-----+    +---+     | |     | +---+
//   | |  a  |    | c |     | |  a  |
//   +-+-----+-   +---+  => +-+-----+------
#ifndef BERTH_REPACK_H_
#define BERTH_REPACK_H_

#include <cstdint>
#include <optional>

#include "berth/answer.h"
#include "berth/budget.h"
#include "berth/memories.h"
#include "berth/place.h"
#include "berth/problem.h"
#include "berth/result.h"

namespace [[gnu::visibility("default")]] berth {

struct RepackOptions {
  PlaceOptions place;  // For questions to Place(); `minimize` and `progress` do not count.
  // PlanCost::moved is at most this; at least 0. None: as much as necessary.
  std::optional<Bytes> most_moved = {};
  // Buffers that cost less to leave out make room for others. Off: what is in a memory is not left
  // out.
  bool exchange = true;
  // Nodes of each question to Place(), which is asked where moving a few buffers does not help; 0: it is
  // not asked. Where a new choice is made for several buffers at once, each question has some times more.
  std::int64_t place_nodes = 2'000;
};

// Places the buffers of `problem`, beginning with Placing::previous.
//
// Buffers stay at their previous places as long as nothing better needs their bytes. The plan is
// the best found by PlanCost: fewest buffers unplaced, then least cost, then fewest bytes moved. If
// the previous places are a plan together, it is never worse than that plan. If they are not, those
// of the least benefit give way first.
//
// Searches from the previous plan, so it is fast, and not complete: PlaceInMemories() finds and
// proves the best plan, if there is time. What is proved: PlanAnswer::cost_bound holds for every
// plan, whatever it moves. kOptimal: the least cost. If `cost_bound.moved` is that of the plan, too,
// no plan of that cost moves fewer bytes. kInfeasible: some buffer that must be placed cannot be.
//
// Without any limit in `budget` the search ends after a fixed amount of work: for some hundred
// buffers, milliseconds if all find places, and seconds if many are left out. In an inner loop, give
// the budget a limit of some milliseconds: the answer is then the best plan so far. The answer depends
// on the arguments alone unless the budget ends by time or cancellation. Errors: kInvalidProblem, kInvalidOptions; kUnsupported for more than 60 memories.
[[nodiscard]] Result<PlanAnswer> Repack(const MemoryProblem& problem, const RepackOptions& options,
                                        Budget& budget);

}  // namespace berth

#endif  // BERTH_REPACK_H_
