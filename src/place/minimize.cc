// The smallest capacity, by asking an exact search about capacities between the bound and the
// plan.
//
// Which capacity to ask about is a gamble. The bound itself settles everything if it works, and it
// often does: on real tables the load is usually the optimum. One grain below the plan is the
// easiest improvement to find, and the only question whose "no" proves the plan optimal. The middle
// halves what is open, whichever way it comes out. No search knows beforehand which of them is
// easy, so each gets the same number of nodes, and the number doubles when all of them gave up.
// Nothing is ever concluded from giving up.

#include "place/minimize.h"

#include <algorithm>
#include <array>

#include "base/arithmetic.h"
#include "base/check.h"

namespace berth::internal {
namespace {

using Verdict = SearchAnswer::Verdict;

constexpr std::int64_t kFirstRoundNodes = 2000;
constexpr std::int64_t kMostRoundNodes = std::int64_t{1} << 60;

}  // namespace

bool Minimize(const Decider& decider, Incumbent& incumbent, std::int64_t node_limit,
              Budget& budget) {
  BERTH_CHECK(incumbent.has_plan());
  const Bytes grain = decider.grain;
  std::int64_t left = node_limit;
  // Every canonical plan is a whole number of grains high.
  incumbent.RaiseBound(std::min(RoundUp(incumbent.lower_bound(), grain), incumbent.height()));
  std::int64_t round = std::max(kFirstRoundNodes, decider.dive_nodes);
  while (!incumbent.is_optimal()) {
    bool learned = false;
    bool gave_up = false;
    for (const int question : {0, 1, 2}) {
      if (incumbent.is_optimal()) return false;
      const Bytes lowest = incumbent.lower_bound();
      const Bytes highest = RoundDown(incumbent.height() - 1, grain);
      if (highest < lowest) {
        // The plan is less than a grain above the bound: a canonical plan would be no lower.
        incumbent.RaiseBound(incumbent.height());
        return false;
      }
      const Bytes middle = lowest + RoundDown((highest - lowest) / 2, grain);
      const Bytes capacity =
          std::array{lowest, middle, highest}[static_cast<std::size_t>(question)];
      if ((question == 1 && middle == lowest) || (question == 2 && highest == lowest)) continue;
      const SearchAnswer answer = decider.decide(capacity, std::min(round, left));
      left -= answer.nodes;
      if (answer.verdict == Verdict::kFound) {
        incumbent.Offer(answer.offsets, decider.finder());
        learned = true;
      } else if (answer.verdict == Verdict::kImpossible) {
        incumbent.RaiseBound(std::min(capacity + grain, incumbent.height()));
        learned = true;
      } else {
        if (left <= 0 || budget.Exhausted()) return true;
        gave_up |= answer.verdict == Verdict::kGaveUp;
      }
    }
    if (learned) continue;       // Ask again at the same price.
    if (!gave_up) return false;  // More nodes would not help.
    if (round < kMostRoundNodes) round *= 2;
  }
  return false;
}

}  // namespace berth::internal
