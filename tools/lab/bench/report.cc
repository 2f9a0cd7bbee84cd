#include "tools/lab/bench/report.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <utility>

#include "tools/berth/table.h"
#include "tools/berth/terminal.h"
#include "tools/lab/bench/machine.h"

namespace berth::lab {
namespace {

double TypicalTime(const Trial& trial, Clock clock) { return Median(trial.Times(clock)); }

double Sum(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

// The median times of two runners on the tables that both decided.
struct SharedMedians {
  std::vector<double> runner;
  std::vector<double> reference;

  [[nodiscard]] bool any() const { return !runner.empty(); }
  [[nodiscard]] double SumRatio() const { return Sum(runner) / Sum(reference); }
  [[nodiscard]] double GeometricMeanRatio() const {
    double sum = 0;
    for (std::size_t i = 0; i < runner.size(); ++i) sum += std::log(runner[i] / reference[i]);
    return std::exp(sum / static_cast<double>(runner.size()));
  }
};
SharedMedians FindSharedMedians(const BenchResult& result, std::size_t runner,
                                std::size_t reference, Clock clock) {
  SharedMedians shared;
  for (const TableResult& table : result.tables) {
    const Trial& trial = table.trials[runner];
    const Trial& other = table.trials[reference];
    if (!trial.decided() || !other.decided()) continue;
    shared.runner.push_back(TypicalTime(trial, clock));
    shared.reference.push_back(TypicalTime(other, clock));
  }
  return shared;
}

// The runs of one runner on all tables.
struct Tally {
  std::int64_t runs = 0;
  std::int64_t solved = 0;
  std::int64_t infeasible = 0;
  std::int64_t tables_decided = 0;  // In every run.
  std::vector<double> wall;
  std::vector<double> search;
  bool tells_search = false;  // Of every run that decided something, and there is one.

  [[nodiscard]] std::int64_t decided() const { return solved + infeasible; }
};
Tally TallyOf(const BenchResult& result, std::size_t runner) {
  Tally tally;
  bool any_search = false;
  bool all_search = true;
  for (const TableResult& table : result.tables) {
    const Trial& trial = table.trials[runner];
    tally.runs += static_cast<std::int64_t>(trial.runs.size());
    tally.solved += trial.Count(Verdict::kSolved);
    tally.infeasible += trial.Count(Verdict::kInfeasible);
    tally.tables_decided += trial.decided() ? 1 : 0;
    const auto append = [](std::vector<double>& to, const std::vector<double>& from) {
      to.insert(to.end(), from.begin(), from.end());
    };
    append(tally.wall, trial.Times(Clock::kWall));
    append(tally.search, trial.Times(Clock::kSearch));
    any_search |= std::any_of(trial.runs.begin(), trial.runs.end(),
                              [](const RunResult& run) { return run.search.has_value(); });
    all_search &= trial.TellsSearch();
  }
  tally.tells_search = any_search && all_search;
  return tally;
}

std::string OutOf(std::int64_t count, std::int64_t all) {
  return std::to_string(count) + " of " + std::to_string(all);
}

std::string FormatRatio(double ratio) {
  char text[32];
  std::snprintf(text, sizeof text,
                ratio < 9.95   ? "%.2f x"
                : ratio < 99.5 ? "%.1f x"
                               : "%.0f x",
                ratio);
  return text;
}

// "12.3 ms", with how much higher than the lowest plan it ended; or why there is no time.
std::string TrialCell(const Trial& trial, Clock clock, std::optional<Bytes> lowest) {
  const std::int64_t decided = trial.Count(Verdict::kSolved) + trial.Count(Verdict::kInfeasible);
  if (decided == 0) return std::string(ToString(trial.verdict()));
  std::string cell = cli::FormatSeconds(TypicalTime(trial, clock));
  if (!trial.decided()) {
    return OutOf(decided, static_cast<std::int64_t>(trial.runs.size())) + ", " + cell;
  }
  if (trial.verdict() == Verdict::kInfeasible) return "infeasible, " + cell;
  if (lowest && trial.height() > lowest) {
    const std::string percent = cli::FormatPercent(cli::Gap(*trial.height(), *lowest));
    cell += (percent.front() == '<' ? " (" : " (+") + percent + ")";
  }
  return cell;
}

std::string Verified(const std::vector<Trial>& trials) {
  const auto any = [&](Verdict verdict) {
    return std::any_of(trials.begin(), trials.end(),
                       [verdict](const Trial& trial) { return trial.Count(verdict) > 0; });
  };
  if (any(Verdict::kWrong)) return cli::Paint(cli::Tone::kBad, "NO");
  return any(Verdict::kSolved) ? "yes" : "-";
}

Clock Other(Clock clock) { return clock == Clock::kWall ? Clock::kSearch : Clock::kWall; }
std::string_view NameOf(Clock clock) { return clock == Clock::kWall ? "wall" : "search"; }

// One table of buffers: what each runner did, and how its time compares with the first one's.
std::vector<std::string> ResultRow(const TableResult& result, Clock clock) {
  const auto& [table, trials] = result;
  const bool minimized = !table.problem.capacity;
  std::optional<Bytes> lowest;
  for (const Trial& trial : trials) {
    const auto height = trial.height();
    if (height && (!lowest || *height < *lowest)) lowest = height;
  }
  const Trial& first = trials.front();
  const std::vector<double> other_times = first.Times(Other(clock));
  std::vector<std::string> row = {
      cli::OneLine(cli::NameOf(table.path)),
      minimized ? "least" : FormatBytes(*table.problem.capacity),
      lowest ? FormatBytes(*lowest) : "-",
      minimized && first.gap() ? cli::FormatPercentUp(*first.gap()) : "-",
      other_times.empty() ? "-" : cli::FormatSeconds(Median(other_times))};
  for (const Trial& trial : trials) {
    row.push_back(TrialCell(trial, clock, minimized ? lowest : std::nullopt));
    if (&trial == &first) continue;
    row.push_back(trial.decided() && first.decided()
                      ? FormatRatio(TypicalTime(trial, clock) / TypicalTime(first, clock))
                      : "-");
  }
  row.push_back(Verified(trials));
  return row;
}

// A row for each table, a column for each runner.
std::string Comparison(const BenchResult& result, Clock clock) {
  using enum cli::TextTable::Align;
  std::vector<cli::TextTable::Align> columns = {kLeft, kRight, kRight, kRight, kRight};
  std::vector<std::string> header = {"table", "capacity", "height", "gap",
                                     std::string(NameOf(Other(clock)))};
  std::vector<std::string> decided = {"decided", "", "", "", ""};
  std::vector<std::string> sum = {result.runners.size() > 1 ? "sum where both decided" : "sum", "",
                                  "", "", ""};
  std::vector<std::string> mean = {"geometric mean", "", "", "", ""};
  for (std::size_t r = 0; r < result.runners.size(); ++r) {
    const SharedMedians shared = FindSharedMedians(result, r, 0, clock);
    columns.push_back(kRight);
    header.push_back(cli::OneLine(result.runners[r].name));
    decided.push_back(
        OutOf(TallyOf(result, r).tables_decided, static_cast<std::int64_t>(result.tables.size())));
    sum.push_back(shared.any() ? cli::FormatSeconds(Sum(shared.runner)) : "-");
    mean.emplace_back();
    if (r == 0) continue;
    columns.push_back(kRight);
    header.emplace_back("ratio");
    decided.emplace_back();
    sum.push_back(shared.any() ? FormatRatio(shared.SumRatio()) : "-");
    mean.push_back(shared.any() ? FormatRatio(shared.GeometricMeanRatio()) : "-");
  }
  columns.push_back(kLeft);
  header.emplace_back("verified");

  cli::TextTable text(columns);
  text.AddRow(std::move(header));
  for (const TableResult& table : result.tables) text.AddRow(ResultRow(table, clock));
  text.AddRule();
  text.AddRow(std::move(decided));
  text.AddRow(std::move(sum));
  if (result.runners.size() > 1) text.AddRow(std::move(mean));
  return text.ToString();
}

void AppendSpread(const std::vector<double>& times, std::vector<std::string>& row) {
  const Spread spread = SpreadOf(times);
  for (const double seconds : {spread.median, spread.mean, spread.worst}) {
    row.push_back(times.empty() ? "-" : cli::FormatSeconds(seconds));
  }
}

// A row for each table and each of Berth's algorithms: how the runs, of all seeds and rounds, are
// distributed; and how the sums over all tables are, of which each seed gives one.
std::string Seeds(const BenchResult& result, Clock clock) {
  using enum cli::TextTable::Align;
  cli::TextTable text({kLeft, kLeft, kRight, kRight, kRight, kRight});
  text.AddRow({"table", "runner", "decided", "median", "mean", "worst"});
  for (const auto& [table, trials] : result.tables) {
    for (std::size_t r = 0; r < trials.size(); ++r) {
      if (!result.runners[r].is_berth()) continue;
      const Trial& trial = trials[r];
      std::vector<std::string> row = {
          cli::OneLine(cli::NameOf(table.path)), cli::OneLine(result.runners[r].name),
          OutOf(trial.Count(Verdict::kSolved) + trial.Count(Verdict::kInfeasible),
                static_cast<std::int64_t>(trial.runs.size()))};
      AppendSpread(trial.Times(clock), row);
      text.AddRow(std::move(row));
    }
  }
  text.AddRule();
  for (std::size_t r = 0; r < result.runners.size(); ++r) {
    if (!result.runners[r].is_berth()) continue;
    const Tally tally = TallyOf(result, r);
    std::vector<std::string> row = {"sum", cli::OneLine(result.runners[r].name),
                                    OutOf(tally.decided(), tally.runs)};
    AppendSpread(SumsOverTables(result, r, clock), row);
    text.AddRow(std::move(row));
  }
  return text.ToString();
}

// A row for each runner and each way to count its time; nothing about single tables.
std::string SummaryTable(const BenchResult& result) {
  using enum cli::TextTable::Align;
  cli::TextTable text({kLeft, kRight, kRight, kRight, kLeft, kRight, kRight, kRight, kRight});
  text.AddRow(
      {"runner", "decided", "solved", "infeasible", "time", "median", "mean", "worst", "sum"});
  for (std::size_t r = 0; r < result.runners.size(); ++r) {
    const Tally tally = TallyOf(result, r);
    std::vector<std::string> row = {cli::OneLine(result.runners[r].name),
                                    OutOf(tally.decided(), tally.runs),
                                    std::to_string(tally.solved), std::to_string(tally.infeasible)};
    for (const Clock clock : {Clock::kSearch, Clock::kWall}) {
      if (clock == Clock::kSearch && !tally.tells_search) continue;
      row.emplace_back(NameOf(clock));
      AppendSpread(clock == Clock::kSearch ? tally.search : tally.wall, row);
      row.push_back(cli::FormatSeconds(SpreadOf(SumsOverTables(result, r, clock)).mean));
      text.AddRow(std::move(row));
      row = {"", "", "", ""};
    }
  }
  return text.ToString();
}

// Everything that is not a decision, with its reason, and every decision that others contradict. A
// summary counts what was not decided, and names only what is faulty.
std::string Remarks(const BenchResult& result, bool summary) {
  std::string text;
  for (const TableResult& table : result.tables) {
    const std::string name = cli::NameOf(table.table.path);
    for (std::size_t r = 0; r < table.trials.size(); ++r) {
      const Trial& trial = table.trials[r];
      if (trial.decided() || (summary && trial.verdict() < Verdict::kFailed)) continue;
      const RunResult& worst = trial.Worst();
      const auto runs = static_cast<std::int64_t>(trial.runs.size());
      const std::string line =
          name + ": " + result.runners[r].name + " " + std::string(ToString(worst.verdict)) +
          (runs > 1 ? " (" + OutOf(trial.Count(worst.verdict), runs) + " runs)" : "") + ": " +
          worst.message;
      text += "  " + cli::OneLine(line) + "\n";
    }
  }
  if (!text.empty()) text = "\nWithout an answer:\n" + text;
  std::string contradictions;
  for (const TableResult& table : result.tables) {
    const std::string contradiction = FindContradiction(table, result.runners);
    if (contradiction.empty()) continue;
    contradictions +=
        "  " + cli::OneLine(cli::NameOf(table.table.path) + ": " + contradiction) + "\n";
  }
  if (contradictions.empty()) return text;
  return text + "\n" + cli::Paint(cli::Tone::kBad, "Contradictions:") + "\n" + contradictions;
}

std::string Header(const BenchConditions& conditions) {
  std::string text = AboutThisRun(conditions.date) + "\n" + cli::Plural(conditions.rounds, "round");
  if (conditions.seeds > 1) {
    text += " with each of " + cli::Plural(static_cast<std::int64_t>(conditions.seeds), "seed");
  }
  text += ", runners in turn";
  if (conditions.in_process) text += ", Berth within this process";
  if (conditions.time_limit) text += "; limit " + cli::FormatSeconds(*conditions.time_limit);
  text += ".\nwall: whole programs, their start included" +
          std::string(conditions.in_process ? " (Berth: the call of Place)" : "") +
          ". search: what the runner says it spent on the search alone.\n";
  if (!conditions.summary) {
    text += "Shown: medians of ";
    text += conditions.clock == Clock::kWall ? "wall" : "search, or of wall where there is none";
    text += ". ratio: to the first runner, whose " + std::string(NameOf(Other(conditions.clock))) +
            " has a column of its own.\n";
  }
  return text + "\n";
}

Json SpreadJson(const std::vector<double>& times) {
  if (times.empty()) return nullptr;
  const Spread spread = SpreadOf(times);
  return {{"median", spread.median}, {"mean", spread.mean}, {"worst", spread.worst}};
}

Json TrialJson(const Runner& runner, const Trial& trial, Clock clock) {
  Json json;
  const std::vector<double> times = trial.Times(clock);
  const RunResult& worst = trial.Worst();
  json["runner"] = runner.name;
  json["status"] = ToString(worst.verdict);
  if (!worst.message.empty()) json["message"] = worst.message;
  json["runs"] = trial.runs.size();
  json["solved"] = trial.Count(Verdict::kSolved);
  json["infeasible"] = trial.Count(Verdict::kInfeasible);
  json["verified"] = worst.verdict == Verdict::kSolved;
  json["height"] = cli::ToJson(trial.height());
  if (runner.is_berth()) json["gap"] = trial.gap() ? Json(*trial.gap()) : Json(nullptr);
  json["median_seconds"] = trial.decided() ? Json(Median(times)) : Json(nullptr);
  json["seconds"] = trial.Times(Clock::kWall);
  json["search_seconds"] = Json::array();
  for (const RunResult& run : trial.runs) {
    json["search_seconds"].push_back(run.search ? Json(*run.search) : Json(nullptr));
  }
  const bool alike = trial.Count(worst.verdict) == static_cast<std::int64_t>(trial.runs.size());
  if (alike) return json;
  json["statuses"] = Json::array();
  for (const RunResult& run : trial.runs) json["statuses"].push_back(ToString(run.verdict));
  if (!runner.is_berth()) return json;
  json["seeds"] = Json::array();
  for (const RunResult& run : trial.runs) json["seeds"].push_back(run.seed);
  return json;
}

// Ratios are to the first runner, over the tables that both decided.
Json SummaryJson(const BenchResult& result, std::size_t runner, Clock clock) {
  const SharedMedians shared = FindSharedMedians(result, runner, 0, clock);
  const Tally tally = TallyOf(result, runner);
  Json json;
  json["runner"] = result.runners[runner].name;
  json["runs"] = tally.runs;
  json["solved"] = tally.solved;
  json["infeasible"] = tally.infeasible;
  json["decided"] = tally.decided();
  json["tables_decided"] = tally.tables_decided;
  json["wall"] = SpreadJson(tally.wall);
  json["wall"]["sum"] = SpreadJson(SumsOverTables(result, runner, Clock::kWall));
  if (tally.tells_search) {
    json["search"] = SpreadJson(tally.search);
    json["search"]["sum"] = SpreadJson(SumsOverTables(result, runner, Clock::kSearch));
  }
  json["decided_by_both"] = shared.runner.size();
  json["sum_seconds"] = Sum(shared.runner);
  json["sum_ratio"] = shared.any() ? Json(shared.SumRatio()) : Json(nullptr);
  json["geometric_mean_ratio"] = shared.any() ? Json(shared.GeometricMeanRatio()) : Json(nullptr);
  return json;
}

}  // namespace

std::string AboutThisRun(const std::string& date) {
  const Machine machine = ThisMachine();
  return cli::Paint(cli::Tone::kStrong, "berth " BERTH_VERSION) + " (" + machine.compiler + ", " +
         machine.build + ") on " + machine.cpu + ", " +
         cli::Plural(machine.hardware_threads, "thread") + ", " + machine.operating_system + ", " +
         date;
}

Json MachineJson() {
  const Machine machine = ThisMachine();
  return {{"cpu", machine.cpu},
          {"hardware_threads", machine.hardware_threads},
          {"operating_system", machine.operating_system},
          {"compiler", machine.compiler},
          {"build", machine.build}};
}

std::string BenchText(const BenchResult& result, const BenchConditions& conditions) {
  std::string text = Header(conditions);
  if (conditions.summary) {
    text += SummaryTable(result);
  } else {
    text += Comparison(result, conditions.clock);
    if (conditions.seeds > 1) text += "\n" + Seeds(result, conditions.clock);
  }
  return text + Remarks(result, conditions.summary);
}

Json BenchJson(const BenchResult& result, const BenchConditions& conditions) {
  Json json;
  json["date"] = conditions.date;
  json["berth"] = BERTH_VERSION;
  json["machine"] = MachineJson();
  json["rounds"] = conditions.rounds;
  json["seeds"] = conditions.seeds;
  json["time_limit_seconds"] = conditions.time_limit ? Json(*conditions.time_limit) : Json(nullptr);
  json["in_process"] = conditions.in_process;
  json["time"] = NameOf(conditions.clock);
  json["runners"] = Json::array();
  for (const Runner& runner : result.runners) {
    std::vector<std::string> words = runner.words;
    if (runner.is_berth() && !words.empty()) words.front() = "berth";
    json["runners"].push_back({{"name", runner.name}, {"command", words}});
  }
  json["tables"] = Json::array();
  for (const TableResult& table : result.tables) {
    Json entry;
    entry["table"] = cli::NameOf(table.table.path);
    entry["buffers"] = table.table.problem.buffers.size();
    entry["capacity"] = cli::ToJson(table.table.problem.capacity);
    const std::string contradiction = FindContradiction(table, result.runners);
    if (!contradiction.empty()) entry["contradiction"] = contradiction;
    entry["trials"] = Json::array();
    for (std::size_t r = 0; r < result.runners.size(); ++r) {
      entry["trials"].push_back(TrialJson(result.runners[r], table.trials[r], conditions.clock));
    }
    json["tables"].push_back(std::move(entry));
  }
  json["summary"] = Json::array();
  for (std::size_t r = 0; r < result.runners.size(); ++r) {
    json["summary"].push_back(SummaryJson(result, r, conditions.clock));
  }
  return json;
}

}  // namespace berth::lab
