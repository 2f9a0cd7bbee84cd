// berth-lab suite -- the tables and figures of papers, measured anew.
#include <algorithm>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "tools/berth/flags.h"
#include "tools/lab/command.h"
#include "tools/lab/suites/suites.h"

namespace berth::lab {
namespace {

struct SuiteArguments {
  std::string name;
  SuiteOptions options;
};

void AddInputs(CLI::App& app, SuiteOptions& options) {
  app.add_option("--only", options.only,
                 "Only these experiments, separated by commas, such as table1,figure14.")
      ->type_name("NAMES")
      ->delimiter(',')
      ->expected(1)
      ->allow_extra_args(false)
      ->take_all();
  app.add_option("--algorithms", options.algorithms,
                 "Where times are compared: only these, separated by commas, such as "
                 "telamalloc,niche,auto.")
      ->type_name("NAMES")
      ->delimiter(',')
      ->expected(1)
      ->allow_extra_args(false)
      ->take_all();
  app.add_option("--data", options.data,
                 "The folder that holds models/ and challenging/; for olla, cosma, boards and "
                 "order-proofs inference/ and training/; for recompute remat/ and graphs/. "
                 "Default: $BERTH_DATA/buffers, "
                 "$BERTH_DATA/graphs, $BERTH_DATA.")
      ->type_name("FOLDER");
  app.add_flag("--quick", options.quick,
               "A few small inputs and short limits: seconds instead of minutes.");
  cli::AddInteger(app, "--inputs", options.inputs, std::int64_t{1}, std::int64_t{1'000'000},
                  "At most N inputs of each experiment; where instances are drawn, at most N of "
                  "each size.");
}

void AddLimits(CLI::App& app, SuiteOptions& options) {
  cli::AddDuration(app, "--time-limit", options.time_limit,
                   "For each run. Default: the experiment's own.");
  cli::AddInteger(app, "--steps", options.steps, std::int64_t{1}, std::int64_t{1'000'000'000},
                  "Steps after which a run counts as failed, in experiments that count steps. "
                  "Default: 500000.");
  cli::AddInteger(app, "--rounds", options.rounds, 1, 1'000'000,
                  "Runs of each program in experiments that measure time. Default: 3.");
  options.jobs = static_cast<int>(std::clamp(std::thread::hardware_concurrency(), 1U, 64U));
  cli::AddInteger(
      app, "--jobs", options.jobs, 1, 64,
      "Parallel runs in experiments that count steps; timed runs are never parallel. Default: "
      "all threads of the machine.");
}

}  // namespace

cli::Command AddSuiteCommand(CLI::App& lab) {
  CLI::App* app =
      lab.add_subcommand("suite", "Repeat the experiments of a paper: its tables and figures.");
  const auto arguments = std::make_shared<SuiteArguments>();
  app->add_option(
         "NAME", arguments->name,
         "The paper: telamalloc, minimalloc, olla or cosma; or recompute, operators that run "
         "again; memories, the choice of what stays in a fast memory; boards; or proofs and "
         "order-proofs, what proofs of placements and of orders cost.")
      ->required();
  app->add_option("INPUTS", arguments->options.tables,
                  "Tables (for olla, cosma, recompute, boards and order-proofs: models), or "
                  "folders of them, "
                  "instead of the "
                  "paper's. Default: those of --data, or generated ones.")
      ->take_all();
  AddInputs(*app, arguments->options);
  AddLimits(*app, arguments->options);
  app->add_option("-o,--output", arguments->options.output,
                  "The folder for CSV files and SVG pictures. Default: none is written.")
      ->type_name("FOLDER");
  app->footer(
      "Exit codes: 0 done, 1 a wrong plan or a contradiction, 2 bad input or usage.\n"
      "docs/howto/reproduce-the-papers.md says what each experiment shows.\n"
      "\nExamples:\n"
      "  berth-lab suite minimalloc --quick\n"
      "  berth-lab suite telamalloc --only table1,figure14 -o results\n"
      "  berth-lab suite cosma model.onnx --only figure3");
  return {app, [arguments] { return RunSuite(arguments->name, arguments->options); }};
}

}  // namespace berth::lab
