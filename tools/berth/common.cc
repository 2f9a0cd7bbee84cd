#include "tools/berth/common.h"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <limits>
#include <map>
#include <utility>

#include "tools/berth/command.h"
#include "tools/berth/help.h"
#include "tools/verify/verify.h"

namespace berth::cli {
namespace {

[[noreturn]] void UsageError(const std::string& flag, const std::string& message) {
  throw CLI::ValidationError(flag, message);
}

std::string Quoted(std::string_view text) {
  std::string quoted = "'";
  quoted += OneLine(text);
  quoted += '\'';
  return quoted;
}

// The budget that a signal cancels.
std::atomic<Budget*> running_budget{nullptr};

extern "C" void CancelRunningBudget(int) {
  if (Budget* budget = running_budget.load()) budget->Cancel();
}

void HandleSignals(void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

// "canonical.dominance" as "--canonical-dominance".
std::string FlagOf(std::string_view option_name) {
  std::string flag = "--";
  for (const char c : option_name) flag += c == '.' || c == '_' ? '-' : c;
  return flag;
}

// The group in --help: "canonical.dominance" belongs to the canonical search.
std::string GroupOf(std::string_view option_name) {
  const std::size_t dot = option_name.find('.');
  if (dot == std::string_view::npos) return "Search";
  return "Rules of the " + std::string(option_name.substr(0, dot)) + " search";
}

// People need not say "on" (CompleteArguments()).
constexpr std::string_view kSwitchValue = "[on|off]";

// What --help puts behind the flag: the values, where there are few, else a word for them.
std::string ValueName(const OptionInfo& info) {
  if (info.name == "algorithm") return "NAME";
  if (info.allowed == "on|off") return std::string(kSwitchValue);
  return info.allowed.find("..") != std::string_view::npos ? "N" : "VALUE";
}

std::string HelpOf(const OptionInfo& info) {
  std::string sentence(info.sentence);
  if (info.name == "algorithm") sentence += " All are listed below.";
  if (ValueName(info) == "VALUE") (sentence += " Allowed: ") += std::string(info.allowed) + ".";
  return sentence + " Default: " + std::string(info.default_value) + ".";
}

std::vector<std::string> AlgorithmNames() {
  std::vector<std::string> names;
  for (const AlgorithmInfo& info : Algorithms()) names.emplace_back(info.name);
  return names;
}

}  // namespace

std::optional<double> ParseDuration(std::string_view text) {
  // Not std::from_chars, which reads whole numbers only in some standard libraries (libc++ 14).
  const std::string digits(text.substr(0, text.find_first_not_of("0123456789.")));
  char* end = nullptr;
  const double number = std::strtod(digits.c_str(), &end);
  if (end == digits.c_str() || !std::isfinite(number)) return std::nullopt;
  std::string_view unit = text.substr(static_cast<std::size_t>(end - digits.c_str()));
  while (!unit.empty() && unit.front() == ' ') unit.remove_prefix(1);
  static const std::map<std::string_view, double> kUnits = {
      {"", 1}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}, {"m", 60}, {"min", 60}, {"h", 3600}};
  const auto found = kUnits.find(unit);
  if (found == kUnits.end()) return std::nullopt;
  return number * found->second;
}

CLI::Option* AddBytes(CLI::App& app, const std::string& name, std::optional<Bytes>& value,
                      const std::string& description) {
  const auto set = [&value, name](const std::string& text) {
    value = ParseBytes(text);
    if (!value) {
      UsageError(name, Quoted(text) +
                           " is not a size; write bytes, or a number with a unit such as "
                           "512KiB or 1.5MiB");
    }
  };
  return app.add_option_function<std::string>(name, set, description)->type_name("SIZE");
}

CLI::Option* AddDuration(CLI::App& app, const std::string& name, std::optional<double>& value,
                         const std::string& description) {
  const auto set = [&value, name](const std::string& text) {
    value = ParseDuration(text);
    if (!value) {
      UsageError(name, Quoted(text) +
                           " is not a duration; write seconds, or a number with a unit "
                           "such as 500ms, 10s or 2m");
    }
  };
  return app.add_option_function<std::string>(name, set, description)->type_name("TIME");
}

CLI::Option* AddCount(CLI::App& app, const std::string& name, std::optional<std::int64_t>& value,
                      const std::string& description) {
  return AddInteger(app, name, value, std::int64_t{0}, std::numeric_limits<std::int64_t>::max(),
                    description);
}

CLI::Option* AddJson(CLI::App& app, bool& json) {
  return app.add_flag("--json", json, "Print a summary for machines on standard output.");
}

bool IsStandardOutput(const std::string& path) { return path == "-" || path == "/dev/stdout"; }

Result<void> CheckOutput(const std::string& path) {
  if (path.empty() || IsStandardOutput(path)) return {};
  const auto failure = [&path](int error) {
    return Fail(ErrorCode::kIo, path + ": cannot be written: " + std::strerror(error));
  };
  struct stat status {};
  if (stat(path.c_str(), &status) == 0) {
    if (S_ISDIR(status.st_mode)) return failure(EISDIR);
    if (access(path.c_str(), W_OK) != 0) return failure(errno);
    if (!S_ISREG(status.st_mode)) return {};
  } else if (errno != ENOENT) {
    return failure(errno);
  }
  // The file is written anew beside its place.
  const std::size_t slash = path.find_last_of('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  if (access(folder.c_str(), W_OK | X_OK) != 0) return failure(errno);
  return {};
}

Result<void> CheckOneWriter(const std::vector<std::pair<std::string, bool>>& writers) {
  std::string first;
  for (const auto& [flag, writes] : writers) {
    if (!writes) continue;
    if (!first.empty()) {
      return Fail(ErrorCode::kInvalidOptions,
                  first + " and " + flag +
                      " would both write to standard output; give one of them a file, or leave it "
                      "out");
    }
    first = flag;
  }
  return {};
}

bool HasExtension(const std::string& path, std::string_view extension) {
  if (path.size() < extension.size()) return false;
  return std::equal(extension.begin(), extension.end(), path.end() - std::ssize(extension),
                    [](char a, char b) {
                      return std::tolower(static_cast<unsigned char>(a)) ==
                             std::tolower(static_cast<unsigned char>(b));
                    });
}

bool PlanOutputs::to_stdout() const {
  return IsStandardOutput(plan) || IsStandardOutput(svg) || IsStandardOutput(report) ||
         IsStandardOutput(trace);
}

void AddReport(CLI::App& app, std::string& path, const std::string& what) {
  app.add_option("--report", path,
                 what + ", for any browser, offline; .html, or - for standard output.")
      ->type_name("FILE");
}

void AddTrace(CLI::App& app, std::string& path) {
  app.add_option("--trace", path,
                 "Write the plan as a trace for Perfetto and chrome://tracing (JSON); - for "
                 "standard output.")
      ->type_name("FILE");
}

Result<void> CheckReport(const std::string& path) {
  if (!path.empty() && !IsStandardOutput(path) && !HasExtension(path, ".html")) {
    return Fail(ErrorCode::kInvalidOptions,
                "--report: '" + path + "' does not end in .html, the format of reports");
  }
  return CheckOutput(path);
}

Result<void> CheckPlanOutputs(const PlanOutputs& outputs) {
  const bool plan_to_stdout = IsStandardOutput(outputs.plan);
  if (!outputs.plan.empty() && !plan_to_stdout && !HasExtension(outputs.plan, ".csv") &&
      !HasExtension(outputs.plan, ".json")) {
    return Fail(
        ErrorCode::kInvalidOptions,
        "--output: '" + outputs.plan + "' ends in neither .csv nor .json, the formats of plans");
  }
  for (const Result<void>& checked :
       {CheckOneWriter({{"--output -", plan_to_stdout},
                        {"--svg -", IsStandardOutput(outputs.svg)},
                        {"--report -", IsStandardOutput(outputs.report)},
                        {"--trace -", IsStandardOutput(outputs.trace)},
                        {"--json", outputs.json}}),
        CheckOutput(outputs.plan), CheckOutput(outputs.svg), CheckReport(outputs.report),
        CheckOutput(outputs.trace)}) {
    if (!checked) return checked;
  }
  return {};
}

void AddTable(CLI::App& app, TableArguments& arguments, const std::string& description) {
  app.add_option("TABLE", arguments.path, description)->required();
  AddBytes(
      app, "--capacity", arguments.capacity,
      "Bytes that the plan may use, such as 1048576, 512KiB or 1MiB; K, M and G alone mean KiB, "
      "MiB and GiB.");
  static const std::map<std::string, Endpoints> kEndpoints = {{"by-name", Endpoints::kByColumnName},
                                                              {"half-open", Endpoints::kHalfOpen},
                                                              {"inclusive", Endpoints::kInclusive},
                                                              {"exclusive", Endpoints::kExclusive}};
  const auto set = [&arguments](const std::string& text) {
    const auto found = kEndpoints.find(text);
    if (found == kEndpoints.end()) {
      UsageError("--endpoints",
                 Quoted(text) + " is not one of by-name, half-open, inclusive, exclusive");
    }
    arguments.csv.endpoints = found->second;
    arguments.endpoints = text;
  };
  app.add_option_function<std::string>(
         "--endpoints", set,
         "What the lifetime columns mean: half-open [start, end), inclusive [start, end], "
         "exclusive (start, end), or by-name: a column called end is inclusive, one called upper "
         "is not. Default: by-name.")
      ->type_name("KIND");
}

Result<std::vector<std::string>> FindTables(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    if (path == "-") {
      return Fail(ErrorCode::kInvalidOptions,
                  "TABLES: - is no table here, as each program reads the file by itself");
    }
    std::error_code error;
    if (!std::filesystem::is_directory(path, error)) {
      files.push_back(path);
      continue;
    }
    std::vector<std::string> found;
    for (std::filesystem::directory_iterator it(path, error), end; !error && it != end;
         it.increment(error)) {
      if (HasExtension(it->path().string(), ".csv")) found.push_back(it->path().string());
    }
    if (error) return Fail(ErrorCode::kIo, path + ": " + error.message());
    if (found.empty()) return Fail(ErrorCode::kIo, path + ": the folder holds no .csv table");
    std::sort(found.begin(), found.end());
    files.insert(files.end(), found.begin(), found.end());
  }
  return files;
}

std::string NameOf(const std::string& path) {
  if (path == "-") return "<stdin>";
  return path.substr(path.find_last_of('/') + 1);
}

Result<Input> Load(const TableArguments& arguments) {
  auto text = ReadFile(arguments.path);
  if (!text) return tl::unexpected(text.error());
  return ParseTable(arguments, std::move(*text));
}

Result<Input> ParseTable(const TableArguments& arguments, std::string text) {
  // Errors name the file as the person did.
  const std::string name = arguments.path == "-" ? NameOf(arguments.path) : arguments.path;
  auto table = ReadCsv(text, name, arguments.csv);
  if (!table) return tl::unexpected(table.error());
  Input input{NameOf(arguments.path), std::move(text), std::move(table->problem)};
  input.problem.capacity = arguments.capacity;
  return input;
}

void AddOptionFlag(CLI::App& app, const OptionInfo& info, const std::string& group,
                   const std::function<bool(const std::string&)>& set) {
  const std::string flag = FlagOf(info.name);
  const auto checked = [info, flag, set](const std::string& value) {
    if (set(value)) return;
    if (info.name == "algorithm") {
      UsageError(flag, UnknownAlgorithm(value, AlgorithmNames(), "--help lists them"));
    }
    UsageError(flag, Quoted(value) + " is not allowed; it must be " + std::string(info.allowed));
  };
  app.add_option_function<std::string>(flag, checked, HelpOf(info))
      ->type_name(ValueName(info))
      ->group(group);
}

void AddSearch(CLI::App& app, SearchArguments& arguments,
               const std::vector<std::string_view>& without) {
  for (const OptionInfo& info : Options()) {
    if (std::find(without.begin(), without.end(), info.name) != without.end()) continue;
    AddOptionFlag(app, info, GroupOf(info.name), [&arguments, info](const std::string& value) {
      return SetOption(arguments.options, info.name, value).has_value();
    });
  }
  AddLimits(app, arguments);
}

void AddLimits(CLI::App& app, SearchArguments& arguments) {
  AddDuration(
      app, "--time-limit", arguments.time_limit,
      "End the search after this time with the best answer so far, such as 500ms, 10s or 2m.")
      ->group("Search");
  AddCount(app, "--node-limit", arguments.node_limit,
           "End the search after this many nodes; unlike a time limit, the same on every machine.")
      ->group("Search");
}

std::string UnknownAlgorithm(const std::string& name, const std::vector<std::string>& known,
                             const std::string& otherwise) {
  const std::string nearest = Nearest(name, known);
  return "there is no algorithm " + Quoted(name) + "; " +
         (nearest.empty() ? otherwise : "did you mean '" + nearest + "'?");
}

std::vector<std::string> CompleteArguments(const CLI::App& berth,
                                           std::vector<std::string> arguments) {
  if (!arguments.empty() && arguments.front() == "help") {
    arguments.erase(arguments.begin());
    // What is no command stays alone, and is refused as that.
    const auto commands = berth.get_subcommands([&arguments](const CLI::App* command) {
      return !arguments.empty() && command->get_name() == arguments.front();
    });
    if (arguments.empty() || !commands.empty()) arguments.emplace_back("--help");
    return arguments;
  }
  std::vector<std::string> switches;
  for (const CLI::App* command : berth.get_subcommands({})) {
    for (const CLI::Option* option : command->get_options()) {
      if (option->get_type_name() == kSwitchValue) switches.push_back(option->get_name());
    }
  }
  std::vector<std::string> complete;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "--") {
      complete.insert(complete.end(), arguments.begin() + static_cast<std::ptrdiff_t>(i),
                      arguments.end());
      break;
    }
    complete.push_back(arguments[i]);
    if (std::find(switches.begin(), switches.end(), arguments[i]) == switches.end()) continue;
    const bool said =
        i + 1 < arguments.size() && (arguments[i + 1] == "on" || arguments[i + 1] == "off");
    complete.back() += "=" + (said ? arguments[++i] : std::string("on"));
  }
  return complete;
}

