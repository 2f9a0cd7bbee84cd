#include "tools/lab/suites/lab.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <utility>

#include "base/check.h"
#include "berth/io.h"
#include "tools/berth/terminal.h"
#include "tools/lab/method.h"

namespace berth::lab {
namespace {

namespace fs = std::filesystem;

// How a run ended, of any contender.
std::string_view StatusOf(const RunResult& run) {
  switch (run.verdict) {
    case Verdict::kSolved:
      return "solved";
    case Verdict::kInfeasible:
      return "infeasible";
    case Verdict::kGaveUp:
    case Verdict::kTimedOut:
      return run.out_of_budget ? "limit" : "no plan";
    case Verdict::kSkipped:
    case Verdict::kFailed:
    case Verdict::kWrong:
      break;
  }
  return ToString(run.verdict);
}

constexpr std::string_view kNotBuilt = "not in this build";

// What a run took, in the same clock as everything else.
double Spent(const Trial& trial) {
  const std::vector<double> times = trial.Times(Clock::kProcessor);
  return times.empty() ? 0 : *std::max_element(times.begin(), times.end());
}

// The least and the most processor time of several runs.
std::optional<std::pair<double, double>> SpreadOf(const Trial& trial) {
  const std::vector<double> times = trial.Times(Clock::kProcessor);
  if (times.empty()) return std::nullopt;
  const auto [least, most] = std::minmax_element(times.begin(), times.end());
  return std::pair{*least, *most};
}

std::vector<std::string> InputNames(const std::vector<Bout>& bouts) {
  std::vector<std::string> names;
  names.reserve(bouts.size());
  for (const Bout& bout : bouts) names.push_back(bout.input);
  return names;
}

std::string LegendName(const Contender& contender) {
  return contender.missing.empty() ? contender.name
                                   : contender.name + " (" + contender.missing + ")";
}

}  // namespace

Bytes PercentOf(Bytes bytes, int percent) {
  return bytes / 100 * percent + (bytes % 100 * percent + 99) / 100;
}

std::optional<double> SecondsOf(const Trial& trial) {
  if (trial.runs.empty() || !trial.decided()) return std::nullopt;
  return Median(trial.Times(Clock::kProcessor));
}

std::string StatusOf(const Contender& contender, const Trial& trial) {
  if (!contender.missing.empty()) return contender.missing;
  return trial.runs.empty() ? "not run" : std::string(StatusOf(trial.Worst()));
}

Cell TimeCell(const Contender& contender, const Trial& trial) {
  if (const auto seconds = SecondsOf(trial)) {
    Cell cell = SecondsCell(*seconds);
    if (trial.verdict() == Verdict::kInfeasible) cell.text = "infeasible, " + cell.text;
    return cell;
  }
  const std::string status = StatusOf(contender, trial);
  return {status == "limit" ? "> " + cli::FormatSeconds(Spent(trial)) : status, ""};
}

Lab::Lab(std::string suite, const SuiteOptions& options)
    : suite_(std::move(suite)), options_(options) {}

double Lab::TimeLimit(double own) const {
  if (options_.time_limit) return *options_.time_limit;
  return options_.quick ? std::min(own, 0.2) : own;
}

std::int64_t Lab::Steps() const { return options_.steps.value_or(options_.quick ? 2000 : 500'000); }

std::size_t Lab::Inputs(std::size_t own, std::size_t quick) const {
  if (options_.inputs) return static_cast<std::size_t>(*options_.inputs);
  return options_.quick ? quick : own;
}

Result<std::vector<SuiteInput>> Lab::Models(std::size_t most, bool find_least) {
  std::vector<std::string> paths = options_.tables;
  std::error_code ignored;
  if (paths.empty() && !options_.data.empty()) {
    const std::string folder = options_.data + "/models";
    if (fs::is_directory(folder, ignored)) paths = {folder};
  }
  std::vector<SuiteInput> inputs;
  if (!paths.empty()) {
    auto read = ReadInputs("models", paths);
    if (!read) return read;
    inputs = SpreadOut(std::move(*read), most);
  } else {
    for (std::uint64_t seed = 1; seed <= (options_.quick ? 4u : 12u); ++seed) {
      internal::GenerateParameters parameters;
      parameters.seed = seed;
      parameters.buffers = static_cast<std::int64_t>(40 * seed);
      inputs.push_back(GenerateInput(
          seed % 2 == 0 ? internal::Family::kNetwork : internal::Family::kInference, parameters));
    }
    inputs = SpreadOut(std::move(inputs), most);
  }
  if (find_least) FindLeast(inputs);
  return inputs;
}

void Lab::FindLeast(std::vector<SuiteInput>& inputs) const {
  // Some seconds at most. Where no proof comes by then, hardly any comes in minutes.
  constexpr std::int64_t kNodes = 1'000'000;
  constexpr std::int64_t kQuickNodes = 10'000;
  Progress("least heights of " + cli::Plural(static_cast<std::int64_t>(inputs.size()), "table"));
  lab::FindLeast(inputs, options_.quick ? kQuickNodes : kNodes, options_.jobs);
  Progress("");
}

bool Lab::has_challenging() const {
  std::error_code ignored;
  return !options_.data.empty() && fs::is_directory(options_.data + "/challenging", ignored);
}

Result<std::vector<SuiteInput>> Lab::Challenging(std::size_t most) {
  std::vector<SuiteInput> inputs;
  if (has_challenging()) {
    auto read = ReadInputs("challenging", {options_.data + "/challenging"});
    if (!read) return read;
    for (SuiteInput& input : *read) input.name = "challenging-" + input.name;
    if (read->size() > most) read->resize(most);
    return read;
  }
  for (std::uint64_t seed = 1; seed <= std::min<std::uint64_t>(most, 11); ++seed) {
    internal::GenerateParameters parameters;
    parameters.seed = seed;
    parameters.buffers = static_cast<std::int64_t>(100 + 20 * seed);
    parameters.slack_percent = 4;
    inputs.push_back(GenerateInput(internal::Family::kPlanted, parameters));
  }
  return inputs;
}

Result<std::vector<GraphInput>> Lab::Graphs(std::size_t most) {
  std::vector<std::string> paths = options_.tables;
  std::error_code ignored;
  for (const std::string_view part : {"training", "inference"}) {
    if (!options_.tables.empty() || options_.data.empty()) break;
    const fs::path folder = fs::path(options_.data) / part;
    if (fs::is_directory(folder, ignored)) paths.push_back(folder.string());
  }
  std::vector<GraphInput> inputs;
  if (!paths.empty()) {
    auto read = ReadGraphs(paths);
    if (!read) return read;
    inputs = std::move(*read);
  } else {
    for (std::uint64_t seed = 1; seed <= (options_.quick ? 3u : 12u); ++seed) {
      internal::GraphParameters parameters;
      parameters.seed = seed;
      parameters.operators = static_cast<std::int64_t>(30 * seed);
      inputs.push_back(GenerateGraphInput(internal::GraphFamily::kCell, parameters));
    }
  }
  return SpreadOut(std::move(inputs), most);
}

Contender Lab::Contend(std::string_view key) {
  struct Known {
    std::string_view key;
    std::string_view name;
    int look;
  };
  static constexpr std::array<Known, 11> kKnown = {{{"auto", "Berth auto (default)", 0},
                                                    {"telamalloc", "TelaMalloc", 1},
                                                    {"canonical", "MiniMalloc's search", 2},
                                                    {"guided", "Berth guided", 3},
                                                    {"niche", "Berth niche", 4},
                                                    {"ilp", "ILP", 5},
                                                    {"cp", "CP alone", 6},
                                                    {"heuristic", "baseline heuristic", 7},
                                                    {"meta-csp", "meta-CSP", 6},
                                                    {"csp", "CSP", 7},
                                                    {"bfc", "TensorFlow's BFC", 1}}};
  const auto known = std::find_if(kKnown.begin(), kKnown.end(),
                                  [key](const Known& row) { return row.key == key; });
  Contender contender;
  contender.key = std::string(key);
  contender.name = known == kKnown.end() ? contender.key : std::string(known->name);
  contender.look = known == kKnown.end() ? 0 : known->look;
  const auto method = MethodFromName(key == "heuristic" ? "contention" : key);
  if (!method) {
    contender.missing = "there is no such algorithm";
    return contender;
  }
  if (auto available = CheckAvailable(*method); !available) {
    contender.missing = kNotBuilt;
  }
  contender.runner = BerthRunner("", *method, {});
  contender.runner.name = contender.name;
  // Of a search, what it found itself; `auto` is all of them together.
  BERTH_CHECK(SetOption(contender.runner.options, "guided.heuristic_first", "off").has_value());
  contender.runner.baseline_options.settings["telamalloc.heuristic_first"] = "off";
  const bool searches = method->baseline ? *method->baseline == Baseline::kTelaMalloc
                                         : Info(method->algorithm).exact && key != "auto";
  if (searches) {
    contender.runner.finders = {contender.key};
  }
  return contender;
}

std::vector<Contender> Lab::Contenders(std::initializer_list<std::string_view> keys) const {
  const std::vector<std::string>& chosen = options_.algorithms;
  std::vector<Contender> contenders;
  for (const std::string_view key : keys) {
    contenders.push_back(Contend(key));
    if (!chosen.empty() && std::find(chosen.begin(), chosen.end(), key) == chosen.end()) {
      contenders.back().missing = "left out";
    }
  }
  return contenders;
}

void Lab::Progress(const std::string& what) const { cli::ShowProgress(what); }

Bout Lab::Compare(const std::string& what, const SuiteInput& input, Bytes capacity,
                  const std::vector<Contender>& contenders, double time_limit, int rounds) {
  TableResult result;
  result.table = {input.name, input.problem};
  result.table.problem.capacity = capacity;
  std::vector<Runner> runners;
  for (const Contender& contender : contenders) {
    if (contender.missing.empty()) runners.push_back(contender.runner);
  }
  BenchmarkOptions options;
  options.rounds = rounds;
  options.time_limit = time_limit;
  options.processor_limit = true;
  options.most_seconds = time_limit;
  options.progress = [&](int round, const Runner& runner, std::uint64_t) {
    Progress(what + ", " + input.name + ", round " + std::to_string(round + 1) + ", " +
             runner.name);
  };
  result.trials = RunBenchmark(result.table, runners, options, "");
  Progress("");
  for (std::size_t r = 0; r < runners.size(); ++r) {
    for (const RunResult& run : result.trials[r].runs) Judge(input, runners[r].name, run);
  }
  if (const std::string contradiction = FindContradiction(result, runners);
      !contradiction.empty()) {
    Note(input.name + ": " + contradiction);
  }
  Bout bout{input.name, capacity, {}};
  auto trial = result.trials.begin();
  for (const Contender& contender : contenders) {
    bout.trials.push_back(contender.missing.empty() ? std::move(*trial++) : Trial{});
  }
  return bout;
}

RunResult Lab::RunAlone(const Contender& contender, const SuiteInput& input,
                        std::optional<Bytes> capacity, std::optional<double> time_limit,
                        bool keep_offsets) {
  Problem problem = input.problem;
  problem.capacity = capacity;
  RunResult run = RunOnce(contender.runner, {problem, "", "", 1, time_limit, keep_offsets});
  Judge(input, contender.name, run);
  return run;
}

void Lab::Heading(const std::string& title, const std::string& text) const {
  const std::string heading = "\n" + cli::Paint(cli::Tone::kStrong, title) + "\n" +
                              cli::Wrap(text, cli::TextWidth(), 0) + (text.empty() ? "\n" : "\n\n");
  std::fwrite(heading.data(), 1, heading.size(), stdout);
  std::fflush(stdout);
}

void Lab::Say(const std::string& text) const {
  const std::string line = cli::Wrap(text, cli::TextWidth(), 0) + "\n";
  std::fwrite(line.data(), 1, line.size(), stdout);
  std::fflush(stdout);
}

bool Lab::HasIlp() const {
  const auto available = CheckAvailable(*MethodFromName("ilp"));
  if (!available) Say("Left out: " + available.error().message + ".");
  return available.has_value();
}

void Lab::Show(const Sheet& sheet) const {
  const std::string text = sheet.ToText() + "\n";
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

void Lab::Keep(const std::string& name, const Sheet& sheet) {
  Write(suite_ + "-" + name + ".csv", sheet.ToCsv());
}

void Lab::Keep(const std::string& name, const Chart& chart) {
  Write(suite_ + "-" + name + ".svg", WriteSvg(chart));
}

void Lab::Keep(const std::string& name, const std::string& svg) {
  Write(suite_ + "-" + name + ".svg", svg);
}

void Lab::Judge(const SuiteInput& input, const std::string& who, const RunResult& run) {
  if (run.verdict >= Verdict::kFailed) {
    Note(input.name + ": " + who + " " + std::string(ToString(run.verdict)) + ": " + run.message);
  }
  if (input.least > 0 && run.lower_bound > input.least) {
    Note(input.name + ": " + who + " says that no plan is lower than " +
         cli::FormatBytesExactly(run.lower_bound) + ", but there is one of " +
         cli::FormatBytesExactly(input.least));
  }
  if (run.height && *run.height < input.bound) {
    Note(input.name + ": " + who + " has a plan of " + cli::FormatBytesExactly(*run.height) +
         ", below what was proved to be needed, " + cli::FormatBytesExactly(input.bound));
  }
}

void Lab::Note(const std::string& fault) {
  const std::lock_guard lock(mutex_);
  if (std::find(faults_.begin(), faults_.end(), fault) == faults_.end()) faults_.push_back(fault);
}

void Lab::Write(const std::string& name, const std::string& text) {
  if (options_.output.empty() || error_) return;
  const std::string path = (fs::path(options_.output) / name).string();
  if (auto written = WriteFile(path, text); !written) {
    error_ = written.error();
    return;
  }
  if (std::find(files_.begin(), files_.end(), path) == files_.end()) files_.push_back(path);
}

Sheet BoutSheet(const std::vector<Contender>& contenders, const std::vector<Bout>& bouts,
                const std::vector<SuiteInput>& inputs) {
  Sheet sheet({{"input", "input", false},
               {"buffers", "buffers"},
               {"least", "least_bytes"},
               {"proved", "least_proved"},
               {"capacity", "capacity_bytes"},
               {"by", "algorithm", false},
               {"status", "status", false},
               {"runs", "runs"},
               {"median", "median_seconds"},
               {"least time", "least_seconds"},
               {"most time", "most_seconds"},
               {"nodes", "nodes"}});
  for (std::size_t i = 0; i < bouts.size(); ++i) {
    for (std::size_t c = 0; c < contenders.size(); ++c) {
      const Trial& trial = bouts[i].trials[c];
      const std::vector<double> times = trial.Times(Clock::kProcessor);
      const auto time = [&](double seconds) {
        return times.empty() ? NoCell() : SecondsCell(seconds);
      };
      sheet.AddRow({TextCell(bouts[i].input),
                    CountCell(static_cast<std::int64_t>(inputs[i].problem.buffers.size())),
                    BytesCell(inputs[i].least), TextCell(inputs[i].proved() ? "1" : "0"),
                    BytesCell(bouts[i].capacity), TextCell(contenders[c].key),
                    TextCell(StatusOf(contenders[c], trial)),
                    CountCell(static_cast<std::int64_t>(trial.runs.size())),
                    time(times.empty() ? 0 : Median(times)),
                    time(times.empty() ? 0 : *std::min_element(times.begin(), times.end())),
                    time(times.empty() ? 0 : *std::max_element(times.begin(), times.end())),
                    trial.runs.empty() ? NoCell() : CountCell(trial.runs.front().nodes)});
    }
  }
  return sheet;
}

Sheet TimeSheet(const std::vector<Contender>& contenders, const std::vector<Bout>& bouts,
                const std::vector<SuiteInput>& inputs) {
  std::vector<Sheet::Column> columns = {{"input", "input", false}, {"buffers", "buffers"}};
  for (const Contender& contender : contenders) {
    columns.push_back({contender.name, contender.key + "_seconds"});
  }
  Sheet sheet(columns);
  for (std::size_t i = 0; i < bouts.size(); ++i) {
    std::vector<Cell> row = {
        TextCell(bouts[i].input),
        CountCell(static_cast<std::int64_t>(inputs[i].problem.buffers.size()))};
    for (std::size_t c = 0; c < contenders.size(); ++c) {
      row.push_back(TimeCell(contenders[c], bouts[i].trials[c]));
    }
    sheet.AddRow(std::move(row));
  }
  return sheet;
}

Chart TimeChart(const std::vector<Contender>& contenders, const std::vector<Bout>& bouts,
                double time_limit) {
  Chart chart;
  chart.x = {"processor time until a plan", ChartUnit::kSeconds, true, {}, time_limit, {}};
  chart.y.categories = InputNames(bouts);
  chart.open_means = "ended without a plan";
  for (std::size_t c = 0; c < contenders.size(); ++c) {
    ChartSeries series{
        LegendName(contenders[c]), ChartSeries::Style::kPoints, {}, contenders[c].look};
    for (std::size_t i = 0; i < bouts.size(); ++i) {
      const Trial& trial = bouts[i].trials[c];
      if (trial.runs.empty()) continue;
      const auto seconds = SecondsOf(trial);
      // Beside each other, so that none hides another.
      const double row = static_cast<double>(i) - 0.36 +
                         0.72 * static_cast<double>(c) /
                             static_cast<double>(std::max<std::size_t>(contenders.size() - 1, 1));
      const bool solved = seconds && trial.verdict() == Verdict::kSolved;
      series.points.push_back(
          {seconds ? *seconds : Spent(trial), row, !solved,
           bouts[i].input + ", " + contenders[c].name + ": " + TimeCell(contenders[c], trial).text,
           solved ? SpreadOf(trial) : std::nullopt});
    }
    chart.series.push_back(std::move(series));
  }
  chart.height =
      230 + static_cast<int>(bouts.size()) * std::max(22, 7 * static_cast<int>(contenders.size()));
  return chart;
}

Chart SolvedChart(const std::vector<Contender>& contenders, const std::vector<Bout>& bouts,
                  double time_limit) {
  Chart chart;
  chart.x = {"processor time", ChartUnit::kSeconds, true, 1e-5, time_limit, {}};
  chart.y = {"inputs solved", ChartUnit::kPercent, false, 0.0, 1.0, {}};
  for (std::size_t c = 0; c < contenders.size(); ++c) {
    ChartSeries series{
        LegendName(contenders[c]), ChartSeries::Style::kSteps, {}, contenders[c].look};
    std::vector<double> times;
    for (const Bout& bout : bouts) {
      const Trial& trial = bout.trials[c];
      const auto seconds = SecondsOf(trial);
      if (seconds && trial.verdict() == Verdict::kSolved) times.push_back(*seconds);
    }
    std::sort(times.begin(), times.end());
    if (contenders[c].missing.empty()) series.points.push_back({1e-5, 0, false, {}});
    for (std::size_t i = 0; i < times.size(); ++i) {
      series.points.push_back(
          {times[i], static_cast<double>(i + 1) / static_cast<double>(bouts.size()), false, {}});
    }
    chart.series.push_back(std::move(series));
  }
  return chart;
}

}  // namespace berth::lab
