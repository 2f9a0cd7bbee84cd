// The experiments of M. D. Moffitt, "MiniMalloc: A Lightweight Memory Allocator for
// Hardware-Accelerated Machine Learning", ASPLOS 2023, section 8.
#include "tools/lab/suites/minimalloc.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/try.h"
#include "tools/berth/terminal.h"
#include "tools/lab/suites/suites.h"

namespace berth::lab {
namespace {

// The paper's five, and Berth's two.
std::vector<Contender> AllContenders(const Lab& lab) {
  return lab.Contenders({"csp", "meta-csp", "ilp", "telamalloc", "canonical", "niche", "auto"});
}

// --- Figure 8 --------------------------------------------------------------------------------

Result<void> Figure8(Lab& lab) {
  const double limit = lab.TimeLimit(10);
  lab.Heading("Figure 8: the original suite",
              "Models at 110 % of their least memory; medians of the processor time until a plan.");
  auto inputs = BERTH_TRY(lab.Models(lab.Inputs(11, 3)));
  const std::vector<Contender> contenders = AllContenders(lab);
  std::vector<Bout> bouts;
  bouts.reserve(inputs.size());
  for (const SuiteInput& input : inputs) {
    bouts.push_back(lab.Compare("figure 8", input, PercentOf(input.least, 110), contenders, limit,
                                lab.Rounds()));
  }
  lab.Show(TimeSheet(contenders, bouts, inputs));
  lab.Keep("figure8", BoutSheet(contenders, bouts, inputs));
  Chart chart = TimeChart(contenders, bouts, limit);
  chart.title = "Time until a plan on models";
  chart.subtitle = "After Figure 8 of MiniMalloc; at 110 % of the least memory, medians, limit " +
                   cli::FormatSeconds(limit);
  lab.Keep("figure8", chart);
  return {};
}

// --- Figure 9 --------------------------------------------------------------------------------

// All models, and generated networks to make up the number.
Result<std::vector<SuiteInput>> ManyTables(Lab& lab) {
  const std::size_t most = lab.Inputs(100, 6);
  std::vector<SuiteInput> tables = BERTH_TRY(lab.Models(most));
  for (std::uint64_t seed = 1; tables.size() < most && seed <= (lab.options().quick ? 2u : 15u);
       ++seed) {
    for (const internal::Family family :
         {internal::Family::kNetwork, internal::Family::kInference}) {
      internal::GenerateParameters parameters;
      parameters.seed = 100 + seed;
      parameters.buffers = static_cast<std::int64_t>(20 * seed);
      tables.push_back(GenerateInput(family, parameters));
    }
  }
  return tables;
}

// The share of inputs that each contender solved within each time.
Sheet ShareSheet(const std::vector<Contender>& contenders, const std::vector<Bout>& bouts) {
  const std::array<double, 5> times = {1e-4, 1e-3, 1e-2, 1e-1, 1};
  std::vector<Sheet::Column> columns = {{"share solved within", "algorithm", false}};
  for (const double time : times) {
    columns.push_back({cli::FormatSeconds(time), "within_" + SecondsCell(time).raw + "_seconds"});
  }
  columns.push_back({"the limit", "within_limit"});
  columns.push_back({"fastest", "fastest"});
  Sheet sheet(columns);
  for (std::size_t c = 0; c < contenders.size(); ++c) {
    std::vector<Cell> row = {TextCell(contenders[c].name)};
    const auto share = [&](double within) {
      const auto solved = std::count_if(bouts.begin(), bouts.end(), [&](const Bout& bout) {
        const auto seconds = SecondsOf(bout.trials[c]);
        return seconds && *seconds <= within;
      });
      return static_cast<double>(solved) / static_cast<double>(bouts.size());
    };
    if (!contenders[c].missing.empty()) {
      row.push_back(TextCell(contenders[c].missing));
      row.resize(columns.size(), NoCell());
      sheet.AddRow(std::move(row));
      continue;
    }
    for (const double time : times) row.push_back(PercentCell(share(time)));
    row.push_back(PercentCell(share(1e9)));
    const auto fastest = std::count_if(bouts.begin(), bouts.end(), [&](const Bout& bout) {
      const auto own = SecondsOf(bout.trials[c]);
      return own && std::all_of(bout.trials.begin(), bout.trials.end(), [&](const Trial& trial) {
               const auto other = SecondsOf(trial);
               return !other || *own <= *other;
             });
    });
    row.push_back(PercentCell(static_cast<double>(fastest) / static_cast<double>(bouts.size())));
    sheet.AddRow(std::move(row));
  }
  return sheet;
}

Result<void> Figure9(Lab& lab) {
  const double limit = lab.TimeLimit(1);
  lab.Heading("Figure 9: the extended suite",
              "All models and generated networks at 105, 110 and 150 % of their least memory; the "
              "share solved within each time, by the medians of processor time.");
  std::vector<SuiteInput> tables = BERTH_TRY(ManyTables(lab));
  lab.FindLeast(tables);
  const std::vector<Contender> contenders = AllContenders(lab);
  std::vector<Bout> bouts;
  std::vector<SuiteInput> inputs;
  for (const int percent : {105, 110, 150}) {
    for (const SuiteInput& table : tables) {
      inputs.push_back(table);
      bouts.push_back(lab.Compare("figure 9, " + std::to_string(percent) + " %", table,
                                  PercentOf(table.least, percent), contenders, limit,
                                  lab.Rounds()));
    }
  }
  const Sheet sheet = ShareSheet(contenders, bouts);
  lab.Show(sheet);
  lab.Keep("figure9-shares", sheet);
  lab.Keep("figure9", BoutSheet(contenders, bouts, inputs));
  Chart chart = SolvedChart(contenders, bouts, limit);
  chart.title = "Share of models and networks placed within a time";
  chart.subtitle = "After Figure 9 of MiniMalloc; " +
                   cli::FormatCount(static_cast<std::int64_t>(bouts.size())) +
                   " inputs at 105, 110 and 150 % of their least memory";
  lab.Keep("figure9", chart);
  return {};
}

// --- Figure 10 -------------------------------------------------------------------------------

// The packings of one size, and the runs on them.
struct SizeRun {
  std::int64_t buffers = 0;
  std::vector<Contender> running;  // Those that are not run have a reason in `missing`.
  std::vector<SuiteInput> inputs;
  std::vector<Bout> bouts;

