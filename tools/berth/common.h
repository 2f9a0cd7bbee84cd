// tools/berth/common.h -- what the commands share: flags, tables, searches, summaries.
#ifndef BERTH_TOOLS_BERTH_COMMON_H_
#define BERTH_TOOLS_BERTH_COMMON_H_

#include <CLI/CLI.hpp>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "berth/budget.h"
#include "berth/io.h"
#include "berth/olla.h"
#include "berth/place.h"
#include "berth/plan.h"
#include "berth/problem.h"
#include "berth/schedule.h"
#include "tools/berth/command.h"
#include "tools/berth/method.h"
#include "tools/berth/terminal.h"

namespace berth::internal {

using Json = nlohmann::ordered_json;

// Flags.

// "10s", "500ms", "2m", "1h", "1.5": seconds. Nothing if it is not a duration, or negative.
[[nodiscard]] std::optional<double> ParseDuration(std::string_view text);

// Flags that set `value`; text that is not what it should be is a usage error that quotes it.
CLI::Option* AddBytes(CLI::App& app, const std::string& name, std::optional<Bytes>& value,
                      const std::string& description);
CLI::Option* AddDuration(CLI::App& app, const std::string& name, std::optional<double>& value,
                         const std::string& description);
CLI::Option* AddCount(CLI::App& app, const std::string& name, std::optional<std::int64_t>& value,
                      const std::string& description);
// Likewise for what takes an Integer and is to stay from `least` to `most`.
template <typename Integer, typename Target>
CLI::Option* AddInteger(CLI::App& app, const std::string& name, Target& value, Integer least,
                        Integer most, const std::string& description) {
  const auto set = [&value, name, least, most](const std::string& text) {
    Integer number{};
    const char* const last = text.data() + text.size();
    const auto [end, error] = std::from_chars(text.data(), last, number);
    if (error != std::errc() || end != last || number < least || number > most) {
      throw CLI::ValidationError(name, "'" + OneLine(text) + "' is not a whole number from " +
                                           std::to_string(least) + " to " + std::to_string(most));
    }
    value = number;
  };
  return app.add_option_function<std::string>(name, set, description)->type_name("N");
}
CLI::Option* AddJson(CLI::App& app, bool& json);

// Outputs.

// True where `path` is standard output: "-" or its device.
[[nodiscard]] bool IsStandardOutput(const std::string& path);
// Nothing, or the error that writing to `path` would end in: said before the work, not after it.
// An empty path is none. Error: kIo.
[[nodiscard]] Result<void> CheckOutput(const std::string& path);
// Two outputs would get into each other's way on standard output: kInvalidOptions, naming the
// flags. `writers` are flags, and whether they write there.
[[nodiscard]] Result<void> CheckOneWriter(const std::vector<std::pair<std::string, bool>>& writers);
// True for "PLAN.CSV" and ".csv".
[[nodiscard]] bool HasExtension(const std::string& path, std::string_view extension);

// What a command that plans writes beside its summary: paths, empty for nothing.
struct PlanOutputs {
  std::string plan;
  std::string svg;
  std::string report;
  std::string trace;
  bool json = false;  // The summary is JSON.
  [[nodiscard]] bool to_stdout() const;
};
// "--report FILE", and "--trace FILE" for what a viewer of traces shows.
void AddReport(CLI::App& app, std::string& path, const std::string& what);
void AddTrace(CLI::App& app, std::string& path);
// Error: kInvalidOptions for a file that is no .html, kIo for a folder that is not there.
[[nodiscard]] Result<void> CheckReport(const std::string& path);
// Before any work is done: formats that exist, one writer to standard output, folders that are
// there. Error: kInvalidOptions, kIo.
[[nodiscard]] Result<void> CheckPlanOutputs(const PlanOutputs& outputs);

// Tables.

struct TableArguments {
  std::string path;
  std::optional<Bytes> capacity;
  CsvOptions csv;
  std::string endpoints;  // As given; empty if not.
};
// TABLE, --capacity and --endpoints.
void AddTable(CLI::App& app, TableArguments& arguments,
              const std::string& description = "CSV table of buffers; - is standard input.");

struct Input {
  std::string name;  // What errors and reports call it.
  std::string text;
  Problem problem;  // With the capacity from the command line.
  [[nodiscard]] std::string hash() const { return HashOf(text); }
};
[[nodiscard]] Result<Input> Load(const TableArguments& arguments);
// The same of a file that has been read already.
[[nodiscard]] Result<Input> ParseTable(const TableArguments& arguments, std::string text);
// Files as they are, folders as the tables in them, in order of their names. Error: kIo for a
// folder without any; kInvalidOptions for standard input.
[[nodiscard]] Result<std::vector<std::string>> FindTables(const std::vector<std::string>& paths);
// What to call the file at `path`: itself without its folders, which differ between machines.
[[nodiscard]] std::string NameOf(const std::string& path);

// Searches.

struct SearchArguments {
  PlaceOptions options;  // All but the algorithm.
  Method method;
  BaselineOptions baseline_options;  // Its settings alone.
  std::optional<double> time_limit;
  std::optional<std::int64_t> node_limit;
};
// --time-limit, --node-limit and a flag for each row of Options() except `without`; if that is
// empty, also for each row of BaselineSettings().
void AddSearch(CLI::App& app, SearchArguments& arguments,
               const std::vector<std::string_view>& without = {});
// --time-limit and --node-limit alone.
void AddLimits(CLI::App& app, SearchArguments& arguments);
// The command line with what people leave out: "--minimize" as "--minimize=on", "help place" as
// "place --help".
[[nodiscard]] std::vector<std::string> CompleteArguments(const CLI::App& berth,
                                                         std::vector<std::string> arguments);
// "there is no algorithm 'x'; did you mean 'y'?", or `otherwise` where nothing is near.
[[nodiscard]] std::string UnknownAlgorithm(const std::string& name, const std::string& otherwise);
// All algorithms with their sources, for --help.
[[nodiscard]] std::string AlgorithmsHelp();

// One search that a person watches: shows its progress, and ends with the best answer so far at the
// first Ctrl-C (or SIGTERM). The second one kills.
class WatchedSearch {
 public:
  // Of a time limit, the part `kept` (0 to 1) is not for the search but for what comes after it.
  explicit WatchedSearch(const SearchArguments& arguments, double kept = 0);
  ~WatchedSearch();
  WatchedSearch(const WatchedSearch&) = delete;
  WatchedSearch& operator=(const WatchedSearch&) = delete;

