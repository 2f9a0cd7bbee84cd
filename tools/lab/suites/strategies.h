// tools/lab/suites/strategies.h -- ways to choose the next block, compared on many inputs by steps.
//
// After Figure 14 of TelaMalloc's paper. The first strategy is the one that the others are compared
// with.
#ifndef BERTH_TOOLS_LAB_SUITES_STRATEGIES_H_
#define BERTH_TOOLS_LAB_SUITES_STRATEGIES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "berth/result.h"
#include "tools/lab/suites/lab.h"

namespace berth::lab {

// The capacities of Figure 14, of the least height.
inline constexpr std::array<int, 4> kPercents = {105, 110, 120, 150};

struct Strategy {
  std::string_view name;
  std::string_view title;
  std::string_view contender;
  std::string_view setting;  // Of the contender, and its value; empty: none.
  std::string_view value;
  int look = 0;            // In charts; as in the other figures where these have it too.
  bool is_single = false;  // Blocks in one order, without the policy.
};

// The inputs of Figure 14, with their least heights. Errors: kInvalidOptions, and those of reading tables.
// Tables that are published or generated. Where --inputs asks for a number of them: an even share of all
// sizes, with those that fast memories keep, and more seeds where these are not enough.
[[nodiscard]] Result<std::vector<SuiteInput>> ManyInputs(Lab& lab);
// What fast memories keep of the models, alone; with further seeds where --inputs asks for more.
[[nodiscard]] Result<std::vector<SuiteInput>> OnChipInputs(Lab& lab);

struct StrategyRun {
  std::size_t input;            // Of the tables.
  int percent;                  // The capacity, of the least height.
  std::vector<RunResult> runs;  // By strategy.
  [[nodiscard]] bool Solved(std::size_t strategy) const {
    return runs[strategy].verdict == Verdict::kSolved;
  }
};

struct StrategyRuns {
  std::span<const Strategy> strategies;
  std::span<const SuiteInput> inputs;
  std::span<const int> percents;
  std::int64_t cap;  // Steps of a run, at most.
  std::vector<StrategyRun> runs;
};

// Every strategy on every input at all `percents` of its least height, several runs at a time;
// `limit` in seconds. What the spans show must outlive the runs.
[[nodiscard]] StrategyRuns RunStrategies(Lab& lab, const std::string& what,
                                         std::span<const Strategy> strategies,
                                         std::span<const SuiteInput> inputs,
                                         std::span<const int> percents, std::int64_t cap,
                                         double limit);

// One row for each run.
[[nodiscard]] Sheet RunSheet(const StrategyRuns& all);
// How many inputs each strategy fails on: by family, by capacity, and of all.
[[nodiscard]] Sheet FailureSheet(const StrategyRuns& all);
// What each strategy's runs took, also on the inputs that the first solves too.
[[nodiscard]] Sheet StepSheet(const StrategyRuns& all);
[[nodiscard]] Chart FailureChart(const StrategyRuns& all);
[[nodiscard]] Chart StepsChart(const StrategyRuns& all);

}  // namespace berth::lab

#endif  // BERTH_TOOLS_LAB_SUITES_STRATEGIES_H_
