// Figure 3 of TelaMalloc: how high the memory in use reaches, step by step, under an allocator that
// knows nothing of lifetimes, a heuristic and a solver. The paper's solver is an integer program;
// here it is `auto`, as no program solves these tables within an hour (Table 2 of MiniMalloc).
#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "base/try.h"
#include "tools/berth/terminal.h"
#include "tools/lab/suites/telamalloc.h"

namespace berth::lab {
namespace {

constexpr std::array<std::string_view, 3> kAllocators = {"bfc", "heuristic", "auto"};

// One input under each allocator; without offsets where one has no plan.
struct Filled {
  const SuiteInput* input = nullptr;
  std::array<RunResult, kAllocators.size()> runs;
};

// The first step of each stretch in which the same buffers are live, and the end of the last.
std::vector<Step> Changes(const Problem& problem) {
  std::set<Step> steps;
  for (const Buffer& buffer : problem.buffers) steps.insert({buffer.start, buffer.end});
  return {steps.begin(), steps.end()};
}

// The end of the highest buffer that is live at `step`.
Bytes TopAt(const Problem& problem, const std::vector<Bytes>& offsets, Step step) {
  Bytes top = 0;
  for (std::size_t b = 0; b < problem.buffers.size(); ++b) {
    const Buffer& buffer = problem.buffers[b];
    if (buffer.start <= step && step < buffer.end) top = std::max(top, offsets[b] + buffer.size);
  }
  return top;
}

// Without a capacity, as low as they come, where an allocator does not use it.
Filled Fill(Lab& lab, const SuiteInput& input, const std::vector<Contender>& contenders) {
  Filled filled{&input, {}};
  for (std::size_t c = 0; c < contenders.size(); ++c) {
    lab.Progress("figure 3, " + input.name + ", " + contenders[c].name);
    const bool limited = contenders[c].key == "auto";
    filled.runs[c] = lab.RunAlone(contenders[c], input,
                                  limited ? std::optional(kChallengingCapacity) : std::nullopt,
                                  lab.TimeLimit(10), /*keep_offsets=*/true);
  }
  lab.Progress("");
  return filled;
}

Sheet HeightSheet(const std::vector<Contender>& contenders, const std::vector<Filled>& all) {
  std::vector<Sheet::Column> columns = {
      {"input", "input", false}, {"buffers", "buffers"}, {"limit", "limit_bytes"}};
  for (const Contender& contender : contenders) {
    columns.push_back({contender.name, contender.key + "_bytes"});
    columns.push_back({": limit", contender.key + "_ratio_to_limit"});
  }
  Sheet sheet(columns);
  for (const Filled& filled : all) {
    std::vector<Cell> row = {
        TextCell(filled.input->name),
        CountCell(static_cast<std::int64_t>(filled.input->problem.buffers.size())),
        BytesCell(kChallengingCapacity)};
    for (const RunResult& run : filled.runs) {
      row.push_back(run.height ? BytesCell(*run.height) : NoCell());
      row.push_back(run.height ? RatioCell(static_cast<double>(*run.height) /
                                           static_cast<double>(kChallengingCapacity))
                               : NoCell());
    }
    sheet.AddRow(std::move(row));
  }
  return sheet;
}

// One row for each change of what is live.
Sheet StepSheet(const std::vector<Contender>& contenders, const Filled& filled) {
  std::vector<Sheet::Column> columns = {{"step", "step"}};
  for (const Contender& contender : contenders) {
    columns.push_back({contender.name, contender.key + "_bytes"});
  }
  Sheet sheet(columns);
  const Problem& problem = filled.input->problem;
  for (const Step step : Changes(problem)) {
    std::vector<Cell> row = {CountCell(step)};
    for (const RunResult& run : filled.runs) {
      row.push_back(run.offsets.empty() ? NoCell() : BytesCell(TopAt(problem, run.offsets, step)));
    }
    sheet.AddRow(std::move(row));
  }
  return sheet;
}

Chart LiveChart(const std::vector<Contender>& contenders, const Filled& filled) {
  const Problem& problem = filled.input->problem;
  const std::vector<Step> steps = Changes(problem);
  Chart chart;
  chart.title = "How high the memory in use reaches: " + filled.input->name;
  chart.subtitle = "After Figure 3 of TelaMalloc";
  chart.x.label = "step";
  chart.y = {"end of the highest live buffer", ChartUnit::kBytes, false, 0.0, {}, {}};
  for (std::size_t c = 0; c < contenders.size(); ++c) {
    const std::vector<Bytes>& offsets = filled.runs[c].offsets;
    if (offsets.empty()) continue;
    ChartSeries series{contenders[c].name, ChartSeries::Style::kSteps, {}, contenders[c].look};
    for (const Step step : steps) {
      const Bytes top = TopAt(problem, offsets, step);
      series.points.push_back({static_cast<double>(step), static_cast<double>(top), false, {}});
    }
    chart.series.push_back(std::move(series));
  }
  ChartSeries limit{"the limit", ChartSeries::Style::kLine, {}, 6};
  for (const Step step : {steps.front(), steps.back()}) {
    limit.points.push_back(
        {static_cast<double>(step), static_cast<double>(kChallengingCapacity), false, {}});
  }
  chart.series.push_back(std::move(limit));
  return chart;
}

}  // namespace

Result<void> LiveMemory(Lab& lab) {
  lab.Heading(
      "Figure 3: memory in use over time",
      "The challenging tables with a limit of 1 MiB: TensorFlow's allocator, simulated, which "
      "learns of a buffer when it is requested, the baseline heuristic, which knows "
      "lifetimes, and `auto`. The picture is of the table of which the heuristic needs "
      "most.");
  const auto inputs = BERTH_TRY(lab.Challenging(lab.Inputs(11, 2)));
  std::vector<Contender> contenders;
  for (const std::string_view key : kAllocators) contenders.push_back(Lab::Contend(key));
  std::vector<Filled> all;
  for (const SuiteInput& input : inputs) all.push_back(Fill(lab, input, contenders));
  const Sheet sheet = HeightSheet(contenders, all);
  lab.Show(sheet);
  lab.Keep("figure3", sheet);
  const auto drawn = std::max_element(all.begin(), all.end(), [](const Filled& a, const Filled& b) {
    return a.runs[1].height < b.runs[1].height;
  });
  lab.Keep("figure3-steps", StepSheet(contenders, *drawn));
  lab.Keep("figure3", LiveChart(contenders, *drawn));
  return {};
}

}  // namespace berth::lab
