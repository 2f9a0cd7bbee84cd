// tools/lab/bench/runner.h -- one program, one table, one run: its result and its time.
//
// A peer is a program of its own, measured from the outside; so is Berth, unless it is to be
// measured within this process, where searches that take less than the start of a program can be
// told apart. Every plan goes through the independent verifier, wherever it comes from.
#ifndef BERTH_TOOLS_LAB_BENCH_RUNNER_H_
#define BERTH_TOOLS_LAB_BENCH_RUNNER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/place.h"
#include "berth/problem.h"
#include "berth/result.h"
#include "tools/lab/method.h"

namespace berth::lab {

struct Runner {
  std::string name;
  // The command, already split. {input}, {output}, {capacity} and {time_limit} (seconds) stand for
  // what they say. Empty: Berth within this process.
  std::vector<std::string> words;
  // Berth: takes a seed, reports what it proved and ends by itself at the time limit. As a program
  // it is judged by its exit code and by the summary that --json prints.
  std::optional<Method> method = {};
  // Peers that print more than a plan: the text around the seconds of their search, such as
  // "Elapsed time {seconds}s", and the text they print when they have proved that no plan fits.
  std::string seconds_text = {};
  std::string infeasible_text = {};
  // Berth within this process: its options; the seed comes with each request.
  PlaceOptions options = {};
  BaselineOptions baseline_options = {};  // Its settings alone.
  std::optional<std::int64_t> node_limit = {};
  // Place() ends with a greedy plan where a search has none, and that may fit: where searches are
  // compared, only plans that these algorithms found count. Empty: any.
  std::vector<std::string> finders = {};

  [[nodiscard]] bool is_berth() const { return method.has_value(); }
  [[nodiscard]] bool Mentions(std::string_view placeholder) const;
};

// Berth at `executable`, or within this process if that is empty.
[[nodiscard]] Runner BerthRunner(const std::string& executable, const Method& method,
                                 std::optional<double> time_limit);
// "NAME=COMMAND". Error: kInvalidOptions for anything else.
[[nodiscard]] Result<Runner> PeerRunner(std::string_view specification);

// From best to worst.
enum class Verdict {
  kSolved,      // A plan that the verifier accepts.
  kInfeasible,  // The runner says that no plan fits.
  kSkipped,     // It needs a capacity, and no run before it has found one.
  kGaveUp,      // It ended without an answer.
  kTimedOut,
  kFailed,  // It could not be started, died, or left no plan.
  kWrong,   // The verifier rejects the plan.
};
[[nodiscard]] std::string_view ToString(Verdict verdict);

struct RunRequest {
  const Problem& problem;            // With the capacity that the runner has to keep to, or none.
  std::string table;                 // The file that holds it.
  std::string folder;                // For the plan.
  std::uint64_t seed = 1;            // For Berth.
  std::optional<double> time_limit;  // Seconds.
  bool keep_offsets = false;
  // Berth within this process: the limit is one of processor time, all threads together.
  bool processor_limit = false;
};

struct RunResult {
  std::uint64_t seed = 1;
  Verdict verdict = Verdict::kSolved;
  std::string message;           // What went wrong.
  std::optional<double> wall;    // Seconds, the start of the program included. None: not run.
  std::optional<double> search;  // Seconds of search alone, by the runner's own account.
  // Berth within this process: seconds of processor time, all threads together. What to compare
  // where other programs are busy; useless where several runs go on at once.
  std::optional<double> processor = {};
  std::optional<Bytes> height;  // Of a plan that was accepted.
  Bytes lower_bound = 0;        // What the runner proved: no plan is lower.
  bool out_of_budget = false;   // It was stopped by its time or node limit.
  // Berth within this process: statistics of its search.
  std::int64_t nodes = 0;
  SearchStats stats = {};
  std::vector<Bytes> offsets = {};  // Of a plan that was accepted, if asked for.

  // Solved or proved to have no solution.
  [[nodiscard]] bool decided() const {
    return verdict == Verdict::kSolved || verdict == Verdict::kInfeasible;
  }
};

[[nodiscard]] RunResult RunOnce(const Runner& runner, const RunRequest& request);

}  // namespace berth::lab

#endif  // BERTH_TOOLS_LAB_BENCH_RUNNER_H_
