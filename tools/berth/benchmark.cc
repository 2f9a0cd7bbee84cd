#include "tools/berth/benchmark.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "tools/berth/command.h"
#include "tools/berth/subprocess.h"
#include "tools/berth/terminal.h"
#include "tools/verify/verify.h"

namespace berth::internal {
namespace {

using Json = nlohmann::ordered_json;
using Substitutions = std::vector<std::pair<std::string, std::string>>;

std::vector<std::string> Substitute(const std::vector<std::string>& words,
                                    const Substitutions& substitutions) {
  std::vector<std::string> substituted = words;
  for (std::string& word : substituted) {
    for (const auto& [placeholder, value] : substitutions) {
      for (std::size_t at = 0; (at = word.find(placeholder, at)) != std::string::npos;
           at += value.size()) {
        word.replace(at, placeholder.size(), value);
      }
    }
  }
  return substituted;
}

std::string SecondsAsText(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", seconds);
  return text;
}

std::string LastLine(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  return text.substr(text.find_last_of('\n') + 1);
}

void End(Trial& trial, TrialStatus status, std::string message) {
  trial.status = status;
  trial.message = std::move(message);
}

// What a program says about its own end: its exit and the last thing it printed.
std::string Farewell(const ProcessResult& result) {
  std::string text;
  if (result.signal) {
    text = std::string("killed by ") + strsignal(*result.signal);
  } else {
    text = "exit code " + std::to_string(result.exit_code.value_or(0));
  }
  std::string last = LastLine(result.standard_error);
  if (last.empty()) last = LastLine(result.standard_output);
  return last.empty() ? text : text + ", " + last;
}

// Judges the plan in the file at `path`.
void JudgePlan(const Problem& problem, const std::string& path, const ProcessResult& result,
               Trial& trial) {
  if (!std::filesystem::exists(path)) {
    return End(trial, TrialStatus::kFailed, "no plan (" + Farewell(result) + ")");
  }
  const auto text = ReadFile(path);
  if (!text) return End(trial, TrialStatus::kFailed, text.error().message);
  const auto offsets = ReadOffsets(*text, "its plan", problem);
  if (!offsets) {
    const bool readable = offsets.error().code == ErrorCode::kInvalidPlan;
    return End(trial, readable ? TrialStatus::kWrong : TrialStatus::kFailed,
               offsets.error().message);
  }
  const Report report = Verify(problem, *offsets);
  if (!report.ok()) {
    return End(trial, TrialStatus::kWrong, Describe(report.faults.front(), problem, *offsets));
  }
  trial.height = std::max(trial.height.value_or(0), report.height);
}

void JudgeBerth(const Problem& problem, const std::string& path, const ProcessResult& result,
                Trial& trial) {
  const Json summary = Json::parse(result.standard_output, nullptr, false);
  if (!summary.is_object()) return End(trial, TrialStatus::kFailed, Farewell(result));
  trial.search_seconds.push_back(summary.value("seconds", 0.0));
  if (result.exit_code == kDoesNotFit) {
    return End(trial, TrialStatus::kInfeasible, "proved that no plan fits");
  }
  if (result.exit_code == kGaveUp) {
    // A greedy algorithm ends with a plan that is too high, not because time is up.
    const Json height = summary.value("height", Json());
    const bool searched = summary.value("stopped", "") == "budget";
    if (!searched && height.is_number_integer()) {
      return End(trial, TrialStatus::kGaveUp,
                 "its plan needs " + FormatBytesExactly(height.get<Bytes>()));
    }
    return End(trial, TrialStatus::kGaveUp, "the time limit came before an answer");
  }
  if (result.exit_code != kDone) return End(trial, TrialStatus::kFailed, Farewell(result));
  trial.gap = std::max(trial.gap.value_or(0), summary.value("gap", 0.0));
  JudgePlan(problem, path, result, trial);
}

void RunOnce(const BenchmarkTable& table, const Runner& runner, std::optional<Bytes> capacity,
             const BenchmarkOptions& options, const std::string& folder, Trial& trial) {
  if (!capacity && runner.Mentions("{capacity}") && !runner.is_berth) {
    return End(trial, TrialStatus::kSkipped, "no capacity is known to ask it for");
  }
  const std::string path = folder + "/plan.csv";
  std::filesystem::remove(path);
  Substitutions substitutions = {{"{input}", table.path}, {"{output}", path}};
  if (capacity) substitutions.emplace_back("{capacity}", std::to_string(*capacity));
  if (options.time_limit) {
    substitutions.emplace_back("{time_limit}", SecondsAsText(*options.time_limit));
  }
  std::vector<std::string> words = Substitute(runner.words, substitutions);
  if (runner.is_berth && capacity) {
    words.emplace_back("--capacity");
    words.emplace_back(std::to_string(*capacity));
  }
  // Berth stops by itself, with the best plan so far: the limit is there for a Berth that does not.
  constexpr double kGrace = 5;
  std::optional<double> limit = options.time_limit;
  if (limit && runner.is_berth) *limit += kGrace;

  const ProcessResult result = RunProcess(words, limit);
  if (result.not_started) {
    return End(trial, TrialStatus::kFailed,
               "'" + words.front() + "' cannot be started: " + *result.not_started);
  }
  trial.seconds.push_back(result.seconds);
  if (result.timed_out) {
    return End(trial, TrialStatus::kTimedOut, "killed after " + SecondsAsText(*limit) + " s");
  }
  Problem problem = table.problem;
  // A peer that was told a capacity must keep to it.
  if (runner.Mentions("{capacity}")) problem.capacity = capacity;
  if (runner.is_berth) {
    JudgeBerth(problem, path, result, trial);
  } else {
    JudgePlan(problem, path, result, trial);
  }
}

}  // namespace

bool Runner::Mentions(std::string_view placeholder) const {
  return std::any_of(words.begin(), words.end(), [placeholder](const std::string& word) {
    return word.find(placeholder) != std::string::npos;
  });
}

Runner BerthRunner(const std::string& executable, const std::string& algorithm,
                   std::optional<double> time_limit) {
  Runner runner{
      "berth:" + algorithm,
      {executable, "place", "{input}", "--algorithm", algorithm, "--output", "{output}", "--json"},
      true};
  if (time_limit) {
    runner.words.emplace_back("--time-limit");
    runner.words.emplace_back("{time_limit}");
  }
  return runner;
}

Result<Runner> PeerRunner(std::string_view specification) {
  const std::size_t equals = specification.find('=');
  if (equals == std::string_view::npos || equals == 0) {
    return Fail(ErrorCode::kInvalidOptions,
                "--peer: '" + std::string(specification) +
                    "' is not NAME=COMMAND, such as 'other=other-tool {input} {output}'");
  }
  auto words = SplitCommand(specification.substr(equals + 1));
  if (!words) return tl::unexpected(words.error());
  Runner runner{std::string(specification.substr(0, equals)), std::move(*words), false};
  for (const std::string_view needed : {"{input}", "{output}"}) {
    if (!runner.Mentions(needed)) {
      return Fail(ErrorCode::kInvalidOptions, "--peer: the command of " + runner.name +
                                                  " does not say where its " + std::string(needed) +
                                                  " goes");
    }
  }
  return runner;
}

std::string_view ToString(TrialStatus status) {
  switch (status) {
    case TrialStatus::kSolved:
      return "solved";
    case TrialStatus::kInfeasible:
      return "infeasible";
    case TrialStatus::kGaveUp:
      return "gave up";
    case TrialStatus::kTimedOut:
      return "timed out";
    case TrialStatus::kFailed:
      return "failed";
    case TrialStatus::kWrong:
      return "WRONG";
    case TrialStatus::kSkipped:
      return "skipped";
  }
  return {};
}

bool Trial::faulty() const {
  return status == TrialStatus::kFailed || status == TrialStatus::kWrong;
}

std::vector<Trial> RunBenchmark(const BenchmarkTable& table, const std::vector<Runner>& runners,
                                const BenchmarkOptions& options, const std::string& folder) {
  std::vector<Trial> trials(runners.size());
  for (int round = 0; round < options.rounds; ++round) {
    for (std::size_t r = 0; r < runners.size(); ++r) {
      if (!trials[r].solved()) continue;
      if (options.progress) options.progress(round, runners[r]);
      std::optional<Bytes> capacity = table.problem.capacity;
      if (!capacity && !runners[r].is_berth) capacity = trials.front().height;
      RunOnce(table, runners[r], capacity, options, folder, trials[r]);
    }
  }
  return trials;
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  if (values.size() % 2 == 1) return values[middle];
  return (values[middle - 1] + values[middle]) / 2;
}

}  // namespace berth::internal
