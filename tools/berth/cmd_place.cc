// berth place -- a table goes in, an offset for each buffer comes out.
#include <utility>

#include "berth/page.h"
#include "berth/report.h"
#include "tools/berth/command.h"
#include "tools/berth/common.h"
#include "tools/berth/remedies.h"

namespace berth::cli {
namespace {

struct PlaceArguments {
  TableArguments table;
  SearchArguments search;
  PlanOutputs outputs;
};

// What came of it all, for people and for machines.
struct Summary {
  const Input& input;
  const PlaceAnswer& answer;
  const PlaceArguments& arguments;
  LoadBound load;
  bool fits;
  bool interrupted;
  std::optional<PinCollision> collision;

  [[nodiscard]] Json ToJson() const;
  [[nodiscard]] std::string ToText() const;

 private:
  [[nodiscard]] std::string Headline() const;
  [[nodiscard]] std::string Advice() const;
};

Json Summary::ToJson() const {
  const auto& best = answer.best;
  Json json;
  json["outcome"] = ToString(answer.outcome);
  json["stopped"] = ToString(answer.stopped);
  json["height"] = best ? Json(best->height) : Json(nullptr);
  json["lower_bound"] = answer.lower_bound;
  json["gap"] = best ? Json(Gap(best->height, answer.lower_bound)) : Json(nullptr);
  json["capacity"] = cli::ToJson(input.problem.capacity);
  json["algorithm"] = answer.algorithm;
  json["nodes"] = answer.nodes;
  json["failures"] = answer.stats.failures;
  json["minor_backtracks"] = answer.stats.minor_backtracks;
  json["major_backtracks"] = answer.stats.major_backtracks;
  json["seconds"] = answer.seconds;
  json["interrupted"] = interrupted;
  json["buffers"] = input.problem.buffers.size();
  json["load"] = load.load;
  json["load_step"] = load.load_step;
  json["colliding_pins"] = cli::ToJson(collision);
  json["seed"] = arguments.search.options.seed;
  json["input"] = input.name;
  json["input_hash"] = input.hash();
  json["version"] = BERTH_VERSION;
  return json;
}

std::string Summary::Headline() const {
  const auto& capacity = input.problem.capacity;
  const std::string interruption = interrupted ? "Interrupted. " : "";
  switch (answer.outcome) {
    case Outcome::kOptimal:
      return Paint(Tone::kGood, capacity ? "Fits, and no plan is lower." : "No plan is lower.");
    case Outcome::kFeasible:
      if (capacity) return Paint(Tone::kGood, interruption + "Fits.");
      return Paint(Tone::kUnsure, interruption + "Placed; a lower plan may exist.");
    case Outcome::kInfeasible:
      if (collision) return Paint(Tone::kBad, "There is no plan: pins collide.");
      return Paint(Tone::kBad, "Does not fit: proved that no plan does.");
    case Outcome::kUnknown:
      return Paint(Tone::kUnsure, interruption + (interrupted ? "No" : "Gave up: no") +
                                      " plan that fits was found, nor a proof that none does.");
  }
  return {};
}

// What to do next, where that is not obvious.
std::string Summary::Advice() const {
  if (collision) {
    return OneLine(collision->sentence) + " No capacity would do; move one of them.";
  }
  if (answer.outcome == Outcome::kInfeasible) {
    // What was read from standard input is gone.
    const std::string& path = arguments.table.path;
    if (path == "-" || OneLine(path) != path) return "";
    const std::string& endpoints = arguments.table.endpoints;
    return "Which buffers are in the way: berth explain " +
           ShellWord(path.front() == '-' ? "./" + path : path) + " --capacity " +
           std::to_string(*input.problem.capacity) +
           (endpoints.empty() ? "" : " --endpoints " + endpoints);
  }
  switch (answer.stopped) {
    case StopReason::kEffort:
      return "Stopped after its default effort; --time-limit 10s would go on.";
    case StopReason::kSize:
      return "Too large for exact search: greedy algorithms only.";
    case StopReason::kAlgorithm:
      // A plan that fits is all that was asked for.
      if (fits && input.problem.capacity) return "";
      return "This algorithm proves nothing; --algorithm auto goes on to exact search.";
    case StopReason::kAnswered:
    case StopReason::kBudget:
      return "";
  }
  return "";
}

std::string Summary::ToText() const {
  const auto& best = answer.best;
  const auto& capacity = input.problem.capacity;
  FactList facts;
  if (capacity) facts.Add("capacity", FormatBytesExactly(*capacity));
  if (best && fits) {
    facts.Add("height", FormatBytesExactly(best->height));
  } else if (best) {
    facts.Add("enough", FormatBytesExactly(best->height) + ", the smallest capacity known to work");
    if (capacity) {
      facts.Add("missing", FormatBytesExactly(best->height - *capacity));
    }
  }
  // Of the bound that reading the table gives, one can say where it comes from.
  if (!collision) {
    facts.Add("lower bound",
              FormatBytesExactly(answer.lower_bound) +
                  (answer.lower_bound == load.lower_bound ? ReasonOf(load, input.problem) : ""));
  }
  const bool any = !input.problem.buffers.empty();
  facts.Add("load", FormatBytesExactly(load.load) +
                        (any ? " live at step " + std::to_string(load.load_step) : ""));
  if (best && any) {
    const double gap = Gap(best->height, answer.lower_bound);
    facts.Add("gap",
              gap == 0 ? "none" : "at most " + FormatPercentUp(gap) + " above the lowest plan");
    facts.Add("found by", std::string(answer.algorithm));
  }
  facts.Add("search", Plural(static_cast<std::int64_t>(input.problem.buffers.size()), "buffer") +
                          ", " + Plural(answer.nodes, "node") + ", " +
                          FormatSeconds(answer.seconds));
  if (answer.stats != SearchStats()) {
    facts.Add("went back", Plural(answer.stats.minor_backtracks, "minor backtrack") + ", " +
                               Plural(answer.stats.major_backtracks, "major backtrack") + ", " +
                               Plural(answer.stats.failures, "failure"));
  }
  if (!arguments.outputs.plan.empty()) {
    facts.Add("plan", fits ? OneLine(arguments.outputs.plan) : "not written, as none fits");
  }
  if (!arguments.outputs.svg.empty()) {
    facts.Add("picture", best ? OneLine(arguments.outputs.svg) : "not drawn, as there is no plan");
  }
  if (!arguments.outputs.report.empty()) {
    facts.Add("report", OneLine(arguments.outputs.report));
  }
  const std::string advice = Advice();
  return Headline() + "\n" + facts.ToString() + (advice.empty() ? "" : "  " + advice + "\n");
}

Result<void> WriteOutputs(const Summary& summary, WatchedSearch& search) {
  const auto& [input, answer, arguments, load, fits, interrupted, collision] = summary;
  const PlanOutputs& outputs = arguments.outputs;
  if (answer.best) VerifyOrDie(input.problem, *answer.best, fits);
  const Provenance provenance{BERTH_VERSION, input.name, input.hash(), arguments.search.options,
                              arguments.search.node_limit};
  if (!outputs.report.empty()) {
    PageOptions page{"place", Verdict(input.problem, answer.best)};
    AddRemedies(search, page, [&, &table = input, &found = answer](RemedySearch& remedies) {
      page.conflict = FindConflict(table.problem, found.outcome, remedies);
      page.remedies = PlacementRemedies(table.problem, found, remedies);
    });
    if (auto written =
            WriteFile(outputs.report, WritePage(input.problem, answer, provenance, page));
        !written) {
      return written;
    }
  }
  if (!outputs.trace.empty()) {
    const std::string trace = WriteTrace(input.problem, answer.best ? &*answer.best : nullptr,
                                         nullptr, nullptr, input.name);
    if (auto written = WriteFile(outputs.trace, trace); !written) return written;
  }
  if (!answer.best) return {};
  // A plan that does not fit is never left where a build would pick it up. The picture shows how
  // far it misses, which is what one wants to see then.
  if (fits && !outputs.plan.empty()) {
    const std::string plan = HasExtension(outputs.plan, ".json")
                                 ? WritePlanJson(input.problem, answer, provenance)
                                 : WriteCsv(input.problem, &answer.best->offsets);
    if (auto written = WriteFile(outputs.plan, plan); !written) return written;
  }
  if (!outputs.svg.empty()) {
    SvgOptions svg;
    svg.title = input.name;
    return WriteFile(outputs.svg, WriteSvg(input.problem, *answer.best, answer.lower_bound, svg));
  }
  return {};
}

Result<ExitCode> Run(const PlaceArguments& arguments) {
  if (auto checked = CheckPlanOutputs(arguments.outputs); !checked) {
    return tl::unexpected(checked.error());
  }
  auto input = Load(arguments.table);
  if (!input) return tl::unexpected(input.error());

  WatchedSearch search(arguments.search, arguments.outputs.report.empty() ? 0 : kShareOfRemedies);
  auto answer = search.Place(input->problem);
  if (!answer) return tl::unexpected(answer.error());

  const bool fits = answer->outcome == Outcome::kOptimal || answer->outcome == Outcome::kFeasible;
  Summary summary{
      *input, *answer, arguments, MaxLiveLoad(input->problem), fits, search.interrupted(), {}};
  if (answer->outcome == Outcome::kInfeasible && !answer->best) {
    auto collision = FindCollision(input->problem);
    if (!collision) return tl::unexpected(collision.error());
    summary.collision = std::move(*collision);
  }
  if (auto written = WriteOutputs(summary, search); !written)
    return tl::unexpected(written.error());
  return Conclude(arguments.outputs, answer->outcome, summary);
}

}  // namespace

Command AddPlaceCommand(CLI::App& berth) {
  CLI::App* app = berth.add_subcommand("place", "Give every buffer of a table its offset.");
  const auto arguments = std::make_shared<PlaceArguments>();
  AddTable(*app, arguments->table);
  app->add_option("-o,--output", arguments->outputs.plan,
                  "Write the plan: .csv (the table with an offset column), .json, or - for CSV on "
                  "standard output. Nothing is written where no plan fits.")
      ->type_name("FILE");
  app->add_option("--svg", arguments->outputs.svg,
                  "Draw the plan, also one that does not fit; - for standard output.")
      ->type_name("FILE");
  AddReport(*app, arguments->outputs.report,
            "The plan as one HTML file that explains its peak, also one that does not fit");
  AddTrace(*app, arguments->outputs.trace);
  AddJson(*app, arguments->outputs.json);
  AddSearch(*app, arguments->search);
  app->footer(
      AlgorithmsHelp() +
      "\nExit codes: 0 placed, 1 proved not to fit, 2 bad input or usage, 3 gave up before an "
      "answer.\n"
      "Without a limit, auto stops minimising after a fixed effort; --time-limit lets it go on.\n"
      "Tables with very many overlaps it leaves to greedy algorithms, whatever the limit. The\n"
      "summary says why a search stopped; --json as \"stopped\": answered, budget (a limit or\n"
      "Ctrl-C), effort, size or algorithm (a greedy one proves nothing).\n"
      "Of --output -, --svg -, --report -, --trace - and --json one at a time can have standard "
      "output.\n"
      "Ctrl-C ends the search with the best plan so far; a second one kills.\n"
      "\nExamples:\n"
      "  berth place model.csv --capacity 1MiB -o plan.csv      Does it fit, and where?\n"
      "  berth place model.csv --time-limit 10s --svg plan.svg  How few bytes will do?\n"
      "  berth place model.csv --algorithm first-fit-size       What TFLite would do.\n"
      "  make-table | berth place - --json | jq .height         In a script.");
  return {app, [arguments] { return Run(*arguments); }};
}

}  // namespace berth::cli
