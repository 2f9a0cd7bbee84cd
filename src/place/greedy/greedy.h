// place/greedy/greedy.h -- placement one buffer at a time, without a second thought.
//
// The algorithms that compilers and runtimes use today, each as its source describes it, and the
// fast first step of Berth's own default. packer.h explains them; docs/algorithms/greedy.md shows what
// they achieve.
#ifndef BERTH_PLACE_GREEDY_GREEDY_H_
#define BERTH_PLACE_GREEDY_GREEDY_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "berth/place.h"
#include "model/instance.h"

namespace berth::internal::greedy {

// The offsets that one greedy algorithm (kContention ... kXlaBestFit) gives. Pinned buffers come
// first and the rest around them, which always works when there is no limit to the height.
[[nodiscard]] std::vector<Bytes> PlaceGreedy(const Instance& instance, Algorithm algorithm);
// The same; nothing if `stop`, which is asked now and then, returns true before there are any.
[[nodiscard]] std::optional<std::vector<Bytes>> PlaceGreedy(const Instance& instance,
                                                            Algorithm algorithm,
                                                            const std::function<bool()>& stop);

// The lowest plan of several of them, hints honoured where that costs nothing; of equally low ones
// that of the first. `stop_at`: a height at which to stop looking. Ends early when the time of `budget`
// is up, with a plan: that of the first algorithm or, for thousands of buffers, one that takes no
// time (shelves.h). Only a search of more than kMostAfterCancel buffers that is cancelled before the
// first plan has none. Otherwise the answer does not depend on `threads`.
// Cost: 0.3 s for 28,000 buffers, 3,000 live at once, on one thread.
struct GreedyAnswer {
  std::vector<Bytes> offsets;
  Bytes height = 0;
  Algorithm algorithm = Algorithm::kGreedy;  // Which one found it; kGreedy where it has no name.
};
[[nodiscard]] std::optional<GreedyAnswer> PlaceGreedyPortfolio(const Problem& problem,
                                                               const Instance& instance,
                                                               Bytes stop_at, int threads,
                                                               const Budget& budget);

}  // namespace berth::internal::greedy

#endif  // BERTH_PLACE_GREEDY_GREEDY_H_
