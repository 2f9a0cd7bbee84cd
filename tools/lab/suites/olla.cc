// The experiments of B. Steiner, M. Elhoushi, J. Kahn and J. Hegarty, "OLLA: Decreasing the Memory
// Usage of Neural Networks by Optimizing the Lifetime and Location of Arrays", arXiv 2210.12924,
// section 5. The integer program against our search is in olla_program.cc, that for order
// and addresses in olla_joint.cc, those with recomputation in olla_recompute.cc and olla_recompute_peak.cc,
// Figure 8 with workspaces in olla_workspaces.cc.
#include "tools/lab/suites/olla.h"

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <map>
#include <span>
#include <utility>

#include "base/try.h"
#include "berth/plan.h"
#include "tools/berth/checked.h"
#include "tools/berth/model.h"
#include "tools/berth/terminal.h"
#include "tools/lab/suites/suites.h"

namespace berth::lab {

Result<std::vector<Ordered>> OrderAll(const Lab& lab, const std::string& what,
                                      const std::vector<GraphInput>& inputs, int rounds,
                                      const Counting& counting) {
  std::vector<Ordered> all;
  ScheduleOptions options;
  options.counting = counting;
  for (const GraphInput& input : inputs) {
    lab.Progress(what + ", order of " + input.name);
    Ordered ordered;
    ordered.input = &input;
    ordered.program_peak = Live(input.graph, ProgramOrder(input.graph), counting).peak;
    std::vector<double> seconds;
    for (int round = 0; round < rounds; ++round) {
      Budget budget;
      const ProcessorLimit processor_limit(budget, lab.TimeLimit(10));
      const double start = ProcessorSeconds();
      auto answer = Schedule(input.graph, options, budget);
      seconds.push_back(ProcessorSeconds() - start);
      if (!answer) return tl::unexpected(answer.error());
      ordered.answer = *std::move(answer);
    }
    ordered.seconds = Median(seconds);
    cli::VerifyOrDie(input.graph, counting, ordered.answer);
    all.push_back(std::move(ordered));
  }
  lab.Progress("");
  return all;
}

namespace {

double Share(Bytes part, Bytes whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

// By how much `after` is less than `before`.
double Reduction(Bytes before, Bytes after) { return Share(before - after, before); }

double Mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

// The lowest placement of what is live under the order.
Result<PlanAnswer> PlaceOrdered(const Lab& lab, const Problem& problem) {
  PlaceOptions options;
  options.minimize = true;
  Budget budget;
  const ProcessorLimit processor_limit(budget, lab.TimeLimit(10));
  auto placed = Place(problem, options, budget);
  if (placed && placed->best) {
    cli::VerifyOrDie(problem, {}, std::nullopt, *placed->best);
  }
  return placed;
}

// What is measured of each graph, for a chart and for means by group.
struct Measured {
  const GraphInput* input;
  double value;
};

std::vector<std::string> Groups(const std::vector<Measured>& all) {
  std::vector<std::string> groups;
  for (const Measured& each : all) {
    if (std::find(groups.begin(), groups.end(), each.input->group) == groups.end()) {
      groups.push_back(each.input->group);
    }
  }
  std::sort(groups.begin(), groups.end());
  return groups;
}

std::vector<double> ValuesOf(const std::vector<Measured>& all, std::string_view group) {
  std::vector<double> values;
  for (const Measured& each : all) {
    if (each.input->group == group) values.push_back(each.value);
  }
  return values;
}

// One row for each group, beside what the paper has for it.
struct Paper {
  std::string_view group;
  double mean;
};
Sheet MeanSheet(const std::vector<Measured>& all, const std::string& key,
                std::span<const Paper> papers) {
  Sheet sheet({{"graphs", "group", false},
               {"", "graphs"},
               {"mean", "mean_" + key},
               {"least", "least_" + key},
               {"most", "most_" + key},
               {"the paper: mean", "paper_mean"}});
  for (const std::string& group : Groups(all)) {
    const std::vector<double> values = ValuesOf(all, group);
    const auto paper = std::find_if(papers.begin(), papers.end(),
                                    [&](const Paper& row) { return row.group == group; });
    sheet.AddRow({TextCell(group), CountCell(static_cast<std::int64_t>(values.size())),
                  PercentCell(Mean(values)),
                  PercentCell(*std::min_element(values.begin(), values.end())),
                  PercentCell(*std::max_element(values.begin(), values.end())),
                  paper == papers.end() ? NoCell() : PercentCell(paper->mean)});
  }
  return sheet;
}

// A row for each model; in it a bar, or a point, for each of its groups.
Chart ModelChart(const std::vector<Measured>& all, const ChartAxis& x, ChartSeries::Style style) {
  Chart chart;
  chart.x = x;
  for (const Measured& each : all) {
    auto& names = chart.y.categories;
    if (std::find(names.begin(), names.end(), each.input->model) == names.end()) {
      names.push_back(each.input->model);
    }
  }
  const std::vector<std::string>& names = chart.y.categories;
  for (const std::string& group : Groups(all)) {
    ChartSeries series{group, style, {}, {}};
    for (const Measured& each : all) {
      if (each.input->group != group) continue;
      const auto row = std::find(names.begin(), names.end(), each.input->model) - names.begin();
      series.points.push_back({each.value, static_cast<double>(row), false, {}});
    }
    chart.series.push_back(std::move(series));
  }
  chart.height = 200 + 30 * static_cast<int>(names.size());
  return chart;
}

// --- Figure 7 --------------------------------------------------------------------------------

// The reductions where `counting` says what is in memory; files are called `key`.
Result<void> Reductions(Lab& lab, const std::vector<GraphInput>& inputs, const Counting& counting,
                        const std::string& key, const std::string& counted) {
  const auto all = BERTH_TRY(OrderAll(lab, "figure 7", inputs, 1, counting));
  Sheet sheet({{"graph", "graph", false},
               {"", "group", false},
               {"operators", "operators"},
               {"program order", "program_order_bytes"},
               {"updates hoisted", "hoisted_updates_bytes"},
               {"ours", "peak_bytes"},
               {"", "proved", false},
               {"reduction", "reduction"}});
  std::vector<Measured> reductions;
  for (const Ordered& ordered : all) {
    ScheduleOptions options;
    options.algorithm = ScheduleAlgorithm::kHoistedUpdates;
    options.counting = counting;
    Budget budget;
    const auto hoisted = BERTH_TRY(Schedule(ordered.input->graph, options, budget));
    const bool proved = ordered.answer.best->peak() == ordered.answer.peak_bound;
    reductions.push_back(
        {ordered.input, Reduction(ordered.program_peak, ordered.answer.best->peak())});
    sheet.AddRow({TextCell(ordered.input->name),
                  TextCell(ordered.input->group),
                  CountCell(static_cast<std::int64_t>(ordered.input->graph.operators.size())),
                  BytesCell(ordered.program_peak),
                  BytesCell(hoisted.best->peak()),
                  BytesCell(ordered.answer.best->peak()),
                  {proved ? "" : "*", proved ? "1" : "0"},
                  PercentCell(reductions.back().value)});
  }
  lab.Say("Counted: " + counted + ".\n");
  lab.Show(sheet);
  constexpr std::array<Paper, 2> kPaper = {{{"batch 1", 0.225}, {"batch 32", 0.101}}};
  const Sheet means = MeanSheet(reductions, "reduction", kPaper);
  lab.Show(means);
  lab.Keep(key, sheet);
  lab.Keep(key + "-means", means);
  Chart chart =
      ModelChart(reductions, {"reduction of the peak", ChartUnit::kPercent, false, 0.0, {}, {}},
                 ChartSeries::Style::kBars);
  chart.title = "Peak reduction by the order of operators";
  chart.subtitle = "After Figure 7 of OLLA; against program order; counted: " + counted;
  lab.Keep(key, chart);
  return {};
}

Result<void> Figure7(Lab& lab) {
  lab.Heading("Figure 7: peak reduction by the order of operators",
              "The most bytes that are live at once, in program order and in ours; what tensors "
              "take beyond that in memory is left aside. First of what operators make, then with "
              "weights and inputs, too. A star: the peak is not proved least.");
  const auto inputs = BERTH_TRY(lab.Graphs(lab.Inputs(kAllInputs, 2)));
  BERTH_TRY(Reductions(lab, inputs, {}, "figure7", "activations and gradients"));
  Counting all;
  all.inputs = true;
  all.parameters = true;
  return Reductions(lab, inputs, all, "figure7-all", "all, with weights and inputs");
}

// --- Figures 8 and 13 ------------------------------------------------------------------------

constexpr std::array<Paper, 2> kPaperFragmentation = {{{"batch 1", 0.079}, {"batch 32", 0.261}}};

}  // namespace

std::optional<double> PaperFragmentation(std::string_view group) {
  for (const Paper& paper : kPaperFragmentation) {
    if (paper.group == group) return paper.mean;
  }
  return std::nullopt;
}

Result<std::vector<Whole>> MeasureWhole(const Lab& lab, const std::string& what,
                                        const std::vector<GraphInput>& inputs) {
  auto all = BERTH_TRY(OrderAll(lab, what, inputs, 1));
  std::vector<Whole> wholes;
  for (Ordered& ordered : all) {
    lab.Progress(what + ", addresses of " + ordered.input->name);
    const Graph& graph = ordered.input->graph;
    const auto placed =
        BERTH_TRY(PlaceOrdered(lab, Live(graph, ordered.answer.best->order).problem));
    const Bytes arena = placed.best ? placed.best->height() : 0;
    wholes.push_back({std::move(ordered),
                      MeasureFootprint(Live(graph, ProgramOrder(graph)).problem,
                                       RuntimeAllocator::kPytorchCaching),
                      arena});
  }
  lab.Progress("");
  return wholes;
}

namespace {

Result<void> Figure8(Lab& lab) {
  lab.Heading(
      "Figure 8: fragmentation",
      "The share of the memory held that is not in use: of PyTorch's allocator, simulated in "
      "program order, repeated until the allocator holds no more, and of our plans. "
      "Against the most that is ever in use; at first: against what is in use at the moment when "
      "it takes the last of its memory, which is what the paper says that it measures.");
  const auto inputs = BERTH_TRY(lab.Graphs(lab.Inputs(kAllInputs, 2)));
  const auto wholes = BERTH_TRY(MeasureWhole(lab, "figure 8", inputs));
  Sheet sheet({{"graph", "graph", false},
               {"", "group", false},
               {"PyTorch holds", "reserved_bytes"},
               {"in use", "most_resident_bytes"},
               {"fragmentation", "fragmentation"},
               {"in use at first", "first_resident_bytes"},
               {"fragmentation", "first_fragmentation"},
               {"runs", "runs"},
               {"our arena", "arena_bytes"},
               {"our peak", "peak_bytes"},
               {"our fragmentation", "planned_fragmentation"}});
  std::vector<Measured> fragmentation;
  std::vector<Measured> at_first;
  for (const Whole& whole : wholes) {
    const Ordered& ordered = whole.ordered;
    const AllocatorFootprint& dynamic = whole.dynamic;
    fragmentation.push_back({ordered.input, Reduction(dynamic.reserved, dynamic.most)});
    at_first.push_back({ordered.input, Reduction(dynamic.reserved, dynamic.first)});
    sheet.AddRow({TextCell(ordered.input->name), TextCell(ordered.input->group),
                  BytesCell(dynamic.reserved), BytesCell(dynamic.most),
                  PercentCell(fragmentation.back().value), BytesCell(dynamic.first),
                  PercentCell(at_first.back().value), CountCell(dynamic.runs),
                  BytesCell(whole.arena), BytesCell(ordered.answer.best->peak()),
                  PercentCell(Reduction(whole.arena, ordered.answer.best->peak()))});
  }
  lab.Show(sheet);
  const Sheet means = MeanSheet(fragmentation, "fragmentation", kPaperFragmentation);
  lab.Say("Of PyTorch's allocator, against the most that is in use:\n");
  lab.Show(means);
  const Sheet means_at_first = MeanSheet(at_first, "fragmentation", kPaperFragmentation);
  lab.Say("At first:\n");
  lab.Show(means_at_first);
  lab.Keep("figure8", sheet);
  lab.Keep("figure8-means", means);
  lab.Keep("figure8-means-first", means_at_first);
  Chart chart =
      ModelChart(fragmentation, {"fragmentation", ChartUnit::kPercent, false, 0.0, {}, {}},
                 ChartSeries::Style::kBars);
  chart.title = "Fragmentation of PyTorch's allocator";
  chart.subtitle =
      "After Figure 8 of OLLA; simulated, in program order, against the most that is in use";
  lab.Keep("figure8", chart);
  return {};
}

Result<void> Figure13(Lab& lab) {
  lab.Heading("Figure 13: total reduction",
              "Memory that PyTorch's allocator, simulated, holds in program order, against the "
              "arena of our plan: order and addresses together.");
  const auto inputs = BERTH_TRY(lab.Graphs(lab.Inputs(kAllInputs, 2)));
  const auto wholes = BERTH_TRY(MeasureWhole(lab, "figure 13", inputs));
  Sheet sheet({{"graph", "graph", false},
               {"", "group", false},
               {"PyTorch holds", "reserved_bytes"},
               {"program order's peak", "program_order_bytes"},
               {"our arena", "arena_bytes"},
               {"reduction", "reduction"}});
  std::vector<Measured> reductions;
  for (const Whole& whole : wholes) {
    const Ordered& ordered = whole.ordered;
    reductions.push_back({ordered.input, Reduction(whole.dynamic.reserved, whole.arena)});
    sheet.AddRow({TextCell(ordered.input->name), TextCell(ordered.input->group),
                  BytesCell(whole.dynamic.reserved), BytesCell(ordered.program_peak),
                  BytesCell(whole.arena), PercentCell(reductions.back().value)});
  }
  lab.Show(sheet);
  constexpr std::array<Paper, 2> kPaper = {{{"batch 1", 0.304}, {"batch 32", 0.361}}};
  const Sheet means = MeanSheet(reductions, "reduction", kPaper);
  lab.Show(means);
  lab.Keep("figure13", sheet);
  lab.Keep("figure13-means", means);
  Chart chart =
      ModelChart(reductions, {"reduction of memory", ChartUnit::kPercent, false, 0.0, {}, {}},
                 ChartSeries::Style::kBars);
  chart.title = "Total reduction of memory";
  chart.subtitle = "After Figure 13 of OLLA; our plan against PyTorch's allocator, simulated";
  lab.Keep("figure13", chart);
  return {};
}

// --- Figure 9 --------------------------------------------------------------------------------

Result<void> Figure9(Lab& lab) {
  lab.Heading("Figure 9: ordering time",
              "Medians of processor time until the order is proved best, validation of the graph "
              "included. A star: not proved within the limit.");
  const auto inputs = BERTH_TRY(lab.Graphs(lab.Inputs(kAllInputs, 2)));
  const auto all = BERTH_TRY(OrderAll(lab, "figure 9", inputs, lab.Rounds()));
  Sheet sheet({{"graph", "graph", false},
               {"", "group", false},
               {"operators", "operators"},
               {"left to search", "searched_operators"},
               {"cuts", "cuts"},
               {"states", "states"},
               {"time", "median_seconds"},
               {"", "proved", false}});
  std::vector<Measured> times;
  std::map<std::string, std::vector<double>> by_group;
  for (const Ordered& ordered : all) {
    const bool proved = ordered.answer.best->peak() == ordered.answer.peak_bound;
    times.push_back({ordered.input, ordered.seconds});
    by_group[ordered.input->group].push_back(ordered.seconds);
    by_group["all"].push_back(ordered.seconds);
    sheet.AddRow({TextCell(ordered.input->name),
                  TextCell(ordered.input->group),
                  CountCell(static_cast<std::int64_t>(ordered.input->graph.operators.size())),
                  CountCell(ordered.answer.scheduling.stats.operators),
                  CountCell(ordered.answer.scheduling.stats.cuts),
                  CountCell(ordered.answer.scheduling.stats.states),
                  SecondsCell(ordered.seconds),
                  {proved ? "" : "*", proved ? "1" : "0"}});
  }
  lab.Show(sheet);
  Sheet medians({{"graphs", "group", false},
                 {"", "graphs"},
                 {"median", "median_seconds"},
                 {"least", "least_seconds"},
                 {"most", "most_seconds"}});
  for (const auto& [group, seconds] : by_group) {
    medians.AddRow({TextCell(group), CountCell(static_cast<std::int64_t>(seconds.size())),
                    SecondsCell(Median(seconds)),
                    SecondsCell(*std::min_element(seconds.begin(), seconds.end())),
                    SecondsCell(*std::max_element(seconds.begin(), seconds.end()))});
  }
  lab.Show(medians);
  lab.Say(
      "The paper, with Gurobi: median 1.4 s, from 0.1 to 5.2 s without EfficientNet, which took 2 "
      "and more than 5 min.\n");
  lab.Keep("figure9", sheet);
  lab.Keep("figure9-medians", medians);
  Chart chart = ModelChart(times, {"processor time", ChartUnit::kSeconds, true, {}, {}, {}},
                           ChartSeries::Style::kPoints);
  chart.title = "Ordering time";
  chart.subtitle = "After Figure 9 of OLLA; until the order is proved best";
  lab.Keep("figure9", chart);
  return {};
}

// --- Figures 10 and 12 -----------------------------------------------------------------------

// What a search had come to, and when, in seconds of processor time.
struct Moment {
  double seconds = 0;
  Bytes value = 0;
  Bytes bound = 0;
};

struct Trace {
  std::string name;
  Bytes from = 0;  // Before the search.
  std::vector<Moment> moments;
  double seconds = 0;  // In all.
  [[nodiscard]] const Moment& last() const { return moments.back(); }
  [[nodiscard]] bool proved() const { return last().value == last().bound; }
  // The first moment at which `value` or less was known.
  [[nodiscard]] double Until(Bytes value) const {
    for (const Moment& moment : moments) {
      if (moment.value <= value) return moment.seconds;
    }
    return seconds;
  }
};

// Those that took longest, the longest first.
std::vector<Trace> Hardest(std::vector<Trace> traces, std::size_t count) {
  std::stable_sort(traces.begin(), traces.end(),
                   [](const Trace& a, const Trace& b) { return a.seconds > b.seconds; });
  if (traces.size() > count) traces.resize(count);
  return traces;
}

// The rows of both figures; `value` makes a share of a number of bytes.
Sheet TraceSheet(const std::vector<Trace>& traces, const std::string& what, const std::string& key,
                 const std::function<double(const Trace&, Bytes)>& value) {
  Sheet sheet({{"graph", "graph", false},
               {what, key},
               {"first", "first_seconds"},
               {"within 1 %", "within_1_percent_seconds"},
               {"best", "best_seconds"},
               {"in all", "seconds"},
               {"", "proved", false},
               {"gap", "gap"}});
  for (const Trace& trace : traces) {
    const Bytes best = trace.last().value;
    sheet.AddRow({TextCell(trace.name),
                  PercentCell(value(trace, best)),
                  SecondsCell(trace.Until(trace.from - 1)),
                  SecondsCell(trace.Until(best + best / 100)),
                  SecondsCell(trace.Until(best)),
                  SecondsCell(trace.seconds),
                  {trace.proved() ? "proved" : "", trace.proved() ? "1" : "0"},
                  PercentCell(cli::Gap(best, trace.last().bound))});
  }
  return sheet;
}

Chart TraceChart(const std::vector<Trace>& traces, const std::string& label,
                 const std::function<double(const Trace&, Bytes)>& value) {
  Chart chart;
  chart.x = {"processor time", ChartUnit::kSeconds, true, {}, {}, {}};
  chart.y = {label, ChartUnit::kPercent, false, 0.0, {}, {}};
  for (const Trace& trace : traces) {
    ChartSeries series{trace.name, ChartSeries::Style::kSteps, {}, {}};
    for (const Moment& moment : trace.moments) {
      series.points.push_back(
          {std::max(moment.seconds, 1e-5), value(trace, moment.value), false, {}});
    }
    chart.series.push_back(std::move(series));
  }
  return chart;
}

Result<void> Figure10(Lab& lab) {
  lab.Heading("Figure 10: memory saved over time",
              "For the graphs that took longest to order, and for irregular graphs made to be "
              "hard: reduction of the peak by the best order so far.");
  auto inputs = BERTH_TRY(lab.Graphs(lab.Inputs(kAllInputs, 2)));
  constexpr std::size_t kHardest = 4;
  const auto trace_of = [&](const GraphInput& input) -> Result<Trace> {
    lab.Progress("figure 10, " + input.name);
    Trace trace{input.name, Live(input.graph, ProgramOrder(input.graph)).peak, {}, 0};
    trace.moments.push_back({0, trace.from, 0});
    const double start = ProcessorSeconds();
    ScheduleOptions options;
    options.progress = [&](const Progress& progress) {
      trace.moments.push_back({ProcessorSeconds() - start, *progress.best, progress.bound});
    };
    Budget budget;
    const ProcessorLimit processor_limit(budget, lab.TimeLimit(30));
    const auto answer = BERTH_TRY(Schedule(input.graph, options, budget));
    trace.seconds = ProcessorSeconds() - start;
    trace.moments.push_back({trace.seconds, answer.best->peak(), answer.peak_bound});
    cli::VerifyOrDie(input.graph, {}, answer);
    return trace;
  };
  std::vector<Trace> traces;
  for (const GraphInput& input : inputs) {
    auto trace = BERTH_TRY(trace_of(input));
    traces.push_back(std::move(trace));
  }
  traces = Hardest(std::move(traces), lab.options().quick ? 2 : kHardest);
  if (lab.options().tables.empty()) {
    for (std::int64_t width = 16; width <= (lab.options().quick ? 16 : 64); width *= 2) {
      internal::GraphParameters parameters;
      parameters.operators = lab.options().quick ? 60 : 400;
      parameters.width = width;
      auto trace =
          BERTH_TRY(trace_of(GenerateGraphInput(internal::GraphFamily::kIrregular, parameters)));
      traces.push_back(std::move(trace));
    }
  }
  lab.Progress("");
  const auto saved = [](const Trace& trace, Bytes peak) { return Reduction(trace.from, peak); };
  const Sheet sheet = TraceSheet(traces, "saved", "reduction", saved);
  lab.Show(sheet);
  lab.Say(
      "The paper: EfficientNet needs 2 min at batch 1, and at batch 32 5 min to come within 1 "
      "%.\n");
  lab.Keep("figure10", sheet);
  Chart chart = TraceChart(traces, "reduction of the peak", saved);
  chart.title = "Memory saved over time";
  chart.subtitle = "After Figure 10 of OLLA; reduction of the peak by the best order so far";
  lab.Keep("figure10", chart);
  return {};
}

Result<void> Figure12(Lab& lab) {
  lab.Heading("Figure 12: fragmentation over time",
              "For those that took longest to place, in our order and in program order: how far "
              "the lowest plan so far lies above the bytes that are live.");
  const auto inputs = BERTH_TRY(lab.Graphs(lab.Inputs(kAllInputs, 2)));
  const auto all = BERTH_TRY(OrderAll(lab, "figure 12", inputs, 1));
  std::vector<Trace> ours;
  std::vector<Trace> program;
  for (const Ordered& ordered : all) {
    const Graph& graph = ordered.input->graph;
    for (const bool own : {true, false}) {
      const std::string name = ordered.input->name + (own ? " (our order)" : " (program order)");
      lab.Progress("figure 12, " + name);
      const Liveness live = Live(graph, own ? ordered.answer.best->order : ProgramOrder(graph));
      Trace trace{name, std::numeric_limits<Bytes>::max(), {}, 0};
      const double start = ProcessorSeconds();
      PlaceOptions options;
      options.minimize = true;
      options.progress = [&](const Progress& progress) {
        if (!progress.best) return;
        trace.moments.push_back({ProcessorSeconds() - start, *progress.best, progress.bound});
      };
      Budget budget;
      const ProcessorLimit processor_limit(budget, lab.TimeLimit(10));
      const auto placed = BERTH_TRY(Place(live.problem, options, budget));
      trace.seconds = ProcessorSeconds() - start;
      if (!placed.best) continue;
      cli::VerifyOrDie(live.problem, {}, std::nullopt, *placed.best);
      trace.moments.push_back({trace.seconds, placed.best->height(), placed.height_bound});
      (own ? ours : program).push_back(std::move(trace));
    }
  }
  lab.Progress("");
  const std::size_t count = lab.options().quick ? 1 : 4;
  std::vector<Trace> traces = Hardest(std::move(ours), count);
  for (Trace& trace : Hardest(std::move(program), count)) traces.push_back(std::move(trace));
  // The bound is the load wherever plans reach it, and close to it elsewhere.
  const auto above = [](const Trace& trace, Bytes height) {
    return Reduction(height, std::min(height, trace.last().bound));
  };
  const Sheet sheet = TraceSheet(traces, "fragmentation", "fragmentation", above);
  lab.Show(sheet);
  lab.Say(
      "The paper: GoogleNet and EfficientNet come below 1 % in 5 min or less, all others are "
      "placed without fragmentation in a median of 5.7 s.\n");
  lab.Keep("figure12", sheet);
  Chart chart = TraceChart(traces, "above the bound", above);
  chart.title = "Fragmentation over time";
  chart.subtitle = "After Figure 12 of OLLA; of the lowest plan so far";
  lab.Keep("figure12", chart);
  return {};
}

// --- Figure 11 -------------------------------------------------------------------------------

// The median and the longest time of each contender that placed a graph, and how many it placed.
Sheet AddressMedians(const std::vector<Contender>& shown, const std::vector<Bout>& bouts) {
  Sheet medians({{"by", "algorithm", false},
                 {"placed", "placed"},
                 {"of", "graphs"},
                 {"median of these", "median_seconds"},
                 {"most", "most_seconds"}});
  for (std::size_t c = 0; c < shown.size(); ++c) {
    std::vector<double> times;
    for (const Bout& bout : bouts) {
      const auto seconds = SecondsOf(bout.trials[c]);
      if (seconds && bout.trials[c].verdict() == Verdict::kSolved) times.push_back(*seconds);
    }
    medians.AddRow(
        {TextCell(shown[c].missing.empty() ? shown[c].name
                                           : shown[c].name + " (" + shown[c].missing + ")"),
         CountCell(static_cast<std::int64_t>(times.size())),
         CountCell(static_cast<std::int64_t>(bouts.size())),
         times.empty() ? NoCell() : SecondsCell(Median(times)),
         times.empty() ? NoCell() : SecondsCell(*std::max_element(times.begin(), times.end()))});
  }
  return medians;
}

Result<void> Figure11(Lab& lab) {
  const double limit = lab.TimeLimit(10);
  lab.Heading("Figure 11: address time",
              "Time until what is live under our order has addresses within its peak: nothing lost "
              "to fragmentation. The ILP is OLLA's (15), by itself and after its preplacement of "
              "the pyramid (Function 5). Medians of processor time.");
  const auto inputs = BERTH_TRY(lab.Graphs(lab.Inputs(kAllInputs, 2)));
  const auto all = BERTH_TRY(OrderAll(lab, "figure 11", inputs, 1));
  const std::vector<Contender> contenders = {Lab::Contend("heuristic"), Lab::Contend("ilp"),
                                             Lab::Contend("auto")};
  Contender pyramid = Lab::Contend("ilp");
  pyramid.name = pyramid.runner.name = "ILP after the pyramid";
  pyramid.key = "ilp-pyramid";
  pyramid.look = 6;
  std::vector<SuiteInput> tables;
  std::vector<Bout> bouts;
  for (const Ordered& ordered : all) {
    SuiteInput table;
    table.family = ordered.input->group;
    table.name = ordered.input->name;
    table.problem = Live(ordered.input->graph, ordered.answer.best->order).problem;
    table.bound = ordered.answer.best->peak();
    Bout bout = lab.Compare("figure 11", table, ordered.answer.best->peak(), contenders, limit,
                            lab.Rounds());
    Trial pinned_trial;
    if (pyramid.missing.empty()) {
      SuiteInput pinned = table;
      pinned.problem = PreplacePyramid(table.problem);
      pinned_trial = lab.Compare("figure 11", pinned, ordered.answer.best->peak(), {pyramid}, limit,
                                 lab.Rounds())
                         .trials.front();
    }
    bout.trials.insert(bout.trials.begin() + 2, std::move(pinned_trial));
    table.least = table.bound;
    tables.push_back(std::move(table));
    bouts.push_back(std::move(bout));
  }
  std::vector<Contender> shown = contenders;
  shown.insert(shown.begin() + 2, pyramid);
  lab.Show(TimeSheet(shown, bouts, tables));
  const Sheet medians = AddressMedians(shown, bouts);
  lab.Show(medians);
  lab.Say("The paper, with Gurobi: all but two without fragmentation, in a median of 5.7 s.\n");
  lab.Keep("figure11", BoutSheet(shown, bouts, tables));
  lab.Keep("figure11-medians", medians);
  Chart chart = TimeChart(shown, bouts, limit);
  chart.title = "Time until a plan without fragmentation";
  chart.subtitle = "After Figure 11 of OLLA; medians, limit " + cli::FormatSeconds(limit);
  lab.Keep("figure11", chart);
  return {};
}

// --- Figure 14 -------------------------------------------------------------------------------

// Keeps the compiler from leaving out what leads to `value`.
void Use(const void* value) { asm volatile("" : : "g"(value) : "memory"); }

// Seconds of processor time of one call, the median of `rounds` long enough to be measured.
double SecondsOfOne(const std::function<void()>& call, int rounds, double least) {
  call();
  std::vector<double> all;
  for (int round = 0; round < rounds; ++round) {
    const double start = ProcessorSeconds();
    std::int64_t calls = 0;
    double passed = 0;
    for (std::int64_t next = 1; passed < least; next *= 2) {
      for (std::int64_t i = 0; i < next; ++i) call();
      calls += next;
      passed = ProcessorSeconds() - start;
    }
    all.push_back(passed / static_cast<double>(calls));
  }
  return Median(all);
}

// Seconds of one run's requests to PyTorch's allocator, as simulated.
double DynamicSeconds(const Problem& program, int rounds, double least) {
  const std::vector<AllocatorEvent> events = AllocatorEvents(program);
  AllocatorSimulation allocator(RuntimeAllocator::kPytorchCaching);
  std::vector<AllocatorSimulation::Block*> blocks(program.buffers.size());
  return SecondsOfOne(
      [&] {
        for (const AllocatorEvent& event : events) {
          if (event.starts) {
            blocks[event.buffer] = allocator.Allocate(program.buffers[event.buffer].size);
          } else {
            allocator.Free(blocks[event.buffer]);
          }
        }
        Use(blocks.data());
      },
      rounds, least);
}

// Seconds to compute the addresses of one run from the plan.
double PlannedSeconds(const Problem& problem, const std::vector<Bytes>& offsets, int rounds,
                      double least) {
  // In the order in which a run meets the tensors.
  std::vector<std::size_t> starts(problem.buffers.size());
  for (std::size_t b = 0; b < starts.size(); ++b) starts[b] = b;
  std::stable_sort(starts.begin(), starts.end(), [&](std::size_t a, std::size_t b) {
    return problem.buffers[a].start < problem.buffers[b].start;
  });
  std::vector<Bytes> addresses(starts.size());
  const Bytes arena = 4096;  // Any address will do.
  return SecondsOfOne(
      [&] {
        for (const std::size_t b : starts) addresses[b] = arena + offsets[b];
        Use(addresses.data());
      },
      rounds, least);
}

Chart SavingsChart(const std::vector<Measured>& savings) {
  Chart chart =
      ModelChart(savings, {"saved over 1,000,000 runs", ChartUnit::kSeconds, false, 0.0, {}, {}},
                 ChartSeries::Style::kBars);
  chart.title = "Run time saved by a plan";
  chart.subtitle =
      "After Figure 14 of OLLA; against PyTorch's allocator, simulated, planning subtracted";
  return chart;
}

Result<void> Figure14(Lab& lab) {
  constexpr double kIterations = 1e6;  // The paper's: ImageNet 25 times at batch 32.
  lab.Heading("Figure 14: what memory costs at run time",
              "Addresses of all tensors of one run: asked for and given back one by one, of "
              "PyTorch's allocator as simulated, warm; and looked up in our plan. Saved over "
              "1,000,000 runs, less what it took to plan once.");
  auto inputs = BERTH_TRY(lab.Graphs(lab.Inputs(kAllInputs, 2)));
  const auto is_batch = [](const GraphInput& input) { return input.group == "batch 32"; };
  if (std::any_of(inputs.begin(), inputs.end(), is_batch)) {
    std::erase_if(inputs, [&](const GraphInput& input) { return !is_batch(input); });
  }
  const auto all = BERTH_TRY(OrderAll(lab, "figure 14", inputs, 1));
  Sheet sheet({{"graph", "graph", false},
               {"tensors", "tensors"},
               {"dynamic: a run", "dynamic_seconds"},
               {"a tensor", "dynamic_tensor_seconds"},
               {"planned: a run", "planned_seconds"},
               {"a tensor", "planned_tensor_seconds"},
               {"planning", "planning_seconds"},
               {"saved", "saved_seconds"}});
  std::vector<Measured> savings;
  const double least = lab.options().quick ? 0.002 : 0.1;
  for (const Ordered& ordered : all) {
    lab.Progress("figure 14, " + ordered.input->name);
    const Graph& graph = ordered.input->graph;
    const Liveness live = Live(graph, ordered.answer.best->order);
    const double start = ProcessorSeconds();
    const auto placed = BERTH_TRY(PlaceOrdered(lab, live.problem));
    const double planning = ordered.seconds + ProcessorSeconds() - start;
    if (!placed.best) continue;
    const Problem program = Live(graph, ProgramOrder(graph)).problem;
    const double dynamic = DynamicSeconds(program, lab.Rounds(), least);
    const double planned =
        PlannedSeconds(live.problem, PlacementOf(*placed.best).offsets, lab.Rounds(), least);
    const auto tensors = static_cast<double>(std::max<std::size_t>(live.problem.buffers.size(), 1));
    savings.push_back({ordered.input, (dynamic - planned) * kIterations - planning});
    sheet.AddRow(
        {TextCell(ordered.input->name),
         CountCell(static_cast<std::int64_t>(live.problem.buffers.size())),
         SecondsCell(dynamic),
         SecondsCell(dynamic / tensors),
         SecondsCell(planned),
         SecondsCell(planned / tensors),
         SecondsCell(planning),
         {cli::FormatSeconds(savings.back().value), SecondsCell(savings.back().value).raw}});
  }
  lab.Progress("");
  lab.Show(sheet);
  double sum = 0;
  for (const Measured& saving : savings) sum += saving.value;
  if (!savings.empty()) {
    lab.Say("Saved in the mean: " + cli::FormatSeconds(sum / static_cast<double>(savings.size())) +
            " (the paper: 5 min, of PyTorch's own allocator).\n");
  }
  lab.Keep("figure14", sheet);
  lab.Keep("figure14", SavingsChart(savings));
  return {};
}

constexpr std::array<Experiment, 13> kExperiments = {
    {{"figure7", "Figure 7: peak reduction by the order of operators", Figure7},
     {"figure8", "Figure 8: fragmentation", Figure8},
     {"figure9", "Figure 9: ordering time", Figure9},
     {"figure10", "Figure 10: memory saved over time", Figure10},
     {"figure11", "Figure 11: address time", Figure11},
     {"figure12", "Figure 12: fragmentation over time", Figure12},
     {"figure13", "Figure 13: total reduction", Figure13},
     {"figure14", "Figure 14: what memory costs at run time", Figure14},
     {"ilp", "The integer program for the order", IntegerProgram},
     {"joint", "Section 4.4: order and addresses in one program", JointProgram},
     {"recomputation", "The integer program with recomputation and copies", OllaRecomputation},
     {"recomputation-peak", "The same program for the least peak at a bounded cost",
      OllaRecomputationPeak},
     {"workspaces", "Figure 8 with workspaces of convolutions", Workspaces}}};

}  // namespace

const Suite& OllaSuite() {
  static constexpr Suite kSuite = {
      "olla",
      "B. Steiner, M. Elhoushi, J. Kahn and J. Hegarty, \"OLLA: Decreasing the Memory Usage of "
      "Neural Networks by Optimizing the Lifetime and Location of Arrays\", arXiv 2210.12924",
      kExperiments,
      {"graphs", "training", "inference"}};
  return kSuite;
}

}  // namespace berth::lab
