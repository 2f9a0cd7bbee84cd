// tools/lab/bench/report.h -- what berth-lab bench measured, for people and for machines.
#ifndef BERTH_TOOLS_LAB_BENCH_REPORT_H_
#define BERTH_TOOLS_LAB_BENCH_REPORT_H_

#include <optional>
#include <string>

#include "tools/berth/output.h"
#include "tools/lab/bench/benchmark.h"

namespace berth::lab {

using cli::Json;

// How it was measured.
struct BenchConditions {
  int rounds = 5;
  std::uint64_t seeds = 1;
  std::optional<double> time_limit;
  bool in_process = false;
  Clock clock = Clock::kWall;
  bool summary = false;  // One block for each runner instead of one row for each table.
  std::string date;      // UtcNow() at the start.
};

// "berth 0.1.0 (g++ 12.2.0, release) on AMD EPYC, 2 threads, Debian GNU/Linux 12, DATE".
[[nodiscard]] std::string AboutThisRun(const std::string& date);
// Processor, threads, operating system, compiler and build.
[[nodiscard]] Json MachineJson();

[[nodiscard]] std::string BenchText(const BenchResult& result, const BenchConditions& conditions);
// Everything that was measured: every single time.
[[nodiscard]] Json BenchJson(const BenchResult& result, const BenchConditions& conditions);

}  // namespace berth::lab

#endif  // BERTH_TOOLS_LAB_BENCH_REPORT_H_