  [[nodiscard]] std::int64_t Solved(std::size_t contender) const {
    return std::count_if(bouts.begin(), bouts.end(), [contender](const Bout& bout) {
      return SecondsOf(bout.trials[contender]).has_value();
    });
  }
  // Of all packings; one that was not solved counts with the limit.
  [[nodiscard]] double MedianSeconds(std::size_t contender, double limit) const {
    std::vector<double> seconds;
    for (const Bout& bout : bouts) {
      seconds.push_back(SecondsOf(bout.trials[contender]).value_or(limit));
    }
    return Median(seconds);
  }
  // Fewer than half are solved, or half: the median is not known.
  [[nodiscard]] bool AtLimit(std::size_t contender) const {
    return 2 * Solved(contender) <= static_cast<std::int64_t>(bouts.size());
  }
};

SizeRun RunSize(Lab& lab, std::int64_t buffers, std::vector<Contender> running, double limit) {
  SizeRun run{buffers, std::move(running), {}, {}};
  const std::size_t instances = lab.Inputs(25, 1);
  for (std::size_t instance = 0; instance < instances; ++instance) {
    internal::GenerateParameters parameters;
    parameters.seed = 1000 * static_cast<std::uint64_t>(buffers) + instance + 1;
    parameters.buffers = buffers;
    parameters.steps = 40;
    SuiteInput input = GenerateInput(internal::Family::kPlanted, parameters);
    input.bound = input.least;
    run.bouts.push_back(lab.Compare("figure 10, " + std::to_string(buffers) + " buffers", input,
                                    parameters.capacity, run.running, limit, 1));
    run.inputs.push_back(std::move(input));
  }
  return run;
}

// All sizes; a contender that has solved nothing at two sizes in a row is not run at larger ones.
std::vector<SizeRun> RunSizes(Lab& lab, const std::vector<Contender>& contenders, double limit) {
  std::vector<SizeRun> runs;
  std::vector<int> barren(contenders.size(), 0);  // Sizes in a row without a plan.
  for (std::int64_t buffers = 20; buffers <= 60; buffers += lab.options().quick ? 20 : 2) {
    std::vector<Contender> running = contenders;
    for (std::size_t c = 0; c < contenders.size(); ++c) {
      if (running[c].missing.empty() && barren[c] >= 2) running[c].missing = "not run";
    }
    runs.push_back(RunSize(lab, buffers, std::move(running), limit));
    for (std::size_t c = 0; c < contenders.size(); ++c) {
      if (!runs.back().running[c].missing.empty()) continue;
      barren[c] = runs.back().Solved(c) == 0 ? barren[c] + 1 : 0;
    }
  }
  return runs;
}

// One row for each size: how many each contender solved, and its median time.
Sheet SizeSheet(const std::vector<Contender>& contenders, const std::vector<SizeRun>& runs,
                double limit) {
  std::vector<Sheet::Column> columns = {{"buffers", "buffers"}, {"instances", "instances"}};
  for (const Contender& contender : contenders) {
    columns.push_back({contender.name, contender.key + "_solved"});
    columns.push_back({"median", contender.key + "_median_seconds"});
  }
  Sheet sheet(columns);
  for (const SizeRun& run : runs) {
    std::vector<Cell> row = {CountCell(run.buffers),
                             CountCell(static_cast<std::int64_t>(run.bouts.size()))};
    for (std::size_t c = 0; c < contenders.size(); ++c) {
      const std::string& missing = run.running[c].missing;
      row.push_back(missing.empty() ? CountCell(run.Solved(c)) : TextCell(missing));
      row.push_back(!missing.empty() ? NoCell()
                    : run.AtLimit(c) ? Cell{"> " + cli::FormatSeconds(limit), ""}
                                     : SecondsCell(run.MedianSeconds(c, limit)));
    }
    sheet.AddRow(std::move(row));
  }
  return sheet;
}

// A line for each contender, a point for each size: `value` gives it.
template <typename Value>
Chart SizeChart(const std::vector<Contender>& contenders, const std::vector<SizeRun>& runs,
                const Value& value) {
  Chart chart;
  for (std::size_t c = 0; c < contenders.size(); ++c) {
    const Contender& contender = contenders[c];
    ChartSeries series{
        contender.name + (contender.missing.empty() ? "" : " (" + contender.missing + ")"),
        ChartSeries::Style::kLine,
        {},
        contender.look};
    for (const SizeRun& run : runs) {
      if (run.running[c].missing.empty()) series.points.push_back(value(run, c));
    }
    chart.series.push_back(std::move(series));
  }
  chart.x = {"buffers", ChartUnit::kNone, false, 20.0, 60.0, {}};
  return chart;
}

Result<void> Figure10(Lab& lab) {
  const double limit = lab.TimeLimit(1);
  lab.Heading(
      "Figure 10: the synthetic suite",
      "Packings of 20 to 60 buffers that are known to fit, with no byte to spare. An algorithm "
      "that has solved nothing at two sizes in a row is not run at larger ones.");
  const std::vector<Contender> contenders = AllContenders(lab);
  const std::vector<SizeRun> runs = RunSizes(lab, contenders, limit);
  std::vector<SuiteInput> inputs;
  std::vector<Bout> bouts;
  for (const SizeRun& run : runs) {
    inputs.insert(inputs.end(), run.inputs.begin(), run.inputs.end());
    bouts.insert(bouts.end(), run.bouts.begin(), run.bouts.end());
  }
  const Sheet sheet = SizeSheet(contenders, runs, limit);
  lab.Show(sheet);
  lab.Keep("figure10", sheet);
  lab.Keep("figure10-runs", BoutSheet(contenders, bouts, inputs));
  const std::string subtitle = "After Figure 10 of MiniMalloc; " +
                               std::to_string(runs.front().bouts.size()) +
                               " packings of each size, limit " + cli::FormatSeconds(limit);
  Chart times = SizeChart(contenders, runs, [limit](const SizeRun& run, std::size_t c) {
    const bool at_limit = run.AtLimit(c);
    return ChartPoint{static_cast<double>(run.buffers),
                      at_limit ? limit : run.MedianSeconds(c, limit),
                      at_limit,
                      {}};
  });
  times.title = "Median time until a plan, by the number of buffers";
  times.subtitle = subtitle;
  times.y = {"median time", ChartUnit::kSeconds, true, {}, limit, {}};
  times.open_means = "no plan for half of them";
  Chart shares = SizeChart(contenders, runs, [](const SizeRun& run, std::size_t c) {
    const double share = static_cast<double>(run.Solved(c)) / static_cast<double>(run.bouts.size());
    return ChartPoint{static_cast<double>(run.buffers), share, false, {}};
  });
  shares.title = "Share of packings solved, by the number of buffers";
  shares.subtitle = subtitle;
  shares.y = {"solved", ChartUnit::kPercent, false, 0.0, 1.0, {}};
  lab.Keep("figure10-times", times);
  lab.Keep("figure10-solved", shares);
  return {};
}

// --- Table 2 ---------------------------------------------------------------------------------

Result<void> Table2(Lab& lab) {
  const double limit = lab.TimeLimit(10);
  lab.Heading(
      "Table 2: the challenging suite",
      lab.has_challenging()
          ? "The published tables, capacity 1 MiB; medians of the processor time until a plan."
          : "The published tables are not here (--data): generated packings in their "
            "place, capacity 1 MiB; medians of the processor time until a plan.");
  auto inputs = BERTH_TRY(lab.Challenging(lab.Inputs(11, 2)));
  const std::vector<Contender> contenders =
      lab.Contenders({"ilp", "telamalloc", "canonical", "niche", "auto"});
  std::vector<Bout> bouts;
  for (SuiteInput& input : inputs) {
    const LoadBound bound = MaxLiveLoad(input.problem);
    input.bound = bound.lower_bound;
    bouts.push_back(
        lab.Compare("table 2", input, kChallengingCapacity, contenders, limit, lab.Rounds()));
    for (const Trial& trial : bouts.back().trials) {
      if (!trial.runs.empty() && trial.height() &&
          (input.least == 0 || *trial.height() < input.least)) {
        input.least = *trial.height();
      }
    }
  }
  lab.Show(TimeSheet(contenders, bouts, inputs));
  lab.Say("The paper: MiniMalloc 0.6 to 5.4 s, the ILP and TelaMalloc none within an hour.\n");
  lab.Keep("table2", BoutSheet(contenders, bouts, inputs));
  return {};
}

// --- Figure 11 -------------------------------------------------------------------------------

// The two tables that the paper shows; of generated ones, the first two.
Result<std::vector<SuiteInput>> ShownTables(Lab& lab) {
  auto inputs = BERTH_TRY(lab.Challenging(11));
  if (lab.has_challenging()) {
    std::erase_if(inputs, [](const SuiteInput& input) {
      return input.name != "challenging-G" && input.name != "challenging-K";
    });
  }
  inputs.resize(std::min(inputs.size(), lab.Inputs(2, 2)));
  return inputs;
}

Result<void> Figure11(Lab& lab) {
  lab.Heading("Figure 11: two plans",
              "Of the challenging tables, by MiniMalloc's search at a capacity of 1 MiB.");
  const auto inputs = BERTH_TRY(ShownTables(lab));
  const Contender contender = Lab::Contend("canonical");
  Sheet sheet({{"input", "input", false},
               {"buffers", "buffers"},
               {"load", "load_bytes"},
               {"height", "height_bytes"},
               {"nodes", "nodes"}});
  for (const SuiteInput& input : inputs) {
    lab.Progress("figure 11, " + input.name);
    const RunResult run = lab.RunAlone(contender, input, kChallengingCapacity, lab.TimeLimit(10),
                                       /*keep_offsets=*/true);
    lab.Progress("");
    const bool solved = run.verdict == Verdict::kSolved;
    const Bytes load = MaxLiveLoad(input.problem).lower_bound;
    sheet.AddRow(
        {TextCell(input.name), CountCell(static_cast<std::int64_t>(input.problem.buffers.size())),
         BytesCell(load), solved ? BytesCell(*run.height) : NoCell(), CountCell(run.nodes)});
    if (!solved) continue;
    Problem problem = input.problem;
    problem.capacity = kChallengingCapacity;
    SvgOptions options;
    options.title = input.name + ", placed by MiniMalloc's search";
    lab.Keep("figure11-" + input.name,
             WriteSvg(problem, {run.offsets, *run.height}, load, options));
  }
  lab.Show(sheet);
  lab.Keep("figure11", sheet);
  return {};
}

constexpr std::array<Experiment, 6> kExperiments = {
    {{"figure8", "Figure 8: the original suite", Figure8},
     {"figure9", "Figure 9: the extended suite", Figure9},
     {"figure10", "Figure 10: the synthetic suite", Figure10},
     {"table2", "Table 2: the challenging suite", Table2},
     {"figure11", "Figure 11: two plans", Figure11},
     {"strips", "Section 9: strip packing with fixed x", StripPacking}}};

}  // namespace

const Suite& MiniMallocSuite() {
  static constexpr Suite kSuite = {
      "minimalloc",
      "M. D. Moffitt, \"MiniMalloc: A Lightweight Memory Allocator for Hardware-Accelerated "
      "Machine Learning\", ASPLOS 2023",
      kExperiments};
  return kSuite;
}

}  // namespace berth::lab
