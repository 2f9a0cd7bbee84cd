// tools/lab/command.h -- the commands of berth-lab; each cmd_*.cc adds one, or some.
#ifndef BERTH_TOOLS_LAB_COMMAND_H_
#define BERTH_TOOLS_LAB_COMMAND_H_

#include <vector>

#include "tools/berth/command.h"

namespace CLI {
class App;
}

namespace berth::lab {

[[nodiscard]] cli::Command AddBenchCommand(CLI::App& lab);
[[nodiscard]] cli::Command AddEncodeCommand(CLI::App& lab);
[[nodiscard]] cli::Command AddPlaceCommand(CLI::App& lab);
#ifdef BERTH_WITH_RUNTIME  // Plans at run time are a part of the C interface.
[[nodiscard]] cli::Command AddReplayCommand(CLI::App& lab);
#endif
[[nodiscard]] cli::Command AddSuiteCommand(CLI::App& lab);
// berth-lab train, which has commands of its own.
[[nodiscard]] std::vector<cli::Command> AddTrainCommands(CLI::App& lab);

}  // namespace berth::lab

#endif  // BERTH_TOOLS_LAB_COMMAND_H_
