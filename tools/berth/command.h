// tools/berth/command.h -- what a subcommand is: flags, and what to do once they are read.
//
// Each cmd_*.cc adds one. A command that cannot do its work returns an Error, which main() prints
// as one line, "berth: error: ...", before it exits with kBadInput; all other ends are ExitCodes.
#ifndef BERTH_TOOLS_BERTH_COMMAND_H_
#define BERTH_TOOLS_BERTH_COMMAND_H_

#include <functional>
#include <string>

#include "berth/answer.h"
#include "berth/result.h"

namespace CLI {
class App;
}

namespace berth::cli {

enum ExitCode : int {
  kDone = 0,
  kDoesNotFit = 1,      // Or a plan does not hold.
  kBadInput = 2,        // Or bad usage.
  kGaveUp = 3,          // The budget ended before an answer.
  kInternalError = 70,  // Berth is broken (EX_SOFTWARE).
};

// Fits, does not fit, or unknown.
[[nodiscard]] ExitCode ExitCodeOf(Outcome outcome);

struct Command {
  CLI::App* app;
  std::function<Result<ExitCode>()> run;
};

[[nodiscard]] Command AddPlanCommand(CLI::App& berth);
[[nodiscard]] Command AddScheduleCommand(CLI::App& berth);
[[nodiscard]] Command AddCompareCommand(CLI::App& berth);
[[nodiscard]] Command AddPlaceCommand(CLI::App& berth);
[[nodiscard]] Command AddDiffCommand(CLI::App& berth);
[[nodiscard]] Command AddCheckCommand(CLI::App& berth);
[[nodiscard]] Command AddExplainCommand(CLI::App& berth);
[[nodiscard]] Command AddInfoCommand(CLI::App& berth);
[[nodiscard]] Command AddGenerateCommand(CLI::App& berth);
[[nodiscard]] Command AddSweepCommand(CLI::App& berth);
[[nodiscard]] Command AddViewCommand(CLI::App& berth);
[[nodiscard]] Command AddOptionsCommand(CLI::App& berth);

// docs/options.md, made from berth::Options().
[[nodiscard]] std::string OptionsMarkdown();

}  // namespace berth::cli

#endif  // BERTH_TOOLS_BERTH_COMMAND_H_
