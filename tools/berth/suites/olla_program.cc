// OLLA's integer program against our search.
#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "berth/graph.h"
#include "berth/olla.h"
#include "tools/berth/checked.h"
#include "tools/berth/common.h"
#include "tools/berth/model.h"
#include "tools/berth/suites/olla.h"
#include "tools/berth/terminal.h"

namespace berth::internal {
namespace {

// One run of OLLA's program (14).
struct OllaRun {
  Result<OllaAnswer> answer;
  double seconds = 0;
};

OllaRun RunOlla(const Graph& graph, const OllaOptions& options, double limit) {
  Budget budget;
  const ProcessorLimit processor_limit(budget, limit);
  const double start = ProcessorSeconds();
  OllaRun run{ScheduleByOlla(graph, options, budget), 0};
  run.seconds = ProcessorSeconds() - start;
  return run;
}

// The variables of the program, without solving it.
Result<std::int64_t> CountVariables(const Graph& graph) {
  Budget budget;
  budget.Cancel();
  const auto answer = ScheduleByOlla(graph, {}, budget);
  if (!answer) return tl::unexpected(answer.error());
  return answer->variables;
}

constexpr int kMostOpenInARow = 3;

// Real graphs, and small ones of two families.
Result<std::vector<GraphInput>> ProgramInputs(Lab& lab) {
  auto inputs = lab.Graphs(lab.Inputs(kAllInputs, 1));
  if (!inputs || !lab.options().tables.empty()) return inputs;
  const bool quick = lab.options().quick;
  for (const GraphFamily family : {GraphFamily::kIrregular, GraphFamily::kCell}) {
    for (const std::int64_t operators : {8, 12, 16, 20, 30, 40}) {
      if (quick && operators > 8) continue;
      for (std::uint64_t seed = 1; seed <= (quick ? 1u : 2u); ++seed) {
        GraphParameters parameters;
        parameters.seed = seed;
        parameters.operators = operators;
        parameters.width = family == GraphFamily::kIrregular ? 4 : 2;
        parameters.stored_percent = 50;
        inputs->push_back(GenerateGraphInput(family, parameters));
      }
    }
  }
  return inputs;
}

// What our search says of the program's answer: nothing, or how they contradict each other.
std::string Contradiction(const OllaAnswer& olla, const PlanAnswer& ours) {
  const auto bytes = [](Bytes value) { return FormatBytesExactly(value); };
  if (olla.plan.best->peak() < ours.peak_bound) {
    return "OLLA's order has a peak of " + bytes(olla.plan.best->peak()) +
           ", below what was proved to be needed, " + bytes(ours.peak_bound);
  }
  if (olla.plan.peak_bound > ours.best->peak()) {
    return "OLLA's program says that no order has a peak below " +
           bytes(olla.plan.peak_bound) + ", but ours has " + bytes(ours.best->peak());
  }
  return {};
}

}  // namespace

Result<void> IntegerProgram(Lab& lab) {
  const double limit = lab.TimeLimit(60);
  lab.Heading(
      "OLLA's integer program for the order (14)",
      "As published, its control edges for weight updates included, against our search: do the two "
      "agree, and what does each take? Processor time, the least program first; limit " +
          FormatSeconds(limit) +
          ". After three real graphs in a row that it does not close, larger ones are not tried.");
  auto inputs = ProgramInputs(lab);
  if (!inputs) return tl::unexpected(inputs.error());
  std::vector<std::pair<std::int64_t, const GraphInput*>> by_size;
  for (const GraphInput& input : *inputs) {
    lab.Progress("ilp, size of " + input.name);
    const auto variables = CountVariables(input.graph);
    if (!variables) {
      lab.Progress("");
      lab.Say("Left out: " + variables.error().message + ".");
      return {};
    }
    by_size.emplace_back(*variables, &input);
  }
  std::stable_sort(by_size.begin(), by_size.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  Sheet sheet({{"graph", "graph", false},
               {"operators", "operators"},
               {"variables", "variables"},
               {"constraints", "constraints"},
               {"control edges", "control_edges"},
               {"status", "status", false},
               {"its peak", "olla_peak_bytes"},
               {"time", "olla_seconds"},
               {"our peak", "peak_bytes"},
               {"time", "seconds"},
               {"", "agreement", false},
               {"its time : ours", "ratio"}});
  ChartSeries closed{"OLLA's program, closed", ChartSeries::Style::kPoints, {}, 1};
  ChartSeries open{"OLLA's program, not closed", ChartSeries::Style::kPoints, {}, 5};
  ChartSeries own{"our search", ChartSeries::Style::kPoints, {}, 0};
  struct Count {
    std::int64_t graphs = 0;
    std::int64_t tried = 0;
    std::int64_t closed = 0;
    std::int64_t same = 0;
    std::int64_t higher = 0;  // By control edges.
    std::vector<double> ratios;
  };
  std::map<std::string, Count> counts;
  int in_a_row = 0;
  for (const auto& [variables, input] : by_size) {
    lab.Progress("ilp, " + input->name);
    const bool real = input->group != "generated";
    Count& count = counts[real ? "real" : "generated"];
    ++count.graphs;
    const auto ordered = OrderAll(lab, "ilp", {*input}, lab.Rounds());
    if (!ordered) return tl::unexpected(ordered.error());
    const PlanAnswer& ours = ordered->front().answer;
    const double seconds = std::max(ordered->front().seconds, 1e-6);
    own.points.push_back({static_cast<double>(variables), seconds, false, input->name});
    std::vector<Cell> row = {TextCell(input->name),
                             CountCell(static_cast<std::int64_t>(input->graph.operators.size())),
                             CountCell(variables)};
    if (real && in_a_row >= kMostOpenInARow) {
      row.insert(row.end(), {NoCell(), NoCell(), TextCell("not tried"), NoCell(), NoCell(),
                             BytesCell(ours.best->peak()), SecondsCell(seconds), TextCell(""), NoCell()});
      sheet.AddRow(std::move(row));
      continue;
    }
    ++count.tried;
    lab.Progress("ilp, " + input->name + ", CBC");
    const OllaRun run = RunOlla(input->graph, {}, limit);
    if (!run.answer) return tl::unexpected(run.answer.error());
    const OllaAnswer& olla = *run.answer;
    VerifyOrDie(input->graph, {}, std::nullopt, *olla.plan.best);
    if (const std::string fault = Contradiction(olla, ours); !fault.empty()) {
      lab.Note(input->name + ": " + fault);
    }
    const bool ended = olla.found && olla.claims_optimal;
    std::string agreement;
    if (ended) {
      ++count.closed;
      count.ratios.push_back(run.seconds / seconds);
      const bool same = olla.plan.best->peak() == ours.best->peak();
      const bool proved = ours.best->peak() == ours.peak_bound;
      if (same) {
        ++count.same;
        agreement = "same";
      } else if (olla.control_edges > 0 && olla.plan.best->peak() > ours.best->peak()) {
        // The edges leave orders out. Without them the two must agree again.
        ++count.higher;
        agreement = "higher by its control edges";
        OllaOptions without;
        without.early_updates = false;
        const OllaRun again = RunOlla(input->graph, without, limit);
        if (!again.answer) return tl::unexpected(again.answer.error());
        if (again.answer->found && again.answer->claims_optimal) {
          const bool agrees = again.answer->plan.best->peak() == ours.best->peak();
          agreement += agrees ? "; same without" : "; and without";
          if (!agrees && proved) {
            lab.Note(input->name + ": OLLA's program without control edges calls a peak of " +
                     FormatBytesExactly(again.answer->plan.best->peak()) + " the least; ours is " +
                     FormatBytesExactly(ours.best->peak()));
          }
        }
      } else {
        agreement = proved ? "other" : "ours is open";
        if (proved) {
          lab.Note(input->name + ": OLLA's program calls a peak of " +
                   FormatBytesExactly(olla.plan.best->peak()) + " the least; ours is " +
                   FormatBytesExactly(ours.best->peak()));
        }
      }
    }
    if (real) in_a_row = ended ? 0 : in_a_row + 1;
    (ended ? closed : open)
        .points.push_back({static_cast<double>(variables), run.seconds, !ended, input->name});
    row.insert(row.end(),
               {CountCell(olla.constraints), CountCell(olla.control_edges),
                TextCell(ended                                        ? "closed"
                         : olla.plan.stopped == StopReason::kSize ? "too large"
                         : olla.found                                 ? "limit"
                                                                      : "no order"),
                olla.found ? BytesCell(olla.plan.best->peak()) : NoCell(), SecondsCell(run.seconds),
                BytesCell(ours.best->peak()), SecondsCell(seconds), TextCell(agreement),
                ended ? RatioCell(run.seconds / seconds) : NoCell()});
    sheet.AddRow(std::move(row));
    lab.Keep("ilp", sheet);  // It takes long; what there is outlasts whoever does not wait.
  }
  lab.Progress("");
  lab.Show(sheet);
  Sheet summary({{"graphs", "graphs", false},
                 {"", "count"},
                 {"tried", "tried"},
                 {"closed", "closed"},
                 {"same peak", "same_peak"},
                 {"higher by control edges", "higher_by_control_edges"},
                 {"its time : ours, median", "median_ratio"},
                 {"least", "least_ratio"},
                 {"most", "most_ratio"}});
  for (const auto& [name, count] : counts) {
    const std::vector<double>& ratios = count.ratios;
    summary.AddRow(
        {TextCell(name), CountCell(count.graphs), CountCell(count.tried), CountCell(count.closed),
         CountCell(count.same), CountCell(count.higher),
         ratios.empty() ? NoCell() : RatioCell(Median(ratios)),
         ratios.empty() ? NoCell() : RatioCell(*std::min_element(ratios.begin(), ratios.end())),
         ratios.empty() ? NoCell() : RatioCell(*std::max_element(ratios.begin(), ratios.end()))});
  }
  lab.Show(summary);
  lab.Keep("ilp", sheet);
  lab.Keep("ilp-summary", summary);
  Chart chart;
  chart.title = "OLLA's integer program against our search";
  chart.subtitle = "Equation 14 by CBC, limit " + FormatSeconds(limit);
  chart.x = {"variables of the program", ChartUnit::kNone, true, {}, {}, {}};
  chart.y = {"processor time", ChartUnit::kSeconds, true, {}, {}, {}};
  chart.series = {closed, open, own};
  lab.Keep("ilp", chart);
  return {};
}

}  // namespace berth::internal
