#include "tools/berth/program.h"

#include <algorithm>
#include <cstdio>
#include <new>
#include <string>
#include <utility>

#include "tools/berth/flags.h"
#include "tools/berth/help.h"
#include "tools/berth/output.h"

namespace berth::cli {
namespace {

int PrintError(const CLI::App& program, const std::string& message) {
  std::fprintf(stderr, "%s: error: %s\n", program.get_name().c_str(), OneLine(message).c_str());
  return kBadInput;
}

int RunCommand(const CLI::App& program, const std::vector<Command>& commands) {
  for (const Command& command : commands) {
    if (!command.app->parsed()) continue;
    const auto exit_code = command.run();
    if (!exit_code) return PrintError(program, exit_code.error().message);
    // A full disk or a reader that went away must not look like success.
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
      return PrintError(program, "standard output cannot be written");
    }
    return *exit_code;
  }
  return PrintError(program, "a command is missing; see " + program.get_name() + " --help");
}

}  // namespace

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

void SetUpProgram(CLI::App& program) {
  program.formatter(MakeHelpFormatter());
  program.option_defaults()->take_last();
  program.set_help_flag("-h,--help", "Print this and exit.");
  program.set_version_flag("--version", program.get_name() + " " BERTH_VERSION,
                           "Print the version and exit.");
  program.require_subcommand(1);
}

int RunProgram(CLI::App& program, const std::vector<Command>& commands, int argc, char** argv) {
  try {
    // CLI11 takes the words of a command line from the last to the first.
    auto words = CompleteArguments(
        program, std::vector<std::string>(argv + (argc > 0 ? 1 : 0), argv + argc));
    std::reverse(words.begin(), words.end());
    program.parse(std::move(words));
  } catch (const CLI::CallForHelp&) {
    Print(program.help());
    return kDone;
  } catch (const CLI::CallForVersion& version) {
    Print(std::string(version.what()) + "\n");
    return kDone;
  } catch (const CLI::ParseError& error) {
    return PrintError(program, UsageMessage(program, error));
  }
  try {
    return RunCommand(program, commands);
  } catch (const std::bad_alloc&) {
    return PrintError(program, "out of memory");
  }
}

}  // namespace berth::cli
