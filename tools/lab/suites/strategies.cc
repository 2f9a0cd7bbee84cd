#include "tools/lab/suites/strategies.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <functional>
#include <iterator>
#include <optional>
#include <utility>

#include "base/try.h"
#include "tools/berth/terminal.h"
#include "tools/generate/on_chip.h"
#include "tools/generate/variant.h"

namespace berth::lab {
namespace {

// Seeds of each generated table; more where more inputs are asked for.
constexpr std::uint64_t kSeeds = 3;

// The tables of models and the challenging ones, with variants of these; their names are unique.
Result<std::vector<SuiteInput>> PublishedInputs(Lab& lab, const std::vector<SuiteInput>& models) {
  constexpr std::size_t kAll = 1'000'000;
  std::vector<SuiteInput> inputs;
  auto challenging = BERTH_TRY(lab.Challenging(kAll));
  if (lab.has_challenging()) {
    internal::VariantParameters parameters;
    for (std::size_t i = 0; i < challenging.size(); i += 2, ++parameters.seed) {
      const SuiteInput& original = challenging[i];
      auto variant = BERTH_TRY(internal::MakeVariant(original.problem, parameters));
      inputs.push_back({"variants", original.name + "-variant", std::move(variant)});
    }
  }
  inputs.insert(inputs.end(), models.begin(), models.end());
  std::move(challenging.begin(), challenging.end(), std::back_inserter(inputs));
  return inputs;
}

// Generated tables, from some that any order places to some that none does.
void AddGenerated(std::uint64_t seed, bool quick, std::vector<SuiteInput>& inputs) {
  struct Kind {
    internal::Family family;
    std::vector<std::int64_t> buffers;
    std::optional<Step> steps;
    std::optional<std::int64_t> live;
  };
  const std::array<Kind, 5> kinds = {{{internal::Family::kPlanted, {30, 50, 100, 200}, {}, {}},
                                      {internal::Family::kFull, {20, 30, 40, 60}, Step{20}, {}},
                                      {internal::Family::kNetwork, {50, 100, 200, 400}, {}, {}},
                                      {internal::Family::kInference, {50, 100, 200, 400}, {}, {}},
                                      {internal::Family::kRandom, {150, 200, 300, 400}, {}, 15}}};
  for (const Kind& kind : kinds) {
    for (const std::int64_t buffers : kind.buffers) {
      if (quick && buffers > 100) continue;
      internal::GenerateParameters parameters;
      parameters.seed = seed;
      parameters.buffers = buffers;
      parameters.steps = kind.steps;
      parameters.live = kind.live;
      inputs.push_back(GenerateInput(kind.family, parameters));
    }
  }
}

// What fast memories of a quarter, a half and three quarters of their load keep of the models: what
// the paper's allocator has to place.
void AddOnChip(const std::vector<SuiteInput>& models, std::uint64_t seed,
               std::vector<SuiteInput>& inputs) {
  for (const SuiteInput& model : models) {
    for (const int percent : {25, 50, 75}) {
      const Bytes capacity = PercentOf(MaxLiveLoad(model.problem).load, percent);
      SuiteInput input{"on-chip",
                       model.name + "-in-" + std::to_string(percent) + "%-" + std::to_string(seed),
                       internal::KeepOnChip(model.problem, capacity, seed)};
      input.problem.capacity.reset();
      if (!input.problem.buffers.empty()) inputs.push_back(std::move(input));
    }
  }
}

// As many tables as --inputs asks for, if it does. Error: kInvalidOptions for too many.
Result<std::optional<std::size_t>> TablesWanted(const Lab& lab) {
  constexpr std::int64_t kMostInputs = 100'000;
  const auto inputs = lab.options().inputs;
  if (!inputs) return std::nullopt;
  if (*inputs > kMostInputs) {
    return Fail(ErrorCode::kInvalidOptions,
                "--inputs: " + std::to_string(*inputs) +
                    " is more than the 100,000 that figure14 makes at most");
  }
  return static_cast<std::size_t>(
      std::max<std::int64_t>(*inputs / static_cast<std::int64_t>(kPercents.size()), 1));
}

// All models; two of them for --quick.
Result<std::vector<SuiteInput>> ModelsToPlace(Lab& lab) {
  constexpr std::size_t kAll = 1'000'000;
  return lab.Models(lab.options().quick ? 2 : kAll, false);
}

// One row of failures: some of the runs, one count for each strategy.
std::vector<Cell> FailureRow(const std::string& what, const StrategyRuns& all,
                             const std::function<bool(const StrategyRun&)>& of) {
  std::vector<StrategyRun const*> runs;
  for (const StrategyRun& run : all.runs) {
    if (of(run)) runs.push_back(&run);
  }
  std::vector<Cell> row = {TextCell(what), CountCell(static_cast<std::int64_t>(runs.size()))};
  std::vector<std::int64_t> failed;
  for (std::size_t s = 0; s < all.strategies.size(); ++s) {
    failed.push_back(std::count_if(runs.begin(), runs.end(),
                                   [s](const StrategyRun* run) { return !run->Solved(s); }));
    row.push_back(CountCell(failed.back()));
  }
  std::optional<std::int64_t> best;
  for (std::size_t s = 0; s < all.strategies.size(); ++s) {
    if (all.strategies[s].is_single) best = std::min(best.value_or(failed[s]), failed[s]);
  }
  if (!best) return row;
  row.push_back(failed[0] > 0
                    ? RatioCell(static_cast<double>(*best) / static_cast<double>(failed[0]))
                    : NoCell());
  return row;
}

}  // namespace

Result<std::vector<SuiteInput>> ManyInputs(Lab& lab) {
  const bool quick = lab.options().quick;
  const auto wanted = BERTH_TRY(TablesWanted(lab));
  const auto models = BERTH_TRY(ModelsToPlace(lab));
  std::vector<SuiteInput> inputs;
  if (!quick) inputs = BERTH_TRY(PublishedInputs(lab, models));
  const std::uint64_t least = quick ? 1 : kSeeds;
  for (std::uint64_t seed = 1; seed <= least || inputs.size() < wanted.value_or(0); ++seed) {
    AddGenerated(seed, quick, inputs);
    if (wanted && (seed == 1 || seed > least)) AddOnChip(models, seed, inputs);
  }
  if (wanted) inputs = SpreadOut(std::move(inputs), *wanted);
  lab.FindLeast(inputs);
  return inputs;
}

Result<std::vector<SuiteInput>> OnChipInputs(Lab& lab) {
  const auto wanted = BERTH_TRY(TablesWanted(lab));
  const auto models = BERTH_TRY(ModelsToPlace(lab));
  std::vector<SuiteInput> inputs;
  for (std::uint64_t seed = 1; seed == 1 || inputs.size() < wanted.value_or(0); ++seed) {
    const std::size_t before = inputs.size();
    AddOnChip(models, seed, inputs);
    if (inputs.size() == before) break;  // The memories are too small for any buffer.
  }
  if (wanted) inputs = SpreadOut(std::move(inputs), *wanted);
  lab.FindLeast(inputs);
  return inputs;
}

Chart FailureChart(const StrategyRuns& all) {
  Chart chart;
  chart.title = "Inputs on which each strategy of choosing a block fails";
  chart.subtitle = "After Figure 14 of TelaMalloc; " +
                   cli::FormatCount(static_cast<std::int64_t>(all.runs.size())) +
                   " inputs, at most " + cli::FormatCount(all.cap) + " steps each";
  chart.x.label = "inputs without a plan";
  chart.x.first = 0;
  ChartSeries limit{"step limit reached", ChartSeries::Style::kBars, {}, 0};
  ChartSeries gave_up{"ended before it", ChartSeries::Style::kBars, {}, 1};
  for (std::size_t s = 0; s < all.strategies.size(); ++s) {
    chart.y.categories.emplace_back(all.strategies[s].title);
    std::int64_t at_limit = 0;
    std::int64_t before = 0;
    for (const StrategyRun& run : all.runs) {
      if (run.Solved(s)) continue;
      ++(run.runs[s].out_of_budget ? at_limit : before);
    }
    const auto row = static_cast<double>(s);
    limit.points.push_back({static_cast<double>(at_limit), row, false, {}});
    gave_up.points.push_back({static_cast<double>(before), row, false, {}});
  }
  chart.series = {limit, gave_up};
  chart.stacked = true;
  chart.height = 380;
  return chart;
}

Chart StepsChart(const StrategyRuns& all) {
  Chart chart;
  chart.title = "Steps until a plan, by the strategy of choosing a block";
  chart.subtitle = "After Figure 14 of TelaMalloc; " +
                   cli::FormatCount(static_cast<std::int64_t>(all.runs.size())) + " inputs";
  chart.x = {"steps", ChartUnit::kNone, true, 10.0, static_cast<double>(all.cap), {}};
  chart.y = {"inputs solved", ChartUnit::kPercent, false, {}, 1.0, {}};
  for (std::size_t s = 0; s < all.strategies.size(); ++s) {
    ChartSeries series{std::string(all.strategies[s].title),
                       ChartSeries::Style::kSteps,
                       {},
                       all.strategies[s].look};
    std::vector<double> steps;
    for (const StrategyRun& run : all.runs) {
      if (run.Solved(s)) steps.push_back(static_cast<double>(run.runs[s].nodes));
    }
    std::sort(steps.begin(), steps.end());
    for (std::size_t i = 0; i < steps.size(); ++i) {
      series.points.push_back(
          {steps[i], static_cast<double>(i + 1) / static_cast<double>(all.runs.size()), false, {}});
    }
    chart.series.push_back(std::move(series));
  }
  return chart;
}

StrategyRuns RunStrategies(Lab& lab, const std::string& what, std::span<const Strategy> strategies,
                           std::span<const SuiteInput> inputs, std::span<const int> percents,
                           std::int64_t cap, double limit) {
  std::vector<Contender> contenders;
  for (const Strategy& strategy : strategies) {
    Contender contender = Lab::Contend(strategy.contender);
    if (!strategy.setting.empty()) {
      contender.runner.baseline_options.settings[std::string(strategy.setting)] = strategy.value;
    }
    contender.runner.node_limit = cap;
    contenders.push_back(std::move(contender));
  }
  StrategyRuns all{strategies, inputs, percents, cap, {}};
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    for (const int percent : percents) {
      all.runs.push_back({i, percent, std::vector<RunResult>(strategies.size())});
    }
  }
  const std::size_t count = all.runs.size() * strategies.size();
  std::atomic<std::size_t> begun{0};
  ForEach(count, lab.options().jobs, [&](std::size_t k) {
    StrategyRun& run = all.runs[k / strategies.size()];
    const SuiteInput& input = inputs[run.input];
    lab.Progress(what + ", run " + std::to_string(++begun) + " of " + std::to_string(count));
    const std::size_t s = k % strategies.size();
    run.runs[s] = lab.RunAlone(contenders[s], input, PercentOf(input.least, run.percent), limit);
  });
  lab.Progress("");
  return all;
}