  [[nodiscard]] Result<PlanAnswer> Place(const Problem& problem);
  [[nodiscard]] Result<Conflict> Explain(const Problem& problem);
  [[nodiscard]] Result<PlanAnswer> Schedule(const Graph& graph, ScheduleOptions options);
  // Of the arguments, the placement's options count as well as the limits.
  [[nodiscard]] Result<PlanAnswer> Plan(const Graph& graph, PlanOptions options);
  // OLLA's integer program; as ScheduleByOlla().
  [[nodiscard]] Result<OllaAnswer> Olla(const Graph& graph, const OllaOptions& options);
  // For searches that have no name here: within the limits, and ended by Ctrl-C.
  template <typename Search>
  auto Within(Search search) {
    return search(budget_);
  }
  // For what comes after the search: within all that is left of the time limit, whatever nodes were
  // spent, and ended by Ctrl-C as the search is.
  template <typename Search>
  auto After(Search search) {
    const double left =
        std::chrono::duration<double>(deadline_ - std::chrono::steady_clock::now()).count();
    Budget after;
    if (budget_.has_time_limit()) after.SetTimeLimit(left);
    if (interrupted()) after.Cancel();
    const internal::PollListener listener(after, [&] {
      if (interrupted()) after.Cancel();
    });
    return search(after);
  }
  [[nodiscard]] bool interrupted() const { return budget_.cancelled(); }

 private:
  Budget budget_;
  std::chrono::steady_clock::time_point deadline_;  // Where time is limited, of all there is to do.
  ProgressLine progress_;
  PlaceOptions options_;
  const Method method_;
  const BaselineOptions baseline_options_;
};

// Two pinned buffers that share bytes: no plan can keep both, whatever the capacity.
struct PinCollision {
  std::string first;  // Ids.
  std::string second;
  std::string sentence;  // Which two, where and when, in one line.
};
[[nodiscard]] PinCollision DescribeCollision(const Conflict& conflict, const Problem& problem);
// Looks for one. Error: as Explain().
[[nodiscard]] Result<std::optional<PinCollision>> FindCollision(const Problem& problem);

// What makes the bound of `bound` higher than its load, as the end of a sentence: ", as \"p\" is
// pinned up to there"; nothing where the load alone does.
[[nodiscard]] std::string ReasonOf(const LoadBound& bound, const Problem& problem);

// Output.

[[nodiscard]] Json ToJson(const std::optional<PinCollision>& collision);  // The two ids, or null.
[[nodiscard]] Json ToJson(const std::optional<Bytes>& bytes);  // null where there is none.
// Prints to standard output, indented.
void PrintJson(const Json& json);
void Print(std::string_view text);
void PrintToStandardError(std::string_view text);

// Fits, does not, or nobody knows.
[[nodiscard]] ExitCode ExitCodeOf(Outcome outcome);

}  // namespace berth::internal

#endif  // BERTH_TOOLS_BERTH_COMMON_H_
