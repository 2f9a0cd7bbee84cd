// place/disjunctive/disjunctive.h -- exact placement by deciding which of two buffers lies above.
#ifndef BERTH_PLACE_DISJUNCTIVE_DISJUNCTIVE_H_
#define BERTH_PLACE_DISJUNCTIVE_DISJUNCTIVE_H_

#include <memory>

#include "model/instance.h"
#include "place/strategy.h"

namespace berth::internal::disjunctive {

// `overlaps` must outlive the search. Unlike the canonical search it is complete whatever the gaps
// and windows look like: it is never inconclusive. Cost: exponential in the number of pairs in the
// worst case; a node costs the number of pairs. Memory: all pairs of buffers that meet.
[[nodiscard]] std::unique_ptr<Search> MakeSearch(const Instance& instance,
                                                 const Overlaps& overlaps);

}  // namespace berth::internal::disjunctive

#endif  // BERTH_PLACE_DISJUNCTIVE_DISJUNCTIVE_H_
