// berth-lab place -- a table placed by any algorithm, other people's included.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "base/try.h"
#include "berth/io.h"
#include "tools/berth/flags.h"
#include "tools/berth/output.h"
#include "tools/berth/summary.h"
#include "tools/berth/table.h"
#include "tools/berth/watched_search.h"
#include "tools/lab/command.h"
#include "tools/lab/method.h"

namespace berth::lab {
namespace {

struct PlaceArguments {
  cli::TableArguments table;
  cli::SearchArguments search;
  Method method;
  BaselineOptions settings;  // Of the baselines alone.
  cli::PlanOutputs outputs;
};

Result<cli::ExitCode> Run(const PlaceArguments& arguments) {
  BERTH_TRY(cli::CheckPlanOutputs(arguments.outputs));
  BERTH_TRY(CheckAvailable(arguments.method));
  const cli::Input input = BERTH_TRY(cli::Load(arguments.table));
  cli::WatchedSearch search(arguments.search);
  const PlanAnswer answer = BERTH_TRY(search.Run([&](Budget& budget) {
    return PlaceBy(arguments.method, input.problem, arguments.search.options, arguments.settings,
                   budget);
  }));
  PlanOptions options;
  options.place = arguments.search.options;
  cli::Planned planned{
      "place",
      input.problem,
      answer,
      {BERTH_VERSION, input.name, input.hash(), options, arguments.search.node_limit},
      arguments.outputs};
  planned.provenance.method = std::string(MethodName(arguments.method));
  planned.interrupted = search.interrupted();
  BERTH_TRY(cli::Examine(planned));
  cli::FindAdvice(planned, search);
  BERTH_TRY(cli::WriteOutputs(planned));
  return cli::Conclude(planned);
}

// --algorithm takes the baselines too, and each of their settings is a flag.
void AddMethod(CLI::App& app, PlaceArguments& arguments) {
  const auto set = [&arguments](const std::string& name) {
    const auto method = MethodFromName(name);
    if (!method) throw CLI::ValidationError("--algorithm", UnknownMethod(name));
    arguments.method = *method;
  };
  app.add_option_function<std::string>("--algorithm", set,
                                       "All algorithms are listed below. Default: auto.")
      ->type_name("NAME")
      ->group("Search");
  cli::AddSearch(app, arguments.search, {"algorithm"});
  for (const OptionInfo& info : BaselineSettings()) {
    cli::AddOptionFlag(app, info, "Settings of baselines",
                       [&arguments, info](const std::string& value) {
                         return SetOption(arguments.settings, info.name, value).has_value();
                       });
  }
}

}  // namespace

cli::Command AddPlaceCommand(CLI::App& lab) {
  CLI::App* app =
      lab.add_subcommand("place", "Place a table by any algorithm, including other people's.");
  const auto arguments = std::make_shared<PlaceArguments>();
  cli::AddTable(*app, arguments->table);
  app->add_option("-o,--output", arguments->outputs.plan,
                  "Write the plan: .csv (the table with an offset column), .json, or - for CSV on "
                  "standard output. Nothing is written if no plan fits.")
      ->type_name("FILE");
  cli::AddJson(*app, arguments->outputs.json);
  AddMethod(*app, *arguments);
  app->footer(MethodsHelp() +
              "\nExit codes: 0 placed, 1 proved not to fit, 2 bad input or usage, 3 gave up "
              "before an answer.\n"
              "\nExamples:\n"
              "  berth-lab place model.csv --capacity 1MiB --algorithm ilp --time-limit 60s\n"
              "  berth-lab place model.csv --algorithm pytorch-caching --json");
  return {app, [arguments] { return Run(*arguments); }};
}

}  // namespace berth::lab
