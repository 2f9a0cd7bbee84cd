// berth-lab place -- a table placed by any algorithm, other people's included.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "base/try.h"
#include "berth/io.h"
#include "tools/berth/common.h"
#include "tools/lab/command.h"
#include "tools/lab/method.h"

namespace berth::lab {
namespace {

using cli::Json;

struct PlaceArguments {
  cli::TableArguments table;
  cli::SearchArguments search;
  Method method;
  BaselineOptions settings;  // Of the baselines alone.
  std::string output;
  bool json = false;
};

// The keys are those of berth place --json.
Json SummaryJson(const cli::Input& input, const PlaceAnswer& answer,
                 const PlaceArguments& arguments) {
  const auto& best = answer.best;
  Json json;
  json["outcome"] = ToString(answer.outcome);
  json["stopped"] = ToString(answer.stopped);
  json["height"] = best ? Json(best->height) : Json(nullptr);
  json["lower_bound"] = answer.lower_bound;
  json["capacity"] = cli::ToJson(input.problem.capacity);
  json["algorithm"] = answer.algorithm;
  json["nodes"] = answer.nodes;
  json["failures"] = answer.stats.failures;
  json["minor_backtracks"] = answer.stats.minor_backtracks;
  json["major_backtracks"] = answer.stats.major_backtracks;
  json["seconds"] = answer.seconds;
  json["seed"] = arguments.search.options.seed;
  json["input"] = input.name;
  json["version"] = BERTH_VERSION;
  return json;
}

std::string SummaryText(const cli::Input& input, const PlaceAnswer& answer) {
  cli::FactList facts;
  if (input.problem.capacity) {
    facts.Add("capacity", cli::FormatBytesExactly(*input.problem.capacity));
  }
  if (answer.best) {
    facts.Add("height", cli::FormatBytesExactly(answer.best->height));
    facts.Add("found by", std::string(answer.algorithm));
  }
  facts.Add("lower bound", cli::FormatBytesExactly(answer.lower_bound));
  facts.Add("search", cli::Plural(answer.nodes, "node") + ", " +
                          cli::FormatSeconds(answer.seconds) +
                          ", stopped: " + std::string(ToString(answer.stopped)));
  return std::string(ToString(answer.outcome)) + "\n" + facts.ToString();
}

Result<cli::ExitCode> Run(const PlaceArguments& arguments) {
  BERTH_TRY(cli::CheckOneWriter(
      {{"--output -", cli::IsStandardOutput(arguments.output)}, {"--json", arguments.json}}));
  BERTH_TRY(cli::CheckOutput(arguments.output));
  BERTH_TRY(CheckAvailable(arguments.method));
  const cli::Input input = BERTH_TRY(cli::Load(arguments.table));
  cli::WatchedSearch search(arguments.search);
  const PlaceAnswer answer = BERTH_TRY(search.Within([&](Budget& budget) {
    return PlaceBy(arguments.method, input.problem, arguments.search.options, arguments.settings,
                   budget);
  }));
  const bool fits = answer.outcome == Outcome::kOptimal || answer.outcome == Outcome::kFeasible;
  if (answer.best) cli::VerifyOrDie(input.problem, *answer.best, fits);
  if (fits && !arguments.output.empty()) {
    BERTH_TRY(WriteFile(arguments.output, WriteCsv(input.problem, &answer.best->offsets)));
  }
  if (arguments.json) {
    cli::PrintJson(SummaryJson(input, answer, arguments));
  } else if (!cli::IsStandardOutput(arguments.output)) {
    cli::Print(SummaryText(input, answer));
  }
  return cli::ExitCodeOf(answer.outcome);
}

// --algorithm takes the baselines too, and each of their settings is a flag.
void AddMethod(CLI::App& app, PlaceArguments& arguments) {
  const auto set = [&arguments](const std::string& name) {
    const auto method = MethodFromName(name);
    if (!method) throw CLI::ValidationError("--algorithm", UnknownMethod(name));
    arguments.method = *method;
  };
  app.add_option_function<std::string>("--algorithm", set,
                                       "How to place; all are listed below. Default: auto.")
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
      lab.add_subcommand("place", "Place a table by any algorithm, other people's included.");
  const auto arguments = std::make_shared<PlaceArguments>();
  cli::AddTable(*app, arguments->table);
  app->add_option("-o,--output", arguments->output,
                  "Write the table with an offset column, as CSV; - for standard output. Nothing "
                  "is written where no plan fits.")
      ->type_name("FILE");
  cli::AddJson(*app, arguments->json);
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