Sheet RunSheet(const StrategyRuns& all) {
  Sheet sheet({{"family", "family", false},
               {"input", "input", false},
               {"buffers", "buffers"},
               {"percent", "percent_of_least"},
               {"capacity", "capacity_bytes"},
               {"strategy", "strategy", false},
               {"status", "status", false},
               {"steps", "steps"},
               {"failures", "failures"},
               {"minor", "minor_backtracks"},
               {"major", "major_backtracks"},
               {"time", "seconds"}});
  for (const StrategyRun& run : all.runs) {
    const SuiteInput& input = all.inputs[run.input];
    for (std::size_t s = 0; s < all.strategies.size(); ++s) {
      const RunResult& result = run.runs[s];
      const std::string status = result.verdict == Verdict::kSolved ? "solved"
                                 : result.nodes >= all.cap          ? "step limit"
                                 : result.out_of_budget             ? "time limit"
                                                        : std::string(ToString(result.verdict));
      sheet.AddRow({TextCell(input.family), TextCell(input.name),
                    CountCell(static_cast<std::int64_t>(input.problem.buffers.size())),
                    CountCell(run.percent), BytesCell(PercentOf(input.least, run.percent)),
                    TextCell(all.strategies[s].name), TextCell(status), CountCell(result.nodes),
                    CountCell(result.stats.failures), CountCell(result.stats.minor_backtracks),
                    CountCell(result.stats.major_backtracks),
                    SecondsCell(result.wall.value_or(0))});
    }
  }
  return sheet;
}

