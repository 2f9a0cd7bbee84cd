// recompute/exact.h -- the cheapest sequence of a small graph, by search over states.
//
// A state is the set of operators that have run and the versions that are in memory. Running an
// operator leads to the next: for nothing the first time, then for its cost. Nothing is dropped before
// an operator needs the room, and then only as little as it needs: dropping is free at any time. States
// are visited in the order of cost (Dijkstra), so the first complete one is the cheapest. With a link a
// state also has the version of each storage that is off chip, and those with which stays have ended
// since the latest return: a copy out is paid when something comes back, as in sequence.h.
#ifndef BERTH_RECOMPUTE_EXACT_H_
#define BERTH_RECOMPUTE_EXACT_H_

#include <cstddef>
#include <optional>
#include <vector>

#include "berth/budget.h"
#include "recompute/model.h"
#include "recompute/sequence.h"

namespace berth::internal::recompute {

struct ExactAnswer {
  std::optional<Sequence> sequence;  // The cheapest; none if none fits.
  std::int64_t cost = 0;             // Proved the least, if `complete`: of `sequence` or below.
  bool complete = false;             // Nothing was left to search.
};

// With `order`, first executions run in it. Gives up beyond `most_states`. A state is a node of the
// budget.
[[nodiscard]] ExactAnswer SearchExactly(const Model& model, Bytes capacity,
                                        const std::vector<Op>* order, std::size_t most_states,
                                        Budget& budget);

}  // namespace berth::internal::recompute

#endif  // BERTH_RECOMPUTE_EXACT_H_
