// tools/lab/bench/benchmark.h -- Berth and its peers on the same tables, in turn.
//
// In each round each runner runs on a table once for each seed, runners one after the other, so
// that anything that slows the machine down for a while slows all of them.
#ifndef BERTH_TOOLS_LAB_BENCH_BENCHMARK_H_
#define BERTH_TOOLS_LAB_BENCH_BENCHMARK_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "berth/problem.h"
#include "tools/lab/bench/runner.h"

namespace berth::lab {

struct BenchmarkTable {
  std::string path;
  Problem problem;  // Without a capacity: as low as possible.
};

// What is compared: the whole program, or what it says it spent on the search alone, or processor
// time (the whole program where there is nothing else).
enum class Clock { kWall, kSearch, kProcessor };

// What one runner did on one table, at least one run. After a run that decided nothing, its seed is
// not tried again; until then it has one run for each round.
struct Trial {
  std::vector<RunResult> runs;

  [[nodiscard]] Verdict verdict() const { return Worst().verdict; }
  [[nodiscard]] const RunResult& Worst() const;  // The first of those with the worst verdict.
  [[nodiscard]] bool decided() const { return Worst().decided(); }
  [[nodiscard]] std::int64_t Count(Verdict verdict) const;
  // Of the highest plan, and how far it may be from the lowest one, by its own lower bound.
  [[nodiscard]] std::optional<Bytes> height() const;
  [[nodiscard]] std::optional<double> gap() const;
  // In seconds, as long as a run took that decided nothing. Runs that could not be made have none.
  [[nodiscard]] std::vector<double> Times(Clock clock) const;
  // Whether every run that decided something says how long it searched.
  [[nodiscard]] bool TellsSearch() const;
};

struct TableResult {
  BenchmarkTable table;
  std::vector<Trial> trials;  // One for each runner.
};

struct BenchResult {
  std::vector<Runner> runners;  // At least one; the first is Berth.
  std::vector<TableResult> tables;
};

struct BenchmarkOptions {
  int rounds = 5;
  std::uint64_t seeds = 1;           // Berth runs with seeds 1 to this; a peer runs once a round.
  std::optional<double> time_limit;  // Of each run, in seconds.
  bool processor_limit = false;      // As RunRequest::processor_limit.
  // A runner whose runs with one seed have taken so many seconds is not run again.
  std::optional<double> most_seconds = {};
  // Called before each run.
  std::function<void(int round, const Runner& runner, std::uint64_t seed)> progress;
};

// Runs all runners on one table; one trial for each. Without a capacity, a runner that asks for
// {capacity} gets the height that the first runner has reached. `folder` is for the plans.
[[nodiscard]] std::vector<Trial> RunBenchmark(const BenchmarkTable& table,
                                              const std::vector<Runner>& runners,
                                              const BenchmarkOptions& options,
                                              const std::string& folder);

// A plan that another runner, or the same one with another seed, proved to be impossible: one
// sentence; empty where all agree.
[[nodiscard]] std::string FindContradiction(const TableResult& result,
                                            const std::vector<Runner>& runners);

// Of at least one value.
[[nodiscard]] double Median(std::vector<double> values);

// Of any values: how they are distributed.
struct Spread {
  double median = 0;
  double mean = 0;
  double worst = 0;
};
[[nodiscard]] Spread SpreadOf(const std::vector<double>& values);

// For each seed that the runner used: the sum over the tables, of each the median over the rounds.
[[nodiscard]] std::vector<double> SumsOverTables(const BenchResult& result, std::size_t runner,
                                                 Clock clock);

}  // namespace berth::lab

#endif  // BERTH_TOOLS_LAB_BENCH_BENCHMARK_H_