std::string AlgorithmHelp(std::string_view name, std::string_view text) {
  constexpr std::size_t kIndent = 22;
  std::string left(name);
  left.resize(std::max(kIndent - 2, left.size() + 1), ' ');
  return "  " + left + Wrap(text, TextWidth(), kIndent) + "\n";
}

std::string AlgorithmsHelp() {
  std::string help = "Algorithms:\n";
  for (const AlgorithmInfo& info : Algorithms()) {
    std::string text(info.summary);
    if (!info.source.empty()) text += " [" + std::string(info.source) + "]";
    help += AlgorithmHelp(info.name, text);
  }
  return help;
}

WatchedSearch::WatchedSearch(const SearchArguments& arguments, double kept)
    : options_(arguments.options) {
  if (arguments.time_limit) {
    budget_.SetTimeLimit(*arguments.time_limit * (1 - kept));
    if (budget_.has_time_limit()) {
      deadline_ = std::chrono::steady_clock::now() +
                  std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                      std::chrono::duration<double>(*arguments.time_limit));
    }
  }
  if (arguments.node_limit) budget_.SetNodeLimit(*arguments.node_limit);
  options_.progress = [this](const Progress& progress) { progress_.Update(progress); };
  running_budget = &budget_;
  HandleSignals(CancelRunningBudget);
}

