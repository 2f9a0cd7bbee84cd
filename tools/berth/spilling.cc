#include "tools/berth/spilling.h"

#include <utility>

#include "src/base/try.h"
#include "tools/berth/checked.h"

namespace berth::internal {

Result<PlanAnswer> SolveSpills(const Graph& graph, const Counting& counting, Bytes capacity,
                               std::vector<Order> orders, bool fixed_order, Budget& budget,
                               const PlaceOptions& place) {
  SpillOptions options;
  options.capacity = capacity;
  options.counting = counting;
  options.fixed_order = fixed_order;
  options.orders = std::move(orders);
  options.placer = [&place](const Problem& problem, Budget& own) {
    return Place(problem, place, own);
  };
  PlanAnswer answer = BERTH_TRY(PlanWithSpills(graph, options, budget));
  VerifyOrDie(graph, counting, answer);
  return answer;
}

}  // namespace berth::internal
