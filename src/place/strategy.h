// place/strategy.h -- what one way of placing buffers is given, and what it gives back.
//
// Every strategy is a function from an instance to offsets; only place.cc knows them all. A
// strategy never includes another.
#ifndef BERTH_PLACE_STRATEGY_H_
#define BERTH_PLACE_STRATEGY_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "berth/budget.h"
#include "berth/place.h"
#include "model/instance.h"

namespace berth::internal {

// How one exact search for a plan of at most some capacity ended.
struct SearchAnswer {
  enum class Verdict {
    kFound,
    kImpossible,    // Proved.
    kInconclusive,  // Searched all it can search and found nothing, which proves nothing.
    kGaveUp,        // Nodes or budget ended.
  };
  Verdict verdict = Verdict::kGaveUp;
  std::vector<Bytes> offsets;  // kFound: one for each buffer.
  std::int64_t nodes = 0;
  SearchStats stats;
};

}  // namespace berth::internal

#endif  // BERTH_PLACE_STRATEGY_H_