WatchedSearch::~WatchedSearch() {
  HandleSignals(SIG_DFL);
  running_budget = nullptr;
}

Result<PlanAnswer> WatchedSearch::Place(const Problem& problem) {
  auto answer = berth::Place(problem, options_, budget_);
  progress_.Stop();
  return answer;
}

Result<Conflict> WatchedSearch::Explain(const Problem& problem) {
  auto conflict = berth::Explain(problem, options_, budget_);
  progress_.Stop();
  return conflict;
}

Result<PlanAnswer> WatchedSearch::Schedule(const Graph& graph, ScheduleOptions options) {
  options.progress = options_.progress;
  auto answer = berth::Schedule(graph, options, budget_);
  progress_.Stop();
  return answer;
}

Result<PlanAnswer> WatchedSearch::Plan(const Graph& graph, PlanOptions options) {
  options.schedule.progress = options_.progress;
  options.place.progress = options_.progress;
  auto plan = berth::Plan(graph, options, budget_);
  progress_.Stop();
  return plan;
}

PinCollision DescribeCollision(const Conflict& conflict, const Problem& problem) {
  // The independent verifier knows best which bytes the two share, and when.
  Problem pair;
  std::vector<Bytes> pins;
  for (const std::size_t i : conflict.buffers) {
    pair.buffers.push_back(problem.buffers[i]);
    pins.push_back(problem.buffers[i].offset.value_or(0));
  }
  PinCollision collision{pair.buffers.at(0).id, pair.buffers.at(1).id, ""};
  collision.sentence = "The pins of \"" + OneLine(collision.first) + "\" and \"" +
                       OneLine(collision.second) + "\" overlap";
  for (const verify::Fault& fault : verify::VerifyOffsets(pair, pins).faults) {
    if (fault.kind != verify::FaultKind::kOverlap) continue;
    collision.sentence += ": both need bytes [" + FormatCount(fault.lower) + ", " +
                          FormatCount(fault.upper) + ") at steps [" + std::to_string(fault.start) +
                          ", " + std::to_string(fault.end) + ")";
    break;
  }
  collision.sentence += ".";
  return collision;
}

