// berth place -- a table goes in, an offset for each buffer comes out.
#include "src/base/try.h"
#include "tools/berth/command.h"
#include "tools/berth/flags.h"
#include "tools/berth/output.h"
#include "tools/berth/summary.h"
#include "tools/berth/table.h"
#include "tools/berth/watched_search.h"

namespace berth::cli {
namespace {

struct PlaceArguments {
  TableArguments table;
  SearchArguments search;
  PlanOutputs outputs;
};

// The command that says why the table does not fit; none for what was read from standard input.
std::string ExplainCommand(const PlaceArguments& arguments) {
  const std::string& path = arguments.table.path;
  if (path == "-" || OneLine(path) != path || !arguments.table.capacity) return "";
  const std::string& endpoints = arguments.table.endpoints;
  return "berth explain " + ShellWord(path.front() == '-' ? "./" + path : path) + " --capacity " +
         std::to_string(*arguments.table.capacity) +
         (endpoints.empty() ? "" : " --endpoints " + endpoints) +
         (arguments.table.pool ? " --pool " + std::to_string(*arguments.table.pool) : "");
}

Result<ExitCode> Run(const PlaceArguments& arguments) {
  BERTH_TRY(CheckPlanOutputs(arguments.outputs));
  const Input input = BERTH_TRY(Load(arguments.table));
  WatchedSearch search(arguments.search, arguments.outputs.report.empty() ? 0 : kShareOfAdvice);
  const PlanAnswer answer = BERTH_TRY(search.Place(input.problem));
  PlanOptions options;
  options.place = arguments.search.options;
  Planned planned{"place",
                  input.problem,
                  answer,
                  {BERTH_VERSION, input.name, input.hash(), options, arguments.search.node_limit},
                  arguments.outputs};
  planned.snapshot = input.snapshot.get();
  planned.given = input.given ? &*input.given : nullptr;
  planned.interrupted = search.interrupted();
  planned.explain = ExplainCommand(arguments);
  BERTH_TRY(Examine(planned));
  FindAdvice(planned, search);
  BERTH_TRY(WriteOutputs(planned));
  return Conclude(planned);
}

}  // namespace

Command AddPlaceCommand(CLI::App& berth) {
  CLI::App* app = berth.add_subcommand("place", "Give every buffer of a table its offset.");
  const auto arguments = std::make_shared<PlaceArguments>();
  arguments->search.options.minimize_if_infeasible = true;  // What is missing is of interest.
  AddTable(*app, arguments->table);
  AddFile(*app, "-o,--output", arguments->outputs.plan,
          "Write the plan: .csv (the table with an offset column), .json, or - for CSV on "
          "standard output. Nothing is written if no plan fits.");
  AddFile(*app, "--svg", arguments->outputs.svg,
          "Draw the plan, even if it does not fit; - for standard output.");
  AddReport(*app, arguments->outputs.report,
            "Write one HTML file that explains the plan's peak, even if it does not fit");
  AddTrace(*app, arguments->outputs.trace);
  AddJson(*app, arguments->outputs.json);
  AddSearch(*app, arguments->search);
  app->footer(
      AlgorithmsHelp(Algorithms()) +
      "\nExit codes: 0 placed, 1 proved not to fit, 2 bad input or usage, 3 gave up before an "
      "answer.\n"
      "Without a limit, auto stops minimising after a fixed effort; --time-limit lets it go on.\n"
      "It leaves tables with very many overlaps to greedy algorithms, whatever the limit. The\n"
      "summary, and \"stopped\" in --json, say why a search stopped: answered, budget (a limit or\n"
      "Ctrl-C), effort, size or algorithm (a greedy one proves nothing).\n"
      "Only one of --output -, --svg -, --report -, --trace - and --json can use standard output.\n"
      "Ctrl-C ends the search with the best plan so far; a second one kills.\n"
      "\nExamples:\n"
      "  berth place model.csv --capacity 1MiB -o plan.csv      Does it fit, and where?\n"
      "  berth place model.csv --time-limit 10s --svg plan.svg  How few bytes will do?\n"
      "  berth place model.csv --algorithm first-fit-size       What TFLite would do.\n"
      "  berth place snapshot.pickle --report page.html         What PyTorch's requests need.\n"
      "  make-table | berth place - --json | jq .height         In a script.");
  return {app, [arguments] { return Run(*arguments); }};
}

}  // namespace berth::cli
