// berth encode -- the problem as an integer program, for anybody's solver.
#include "tools/berth/command.h"
#include "tools/berth/common.h"

namespace berth::internal {
namespace {

struct EncodeArguments {
  TableArguments table;
  std::string output = "-";
  bool minimize = false;
};

Result<ExitCode> Run(const EncodeArguments& arguments) {
  if (!IsStandardOutput(arguments.output) && !HasExtension(arguments.output, ".lp")) {
    return Fail(ErrorCode::kInvalidOptions,
                "--output: '" + arguments.output + "' does not end in .lp, the format of the file");
  }
  if (auto checked = CheckOutput(arguments.output); !checked) {
    return tl::unexpected(checked.error());
  }
  const auto input = Load(arguments.table);
  if (!input) return tl::unexpected(input.error());
  const auto text = WriteLp(input->problem, arguments.minimize);
  if (!text) return tl::unexpected(text.error());
  if (auto written = WriteFile(arguments.output, *text); !written) {
    return tl::unexpected(written.error());
  }
  return kDone;
}

}  // namespace

Command AddEncodeCommand(CLI::App& berth) {
  CLI::App* app = berth.add_subcommand(
      "encode", "Write a table as an integer program, for other solvers to read.");
  const auto arguments = std::make_shared<EncodeArguments>();
  AddTable(*app, arguments->table);
  app->add_option("-o,--output", arguments->output,
                  "Write the program in the LP format: a file ending in .lp, or - for standard "
                  "output. Default: -.")
      ->type_name("FILE");
  app->add_flag("--minimize", arguments->minimize,
                "Ask for the least height, not just for a plan within the capacity; always so "
                "without a capacity.");
  app->footer(
      "It is the program that --algorithm ilp solves, that of TelaMalloc. CBC, CPLEX, Gurobi,\n"
      "HiGHS, SCIP and others read it. Exit codes: 0 done, 2 bad input or usage.\n"
      "\nExample:\n"
      "  berth encode model.csv --capacity 1MiB -o model.lp && cbc model.lp solve solution out");
  return {app, [arguments] { return Run(*arguments); }};
}

}  // namespace berth::internal
