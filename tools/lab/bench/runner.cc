#include "tools/lab/bench/runner.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/try.h"
#include "berth/budget.h"
#include "berth/io.h"
#include "tools/berth/command.h"
#include "tools/berth/terminal.h"
#include "tools/lab/bench/processor_time.h"
#include "tools/lab/bench/subprocess.h"
#include "tools/verify/verify.h"

namespace berth::lab {
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

void End(RunResult& run, Verdict verdict, std::string message) {
  run.verdict = verdict;
  run.message = std::move(message);
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

void JudgeOffsets(const Problem& problem, const std::vector<Bytes>& offsets, RunResult& run) {
  const auto report = verify::VerifyOffsets(problem, offsets);
  if (!report.ok()) {
    return End(run, Verdict::kWrong,
               verify::Describe(report.faults.front(), problem, verify::AsPlan(problem, offsets)));
  }
  run.height = report.height;
}

// Judges the plan in the file at `path`.
void JudgePlan(const Problem& problem, const std::string& path, const ProcessResult& result,
               RunResult& run) {
  if (!std::filesystem::exists(path)) {
    return End(run, Verdict::kFailed, "no plan (" + Farewell(result) + ")");
  }
  const auto text = ReadFile(path);
  if (!text) return End(run, Verdict::kFailed, text.error().message);
  const auto offsets = ReadOffsets(*text, "its plan", problem);
  if (!offsets) {
    const bool readable = offsets.error().code == ErrorCode::kInvalidPlan;
    return End(run, readable ? Verdict::kWrong : Verdict::kFailed, offsets.error().message);
  }
  JudgeOffsets(problem, *offsets, run);
}

void EndInfeasible(const Problem& problem, RunResult& run) {
  run.lower_bound = std::max(run.lower_bound, problem.capacity.value_or(0) + 1);
  End(run, Verdict::kInfeasible, "proved that no plan fits");
}

// `height` is that of a plan which does not fit. A greedy algorithm ends with one that is too high,
// not because time is up.
void EndWithoutAnswer(bool out_of_budget, std::optional<Bytes> height, RunResult& run) {
  run.out_of_budget = out_of_budget;
  const std::string message = out_of_budget ? "a limit came before an answer"
                              : height      ? "its plan needs " + cli::FormatBytesExactly(*height)
                                            : "the search ended without an answer";
  End(run, Verdict::kGaveUp, message);
}

void JudgeBerth(const Problem& problem, const std::string& path, const ProcessResult& result,
                RunResult& run) {
  const Json summary = Json::parse(result.standard_output, nullptr, false);
  if (!summary.is_object()) return End(run, Verdict::kFailed, Farewell(result));
  run.search = summary.value("seconds", 0.0);
  run.lower_bound = summary.value("height_bound", Bytes{0});
  if (result.exit_code == cli::kDoesNotFit) return EndInfeasible(problem, run);
  if (result.exit_code == cli::kGaveUp) {
    const Json height = summary.value("height", Json());
    return EndWithoutAnswer(
        summary.value("stopped", "") == ToString(StopReason::kBudget),
        height.is_number_integer() ? std::optional(height.get<Bytes>()) : std::nullopt, run);
  }
  if (result.exit_code != cli::kDone) return End(run, Verdict::kFailed, Farewell(result));
  JudgePlan(problem, path, result, run);
}

// The number in place of {seconds}, where the last such text stands.
std::optional<double> FindSeconds(const std::string& output, const std::string& pattern) {
  constexpr std::string_view kPlaceholder = "{seconds}";
  const std::string before = pattern.substr(0, pattern.find(kPlaceholder));
  const std::size_t at = output.rfind(before);
  if (at == std::string::npos) return std::nullopt;
  // Not std::from_chars, which reads whole numbers only in some standard libraries (libc++ 14).
  const char* const first = output.c_str() + at + before.size();
  char* end = nullptr;
  const double seconds = std::strtod(first, &end);
  const std::string after = pattern.substr(before.size() + kPlaceholder.size());
  const bool found = end != first && std::string_view(end).starts_with(after);
  return found ? std::optional(seconds) : std::nullopt;
}

void JudgePeer(const Problem& problem, const Runner& runner, const std::string& path,
               const ProcessResult& result, RunResult& run) {
  const std::string output = result.standard_output + result.standard_error;
  if (!runner.seconds_text.empty()) run.search = FindSeconds(output, runner.seconds_text);
  if (!runner.infeasible_text.empty() && output.find(runner.infeasible_text) != std::string::npos) {
    return EndInfeasible(problem, run);
  }
  JudgePlan(problem, path, result, run);
}

void RunProgram(const Runner& runner, const RunRequest& request, RunResult& run) {
  const std::string path = request.folder + "/plan.csv";
  std::filesystem::remove(path);
  const std::optional<Bytes> capacity = request.problem.capacity;
  Substitutions substitutions = {{"{input}", request.table}, {"{output}", path}};
  if (capacity) substitutions.emplace_back("{capacity}", std::to_string(*capacity));
  if (request.time_limit) {
    substitutions.emplace_back("{time_limit}", SecondsAsText(*request.time_limit));
  }
  std::vector<std::string> words = Substitute(runner.words, substitutions);
  if (runner.is_berth()) {
    words.insert(words.end(), {"--seed", std::to_string(request.seed)});
    if (capacity) words.insert(words.end(), {"--capacity", std::to_string(*capacity)});
  }
  // Berth stops by itself, with the best plan so far: the limit is there for a Berth that does not.
  constexpr double kGrace = 5;
  std::optional<double> limit = request.time_limit;
  if (limit && runner.is_berth()) *limit += kGrace;

  const ProcessResult result = RunProcess(words, limit);
  if (result.not_started) {
    return End(run, Verdict::kFailed,
               "'" + words.front() + "' cannot be started: " + *result.not_started);
  }
  run.wall = result.seconds;
  if (result.timed_out) {
    run.out_of_budget = true;
    return End(run, Verdict::kTimedOut, "killed after " + SecondsAsText(*limit) + " s");
  }
  if (runner.is_berth()) {
    JudgeBerth(request.problem, path, result, run);
  } else {
    JudgePeer(request.problem, runner, path, result, run);
  }
}

void RunInProcess(const Runner& runner, const RunRequest& request, RunResult& run) {
  PlaceOptions options = runner.options;
  options.seed = request.seed;
  Budget budget;
  std::optional<ProcessorLimit> processor_limit;
  if (request.time_limit && request.processor_limit) {
    processor_limit.emplace(budget, *request.time_limit);
  }
  const auto begin = std::chrono::steady_clock::now();
  if (request.time_limit && !request.processor_limit) budget.SetTimeLimit(*request.time_limit);
  if (runner.node_limit) budget.SetNodeLimit(*runner.node_limit);
  const double processor_begin = ProcessorSeconds();
  const auto answer =
      PlaceBy(*runner.method, request.problem, options, runner.baseline_options, budget);
  run.wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  run.processor = ProcessorSeconds() - processor_begin;
  if (!answer) return End(run, Verdict::kFailed, answer.error().message);
  run.search = answer->seconds;
  run.lower_bound = answer->height_bound;
  run.nodes = answer->nodes;
  run.stats = answer->placing.stats;
  const bool own = runner.finders.empty() || !answer->best ||
                   std::find(runner.finders.begin(), runner.finders.end(),
                             answer->placing.algorithm) != runner.finders.end();
  if (!own && answer->outcome != Outcome::kInfeasible) {
    return EndWithoutAnswer(budget.Exhausted(), {}, run);
  }
  switch (answer->outcome) {
    case Outcome::kInfeasible:
      return EndInfeasible(request.problem, run);
    case Outcome::kUnknown:
      return EndWithoutAnswer(answer->stopped == StopReason::kBudget,
                              answer->best ? std::optional(answer->best->height()) : std::nullopt,
                              run);
    case Outcome::kOptimal:
    case Outcome::kFeasible:
      break;
  }
  JudgeOffsets(request.problem, PlacementOf(*answer->best).offsets, run);
  if (request.keep_offsets && run.decided()) run.offsets = PlacementOf(*answer->best).offsets;
}

}  // namespace

bool Runner::Mentions(std::string_view placeholder) const {
  return std::any_of(words.begin(), words.end(), [placeholder](const std::string& word) {
    return word.find(placeholder) != std::string::npos;
  });
}

Runner BerthRunner(const std::string& executable, const Method& method,
                   std::optional<double> time_limit) {
  const std::string name(MethodName(method));
  Runner runner{"berth:" + name, {}, method};
  if (executable.empty()) return runner;
  runner.words = {executable, "place",    "{input}",  "--algorithm",
                  name,       "--output", "{output}", "--json"};
  if (time_limit) runner.words.insert(runner.words.end(), {"--time-limit", "{time_limit}"});
  return runner;
}

Result<Runner> PeerRunner(std::string_view specification) {
  const std::size_t equals = specification.find('=');
  if (equals == std::string_view::npos || equals == 0) {
    return Fail(ErrorCode::kInvalidOptions,
                "--peer: '" + std::string(specification) +
                    "' is not NAME=COMMAND, such as 'other=other-tool {input} {output}'");
  }
  auto words = BERTH_TRY(SplitCommand(specification.substr(equals + 1)));
  Runner runner{std::string(specification.substr(0, equals)), std::move(words)};
  for (const std::string_view needed : {"{input}", "{output}"}) {
    if (!runner.Mentions(needed)) {
      return Fail(ErrorCode::kInvalidOptions, "--peer: the command of " + runner.name +
                                                  " does not say where its " + std::string(needed) +
                                                  " goes");
    }
  }
  return runner;
}

std::string_view ToString(Verdict verdict) {
  switch (verdict) {
    case Verdict::kSolved:
      return "solved";
    case Verdict::kInfeasible:
      return "infeasible";
    case Verdict::kSkipped:
      return "skipped";
    case Verdict::kGaveUp:
      return "gave up";
    case Verdict::kTimedOut:
      return "timed out";
    case Verdict::kFailed:
      return "failed";
    case Verdict::kWrong:
      return "WRONG";
  }
  return {};
}

RunResult RunOnce(const Runner& runner, const RunRequest& request) {
  RunResult run;
  run.seed = request.seed;
  if (!request.problem.capacity && !runner.is_berth() && runner.Mentions("{capacity}")) {
    End(run, Verdict::kSkipped, "no capacity is known to ask it for");
  } else if (runner.words.empty()) {
    RunInProcess(runner, request, run);
  } else {
    RunProgram(runner, request, run);
  }
  return run;
}

}  // namespace berth::lab
