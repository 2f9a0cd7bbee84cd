// tools/berth/program.h -- a program of commands: reads the command line, runs one command, reports
// in one line what went wrong. `berth` is one, `berth-lab` another.
#ifndef BERTH_TOOLS_BERTH_PROGRAM_H_
#define BERTH_TOOLS_BERTH_PROGRAM_H_

#include <vector>

#include "tools/berth/command.h"

namespace CLI {
class App;
}

namespace berth::cli {

// What all programs have: the layout of --help, --version, the last of a repeated flag counts.
// Before any command is added.
void SetUpProgram(CLI::App& program);
// Runs the one of `commands` that the command line names. Gives the exit code of the process.
[[nodiscard]] int RunProgram(CLI::App& program, const std::vector<Command>& commands, int argc,
                             char** argv);

}  // namespace berth::cli

#endif  // BERTH_TOOLS_BERTH_PROGRAM_H_