Sheet FailureSheet(const StrategyRuns& all) {
  std::vector<Sheet::Column> columns = {{"failures", "inputs_of", false}, {"inputs", "inputs"}};
  for (const Strategy& strategy : all.strategies) {
    columns.push_back({std::string(strategy.title), std::string(strategy.name)});
  }
  const bool has_single = std::any_of(all.strategies.begin(), all.strategies.end(),
                                      [](const Strategy& strategy) { return strategy.is_single; });
  if (has_single) columns.push_back({"best single : TelaMalloc", "best_single_to_policy"});
  Sheet failures(columns);
  std::vector<std::string> families;
  for (const SuiteInput& input : all.inputs) {
    if (std::find(families.begin(), families.end(), input.family) == families.end()) {
      families.push_back(input.family);
    }
  }
  for (const std::string& family : families) {
    failures.AddRow(FailureRow(family, all, [&](const StrategyRun& run) {
      return all.inputs[run.input].family == family;
    }));
  }
  for (const int percent : all.percents) {
    if (all.percents.size() == 1) break;  // The same as all.
    failures.AddRow(
        FailureRow("at " + std::to_string(percent) + " % of the least", all,
                   [percent](const StrategyRun& run) { return run.percent == percent; }));
  }
  failures.AddRow(FailureRow("all", all, [](const StrategyRun&) { return true; }));
  return failures;
}

