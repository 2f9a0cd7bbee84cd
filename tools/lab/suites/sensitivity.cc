// Section 7.2 of TelaMalloc: a byte more or less of memory sets a solver on another path, and its
// time varies. Steps instead of seconds, so that only the capacity makes a difference.
#include <algorithm>
#include <array>
#include <string>

#include "base/try.h"
#include "tools/berth/terminal.h"
#include "tools/lab/suites/telamalloc.h"

namespace berth::lab {
namespace {

struct Setting {
  std::string_view title;
  std::string_view key;
  int percent;  // Of the least memory,
  Bytes more;   // and so many bytes more.
};
// The first three are a byte apart.
constexpr std::array<Setting, 4> kSettings = {{{"110 % - 1 B", "110_percent_less_1", 110, -1},
                                               {"110 %", "110_percent", 110, 0},
                                               {"110 % + 1 B", "110_percent_plus_1", 110, 1},
                                               {"107 %", "107_percent", 107, 0}}};
constexpr std::size_t kByteApart = 3;

// The runs of one contender on one input.
struct Runs {
  const SuiteInput* input = nullptr;
  std::array<RunResult, kSettings.size()> runs;

  [[nodiscard]] double Steps(std::size_t setting) const {
    return static_cast<double>(std::max<std::int64_t>(runs[setting].nodes, 1));
  }
  [[nodiscard]] bool Solved(std::size_t setting) const {
    return runs[setting].verdict == Verdict::kSolved;
  }
  [[nodiscard]] bool SolvedAByteApart() const { return Solved(0) && Solved(1) && Solved(2); }
  // The most steps over the least, of the capacities a byte apart.
  [[nodiscard]] double Spread() const {
    const auto [least, most] = std::minmax({Steps(0), Steps(1), Steps(2)});
    return most / least;
  }
};

Sheet RunSheet(const std::vector<Contender>& contenders,
               const std::vector<std::vector<Runs>>& all) {
  std::vector<Sheet::Column> columns = {{"input", "input", false}, {"by", "algorithm", false}};
  for (const Setting& setting : kSettings) {
    columns.push_back({std::string(setting.title), "steps_at_" + std::string(setting.key)});
  }
  Sheet sheet(columns);
  for (std::size_t c = 0; c < contenders.size(); ++c) {
    for (const Runs& runs : all[c]) {
      std::vector<Cell> row = {TextCell(runs.input->name), TextCell(contenders[c].key)};
      for (std::size_t s = 0; s < kSettings.size(); ++s) {
        row.push_back(runs.Solved(s) ? CountCell(runs.runs[s].nodes) : NoCell());
      }
      sheet.AddRow(std::move(row));
    }
  }
  return sheet;
}

// One row for each contender: how much a byte matters, and three percent.
Sheet SpreadSheet(const std::vector<Contender>& contenders,
                  const std::vector<std::vector<Runs>>& all) {
  Sheet sheet({{"by", "algorithm", false},
               {"solved a byte apart", "solved_a_byte_apart"},
               {"with other steps", "with_other_steps"},
               {"most : least, largest", "largest_ratio"},
               {"solved at 107 %", "solved_at_107_percent"},
               {"steps : those at 110 %, median", "median_ratio_to_110_percent"},
               {"largest", "largest_ratio_to_110_percent"}});
  for (std::size_t c = 0; c < contenders.size(); ++c) {
    std::vector<double> spreads;
    std::vector<double> tighter;
    std::int64_t solved = 0;
    for (const Runs& runs : all[c]) {
      if (runs.SolvedAByteApart()) spreads.push_back(runs.Spread());
      solved += runs.Solved(kByteApart) ? 1 : 0;
      if (runs.Solved(kByteApart) && runs.Solved(1)) {
        tighter.push_back(runs.Steps(kByteApart) / runs.Steps(1));
      }
    }
    const auto ratio = [](const std::vector<double>& ratios, bool largest) {
      if (ratios.empty()) return NoCell();
      return RatioCell(largest ? *std::max_element(ratios.begin(), ratios.end()) : Median(ratios));
    };
    sheet.AddRow(
        {TextCell(contenders[c].name), CountCell(static_cast<std::int64_t>(spreads.size())),
         CountCell(std::count_if(spreads.begin(), spreads.end(),
                                 [](double spread) { return spread > 1; })),
         ratio(spreads, true), CountCell(solved), ratio(tighter, false), ratio(tighter, true)});
  }
  return sheet;
}

}  // namespace

Result<void> Sensitivity(Lab& lab) {
  const double limit =
      lab.options().time_limit.value_or(300);  // The steps end a run, not the time.
  lab.Heading("Section 7.2: sensitivity to the capacity",
              "Steps until a plan of the models at 110 % of their least memory, a byte less and a "
              "byte more, and at 107 %; at most " +
                  cli::FormatCount(lab.Steps()) + " each.");
  const auto inputs = BERTH_TRY(lab.Models(lab.Inputs(34, 3)));
  std::vector<Contender> contenders;
  for (const std::string_view key : {"telamalloc", "canonical", "guided", "niche"}) {
    contenders.push_back(Lab::Contend(key));
    contenders.back().runner.node_limit = lab.Steps();
  }
  std::vector<std::vector<Runs>> all(contenders.size());
  for (std::size_t c = 0; c < contenders.size(); ++c) {
    for (const SuiteInput& input : inputs) all[c].push_back({&input, {}});
  }
  ForEach(contenders.size() * inputs.size(), lab.options().jobs, [&](std::size_t k) {
    const std::size_t c = k / inputs.size();
    Runs& runs = all[c][k % inputs.size()];
    lab.Progress("section 7.2, " + runs.input->name + ", " + contenders[c].name);
    for (std::size_t s = 0; s < kSettings.size(); ++s) {
      const Bytes capacity = PercentOf(runs.input->least, kSettings[s].percent) + kSettings[s].more;
      runs.runs[s] = lab.RunAlone(contenders[c], *runs.input, capacity, limit);
    }
  });
  lab.Progress("");
  const Sheet spread = SpreadSheet(contenders, all);
  lab.Show(spread);
  lab.Keep("sensitivity", spread);
  lab.Keep("sensitivity-runs", RunSheet(contenders, all));
  return {};
}

}  // namespace berth::lab
