// berth-lab encode -- the problem as an integer program, for other solvers.
#include "base/try.h"
#include "berth/baselines.h"
#include "tools/berth/flags.h"
#include "tools/berth/output.h"
#include "tools/berth/table.h"
#include "tools/lab/command.h"

namespace berth::lab {
namespace {

struct EncodeArguments {
  cli::TableArguments table;
  std::string output = "-";
  bool minimize = false;
};

Result<cli::ExitCode> Run(const EncodeArguments& arguments) {
  if (!cli::IsStandardOutput(arguments.output) && !cli::HasExtension(arguments.output, ".lp")) {
    return Fail(ErrorCode::kInvalidOptions,
                "--output: '" + arguments.output + "' does not end in .lp, the format of the file");
  }
  BERTH_TRY(cli::CheckOutput(arguments.output));
  const auto input = BERTH_TRY(cli::Load(arguments.table));
  const auto text = BERTH_TRY(WriteLp(input.problem, arguments.minimize));
  BERTH_TRY(WriteFile(arguments.output, text));
  return cli::kDone;
}

}  // namespace

cli::Command AddEncodeCommand(CLI::App& lab) {
  CLI::App* app = lab.add_subcommand(
      "encode", "Write a table as an integer program, for other solvers to read.");
  const auto arguments = std::make_shared<EncodeArguments>();
  cli::AddTable(*app, arguments->table);
  app->add_option("-o,--output", arguments->output,
                  "Write the program in the LP format: a file ending in .lp, or - for standard "
                  "output. Default: -.")
      ->type_name("FILE");
  app->add_flag("--minimize", arguments->minimize,
                "Ask for the least height, not just for a plan within the capacity; always on "
                "without a capacity.");
  app->footer(
      "This is the program that --algorithm ilp solves, TelaMalloc's. CBC, CPLEX, Gurobi,\n"
      "HiGHS, SCIP and others read it. Exit codes: 0 done, 2 bad input or usage.\n"
      "\nExample:\n"
      "  berth-lab encode model.csv --capacity 1MiB -o model.lp && cbc model.lp solve solution "
      "out");
  return {app, [arguments] { return Run(*arguments); }};
}

}  // namespace berth::lab
