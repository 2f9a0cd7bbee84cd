// The experiments of M. D. Moffitt, "MiniMalloc: A Lightweight Memory Allocator for
// Hardware-Accelerated Machine Learning", ASPLOS 2023, section 8.
#include <algorithm>
#include <array>
#include <utility>

#include "base/try.h"
#include "tools/berth/terminal.h"
#include "tools/lab/suites/suites.h"

namespace berth::lab {
namespace {

constexpr Bytes kChallengingCapacity = Bytes{1} << 20;  // In the names of the published tables.

// The paper's five, and Berth's two.
std::vector<Contender> AllContenders() {
  std::vector<Contender> contenders;
  for (const std::string_view key :
       {"csp", "meta-csp", "ilp", "telamalloc", "canonical", "niche", "auto"}) {
    contenders.push_back(Lab::Contend(key));
  }
  return contenders;
}

// --- Figure 8 --------------------------------------------------------------------------------

Result<void> Figure8(Lab& lab) {
  const double limit = lab.TimeLimit(10);
  lab.Heading("Figure 8: the original suite",
              "Models at 110 % of their least memory; medians of the processor time until a plan.");
  auto inputs = BERTH_TRY(lab.Models(lab.Inputs(11, 3)));
  const std::vector<Contender> contenders = AllContenders();
  std::vector<Bout> bouts;
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

Result<void> Figure9(Lab& lab) {
  const double limit = lab.TimeLimit(1);
  lab.Heading("Figure 9: the extended suite",
              "All models and generated networks at 105, 110 and 150 % of their least memory; the "
              "share solved within each time.");
  const std::size_t most = lab.Inputs(100, 6);
  auto models = BERTH_TRY(lab.Models(most));
  std::vector<SuiteInput> tables = std::move(models);
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
  lab.FindLeast(tables);
  const std::vector<Contender> contenders = AllContenders();
  std::vector<Bout> bouts;
  std::vector<SuiteInput> inputs;
  for (const int percent : {105, 110, 150}) {
    for (const SuiteInput& table : tables) {
      inputs.push_back(table);
      bouts.push_back(lab.Compare("figure 9, " + std::to_string(percent) + " %", table,
                                  PercentOf(table.least, percent), contenders, limit, 1));
    }
  }
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

Result<void> Figure10(Lab& lab) {
  const double limit = lab.TimeLimit(1);
  const bool quick = lab.options().quick;
  lab.Heading(
      "Figure 10: the synthetic suite",
      "Packings of 20 to 60 buffers that are known to fit, with no byte to spare. An algorithm "
      "that has solved nothing at two sizes in a row is not run at larger ones.");
  const std::size_t instances = lab.Inputs(25, 1);
  const std::vector<Contender> contenders = AllContenders();
  std::vector<int> barren(contenders.size(), 0);  // Sizes in a row without a plan.
  std::vector<SuiteInput> inputs;
  std::vector<Bout> bouts;
  std::vector<Sheet::Column> columns = {{"buffers", "buffers"}, {"instances", "instances"}};
  for (const Contender& contender : contenders) {
    columns.push_back({contender.name, contender.key + "_solved"});
    columns.push_back({"median", contender.key + "_median_seconds"});
  }
  Sheet sheet(columns);
  Chart times;
  Chart shares;
  for (const Contender& contender : contenders) {
    const std::string name =
        contender.name + (contender.missing.empty() ? "" : " (" + contender.missing + ")");
    times.series.push_back({name, ChartSeries::Style::kLine, {}, contender.look});
    shares.series.push_back({name, ChartSeries::Style::kLine, {}, contender.look});
  }
  for (std::int64_t buffers = 20; buffers <= 60; buffers += quick ? 20 : 2) {
    const std::size_t first = bouts.size();
    std::vector<Contender> running = contenders;
    for (std::size_t c = 0; c < contenders.size(); ++c) {
      if (running[c].missing.empty() && barren[c] >= 2) running[c].missing = "not run";
    }
    for (std::size_t instance = 0; instance < instances; ++instance) {
      internal::GenerateParameters parameters;
      parameters.seed = 1000 * static_cast<std::uint64_t>(buffers) + instance + 1;
      parameters.buffers = buffers;
      parameters.steps = 40;
      SuiteInput input = GenerateInput(internal::Family::kPlanted, parameters);
      input.bound = input.least;
      const Bytes capacity = parameters.capacity;
      bouts.push_back(lab.Compare("figure 10, " + std::to_string(buffers) + " buffers", input,
                                  capacity, running, limit, 1));
      inputs.push_back(std::move(input));
    }
    std::vector<Cell> row = {CountCell(buffers), CountCell(static_cast<std::int64_t>(instances))};
    for (std::size_t c = 0; c < contenders.size(); ++c) {
      if (!running[c].missing.empty()) {
        row.push_back(TextCell(running[c].missing));
        row.push_back(NoCell());
        continue;
      }
      std::vector<double> seconds;
      std::int64_t solved = 0;
      for (std::size_t b = first; b < bouts.size(); ++b) {
        const auto time = SecondsOf(bouts[b].trials[c]);
        seconds.push_back(time.value_or(limit));
        solved += time ? 1 : 0;
      }
      barren[c] = solved == 0 ? barren[c] + 1 : 0;
      const double median = Median(seconds);
      const bool at_limit = 2 * static_cast<std::size_t>(solved) <= instances;
      const double share = static_cast<double>(solved) / static_cast<double>(instances);
      row.push_back({CountCell(solved).text, CountCell(solved).raw});
      row.push_back(at_limit ? Cell{"> " + cli::FormatSeconds(limit), ""} : SecondsCell(median));
      const auto x = static_cast<double>(buffers);
      times.series[c].points.push_back({x, at_limit ? limit : median, at_limit, {}});
      shares.series[c].points.push_back({x, share, false, {}});
    }
    sheet.AddRow(std::move(row));
  }
  lab.Show(sheet);
  lab.Keep("figure10", sheet);
  lab.Keep("figure10-runs", BoutSheet(contenders, bouts, inputs));
  times.title = "Median time until a plan, by the number of buffers";
  shares.title = "Share of packings solved, by the number of buffers";
  const std::string subtitle = "After Figure 10 of MiniMalloc; " + std::to_string(instances) +
                               " packings of each size, limit " + cli::FormatSeconds(limit);
  times.subtitle = subtitle;
  shares.subtitle = subtitle;
  times.x = {"buffers", ChartUnit::kNone, false, 20.0, 60.0, {}};
  shares.x = times.x;
  times.y = {"median time", ChartUnit::kSeconds, true, {}, limit, {}};
  times.open_means = "no plan for half of them";
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
  std::vector<Contender> contenders;
  for (const std::string_view key : {"ilp", "telamalloc", "canonical", "niche", "auto"}) {
    contenders.push_back(Lab::Contend(key));
  }
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

constexpr std::array<Experiment, 4> kExperiments = {
    {{"figure8", "Figure 8: the original suite", Figure8},
     {"figure9", "Figure 9: the extended suite", Figure9},
     {"figure10", "Figure 10: the synthetic suite", Figure10},
     {"table2", "Table 2: the challenging suite", Table2}}};

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
