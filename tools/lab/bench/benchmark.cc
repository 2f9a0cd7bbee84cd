#include "tools/lab/bench/benchmark.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "tools/berth/terminal.h"

namespace berth::lab {
namespace {

std::optional<double> TimeOf(const RunResult& run, Clock clock) {
  if (clock == Clock::kSearch && run.search) return run.search;
  return clock == Clock::kProcessor && run.processor ? run.processor : run.wall;
}

// Another round would say nothing new, or take too long.
bool HasRunEnough(const Trial& trial, std::uint64_t seed, const BenchmarkOptions& options) {
  double spent = 0;
  bool ran = false;
  for (const RunResult& run : trial.runs) {
    if (run.seed != seed) continue;
    if (!run.decided()) return true;
    spent += TimeOf(run, Clock::kProcessor).value_or(0);
    ran = true;
  }
  return ran && options.most_seconds && spent >= *options.most_seconds;
}

}  // namespace

const RunResult& Trial::Worst() const {
  return *std::max_element(runs.begin(), runs.end(), [](const RunResult& a, const RunResult& b) {
    return a.verdict < b.verdict;
  });
}

std::int64_t Trial::Count(Verdict verdict) const {
  return std::count_if(runs.begin(), runs.end(),
                       [verdict](const RunResult& run) { return run.verdict == verdict; });
}

std::optional<Bytes> Trial::height() const {
  std::optional<Bytes> highest;
  for (const RunResult& run : runs) highest = std::max(highest, run.height);
  return highest;
}

std::optional<double> Trial::gap() const {
  std::optional<double> widest;
  for (const RunResult& run : runs) {
    if (run.height)
      widest = std::max(widest, std::optional(cli::Gap(*run.height, run.lower_bound)));
  }
  return widest;
}

std::vector<double> Trial::Times(Clock clock) const {
  std::vector<double> times;
  for (const RunResult& run : runs) {
    if (const auto time = TimeOf(run, clock)) times.push_back(*time);
  }
  return times;
}

bool Trial::TellsSearch() const {
  return std::all_of(runs.begin(), runs.end(),
                     [](const RunResult& run) { return run.search.has_value() || !run.decided(); });
}

std::vector<Trial> RunBenchmark(const BenchmarkTable& table, const std::vector<Runner>& runners,
                                const BenchmarkOptions& options, const std::string& folder) {
  std::vector<Trial> trials(runners.size());
  Problem told = table.problem;  // With the height that Berth has reached, where there is no other.
  for (int round = 0; round < options.rounds; ++round) {
    for (std::uint64_t seed = 1; seed <= options.seeds; ++seed) {
      for (std::size_t r = 0; r < runners.size(); ++r) {
        const Runner& runner = runners[r];
        if (HasRunEnough(trials[r], seed, options) || (seed > 1 && !runner.is_berth())) continue;
        if (options.progress) options.progress(round, runner, seed);
        if (!table.problem.capacity) told.capacity = trials.front().height();
        const bool asks = !runner.is_berth() && runner.Mentions("{capacity}");
        trials[r].runs.push_back(RunOnce(
            runner, {asks ? told : table.problem, table.path, folder, seed, options.time_limit,
                     /*keep_offsets=*/false, options.processor_limit}));
      }
    }
  }
  return trials;
}

std::string FindContradiction(const TableResult& result, const std::vector<Runner>& runners) {
  std::optional<Bytes> lowest;
  Bytes bound = 0;
  std::string who_placed;
  std::string who_proved;
  for (std::size_t r = 0; r < runners.size(); ++r) {
    for (const RunResult& run : result.trials[r].runs) {
      const std::string who =
          runners[r].name +
          (runners[r].is_berth() ? " with seed " + std::to_string(run.seed) : std::string());
      if (run.height && (!lowest || *run.height < *lowest)) {
        lowest = run.height;
        who_placed = who;
      }
      if (run.lower_bound > bound) {
        bound = run.lower_bound;
        who_proved = who;
      }
    }
  }
  if (!lowest || *lowest >= bound) return {};
  return who_proved + " says that no plan is lower than " + cli::FormatBytesExactly(bound) +
         ", but " + who_placed + " has one of " + cli::FormatBytesExactly(*lowest);
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  if (values.size() % 2 == 1) return values[middle];
  return (values[middle - 1] + values[middle]) / 2;
}

Spread SpreadOf(const std::vector<double>& values) {
  if (values.empty()) return {};
  const double sum = std::accumulate(values.begin(), values.end(), 0.0);
  return {Median(values), sum / static_cast<double>(values.size()),
          *std::max_element(values.begin(), values.end())};
}

std::vector<double> SumsOverTables(const BenchResult& result, std::size_t runner, Clock clock) {
  std::map<std::uint64_t, double> sums;
  for (const TableResult& table : result.tables) {
    std::map<std::uint64_t, std::vector<double>> rounds;
    for (const RunResult& run : table.trials[runner].runs) {
      if (const auto time = TimeOf(run, clock)) rounds[run.seed].push_back(*time);
    }
    for (const auto& [seed, times] : rounds) sums[seed] += Median(times);
  }
  std::vector<double> values;
  values.reserve(sums.size());
  for (const auto& [seed, sum] : sums) values.push_back(sum);
  return values;
}

}  // namespace berth::lab
