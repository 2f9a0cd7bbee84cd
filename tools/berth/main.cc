// The berth command.
#include <CLI/CLI.hpp>

#include "tools/berth/program.h"

namespace berth::cli {
namespace {

int Main(int argc, char** argv) {
  CLI::App berth(
      "Static memory planner: an order for a model's operators, addresses for its tensors, and "
      "proofs.",
      "berth");
  SetUpProgram(berth);
  berth.footer(
      "Exit codes: 0 done, 1 does not fit, 2 bad input or usage, 3 gave up before an answer.\n"
      "\nExamples:\n"
      "  berth plan model.onnx -o plan.json                  A model's order and offsets.\n"
      "  berth place model.csv --capacity 1MiB -o plan.csv   Each buffer's offset, if it fits.\n"
      "  berth explain model.csv --capacity 512KiB           If not, why.\n"
      "  berth check model.csv plan.csv                      Is another tool's plan valid?\n"
      "  berth diff old.json new.json --max-growth 2%        What changed, and is it too much?\n"
      "  berth view model.onnx                               The same in the browser, live.\n"
      "  berth COMMAND --help                                All about one command.");
  return RunProgram(berth,
                    {AddPlanCommand(berth), AddScheduleCommand(berth), AddCompareCommand(berth),
                     AddPlaceCommand(berth), AddCheckCommand(berth), AddExplainCommand(berth),
                     AddInfoCommand(berth), AddGenerateCommand(berth), AddSweepCommand(berth),
                     AddOptionsCommand(berth), AddDiffCommand(berth), AddViewCommand(berth)},
                    argc, argv);
}

}  // namespace
}  // namespace berth::cli

int main(int argc, char** argv) { return berth::cli::Main(argc, argv); }
