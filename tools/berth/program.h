// tools/berth/program.h -- a program of commands: reads the command line, runs one command, reports
// in one line what went wrong. `berth` is one, `berth-lab` another.
#ifndef BERTH_TOOLS_BERTH_PROGRAM_H_
#define BERTH_TOOLS_BERTH_PROGRAM_H_

#include <string>
#include <vector>

#include "berth/advise.h"
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

// The command line that is running, to copy, with `changes` in place of the options that they
// replace: "berth plan model.onnx --capacity 512KiB --in-place".
[[nodiscard]] std::string CommandWith(const std::vector<OptionChange>& changes);
// The same of any program and its words, in which abbreviations are complete.
[[nodiscard]] std::string CommandWith(const std::string& program,
                                      const std::vector<std::string>& words,
                                      const std::vector<OptionChange>& changes);

}  // namespace berth::cli

#endif  // BERTH_TOOLS_BERTH_PROGRAM_H_
