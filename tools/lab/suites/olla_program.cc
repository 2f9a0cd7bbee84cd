// OLLA's integer program against our search.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/try.h"
#include "berth/graph.h"
#include "berth/olla.h"
#include "tools/berth/checked.h"
#include "tools/berth/model.h"
#include "tools/berth/terminal.h"
#include "tools/lab/suites/olla.h"

namespace berth::lab {

Result<OllaRun> RunOlla(const Graph& graph, const OllaOptions& options, double limit) {
  Budget budget;
  const ProcessorLimit processor_limit(budget, limit);
  const double start = ProcessorSeconds();
  OllaRun run;
  run.answer = BERTH_TRY(ScheduleByOlla(graph, options, budget));
  run.seconds = ProcessorSeconds() - start;
  return run;
}

Result<std::vector<GraphInput>> ProgramInputs(Lab& lab, std::int64_t most_operators) {
  auto inputs = lab.Graphs(lab.Inputs(kAllInputs, 1));
  if (!inputs || !lab.options().tables.empty()) return inputs;
  const bool quick = lab.options().quick;
  for (const internal::GraphFamily family :
       {internal::GraphFamily::kIrregular, internal::GraphFamily::kCell}) {
    for (const std::int64_t operators : {8, 12, 16, 20, 30, 40}) {
      if (operators > (quick ? 8 : most_operators)) continue;
      for (std::uint64_t seed = 1; seed <= (quick ? 1U : 2U); ++seed) {
        internal::GraphParameters parameters;
        parameters.seed = seed;
        parameters.operators = operators;
        parameters.width = family == internal::GraphFamily::kIrregular ? 4 : 2;
        parameters.stored_percent = 50;
        inputs->push_back(GenerateGraphInput(family, parameters));
      }
    }
  }
  return inputs;
}

namespace {

// After this number of real graphs in a row whose program is not closed, none is tried.
constexpr int kMostOpenInARow = 3;
// Of the generated graphs.
constexpr std::int64_t kMostOperators = 40;

// What our search says of the program's answer: nothing, or how they contradict each other.
std::string Contradiction(const OllaAnswer& olla, const PlanAnswer& ours) {
  const auto bytes = [](Bytes value) { return cli::FormatBytesExactly(value); };
  if (olla.plan.best->peak() < ours.peak_bound) {
    return "OLLA's order has a peak of " + bytes(olla.plan.best->peak()) +
           ", below what was proved to be needed, " + bytes(ours.peak_bound);
  }
  if (olla.plan.peak_bound > ours.best->peak()) {
    return "OLLA's program says that no order has a peak below " + bytes(olla.plan.peak_bound) +
           ", but ours has " + bytes(ours.best->peak());
  }
  return {};
}

// One graph: its program beside our search.
struct Comparison {
  const GraphInput* input = nullptr;
  std::int64_t variables = 0;
  PlanAnswer ours;
  double seconds = 0;           // Of our search.
  std::optional<OllaRun> olla;  // None: not tried.
  std::string agreement;        // "same"; empty for a program that is not closed.
  bool same = false;
  bool higher = false;  // By control edges.
  [[nodiscard]] bool real() const { return input->group != "generated"; }
  [[nodiscard]] bool closed() const { return olla && olla->closed(); }
  [[nodiscard]] double ratio() const { return olla->seconds / seconds; }
};

// Of all inputs, the least program first; nothing but the sizes is known yet.
Result<std::vector<Comparison>> BySize(const Lab& lab, const std::vector<GraphInput>& inputs) {
  std::vector<Comparison> comparisons;
  for (const GraphInput& input : inputs) {
    lab.Progress("ilp, size of " + input.name);
    Comparison comparison;
    comparison.input = &input;
    comparison.variables = BERTH_TRY(CountOllaVariables(input.graph, {}));
    comparisons.push_back(std::move(comparison));
  }
  std::stable_sort(
      comparisons.begin(), comparisons.end(),
      [](const Comparison& a, const Comparison& b) { return a.variables < b.variables; });
  return comparisons;
}

// Control edges leave orders out; without them the two must agree again.
Result<std::string> AgreementWithoutEdges(Lab& lab, const Comparison& comparison, double limit) {
  OllaOptions without;
  without.early_updates = false;
  const OllaRun again = BERTH_TRY(RunOlla(comparison.input->graph, without, limit));
  if (!again.closed()) return std::string();
  const PlanAnswer& ours = comparison.ours;
  if (again.answer.plan.best->peak() == ours.best->peak()) return std::string("; same without");
  if (ours.best->peak() == ours.peak_bound) {
    lab.Note(comparison.input->name + ": OLLA's program without control edges calls a peak of " +
             cli::FormatBytesExactly(again.answer.plan.best->peak()) + " the least; ours is " +
             cli::FormatBytesExactly(ours.best->peak()));
  }
  return std::string("; and without");
}

// Says how the closed program's peak compares with ours.
Result<void> Agree(Lab& lab, double limit, Comparison& comparison) {
  const OllaAnswer& olla = comparison.olla->answer;
  const PlanAnswer& ours = comparison.ours;
  comparison.same = olla.plan.best->peak() == ours.best->peak();
  if (comparison.same) {
    comparison.agreement = "same";
  } else if (olla.control_edges > 0 && olla.plan.best->peak() > ours.best->peak()) {
    comparison.higher = true;
    comparison.agreement =
        "higher by its control edges" + BERTH_TRY(AgreementWithoutEdges(lab, comparison, limit));
  } else if (ours.best->peak() != ours.peak_bound) {
    comparison.agreement = "ours is open";
  } else {
    comparison.agreement = "other";
    lab.Note(comparison.input->name + ": OLLA's program calls a peak of " +
             cli::FormatBytesExactly(olla.plan.best->peak()) + " the least; ours is " +
             cli::FormatBytesExactly(ours.best->peak()));
  }
  return {};
}

Result<void> Try(Lab& lab, double limit, Comparison& comparison) {
  const GraphInput& input = *comparison.input;
  lab.Progress("ilp, " + input.name + ", CBC");
  comparison.olla = BERTH_TRY(RunOlla(input.graph, {}, limit));
  const OllaAnswer& olla = comparison.olla->answer;
  cli::VerifyOrDie(input.graph, {}, std::nullopt, *olla.plan.best);
  if (const std::string fault = Contradiction(olla, comparison.ours); !fault.empty()) {
    lab.Note(input.name + ": " + fault);
  }
  if (comparison.closed()) BERTH_TRY(Agree(lab, limit, comparison));
  return {};
}

Sheet EmptySheet() {
  return Sheet({{"graph", "graph", false},
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
}

std::vector<Cell> RowOf(const Comparison& comparison) {
  std::vector<Cell> row = {
      TextCell(comparison.input->name),
      CountCell(static_cast<std::int64_t>(comparison.input->graph.operators.size())),
      CountCell(comparison.variables)};
  const Cell peak = BytesCell(comparison.ours.best->peak());
  const Cell seconds = SecondsCell(comparison.seconds);
  if (!comparison.olla) {
    row.insert(row.end(), {NoCell(), NoCell(), TextCell("not tried"), NoCell(), NoCell(), peak,
                           seconds, TextCell(""), NoCell()});
    return row;
  }
  const OllaAnswer& olla = comparison.olla->answer;
  const std::string status = comparison.closed()                      ? "closed"
                             : olla.plan.stopped == StopReason::kSize ? "too large"
                             : olla.found                             ? "limit"
                                                                      : "no order";
  row.insert(row.end(),
             {CountCell(olla.constraints), CountCell(olla.control_edges), TextCell(status),
              olla.found ? BytesCell(olla.plan.best->peak()) : NoCell(),
              SecondsCell(comparison.olla->seconds), peak, seconds, TextCell(comparison.agreement),
              comparison.closed() ? RatioCell(comparison.ratio()) : NoCell()});
  return row;
}

Sheet Summary(const std::vector<Comparison>& comparisons) {
  Sheet summary({{"graphs", "graphs", false},
                 {"", "count"},
                 {"tried", "tried"},
                 {"closed", "closed"},
                 {"same peak", "same_peak"},
                 {"higher by control edges", "higher_by_control_edges"},
                 {"its time : ours, median", "median_ratio"},
                 {"least", "least_ratio"},
                 {"most", "most_ratio"}});
  for (const bool real : {false, true}) {
    std::int64_t graphs = 0;
    std::int64_t tried = 0;
    std::int64_t same = 0;
    std::int64_t higher = 0;
    std::vector<double> ratios;  // Of the closed ones.
    for (const Comparison& comparison : comparisons) {
      if (comparison.real() != real) continue;
      ++graphs;
      tried += comparison.olla ? 1 : 0;
      same += comparison.same ? 1 : 0;
      higher += comparison.higher ? 1 : 0;
      if (comparison.closed()) ratios.push_back(comparison.ratio());
    }
    if (graphs == 0) continue;
    std::vector<Cell> cells = {TextCell(real ? "real" : "generated"),
                               CountCell(graphs),
                               CountCell(tried),
                               CountCell(static_cast<std::int64_t>(ratios.size())),
                               CountCell(same),
                               CountCell(higher)};
    if (ratios.empty()) {
      cells.insert(cells.end(), 3, NoCell());
    } else {
      const auto [least, most] = std::minmax_element(ratios.begin(), ratios.end());
      cells.insert(cells.end(), {RatioCell(Median(ratios)), RatioCell(*least), RatioCell(*most)});
    }
    summary.AddRow(std::move(cells));
  }
  return summary;
}

Chart TimesBySize(const std::vector<Comparison>& comparisons, double limit) {
  ChartSeries closed{"OLLA's program, closed", ChartSeries::Style::kPoints, {}, 1};
  ChartSeries open{"OLLA's program, not closed", ChartSeries::Style::kPoints, {}, 5};
  ChartSeries own{"our search", ChartSeries::Style::kPoints, {}, 0};
  for (const Comparison& comparison : comparisons) {
    const auto variables = static_cast<double>(comparison.variables);
    const std::string& name = comparison.input->name;
    own.points.push_back({variables, comparison.seconds, false, name});
    if (!comparison.olla) continue;
    (comparison.closed() ? closed : open)
        .points.push_back({variables, comparison.olla->seconds, !comparison.closed(), name});
  }
  Chart chart;
  chart.title = "OLLA's integer program against our search";
  chart.subtitle = "Equation 14 by CBC, limit " + cli::FormatSeconds(limit);
  chart.x = {"variables of the program", ChartUnit::kNone, true, {}, {}, {}};
  chart.y = {"processor time", ChartUnit::kSeconds, true, {}, {}, {}};
  chart.series = {closed, open, own};
  return chart;
}

}  // namespace

Result<void> IntegerProgram(Lab& lab) {
  const double limit = lab.TimeLimit(60);
  lab.Heading(
      "OLLA's integer program for the order (14)",
      "As published, its control edges for weight updates included, against our search: do the two "
      "agree, and what does each take? Processor time, the smallest program first; limit " +
          cli::FormatSeconds(limit) +
          ". After three real graphs in a row that it does not close, larger ones are not tried.");
  if (!lab.HasIlp()) return {};
  const auto inputs = BERTH_TRY(ProgramInputs(lab, kMostOperators));
  std::vector<Comparison> comparisons = BERTH_TRY(BySize(lab, inputs));
  Sheet sheet = EmptySheet();
  int open_in_a_row = 0;  // Of real graphs.
  for (Comparison& comparison : comparisons) {
    lab.Progress("ilp, " + comparison.input->name);
    auto ordered = BERTH_TRY(OrderAll(lab, "ilp", {*comparison.input}, lab.Rounds()));
    comparison.ours = std::move(ordered.front().answer);
    comparison.seconds = std::max(ordered.front().seconds, 1e-6);
    if (!comparison.real() || open_in_a_row < kMostOpenInARow) {
      BERTH_TRY(Try(lab, limit, comparison));
      if (comparison.real()) open_in_a_row = comparison.closed() ? 0 : open_in_a_row + 1;
    }
    sheet.AddRow(RowOf(comparison));
    lab.Keep("ilp", sheet);  // Row by row: it takes long, and may be interrupted.
  }
  lab.Progress("");
  const Sheet summary = Summary(comparisons);
  lab.Show(sheet);
  lab.Show(summary);
  lab.Keep("ilp", sheet);
  lab.Keep("ilp-summary", summary);
  lab.Keep("ilp", TimesBySize(comparisons, limit));
  return {};
}

}  // namespace berth::lab
