// The experiments of M. Maas, U. Beaunon, A. Chauhan and B. Ilbeyi, "TelaMalloc: Efficient On-Chip
// Memory Allocation for Production Machine Learning Accelerators", ASPLOS 2023, sections 7 and 8.
// Figure 3 is in live_memory.cc, section 7.2 in sensitivity.cc.
#include "tools/lab/suites/telamalloc.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <string>
#include <utility>

#include "base/try.h"
#include "tools/berth/terminal.h"
#include "tools/lab/suites/strategies.h"
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
      if (point.spread) {
        point.spread = {{point.spread->first / *seconds, point.spread->second / *seconds}};
      }
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
  bouts.reserve(inputs.size());
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
  chart.subtitle = "After Figures 12 and 13 of TelaMalloc; medians, least and most; limit " +
                   cli::FormatSeconds(limit);
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

// The policy, the single strategies, and Berth's own search over the same propagation.
constexpr std::array<Strategy, 6> kStrategies = {
    {{"candidates", "TelaMalloc", "telamalloc", "telamalloc.strategy", "candidates", 1},
     {"size", "largest size", "telamalloc", "telamalloc.strategy", "size", 0, true},
     {"area", "largest area", "telamalloc", "telamalloc.strategy", "area", 2, true},
     {"lifetime", "longest lifetime", "telamalloc", "telamalloc.strategy", "lifetime", 5, true},
     {"lowest", "lowest position", "telamalloc", "telamalloc.strategy", "lowest", 4, true},
     {"guided", "Berth guided", "guided", "", "", 3}}};

// Seconds for each run: long enough for the steps to end it, not the time.
double StrategyLimit(const Lab& lab) { return lab.options().time_limit.value_or(300); }

std::string StrategyLimitText(const Lab& lab) {
  return "At most " + cli::FormatCount(lab.Steps()) + " steps (and " +
         cli::FormatSeconds(StrategyLimit(lab)) +
         ") each. A failure is an input on which no plan was found.";
}

// Every strategy on `inputs`. Files begin with `name`.
void CompareStrategies(Lab& lab, const std::string& name, const std::vector<SuiteInput>& inputs) {
  const StrategyRuns runs = RunStrategies(lab, "figure 14", kStrategies, inputs, kPercents,
                                          lab.Steps(), StrategyLimit(lab));
  lab.Keep(name + "-runs", RunSheet(runs));
  const Sheet failures = FailureSheet(runs);
  const Sheet steps = StepSheet(runs);
  lab.Show(failures);
  lab.Show(steps);
  lab.Keep(name + "-failures", failures);
  lab.Keep(name + "-steps", steps);
  lab.Keep(name + "-failures", FailureChart(runs));
  lab.Keep(name + "-steps", StepsChart(runs));
}

Result<void> Figure14(Lab& lab) {
  lab.Heading("Figure 14: strategies of choosing a block",
              "The same propagation for all, the heuristic off; Berth's guided search, which "
              "learns, beside the policy and the single strategies. " +
                  StrategyLimitText(lab));
  CompareStrategies(lab, "figure14", BERTH_TRY(ManyInputs(lab)));
  lab.Say(
      "The paper: 27 to 37 times fewer inputs at the step limit than each single strategy, 1.36 to "
      "1.80 times fewer steps, on 1,192 inputs of its own.\n");
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

constexpr std::array<Experiment, 9> kExperiments = {
    {{"figure3", "Figure 3: memory in use over time", LiveMemory},
     {"table1", "Table 1: the time of a step", Table1},
     {"table2", "Table 2: what the baseline heuristic needs", Table2},
     {"figure13", "Figures 12 and 13: time until a plan", Figure13},
     {"figure14", "Figure 14: strategies of choosing a block", Figure14},
     {"figure14-on-chip", "Figure 14 on what fast memories keep of the models", Figure14OnChip},
     {"steps", "Section 8.3: a model at every step", StepModels},
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