Result<std::optional<PinCollision>> FindCollision(const Problem& problem) {
  Problem unlimited = problem;
  unlimited.capacity.reset();
  Budget budget;
  const auto conflict = berth::Explain(unlimited, {}, budget);
  if (!conflict) return tl::unexpected(conflict.error());
  if (!conflict->pins_collide) return std::nullopt;
  return DescribeCollision(*conflict, unlimited);
}

std::string ReasonOf(const LoadBound& bound, const Problem& problem) {
  if (bound.lower_bound <= bound.load) return "";
  for (const Buffer& buffer : problem.buffers) {
    if (buffer.offset && *buffer.offset + buffer.size == bound.lower_bound) {
      return ", where the pinned \"" + OneLine(buffer.id) + "\" ends";
    }
  }
  return ", as alignment wastes the rest at step " + std::to_string(bound.bound_step);
}

Json ToJson(const std::optional<PinCollision>& collision) {
  return collision ? Json({collision->first, collision->second}) : Json(nullptr);
}

Json ToJson(const std::optional<Bytes>& bytes) { return bytes ? Json(*bytes) : Json(nullptr); }

void PrintJson(const Json& json) {
  Print(json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

void Print(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); }

void PrintToStandardError(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
}

ExitCode ExitCodeOf(Outcome outcome) {
  switch (outcome) {
    case Outcome::kOptimal:
    case Outcome::kFeasible:
      return kDone;
    case Outcome::kInfeasible:
      return kDoesNotFit;
    case Outcome::kUnknown:
      break;
  }
  return kGaveUp;
}

}  // namespace berth::cli
