// place/minimize.h -- the smallest capacity, with a proved bound.
#ifndef BERTH_PLACE_MINIMIZE_H_
#define BERTH_PLACE_MINIMIZE_H_

#include <cstdint>
#include <functional>
#include <string_view>

#include "berth/budget.h"
#include "model/heights.h"
#include "place/incumbent.h"
#include "place/strategy.h"

namespace berth::internal {

// What decides whether there is a plan of at most some height.
struct Decider {
  Heights heights;          // That plans can have.
  std::int64_t dive_nodes;  // With fewer nodes than this hardly any plan is found.
  std::function<SearchAnswer(Bytes capacity, std::int64_t node_limit)> decide;
  std::function<std::string_view()> finder;  // Who gave the last answer.
  // Lowers the plan by other means, for about as long as `nodes` take. May be empty.
  std::function<void(std::int64_t nodes)> repair = nullptr;
};

// Lowers the plan of `incumbent`, which must have one, and raises its bound, until they meet,
// `node_limit` nodes are spent or the budget ends. A search that gives up changes neither. True if
// more nodes might have helped.
bool Minimize(const Decider& decider, Incumbent& incumbent, std::int64_t node_limit,
              Budget& budget);

}  // namespace berth::internal

#endif  // BERTH_PLACE_MINIMIZE_H_
