#include "tools/berth/flags.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>

#include "tools/berth/help.h"
#include "tools/berth/output.h"

namespace berth::cli {
namespace {

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

// "1.2MiB", which is not a whole number of bytes, rounded down to one; nothing for any other text,
// and without a unit: part of a byte is a mistake.
std::optional<Bytes> RoundedDown(const std::string& text) {
  constexpr std::size_t kMostDigits = 18;  // Of the fraction.
  constexpr Bytes kTenth = 10;
  constexpr Bytes kLargestUnit = Bytes{1} << 50;  // Ten of it fit.
  const std::size_t point = text.find('.');
  if (point == std::string::npos || point == 0 || point != text.rfind('.')) return std::nullopt;
  std::size_t end = point + 1;
  while (end < text.size() && text[end] >= '0' && text[end] <= '9') ++end;
  const std::string unit = text.substr(end);
  const auto whole = ParseBytes(text.substr(0, point) + unit);
  const auto one = ParseBytes("1" + unit);
  if (!whole || !one || *one == 1 || *one > kLargestUnit || end == point + 1 ||
      end - point - 1 > kMostDigits) {
    return std::nullopt;
  }
  // From the last digit to the first; floor((d + floor(x)) / 10) is floor((d + x) / 10).
  Bytes fraction = 0;
  for (std::size_t i = end - 1; i > point; --i) {
    const Bytes digit = text[i] - '0';
    fraction = (digit * *one + fraction) / kTenth;
  }
  if (*whole > kMaxBytes - fraction) return std::nullopt;
  return *whole + fraction;
}

std::string HelpOf(const OptionInfo& info) {
  std::string sentence(info.sentence);
  if (info.name == "algorithm") sentence += " All are listed below.";
  if (ValueName(info) == "VALUE") (sentence += " Allowed: ") += std::string(info.allowed) + ".";
  return sentence + " Default: " + std::string(info.default_value) + ".";
}

}  // namespace

std::string Quoted(std::string_view text) { return "'" + OneLine(text) + "'"; }

void UsageError(const std::string& flag, const std::string& message) {
  throw CLI::ValidationError(flag, message);
}

std::optional<double> ParseDuration(std::string_view text) {
  // Not std::from_chars, which reads whole numbers only in some standard libraries (libc++ 14).
  const std::string digits(text.substr(0, text.find_first_not_of("0123456789.")));
  char* end = nullptr;
  const double number = std::strtod(digits.c_str(), &end);
  if (end == digits.c_str() || !std::isfinite(number)) return std::nullopt;
  std::string_view unit = text.substr(static_cast<std::size_t>(end - digits.c_str()));
  while (!unit.empty() && unit.front() == ' ') unit.remove_prefix(1);
  static const std::map<std::string_view, double> kUnits = {
      {"", 1},  {"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3},
      {"s", 1}, {"m", 60},    {"min", 60},  {"h", 3600}};
  const auto found = kUnits.find(unit);
  if (found == kUnits.end()) return std::nullopt;
  return number * found->second;
}

std::optional<Bytes> ReadBytes(const std::string& flag, const std::string& text) {
  if (const auto bytes = ParseBytes(text)) return bytes;
  const auto bytes = RoundedDown(text);
  if (bytes) {
    PrintToStandardError("berth: note: " + flag + " " + text + " is not a whole number of bytes: " +
                         FormatCount(*bytes) + ", rounded down\n");
  }
  return bytes;
}

Capacity ReadCapacity(const std::string& flag, const std::string& text) {
  if (const auto capacity = ParseCapacity(text)) return *capacity;
  if (const auto bytes = ReadBytes(flag, text)) return *bytes;
  UsageError(
      flag, Quoted(text) + " is neither MR, MH, MP nor a number of bytes such as 512KiB or 1.5MiB");
}

CLI::Option* AddBytes(CLI::App& app, const std::string& name, std::optional<Bytes>& value,
                      const std::string& description) {
  const auto set = [&value, name](const std::string& text) {
    value = ReadBytes(name, text);
    if (!value) {
      UsageError(name, Quoted(text) +
                           " is not a size; write bytes, or a number with a unit such as "
                           "512KiB or 1.5MiB");
    }
  };
  return app.add_option_function<std::string>(name, set, description)->type_name("SIZE");
}

CLI::Option* AddCapacity(CLI::App& app, const std::string& name, std::optional<Capacity>& value,
                         const std::string& description) {
  const auto set = [&value, name](const std::string& text) { value = ReadCapacity(name, text); };
  return app.add_option_function<std::string>(name, set, description)->type_name("BYTES");
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

CLI::Option* AddFile(CLI::App& app, const std::string& name, std::string& path,
                     const std::string& description) {
  return app.add_option(name, path, description)->type_name("FILE");
}

void AddReport(CLI::App& app, std::string& path, const std::string& what) {
  AddFile(app, "--report", path,
          what + ", for any browser, offline; .html, or - for standard output.");
}

void AddTrace(CLI::App& app, std::string& path) {
  AddFile(app, "--trace", path,
          "Write the plan as a trace for Perfetto and chrome://tracing (JSON); - for standard "
          "output.");
}

void AddOrderProof(CLI::App& app, std::string& path) {
  AddFile(
      app, "--proof", path,
      "Write why no order needs less, if the verdict rests on that, for berth-check-proof; half "
      "of a time limit is for it; - for standard output.");
}

void AddOptionFlag(CLI::App& app, const OptionInfo& info, const std::string& group,
                   const std::function<bool(const std::string&)>& set,
                   const std::vector<std::string>& algorithms) {
  const std::string flag = FlagOf(info.name);
  const auto checked = [info, flag, set, algorithms](const std::string& value) {
    if (set(value)) return;
    UsageError(flag,
               info.name == "algorithm"
                   ? UnknownAlgorithm(value, algorithms, "--help lists them")
                   : Quoted(value) + " is not allowed; it must be " + std::string(info.allowed));
  };
  app.add_option_function<std::string>(flag, checked, HelpOf(info))
      ->type_name(ValueName(info))
      ->group(group);
}

void AddSearch(CLI::App& app, SearchArguments& arguments,
               const std::vector<std::string_view>& without) {
  for (const OptionInfo& info : Options()) {
    if (std::find(without.begin(), without.end(), info.name) != without.end()) continue;
    const auto set = [&arguments, info](const std::string& value) {
      return SetOption(arguments.options, info.name, value).has_value();
    };
    AddOptionFlag(app, info, GroupOf(info.name), set, NamesOf(Algorithms()));
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
  AddMemoryLimit(app, arguments.memory_limit)->group("Search");
}

CLI::Option* AddMemoryLimit(CLI::App& app, std::optional<Bytes>& value) {
  return AddBytes(
      app, "--memory-limit", value,
      "Use at most this much memory, such as 500MiB or 2GiB: searches keep their states within "
      "a part of it, and where it is not enough the command ends with an error.");
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

std::string HelpRow(std::string_view name, std::string_view text, std::size_t indent) {
  std::string left(name);
  left.resize(std::max(indent - 2, left.size() + 1), ' ');
  return "  " + left + Wrap(text, TextWidth(), indent) + "\n";
}

}  // namespace berth::cli
