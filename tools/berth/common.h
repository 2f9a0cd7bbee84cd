// tools/berth/common.h -- what the commands share: flags, tables, searches, summaries.
#ifndef BERTH_TOOLS_BERTH_COMMON_H_
#define BERTH_TOOLS_BERTH_COMMON_H_

#include <CLI/CLI.hpp>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/budget.h"
#include "berth/io.h"
#include "berth/place.h"
#include "berth/problem.h"
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
CLI::Option* AddJson(CLI::App& app, bool& json);

// Tables.

struct TableArguments {
  std::string path;
  std::optional<Bytes> capacity;
  CsvOptions csv;
};
// TABLE, --capacity and --endpoints.
void AddTable(CLI::App& app, TableArguments& arguments);

struct Input {
  std::string name;  // What errors and reports call it.
  std::string text;
  Problem problem;  // With the capacity from the command line.
  [[nodiscard]] std::string hash() const { return HashOf(text); }
};
[[nodiscard]] Result<Input> Load(const TableArguments& arguments);
// What to call the file at `path`: itself without its folders, which differ between machines.
[[nodiscard]] std::string NameOf(const std::string& path);

// Searches.

struct SearchArguments {
  PlaceOptions options;
  std::optional<double> time_limit;
  std::optional<std::int64_t> node_limit;
};
// --time-limit, --node-limit and a flag for each row of Options().
void AddSearch(CLI::App& app, SearchArguments& arguments);
// All algorithms with their sources, for --help.
[[nodiscard]] std::string AlgorithmsHelp();

// One search that a person watches: shows its progress, and ends with the best answer so far at the
// first Ctrl-C (or SIGTERM). The second one kills.
class WatchedSearch {
 public:
  explicit WatchedSearch(const SearchArguments& arguments);
  ~WatchedSearch();
  WatchedSearch(const WatchedSearch&) = delete;
  WatchedSearch& operator=(const WatchedSearch&) = delete;

  [[nodiscard]] Result<PlaceAnswer> Place(const Problem& problem);
  [[nodiscard]] Result<Conflict> Explain(const Problem& problem);
  [[nodiscard]] bool interrupted() const { return budget_.cancelled(); }

 private:
  Budget budget_;
  ProgressLine progress_;
  PlaceOptions options_;
};

// Ends the process, with a message, unless the independent verifier agrees that this is a plan for
// `problem`: within its capacity if `within_capacity`, else within any.
void VerifyOrDie(const Problem& problem, const Placement& placement, bool within_capacity);

// Output.

[[nodiscard]] Json ToJson(const std::optional<Bytes>& bytes);  // null where there is none.
// Prints to standard output, indented.
void PrintJson(const Json& json);
void Print(std::string_view text);

}  // namespace berth::internal

#endif  // BERTH_TOOLS_BERTH_COMMON_H_
