// tools/berth/benchmark.h -- Berth and its peers on the same tables, in turn.
//
// Every runner is a program of its own: Berth is measured from the outside just as its peers are.
// In each round each of them runs once on a table, one after the other, so that whatever slows the
// machine down for a while slows all of them. Every plan is read back from the file that the runner
// wrote and goes through the independent verifier.
#ifndef BERTH_TOOLS_BERTH_BENCHMARK_H_
#define BERTH_TOOLS_BERTH_BENCHMARK_H_

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/io.h"
#include "berth/problem.h"
#include "berth/result.h"

namespace berth::internal {

struct Runner {
  std::string name;
  // The command, already split. {input}, {output}, {capacity} and {time_limit} (seconds) stand for
  // what they say.
  std::vector<std::string> words;
  // Berth itself: understands its own exit codes and the summary that --json prints, and ends by
  // itself at the time limit.
  bool is_berth = false;
  [[nodiscard]] bool Mentions(std::string_view placeholder) const;
};

// Berth at `executable` with one of its algorithms.
[[nodiscard]] Runner BerthRunner(const std::string& executable, const std::string& algorithm,
                                 std::optional<double> time_limit);
// "NAME=COMMAND". Error: kInvalidOptions for anything else.
[[nodiscard]] Result<Runner> PeerRunner(std::string_view specification);

struct BenchmarkTable {
  std::string path;
  Problem problem;  // Without a capacity: as low as possible.
};

enum class TrialStatus {
  kSolved,      // Each round ended in a plan that the verifier accepts.
  kInfeasible,  // Berth says that no plan fits.
  kGaveUp,      // Berth ended without an answer.
  kTimedOut,
  kFailed,   // It could not be started, died, or left no plan.
  kWrong,    // The verifier rejects the plan.
  kSkipped,  // It needs a capacity, and no run before it has found one.
};
[[nodiscard]] std::string_view ToString(TrialStatus status);

// What one runner did on one table. After a round without an answer there are no more rounds.
struct Trial {
  TrialStatus status = TrialStatus::kSolved;
  std::string message;          // What went wrong.
  std::vector<double> seconds;  // Wall clock of each round, the start of the program included.
  std::vector<double> search_seconds;  // Berth: what it spent on the search itself.
  std::optional<Bytes> height;         // Of the plan; where rounds differ, of the highest.
  std::optional<double> gap;           // Berth: as it says, likewise.

  [[nodiscard]] bool solved() const { return status == TrialStatus::kSolved; }
  // True for what nobody should overlook: kFailed, kWrong.
  [[nodiscard]] bool faulty() const;
};

struct BenchmarkOptions {
  int rounds = 5;
  std::optional<double> time_limit;
  // Called before each run.
  std::function<void(int round, const Runner& runner)> progress;
};

// Runs all runners on one table; one trial for each. Without a capacity, a runner that asks for
// {capacity} gets the height that the first runner has reached. `folder` is for the plans.
[[nodiscard]] std::vector<Trial> RunBenchmark(const BenchmarkTable& table,
                                              const std::vector<Runner>& runners,
                                              const BenchmarkOptions& options,
                                              const std::string& folder);

// Of at least one value.
[[nodiscard]] double Median(std::vector<double> values);

}  // namespace berth::internal

#endif  // BERTH_TOOLS_BERTH_BENCHMARK_H_
