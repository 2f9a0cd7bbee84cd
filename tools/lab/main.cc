// berth-lab: Berth against baselines. Never installed.
#include <CLI/CLI.hpp>

#include "tools/berth/program.h"
#include "tools/lab/command.h"

namespace berth::lab {
namespace {

int Main(int argc, char** argv) {
  CLI::App lab(
      "Berth's laboratory: benchmarks, the experiments of papers, other people's methods, and the "
      "training of learned backtracking.",
      "berth-lab");
  cli::SetUpProgram(lab);
  lab.footer(
      "\nExamples:\n"
      "  berth-lab bench tables/ --algorithm canonical,auto    Which is faster?\n"
      "  berth-lab suite telamalloc --quick -o results         A paper's tables and figures.\n"
      "  berth-lab place model.csv --algorithm ilp             By an integer program.\n"
      "  berth-lab COMMAND --help                              All about one command.");
  std::vector<cli::Command> commands = {AddBenchCommand(lab), AddSuiteCommand(lab),
                                        AddPlaceCommand(lab), AddEncodeCommand(lab)};
#ifdef BERTH_WITH_RUNTIME
  commands.push_back(AddReplayCommand(lab));
#endif
  for (cli::Command& command : AddTrainCommands(lab)) commands.push_back(std::move(command));
  return cli::RunProgram(lab, commands, argc, argv);
}

}  // namespace
}  // namespace berth::lab

int main(int argc, char** argv) { return berth::lab::Main(argc, argv); }
