// The experiments of M. Maas, U. Beaunon, A. Chauhan and B. Ilbeyi, "TelaMalloc: Efficient On-Chip
// Memory Allocation for Production Machine Learning Accelerators", ASPLOS 2023, sections 7 and 8.
// Figure 3 is in live_memory.cc, section 7.2 in sensitivity.cc.
#include "tools/lab/suites/telamalloc.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <functional>
#include <iterator>
#include <string>
#include <utility>

#include "base/try.h"
#include "tools/berth/terminal.h"
#include "tools/generate/on_chip.h"
#include "tools/generate/variant.h"
#include "tools/lab/suites/suites.h"

namespace berth::lab {
namespace {

// --- Table 1 ---------------------------------------------------------------------------------

// N blocks that either never or always are live together, of sizes between 1 and 1000 that repeat
// no pattern, with room for all.
SuiteInput Blocks(bool overlapping, std::int64_t count) {
  SuiteInput input;
  input.family = overlapping ? "full-overlap" : "non-overlapping";
  input.name = input.family + "-" +
               (count % 1000 == 0 ? std::to_string(count / 1000) + "K" : std::to_string(count));
  std::uint64_t state = 1;
  for (std::int64_t i = 0; i < count; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const auto size = static_cast<Bytes>(1 + (state >> 33) % 1000);
    const Step start = overlapping ? 0 : i;
    input.problem.buffers.push_back({std::to_string(i), start, start + 1, size});
    input.least = overlapping ? input.least + size : std::max(input.least, size);
  }
  input.bound = input.least;
  return input;
}

Result<void> Table1(Lab& lab) {
  struct Row {
    bool overlapping;
    std::int64_t count;
    double paper_total;  // Milliseconds, of its Table 1.
    double paper_step;
  };
  constexpr std::array<Row, 4> kRows = {{{false, 1000, 12, 0.01},
                                         {false, 10000, 1260, 0.13},
                                         {true, 100, 142, 1.42},
                                         {true, 1000, 100758, 100.76}}};
  lab.Heading(
      "Table 1: the time of a step",
      "TelaMalloc's search with nothing to search for, the heuristic off; medians of processor "
      "time.");
  Sheet sheet({{"benchmark", "benchmark", false},
               {"steps", "steps"},
               {"total", "total_seconds"},
               {"a step", "step_seconds"},
               {"paper: total", "paper_total_seconds"},
               {"a step", "paper_step_seconds"}});
  const std::vector<Contender> contenders = {Lab::Contend("telamalloc")};
  const std::size_t count = lab.Inputs(kRows.size(), 3);
  std::vector<SuiteInput> inputs;
  std::vector<Bout> bouts;
  for (const Row& row : kRows) {
    // The quick run leaves the largest out: its half million pairs.
    if (bouts.size() == count) break;
    inputs.push_back(Blocks(row.overlapping, row.count));
    bouts.push_back(lab.Compare("table 1", inputs.back(), inputs.back().least, contenders,
                                lab.TimeLimit(60), lab.Rounds()));
    const Trial& trial = bouts.back().trials.front();
    const std::int64_t steps = trial.runs.front().nodes;
    const auto seconds = SecondsOf(trial);
    sheet.AddRow(
        {TextCell(inputs.back().name), CountCell(steps), seconds ? SecondsCell(*seconds) : NoCell(),
         seconds && steps > 0 ? SecondsCell(*seconds / static_cast<double>(steps)) : NoCell(),
         SecondsCell(row.paper_total / 1000), SecondsCell(row.paper_step / 1000)});
  }
  lab.Show(sheet);
  lab.Keep("table1", sheet);
  return {};
}

// --- Table 2 ---------------------------------------------------------------------------------

Result<void> Table2(Lab& lab) {
  lab.Heading("Table 2: what the baseline heuristic needs",
              "Memory in which it succeeds, relative to the least known, and its time; beside it "
              "the lowest of all of Berth's greedy algorithms. A star: the least is not proved.");
  auto inputs = BERTH_TRY(lab.Models(lab.Inputs(34, 4)));
  if (lab.has_challenging() && lab.options().tables.empty()) {
    auto challenging = BERTH_TRY(lab.Challenging(lab.Inputs(11, 2)));
    lab.FindLeast(challenging);
    std::move(challenging.begin(), challenging.end(), std::back_inserter(inputs));
  }
  Sheet sheet({{"benchmark", "benchmark", false},
               {"buffers", "buffers"},
               {"least", "least_bytes"},
               {"", "least_proved", false},
               {"heuristic needs", "heuristic_ratio"},
               {"time", "heuristic_seconds"},
               {"greedy needs", "greedy_ratio"},
               {"time", "greedy_seconds"}});
  for (SuiteInput& input : inputs) {
    std::vector<Cell> row = {TextCell(input.name),
                             CountCell(static_cast<std::int64_t>(input.problem.buffers.size())),
                             BytesCell(input.least),
                             {input.proved() ? "" : "*", input.proved() ? "1" : "0"}};
    for (const std::string_view key : {"heuristic", "greedy"}) {
      // Without a capacity: as low as it comes; all of it then counts as its minimum.
      const Contender contender = Lab::Contend(key);
      std::vector<double> times;
      std::optional<Bytes> height;
      for (int round = 0; round < lab.Rounds(); ++round) {
        lab.Progress("table 2, " + input.name + ", " + contender.name);
        const RunResult run = lab.RunAlone(contender, input, {}, {});
        if (run.height) height = run.height;
        if (run.processor) times.push_back(*run.processor);
      }
      row.push_back(height
                        ? RatioCell(static_cast<double>(*height) / static_cast<double>(input.least))
                        : NoCell());
      row.push_back(times.empty() ? NoCell() : SecondsCell(Median(times)));
    }
    sheet.AddRow(std::move(row));
  }
  lab.Progress("");
  lab.Show(sheet);
  lab.Keep("table2", sheet);
  return {};
}

// --- Figures 12 and 13 -----------------------------------------------------------------------

// Times relative to TelaMalloc's on the same input.
Chart RelativeChart(const std::vector<Contender>& contenders, const std::vector<Bout>& bouts,
                    double time_limit) {
  Chart chart = TimeChart(contenders, bouts, time_limit);
  chart.x = {
      "processor time until a plan, relative to TelaMalloc", ChartUnit::kTimes, true, {}, {}, {}};
  const auto reference = static_cast<std::size_t>(
      std::find_if(contenders.begin(), contenders.end(),
                   [](const Contender& contender) { return contender.key == "telamalloc"; }) -
      contenders.begin());
  for (ChartSeries& series : chart.series) {
    std::erase_if(series.points, [&](ChartPoint& point) {
      const auto i = static_cast<std::size_t>(std::lround(point.y));
      const auto seconds = SecondsOf(bouts[i].trials[reference]);
      if (!seconds) return true;
      point.x /= *seconds;
      return false;
    });
  }
  return chart;
}

Result<void> Figure13(Lab& lab) {
  const double limit = lab.TimeLimit(10);
  lab.Heading("Figures 12 and 13: time until a plan, at 110 % of the least memory",
              "Medians of processor time; TelaMalloc without the heuristic that is tried before "
              "it. \"no plan\": the "
              "heuristic does not succeed, or a search ended without one.");
  auto inputs = BERTH_TRY(lab.Models(lab.Inputs(11, 3)));
  const std::vector<Contender> contenders = lab.Contenders(
      {"heuristic", "ilp", "cp", "telamalloc", "canonical", "guided", "niche", "auto"});
  std::vector<Bout> bouts;
  for (const SuiteInput& input : inputs) {
    bouts.push_back(lab.Compare("figure 13", input, PercentOf(input.least, 110), contenders, limit,
                                lab.Rounds()));
  }
  lab.Show(TimeSheet(contenders, bouts, inputs));
  Sheet ratios({{"by", "algorithm", false},
                {"solved", "solved"},
                {"both", "solved_by_both"},
                {"time : TelaMalloc's, median", "median_ratio_to_telamalloc"},
                {"least", "least"},
                {"most", "most"}});
  const auto tela = static_cast<std::size_t>(3);
  for (std::size_t c = 0; c < contenders.size(); ++c) {
    std::vector<double> both;
    std::int64_t solved = 0;
    for (const Bout& bout : bouts) {
      const auto seconds = SecondsOf(bout.trials[c]);
      const auto reference = SecondsOf(bout.trials[tela]);
      solved += seconds ? 1 : 0;
      if (seconds && reference) both.push_back(*seconds / *reference);
    }
    const Contender& own = contenders[c];
    ratios.AddRow(
        {TextCell(own.missing.empty() ? own.name : own.name + " (" + own.missing + ")"),
         CountCell(solved), CountCell(static_cast<std::int64_t>(both.size())),
         both.empty() ? NoCell() : RatioCell(Median(both)),
         both.empty() ? NoCell() : RatioCell(*std::min_element(both.begin(), both.end())),
         both.empty() ? NoCell() : RatioCell(*std::max_element(both.begin(), both.end()))});
  }
  lab.Say("Their time over TelaMalloc's, where both have a plan (the paper: ILP, median 4.7):\n");
  lab.Show(ratios);
  lab.Keep("figure13", BoutSheet(contenders, bouts, inputs));
  lab.Keep("figure13-ratios", ratios);
  Chart chart = TimeChart(contenders, bouts, limit);
  chart.title = "Time until a plan at 110 % of the least memory";
  chart.subtitle =
      "After Figures 12 and 13 of TelaMalloc; medians, limit " + cli::FormatSeconds(limit);
  lab.Keep("figure13", chart);
  Chart relative = RelativeChart(contenders, bouts, limit);
  relative.title = "Time until a plan, relative to TelaMalloc";
  relative.subtitle = "After the upper half of Figure 12; at 110 % of the least memory, limit " +
                      cli::FormatSeconds(limit);
  relative.note = "Empty where TelaMalloc has no plan itself.";
  lab.Keep("figure12", relative);
  return {};
}

// --- Figure 14 -------------------------------------------------------------------------------

struct Strategy {
  std::string_view name;
  std::string_view title;
  std::string_view contender;
  int look;  // In charts; as in the other figures where these have it too.
};
// The policy, the single strategies, and Berth's own search over the same propagation.
constexpr std::array<Strategy, 6> kStrategies = {{{"candidates", "TelaMalloc", "telamalloc", 1},
                                                  {"size", "largest size", "telamalloc", 0},
                                                  {"area", "largest area", "telamalloc", 2},
                                                  {"lifetime", "longest lifetime", "telamalloc", 5},
                                                  {"lowest", "lowest position", "telamalloc", 4},
                                                  {"guided", "Berth guided", "guided", 3}}};
constexpr std::size_t kFirstSingle = 1;
constexpr std::size_t kEndSingle = 5;
constexpr std::array<int, 4> kPercents = {105, 110, 120, 150};

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

// Tables that are published or generated. Where --inputs asks for a number of them: an even share of all
// sizes, with those that fast memories keep, and more seeds where these are not enough.
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

// What fast memories keep of the models, alone; with further seeds where --inputs asks for more.
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

struct StrategyRun {
  std::size_t input;  // Of the tables.
  int percent;
  std::array<RunResult, kStrategies.size()> runs;
  [[nodiscard]] bool Solved(std::size_t strategy) const {
    return runs[strategy].verdict == Verdict::kSolved;
  }
};

// One row of failures: some of the runs, one count for each strategy.
std::vector<Cell> FailureRow(const std::string& what, const std::vector<StrategyRun>& all,
                             const std::function<bool(const StrategyRun&)>& of) {
  std::vector<StrategyRun const*> runs;
  for (const StrategyRun& run : all) {
    if (of(run)) runs.push_back(&run);
  }
  std::vector<Cell> row = {TextCell(what), CountCell(static_cast<std::int64_t>(runs.size()))};
  std::vector<std::int64_t> failed;
  for (std::size_t s = 0; s < kStrategies.size(); ++s) {
    failed.push_back(std::count_if(runs.begin(), runs.end(),
                                   [s](const StrategyRun* run) { return !run->Solved(s); }));
    row.push_back(CountCell(failed.back()));
  }
  const std::int64_t best =
      *std::min_element(failed.begin() + kFirstSingle, failed.begin() + kEndSingle);
  row.push_back(failed[0] > 0
                    ? RatioCell(static_cast<double>(best) / static_cast<double>(failed[0]))
                    : NoCell());
  return row;
}

Chart FailureChart(const std::vector<StrategyRun>& runs, std::int64_t cap) {
  Chart chart;
  chart.title = "Inputs on which each strategy of choosing a block fails";
  chart.subtitle = "After Figure 14 of TelaMalloc; " +
                   cli::FormatCount(static_cast<std::int64_t>(runs.size())) + " inputs, at most " +
                   cli::FormatCount(cap) + " steps each";
  chart.x.label = "inputs without a plan";
  chart.x.first = 0;
  ChartSeries limit{"step limit reached", ChartSeries::Style::kBars, {}, 0};
  ChartSeries gave_up{"ended before it", ChartSeries::Style::kBars, {}, 1};
  for (std::size_t s = 0; s < kStrategies.size(); ++s) {
    chart.y.categories.emplace_back(kStrategies[s].title);
    std::int64_t at_limit = 0;
    std::int64_t before = 0;
    for (const StrategyRun& run : runs) {
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

Chart StepsChart(const std::vector<StrategyRun>& runs, std::int64_t cap) {
  Chart chart;
  chart.title = "Steps until a plan, by the strategy of choosing a block";
  chart.subtitle = "After Figure 14 of TelaMalloc; " +
                   cli::FormatCount(static_cast<std::int64_t>(runs.size())) + " inputs";
  chart.x = {"steps", ChartUnit::kNone, true, 10.0, static_cast<double>(cap), {}};
  chart.y = {"inputs solved", ChartUnit::kPercent, false, {}, 1.0, {}};
  for (std::size_t s = 0; s < kStrategies.size(); ++s) {
    ChartSeries series{
        std::string(kStrategies[s].title), ChartSeries::Style::kSteps, {}, kStrategies[s].look};
    std::vector<double> steps;
    for (const StrategyRun& run : runs) {
      if (run.Solved(s)) steps.push_back(static_cast<double>(run.runs[s].nodes));
    }
    std::sort(steps.begin(), steps.end());
    for (std::size_t i = 0; i < steps.size(); ++i) {
      series.points.push_back(
          {steps[i], static_cast<double>(i + 1) / static_cast<double>(runs.size()), false, {}});
    }
    chart.series.push_back(std::move(series));
  }
  return chart;
}

// Seconds for each run: long enough for the steps to end it, not the time.
double StrategyLimit(const Lab& lab) { return lab.options().time_limit.value_or(300); }

std::string StrategyLimitText(const Lab& lab) {
  return "At most " + cli::FormatCount(lab.Steps()) + " steps (and " +
         cli::FormatSeconds(StrategyLimit(lab)) +
         ") each. A failure is an input on which no plan was found.";
}

// Every strategy on every input at every capacity, several runs at a time.
std::vector<StrategyRun> RunStrategies(Lab& lab, const std::vector<SuiteInput>& inputs,
                                       std::int64_t cap, double limit) {
  std::vector<Contender> contenders;
  for (const Strategy& strategy : kStrategies) {
    Contender contender = Lab::Contend(strategy.contender);
    if (strategy.contender == "telamalloc") {
      contender.runner.baseline_options.settings["telamalloc.strategy"] = strategy.name;
    }
    contender.runner.node_limit = cap;
    contenders.push_back(std::move(contender));
  }
  std::vector<StrategyRun> runs;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    for (const int percent : kPercents) runs.push_back({i, percent, {}});
  }
  std::atomic<std::size_t> begun{0};
  ForEach(runs.size() * kStrategies.size(), lab.options().jobs, [&](std::size_t k) {
    StrategyRun& run = runs[k / kStrategies.size()];
    const SuiteInput& input = inputs[run.input];
    lab.Progress("figure 14, run " + std::to_string(++begun) + " of " +
                 std::to_string(runs.size() * kStrategies.size()));
    const std::size_t s = k % kStrategies.size();
    run.runs[s] = lab.RunAlone(contenders[s], input, PercentOf(input.least, run.percent), limit);
  });
  lab.Progress("");
  return runs;
}

// One row for each run.
Sheet RunSheet(const std::vector<SuiteInput>& inputs, const std::vector<StrategyRun>& runs,
               std::int64_t cap) {
  Sheet all({{"family", "family", false},
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
  for (const StrategyRun& run : runs) {
    const SuiteInput& input = inputs[run.input];
    for (std::size_t s = 0; s < kStrategies.size(); ++s) {
      const RunResult& result = run.runs[s];
      const std::string status = result.verdict == Verdict::kSolved ? "solved"
                                 : result.nodes >= cap              ? "step limit"
                                 : result.out_of_budget             ? "time limit"
                                                        : std::string(ToString(result.verdict));
      all.AddRow({TextCell(input.family), TextCell(input.name),
                  CountCell(static_cast<std::int64_t>(input.problem.buffers.size())),
                  CountCell(run.percent), BytesCell(PercentOf(input.least, run.percent)),
                  TextCell(kStrategies[s].name), TextCell(status), CountCell(result.nodes),
                  CountCell(result.stats.failures), CountCell(result.stats.minor_backtracks),
                  CountCell(result.stats.major_backtracks), SecondsCell(result.wall.value_or(0))});
    }
  }
  return all;
}

// How many inputs each strategy fails on: by family, by capacity, and of all.
Sheet FailureSheet(const std::vector<SuiteInput>& inputs, const std::vector<StrategyRun>& runs) {
  std::vector<Sheet::Column> columns = {{"failures", "inputs_of", false}, {"inputs", "inputs"}};
  for (const Strategy& strategy : kStrategies) {
    columns.push_back({std::string(strategy.title), std::string(strategy.name)});
  }
  columns.push_back({"best single : TelaMalloc", "best_single_to_policy"});
  Sheet failures(columns);
  std::vector<std::string> families;
  for (const SuiteInput& input : inputs) {
    if (std::find(families.begin(), families.end(), input.family) == families.end()) {
      families.push_back(input.family);
    }
  }
  for (const std::string& family : families) {
    failures.AddRow(FailureRow(
        family, runs, [&](const StrategyRun& run) { return inputs[run.input].family == family; }));
  }
  for (const int percent : kPercents) {
    failures.AddRow(
        FailureRow("at " + std::to_string(percent) + " % of the least", runs,
                   [percent](const StrategyRun& run) { return run.percent == percent; }));
  }
  failures.AddRow(FailureRow("all", runs, [](const StrategyRun&) { return true; }));
  return failures;
}

// What each strategy's runs took, also on the inputs that TelaMalloc's policy solves too.
Sheet StepSheet(const std::vector<StrategyRun>& runs, std::int64_t cap) {
  Sheet steps({{"strategy", "strategy", false},
               {"solved", "solved"},
               {"failed", "failed"},
               {"at the step limit", "failed_at_step_limit"},
               {"before it", "failed_before_it"},
               {"at the time limit", "failed_at_time_limit"},
               {"steps in all", "steps"},
               {"both solved", "solved_with_policy"},
               {"steps : TelaMalloc's, geometric mean", "geometric_mean_of_steps_to_policy"}});
  for (std::size_t s = 0; s < kStrategies.size(); ++s) {
    std::int64_t solved = 0;
    std::int64_t at_limit = 0;
    std::int64_t out_of_time = 0;
    std::int64_t total = 0;
    std::int64_t both = 0;
    double logarithms = 0;
    for (const StrategyRun& run : runs) {
      const RunResult& result = run.runs[s];
      total += result.nodes;
      solved += run.Solved(s) ? 1 : 0;
      const bool full = !run.Solved(s) && result.nodes >= cap;
      at_limit += full ? 1 : 0;
      out_of_time += !run.Solved(s) && !full && result.out_of_budget ? 1 : 0;
      if (!run.Solved(s) || !run.Solved(0)) continue;
      ++both;
      logarithms += std::log(static_cast<double>(std::max<std::int64_t>(result.nodes, 1)) /
                             static_cast<double>(std::max<std::int64_t>(run.runs[0].nodes, 1)));
    }
    const auto failed = static_cast<std::int64_t>(runs.size()) - solved;
    steps.AddRow(
        {TextCell(kStrategies[s].title), CountCell(solved), CountCell(failed), CountCell(at_limit),
         CountCell(failed - at_limit - out_of_time), CountCell(out_of_time), CountCell(total),
         CountCell(both),
         both == 0 ? NoCell() : RatioCell(std::exp(logarithms / static_cast<double>(both)))});
  }
  return steps;
}

// Every strategy on `inputs`. Files begin with `name`.
void CompareStrategies(Lab& lab, const std::string& name, const std::vector<SuiteInput>& inputs) {
  const std::int64_t cap = lab.Steps();
  const std::vector<StrategyRun> runs = RunStrategies(lab, inputs, cap, StrategyLimit(lab));
  lab.Keep(name + "-runs", RunSheet(inputs, runs, cap));
  const Sheet failures = FailureSheet(inputs, runs);
  const Sheet steps = StepSheet(runs, cap);
  lab.Show(failures);
  lab.Show(steps);
  lab.Keep(name + "-failures", failures);
  lab.Keep(name + "-steps", steps);
  lab.Keep(name + "-failures", FailureChart(runs, cap));
  lab.Keep(name + "-steps", StepsChart(runs, cap));
}

Result<void> Figure14(Lab& lab) {
  lab.Heading("Figure 14: strategies of choosing a block",
              "The same propagation for all, the heuristic off; Berth's guided search, which "
              "learns, beside the policy and the single strategies. " +
                  StrategyLimitText(lab));
  CompareStrategies(lab, "figure14", BERTH_TRY(ManyInputs(lab)));
  lab.Say(
      "The paper: 27 to 37 times fewer failures than each single strategy, 1.36 to 1.80 times "
      "fewer steps, on 1,192 inputs of its own.\n");
  return {};
}

Result<void> Figure14OnChip(Lab& lab) {
  lab.Heading("Figure 14 on what fast memories keep of the models",
              "Of 25, 50 and 75 % of their load: nearer to what the paper's allocator has to "
              "place. " +
                  StrategyLimitText(lab));
  CompareStrategies(lab, "figure14-on-chip", BERTH_TRY(OnChipInputs(lab)));
  return {};
}

// --- Figure 19 -------------------------------------------------------------------------------

Result<void> Figure19(Lab& lab) {
  lab.Heading(
      "Figure 19: the allocation pattern",
      "Of the model at 110 % of its least memory that TelaMalloc fails most often on before "
      "it finds a plan.");
  auto inputs = BERTH_TRY(lab.Models(lab.Inputs(34, 3)));
  const Contender contender = Lab::Contend("telamalloc");
  const SuiteInput* hardest = nullptr;
  RunResult best;
  for (const SuiteInput& input : inputs) {
    lab.Progress("figure 19, " + input.name);
    RunResult run = lab.RunAlone(contender, input, PercentOf(input.least, 110), lab.TimeLimit(10),
                                 /*keep_offsets=*/true);
    if (run.verdict != Verdict::kSolved) continue;
    if (hardest != nullptr && run.stats.failures <= best.stats.failures) continue;
    hardest = &input;
    best = std::move(run);
  }
  lab.Progress("");
  if (hardest == nullptr) {
    lab.Say("No model was placed within the time limit.");
    return {};
  }
  Sheet sheet({{"model", "input", false},
               {"buffers", "buffers"},
               {"capacity", "capacity_bytes"},
               {"height", "height_bytes"},
               {"steps", "steps"},
               {"failures", "failures"}});
  sheet.AddRow({TextCell(hardest->name),
                CountCell(static_cast<std::int64_t>(hardest->problem.buffers.size())),
                BytesCell(PercentOf(hardest->least, 110)), BytesCell(*best.height),
                CountCell(best.nodes), CountCell(best.stats.failures)});
  lab.Show(sheet);
  lab.Keep("figure19", sheet);
  Problem problem = hardest->problem;
  problem.capacity = PercentOf(hardest->least, 110);
  SvgOptions options;
  options.title = hardest->name + ", placed by TelaMalloc's search";
  lab.Keep("figure19", WriteSvg(problem, {best.offsets, *best.height}, hardest->bound, options));
  return {};
}

constexpr std::array<Experiment, 8> kExperiments = {
    {{"figure3", "Figure 3: memory in use over time", LiveMemory},
     {"table1", "Table 1: the time of a step", Table1},
     {"table2", "Table 2: what the baseline heuristic needs", Table2},
     {"figure13", "Figures 12 and 13: time until a plan", Figure13},
     {"figure14", "Figure 14: strategies of choosing a block", Figure14},
     {"figure14-on-chip", "Figure 14 on what fast memories keep of the models", Figure14OnChip},
     {"sensitivity", "Section 7.2: sensitivity to the capacity", Sensitivity},
     {"figure19", "Figure 19: the allocation pattern", Figure19}}};

}  // namespace

const Suite& TelaMallocSuite() {
  static constexpr Suite kSuite = {
      "telamalloc",
      "M. Maas, U. Beaunon, A. Chauhan and B. Ilbeyi, \"TelaMalloc: Efficient On-Chip Memory "
      "Allocation for Production Machine Learning Accelerators\", ASPLOS 2023",
      kExperiments};
  return kSuite;
}

}  // namespace berth::lab
