#include "tools/berth/common.h"

#include <signal.h>

#include <atomic>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <utility>

#include "tools/berth/command.h"
#include "tools/berth/help.h"
#include "tools/verify/verify.h"

namespace berth::internal {
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

std::vector<std::string> AlgorithmNames() {
  std::vector<std::string> names;
  for (const AlgorithmInfo& info : Algorithms()) names.emplace_back(info.name);
  return names;
}

// Why SetOption() did not take `value`, in the words of the command line.
std::string Refusal(const OptionInfo& info, const std::string& value) {
  if (info.name == "algorithm") {
    const std::string nearest = Nearest(value, AlgorithmNames());
    return "there is no algorithm " + Quoted(value) + "; " +
           (nearest.empty() ? "--help lists them" : "did you mean '" + nearest + "'?");
  }
  std::string text = Quoted(value) + " is not allowed; it must be ";
  text += info.allowed;
  return text;
}

// What --help puts behind the flag: the values, where there are few, else a word for them.
std::string ValueName(const OptionInfo& info) {
  if (info.name == "algorithm") return "NAME";
  if (info.allowed == "on|off") return "on|off";
  return info.allowed.find("..") != std::string_view::npos ? "N" : "VALUE";
}

void AddPlaceOption(CLI::App& app, const OptionInfo& info, PlaceOptions& options) {
  const std::string flag = FlagOf(info.name);
  const auto set = [&options, info, flag](const std::string& value) {
    if (!SetOption(options, info.name, value)) UsageError(flag, Refusal(info, value));
  };
  std::string sentence(info.sentence);
  if (info.name == "minimize") {  // A switch: people do not expect to have to say "on".
    app.add_flag_function(
           flag, [set](std::int64_t) { set("on"); }, sentence)
        ->group(GroupOf(info.name));
    return;
  }
  const std::string value_name = ValueName(info);
  if (info.name == "algorithm") sentence += " All are listed below.";
  if (value_name == "VALUE") (sentence += " Allowed: ") += std::string(info.allowed) + ".";
  (sentence += " Default: ") += std::string(info.default_value) + ".";
  app.add_option_function<std::string>(flag, set, sentence)
      ->type_name(value_name)
      ->group(GroupOf(info.name));
}

}  // namespace

std::optional<double> ParseDuration(std::string_view text) {
  double number = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  if (error != std::errc() || !std::isfinite(number) || number < 0) return std::nullopt;
  std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
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
  const auto set = [&value, name](const std::string& text) {
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size() || number < 0) {
      UsageError(name, Quoted(text) + " is not a whole number from 0 to 9223372036854775807");
    }
    value = number;
  };
  return app.add_option_function<std::string>(name, set, description)->type_name("N");
}

CLI::Option* AddJson(CLI::App& app, bool& json) {
  return app.add_flag("--json", json, "Print a summary for machines on standard output.");
}

void AddTable(CLI::App& app, TableArguments& arguments) {
  app.add_option("TABLE", arguments.path, "CSV table of buffers; - is standard input.")->required();
  AddBytes(app, "--capacity", arguments.capacity,
           "Bytes that the plan may use, such as 1048576, 512KiB or 1MiB.");
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
  };
  app.add_option_function<std::string>(
         "--endpoints", set,
         "What the lifetime columns mean: half-open [start, end), inclusive [start, end], "
         "exclusive "
         "(start, end), or by-name: a column called end is inclusive, one called upper is not. "
         "Default: by-name.")
      ->type_name("KIND");
}

std::string NameOf(const std::string& path) {
  if (path == "-") return "<stdin>";
  return path.substr(path.find_last_of('/') + 1);
}

Result<Input> Load(const TableArguments& arguments) {
  auto text = ReadFile(arguments.path);
  if (!text) return tl::unexpected(text.error());
  // Errors name the file as the person did.
  const std::string name = arguments.path == "-" ? NameOf(arguments.path) : arguments.path;
  auto table = ReadCsv(*text, name, arguments.csv);
  if (!table) return tl::unexpected(table.error());
  Input input{NameOf(arguments.path), std::move(*text), std::move(table->problem)};
  input.problem.capacity = arguments.capacity;
  return input;
}

void AddSearch(CLI::App& app, SearchArguments& arguments) {
  for (const OptionInfo& info : Options()) AddPlaceOption(app, info, arguments.options);
  AddDuration(
      app, "--time-limit", arguments.time_limit,
      "End the search after this time with the best answer so far, such as 500ms, 10s or 2m.")
      ->group("Search");
  AddCount(app, "--node-limit", arguments.node_limit,
           "End the search after this many nodes; unlike a time limit, the same on every machine.")
      ->group("Search");
}

std::string AlgorithmsHelp() {
  std::string help = "Algorithms:\n";
  for (const AlgorithmInfo& info : Algorithms()) {
    constexpr std::size_t kIndent = 22;
    std::string name(info.name);
    name.resize(std::max(kIndent - 2, name.size() + 1), ' ');
    std::string text(info.summary);
    if (!info.source.empty()) {
      text += " [";
      text += info.source;
      text += ']';
    }
    help += "  " + name + Wrap(text, TextWidth(), kIndent) + "\n";
  }
  return help;
}

WatchedSearch::WatchedSearch(const SearchArguments& arguments) : options_(arguments.options) {
  if (arguments.time_limit) budget_.SetTimeLimit(*arguments.time_limit);
  if (arguments.node_limit) budget_.SetNodeLimit(*arguments.node_limit);
  options_.progress = [this](const Progress& progress) { progress_.Update(progress); };
  running_budget = &budget_;
  HandleSignals(CancelRunningBudget);
}

WatchedSearch::~WatchedSearch() {
  HandleSignals(SIG_DFL);
  running_budget = nullptr;
}

Result<PlaceAnswer> WatchedSearch::Place(const Problem& problem) {
  auto answer = berth::Place(problem, options_, budget_);
  progress_.Stop();
  return answer;
}

Result<Conflict> WatchedSearch::Explain(const Problem& problem) {
  auto conflict = berth::Explain(problem, options_, budget_);
  progress_.Stop();
  return conflict;
}

void VerifyOrDie(const Problem& problem, const Placement& placement, bool within_capacity) {
  Problem checked = problem;
  if (!within_capacity) checked.capacity.reset();
  const Report report = Verify(checked, placement.offsets);
  if (report.ok() && report.height == placement.height) return;
  const std::string what = report.faults.empty()
                               ? "the plan is " + std::to_string(report.height) +
                                     " bytes high, not " + std::to_string(placement.height)
                               : Describe(report.faults.front(), checked, placement.offsets);
  std::fprintf(stderr,
               "berth: error: internal error: the verifier rejects Berth's own plan, which was not "
               "written: %s; please report this with the table\n",
               OneLine(what).c_str());
  std::exit(kInternalError);
}

Json ToJson(const std::optional<Bytes>& bytes) { return bytes ? Json(*bytes) : Json(nullptr); }

void PrintJson(const Json& json) {
  Print(json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

void Print(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); }

}  // namespace berth::internal