Sheet StepSheet(const StrategyRuns& all) {
  Sheet steps({{"strategy", "strategy", false},
               {"solved", "solved"},
               {"failed", "failed"},
               {"at the step limit", "failed_at_step_limit"},
               {"before it", "failed_before_it"},
               {"at the time limit", "failed_at_time_limit"},
               {"steps in all", "steps"},
               {"backtracks", "backtracks"},
               {"both solved", "solved_with_policy"},
               {"steps : " + std::string(all.strategies[0].title) + "'s, geometric mean",
                "geometric_mean_of_steps_to_policy"}});
  for (std::size_t s = 0; s < all.strategies.size(); ++s) {
    std::int64_t solved = 0;
    std::int64_t at_limit = 0;
    std::int64_t out_of_time = 0;
    std::int64_t total = 0;
    std::int64_t backtracks = 0;
    std::int64_t both = 0;
    double logarithms = 0;
    for (const StrategyRun& run : all.runs) {
      const RunResult& result = run.runs[s];
      total += result.nodes;
      backtracks += result.stats.minor_backtracks + result.stats.major_backtracks;
      solved += run.Solved(s) ? 1 : 0;
      const bool full = !run.Solved(s) && result.nodes >= all.cap;
      at_limit += full ? 1 : 0;
      out_of_time += !run.Solved(s) && !full && result.out_of_budget ? 1 : 0;
      if (!run.Solved(s) || !run.Solved(0)) continue;
      ++both;
      logarithms += std::log(static_cast<double>(std::max<std::int64_t>(result.nodes, 1)) /
                             static_cast<double>(std::max<std::int64_t>(run.runs[0].nodes, 1)));
    }
    const auto failed = static_cast<std::int64_t>(all.runs.size()) - solved;
    steps.AddRow(
        {TextCell(all.strategies[s].title), CountCell(solved), CountCell(failed),
         CountCell(at_limit), CountCell(failed - at_limit - out_of_time), CountCell(out_of_time),
         CountCell(total), CountCell(backtracks), CountCell(both),
         both == 0 ? NoCell() : RatioCell(std::exp(logarithms / static_cast<double>(both)))});
  }
  return steps;
}

}  // namespace berth::lab
