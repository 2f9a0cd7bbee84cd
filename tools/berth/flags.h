// tools/berth/flags.h -- the flags that commands share, and how their values are read.
#ifndef BERTH_TOOLS_BERTH_FLAGS_H_
#define BERTH_TOOLS_BERTH_FLAGS_H_

#include <CLI/CLI.hpp>
#include <charconv>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "berth/bytes.h"
#include "berth/place.h"
#include "berth/plan.h"
#include "tools/berth/terminal.h"
#include "tools/berth/watched_search.h"

namespace berth::cli {

// "'text'", on one line.
[[nodiscard]] std::string Quoted(std::string_view text);
// Ends the parsing: "FLAG: MESSAGE".
[[noreturn]] void UsageError(const std::string& flag, const std::string& message);

// "10s", "500ms", "2m", "1h", "1.5": seconds. Nothing if it is not a duration, or negative.
[[nodiscard]] std::optional<double> ParseDuration(std::string_view text);

// The size in `text`, the value of `flag`, as ParseBytes() reads it (berth/bytes.h). One that is not
// a whole number of bytes, such as 1.2MiB, is rounded down, and a note on standard error says so.
// Nothing if it is not a size.
[[nodiscard]] std::optional<Bytes> ReadBytes(const std::string& flag, const std::string& text);
// MR, MH, MP or a size, as above. Ends in a usage error for any other text.
[[nodiscard]] Capacity ReadCapacity(const std::string& flag, const std::string& text);

// Flags that set `value`; for any other text they end in a usage error that quotes it.
CLI::Option* AddBytes(CLI::App& app, const std::string& name, std::optional<Bytes>& value,
                      const std::string& description);
CLI::Option* AddCapacity(CLI::App& app, const std::string& name, std::optional<Capacity>& value,
                         const std::string& description);
CLI::Option* AddDuration(CLI::App& app, const std::string& name, std::optional<double>& value,
                         const std::string& description);
CLI::Option* AddCount(CLI::App& app, const std::string& name, std::optional<std::int64_t>& value,
                      const std::string& description);
// A whole number from `least` to `most`; `Target` is Integer or an optional of it.
template <typename Integer, typename Target>
CLI::Option* AddInteger(CLI::App& app, const std::string& name, Target& value, Integer least,
                        Integer most, const std::string& description) {
  const auto set = [&value, name, least, most](const std::string& text) {
    Integer number{};
    const char* const last = text.data() + text.size();
    const auto [end, error] = std::from_chars(text.data(), last, number);
    if (error != std::errc() || end != last || number < least || number > most) {
      UsageError(name, Quoted(text) + " is not a whole number from " + std::to_string(least) +
                           " to " + std::to_string(most));
    }
    value = number;
  };
  return app.add_option_function<std::string>(name, set, description)->type_name("N");
}
CLI::Option* AddJson(CLI::App& app, bool& json);
// A path to read or to write.
CLI::Option* AddFile(CLI::App& app, const std::string& name, std::string& path,
                     const std::string& description);
// "--report FILE", "--trace FILE" for trace viewers, and "--proof FILE" of the order of a graph.
void AddReport(CLI::App& app, std::string& path, const std::string& what);
void AddTrace(CLI::App& app, std::string& path);
void AddOrderProof(CLI::App& app, std::string& path);

// --time-limit, --node-limit, --memory-limit and a flag for each row of Options() except `without`.
void AddSearch(CLI::App& app, SearchArguments& arguments,
               const std::vector<std::string_view>& without = {});
// --time-limit, --node-limit and --memory-limit alone.
void AddLimits(CLI::App& app, SearchArguments& arguments);
CLI::Option* AddMemoryLimit(CLI::App& app, std::optional<Bytes>& value);
// A flag for one row of a table of options: --canonical-dominance for "canonical.dominance". `set`
// takes its text, and gives false where that is not allowed. `algorithms`: the names that
// --algorithm knows.
void AddOptionFlag(CLI::App& app, const OptionInfo& info, const std::string& group,
                   const std::function<bool(const std::string&)>& set,
                   const std::vector<std::string>& algorithms = {});
// The command line with what people leave out: "--minimize" as "--minimize=on", "help place" as
// "place --help".
[[nodiscard]] std::vector<std::string> CompleteArguments(const CLI::App& berth,
                                                         std::vector<std::string> arguments);

// The names of rows such as those of Algorithms().
template <typename Infos>
[[nodiscard]] std::vector<std::string> NamesOf(const Infos& infos) {
  std::vector<std::string> names;
  for (const auto& info : infos) names.emplace_back(info.name);
  return names;
}
// "there is no algorithm 'x'; did you mean 'y'?", or `otherwise` where no known name is near.
[[nodiscard]] std::string UnknownAlgorithm(const std::string& name,
                                           const std::vector<std::string>& known,
                                           const std::string& otherwise);
// One row of a list in --help: a name, and `text` wrapped beside it from column `indent` on.
[[nodiscard]] std::string HelpRow(std::string_view name, std::string_view text,
                                  std::size_t indent = 22);
// All of `infos`, rows of Algorithms() or ScheduleAlgorithms(), with their sources, for --help.
template <typename Infos>
[[nodiscard]] std::string AlgorithmsHelp(const Infos& infos) {
  std::string help = "Algorithms:\n";
  for (const auto& info : infos) {
    const std::string source = info.source.empty() ? "" : " [" + std::string(info.source) + "]";
    help += HelpRow(info.name, std::string(info.summary) + source);
  }
  return help;
}

}  // namespace berth::cli

#endif  // BERTH_TOOLS_BERTH_FLAGS_H_
