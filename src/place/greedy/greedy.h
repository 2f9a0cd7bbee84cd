// place/greedy/greedy.h -- placement one buffer at a time, without a second thought.
//
// The algorithms that compilers and runtimes use today, each as its source describes it, and the
// fast first step of Berth's own default.
#ifndef BERTH_PLACE_GREEDY_GREEDY_H_
#define BERTH_PLACE_GREEDY_GREEDY_H_

#include <optional>
#include <string>
#include <vector>

#include "berth/place.h"
#include "model/instance.h"

namespace berth::internal {

// Runs one greedy algorithm (kContention ... kPytorchCaching) on a compiled problem.
// Error: kUnsupported, naming the buffer, where the algorithm cannot honour a pin, an alignment or
// gaps. Only algorithms that simulate a run-time allocator refuse anything; all others place pinned
// buffers first and the rest around them, which always works when there is no limit to the height.
[[nodiscard]] Result<std::vector<Bytes>> PlaceGreedy(const Problem& problem,
                                                     const Instance& instance, Algorithm algorithm);

// The lowest plan of several of them. `stop_at`: a height at which to stop looking. Ends early, but
// never before the first plan, when `budget` says so. The answer does not depend on `threads`.
struct GreedyAnswer {
  std::vector<Bytes> offsets;
  Bytes height = 0;
  Algorithm algorithm = Algorithm::kGreedy;  // Which one found it.
};
[[nodiscard]] GreedyAnswer PlaceGreedyPortfolio(const Problem& problem, const Instance& instance,
                                                Bytes stop_at, int threads, const Budget& budget);

}  // namespace berth::internal

#endif  // BERTH_PLACE_GREEDY_GREEDY_H_
