// Section 8.3 of TelaMalloc: "a single, shallow decision tree that executes at every step of the
// search". Which of four heuristics is followed first at a decision point, by a fixed rule, at random,
// or by a tree trained on other inputs; the rest of the policy is the same for all.
#include <array>
#include <iterator>
#include <utility>

#include "base/try.h"
#include "tools/berth/terminal.h"
#include "tools/lab/suites/strategies.h"
#include "tools/lab/suites/telamalloc.h"

namespace berth::lab {
namespace {

constexpr std::array<Strategy, 8> kStrategies = {
    {{"published", "TelaMalloc", "telamalloc", "telamalloc.order", "published", 1},
     {"lowest-first", "lowest first", "telamalloc", "telamalloc.order", "lowest-first", 6},
     {"random", "at random", "telamalloc", "telamalloc.order", "random", 7},
     {"model", "model", "telamalloc", "telamalloc.order", "model", 3},
     {"size", "largest size", "telamalloc", "telamalloc.strategy", "size", 0, true},
     {"area", "largest area", "telamalloc", "telamalloc.strategy", "area", 2, true},
     {"lifetime", "longest lifetime", "telamalloc", "telamalloc.strategy", "lifetime", 5, true},
     {"lowest", "lowest position", "telamalloc", "telamalloc.strategy", "lowest", 4, true}}};

}  // namespace

Result<void> StepModels(Lab& lab) {
  const std::int64_t cap = lab.Steps();
  const double limit =
      lab.options().time_limit.value_or(300);  // The steps end a run, not the time.
  lab.Heading("Section 8.3: a model at every step",
              "The policy with the candidates of each decision point in another order, and the "
              "single strategies, on all inputs of Figure 14; the heuristic off. At most " +
                  cli::FormatCount(cap) + " steps each.");
  auto inputs = BERTH_TRY(ManyInputs(lab));
  if (!lab.options().inputs) {
    auto on_chip = BERTH_TRY(OnChipInputs(lab));
    std::move(on_chip.begin(), on_chip.end(), std::back_inserter(inputs));
  }
  const StrategyRuns runs =
      RunStrategies(lab, "section 8.3", kStrategies, inputs, kPercents, cap, limit);
  const Sheet failures = FailureSheet(runs);
  const Sheet steps = StepSheet(runs);
  lab.Show(failures);
  lab.Show(steps);
  lab.Keep("steps-failures", failures);
  lab.Keep("steps", steps);
  lab.Keep("steps-runs", RunSheet(runs));
  return {};
}

}  // namespace berth::lab
