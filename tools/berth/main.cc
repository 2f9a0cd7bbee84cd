// The berth command: reads the command line, runs one subcommand, reports in one line what went
// wrong.
#include <algorithm>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "tools/berth/command.h"
#include "tools/berth/common.h"
#include "tools/berth/help.h"

namespace berth::internal {
namespace {

int PrintError(const std::string& message) {
  std::fprintf(stderr, "berth: error: %s\n", OneLine(message).c_str());
  return kBadInput;
}

int RunCommand(const std::vector<Command>& commands) {
  for (const Command& command : commands) {
    if (!command.app->parsed()) continue;
    const auto exit_code = command.run();
    if (!exit_code) return PrintError(exit_code.error().message);
    // A full disk or a reader that went away must not look like success.
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
      return PrintError("standard output cannot be written");
    }
    return *exit_code;
  }
  return PrintError("a command is missing; see berth --help");
}

int Main(int argc, char** argv) {
  CLI::App berth(
      "Static memory planner: models, or buffers with lifetimes and sizes, go in; orders and "
      "offsets with proofs come out.",
      "berth");
  berth.formatter(std::make_shared<HelpFormatter>());
  berth.option_defaults()->take_last();
  berth.set_help_flag("-h,--help", "Print this and exit.");
  berth.set_version_flag("--version", "berth " BERTH_VERSION, "Print the version and exit.");
  berth.require_subcommand(1);
  berth.footer(
      "Exit codes: 0 done, 1 does not fit, 2 bad input or usage, 3 gave up before an answer.\n"
      "\nExamples:\n"
      "  berth plan model.onnx -o plan.json                  A model's order and offsets.\n"
      "  berth place model.csv --capacity 1MiB -o plan.csv   Each buffer's offset, if it fits.\n"
      "  berth explain model.csv --capacity 512KiB           If not, why.\n"
      "  berth check model.csv plan.csv                      Is anybody's plan right?\n"
      "  berth diff old.json new.json --max-growth 2%        What changed, and is it too much?\n"
      "  berth COMMAND --help                                All about one command.");
  const std::vector<Command> commands = {
      AddPlanCommand(berth),  AddScheduleCommand(berth), AddCompareCommand(berth),
      AddPlaceCommand(berth), AddCheckCommand(berth),    AddExplainCommand(berth),
      AddInfoCommand(berth),  AddGenerateCommand(berth), AddEncodeCommand(berth),
      AddBenchCommand(berth), AddSweepCommand(berth),    AddOptionsCommand(berth),
      AddDiffCommand(berth)};
  try {
    // CLI11 takes the words of a command line from the last to the first.
    auto words =
        CompleteArguments(berth, std::vector<std::string>(argv + (argc > 0 ? 1 : 0), argv + argc));
    std::reverse(words.begin(), words.end());
    berth.parse(std::move(words));
  } catch (const CLI::CallForHelp&) {
    Print(berth.help());
    return kDone;
  } catch (const CLI::CallForVersion& version) {
    Print(std::string(version.what()) + "\n");
    return kDone;
  } catch (const CLI::ParseError& error) {
    return PrintError(UsageMessage(berth, error));
  }
  return RunCommand(commands);
}

}  // namespace
}  // namespace berth::internal

int main(int argc, char** argv) { return berth::internal::Main(argc, argv); }
